"""Selecting with a rectangle."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QGraphicsRectItem

from studio.ui.canvas.gestures.gesture import Gesture, Pointer
from studio.ui.canvas.levels import Level

LAYER = 30.0


class MarqueeGesture(Gesture):
    """Touching selects; Shift adds to the selection, Alt takes away from it, and so does Ctrl with Shift: some desktops
    move windows with Alt and the mouse."""

    def start(self, at: Pointer) -> None:
        tools = self.scene.look.ink
        self._from = QPointF(at.scene)
        self._rect = QRectF(self._from, self._from)
        self._before = frozenset(self.view.selection_items)
        self._shown = self._before
        self._box = QGraphicsRectItem(self._rect)
        self._box.setPen(tools.pen("accent", 1.0, cosmetic=True))
        self._box.setBrush(tools.brush("accent", 0.08))
        self._box.setZValue(LAYER)
        self.scene.addItem(self._box)

    def move(self, at: Pointer) -> None:
        self._rect = QRectF(self._from, at.scene).normalized()
        self._box.setRect(self._rect)
        self._mark(self._chosen(at))

    def _chosen(self, at: Pointer) -> frozenset[str]:
        touched = set(self.view.ids_in(self._rect))
        rect = self._rect
        left, top, right, bottom = rect.left(), rect.top(), rect.right(), rect.bottom()
        for line_id, edge in self.scene.line_layer.items.items():
            span = edge.span
            if span[0] >= left and span[1] >= top and span[2] <= right and span[3] <= bottom:
                touched.add(line_id)
        # A frame counts when the whole of it is inside: otherwise every drag in a frame would select it.
        for item_id in list(touched):
            item = self.scene.items_by_id.get(item_id)
            if item is not None and item.layer == 0.0 and not self._rect.contains(item.rect):
                touched.discard(item_id)
        if at.alt or (at.ctrl and at.shift):
            return self._before - touched
        return (self._before | touched) if at.shift else frozenset(touched)

    def _mark(self, wanted: frozenset[str]) -> None:
        changed = wanted ^ self._shown
        self._shown = wanted
        if self.view.level == Level.FAR:
            self.view.far.select(wanted)
            self.view.touch_far()
            return
        self.scene.bulk_changed.emit(len(changed))
        for item_id in changed:
            self.scene.mark_selected(item_id, item_id in wanted)

    def finish(self, at: Pointer) -> None:
        self.move(at)
        self.scene.removeItem(self._box)
        wanted = self._chosen(at)
        order = [*self.scene.items_by_id, *self.scene.line_layer.items]
        self.view.select(i for i in order if i in wanted)

    def cancel(self) -> None:
        self.scene.removeItem(self._box)
        self._mark(self._before)

    def paint_far(self, painter: QPainter) -> None:
        painter.setPen(self._box.pen())
        painter.setBrush(self._box.brush())
        painter.drawRect(self._rect)
