"""Nodes go from one window to another, through a text editor too: two processes, real pointer, keys and clipboard."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from studio.document.model import Workflow
from studio.files import write_workflow

from tests.e2e.conftest import SHOTS
from tests.e2e.display import Display, wait_until
from tests.e2e.studio import ROOT, Studio

pytestmark = pytest.mark.e2e

WORKFLOW = "window.page.workspace.document.workflow"
STEPS = "window.page.workspace.document.undo_stack"
NODES = f"[n.id for n in {WORKFLOW}.nodes]"
SELECTED = "list(window.page.workspace.selection.items)"
TOLD = "window.page.canvas._told.text()"


class Editor:
    """The text editor, and what is in it."""

    def __init__(self, display: Display, file: Path) -> None:
        self._display, self._file = display, file
        command = [sys.executable, "-m", "tests.e2e.text_editor", str(file)]
        self.process = subprocess.Popen(command, env={**display.environment, "PYTHONPATH": str(ROOT)}, cwd=ROOT)
        wait_until(file.exists, "the editor is shown")

    @property
    def focused(self) -> bool:
        return self._file.read_text(encoding="utf-8").startswith("focus\n")

    @property
    def text(self) -> str:
        return self._file.read_text(encoding="utf-8").partition("\n")[2]

    def activate(self) -> None:
        """Brings it to the front, as a click on its window does."""
        self._display.activate("^notes$", self.process.pid)
        wait_until(lambda: self.focused, "the editor has the focus")


@pytest.fixture
def editor(display: Display, tmp_path: Path) -> Iterator[Editor]:
    made = Editor(display, tmp_path / "notes.txt")
    yield made
    made.process.terminate()
    made.process.wait(timeout=60)


def activate(studio: Studio) -> None:
    """Brings a window of the program to the front, with the focus on its canvas."""
    studio.display.activate("Studio", studio.process.pid)
    studio.wait("window.isActiveWindow()")
    studio.display.key("ctrl+1")
    studio.wait("window.page.canvas.hasFocus()")


def test_nodes_go_from_window_to_window_and_through_a_text_editor(
    start: Callable[..., Studio], editor: Editor, display: Display, tmp_path: Path
) -> None:
    templates = ROOT / "resources" / "templates"
    first_file, second_file = tmp_path / "first.workflow.json", tmp_path / "second.workflow.json"
    shutil.copy(templates / "write-and-critique.workflow.json", first_file)
    write_workflow(Workflow(id="other", name="Other"), second_file)
    first = start(str(first_file))
    first.wait("window.page is not None")
    second = start(str(second_file))
    second.wait("window.page is not None")
    nodes = first.ask(NODES)
    inner = first.ask(f"len({WORKFLOW}.edges)")
    assert len(nodes) > 1
    assert inner

    # from window to window, at the pointer, as one step
    activate(first)
    display.key("ctrl+a")
    first.wait(f"len({SELECTED}) > 1")
    display.key("ctrl+c")
    first.wait("'superstep-clipping' in app.clipboard().text()")
    activate(second)
    x, y = second.ask("free_spot(0.3, 0.3)")
    display.move(x + 3, y + 3)
    display.move(x, y)
    second.wait("window.page.canvas.viewport().underMouse()")
    display.key("ctrl+v")
    second.wait(f"len({WORKFLOW}.nodes) == {len(nodes)}")
    assert second.ask(f"len({WORKFLOW}.edges)") == inner
    assert second.ask(f"{STEPS}.count()") == 1
    left, top = second.ask("(lambda r: (r.left(), r.top()))(window.page.canvas.canvas_scene.bounds())")
    view = "window.page.canvas"
    at = second.ask(f"(lambda p: (p.x(), p.y()))({view}.mapToScene({view}.viewport().mapFromGlobal(QPoint({x}, {y}))))")
    assert abs(left - at[0]) <= 60, "the pasted nodes begin at the pointer"
    assert abs(top - at[1]) <= 60
    display.screenshot(SHOTS / "windows-pasted.png")

    # pasted again: names stay unique, nothing lies on the first
    display.key("ctrl+v")
    second.wait(f"len({WORKFLOW}.nodes) == {2 * len(nodes)}")
    names = second.ask(f"[n.name for n in {WORKFLOW}.nodes]")
    assert len(set(names)) == len(names)
    places = second.ask(f"[(p.x, p.y) for p in {WORKFLOW}.places.values()]")
    assert len({tuple(p) for p in places}) == len(places)
    display.key("ctrl+z", "ctrl+z")
    second.wait(f"not {WORKFLOW}.nodes")

    # into a text editor: the clipping is readable JSON; changed there and brought back
    editor.activate()
    display.key("ctrl+v")
    wait_until(lambda: "superstep-clipping" in editor.text, "the clipping is in the editor")
    clipping = json.loads(editor.text)
    assert [n["id"] for n in clipping["nodes"]] == nodes
    display.key("ctrl+a", "ctrl+c")
    activate(second)
    display.key("ctrl+v")
    second.wait(f"len({WORKFLOW}.nodes) == {len(nodes)}")

    # words are refused with a reason; the drawing stays
    editor.activate()
    display.key("ctrl+a", "Delete")
    wait_until(lambda: not editor.text, "the editor is empty")
    display.type("just words")
    wait_until(lambda: editor.text == "just words", "the words are typed")
    display.key("ctrl+a", "ctrl+c")
    activate(second)
    display.key("ctrl+v")
    second.wait(f"{TOLD} == 'The clipboard holds no nodes of a workflow.'")
    assert second.ask(f"len({WORKFLOW}.nodes)") == len(nodes)
    assert second.ask(f"{STEPS}.count()") == 1

    # cut in one window, undone there; what was cut is pasted in the other
    activate(second)
    display.key("ctrl+a", "ctrl+x")
    second.wait(f"not {WORKFLOW}.nodes")
    activate(first)
    display.key("ctrl+v")
    first.wait(f"len({WORKFLOW}.nodes) == {2 * len(nodes)}")
    assert first.ask(f"len(set({NODES})) == {2 * len(nodes)}")
    activate(second)
    display.key("ctrl+z")
    second.wait(f"len({WORKFLOW}.nodes) == {len(nodes)}")
    display.screenshot(SHOTS / "windows-end.png")


def test_a_new_window_is_a_process_of_its_own(start: Callable[..., Studio], display: Display, tmp_path: Path) -> None:
    file = tmp_path / "first.workflow.json"
    shutil.copy(ROOT / "resources" / "templates" / "write-and-critique.workflow.json", file)
    first = start(str(file))
    first.wait("window.page is not None")
    activate(first)
    own = first.process.pid

    def processes() -> set[int]:
        return set(display.windows("Superstep Studio").values())

    display.key("ctrl+shift+n")
    others: set[int] = set()

    def another() -> bool:
        others.update(processes() - {own})
        return bool(others)

    wait_until(another, "another window is shown")
    [process] = others
    try:
        display.activate("Superstep Studio", process)
        display.screenshot(SHOTS / "windows-new.png")
    finally:
        os.kill(process, signal.SIGTERM)
    wait_until(lambda: processes() == {own}, "the other window is closed")
    assert first.ask("window.isVisible()")
    assert first.ask("window.page is not None")
