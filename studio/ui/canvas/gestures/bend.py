"""Dragging a bend of an edge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from studio.document.commands import set_bends
from studio.document.geometry import snapped
from studio.ui.canvas.gestures.gesture import Gesture, Pointer
from studio.ui.text import tr

if TYPE_CHECKING:
    from studio.ui.canvas.view import CanvasView


class BendGesture(Gesture):
    """The line follows one of its bends, which keeps to the grid unless Alt is held."""

    cursor = Qt.CursorShape.SizeAllCursor

    def __init__(self, view: CanvasView, line_id: str) -> None:
        super().__init__(view)
        self._line = line_id

    def start(self, at: Pointer) -> None:
        edge = self.scene.line_layer.items[self._line]
        self._before = edge.bends
        self._index = edge.bend_at(at.scene, 1e9) or 0
        self._now = self._before

    def move(self, at: Pointer) -> None:
        x, y = at.scene.x(), at.scene.y()
        if self.view.snap and not at.alt:
            x, y = snapped(x), snapped(y)
        self._now = (*self._before[: self._index], (x, y), *self._before[self._index + 1 :])
        self.scene.line_layer.lead(self._line, self._now)
        self.view.touch_far()

    def finish(self, at: Pointer) -> None:
        self.move(at)
        if self._now != self._before:
            self.view.execute(set_bends(self._line, self._now), tr("Move a bend"))

    def cancel(self) -> None:
        self.scene.line_layer.lead(self._line, self._before)
