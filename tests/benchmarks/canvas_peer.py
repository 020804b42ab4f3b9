"""NodeGraphQt with the same drawing: ``python -m tests.benchmarks.canvas_peer FILE WIDTH HEIGHT``, in its own
environment. Nothing of the product is imported here."""

# mypy: ignore-errors

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

os.environ.setdefault("QT_PREFERRED_BINDING", "PySide6")

from NodeGraphQt import BaseNode, NodeGraph
from PySide6.QtCore import QPoint, QPointF, QRectF
from PySide6.QtWidgets import QApplication, QGraphicsView

from tests.benchmarks.canvas_steps import measure
from tests.benchmarks.children import answer


class _Agent(BaseNode):
    __identifier__ = "bench"
    NODE_NAME = "Agent"

    def __init__(self) -> None:
        super().__init__()
        self.add_input("in", multi_input=True)
        self.add_output("out")


class PeerCanvas:
    """The steps by the library's own methods."""

    def __init__(self, file: Path, width: int, height: int) -> None:
        self._file = file
        self._graph = NodeGraph()
        self._graph.register_node(_Agent)
        self._size = (width, height)

    @property
    def view(self) -> QGraphicsView:
        return self._graph.viewer()

    def open(self) -> None:
        document = json.loads(self._file.read_text(encoding="utf-8"))
        self.view.setFixedSize(*self._size)
        places, nodes = document["geometry"]["places"], {}
        for node in document["nodes"]:
            place = places[node["id"]]
            position = [place["x"], place["y"]]
            nodes[node["id"]] = self._graph.create_node(
                "bench._Agent", name=node["name"], pos=position, selected=False, push_undo=False
            )
        for edge in document["edges"]:
            nodes[edge["source"]].output(0).connect_to(nodes[edge["target"]].input(0), push_undo=False)
        self._nodes = list(nodes.values())
        xs, ys = [p["x"] for p in places.values()], [p["y"] for p in places.values()]
        self._box = QRectF(min(xs) - 50, min(ys) - 50, max(xs) - min(xs) + 300, max(ys) - min(ys) + 200)
        self.fit()
        self.view.show()

    def fit(self) -> None:
        self._look(self._box.center(), min(self._size[0] / self._box.width(), self._size[1] / self._box.height()))

    def zoom(self, zoom: float) -> None:
        self._look(self._box.center(), zoom)

    def _look(self, center: QPointF, zoom: float) -> None:
        width, height = self._size[0] / zoom, self._size[1] / zoom
        self.view.set_scene_rect([center.x() - width / 2, center.y() - height / 2, width, height])

    def pan(self, pixels: int) -> None:
        self.view._set_viewer_pan(pixels, 0)

    def select_all(self) -> None:
        self._graph.select_all()

    def select_none(self) -> None:
        self._graph.clear_selection()

    def grab(self) -> QPoint:
        item = self._nodes[len(self._nodes) // 2].view
        return self.view.mapFromScene(item.scenePos() + QPointF(40, 10))

    def delete_all(self) -> None:
        self._graph.clear_undo_stack()
        self._graph.delete_nodes(self._graph.all_nodes())

    def undo(self) -> None:
        self._graph.undo_stack().undo()


def run(file: Path, width: int, height: int) -> None:
    """Measures it and leaves without tidying up."""
    app = QApplication([])
    answer({"steps": measure(PeerCanvas(file, width, height))})
    assert app
    os._exit(0)


if __name__ == "__main__":
    run(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
