"""Services of a program, closed after each test."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.assembly.running import Bench


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    made = Bench()
    yield made
    await made.source.close()
