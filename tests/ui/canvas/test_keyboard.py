"""Everything without a mouse."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot
from studio.document.model import DirectEdge, Workflow
from studio.files.format import dumps
from studio.ui.canvas import CanvasView
from tests.ui.canvas.drawings import research_brief, small
from tests.ui.canvas.hands import key

Make = Callable[[Workflow], CanvasView]
K, CTRL, SHIFT = Qt.Key, Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


def _workflow(view: CanvasView) -> Workflow:
    assert view.workspace is not None
    return view.workspace.document.workflow


def test_tab_follows_the_run_order_and_leaves_at_the_end(make_canvas: Make) -> None:
    view = make_canvas(research_brief())
    seen = []
    for _ in range(9):
        key(view, K.Key_Tab)
        seen.append(view.canvas_scene.focus_id)
    assert seen == ["planner", "split", "market", "tech", "policy", "join", "writer", "review", "publisher"]
    key(view, K.Key_Backtab, SHIFT)
    assert view.canvas_scene.focus_id == "review"


def test_arrows_follow_edges(make_canvas: Make) -> None:
    view = make_canvas(research_brief())
    key(view, K.Key_Right)
    assert view.canvas_scene.focus_id == "planner"
    for expected in ("split", "tech"):
        key(view, K.Key_Right)
        assert view.canvas_scene.focus_id == expected
    key(view, K.Key_Up)
    assert view.canvas_scene.focus_id == "market"
    for expected in ("join", "writer", "review", "publisher"):
        key(view, K.Key_Right)
        assert view.canvas_scene.focus_id == expected
    key(view, K.Key_Left)
    assert view.canvas_scene.focus_id == "review"


def test_space_selects_the_focused_one(make_canvas: Make) -> None:
    view = make_canvas(small())
    key(view, K.Key_Tab)
    key(view, K.Key_Space)
    assert view.selection_items == ("a",)
    key(view, K.Key_Tab)
    key(view, K.Key_Space, SHIFT)
    assert view.selection_items == ("a", "b")
    key(view, K.Key_Escape)
    assert view.selection_items == ()


def test_the_focus_goes_with_what_is_selected_elsewhere(make_canvas: Make) -> None:
    view = make_canvas(research_brief())
    view.set_focus("writer")
    assert view.workspace is not None
    view.workspace.selection.select(("market",))
    assert view.focus_or_selection == "market"
    view.set_focus("tech")
    key(view, K.Key_Space, SHIFT)
    assert view.selection_items == ("market", "tech")
    key(view, K.Key_Space, SHIFT)
    assert (view.selection_items, view.focus_or_selection) == (("market",), "tech")


def test_the_focused_item_is_announced(make_canvas: Make) -> None:
    view = make_canvas(research_brief())
    view.set_focus("writer")
    assert view.accessibleDescription() == "Writer, agent, 1 input, 1 output"
    assert view.accessibleName() == "Workflow canvas, 6 nodes, 9 edges. Press F6 for the outline"


def test_shift_a_adds_what_is_typed(make_canvas: Make) -> None:
    view = make_canvas(small())
    key(view, K.Key_A, SHIFT)
    popup = view.prompts.popup
    assert popup.isVisible()
    QTest.keyClicks(popup.field, "h")
    QTest.keyClick(popup.field, K.Key_Return)
    assert [n.kind for n in _workflow(view).nodes] == ["agent", "agent", "human_input"]
    assert not popup.isVisible()
    assert len(view.selection_items) == 1


def test_letters_find_their_kind_first(make_canvas: Make) -> None:
    view = make_canvas(small())
    for letter, kind in (
        ("a", "agent"),
        ("u", "function"),
        ("h", "human_input"),
        ("w", "sub_workflow"),
        ("t", "template"),
    ):
        key(view, K.Key_A, SHIFT)
        QTest.keyClicks(view.prompts.popup.field, letter)
        QTest.keyClick(view.prompts.popup.field, K.Key_Return)
        assert _workflow(view).nodes[-1].kind == kind


def test_escape_closes_the_search_without_a_trace(make_canvas: Make) -> None:
    view = make_canvas(small())
    key(view, K.Key_A, SHIFT)
    QTest.keyClick(view.prompts.popup.field, K.Key_Escape)
    assert not view.prompts.popup.isVisible()
    assert len(_workflow(view).nodes) == 2


def test_closing_the_search_leaves_the_focus_where_it_was(make_canvas: Make, qtbot: QtBot) -> None:
    view = make_canvas(research_brief())
    view.activateWindow()
    qtbot.waitUntil(view.isActiveWindow)
    view.set_focus("writer")
    for answer in (K.Key_Escape, K.Key_Return):
        key(view, K.Key_C)
        QTest.keyClick(view.prompts.popup.field, answer)
        assert view.canvas_scene.focus_id == "writer"


def test_connect_to_lists_only_legal_targets(make_canvas: Make) -> None:
    view = make_canvas(small())
    view.set_focus("a")
    key(view, K.Key_C)
    popup = view.prompts.popup
    names = [popup.list.item(i).text() for i in range(popup.list.count())]
    assert "Second" in names
    QTest.keyClicks(popup.field, "sec")
    QTest.keyClick(popup.field, K.Key_Return)
    assert [(e.source, e.target) for e in _workflow(view).edges if isinstance(e, DirectEdge)] == [("a", "b")]
    key(view, K.Key_C)
    assert "Second" not in [popup.list.item(i).text() for i in range(popup.list.count())]
    QTest.keyClick(popup.field, K.Key_Escape)


def test_insert_after_takes_over_the_only_edge(make_canvas: Make) -> None:
    view = make_canvas(small())
    view.connect_items("a", "b")
    view.set_focus("a")
    key(view, K.Key_I)
    QTest.keyClicks(view.prompts.popup.field, "agent")
    QTest.keyClick(view.prompts.popup.field, K.Key_Return)
    workflow = _workflow(view)
    new = workflow.nodes[-1].id
    assert {(e.source, e.target) for e in workflow.edges if isinstance(e, DirectEdge)} == {("a", new), (new, "b")}


def test_delete_and_undo(make_canvas: Make) -> None:
    view = make_canvas(research_brief())
    before = _workflow(view)
    view.select(("writer",))
    key(view, K.Key_Delete)
    assert _workflow(view).node("writer") is None
    assert "writer" not in view.canvas_scene.items_by_id
    assert view.workspace is not None
    view.workspace.document.undo_stack.undo()
    assert _workflow(view) == before
    view.canvas_scene.flush()
    assert "writer" in view.canvas_scene.items_by_id


def test_a_single_line_of_a_group_can_be_deleted(make_canvas: Make) -> None:
    view = make_canvas(research_brief())
    view.select(("gather:to:tech",))
    key(view, K.Key_Delete)
    assert _workflow(view).edge("gather").sources == ("market", "policy")  # type: ignore[union-attr]
    assert "gather:to:tech" not in view.canvas_scene.line_layer.items


def test_copy_cut_paste_duplicate(make_canvas: Make) -> None:
    view = make_canvas(small())
    view.connect_items("a", "b")
    key(view, K.Key_A, CTRL)
    key(view, K.Key_C, CTRL)
    assert "superstep-clipping" in QGuiApplication.clipboard().text()
    key(view, K.Key_V, CTRL)
    assert len(_workflow(view).nodes) == 4
    assert len(_workflow(view).edges) == 2
    assert len(view.selection_items) == 2
    key(view, K.Key_D, CTRL)
    assert len(_workflow(view).nodes) == 6
    key(view, K.Key_X, CTRL)
    assert len(_workflow(view).nodes) == 4
    assert view.workspace is not None
    assert view.workspace.document.undo_stack.undoText() == "Cut 2 items"


def test_pasting_something_else_says_why(make_canvas: Make, qtbot: QtBot) -> None:
    view = make_canvas(small())
    QGuiApplication.clipboard().setText("just words")
    with qtbot.waitSignal(view.message_shown) as told:
        key(view, K.Key_V, CTRL)
    assert told.args == ["The clipboard holds no nodes of a workflow."]
    QGuiApplication.clipboard().setText(dumps(small())[:-40])
    with qtbot.waitSignal(view.message_shown) as told:
        key(view, K.Key_V, CTRL)
    assert "The file ends too early: a part of it is missing. (line " in told.args[0]
    view._told.hide()


def test_the_text_of_a_file_is_pasted(make_canvas: Make) -> None:
    view = make_canvas(small())
    QGuiApplication.clipboard().setText(dumps(research_brief()))
    key(view, K.Key_V, CTRL)
    brief = research_brief()
    assert len(_workflow(view).nodes) == 2 + len(brief.nodes)
    assert len(_workflow(view).edges) == len(brief.edges)
    assert view.workspace is not None
    assert view.workspace.document.undo_stack.count() == 1


def test_an_edge_alone_is_not_copied_and_says_so(make_canvas: Make, qtbot: QtBot) -> None:
    view = make_canvas(small())
    view.connect_items("a", "b")
    view.select(tuple(view.canvas_scene.line_layer.items))
    QGuiApplication.clipboard().setText("before")
    for name in (K.Key_C, K.Key_X):
        with qtbot.waitSignal(view.message_shown) as told:
            key(view, name, CTRL)
        assert "select these too" in told.args[0]
    assert QGuiApplication.clipboard().text() == "before"
    assert len(_workflow(view).edges) == 1
    view._told.hide()


def test_rename_and_enter_go_to_the_inspector(make_canvas: Make, qtbot: QtBot) -> None:
    view = make_canvas(small())
    assert view.workspace is not None
    view.select(("b",))
    for name in (K.Key_F2, K.Key_Return):
        with qtbot.waitSignal(view.workspace.selection.field_requested) as asked:
            key(view, name)
        assert asked.args == ["b", "name"]


def test_f9_toggles_breakpoints_of_the_selection(make_canvas: Make) -> None:
    view = make_canvas(research_brief())
    assert view.workspace is not None
    view.select(("writer", "join", "review"))
    key(view, K.Key_F9)
    assert view.workspace.run.breakpoints == {"writer", "join"}


def test_g_and_arrows_move_by_the_grid(make_canvas: Make) -> None:
    view = make_canvas(small())
    view.select(("a",))
    key(view, K.Key_G)
    key(view, K.Key_Right)
    key(view, K.Key_Down, SHIFT)
    key(view, K.Key_Return)
    assert (_workflow(view).places["a"].x, _workflow(view).places["a"].y) == (8, 1)
    key(view, K.Key_G)
    key(view, K.Key_Right)
    key(view, K.Key_Escape)
    assert view.canvas_scene.items_by_id["a"].x() == 8
    assert view.workspace is not None
    assert view.workspace.document.undo_stack.count() == 1
    view._told.hide()


def test_zoom_and_fit_keys(make_canvas: Make) -> None:
    view = make_canvas(research_brief())
    key(view, K.Key_Home)
    assert view.seen_rect().contains(view.canvas_scene.bounds())
    key(view, K.Key_Plus, CTRL)
    key(view, K.Key_0, CTRL)
    assert view.zoom == 1.0
    key(view, K.Key_Minus, CTRL)
    assert view.zoom == 0.9
    view.select(("publisher",))
    key(view, K.Key_Period)
    assert view.seen_rect().contains(view.canvas_scene.items_by_id["publisher"].rect)


def test_arrange_is_one_step(make_canvas: Make) -> None:
    view = make_canvas(research_brief())
    before = _workflow(view).places
    key(view, K.Key_L, CTRL | SHIFT)
    assert _workflow(view).places != before
    assert view.workspace is not None
    assert view.workspace.document.undo_stack.count() == 1


def test_context_menus_open_by_key(make_canvas: Make, qtbot: QtBot) -> None:
    view = make_canvas(research_brief())
    for item, text in (("writer", "Breakpoint"), ("join_to_writer", "Insert node here…"), ("note", "Cut")):
        view.canvas_scene.set_focus_id(None)
        view.select((item,))
        menu = view.open_menu_at_focus()
        assert isinstance(menu, QMenu)
        assert text in [action.text().split("\t")[0] for action in menu.actions()]
        menu.close()


def test_frame_around_the_selection(make_canvas: Make) -> None:
    view = make_canvas(small())
    key(view, K.Key_A, CTRL)
    key(view, K.Key_F)
    group = _workflow(view).groups[0]
    assert group.members == ("a", "b")
    assert group.id in view.canvas_scene.items_by_id


def test_what_is_said_of_the_focused_node_follows_the_drawing(make_canvas: Callable[[Workflow], CanvasView]) -> None:
    view = make_canvas(small())
    view.set_focus("b")
    assert "0 inputs" in view.accessibleDescription()
    view.connect_items("a", "b")
    assert "1 input" in view.accessibleDescription()
