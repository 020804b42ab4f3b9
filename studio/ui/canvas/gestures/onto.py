"""The edge under what is dragged."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF

from studio.document.problems import Problem
from studio.ui.canvas.edge_item import EdgeItem
from studio.ui.canvas.gestures.gesture import Pointer

if TYPE_CHECKING:
    from studio.ui.canvas.view import CanvasView


class Onto:
    """An edge that what is dragged can be put on is lit; another one says why not."""

    def __init__(self, view: CanvasView, ask: Callable[[str], object]) -> None:
        """``ask``: a :class:`Problem` if the line with this id cannot be led through what is dragged; asked once per
        line."""
        self._view = view
        self._ask = ask
        self._asked: dict[str, object] = {}
        self.edge: EdgeItem | None = None
        """The lit one."""

    def look(self, spot: QPointF, reach: float, at: Pointer) -> None:
        """What is dragged is at a spot of the scene now, the pointer at ``at``."""
        found = self._view.line_at(spot, reach)
        problem = self._answer(found.line.id) if found is not None else None
        if isinstance(problem, Problem):
            self._view.reason.show_at(problem.message, at.view.toPoint())
            found = None
        else:
            self._view.reason.hide()
        self._light(found)

    def _answer(self, line_id: str) -> object:
        if line_id not in self._asked:
            self._asked[line_id] = self._ask(line_id)
        return self._asked[line_id]

    def clear(self) -> EdgeItem | None:
        """The drag is over, or is about no edge; returns the edge that was lit."""
        edge = self.edge
        self._view.reason.hide()
        self._light(None)
        return edge

    def _light(self, found: EdgeItem | None) -> None:
        if found is self.edge:
            return
        for edge, on in ((self.edge, False), (found, True)):
            if edge is not None:
                edge.mark("hovered", on)
        self.edge = found
