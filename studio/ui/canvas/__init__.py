"""The drawing surface."""

from studio.ui.canvas.view import CanvasView

__all__ = ["CanvasView"]
