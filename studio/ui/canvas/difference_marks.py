"""What differs from another version, drawn on the canvas: marks around what is new or changed, ghosts of what is gone.

A sign at the corner says the same as the colour: + new, ~ changed, − gone; what was only moved has a dotted outline.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from studio.document.difference import Difference
from studio.document.geometry import sizes_of
from studio.document.lines import Line, lines
from studio.document.model import Workflow
from studio.ui.canvas.item import NO_BRUSH, NO_PEN, Look
from studio.ui.paint import scene_font

if TYPE_CHECKING:
    from studio.ui.canvas.scene import CanvasScene

LAYER = 7.0
GAP = 5.0
"""Room between an item and its mark."""
SIGN = 16.0
AT_ONCE, PIECE = 200, 0.004
"""More differences than the first are marked in pieces of so many seconds."""
LEAST_READABLE = 0.3
"""Zoom below which names and signs are left out."""
_TOKENS = {"added": "done", "removed": "fail", "changed": "wait", "moved": "muted"}
_TINTS = {"added": "done_s", "removed": "fail_s", "changed": "wait_s", "moved": "canvas"}
_SIGNS = {"added": "+", "removed": "−", "changed": "~"}


@dataclass(frozen=True, slots=True)
class _Ghosts:
    """What is only in the older document: names at their places, lines, and where everything was."""

    gone: frozenset[str]
    names: tuple[tuple[QRectF, str], ...]
    lost: tuple[Line, ...]
    places: dict[str, QRectF]


class DifferenceItem(QGraphicsItem):
    """All marks in one item: kept lists, one call per colour. Never picked."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self.rects: dict[str, list[QRectF]] = {}
        """Marked rectangles by kind of change; those of ``removed`` are ghosts."""
        self.names: list[tuple[QRectF, str]] = []
        """Names of ghosts."""
        self.routes: dict[str, list[QPainterPath]] = {}
        """Marked lines."""
        self._box = QRectF()
        self.setZValue(LAYER)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)

    def show_marks(
        self,
        rects: dict[str, list[QRectF]],
        names: list[tuple[QRectF, str]],
        routes: dict[str, list[QPainterPath]],
    ) -> None:
        """Other marks."""
        self.prepareGeometryChange()
        self.rects, self.names, self.routes = rects, names, routes
        box = QRectF()
        for found in rects.values():
            for rect in found:
                box = box.united(rect)
        for paths in routes.values():
            for path in paths:
                box = box.united(path.boundingRect())
        self._box = box.adjusted(-SIGN - GAP, -SIGN - GAP, SIGN + GAP, SIGN + GAP)
        self.update()

    def boundingRect(self) -> QRectF:
        return self._box

    def shape(self) -> QPainterPath:
        return QPainterPath()

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem | None = None, widget: QWidget | None = None
    ) -> None:
        ink = self._look.ink
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for what, paths in self.routes.items():
            pen = QPen(ink.color(_TOKENS[what]), 3.0)
            pen.setCosmetic(True)
            pen.setStyle(Qt.PenStyle.DashLine if what == "removed" else Qt.PenStyle.SolidLine)
            painter.setPen(pen)
            painter.setBrush(NO_BRUSH)
            for path in paths:
                painter.drawPath(path)
        for what, rects in self.rects.items():
            pen = QPen(ink.color(_TOKENS[what]), 2.0)
            pen.setCosmetic(True)
            if what != "changed" and what != "added":
                pen.setStyle(Qt.PenStyle.DashLine if what == "removed" else Qt.PenStyle.DotLine)
            painter.setPen(pen)
            painter.setBrush(ink.brush(_TINTS[what]) if what == "removed" else NO_BRUSH)
            for rect in rects:
                painter.drawRoundedRect(rect, 10, 10)
        self._paint_words(painter)

    def _paint_words(self, painter: QPainter) -> None:
        ink = self._look.ink
        if self._look.zoom < LEAST_READABLE:
            return
        font, metrics = scene_font(self._look.theme, "strong")
        painter.setFont(font)
        painter.setPen(ink.color("fail_t"))
        for rect, name in self.names:
            room = rect.adjusted(12, 4, -12, -4)
            text = metrics.elidedText(name, Qt.TextElideMode.ElideRight, room.width())
            painter.drawText(room, Qt.AlignmentFlag.AlignCenter, text)
        for what, rects in self.rects.items():
            sign = _SIGNS.get(what, "")
            for rect in rects if sign else ():
                spot = QRectF(rect.left() - SIGN / 2, rect.top() - SIGN / 2, SIGN, SIGN)
                painter.setPen(NO_PEN)
                painter.setBrush(ink.brush(_TOKENS[what]))
                painter.drawEllipse(spot)
                painter.setPen(ink.color("surface"))
                painter.drawText(spot, Qt.AlignmentFlag.AlignCenter, sign)


class DifferenceMarks(QObject):
    """Keeps one :class:`DifferenceItem` in a scene while something is compared."""

    marked = Signal()
    """Other marks are shown: the far picture, which no item has painted, must be."""

    def __init__(self, scene: CanvasScene) -> None:
        super().__init__(scene)
        self._scene = scene
        self._item: DifferenceItem | None = None
        self._shown: Difference | None = None
        self._ghosts: _Ghosts | None = None
        self._work: Iterator[None] = iter(())
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._go_on)
        scene.refreshed.connect(self._on_scene_refreshed)
        scene.about_to_clear.connect(self._take_out)

    @property
    def item(self) -> DifferenceItem | None:
        """What is in the scene; None: nothing is compared."""
        return self._item

    def show_difference(self, found: Difference | None) -> None:
        """Marks another difference, or none."""
        self._shown, self._ghosts = found, None
        if found is None:
            self._take_out()
            return
        if self._item is None:
            self._item = DifferenceItem(self._scene.look)
            self._scene.addItem(self._item)
        self._scene.flush()
        self._begin()

    def paint_far(self, painter: QPainter) -> None:
        """The same over the far picture."""
        if self._item is not None:
            self._item.paint(painter)

    def _begin(self) -> None:
        """Works out the marks: of few differences at once, of many in pieces."""
        self._timer.stop()
        if self._shown is not None:
            self._work = self._marking(self._shown)
            if len(self._shown.changes) <= AT_ONCE:
                deque(self._work, maxlen=0)
            else:
                self._go_on()

    def _go_on(self) -> None:
        end = perf_counter() + PIECE
        while perf_counter() < end:
            if next(self._work, self) is self:
                return
        self._timer.start()

    def _marking(self, found: Difference) -> Iterator[None]:
        rects: dict[str, list[QRectF]] = {}
        routes: dict[str, list[QPainterPath]] = {}
        gone: list[str] = []
        edges, items = self._scene.line_layer.items, self._scene.items_by_id
        for number, change in enumerate(found.changes):
            if number % 50 == 49:
                yield
            for marked in change.marked:
                item = items.get(marked) if change.what != "removed" else None
                if item is not None:
                    rects.setdefault(change.what, []).append(item.rect.adjusted(-GAP, -GAP, GAP, GAP))
                elif change.what == "removed" or marked not in edges:
                    gone.append(marked)
                elif change.what != "moved":
                    routes.setdefault(change.what, []).append(_path(edges[marked].points))
        names: list[tuple[QRectF, str]] = []
        if gone:
            ghosts = self._ghosts_of(found, frozenset(gone))
            names = list(ghosts.names)
            rects["removed"] = [rect for rect, _ in names]
            routes["removed"] = self._lost_lines(ghosts)
        yield
        if self._item is not None:
            self._item.show_marks(rects, names, routes)
            self.marked.emit()

    def _ghosts_of(self, found: Difference, gone: frozenset[str]) -> _Ghosts:
        """What is gone does not change while the same two documents are compared."""
        if self._ghosts is None or self._ghosts.gone != gone:
            places, called = _places(found.old), _names(found.old)
            names = tuple((places[i], called[i]) for i in sorted(gone) if i in places and i in called)
            lost = tuple(line for line in lines(found.old) if line.id in gone)
            self._ghosts = _Ghosts(gone, names, lost, places)
        return self._ghosts

    def _lost_lines(self, ghosts: _Ghosts) -> list[QPainterPath]:
        paths = []
        for line in ghosts.lost:
            ends = [self._rect(end, ghosts.places) for end in (line.source, line.target)]
            if ends[0] is not None and ends[1] is not None:
                path = QPainterPath(_border(ends[0], ends[1].center()))
                path.lineTo(_border(ends[1], ends[0].center()))
                paths.append(path)
        return paths

    def _rect(self, item_id: str, places: dict[str, QRectF]) -> QRectF | None:
        item = self._scene.items_by_id.get(item_id)
        return item.rect if item is not None else places.get(item_id)

    def _on_scene_refreshed(self, moved: bool) -> None:
        if moved and self._item is not None and self._shown is not None:
            self._begin()

    def _take_out(self) -> None:
        self._timer.stop()
        if self._item is not None:
            self._scene.removeItem(self._item)
            self._item = None


def _border(rect: QRectF, to: QPointF) -> QPointF:
    """Where a line from the middle of a rectangle leaves it: it does not run over what the rectangle says."""
    way = to - rect.center()
    parts = [half / abs(d) for half, d in ((rect.width() / 2, way.x()), (rect.height() / 2, way.y())) if d]
    return rect.center() + way * min(1.0, *parts) if parts else rect.center()


def _path(points: Iterable[tuple[float, float]]) -> QPainterPath:
    first, *rest = (QPointF(x, y) for x, y in points)
    path = QPainterPath(first)
    for point in rest:
        path.lineTo(point)
    return path


def _places(workflow: Workflow) -> dict[str, QRectF]:
    """Where everything was drawn."""
    sizes = sizes_of(workflow, workflow.places)
    return {i: QRectF(p.x, p.y, *sizes[i]) for i, p in workflow.places.items()}


def _names(workflow: Workflow) -> dict[str, str]:
    items = (*workflow.nodes, *workflow.edges, *workflow.groups)
    named = {item.id: str(getattr(item, "name", "") or item.id) for item in items}
    return named | {note.id: note.text.strip().split("\n")[0] for note in workflow.notes}
