"""What all gestures share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPainter

if TYPE_CHECKING:
    from studio.ui.canvas.view import CanvasView


@dataclass(frozen=True, slots=True)
class Pointer:
    """Where the pointer is, in scene and viewport coordinates, and which keys are held."""

    scene: QPointF
    view: QPointF
    shift: bool = False
    alt: bool = False
    ctrl: bool = False


class Gesture:
    """One drag. Exactly one of :meth:`finish` and :meth:`cancel` ends it. Only ``finish`` may change the document."""

    cursor: Qt.CursorShape | None = None

    def __init__(self, view: CanvasView) -> None:
        self.view = view
        self.scene = view.canvas_scene

    def start(self, at: Pointer) -> None:
        """The pointer was pressed here and has moved far enough."""

    def move(self, at: Pointer) -> None:
        """The pointer is here now."""

    def finish(self, at: Pointer) -> None:
        """The button was released."""

    def cancel(self) -> None:
        """Esc, or the focus was lost: everything as before."""

    def paint_far(self, painter: QPainter) -> None:
        """What the gesture shows on the far picture, which has no items."""
