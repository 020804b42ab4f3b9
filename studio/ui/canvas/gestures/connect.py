"""Drawing a new edge, or leading one elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QGraphicsPathItem

from studio.document.commands import connect, reconnect
from studio.document.edits import Batch, Edit
from studio.document.problems import Problem
from studio.document.room import with_room
from studio.ui.canvas import routing, ways
from studio.ui.canvas.area_items import FrameItem, NoteItem
from studio.ui.canvas.gestures.gesture import Gesture, Pointer
from studio.ui.canvas.item import NO_PEN, DrawnItem
from studio.ui.text import tr

if TYPE_CHECKING:
    from studio.ui.canvas.view import CanvasView

SNAP = 24.0
LAYER = 30.0
AT_MOST = 400
"""More visible items than this are not dimmed beforehand; they are still checked under the pointer."""


class ConnectGesture(Gesture):
    """From a port to a port, card or junction. Legal targets stay lit, others fade and say why."""

    cursor = Qt.CursorShape.CrossCursor

    def __init__(self, view: CanvasView, anchor: str, *, backwards: bool = False, line: str = "") -> None:
        super().__init__(view)
        self._anchor = anchor
        self._backwards = backwards
        self._line = line
        """The line that is led elsewhere, its first end if ``backwards``; empty for a new one."""
        self._results: dict[str, Edit | Problem] = {}
        self._over: str | None = None

    # ---- what is allowed

    def result(self, other: str) -> Edit | Problem:
        """The edit for a drop on this item, or why it is refused; asked once per item."""
        found = self._results.get(other)
        if found is None:
            found = self._results[other] = self._ask(other)
        return found

    def _ask(self, other: str) -> Edit | Problem:
        workflow = self.scene.workflow
        if self._line:
            source, target = (other, None) if self._backwards else (None, other)
            return reconnect(workflow, self._line, source=source, target=target)
        return connect(workflow, other, self._anchor) if self._backwards else connect(workflow, self._anchor, other)

    def _targets(self) -> list[DrawnItem]:
        seen = self.scene.seen
        return [
            item
            for item in self.scene.items_by_id.values()
            if not isinstance(item, FrameItem | NoteItem) and seen.intersects(item.rect)
        ]

    # ---- the drag

    def start(self, at: Pointer) -> None:
        tools = self.scene.look.ink
        self._rubber = QGraphicsPathItem()
        self._rubber.setZValue(LAYER)
        self._rubber.setPen(NO_PEN)
        self._rubber.setBrush(tools.brush("accent"))
        self.scene.addItem(self._rubber)
        targets = self._targets()
        if len(targets) <= AT_MOST:
            for item in targets:
                if item.item_id != self._anchor:
                    item.mark("faded", isinstance(self.result(item.item_id), Problem))
        edge = self.scene.line_layer.items.get(self._line)
        if edge is not None:
            edge.setOpacity(0.25)

    def move(self, at: Pointer) -> None:
        over = self._under(at.scene)
        legal = over is not None and not isinstance(self.result(over.item_id), Problem)
        self._light(over.item_id if over is not None and legal else None)
        if over is not None and not legal:
            problem = self.result(over.item_id)
            assert isinstance(problem, Problem)
            self.view.reason.show_at(problem.message, at.view.toPoint())
        else:
            self.view.reason.hide()
        self._draw(over if legal else None, at.scene)

    def _under(self, at: QPointF) -> DrawnItem | None:
        """The item under the pointer, or whose port is within 24."""
        best: tuple[float, DrawnItem] | None = None
        for item in self._targets():
            if item.item_id == self._anchor and not item.rect.contains(at):
                continue
            if item.rect.adjusted(-4, -4, 4, 4).contains(at):
                return item
            end = item.out_end() if self._backwards else item.in_end(self._across(at))
            distance = ((at.x() - end.x) ** 2 + (at.y() - end.y) ** 2) ** 0.5
            if distance <= SNAP and (best is None or distance < best[0]):
                best = (distance, item)
        return best[1] if best else None

    def _light(self, item_id: str | None) -> None:
        if item_id == self._over:
            return
        for old, on in ((self._over, False), (item_id, True)):
            item = self.scene.items_by_id.get(old or "")
            if item is not None:
                item.mark("lit", on)
        self._over = item_id

    def _draw(self, over: DrawnItem | None, at: QPointF) -> None:
        anchor = self.scene.items_by_id[self._anchor]
        down = self.scene.look.down
        loose = routing.End(at.x(), at.y(), "top" if down else "left", 0.0)
        if self._backwards:
            free = routing.End(at.x(), at.y(), "bottom" if down else "right", 0.0)
            start = over.out_end() if over is not None else free
            end = anchor.in_end(self._across(at))
        else:
            start = self._start_end(anchor)
            end = over.in_end(ways.across(start, down=down)) if over is not None else loose
        points = ways.plain(start, end, down=down)
        path = routing.outline(routing.rounded(points, 6.5), 1.75)
        path.addPath(routing.head(points))
        self._rubber.setPath(path)
        self.view.touch_far()

    def _across(self, at: QPointF) -> float:
        return at.x() if self.scene.look.down else at.y()

    def _start_end(self, anchor: DrawnItem) -> routing.End:
        if self._line:
            points = self.scene.line_layer.items[self._line].points
            side = anchor.out_end()
            return routing.End(points[0][0], points[0][1], side.side, 0.0)
        cases = sum(1 for line in self.scene.line_layer.lines.after(self._anchor))
        return anchor.out_end(cases)

    # ---- ending

    def finish(self, at: Pointer) -> None:
        self.move(at)
        over = self._under(at.scene)
        self._tidy()
        if over is not None:
            result = self.result(over.item_id)
            if isinstance(result, Problem):
                # What is offered leads nothing elsewhere: an old edge that is dragged would stay.
                self.view.tell(result.message) if self._line else self.view.refuse(result)
            elif result != Batch(()):  # led back to where it was
                self.view.execute(with_room(self.scene.workflow, result), self._text(over.item_id))
            return
        if self._line:
            self.view.tell(tr("The edge stays as it was: its end belongs on a node, switch or fan-out."))
        else:
            self.view.open_search(at.scene, connect_to=self._anchor, backwards=self._backwards)

    def _text(self, other: str) -> str:
        first, second = (other, self._anchor) if self._backwards else (self._anchor, other)
        name = self.view.name_of
        if self._line and self._backwards:
            return tr("Let the edge begin at {name}").format(name=name(other))
        if self._line:
            return tr("Lead the edge to {name}").format(name=name(other))
        return tr("Connect {source} with {target}").format(source=name(first), target=name(second))

    def _tidy(self) -> None:
        self._light(None)
        for item in self.scene.items_by_id.values():
            item.mark("faded", False)
        edge = self.scene.line_layer.items.get(self._line)
        if edge is not None:
            edge.setOpacity(1.0)
        self.scene.removeItem(self._rubber)
        self.view.reason.hide()
        self.view.touch_far()

    def cancel(self) -> None:
        self._tidy()

    def paint_far(self, painter: QPainter) -> None:
        painter.fillPath(self._rubber.path(), self._rubber.brush())
