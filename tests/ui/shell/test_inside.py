"""What is inside a sub-workflow node has a tab: way back, saving, closing, undo."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot
from studio.document import commands
from studio.document.edits import SetFields
from studio.document.model import AgentNode, SubWorkflowNode, Workflow
from studio.files import read_workflow, write_workflow
from studio.ui.main_window import MainWindow
from studio.ui.window.inside import WayBack
from studio.ui.window.workflow_page import WorkflowPage

MakeWindow = Callable[..., MainWindow]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    deep = Workflow(id="deep", name="Deepest", nodes=(AgentNode(id="d", name="D"),))
    inner = Workflow(id="inner", name="Fact check", nodes=(SubWorkflowNode(id="deeper", name="Deeper", embedded=deep),))
    outer = Workflow(id="outer", name="Brief", nodes=(SubWorkflowNode(id="check", name="Check", embedded=inner),))
    write_workflow(outer, tmp_path / "brief.workflow.json")
    return tmp_path / "brief.workflow.json"


def _opened(window: MainWindow, file: Path) -> tuple[WorkflowPage, WorkflowPage]:
    outer = window.files.open(file)
    assert outer is not None
    outer.canvas.open_item("check")
    inner = window.page
    assert inner is not None
    assert inner is not outer
    return outer, inner


def test_it_opens_once_with_the_way_back(make_window: MakeWindow, file: Path) -> None:
    window = make_window()
    outer, inner = _opened(window, file)
    assert inner.title == "Fact check"
    assert set(inner.canvas.canvas_scene.items_by_id) == {"deeper"}
    way = inner.way_back
    assert isinstance(way, WayBack)
    assert [b.text() for b in way.buttons] == ["Brief"]
    window.tabs.show_page(outer)
    outer.canvas.open_item("check")
    assert window.page is inner
    assert len(window.files.pages()) == 2
    assert [p.title for p in window.files.documents()] == ["Brief"]
    way.buttons[0].click()
    assert window.page is outer
    assert outer.workspace.selection.items == ("check",)
    window.actions_["view.up"].trigger()
    assert window.page is outer, "nothing is around the outermost"


def test_levels_and_names(make_window: MakeWindow, file: Path) -> None:
    window = make_window()
    outer, inner = _opened(window, file)
    inner.canvas.open_item("deeper")
    deep = window.page
    assert deep is not None
    assert deep.title == "Deepest"
    way = deep.way_back
    assert isinstance(way, WayBack)
    assert [b.text() for b in way.buttons] == ["Brief", "Fact check"]
    document = outer.workspace.document
    document.execute(commands.set_workflow({"name": "Report"}), "Rename")
    assert [b.text() for b in way.buttons] == ["Report", "Fact check"]
    window.actions_["view.up"].trigger()
    assert window.page is inner
    window.tabs.show_page(deep)
    way.buttons[0].click()
    assert window.page is outer
    document.undo_stack.setClean()


def test_saving_inside_saves_the_file_around_it(make_window: MakeWindow, file: Path) -> None:
    window = make_window()
    outer, inner = _opened(window, file)
    document = inner.workspace.document
    edit, node = commands.new_node(document.workflow, "agent")
    document.execute(edit, "Add agent")
    assert outer.workspace.document.dirty
    window.actions_["file.save"].trigger()
    assert not outer.workspace.document.dirty
    saved = read_workflow(file)
    assert saved.id == "outer"
    found = saved.node("check")
    assert isinstance(found, SubWorkflowNode)
    assert found.embedded is not None
    assert found.embedded.node(node) is not None
    window.refresh()
    window.actions_["edit.undo"].trigger()
    assert inner.workspace.document.workflow.node(node) is None
    outer.workspace.document.undo_stack.setClean()


def test_closing_inside_asks_nothing_and_closing_outside_closes_both(make_window: MakeWindow, file: Path) -> None:
    window = make_window()
    outer, inner = _opened(window, file)
    inner.workspace.document.execute(commands.set_workflow({"name": "Other"}), "Rename")
    window.files.close(inner)
    assert window.files.pages() == [outer]
    assert outer.workspace.document.dirty
    outer.canvas.open_item("check")
    assert len(window.files.pages()) == 2
    outer.workspace.document.undo_stack.setClean()
    window.files.close(outer)
    assert window.files.pages() == []


def test_the_tab_goes_with_its_node(make_window: MakeWindow, file: Path, qtbot: QtBot) -> None:
    window = make_window()
    outer, inner = _opened(window, file)
    inner.canvas.open_item("deeper")
    outer.workspace.document.execute(commands.delete_items(outer.workspace.document.workflow, ("check",)), "Delete")
    qtbot.waitUntil(lambda: window.files.pages() == [outer])
    outer.workspace.document.undo_stack.undo()
    outer.canvas.open_item("check")
    assert len(window.files.pages()) == 2
    document = outer.workspace.document
    document.execute(SetFields("nodes", "check", {"path": "other.workflow.json"}), "Link")
    document.undo_stack.undo()
    qtbot.wait(1)
    assert len(window.files.pages()) == 2, "it is there again before the tab would have gone"
    document.undo_stack.setClean()
