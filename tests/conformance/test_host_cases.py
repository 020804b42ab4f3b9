"""Every recorded case of the turn-token host; ``--host-cases FILE`` runs another file of the same format instead."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.host_case import run_case

CARRIED = Path(__file__).parent / "host_cases"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    given = [Path(file) for file in metafunc.config.getoption("--host-cases")]
    files = given or sorted(CARRIED.glob("*.json"))
    cases = [case for file in files for case in json.loads(file.read_text(encoding="utf-8"))["cases"]]
    metafunc.parametrize("case", cases, ids=[case["id"] for case in cases])


async def test_host_case(case: dict[str, Any]) -> None:
    problems = await run_case(case)
    assert problems == [], "\n".join([case["id"], *problems])
