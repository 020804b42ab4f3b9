"""The canvas in the real window: ``python -m tests.benchmarks.canvas_child FILE``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from PySide6.QtCore import QPoint, QTimer
from PySide6.QtWidgets import QGraphicsView
from studio.bridge.run_views import NodeView, RunUpdate

from tests.benchmarks.canvas_steps import measure
from tests.benchmarks.children import answer


class ProductCanvas:
    """Steps on the window's canvas, by the methods that actions, keys and mouse use."""

    def __init__(self, window: Any, file: Path) -> None:
        self._window = window
        self._file = file
        self._turn = 0

    @property
    def view(self) -> QGraphicsView:
        view: QGraphicsView = self._window.page.canvas
        return view

    def open(self) -> None:
        self._window.files.open(self._file)
        self._canvas = self._window.page.canvas
        self._names = [node.id for node in self._window.page.workspace.document.workflow.nodes]

    def fit(self) -> None:
        self._canvas.show_all()

    def zoom(self, zoom: float) -> None:
        self._canvas.set_zoom(zoom)

    def select_all(self) -> None:
        self._canvas.select_all()

    def select_none(self) -> None:
        self._canvas.select_none()

    def grab(self) -> QPoint:
        items = list(self._canvas.canvas_scene.items_by_id.values())
        point: QPoint = self._canvas.mapFromScene(items[len(items) // 2].rect.center())
        return point

    def pan(self, pixels: int) -> None:
        bar = self._canvas.horizontalScrollBar()
        bar.setValue(bar.value() + pixels)

    def delete_all(self) -> None:
        self._canvas.select_all()
        self._canvas.delete_selection()

    def undo(self) -> None:
        self._window.page.workspace.document.undo_stack.undo()

    def touch(self, count: int) -> None:
        run = self._window.page.workspace.run
        names = self._names
        self._turn += 1
        chosen = [names[(i * len(names) // count + 7 * self._turn) % len(names)] for i in range(count)]
        for name in chosen:
            run.nodes[name] = NodeView(name, "running" if self._turn % 2 else "done", self._turn)
        run.updated.emit(RunUpdate(nodes=frozenset(chosen)))
        self._canvas.canvas_scene.flush()


def run(file: Path) -> int:
    """Starts the program without a file, then opens it as the user does."""
    from studio.agents.connection import preload
    from studio.ui.app import main

    preload()  # else it is loaded in a thread in the middle of the steps

    def on_ready(window: Any) -> None:
        window.showMaximized()
        QTimer.singleShot(700, lambda: _measure(window, file))

    return main([], ready=on_ready)


def _measure(window: Any, file: Path) -> None:
    canvas = ProductCanvas(window, file)
    steps = measure(canvas)
    size = canvas.view.viewport().size()
    answer({"steps": steps, "size": [size.width(), size.height()]})
    document = window.page.workspace.document
    document.mark_saved(document.path)
    window.close_window()


if __name__ == "__main__":
    sys.exit(run(Path(sys.argv[1])))
