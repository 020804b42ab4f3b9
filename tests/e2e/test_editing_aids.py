"""Find and replace, the history, versions, a file changed by another program, a shortcut: real pointer, real keys."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.conftest import SHOTS
from tests.e2e.studio import ROOT, Studio

pytestmark = pytest.mark.e2e

WORKSPACE = "window.page.workspace"
WORKFLOW = f"{WORKSPACE}.document.workflow"
STEPS = f"{WORKSPACE}.document.undo_stack"


def instructions(node: str) -> str:
    return f"{WORKFLOW}.node({node!r}).instructions"


def shot(studio: Studio, name: str) -> None:
    studio.display.screenshot(SHOTS / f"aids-{name}.png")


@pytest.fixture
def studio(start: Callable[..., Studio], tmp_path: Path) -> Studio:
    """The template of a writer and a critic, as a file of one's own."""
    file = tmp_path / "own.workflow.json"
    shutil.copy(ROOT / "resources" / "templates" / "write-and-critique.workflow.json", file)
    made = start(str(file))
    made.wait("window.page is not None")
    return made


def test_aids_of_editing(studio: Studio, tmp_path: Path) -> None:
    display, ask, wait = studio.display, studio.ask, studio.wait
    before = ask(instructions("writer"))
    assert "paragraph" in before

    display.key("ctrl+f")
    wait("app.focusWidget() is window.sides.find.needle")
    display.type("paragraph")
    wait("window.sides.find.rows.rowCount() > 1 and not window.sides.find._timer.isActive()")
    count = ask("window.sides.find.rows.rowCount()")
    display.key("Return")
    wait("window.sides.find.table.currentIndex().row() == 0")
    display.key("F3")
    wait("window.sides.find.table.currentIndex().row() == 1")
    shot(studio, "find")
    studio.click("Replace with")
    display.type("verse")
    studio.click("Replace all", "FindPanel")
    wait(f"{STEPS}.count() == 1 and 'verse' in {instructions('writer')}")
    assert ask(f"{STEPS}.undoText()") == f"Replace {count} hits of “paragraph”"
    display.key("ctrl+s")
    wait(f"not {WORKSPACE}.document.dirty")

    studio.click("History", "PanelDock")
    studio.click("As it was opened", "HistoryPanel")
    wait(f"{instructions('writer')} == {before!r}")
    studio.click(f"Replace {count} hits of “paragraph”", "HistoryPanel")
    wait(f"'verse' in {instructions('writer')}")

    studio.click("Versions", "PanelDock")
    wait("window.sides.versions.versions.rowCount() == 2")
    x, y, width, _ = ask("rect(window.sides.versions.version_list)")
    display.click(x + width // 3, y + 36)
    wait(f"{WORKSPACE}.compared.found is not None and window.page.compare_bar.isVisible()")
    wait("window.page.canvas.difference.item is not None")
    shot(studio, "versions")
    studio.click("Bring it back", "CompareBar")
    wait(f"{instructions('writer')} == {before!r} and not window.page.compare_bar.isVisible()")
    display.key("ctrl+z")
    wait(f"'verse' in {instructions('writer')}")

    file = tmp_path / "own.workflow.json"
    file.write_text(file.read_text(encoding="utf-8").replace("verse", "sonnet"), encoding="utf-8")
    wait("window.page.disk_bar.isVisible()")
    shot(studio, "disk")
    studio.click("Load it", "DiskBar")
    wait(f"'sonnet' in {instructions('writer')} and not {WORKSPACE}.document.dirty")
    assert studio.errors.read_text(encoding="utf-8") == ""
