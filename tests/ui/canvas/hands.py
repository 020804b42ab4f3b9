"""Mouse and keys on a canvas, in scene coordinates."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from studio.ui.canvas import CanvasView

_LEFT = Qt.MouseButton.LeftButton
_NONE = Qt.KeyboardModifier.NoModifier


def point(view: CanvasView, x: float, y: float) -> QPoint:
    """A point of the scene in the viewport."""
    return view.mapFromScene(QPointF(x, y))


def _send(view: CanvasView, kind: QEvent.Type, at: QPoint, button, buttons, keys) -> None:  # type: ignore[no-untyped-def]
    place = QPointF(at)
    event = QMouseEvent(kind, place, QPointF(view.viewport().mapToGlobal(at)), button, buttons, keys)
    QApplication.sendEvent(view.viewport(), event)


def press(view: CanvasView, x: float, y: float, keys: Qt.KeyboardModifier = _NONE, button=_LEFT) -> None:  # type: ignore[no-untyped-def]
    _send(view, QEvent.Type.MouseButtonPress, point(view, x, y), button, button, keys)


def move(view: CanvasView, x: float, y: float, keys: Qt.KeyboardModifier = _NONE, button=_LEFT) -> None:  # type: ignore[no-untyped-def]
    _send(view, QEvent.Type.MouseMove, point(view, x, y), Qt.MouseButton.NoButton, button, keys)


def release(view: CanvasView, x: float, y: float, keys: Qt.KeyboardModifier = _NONE, button=_LEFT) -> None:  # type: ignore[no-untyped-def]
    _send(view, QEvent.Type.MouseButtonRelease, point(view, x, y), button, Qt.MouseButton.NoButton, keys)


def click(view: CanvasView, x: float, y: float, keys: Qt.KeyboardModifier = _NONE) -> None:
    press(view, x, y, keys)
    release(view, x, y, keys)


def drag(  # type: ignore[no-untyped-def]
    view: CanvasView, a: tuple[float, float], b: tuple[float, float], keys: Qt.KeyboardModifier = _NONE, button=_LEFT
) -> None:
    """Presses at ``a``, moves in four steps, releases at ``b``."""
    press(view, *a, keys, button)
    for step in (0.25, 0.5, 0.75, 1.0):
        move(view, a[0] + (b[0] - a[0]) * step, a[1] + (b[1] - a[1]) * step, keys, button)
    release(view, *b, keys, button)


def key(view: CanvasView, name: Qt.Key, keys: Qt.KeyboardModifier = _NONE) -> None:
    QTest.keyClick(view, name, keys)
