"""The real program with an eye in it: ``python -m tests.e2e.probe PORT_FILE [ARGS]``.

Tests act with pointer and keys only; here they ask what is where. A line of JSON with a Python expression comes in over
loopback, a line with its value goes out. ``window`` is the main window, ``rect(widget)`` its place on the screen,
``find(text)`` the place of the visible button, tab, label or field with this text or object name.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, QPoint, QPointF, QRect
from PySide6.QtNetwork import QHostAddress, QTcpServer, QTcpSocket
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QTabBar,
    QTextEdit,
    QWidget,
)

Place = tuple[int, int, int, int]


def rect(widget: QWidget, inner: QRect | None = None) -> Place:
    """x, y, width, height on the screen."""
    inner = inner or widget.rect()
    corner = widget.mapToGlobal(inner.topLeft())
    return corner.x(), corner.y(), inner.width(), inner.height()


def _shown(widget: QWidget) -> bool:
    """Whether one sees it: of a window that is just opening the manager has not said yet where it stands."""
    handle = widget.window().windowHandle() if widget.isVisible() else None
    return handle is not None and handle.isExposed() and not widget.visibleRegion().isEmpty()


def find(text: str, within: str = "") -> Place | None:
    """Where a visible thing is that has this text or object name; ``within``: class of a widget around it."""
    widgets = [w for w in QApplication.allWidgets() if _shown(w) and _is_within(w, within)]
    for widget in widgets:
        if widget.objectName() == text:
            return rect(widget)
    for widget in widgets:
        if isinstance(widget, QTabBar):
            for index in range(widget.count()):
                if widget.tabText(index).replace("&", "").strip() == text:
                    return rect(widget, widget.tabRect(index))
        if isinstance(widget, QMenu):
            for action in widget.actions():
                if action.text().replace("&", "").split("\t")[0] == text:
                    return rect(widget, widget.actionGeometry(action))
    for widget in widgets:
        if type(widget).__name__ == "SegmentedControl" and (segment := _segment(widget, text)) is not None:
            return rect(widget, segment)
    for widget in widgets:
        if isinstance(widget, QAbstractItemView) and (row := _row(widget, text)) is not None:
            return rect(widget.viewport(), widget.visualRect(row))
    for widget in widgets:
        if isinstance(widget, QLineEdit | QTextEdit | QPlainTextEdit | QComboBox) and widget.accessibleName() == text:
            return rect(widget)
    for widget in widgets:
        said = ""
        if isinstance(widget, QAbstractButton | QLabel):
            said = widget.text()
        elif isinstance(widget, QLineEdit):
            said = widget.placeholderText()
        if text in (said.replace("&", "").strip(), widget.accessibleName()):
            return rect(widget)
    return None


def _is_within(widget: QWidget, name: str) -> bool:
    around: QWidget | None = widget
    while name and around is not None:
        if any(kind.__name__ == name for kind in type(around).__mro__):  # also a kind of it
            return True
        around = around.parentWidget()
    return not name


def _segment(control: Any, text: str) -> QRect | None:
    """The part of a segmented control with this text."""
    texts = [shown for _, shown in control._choices]
    if text not in texts:
        return None
    at = texts.index(text)
    widths = control._widths()
    return QRect(round(sum(widths[:at])) + 1, 0, round(widths[at]), control.height())


def _row(view: QAbstractItemView, text: str) -> QModelIndex | None:
    model = view.model()
    if model is None:
        return None
    hits = model.match(model.index(0, 0), 0, text, 1) if model.rowCount() else []
    return hits[0] if hits and view.visualRect(hits[0]).isValid() else None


def spot(window: Any, item_id: str, part: str) -> tuple[int, int]:
    """Where a part of a drawn thing is: ``middle``, ``in`` or ``out`` (ports of a node), ``corner``."""
    canvas = window.page.canvas
    item = canvas.canvas_scene.items_by_id[item_id]
    places = {"middle": item.boundingRect().center(), "corner": QPointF(0, 0)}
    inner = places[part] if part in places else getattr(item, f"{part}_port")
    point = canvas.viewport().mapToGlobal(canvas.mapFromScene(item.mapToScene(inner)))
    return point.x(), point.y()


def line_spot(window: Any, line_id: str) -> tuple[int, int]:
    """The middle of a drawn line on the screen."""
    canvas = window.page.canvas
    item = canvas.canvas_scene.line_layer.items[line_id]
    point = canvas.viewport().mapToGlobal(canvas.mapFromScene(item.mapToScene(item.path().pointAtPercent(0.5))))
    return point.x(), point.y()


def free_spot(window: Any, across: float, down: float) -> tuple[int, int]:
    """A place on the screen inside the canvas, as parts of its width and height."""
    view = window.page.canvas.viewport()
    point = view.mapToGlobal(QPoint(round(view.width() * across), round(view.height() * down)))
    return point.x(), point.y()


def checkpoint_spot(window: Any, checkpoint: str) -> tuple[int, int] | None:
    """The place on the screen of a checkpoint in the timeline."""
    for view in QApplication.allWidgets():
        if type(view).__name__ == "TimelineView" and view.isVisible() and checkpoint in view.plan.by_id:
            point = view.viewport().mapToGlobal(view.center(view.plan.by_id[checkpoint]).toPoint())
            return point.x(), point.y()
    return None


class Probe(QObject):
    """Answers questions on a loopback port."""

    def __init__(self, window: Any, port_file: Path) -> None:
        super().__init__(window)
        self._window = window
        self._server = QTcpServer(self)
        self._server.listen(QHostAddress.SpecialAddress.LocalHost, 0)
        self._server.newConnection.connect(self._on_server_new_connection)
        port_file.write_text(str(self._server.serverPort()), encoding="utf-8")

    def _on_server_new_connection(self) -> None:
        socket = self._server.nextPendingConnection()
        socket.readyRead.connect(lambda: self._answer(socket))
        socket.disconnected.connect(socket.deleteLater)

    def _answer(self, socket: QTcpSocket) -> None:
        while socket.canReadLine():
            expression = json.loads(bytes(socket.readLine().data()))
            names = {
                "window": self._window,
                "rect": rect,
                "find": find,
                "spot": lambda item, part: spot(self._window, item, part),
                "free_spot": lambda across, down: free_spot(self._window, across, down),
                "line_spot": lambda line: line_spot(self._window, line),
                "checkpoint_spot": lambda checkpoint: checkpoint_spot(self._window, checkpoint),
                "QPoint": QPoint,
                "app": QApplication.instance(),
            }
            try:
                answer = {"value": eval(expression, names)}
                line = json.dumps(answer, default=str)
            except Exception as error:
                line = json.dumps({"error": f"{type(error).__name__}: {error}"})
            socket.write((line + "\n").encode())


def run() -> int:
    """Starts the program as ``python -m studio ARGS`` does."""
    from studio.ui.app import main

    port_file = Path(sys.argv[1])
    kept: list[Probe] = []
    return main(sys.argv[2:], ready=lambda window: kept.append(Probe(window, port_file)))


if __name__ == "__main__":
    sys.exit(run())
