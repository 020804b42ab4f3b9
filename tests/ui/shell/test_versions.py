"""Versions: listed, compared, brought back; and a file that another program changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QMessageBox
from pytestqt.qtbot import QtBot
from studio.document import commands
from studio.document.difference import FieldChange
from studio.document.edits import SetFields
from studio.document.model import AgentNode, Workflow
from studio.files import kept_versions, read_workflow, write_workflow
from studio.ui.main_window import MainWindow
from studio.ui.theme.tokens import tokens
from studio.ui.versions.text_diff import as_html, stretches
from studio.ui.versions.words import moment
from studio.ui.window.workflow_page import WorkflowPage

MakeWindow = Callable[..., MainWindow]


@pytest.fixture(autouse=True)
def closes_messages() -> Iterator[None]:
    yield
    for widget in QApplication.topLevelWidgets():
        if isinstance(widget, QMessageBox):
            widget.done(0)


@pytest.fixture
def page(make_window: MakeWindow, tmp_path: Path) -> WorkflowPage:
    """A saved workflow of one agent, in a shown window, renamed and saved twice."""
    window = make_window()
    window.show()
    window.tabs.setFocus()
    file = tmp_path / "x.workflow.json"
    write_workflow(Workflow(id="w", name="One", nodes=(AgentNode(id="a", name="A", instructions="Be brief."),)), file)
    made = window.files.open(file)
    assert made is not None
    for number in (2, 3):
        words = {"instructions": f"Be brief. {number}"}
        made.workspace.document.execute(SetFields("nodes", "a", words), "Change")
        window.files.save(made)
    return made


def window_of(page: WorkflowPage) -> MainWindow:
    window = page.window()
    assert isinstance(window, MainWindow)
    return window


def instructions(page: WorkflowPage) -> str:
    node = page.workspace.document.workflow.node("a")
    assert isinstance(node, AgentNode)
    return node.instructions


def test_versions_are_compared_and_brought_back(page: WorkflowPage, qtbot: QtBot) -> None:
    window = window_of(page)
    window.sides.show_panel("versions")
    panel = window.sides.versions
    assert [row.on_disk for row in panel.versions.items] == [True, False, False]
    compared = page.workspace.compared
    with qtbot.waitSignal(compared.changed):
        rect = panel.version_list.visualRect(panel.versions.index(2, 0))
        qtbot.mouseClick(panel.version_list.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())
    assert compared.found is not None
    assert compared.found.changes[0].fields == (FieldChange("instructions", "Be brief.", "Be brief. 3"),)
    assert page.compare_bar.isVisible()
    assert "1 changed" in page.compare_bar._text.text
    assert "Be brief. 3" in panel.detail.toPlainText()  # the first change is chosen, and shown at a click
    assert page.workspace.selection.items == ()
    row = panel.change_list.visualRect(panel.changes.index(0, 0))
    qtbot.mouseClick(panel.change_list.viewport(), Qt.MouseButton.LeftButton, pos=row.center())
    assert page.workspace.selection.items == ("a",)
    page.compare_bar.restore.click()
    assert instructions(page) == "Be brief."
    assert not page.compare_bar.isVisible()
    assert page.workspace.document.undo_stack.undoText().startswith("Load the version saved today")
    page.workspace.document.undo_stack.undo()
    assert instructions(page) == "Be brief. 3"


def test_a_version_opens_as_a_copy(page: WorkflowPage, qtbot: QtBot) -> None:
    window = window_of(page)
    version = kept_versions("w")[-1]
    page.workspace.compared.compare(read_workflow(version.path), "then")
    page.compare_bar.copy.click()
    copy = window.page
    assert copy is not None
    assert copy is not page
    assert instructions(copy) == "Be brief."
    assert copy.workspace.document.workflow.id != "w"


def test_the_comparison_follows_edits(page: WorkflowPage, qtbot: QtBot) -> None:
    compared = page.workspace.compared
    compared.compare(page.workspace.document.workflow, "itself")
    assert compared.found is not None
    assert compared.found.changes == ()
    assert not page.compare_bar.restore.isEnabled()
    with qtbot.waitSignal(compared.changed):
        page.workspace.document.execute(commands.new_node(page.workspace.document.workflow, "agent")[0], "Add")
    assert compared.found.count("added") == 1
    page.compare_bar.step(1)
    assert page.workspace.selection.items == ("agent",)


def test_a_version_that_cannot_be_read_is_said(page: WorkflowPage, qtbot: QtBot) -> None:
    window = window_of(page)
    kept_versions("w")[0].path.write_text("no JSON", encoding="utf-8")
    window.sides.show_panel("versions")
    panel = window.sides.versions
    panel.compare(panel.versions.items[1])
    qtbot.waitUntil(lambda: "Reading" not in panel.said.plain)
    assert panel.said.plain == "The file is not a workflow of Superstep Studio."
    assert page.workspace.compared.found is None


def test_kept_versions_know_when_they_were_saved(tmp_path: Path) -> None:
    file = tmp_path / "x.workflow.json"
    write_workflow(Workflow(id="w", name="One"), file)
    os.utime(file, (1_000_000, 1_000_000))
    write_workflow(Workflow(id="w", name="Two"), file)
    (version,) = kept_versions("w")
    assert version.saved == 1_000_000
    assert version.replaced > 1_700_000_000


def changed_outside(page: WorkflowPage, qtbot: QtBot, name: str) -> None:
    path = page.workspace.document.path
    assert path is not None
    write_workflow(read_workflow(path).model_copy(update={"name": name}), path)
    qtbot.waitUntil(page.disk_bar.isVisible)


def test_a_change_on_disk_is_told_and_loaded(page: WorkflowPage, qtbot: QtBot) -> None:
    changed_outside(page, qtbot, "Theirs")
    page.disk_bar.load.click()
    assert page.title == "Theirs"
    assert not page.workspace.document.dirty
    assert not page.disk_bar.isVisible()
    changed_outside(page, qtbot, "Theirs again")


def test_a_change_on_disk_can_be_compared_then_loaded(page: WorkflowPage, qtbot: QtBot) -> None:
    changed_outside(page, qtbot, "Theirs")
    page.disk_bar.compare.click()
    compared = page.workspace.compared
    assert compared.found is not None
    assert [c.name for c in compared.found.changes] == ["name"]
    assert page.disk_bar.isVisible()
    page.compare_bar.restore.click()
    assert page.title == "Theirs"
    assert not page.workspace.document.dirty
    assert not page.compare_bar.isVisible()


def test_mine_is_kept_and_saved_without_asking_again(page: WorkflowPage, qtbot: QtBot) -> None:
    changed_outside(page, qtbot, "Theirs")
    page.disk_bar.compare.click()
    page.disk_bar.keep.click()
    assert page.workspace.document.dirty
    assert page.compare_bar.isVisible()
    window_of(page).files.save(page)
    assert not page.compare_bar.isVisible(), "what was on disk is there no longer"
    assert not window_of(page).findChildren(QMessageBox)
    path = page.workspace.document.path
    assert path is not None
    assert read_workflow(path).name == "One"
    assert read_workflow(kept_versions("w")[0].path).name == "Theirs"


def test_a_file_that_is_gone_is_told_and_the_window_keeps_what_was_in_it(page: WorkflowPage, qtbot: QtBot) -> None:
    path = page.workspace.document.path
    assert path is not None
    path.unlink()
    qtbot.waitUntil(page.disk_bar.isVisible)
    assert page.disk_bar._text.text.startswith(f"{path.name} was deleted or moved.")
    assert not page.disk_bar.load.isVisible()
    assert page.workspace.document.dirty
    page.disk_bar.keep.click()
    window_of(page).files._disk._on_watch_touched()
    assert not page.disk_bar.isVisible()
    window_of(page).files.save(page)
    assert read_workflow(path).name == "One"
    assert not page.workspace.document.dirty
    changed_outside(page, qtbot, "Theirs")
    assert page.disk_bar.load.isVisible()


def test_the_bar_goes_when_the_file_is_as_it_was(page: WorkflowPage, qtbot: QtBot) -> None:
    path = page.workspace.document.path
    assert path is not None
    before = path.read_bytes()
    changed_outside(page, qtbot, "Theirs")
    path.write_bytes(before)
    qtbot.waitUntil(lambda: not page.disk_bar.isVisible())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Write a brief.", "Write a long brief."),
        ("", "x"),
        ("a\nb\n", ""),
        ("word " * 2000, "word " * 1999 + "end"),
        ("<b> & “x”", "<i> & “x”"),
    ],
)
def test_stretches_give_both_texts(before: str, after: str) -> None:
    found = list(stretches(before, after))
    assert "".join(text for kind, text in found if kind != "in") == before
    assert "".join(text for kind, text in found if kind != "out") == after
    turned = as_html((FieldChange("flow", "right", "down"),), tokens("light"))
    assert "lines run" in turned
    assert "bottom" in turned
    html = as_html((FieldChange("f", before, after),), tokens("light"))
    assert "<b>" not in html


def test_moments() -> None:
    now = 1_790_000_000.0
    assert moment(now - 60, now).startswith("Today ")
    assert moment(now - 86_400, now).startswith("Yesterday ")
    assert moment(now - 400 * 86_400, now).split()[2] == "2025"
