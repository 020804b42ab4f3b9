"""The picture below 30 % zoom: kept rectangles and lines, painted by the view itself, one call per colour.

It also shows at once what a large change will look like, while the items follow in later turns of the loop: a move of
many, a deletion of many, and the way back to a document that it has shown before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING

from PySide6.QtCore import QLineF, QPointF, QRectF
from PySide6.QtGui import QPainter, QRegion, QTransform

from studio.document.changes import ChangeSet
from studio.document.model import Workflow
from studio.ui.canvas.area_items import FrameItem, NoteItem
from studio.ui.canvas.far_lists import FarLists, Lifted
from studio.ui.canvas.item import NO_BRUSH, NO_PEN, DrawnItem
from studio.ui.canvas.node_item import NodeItem
from studio.ui.canvas.spans import Spans
from studio.ui.paint import STATUS_TINTS, STATUS_TOKENS, Ink
from studio.ui.widgets.slices import PIECE

if TYPE_CHECKING:
    from studio.ui.canvas.scene import CanvasScene

NOTCH = 28.0
PARKED = 2
"""So many pictures of documents before large deletions are kept."""
REACH = 3
"""Pixels that strokes go beyond their shape."""
AT_ONCE = 300
"""Where up to so many things are is found out while painting."""
LATER_MS = 120
"""So long after a painting it is found out where everything is."""
FEW = 100
"""Of up to so many changed items and lines the places are painted again, of more everything."""
WIDE_UP_TO = 400
"""More selected cards than these get a border of one pixel."""
_NONE: frozenset[str] = frozenset()


class FarPicture:
    """Kept lists; brought up to date for what changed, moved in place while something is dragged."""

    def __init__(self, scene: CanvasScene) -> None:
        self._scene = scene
        self._lists = FarLists()
        self._workflow: Workflow | None = None
        """The document that the lists show."""
        self._stale: set[str] | None = None
        """What must be looked at again before the next painting; None: everything."""
        self._parked: list[tuple[Workflow, FarLists]] = []
        self._selected = _NONE
        self._marked: tuple[dict[str, QRectF], dict[str, QLineF]] | None = None
        """What of the selection is painted over the rest; None: to be found again."""
        self._places = Spans(lambda item_id: self._lists.box_of(item_id))
        """Where everything is, for painting a part; :attr:`_placed`: as long as these lists are shown."""
        self._placed: FarLists | None = None
        self._finding = False
        self._drag: Lifted | None = None
        self._dragged = _NONE
        self._shift = QPointF()

    @property
    def rects(self) -> Mapping[str, QRectF]:
        """Rectangle of every item."""
        return self._lists.rects

    # ---- following

    def spoil(self, touched: Iterable[str] | None = None) -> None:
        """Items and lines follow the document of now; these changed (None: all of them): they are looked at again
        before the next painting."""
        self._workflow = self._scene.workflow
        if touched is None:
            self._stale = None
        elif self._stale is not None:
            self._stale.update(touched)
        self._marked = None

    def refresh(self) -> None:
        """Takes over what changed."""
        if self._scene.later.busy:
            return  # the lists are ahead of the items
        scene = self._scene
        if self._stale is None:
            self._lists = FarLists()
            self._take((*scene.drawn, *scene.line_layer.drawn))
        elif self._stale:
            self._take(self._stale)
        self._stale = set()

    def absorb(self, ids: Iterable[str]) -> Iterator[None]:
        """Looks at these again in pieces."""
        for number, item_id in enumerate(ids):
            if number % PIECE == 0:
                yield
            self._take((item_id,))

    def _take(self, ids: Collection[str]) -> None:
        lists, items, lines = self._lists, self._scene.drawn, self._scene.line_layer.drawn
        self._places.spoil(ids)
        for item_id in ids:
            item = items.get(item_id)
            if item is not None:
                rect = item.rect
                status = STATUS_TOKENS.get(item.card.status) if isinstance(item, NodeItem) else None
                notch = QRectF(rect.right() - NOTCH, rect.top(), NOTCH, NOTCH) if status is not None else None
                lists.put_rect(item_id, _fill(item), rect, status, notch)
                continue
            edge = lines.get(item_id)
            if edge is not None:
                first, last = edge.ends_at
                lists.put_line(item_id, edge.base_token, QLineF(*first, *last))
            else:
                lists.drop(item_id)

    def changed(self, touched: Set[str], transform: QTransform) -> QRegion | None:
        """Takes over a few changes; returns where the viewport looks another way, None: everywhere."""
        if len(touched) > FEW or self._stale is None or self._scene.later.busy or self._drag is not None:
            return None
        before = {i: self._lists.look_of(i) for i in touched}
        self.spoil(touched)
        self.refresh()
        region = QRegion()
        for item_id, old in before.items():
            now = self._lists.look_of(item_id)
            if now != old:
                for shape, *_ in (old, now):
                    if shape is not None:
                        region += transform.mapRect(shape).toAlignedRect().adjusted(-REACH, -REACH, REACH, REACH)
        return region

    def select(self, ids: frozenset[str]) -> bool:
        """Shows these as selected; returns whether they are others than before."""
        if ids == self._selected:
            return False
        self._selected, self._marked = ids, None
        return True

    # ---- large changes

    def foresee(self, changes: ChangeSet, workflow: Workflow) -> bool:
        """Shows a large change before the items do; returns whether it can."""
        self.refresh()
        before = self._workflow
        for known, lists in self._parked:
            if known is workflow:
                self._lists, self._workflow, self._marked = lists.without(_NONE), workflow, None
                return True
        removed = changes.nodes_removed | changes.edges_removed
        gone = removed | {line for item_id in removed for line in self._scene.line_layer.of_edge(item_id)}
        shifts = self._shifts(changes, workflow, gone)
        if shifts is None or not (gone or changes.placed):
            return False
        if gone:
            if before is not None:
                self._parked = [(before, self._lists), *self._parked][:PARKED]
            self._lists = self._lists.without(gone)
        if shifts:
            self._lists.shift(shifts, self._scene.line_layer.between)
            self._placed = None
        self._workflow, self._marked = workflow, None
        return True

    def _shifts(
        self, changes: ChangeSet, workflow: Workflow, gone: Set[str]
    ) -> Mapping[str, tuple[float, float]] | None:
        """How far each item moves that is elsewhere in a document; None: more than places of cards changed."""
        rects, lines, places = self._lists.rects, self._lists.lines, workflow.places
        if changes.everything or changes.nodes_added or changes.edges_added or changes.groups or changes.notes:
            return None
        if workflow.groups or (gone and changes.edges_changed):
            return None
        shifts: dict[str, tuple[float, float]] = {}
        for item_id in changes.placed - gone - lines.keys():
            if item_id not in rects or item_id not in places:
                return None
            rect, place = rects[item_id], places[item_id]
            dx, dy = place.x - rect.x(), place.y - rect.y()
            if dx or dy:
                shifts[item_id] = (dx, dy)
        return shifts

    # ---- dragging

    def begin_shift(self, ids: frozenset[str]) -> None:
        """These will be dragged."""
        self.refresh()
        self._dragged, self._shift = ids, QPointF()
        self._drag = self._lists.lifted(ids, self._scene.line_layer.between)

    def shift(self, dx: float, dy: float) -> None:
        """How far what is dragged is from where it was."""
        self._shift = QPointF(dx, dy)

    def end_shift(self) -> None:
        """It stays where it was dragged to."""
        if self._drag is not None:
            dx, dy = self._shift.x(), self._shift.y()
            self._drag = None
            self._lists.shift_alike(self._dragged, dx, dy, self._scene.line_layer.between)
            self._placed = self._marked = None

    # ---- asking

    def pick(self, at: QPointF) -> str | None:
        """The topmost item at a point of the scene."""
        self.refresh()
        found = None
        for item_id, rect in self._lists.rects.items():
            if rect.contains(at):
                found = item_id
        return found

    def inside(self, area: QRectF) -> list[str]:
        """The items that a rectangle touches."""
        self.refresh()
        rects, near = self._lists.rects, self._in((area,))
        if near is None:
            return [item_id for item_id, rect in rects.items() if rect.intersects(area)]
        found = {i for i in near if i in rects and rects[i].intersects(area)}
        return [item_id for item_id in rects if item_id in found] if found else []

    # ---- painting

    def paint(self, painter: QPainter, parts: Sequence[QRectF] = ()) -> None:
        """Paints everything, or at least what is in some parts of the scene; the painter has the view's transform."""
        self.refresh()
        tools, lists = self._scene.look.ink, self._lists
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        if self._drag is None:
            shown, whole = self._in(parts), self._is_whole()
            self._paint(painter, tools, lists if shown is None else lists.only(shown), whole=whole)
            if not whole or len(self._selected) <= WIDE_UP_TO:
                self._paint_marked(painter, tools, shown)
            return
        self._paint(painter, tools, self._drag.kept, whole=False)
        painter.save()
        painter.translate(self._shift)
        self._paint(painter, tools, self._drag.moving, whole=True)
        painter.restore()
        painter.setPen(tools.pen("edge", 1.0, cosmetic=True))
        painter.drawLines(self._drag.stretched(self._shift))

    def _in(self, parts: Sequence[QRectF]) -> set[str] | None:
        """What is in parts of the scene; None: everything may be, or it is not known yet what is where."""
        if self._placed is not self._lists:
            self._placed = self._lists
            self._places.clear()
            self._places.spoil((*self._lists.rects, *self._lists.lines))
        if self._places.behind > AT_ONCE:
            if not self._finding:
                self._finding = True
                self._scene.marking.add(self._find_places(), LATER_MS)
            return None
        if not 0 < len(parts) <= FEW:
            return None
        return self._places.crossing([(part.left(), part.top(), part.right(), part.bottom()) for part in parts])

    def _find_places(self) -> Iterator[None]:
        try:
            while self._places.behind:
                self._places.refresh(PIECE)
                yield
        finally:
            self._finding = False

    def _is_whole(self) -> bool:
        """Whether everything is selected: then nothing has to be painted twice."""
        lists = self._lists
        if len(self._selected) < len(lists.rects) + len(lists.lines):
            return False
        return self._selected.issuperset(lists.rects) and self._selected.issuperset(lists.lines)

    def _paint(self, painter: QPainter, tools: Ink, lists: FarLists, *, whole: bool) -> None:
        painter.setPen(NO_PEN)
        frames = lists.cards.get("sunken")
        if frames:
            painter.setBrush(tools.brush("sunken"))
            painter.drawRects(list(frames.values()))
        for token, lines in lists.strokes.items():
            painter.setPen(tools.pen("accent" if whole else token, 1.0, cosmetic=True))
            painter.drawLines(list(lines.values()))
        for token, rects in lists.cards.items():
            if token == "sunken" or not rects:
                continue
            border = "accent" if whole else "edge" if token == "surface" else token
            painter.setPen(NO_PEN if token == "wait_s" else tools.pen(border, 1.0, cosmetic=True))
            painter.setBrush(tools.brush(token))
            painter.drawRects(list(rects.values()))
        painter.setPen(NO_PEN)
        for token, rects in lists.notches.items():
            painter.setBrush(tools.brush(token))
            painter.drawRects(list(rects.values()))

    def _paint_marked(self, painter: QPainter, tools: Ink, shown: Set[str] | None) -> None:
        if not self._selected:
            return
        if self._marked is None:
            lists, selected = self._lists, self._selected
            self._marked = (
                {i: lists.rects[i] for i in selected if i in lists.rects},
                {i: lists.lines[i] for i in selected if i in lists.lines},
            )
        rects, lines = self._marked
        painter.setBrush(NO_BRUSH)
        painter.setPen(tools.pen("accent", 2.0 if len(rects) <= WIDE_UP_TO else 1.0, cosmetic=True))
        painter.drawRects([rect for i, rect in rects.items() if shown is None or i in shown])
        painter.setPen(tools.pen("accent", 1.0, cosmetic=True))
        painter.drawLines([line for i, line in lines.items() if shown is None or i in shown])


def _fill(item: DrawnItem) -> str:
    if isinstance(item, NodeItem):
        return STATUS_TINTS.get(item.card.status, "surface")
    if isinstance(item, FrameItem):
        return "sunken"
    return "wait_s" if isinstance(item, NoteItem) else "edge"
