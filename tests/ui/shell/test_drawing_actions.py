"""Every command that draws is an action (menu, palette, keys), and each that changes the document is one undo step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from studio.document.model import AgentNode, DirectEdge, SubWorkflowNode, Workflow
from studio.files import write_workflow
from studio.ui.actions import ACTIONS
from studio.ui.main_window import MainWindow
from studio.ui.window.situation import kinds_of
from studio.ui.window.status_texts import selection_text
from tests.ui.canvas.drawings import research_brief, small

MakeWindow = Callable[..., MainWindow]

FILE = "inner.workflow.json"
BRANCHES = ("to_market", "to_tech")


def drawing() -> Workflow:
    """The research brief with a sub-workflow of each kind and an agent with two direct edges."""
    brief = research_brief()
    more = (
        SubWorkflowNode(id="linked", name="Linked", path=FILE),
        SubWorkflowNode(id="embedded", name="Embedded", embedded=small()),
        AgentNode(id="fork", name="Fork"),
    )
    edges = tuple(DirectEdge(id=i, source="fork", target=i.removeprefix("to_")) for i in BRANCHES)
    return brief.model_copy(update={"nodes": (*brief.nodes, *more), "edges": (*brief.edges, *edges)})


STEPS: dict[str, tuple[str, ...]] = {
    "edit.cut": ("writer",),
    "edit.paste": (),
    "edit.paste_edges": (),
    "edit.duplicate": ("market", "tech"),
    "edit.duplicate_edges": ("market",),
    "edit.delete": ("writer", "join"),
    "edit.delete_join": ("writer",),
    "edit.set_start": ("writer",),
    "view.arrange": (),
    "view.arrange_down": (),
    "node.take_out": ("writer",),
    "node.output": ("publisher",),
    "node.to_switch": ("join_to_writer",),
    "node.to_fan_out": ("fork",),
    "node.add_bend": ("join_to_writer",),
    "node.align_left": ("market", "writer"),
    "node.align_right": ("market", "writer"),
    "node.align_up": ("market", "writer"),
    "node.align_down": ("market", "writer"),
    "node.align_across": ("market", "writer"),
    "node.align_along": ("market", "writer"),
    "node.distribute_x": ("market", "writer", "publisher"),
    "node.distribute_y": ("market", "writer", "note"),
    "node.keep_place": ("writer",),
    "node.frame": ("writer", "publisher"),
    "node.collapse": ("research",),
    "node.extract": ("publisher",),
    "node.inline": ("embedded",),
    "node.embed": ("linked",),
    **{
        f"insert.{kind}": ()
        for kind in (
            "agent", "runner", "function", "human_input", "sub_workflow", "template", "join", "switch", "fan_out",
            "note", "sequential", "concurrent", "handoff", "group_chat",
        )
    },
}  # fmt: skip
"""What is selected for each action that changes the document at once."""

ASKING: dict[str, tuple[tuple[str, ...], str]] = {
    "node.connect": (("fork",), "Writer"),
    "node.insert": (("join_to_writer",), "Agent"),
    "insert.search": ((), "Agent"),
}
"""Those that change it when something is chosen in the search: selection, what is typed."""

LOOKING = {
    "edit.copy": ("writer",),
    "edit.select_all": (),
    "edit.select_none": ("writer",),
    "edit.select_before": ("writer",),
    "edit.select_behind": ("writer",),
    "edit.select_connected": ("writer",),
    "edit.rename": ("writer",),
    "node.open": ("writer",),
    "node.edge_condition": ("join_to_writer",),
    "node.align": ("market", "writer"),
    "edit.find_text": (),
    "edit.find_next": (),
    "edit.find_previous": (),
    "edit.replace": (),
}
"""Those that leave the document as it is."""

ELSEWHERE = {
    "edit.undo": "takes steps back",
    "edit.redo": "takes them again",
    "edit.rename_all": "opens a dialog with a test of its own",
    "edit.find": "opens the palette",
    "node.move": "arrows follow, see below",
    "node.remove_bends": "needs bends, see below",
}


@pytest.fixture
def window(make_window: MakeWindow, qtbot: QtBot, tmp_path: Path) -> MainWindow:
    write_workflow(small(), tmp_path / FILE)
    file = tmp_path / "outer.workflow.json"
    write_workflow(drawing(), file)
    made = make_window()
    made.show_first([file])
    qtbot.waitExposed(made)
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    assert made.page is not None
    made.page.canvas.motion = False
    QGuiApplication.clipboard().clear()
    return made


def trigger(window: MainWindow, action: str, selected: tuple[str, ...]) -> None:
    """What a menu or the palette does, with this selected."""
    assert window.page is not None
    window.page.canvas.setFocus()
    window.page.workspace.selection.select(selected)
    window.refresh()
    assert window.actions_[action].isEnabled(), (action, window.actions_.reason(action))
    window.actions_[action].trigger()


def steps(window: MainWindow) -> int:
    assert window.page is not None
    return window.page.workspace.document.undo_stack.count()


def test_every_action_that_draws_is_in_one_of_the_tables() -> None:
    drawing_menus = {a.id for a in ACTIONS if a.menu in ("Edit", "Insert", "Node")} | {
        "view.arrange",
        "view.arrange_down",
    }
    listed = [*STEPS, *ASKING, *LOOKING, *ELSEWHERE]
    assert set(listed) == drawing_menus
    assert len(listed) == len(set(listed))


def test_each_is_one_undo_step_that_takes_everything_back(window: MainWindow) -> None:
    assert window.page is not None
    document = window.page.workspace.document
    trigger(window, "edit.copy", ("market", "split"))
    before = document.workflow
    for action, selected in STEPS.items():
        trigger(window, action, selected)
        assert steps(window) == 1, action
        assert document.workflow != before, action
        assert document.undo_stack.undoText(), action
        document.undo_stack.undo()
        assert document.workflow == before, action
        document.undo_stack.clear()
        if action == "edit.cut":
            trigger(window, "edit.copy", ("market", "split"))


def test_those_that_ask_are_one_step_after_the_answer(window: MainWindow) -> None:
    assert window.page is not None
    document, popup = window.page.workspace.document, window.page.canvas.prompts.popup
    before = document.workflow
    for action, (selected, typed) in ASKING.items():
        trigger(window, action, selected)
        assert popup.isVisible(), action
        assert steps(window) == 0, action
        QTest.keyClicks(popup.field, typed)
        QTest.keyClick(popup.field, Qt.Key.Key_Return)
        assert steps(window) == 1, action
        assert document.workflow != before, action
        document.undo_stack.undo()
        assert document.workflow == before, action
        document.undo_stack.clear()


def test_the_others_are_none(window: MainWindow) -> None:
    for action, selected in LOOKING.items():
        trigger(window, action, selected)
        assert steps(window) == 0, action
    assert window.page is not None
    window.page.canvas._told.hide()


def test_moving_and_bends_by_action(window: MainWindow) -> None:
    assert window.page is not None
    page, document = window.page, window.page.workspace.document
    where = document.workflow.places["writer"]
    trigger(window, "node.move", ("writer",))
    QTest.keyClick(page.canvas, Qt.Key.Key_Right)
    QTest.keyClick(page.canvas, Qt.Key.Key_Right)
    QTest.keyClick(page.canvas, Qt.Key.Key_Return)
    assert document.workflow.places["writer"].x == where.x + 16
    assert steps(window) == 1
    trigger(window, "node.add_bend", ("join_to_writer",))
    trigger(window, "node.remove_bends", ("join_to_writer",))
    assert steps(window) == 3
    assert "join_to_writer" not in document.workflow.places
    page.canvas._told.hide()


def test_what_is_already_so_makes_no_step(window: MainWindow) -> None:
    trigger(window, "edit.set_start", ("planner",))
    trigger(window, "node.remove_bends", ("join_to_writer",))
    trigger(window, "node.align_up", ("planner", "writer"))
    trigger(window, "node.distribute_y", ("market", "tech", "policy"))
    assert steps(window) == 0
    window.refresh()
    assert window.actions_["edit.set_start"].isChecked() is False
    assert window.page is not None
    window.page.workspace.selection.select(("planner",))
    window.refresh()
    assert window.actions_["edit.set_start"].isChecked() is True
    window.page.canvas._told.hide()


def test_actions_say_what_to_select_first(window: MainWindow) -> None:
    assert window.page is not None
    selection = window.page.workspace.selection
    reasons = {
        "node.connect": (("join_to_writer",), "Select one node, switch or fan-out."),
        "node.output": (("join",), "Select one node that gives an output."),
        "node.embed": (("embedded",), "Select a sub-workflow that is linked to a file."),
        "node.inline": (("linked",), "Select a sub-workflow that is embedded."),
        "node.to_switch": (("good",), "Select one direct edge."),
        "node.align_left": (("writer",), "Select two items."),
        "node.distribute_x": (("writer", "join"), "Select three items."),
        "node.frame": ((), "Nothing is selected."),
    }
    for action, (selected, reason) in reasons.items():
        selection.select(selected)
        window.refresh()
        assert window.actions_.reason(action) == reason, action


def test_the_frame_action_says_what_it_does(window: MainWindow) -> None:
    assert window.page is not None
    for selected, text in ((("writer",), "Frame around selection"), (("research",), "Remove the frame")):
        window.page.workspace.selection.select(selected)
        window.refresh()
        assert window.actions_["node.frame"].text() == text


def test_keys_of_the_canvas_work_in_the_outline(window: MainWindow, qtbot: QtBot) -> None:
    assert window.page is not None
    page, tree = window.page, window.sides.outline.tree
    window.sides.layouts.open("left")
    tree.setFocus()
    qtbot.waitUntil(tree.hasFocus)
    page.workspace.selection.select(("writer",))
    window.refresh()
    QTest.keyClick(tree, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    assert steps(window) == 1
    page.workspace.selection.select(("embedded",))
    window.refresh()
    tree.setFocus()
    QTest.keyClick(tree, Qt.Key.Key_C)
    assert page.canvas.prompts.popup.isVisible()
    page.canvas.prompts.close()


def test_kinds_of_what_is_selected() -> None:
    workflow = drawing()
    assert kinds_of(workflow, ("writer", "join", "split", "note", "research")) == {
        "node", "join", "junction", "note", "frame",
    }  # fmt: skip
    assert kinds_of(workflow, ("good",)) == {"line", "ruled"}
    assert kinds_of(workflow, ("join_to_writer",)) == {"line", "ruled", "direct"}
    assert kinds_of(workflow, ("gather:to:tech",)) == {"line"}
    assert kinds_of(workflow, ("linked",)) >= {"node", "linked"}
    assert kinds_of(workflow, ("gone",)) == frozenset()


def test_a_key_that_was_given_away_does_nothing_on_the_canvas(window: MainWindow) -> None:
    assert window.page is not None
    canvas = window.page.canvas
    window.actions_.set_keys({"node.frame": ("X",), "edit.delete": ()})
    window.page.workspace.selection.select(("writer",))
    canvas.setFocus()
    window.refresh()
    for key in (Qt.Key.Key_F, Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
        QTest.keyClick(canvas, key)
        assert steps(window) == 0
    QTest.keyClick(canvas, Qt.Key.Key_X)
    assert steps(window) == 1


def test_keys_work_on_what_has_the_focus_alone(window: MainWindow) -> None:
    assert window.page is not None
    canvas = window.page.canvas
    window.page.workspace.selection.select(())
    canvas.set_focus("writer")
    window.refresh()
    assert not window.actions_["node.connect"].isEnabled()
    QTest.keyClick(canvas, Qt.Key.Key_C)
    assert canvas.prompts.popup.isVisible()
    QTest.keyClick(canvas.prompts.popup.field, Qt.Key.Key_Escape)
    QTest.keyClick(canvas, Qt.Key.Key_F)
    assert steps(window) == 1
    window.actions_.set_keys({"node.connect": ("K",), "node.frame": ("C",)})
    window.page.workspace.selection.select(())
    canvas.set_focus("planner")
    window.refresh()
    QTest.keyClick(canvas, Qt.Key.Key_F)  # has no action any more
    assert steps(window) == 1
    QTest.keyClick(canvas, Qt.Key.Key_K)
    assert canvas.prompts.popup.isVisible()
    QTest.keyClick(canvas.prompts.popup.field, Qt.Key.Key_Escape)
    QTest.keyClick(canvas, Qt.Key.Key_C)
    assert steps(window) == 2


def test_the_status_bar_names_what_is_selected(window: MainWindow) -> None:
    assert window.page is not None
    workspace = window.page.workspace
    for item, words in (("research", "Research"), ("note", "Note"), ("split", "Research"), ("join_to_writer", "Edge")):
        workspace.selection.select((item,))
        assert selection_text(workspace) == f"{words} selected", item


def test_the_palette_says_the_menu_once(window: MainWindow) -> None:
    window.palettes.show_commands()
    assert window.palettes._palette is not None
    groups = {entry.text: entry.group for entry in window.palettes._palette._entries}
    assert (groups["Align left edges"], groups["Light"]) == ("Node", "Theme")
    window.palettes._palette.close_palette()
