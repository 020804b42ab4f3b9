"""The debugger with real pointer and keys: stop, look, change, go on; and quitting whatever the run does."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.conftest import SHOTS
from tests.e2e.studio import ROOT, Studio

pytestmark = pytest.mark.e2e

RUN = "window.page.workspace.run"
TEMPLATES = ROOT / "resources" / "templates"
TOLD = f"sum(len(p.text) for i in {RUN}.invocations.values() for p in i.pieces)"


def opened(start: Callable[..., Studio], folder: Path, template: str, home: str) -> Studio:
    """A window with a copy of a template whose code is trusted."""
    file = folder / f"{home}.workflow.json"
    shutil.copy(TEMPLATES / f"{template}.workflow.json", file)
    studio = start(str(file), home=home)
    studio.wait("window.page is not None")
    if studio.ask("window.page.trust_bar.isVisible()"):
        studio.click("Trust this code")
    return studio


def select(studio: Studio, node: str) -> None:
    studio.display.click(*studio.ask(f"spot({node!r}, 'middle')"))
    studio.wait(f"window.page.workspace.selection.items == ({node!r},)")


def test_stop_step_change_and_replay(start: Callable[..., Studio], tmp_path: Path) -> None:
    studio = opened(start, tmp_path, "concurrent", "debug")
    keys = studio.display.key
    select(studio, "operations")
    keys("F9")
    studio.wait(f"'operations' in {RUN}.breakpoints")
    keys("F5")
    studio.wait(f"{RUN}.sentence == 'Paused in superstep 2 — breakpoint on Operations'", 30)
    done = f"sorted(n for n, v in {RUN}.nodes.items() if v.status == 'done')"
    assert studio.ask(done) == ["customers", "question", "security"]
    studio.display.screenshot(SHOTS / "debug-breakpoint.png")

    # the prompt is changed, and the paused run takes it; what the others did is not done again
    studio.click("Instructions", "InspectorPanel")
    keys("ctrl+a")
    studio.display.type("Be brief.")
    studio.wait(f"{RUN}.drawing_differs == ('Operations',)")
    studio.display.screenshot(SHOTS / "debug-drawing-changed.png")
    studio.click("Apply to this run", "DebugPanel")
    studio.wait(f"not {RUN}.drawing_differs and {RUN}.can('run')[0]")
    keys("F5")  # not once more at the breakpoint where it stood
    studio.wait(f"{RUN}.state.value == 'completed'", 30)
    select(studio, "operations")
    keys("F9")
    studio.wait(f"not {RUN}.breakpoints")
    assert studio.ask(f"[(b.name, b.note) for b in {RUN}.branches]") == [
        ["main", ""], ["Fork A", "prompt of Operations changed at 1"],
    ]  # fmt: skip
    asked = f"[e.node for e in {RUN}.events if type(e).__name__ == 'RunWarned']"
    assert studio.ask(asked) == []

    # a condition with the dialog, a pinned and a muted node
    select(studio, "security")
    keys("p")
    studio.wait(f"'security' in {RUN}.setup.overrides.pins")
    keys("shift+F9")
    studio.wait("any(type(w).__name__ == 'BreakpointDialog' for w in app.topLevelWidgets())")
    studio.click("After", "BreakpointDialog")
    studio.display.screenshot(SHOTS / "debug-dialog.png")
    studio.click("Save", "BreakpointDialog")
    studio.wait(f"[b.moment for b in {RUN}.setup.breakpoints] == ['after']")
    keys("F5")
    studio.wait(f"{RUN}.sentence == 'Paused in superstep 2 — after Security'", 30)
    assert studio.ask(f"[p.text for i in {RUN}.invocations.values() if i.node == 'security' for p in i.pieces][0][:4]")
    studio.display.screenshot(SHOTS / "debug-pinned.png")
    keys("F5")
    studio.wait(f"{RUN}.state.value == 'completed'", 30)

    # backwards, and the whole run again without a model
    keys("ctrl+F10")
    studio.wait(f"{RUN}.sentence == 'Restored before superstep 4'")
    keys("ctrl+shift+F10")
    studio.wait(f"{RUN}.state.value == 'completed'")
    keys("ctrl+shift+F9")  # all breakpoints off
    keys("alt+r")
    studio.click("Replay", "QMenu")
    studio.click("At once", "QMenu")
    studio.wait(f"{RUN}.branches[-1].note.startswith('replay of main') and {RUN}.state.value == 'completed'", 30)
    assert studio.ask(f"[e.message for e in {RUN}.events if type(e).__name__ == 'RunWarned']") == []
    studio.display.screenshot(SHOTS / "debug-replayed.png")
    keys("ctrl+s")
    studio.wait("not window.page.workspace.document.dirty")
    keys("F10")
    studio.wait(f"{RUN}.state.value == 'paused'", 30)
    quit_quickly(studio)


def test_a_dialog_does_not_stop_the_stream_and_quitting_is_quick(start: Callable[..., Studio], tmp_path: Path) -> None:
    streaming = opened(start, tmp_path, "concurrent", "streaming")
    streaming.display.key("F5")
    streaming.wait(f"{TOLD} > 0", 30)
    select(streaming, "security")
    streaming.display.key("shift+F9")
    streaming.wait("any(type(w).__name__ == 'BreakpointDialog' and w.isVisible() for w in app.topLevelWidgets())")
    before = streaming.ask(TOLD)
    streaming.wait(f"{TOLD} > {before} or {RUN}.state.value == 'completed'")
    streaming.display.key("Escape")
    streaming.wait(f"{RUN}.state.value == 'completed'", 30)
    streaming.display.key("F5")
    streaming.wait(f"{RUN}.state.value == 'running' and {TOLD} > 0", 30)
    quit_quickly(streaming)


def quit_quickly(studio: Studio) -> None:
    """Ctrl+Q ends the program with 0, in far less time than anybody waits."""
    began = time.monotonic()
    studio.display.key("ctrl+q")
    assert studio.wait_closed(20) == 0
    print(f"closed in {time.monotonic() - began:.1f} s")
