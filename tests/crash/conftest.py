"""Kills come at random moments. The seed is printed and can be given again in ``SUPERSTEP_CRASH_SEED``."""

from __future__ import annotations

import os
import random

import pytest

from tests.bridge.conftest import on_loop  # noqa: F401


@pytest.fixture
def moments() -> random.Random:
    """Where the moments of this test come from."""
    seed = int(os.environ.get("SUPERSTEP_CRASH_SEED") or random.SystemRandom().randrange(1_000_000))
    print(f"SUPERSTEP_CRASH_SEED={seed}")
    return random.Random(seed)
