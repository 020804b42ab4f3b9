"""What is measured on a canvas, whichever it is."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Protocol, runtime_checkable

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QGraphicsView, QWidget

_ZOOM = 1.15
_TIMES = 15
_LEAST, _ENOUGH = 3, 3000.0
"""So many times in any case; no more after so many milliseconds."""
BEAT_MS = 20
"""Between two status changes of a busy run."""
CPU_ONLY = "BENCH_CPU"
"""Environment variable: only the work of the window's own thread counts, whatever else the machine does meanwhile."""
_clock = time.thread_time if os.environ.get(CPU_ONLY) else time.perf_counter
_SETTLE = 0.8
"""Seconds; what is done in slices after a change of thousands takes less."""


class Canvas(Protocol):
    """A canvas under measurement."""

    @property
    def view(self) -> QGraphicsView:
        """The widget; there once :meth:`open` was called."""

    def open(self) -> None:
        """Reads the file and shows it."""

    def fit(self) -> None:
        """Everything in view."""

    def zoom(self, zoom: float) -> None:
        """Another zoom around the middle; 1.0 is 100 %."""

    def select_all(self) -> None:
        """Selects everything."""

    def select_none(self) -> None:
        """Selects nothing."""

    def grab(self) -> QPoint:
        """A point of the viewport on a node in the middle."""

    def pan(self, pixels: int) -> None:
        """Scrolls across."""

    def delete_all(self) -> None:
        """Deletes everything, as one step."""

    def undo(self) -> None:
        """Takes the last step back."""


@runtime_checkable
class Running(Protocol):
    """A canvas that shows a run."""

    def touch(self, count: int) -> None:
        """Gives so many nodes all over the drawing another status."""


class _Paints(QObject):
    """Counts paint events of a viewport."""

    def __init__(self, viewport: QWidget) -> None:
        super().__init__(viewport)
        self.count = 0
        viewport.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.Paint
        return False


def measure(canvas: Canvas) -> dict[str, float]:
    """Milliseconds of each step, painting included; medians of repeated ones."""
    pump = QApplication.processEvents
    steps: dict[str, float] = {}
    begin = _clock()
    canvas.open()
    paints = _Paints(canvas.view.viewport())
    while not paints.count:
        pump()
    steps["open"] = _since(begin)
    _settle()
    viewport = canvas.view.viewport()
    canvas.fit()
    _settle()
    fit = canvas.view.transform().m11()
    steps["repaint_fit"] = _middle(viewport.repaint)
    zooms = iter([fit * _ZOOM, fit] * _TIMES)
    steps["zoom_step_fit"] = _middle(lambda: canvas.zoom(next(zooms)), pump)
    steps["pan_step_fit"] = _pan(canvas)
    _status(canvas, "fit", steps)
    canvas.select_none()
    _settle()
    steps["select_all"] = _once(canvas.select_all)
    _settle()
    steps["move_all_step_fit"], steps["move_all_end"] = _drag(canvas)
    _settle()
    canvas.select_none()
    canvas.zoom(1.0)
    _settle()
    steps["repaint_100"] = _middle(viewport.repaint)
    steps["pan_step_100"] = _pan(canvas)
    _status(canvas, "100", steps)
    _running(canvas, fit, steps)
    canvas.zoom(0.4)
    _settle()
    steps["repaint_40"] = _middle(viewport.repaint)
    canvas.fit()
    _settle()
    steps["delete_all"] = _once(canvas.delete_all)
    _settle()
    steps["undo_delete_all"] = _once(canvas.undo)
    return steps


def _once(step: Callable[[], None]) -> float:
    begin = _clock()
    step()
    QApplication.processEvents()
    return _since(begin)


def _pan(canvas: Canvas) -> float:
    moves = iter([24, -24] * _TIMES)
    return _middle(lambda: canvas.pan(next(moves)), QApplication.processEvents)


def _status(canvas: Canvas, where: str, steps: dict[str, float]) -> None:
    """Twenty nodes that run now, as in every frame of a busy run."""
    if isinstance(canvas, Running):
        steps[f"status_20_{where}"] = _middle(lambda: canvas.touch(20), QApplication.processEvents)


def _running(canvas: Canvas, fit: float, steps: dict[str, float]) -> None:
    """The same steps while a run changes the status of 50 nodes a second, one by one; both are in the figures."""
    if not isinstance(canvas, Running):
        return
    beat = QTimer(canvas.view)
    beat.timeout.connect(partial(canvas.touch, 1))
    beat.start(BEAT_MS)
    viewport = canvas.view.viewport()
    steps["run_pan_step_100"] = _pan(canvas)
    steps["run_repaint_100"] = _middle(viewport.repaint, QApplication.processEvents)
    canvas.fit()
    _settle()
    steps["run_pan_step_fit"] = _pan(canvas)
    zooms = iter([fit * _ZOOM, fit] * _TIMES)
    steps["run_zoom_step_fit"] = _middle(lambda: canvas.zoom(next(zooms)), QApplication.processEvents)
    steps["run_repaint_fit"] = _middle(viewport.repaint, QApplication.processEvents)
    beat.stop()
    beat.deleteLater()


def _middle(*parts: Callable[[], object]) -> float:
    found: list[float] = []
    while len(found) < _TIMES and (len(found) < _LEAST or sum(found) < _ENOUGH):
        begin = _clock()
        for part in parts:
            part()
        found.append(_since(begin))
    return median(found)


def _since(begin: float) -> float:
    return (_clock() - begin) * 1000


def _settle() -> None:
    """Lets be done what is done in later turns."""
    end = time.perf_counter() + _SETTLE
    while time.perf_counter() < end:
        QApplication.processEvents()


def _drag(canvas: Canvas) -> tuple[float, float]:
    """One step of moving what is selected, and letting go."""
    viewport, at = canvas.view.viewport(), canvas.grab()
    press, move, release = QEvent.Type.MouseButtonPress, QEvent.Type.MouseMove, QEvent.Type.MouseButtonRelease
    _mouse(viewport, press, at)
    for distance in (4, 8, 12):
        _mouse(viewport, move, at + QPoint(distance, distance))
    QApplication.processEvents()
    places = iter(at + QPoint(12 + 5 * n, 12 + 4 * n) for n in range(1, _TIMES + 1))
    step = _middle(lambda: _mouse(viewport, move, next(places)), QApplication.processEvents)
    begin = _clock()
    _mouse(viewport, release, at + QPoint(12 + 5 * _TIMES, 12 + 4 * _TIMES))
    QApplication.processEvents()
    return step, _since(begin)


def _mouse(viewport: QWidget, kind: QEvent.Type, at: QPoint) -> None:
    left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
    button = none if kind == QEvent.Type.MouseMove else left
    buttons = none if kind == QEvent.Type.MouseButtonRelease else left
    local, screen = QPointF(at), QPointF(viewport.mapToGlobal(at))
    event = QMouseEvent(kind, local, screen, button, buttons, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(viewport, event)
