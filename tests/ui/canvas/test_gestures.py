"""Mouse gestures: one edit each, or none."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from studio.document.model import DirectEdge, Workflow
from studio.ui.canvas import CanvasView
from studio.ui.canvas.levels import Level
from tests.ui.canvas.drawings import large, research_brief, small
from tests.ui.canvas.hands import click, drag, key, move, press, release

Make = Callable[[Workflow], CanvasView]
K = Qt.Key


def _workflow(view: CanvasView) -> Workflow:
    assert view.workspace is not None
    return view.workspace.document.workflow


def _steps(view: CanvasView) -> int:
    assert view.workspace is not None
    return view.workspace.document.undo_stack.count()


def _undo(view: CanvasView) -> None:
    assert view.workspace is not None
    view.workspace.document.undo_stack.undo()
    view.canvas_scene.flush()


def test_dragging_a_card_is_one_step_on_the_grid(make_canvas: Make) -> None:
    view = make_canvas(small())
    drag(view, (100, 45), (163, 205))
    place = _workflow(view).places["a"]
    assert (place.x % 8, place.y % 8) == (0, 0)
    assert abs(place.x - 63) <= 4
    assert _steps(view) == 1
    _undo(view)
    assert view.canvas_scene.items_by_id["a"].pos() == QPointF(0, 0)


def test_alt_drags_without_snapping(make_canvas: Make) -> None:
    view = make_canvas(small())
    drag(view, (100, 45), (163, 205), Qt.KeyboardModifier.AltModifier)
    assert (_workflow(view).places["a"].x, _workflow(view).places["a"].y) == (63, 160)


def test_a_card_lines_up_with_a_neighbour(make_canvas: Make) -> None:
    view = make_canvas(small())
    press(view, 420, 45)
    move(view, 420, 60)
    move(view, 424, 48)
    assert view.canvas_scene.items_by_id["b"].y() == 0
    release(view, 424, 48)
    assert _workflow(view).places["b"].y == 0


def test_escape_cancels_a_move_without_a_trace(make_canvas: Make) -> None:
    view = make_canvas(small())
    press(view, 100, 45)
    move(view, 180, 145)
    move(view, 200, 165)
    assert view.canvas_scene.items_by_id["a"].x() != 0
    key(view, K.Key_Escape)
    release(view, 200, 165)
    assert view.canvas_scene.items_by_id["a"].pos() == QPointF(0, 0)
    assert _steps(view) == 0


def test_port_to_port_connects_and_undo_takes_it_back(make_canvas: Make) -> None:
    view = make_canvas(small())
    drag(view, (200, 32), (320, 32))
    assert [(e.source, e.target) for e in _workflow(view).edges if isinstance(e, DirectEdge)] == [("a", "b")]
    assert len(view.canvas_scene.line_layer.items) == 1
    _undo(view)
    assert not _workflow(view).edges
    assert not view.canvas_scene.line_layer.items


def test_in_port_draws_backwards(make_canvas: Make) -> None:
    view = make_canvas(small())
    drag(view, (320, 32), (150, 40))
    edge = _workflow(view).edges[0]
    assert isinstance(edge, DirectEdge)
    assert (edge.source, edge.target) == ("a", "b")


def test_an_illegal_target_fades_and_says_why(make_canvas: Make) -> None:
    view = make_canvas(small())
    drag(view, (200, 32), (320, 32))
    press(view, 200, 32)
    move(view, 260, 60)
    move(view, 400, 40)
    assert view.canvas_scene.items_by_id["b"].faded
    assert view.reason.isVisible()
    assert "First" in view.reason.text()
    release(view, 400, 40)
    assert len(_workflow(view).edges) == 1
    assert not view.canvas_scene.items_by_id["b"].faded
    assert not view.reason.isVisible()


def test_escape_cancels_a_new_edge(make_canvas: Make) -> None:
    view = make_canvas(small())
    press(view, 200, 32)
    move(view, 260, 60)
    key(view, K.Key_Escape)
    release(view, 320, 32)
    assert not _workflow(view).edges
    assert view.gesture is None


def test_dropping_an_edge_on_nothing_offers_what_can_follow(make_canvas: Make) -> None:
    view = make_canvas(small())
    drag(view, (200, 32), (300, 250))
    popup = view.prompts.popup
    assert popup.isVisible()
    QTest.keyClicks(popup.field, "fun")
    QTest.keyClick(popup.field, K.Key_Return)
    workflow = _workflow(view)
    added = next(n for n in workflow.nodes if n.kind == "function")
    assert workflow.edges[0].source == "a"  # type: ignore[union-attr]
    assert workflow.edges[0].target == added.id  # type: ignore[union-attr]
    assert _steps(view) == 1
    assert view.selection_items == (added.id,)


def test_dragging_an_arrow_head_leads_it_elsewhere(make_canvas: Make) -> None:
    view = make_canvas(small())
    drag(view, (200, 32), (320, 32))
    third = view.add_node("agent", QPointF(320, 200))
    drag(view, (320 - 8, 32), (400, 240))
    edge = _workflow(view).edges[0]
    assert isinstance(edge, DirectEdge)
    assert (edge.source, edge.target) == ("a", third)
    press(view, 320 - 8, 232)
    move(view, 200, 400)
    move(view, 200, 420)
    release(view, 200, 420)
    assert _workflow(view).edges == (edge,), "let go over nothing: nothing changes"


def test_dragging_the_first_end_of_an_edge_lets_it_begin_elsewhere(make_canvas: Make) -> None:
    view = make_canvas(small())
    drag(view, (200, 32), (320, 32))
    third = view.add_node("agent", QPointF(0, 200))
    steps, said = _steps(view), []
    view.message_shown.connect(said.append)
    drag(view, (220, 32), (60, 400))
    assert said == ["The edge stays as it was: its end belongs on a node, switch or fan-out."]
    drag(view, (220, 32), (100, 40))
    assert _steps(view) == steps, "led back to where it was"
    drag(view, (220, 32), (100, 240))
    edge = _workflow(view).edges[0]
    assert isinstance(edge, DirectEdge)
    assert (edge.source, edge.target) == (third, "b")
    assert _steps(view) == steps + 1


def test_marquee_selects_what_it_touches_and_shift_adds(make_canvas: Make) -> None:
    view = make_canvas(small())
    drag(view, (-50, -50), (20, 100))
    assert view.selection_items == ("a",)
    drag(view, (560, -50), (500, 100), Qt.KeyboardModifier.ShiftModifier)
    assert view.selection_items == ("a", "b")
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    for keys in (Qt.KeyboardModifier.AltModifier, both):
        view.select(("a", "b"))
        drag(view, (-50, -50), (20, 100), keys)
        assert view.selection_items == ("b",)


def test_escape_during_a_marquee_restores_the_selection(make_canvas: Make) -> None:
    view = make_canvas(small())
    view.select(("b",))
    press(view, -50, -50)
    move(view, 40, 100)
    assert view.canvas_scene.items_by_id["a"].selected
    key(view, K.Key_Escape)
    assert view.selection_items == ("b",)
    assert not view.canvas_scene.items_by_id["a"].selected
    assert view.canvas_scene.items_by_id["b"].selected


def test_middle_button_and_space_pan(make_canvas: Make) -> None:
    view = make_canvas(small())
    middle = Qt.MouseButton.MiddleButton
    origin = view.mapFromScene(QPointF(0, 0))
    QTest.mousePress(view.viewport(), middle, pos=QPoint(300, 300))
    QTest.mouseMove(view.viewport(), QPoint(340, 320))
    QTest.mouseRelease(view.viewport(), middle, pos=QPoint(340, 320))
    assert view.mapFromScene(QPointF(0, 0)) == origin + QPoint(40, 20)
    view.set_focus("a")
    QTest.keyPress(view, K.Key_Space)
    QTest.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(300, 300))
    QTest.mouseMove(view.viewport(), QPoint(290, 300))
    QTest.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(290, 300))
    QTest.keyRelease(view, K.Key_Space)
    assert view.mapFromScene(QPointF(0, 0)) == origin + QPoint(30, 20)
    assert view.selection_items == (), "space that panned does not select"
    QTest.keyClick(view, K.Key_Space)
    assert view.selection_items == ("a",)


def test_wheel_scrolls_and_ctrl_wheel_zooms_at_the_pointer(make_canvas: Make, qtbot: object) -> None:
    from PySide6.QtGui import QWheelEvent
    from PySide6.QtWidgets import QApplication

    view = make_canvas(small())

    def wheel(x: int, y: int, keys: Qt.KeyboardModifier) -> None:
        at = QPointF(200, 150)
        event = QWheelEvent(
            at,
            QPointF(view.viewport().mapToGlobal(at.toPoint())),
            QPoint(),
            QPoint(x, y),
            Qt.MouseButton.NoButton,
            keys,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(view.viewport(), event)

    top = view.mapFromScene(QPointF(0, 0)).y()
    wheel(0, 120, Qt.KeyboardModifier.NoModifier)
    assert view.mapFromScene(QPointF(0, 0)).y() == top + 60
    point = view.to_scene(QPointF(200, 150))
    wheel(0, 120, Qt.KeyboardModifier.ControlModifier)
    assert view.zoom > 1.1
    after = view.to_scene(QPointF(200, 150))
    assert abs(after.x() - point.x()) < 1
    assert abs(after.y() - point.y()) < 1


def test_right_border_changes_the_width_in_steps(make_canvas: Make) -> None:
    view = make_canvas(small())
    drag(view, (200, 55), (245, 55))
    assert _workflow(view).places["a"].width == 248
    drag(view, (248, 55), (600, 55))
    assert _workflow(view).places["a"].width == 320
    _undo(view)
    assert view.canvas_scene.items_by_id["a"].box.width() == 248


def test_a_node_dropped_on_an_edge_is_put_on_it(make_canvas: Make) -> None:
    workflow = small()
    view = make_canvas(workflow)
    drag(view, (200, 32), (320, 32))
    third = view.add_node("function", QPointF(160, 300))
    assert third is not None
    drag(view, (260, 345), (260, 47))
    pairs = {(e.source, e.target) for e in _workflow(view).edges if isinstance(e, DirectEdge)}
    assert pairs == {("a", third), (third, "b")}
    _undo(view)
    assert {(e.source, e.target) for e in _workflow(view).edges if isinstance(e, DirectEdge)} == {("a", "b")}


def test_alt_click_on_a_port_removes_its_edges(make_canvas: Make) -> None:
    view = make_canvas(small())
    drag(view, (200, 32), (320, 32))
    click(view, 320, 32, Qt.KeyboardModifier.AltModifier)
    assert not _workflow(view).edges


def test_clicks_select_add_and_clear(make_canvas: Make) -> None:
    view = make_canvas(research_brief())
    view.set_zoom(0.8)
    rect = view.canvas_scene.items_by_id["writer"].rect
    click(view, rect.center().x(), rect.center().y())
    assert view.selection_items == ("writer",)
    other = view.canvas_scene.items_by_id["publisher"].rect.center()
    click(view, other.x(), other.y(), Qt.KeyboardModifier.ShiftModifier)
    assert view.selection_items == ("writer", "publisher")
    click(view, other.x(), other.y() + 200)
    assert view.selection_items == ()
    click(view, rect.center().x(), rect.center().y(), Qt.KeyboardModifier.ControlModifier)
    assert set(view.selection_items) >= {"writer", "review", "publisher", "planner", "join"}


def test_octagon_corner_toggles_the_breakpoint(make_canvas: Make) -> None:
    view = make_canvas(small())
    assert view.workspace is not None
    click(view, 1, 1)
    assert view.workspace.run.breakpoints == {"a"}
    view.canvas_scene.flush()
    assert view.canvas_scene.items_by_id["a"].card.octagon == "on"  # type: ignore[attr-defined]
    click(view, 1, 1)
    assert not view.workspace.run.breakpoints


def test_dragging_far_out_moves_items_on_release(make_canvas: Make) -> None:
    view = make_canvas(large(60))
    view.set_zoom(0.2)
    view.look_at(QPointF(600, 500))
    assert view.level == Level.FAR
    drag(view, (100, 30), (500, 430))
    assert abs(_workflow(view).places["n0"].x - 400) <= 8
    _undo(view)
    assert view.canvas_scene.items_by_id["n0"].pos() == QPointF(0, 0)


def test_zooming_in_while_something_is_dragged_far_out_shows_it_under_the_pointer(make_canvas: Make) -> None:
    view = make_canvas(large(60))
    view.set_zoom(0.2)
    view.look_at(QPointF(600, 500))
    press(view, 100, 30)
    move(view, 500, 430)
    at = QPointF(view.mapFromScene(QPointF(500, 430)))
    view.set_zoom(1.0, at)
    assert view.level == Level.NEAR
    move(view, 500, 430)
    item = view.canvas_scene.items_by_id["n0"]
    assert (item.pos() - QPointF(400, 400)).manhattanLength() <= 16
    key(view, K.Key_Escape)
    assert item.pos() == QPointF(0, 0)
    view.set_zoom(0.2)
    assert view.far.pick(QPointF(100, 30)) == "n0"


def test_ctrl_leaves_a_copy_behind(make_canvas: Make) -> None:
    view = make_canvas(small())
    press(view, 100, 45)
    for x in (130, 180):
        move(view, x, 205, Qt.KeyboardModifier.ControlModifier)
    release(view, 180, 205, Qt.KeyboardModifier.ControlModifier)
    workflow = _workflow(view)
    assert len(workflow.nodes) == 3
    copy = next(n.id for n in workflow.nodes if n.id not in ("a", "b"))
    assert (workflow.places[copy].x, workflow.places[copy].y) == (0, 0)
    assert workflow.places["a"].y == 160
    assert _steps(view) == 1


def test_undo_during_a_drag_ends_the_drag(make_canvas: Make) -> None:
    view = make_canvas(small())
    view.add_node("function", QPointF(0, 200))
    press(view, 100, 45)
    move(view, 180, 145)
    assert view.gesture is not None
    _undo(view)
    assert view.gesture is None
    release(view, 180, 145)
    assert _workflow(view).places["a"].x == 0


def test_loading_another_document_during_a_drag_is_safe(make_canvas: Make) -> None:
    from studio.document.edits import ReplaceAll

    view = make_canvas(small())
    press(view, 200, 32)
    move(view, 260, 60)
    assert view.gesture is not None
    assert view.workspace is not None
    view.workspace.document.execute(ReplaceAll(research_brief()), "Load")
    view.canvas_scene.flush()
    move(view, 270, 70)
    release(view, 270, 70)
    assert view.gesture is None
    assert "writer" in view.canvas_scene.items_by_id


def test_dragging_to_the_border_scrolls(make_canvas: Make, qtbot: QtBot) -> None:
    view = make_canvas(small())
    seen = view.seen_rect().right()
    press(view, 100, 45)
    move(view, 200, 45)
    move(view, 895, 45)
    qtbot.waitUntil(lambda: view.seen_rect().right() > seen + 30)
    assert view.canvas_scene.items_by_id["a"].x() > 800
    key(view, K.Key_Escape)
    assert view.canvas_scene.items_by_id["a"].x() == 0
