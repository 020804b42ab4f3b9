"""Moving the view by hand."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt

from studio.ui.canvas.gestures.gesture import Gesture, Pointer


class PanGesture(Gesture):
    """The scene follows the pointer."""

    cursor = Qt.CursorShape.ClosedHandCursor

    def start(self, at: Pointer) -> None:
        self._last = QPointF(at.view)
        self._before = (self.view.horizontalScrollBar().value(), self.view.verticalScrollBar().value())

    def move(self, at: Pointer) -> None:
        shift = (at.view - self._last).toPoint()
        horizontal, vertical = self.view.horizontalScrollBar(), self.view.verticalScrollBar()
        horizontal.setValue(horizontal.value() - shift.x())
        vertical.setValue(vertical.value() - shift.y())
        self._last += QPointF(shift)  # what is less than a pixel is kept for the next step

    def finish(self, at: Pointer) -> None:
        self.move(at)

    def cancel(self) -> None:
        self.view.horizontalScrollBar().setValue(self._before[0])
        self.view.verticalScrollBar().setValue(self._before[1])
