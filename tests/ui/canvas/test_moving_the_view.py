"""The view moves while something is dragged, from far away, over what floats; other buttons amid a gesture."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QWidget
from studio.document.model import Workflow
from studio.ui.canvas import CanvasView
from tests.ui.canvas.drawings import small
from tests.ui.canvas.hands import key, move, point, press, release

Make = Callable[[Workflow], CanvasView]
_LEFT, _MIDDLE, _RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton, Qt.MouseButton.RightButton
_CTRL = Qt.KeyboardModifier.ControlModifier


def _place(view: CanvasView, node: str) -> tuple[float, float]:
    assert view.workspace is not None
    place = view.workspace.document.workflow.places[node]
    return place.x, place.y


def _scrolled(view: CanvasView) -> tuple[int, int]:
    return view.horizontalScrollBar().value(), view.verticalScrollBar().value()


def _wheel(widget: QWidget, at: QPoint, delta: int, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    event = QWheelEvent(
        QPointF(at),
        QPointF(widget.mapToGlobal(at)),
        QPoint(),
        QPoint(0, delta),
        Qt.MouseButton.NoButton,
        keys,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(widget, event)


def test_what_is_dragged_stays_with_the_pointer_when_the_wheel_scrolls_or_zooms(make_canvas: Make) -> None:
    view = make_canvas(small())
    item = view.canvas_scene.items_by_id["a"]
    press(view, 100, 45)
    move(view, 116, 45)
    at = point(view, 116, 45)
    before = item.y()
    _wheel(view.viewport(), at, -240)
    assert item.y() == before + 120
    _wheel(view.viewport(), at, 120, _CTRL)
    held = view.to_scene(QPointF(at)) - item.pos()
    assert abs(held.y() - 45) <= 5
    key(view, Qt.Key.Key_Escape)
    assert (item.x(), item.y()) == (0, 0)


def test_another_button_does_not_end_a_drag_and_the_right_one_cancels_without_a_menu(make_canvas: Make) -> None:
    view = make_canvas(small())
    press(view, 100, 45)
    move(view, 164, 109)
    press(view, 164, 109, button=_MIDDLE)
    release(view, 164, 109, button=_MIDDLE)
    assert view.gesture is not None
    at = point(view, 164, 109)
    press(view, 164, 109, button=_RIGHT)
    menu = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, view.viewport().mapToGlobal(at))
    QApplication.sendEvent(view.viewport(), menu)
    assert view.gesture is None
    assert not any(m.isVisible() for m in view.findChildren(QMenu))
    release(view, 164, 109)
    assert _place(view, "a") == (0, 0)


def test_the_pointer_does_not_move_what_the_arrows_move_and_a_click_keeps_it(make_canvas: Make) -> None:
    view = make_canvas(small())
    view.select(["a"])
    key(view, Qt.Key.Key_G)
    key(view, Qt.Key.Key_Right)
    QTest.mouseMove(view.viewport(), QPoint(500, 300))
    move(view, 400, 300, button=Qt.MouseButton.NoButton)
    assert view.canvas_scene.items_by_id["a"].x() == 8
    press(view, 400, 300)
    release(view, 400, 300)
    assert _place(view, "a") == (8, 0)
    assert view.key_shift is None
    assert view.selection_items == ("a",)


def test_panning_twice_quickly_pans_twice(make_canvas: Make) -> None:
    view = make_canvas(small())
    before = _scrolled(view)
    at = QPoint(500, 300)
    for kind in (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick):
        for event, place, button, held in (
            (kind, at, _MIDDLE, _MIDDLE),
            (QEvent.Type.MouseMove, at + QPoint(20, 10), Qt.MouseButton.NoButton, _MIDDLE),
            (QEvent.Type.MouseButtonRelease, at + QPoint(20, 10), _MIDDLE, Qt.MouseButton.NoButton),
        ):
            there = QPointF(view.viewport().mapToGlobal(place))
            mouse = QMouseEvent(event, QPointF(place), there, button, held, Qt.KeyboardModifier.NoModifier)
            QApplication.sendEvent(view.viewport(), mouse)
    assert _scrolled(view) == (before[0] - 40, before[1] - 20)


def test_zooming_far_out_and_in_again_comes_back_to_what_is_under_the_pointer(make_canvas: Make) -> None:
    view = make_canvas(small())
    at = QPointF(700, 500)
    under = view.to_scene(at)
    for turn in (-120, 120):
        for _ in range(26):
            _wheel(view.viewport(), at.toPoint(), turn, _CTRL)
            now = view.to_scene(at)
            assert abs(now.x() - under.x()) <= 1 / view.zoom
            assert abs(now.y() - under.y()) <= 1 / view.zoom
    assert view.zoom > 1.0


def test_the_wheel_works_over_what_floats(make_canvas: Make) -> None:
    view = make_canvas(small())
    before = _scrolled(view)
    for box in (view.overlays.map, view.overlays.zoom):
        _wheel(box, box.rect().center(), -120)
    assert _scrolled(view) == (before[0], before[1] + 120)


def test_the_view_follows_the_pointer_on_the_minimap(make_canvas: Make) -> None:
    view = make_canvas(small())
    view.fit_all()
    minimap = view.overlays.map
    scale = minimap._scale()[0]
    start = minimap.rect().center() + QPoint(5, 3)
    before = view.seen_rect().center()
    QTest.mousePress(minimap, _LEFT, Qt.KeyboardModifier.NoModifier, start)
    assert (view.seen_rect().center() - before).manhattanLength() <= 2 / view.zoom
    for step in (20, 70):
        to = start - QPoint(step, 0)
        mouse = QMouseEvent(
            QEvent.Type.MouseMove,
            QPointF(to),
            QPointF(minimap.mapToGlobal(to)),
            Qt.MouseButton.NoButton,
            _LEFT,
            Qt.KeyboardModifier.NoModifier,
        )
        QApplication.sendEvent(minimap, mouse)
        assert abs(before.x() - view.seen_rect().center().x() - step / scale) <= 2 / view.zoom
    QTest.mouseRelease(minimap, _LEFT, Qt.KeyboardModifier.NoModifier, start - QPoint(70, 0))
    assert minimap._world.contains(view.seen_rect())
