"""Every recorded case, with every store and in both orders; ``--cases-dir`` adds cases of other folders."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from studio.checkpoints import CheckpointStore, MemoryStore
from studio.checkpoints.sqlite import SqliteStore
from studio.engine import Codec
from studio.engine.orchestrations import HandoffUserRequest, Review
from studio.engine.workflow import Order

from tests.conformance.adapter import CaseRun
from tests.conformance.compare import compare_case

CARRIED = [Path(__file__).parent / "cases", Path(__file__).parent / "own_cases"]


def _cases(folders: list[Path]) -> list[Path]:
    return [path for folder in folders for path in sorted(folder.glob("*.json"))]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    given = [Path(folder) for folder in metafunc.config.getoption("--cases-dir")]
    paths = _cases(given or CARRIED)
    metafunc.parametrize("path", paths, ids=[path.stem for path in paths])


@pytest_asyncio.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[CheckpointStore]:
    codec = Codec(HandoffUserRequest, Review)
    opened: CheckpointStore = (
        MemoryStore(codec) if request.param == "memory" else SqliteStore(tmp_path / "runs.db", codec)
    )
    yield opened
    await opened.close()


@pytest.mark.parametrize("order", ["delivery", "arrival"])
async def test_case(path: Path, store: CheckpointStore, order: Order) -> None:
    case: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if order == "delivery" and case.get("depends_on_arrival_order"):
        pytest.skip("the case wants the order of arrival")
    problems = compare_case(case, await CaseRun(case, store, order).run())
    assert problems == [], "\n".join([case["why"], *problems])
