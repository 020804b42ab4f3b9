"""The mouse on the canvas: what a press becomes, a click or a gesture; hovering, wheel and context menu."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, cast

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QContextMenuEvent, QMouseEvent, QNativeGestureEvent, QPainter, QWheelEvent
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from studio.ui.canvas import menus, navigate
from studio.ui.canvas.gestures import (
    BendGesture,
    ConnectGesture,
    Gesture,
    KnifeGesture,
    MarqueeGesture,
    MoveGesture,
    PanGesture,
    Pointer,
    ResizeGesture,
)
from studio.ui.canvas.hover_words import HoverWords, hover_words
from studio.ui.canvas.picking import NOTHING, Hit, pick
from studio.ui.canvas.shaping import Shaping
from studio.ui.canvas.value_card import ValueCard
from studio.ui.text import tr
from studio.ui.theme import Theme

if TYPE_CHECKING:
    from studio.ui.canvas.view import CanvasView

_LEFT, _MIDDLE, _RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton, Qt.MouseButton.RightButton
_SHIFT = Qt.KeyboardModifier.ShiftModifier
_CTRL = Qt.KeyboardModifier.ControlModifier
_ALT = Qt.KeyboardModifier.AltModifier
_MOVABLE = ("card", "note", "frame", "octagon")
EDGE, EDGE_STEP, EDGE_MS = 24, 12, 16
"""Pixels from the border within which a drag scrolls, how far, and how often."""
WHEEL_STEP = 1.2
"""Zoom per notch of the wheel."""


class Pointing(Shaping):
    """Mouse events; the canvas itself adds the keyboard."""

    CURSORS: ClassVar[dict[str, Qt.CursorShape]] = {
        "port_out": Qt.CursorShape.CrossCursor,
        "port_in": Qt.CursorShape.CrossCursor,
        "line_start": Qt.CursorShape.CrossCursor,
        "line_end": Qt.CursorShape.CrossCursor,
        "bend": Qt.CursorShape.SizeAllCursor,
        "resize": Qt.CursorShape.SizeHorCursor,
        "note_corner": Qt.CursorShape.SizeFDiagCursor,
        "pill": Qt.CursorShape.PointingHandCursor,
        "octagon": Qt.CursorShape.PointingHandCursor,
    }

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.gesture: Gesture | None = None
        self.key_shift: QPointF | None = None
        """How far the selection was moved with the keyboard; None: arrows move the focus."""
        self.space_held = False
        """The space bar is down: dragging pans."""
        self.space_used = False
        self.wheel_zooms = False
        """The wheel zooms, and scrolls with Ctrl; else the other way round."""
        self._press: tuple[Hit, Pointer, bool] | None = None
        """What the left button was pressed on, and whether that was selected before."""
        self._button = Qt.MouseButton.NoButton
        """The button that the gesture was begun with: releasing this one ends it."""
        self._menu_off = False
        """The right button cancelled a gesture: it opens no menu this time."""
        self._along: str | None = None
        """The item that was last selected with everything it leads to."""
        self._hover = NOTHING
        self.value_card = ValueCard(theme, self)
        self._rests_at = QPoint()
        self._last: Pointer | None = None
        self._edge_timer = QTimer(self)
        self._edge_timer.setInterval(EDGE_MS)
        self._edge_timer.timeout.connect(self._on_edge_timer_timeout)
        self.setMouseTracking(True)
        self.viewport().setMouseTracking(True)

    @property
    def _me(self) -> CanvasView:
        return cast("CanvasView", self)

    def pick(self, at: QPointF) -> Hit:
        """What is at a point of the scene."""
        return pick(self.canvas_scene, self.far, at)

    def pointer(self, event: QMouseEvent) -> Pointer:
        """The event in both coordinates."""
        keys = event.modifiers()
        view = event.position()
        return Pointer(self.to_scene(view), view, bool(keys & _SHIFT), bool(keys & _ALT), bool(keys & _CTRL))

    # ---- gestures

    def begin(self, gesture: Gesture, at: Pointer, button: Qt.MouseButton = Qt.MouseButton.NoButton) -> None:
        """Starts a gesture; a running one is cancelled. ``button``: releasing it ends the gesture."""
        self.cancel_gesture()
        self.gesture, self._button, self._last = gesture, button, at
        if gesture.cursor is not None:
            self.viewport().setCursor(gesture.cursor)
        gesture.start(at)

    def end(self, at: Pointer) -> None:
        """Finishes the gesture."""
        gesture, self.gesture = self.gesture, None
        self._edge_timer.stop()
        self.viewport().unsetCursor()
        if gesture is not None:
            gesture.finish(at)
            self.touch_far()

    def cancel_gesture(self) -> bool:
        """Ends the gesture without a trace; returns whether there was one."""
        gesture, self.gesture = self.gesture, None
        self._press = self.key_shift = None
        self._edge_timer.stop()
        if gesture is None:
            return False
        self.viewport().unsetCursor()
        gesture.cancel()
        self.touch_far()
        return True

    def _watch_edges(self, at: Pointer) -> None:
        """Near the border of the view a drag scrolls."""
        self._last = at
        if isinstance(self.gesture, PanGesture) or self._edge_step(at) == (0, 0):
            self._edge_timer.stop()
        elif not self._edge_timer.isActive():
            self._edge_timer.start()

    def _edge_step(self, at: Pointer) -> tuple[int, int]:
        area = self.viewport().rect().adjusted(EDGE, EDGE, -EDGE, -EDGE)
        x, y = at.view.x(), at.view.y()
        across = -1 if x < area.left() else 1 if x > area.right() else 0
        down = -1 if y < area.top() else 1 if y > area.bottom() else 0
        return across * EDGE_STEP, down * EDGE_STEP

    def _on_edge_timer_timeout(self) -> None:
        if self.gesture is None or self._last is None:
            self._edge_timer.stop()
            return
        across, down = self._edge_step(self._last)
        self.horizontalScrollBar().setValue(self.horizontalScrollBar().value() + across)
        self.verticalScrollBar().setValue(self.verticalScrollBar().value() + down)
        self._follow_view(self._last)

    def _follow_view(self, at: Pointer) -> None:
        """The view moved under the pointer: what is dragged stays with the pointer."""
        if self.gesture is not None and self.key_shift is None:
            self.gesture.move(replace(at, scene=self.to_scene(at.view)))

    def start_key_move(self) -> None:
        """Arrows move the selection until Enter or a click keeps it, or Esc cancels."""
        view = self._me
        held = view.focus_or_selection or next(iter(self.selection_items), None)
        if not self.may_edit() or held not in self.canvas_scene.items_by_id or self.gesture is not None:
            return
        if held not in self.selection_items:
            self.select((held,))
        self.begin(MoveGesture(view, held), Pointer(QPointF(), QPointF()))
        self.key_shift = QPointF()
        self.tell(tr("Arrows move the selection, Enter keeps it, Esc cancels."))

    def end_key_move(self) -> None:
        """Keeps the selection where the arrows moved it to."""
        shift, self.key_shift = self.key_shift, None
        self.end(Pointer(shift or QPointF(), QPointF(), alt=True))

    def _gesture_for(self, hit: Hit, at: Pointer) -> Gesture | None:
        view = self._me
        if self.read_only and hit.kind:
            return None
        match hit.kind:
            case "port_out":
                return ConnectGesture(view, hit.id)
            case "port_in":
                return ConnectGesture(view, hit.id, backwards=True)
            case "line_start" | "line_end":
                line, first = self.canvas_scene.line_layer.items[hit.id].line, hit.kind == "line_start"
                return ConnectGesture(view, line.target if first else line.source, backwards=first, line=hit.id)
            case "bend":
                return BendGesture(view, hit.id)
            case "resize" | "note_corner":
                return ResizeGesture(view, hit.id)
            case "line" | "chip" | "pill":
                return None
            case "":
                return KnifeGesture(view) if at.ctrl and not (at.shift or self.read_only) else MarqueeGesture(view)
        return MoveGesture(view, hit.id, take_out=at.alt)

    # ---- events

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.finish_motion()
        self.value_card.dismiss()
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        at = self.pointer(event)
        button, self._menu_off = event.button(), False
        if self.gesture is not None:  # another button while something is dragged, or moved with the keyboard
            if button == _RIGHT:
                self._menu_off = self.cancel_gesture()
            elif button == _LEFT and self.key_shift is not None:
                self.end_key_move()
        elif button == _MIDDLE or (button == _LEFT and self.space_held):
            self.space_used = True
            self.begin(PanGesture(self._me), at, button)
        elif button == _LEFT:
            hit = self.pick(at.scene)
            was = hit.id in self.selection_items
            self._press = (hit, at, was)
            if hit.kind in _MOVABLE and not was and not (at.shift or at.ctrl or at.alt) and hit.kind != "octagon":
                self.select((hit.id,))
        elif button == _RIGHT:
            self.cancel_gesture()
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self.key_shift is None:  # else the arrows move what is held, not the pointer
            self._point_at(self.pointer(event), event.buttons())
        event.accept()

    def _point_at(self, at: Pointer, buttons: Qt.MouseButton) -> None:
        """The pointer is here now: a gesture goes on or begins, or something else is under it."""
        if self.gesture is not None:
            self.gesture.move(at)
            self._watch_edges(at)
        elif self._press is not None and buttons & _LEFT:
            hit, pressed, _ = self._press
            far_enough = (at.view - pressed.view).manhattanLength() >= QApplication.startDragDistance()
            gesture = self._gesture_for(hit, pressed) if far_enough else None
            if gesture is not None:
                self._press = None
                if isinstance(gesture, MoveGesture) and hit.id not in self.selection_items:
                    self.select((*self.selection_items, hit.id) if pressed.shift else (hit.id,))
                self.set_hover(NOTHING)
                self.begin(gesture, pressed, _LEFT)
                gesture.move(at)
        else:
            self._rests_at = at.view.toPoint()
            self.set_hover(self.pick(at.scene))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        at = self.pointer(event)
        if self.gesture is not None and event.button() == self._button:
            self.end(at)
        elif event.button() == _LEFT and self._press is not None:
            hit, pressed, _ = self._press
            self._press = None
            self._click(hit, pressed)
        event.accept()

    def _click(self, hit: Hit, at: Pointer) -> None:
        if hit.kind in ("port_in", "port_out") and at.alt:
            self.disconnect_port(hit.id, incoming=hit.kind == "port_in")
        elif hit.kind == "octagon":
            self.toggle_breakpoint(hit.id)
        elif hit.kind == "pill":
            self._me.look_at_queued(hit.id)
        elif not hit.id:
            if at.ctrl:
                self._me.open_search(at.scene)
            elif not at.shift:
                self.canvas_scene.set_focus_id(None)
                self.select(())
        elif at.shift and self.workspace is not None:
            self.workspace.selection.toggle(hit.id)
        elif at.ctrl and not hit.on_line:
            self._select_along(hit.id)
        else:
            self.canvas_scene.set_focus_id(None)
            self.select((hit.id,))

    def _select_along(self, item_id: str) -> None:
        """An item with everything it leads to; a second time also what leads to it."""
        behind = navigate.downstream(self.canvas_scene, item_id)
        again = set(self.selection_items) == set(behind) and len(behind) > 0 and item_id == self._along
        before = navigate.upstream(self.canvas_scene, item_id) if again else []
        self._along = None if again else item_id
        self.select(dict.fromkeys([*behind, *before]))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        at = self.pointer(event)
        if event.button() != _LEFT or self.space_held or self.gesture is not None:
            self.mousePressEvent(event)  # pressed twice quickly: to pan once more, or amid a gesture
            return
        hit = self.pick(at.scene)
        self._press = None
        if not hit.kind:
            self._me.open_search(at.scene)
        elif hit.kind == "octagon":
            self.toggle_breakpoint(hit.id)
        elif hit.kind in ("line", "line_start"):
            self.add_bend(hit.id, at.scene)
        elif hit.kind == "bend":
            self.remove_bend(hit.id, at.scene)
        else:
            self._me.open_item(hit.id)
        event.accept()

    def set_hover(self, hit: Hit) -> None:
        """Shows what is under the pointer as hovered."""
        if hit == self._hover:
            return
        self._show_value(hit)
        scene = self.canvas_scene
        for old, on in ((self._hover, False), (hit, True)):
            item = scene.items_by_id.get(old.id)
            edge = scene.line_layer.items.get(old.id)
            if item is not None:
                item.mark("hovered", on)
            elif edge is not None:
                edge.mark("hovered", on)
                scene.line_layer.labels.show()
        self._hover = hit
        looks = hit.kind in ("pill", "octagon") or not self.read_only
        cursor = self.CURSORS.get(hit.kind) if looks else None
        if cursor is None:
            self.viewport().unsetCursor()
        else:
            self.viewport().setCursor(cursor)

    def _show_value(self, hit: Hit) -> None:
        """The card with the last value comes after a moment."""
        if not hit.id or self.gesture is not None or self._press is not None:
            self.value_card.leave()
            return

        def words() -> HoverWords | None:
            workspace = self.workspace
            return hover_words(self.canvas_scene, workspace, hit) if workspace is not None else None

        self.value_card.rest_on(words, self._rests_at)

    def leaveEvent(self, event: QEvent) -> None:
        self.set_hover(NOTHING)
        super().leaveEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        self.turn_wheel(event, event.position())

    def turn_wheel(self, event: QWheelEvent, at: QPointF) -> None:
        """Scrolls, or zooms at a point of the viewport."""
        self.finish_motion()
        self.value_card.dismiss()
        delta = event.angleDelta()
        if bool(event.modifiers() & _CTRL) != self.wheel_zooms:
            self.set_zoom(self.zoom * WHEEL_STEP ** (delta.y() / 120.0), at)
        else:
            pixels = event.pixelDelta()
            x, y = (pixels.x(), pixels.y()) if not pixels.isNull() else (delta.x() / 2, delta.y() / 2)
            if event.modifiers() & _SHIFT and not x:
                x, y = y, 0
            self.horizontalScrollBar().setValue(self.horizontalScrollBar().value() - round(x))
            self.verticalScrollBar().setValue(self.verticalScrollBar().value() - round(y))
        if self._last is not None:
            self._follow_view(self._last)
        event.accept()

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QNativeGestureEvent) and event.gestureType() == Qt.NativeGestureType.ZoomNativeGesture:
            self.set_zoom(self.zoom * (1.0 + event.value()), event.position())
            return True
        return super().viewportEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if self._menu_off:
            self._menu_off = False
        elif event.reason() == QContextMenuEvent.Reason.Mouse:
            at = self.to_scene(QPointF(event.pos()))
            self.open_menu(self.pick(at), at, event.globalPos())
        else:
            self.open_menu_at_focus()
        event.accept()

    def open_menu(self, hit: Hit, at: QPointF, where: QPoint) -> QMenu | None:
        """Opens the context menu of something, selecting it first."""
        if hit.id and hit.id not in self.selection_items:
            self.select((hit.id,))
        return menus.open_menu(self._me, hit, at, where)

    def open_menu_at_focus(self) -> QMenu | None:
        """The context menu of what has the keyboard focus."""
        item_id = self._me.focus_or_selection or ""
        item = self.canvas_scene.items_by_id.get(item_id)
        edge = self.canvas_scene.line_layer.items.get(item_id)
        at = self.seen_rect().center()
        if item is not None:
            at = item.rect.center()
        elif edge is not None:
            at = edge.sceneBoundingRect().center()
        hit = Hit("line" if edge is not None else "card", item_id) if item_id else NOTHING
        return self.open_menu(hit, at, self.viewport().mapToGlobal(self.mapFromScene(at)))

    def paint_over_far(self, painter: QPainter) -> None:
        if self.gesture is not None:
            self.gesture.paint_far(painter)
