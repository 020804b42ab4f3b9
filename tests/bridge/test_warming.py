"""Loading in the background: it rests, hurries when somebody waits, and stops when the program ends."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from studio.bridge import warming
from studio.bridge.warming import Warming

_NAMES = ("slowly_a", "slowly_b", "slowly_c")


@pytest.fixture
def rests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Warming], list[float]]:
    """Loads three new modules, and gives the rests between them."""
    for name in _NAMES:
        (tmp_path / f"{name}.py").write_text("", encoding="utf-8")
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(warming, "load_plans", lambda: [import_module(name) for name in _NAMES])

    def load(tested: Warming) -> list[float]:
        waited: list[float] = []
        monkeypatch.setattr(tested._hurry, "wait", waited.append)
        tested.load()
        return waited

    return load


def test_it_rests_before_every_module(rests: Callable[[Warming], list[float]]) -> None:
    before = list(sys.meta_path)
    waited = rests(Warming())
    assert len(waited) >= len(_NAMES)
    assert min(waited) >= 0.003
    assert max(waited) <= 0.05
    assert sys.meta_path == before
    assert gc.isenabled()


def test_it_stops_at_the_next_module_when_the_program_ends(rests: Callable[[Warming], list[float]]) -> None:
    tested = Warming()
    tested.end()
    assert rests(tested) == []
    assert not set(_NAMES) & set(sys.modules)


def test_other_threads_load_without_rests() -> None:
    tested = Warming()
    tested.end()
    tested.find_spec("anything")


def test_a_window_that_is_shown_has_not_loaded_what_makes_plans() -> None:
    script = (
        "import sys, studio.ui.app, studio.bridge.workspaces, studio.ui.main_window\n"
        "print([m for m in ('studio.assembly.plan', 'studio.engine.hosts', 'studio.agents.agent') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
