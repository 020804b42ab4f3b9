"""Fixtures for all tests: own folders for every test, the offscreen platform, no provider variables."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from pytestqt.qtbot import QtBot

from tests.alone import among_others

for _wait in (QtBot.waitUntil, QtBot.waitSignal, QtBot.waitSignals):
    assert _wait.__kwdefaults__ is not None
    _wait.__kwdefaults__["timeout"] = 60_000  # the machine may be busy with other things

# A machine that is busy with other things is slow to make examples; that is no fault of a test.
# Examples are the same every time, so that a commit is judged by what it changes; ``--long`` looks elsewhere each time,
# and so do the undo fuzz (which prints what failed) and the differential test (which prints its seed).
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.register_profile("long", settings.get_profile("busy"), derandomize=False)
settings.load_profile("busy")

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_LOGGING_RULES", "qt.qpa.*=false;qt.text.font.db=false")

_PROVIDER_VARIABLES = (
    "OPENAI_API_KEY",
    "OPENAI_ORG_ID",
    "OPENAI_PROJECT_ID",
    "OPENAI_BASE_URL",
    "OPENAI_CUSTOM_HEADERS",
    "OPENAI_MODEL",
)


@pytest.fixture(autouse=True)
def own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test has its own config, data, state and cache folders."""
    home = tmp_path / "home"
    for name in ("CONFIG", "DATA", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))
    for name in _PROVIDER_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    return home


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="also run the large counts")
    parser.addoption("--cases-dir", action="append", default=[], help="run every conformance case of this folder")
    parser.addoption("--host-cases", action="append", default=[], help="run the turn-token cases of this file")
    parser.addoption("--samples-dir", action="append", default=[], help="run every import sample of this folder")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--long"):
        settings.load_profile("long")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """A test that measures waits until it is alone on the machine."""
    others = "PYTEST_XDIST_WORKER" in os.environ
    with among_others(alone="benchmark" in item.keywords) if others else nullcontext():
        return (yield)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--long"):
        skip = pytest.mark.skip(reason="only with --long")
        for item in items:
            if "long" in item.keywords:
                item.add_marker(skip)
