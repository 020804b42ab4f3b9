"""Fixtures of the end-to-end tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.display import Display, missing_tools
from tests.e2e.studio import Studio

SHOTS = Path(__file__).parents[2] / "shots"


@pytest.fixture(scope="session")
def display() -> Iterator[Display]:
    """A display of 1600 × 1000 for all end-to-end tests."""
    missing = missing_tools()
    if missing:
        pytest.fail(f"these programs are missing: {', '.join(missing)}; packaging/test installs them")
    made = Display()
    yield made
    made.close()


@pytest.fixture
def start(display: Display, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Callable[..., Studio]]:
    """Starts the program with folders of this test; whatever still runs at the end is killed by its pid."""
    running: list[Studio] = []

    def make(*arguments: str, home: str = "user", scale: str = "1", **variables: str) -> Studio:
        studio = Studio(display, tmp_path / home, *arguments, scale=scale, **variables)
        running.append(studio)
        return studio

    failed_before = request.session.testsfailed
    yield make
    if request.session.testsfailed > failed_before:
        display.screenshot(SHOTS / f"failed-{request.node.name}.png")
    for studio in running:
        if studio.process.poll() is None:
            studio.kill()
