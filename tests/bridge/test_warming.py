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


def test_what_a_session_imports_on_the_loop_is_there_before() -> None:
    """The imports inside functions of the session and of what the window gives it."""
    script = (
        "import ast, sys, importlib.util\n"
        "from studio.bridge.warming import load_plans\n"
        "load_plans()\n"
        "wanted = set()\n"
        "for name in ('studio.debugger.session', 'studio.debugger.preparation'):\n"
        "    tree = ast.parse(open(importlib.util.find_spec(name).origin, encoding='utf-8').read())\n"
        "    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]\n"
        "    wanted |= {n.module for f in functions for n in ast.walk(f) if isinstance(n, ast.ImportFrom)}\n"
        "print(len(wanted) > 1, sorted(name for name in wanted if name not in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "True []"


def test_a_window_that_is_shown_has_not_loaded_what_makes_plans() -> None:
    script = (
        "import sys, studio.ui.app, studio.bridge.workspaces, studio.ui.main_window\n"
        "print([m for m in ('studio.assembly.plan', 'studio.engine.hosts', 'studio.agents.agent') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
