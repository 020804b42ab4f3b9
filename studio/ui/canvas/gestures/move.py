"""Moving what is selected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, Qt

from studio.document.bends import moved_bends
from studio.document.commands import drop_on_edge, duplicate, make_room, take_out
from studio.document.copying import BESIDE
from studio.document.edits import Batch, Edit, SetFields, SetPlaces
from studio.document.frozen import with_values
from studio.document.geometry import moved, snapped
from studio.document.model import Group, Place
from studio.document.problems import Problem
from studio.ui.canvas.area_items import FrameItem
from studio.ui.canvas.edge_item import EdgeItem
from studio.ui.canvas.gestures.gesture import Gesture, Pointer
from studio.ui.canvas.gestures.guides import Guides, on_line
from studio.ui.canvas.gestures.onto import Onto
from studio.ui.canvas.item import DrawnItem
from studio.ui.canvas.junction_items import JunctionItem
from studio.ui.canvas.levels import Level
from studio.ui.text import tr

if TYPE_CHECKING:
    from studio.ui.canvas.view import CanvasView

LIFTED = 40
"""Up to this many cards are lifted over the others while they are dragged."""


class MoveGesture(Gesture):
    """Items follow the pointer, snapped to the grid and to the edges and middles of others; one edit on release."""

    cursor = Qt.CursorShape.SizeAllCursor

    def __init__(self, view: CanvasView, held: str, *, take_out: bool = False) -> None:
        super().__init__(view)
        self._held = held
        """The item under the pointer: snapping is about it."""
        self._take_out = take_out
        self._out: Edit | None = None
        """Takes the held node out of its wires, if that was asked for and is possible."""

    def start(self, at: Pointer) -> None:
        items = self.scene.items_by_id
        wanted = {i for i in self.view.selection_items if i in items} | {self._held}
        for item_id in list(wanted):
            item = items[item_id]
            if isinstance(item, FrameItem):
                wanted |= {m for m in item.members if m in items}
        self._ids = frozenset(wanted)
        self._from = QPointF(at.scene)
        self._shift = QPointF()
        self._start = self._places(items)
        self._far = self.view.level == Level.FAR
        self._onto = Onto(self.view, lambda line: drop_on_edge(self.scene.workflow, line, self._held))
        if self._take_out and len(self._ids) == 1 and self.scene.workflow.node(self._held) is not None:
            out = take_out(self.scene.workflow, self._held)
            self._out = None if isinstance(out, Problem) else out
            self._fade(self._out is not None)
        self._guides = None if self._far else Guides(self.view, self._ids)
        if self._far:
            self.view.far.begin_shift(self._ids)
        self.scene.bulk_changed.emit(len(self._ids))
        if not self._far and len(self._ids) <= LIFTED:
            for item_id in self._ids:
                items[item_id].mark("lifted", True)

    def _places(self, items: Mapping[str, DrawnItem]) -> dict[str, tuple[float, float]]:
        """Where each item is: as the document says, a frame as it is drawn around its members."""
        places = self.scene.workflow.places
        found: dict[str, tuple[float, float]] = {}
        for item_id in self._ids:
            place = places.get(item_id)
            item = items[item_id]
            if place is None or item.layer == 0.0:
                found[item_id] = (item.x(), item.y())
            else:
                found[item_id] = (place.x, place.y)
        return found

    def _fade(self, on: bool) -> None:
        """The edges that will be gone."""
        for line_id in self.scene.line_layer.at(self._held):
            self.scene.line_layer.items[line_id].setOpacity(0.25 if on else 1.0)

    # ---- moving

    def move(self, at: Pointer) -> None:
        wanted = at.scene - self._from
        if not at.alt:
            wanted = self._snapped(wanted)
        elif self._guides is not None:
            self._guides.hide()
        self._move_to(wanted)
        self._light_line(at)

    def _come_near(self) -> None:
        """The view was zoomed in while it drags: from now on the items move, no longer the far picture."""
        self._far = False
        self.view.far.shift(0.0, 0.0)
        self.view.far.end_shift()
        self._guides = Guides(self.view, self._ids)
        self._shift = QPointF()
        if len(self._ids) <= LIFTED:
            for item_id in self._ids:
                self.scene.items_by_id[item_id].mark("lifted", True)

    def _move_to(self, shift: QPointF) -> None:
        if self._far and self.view.level != Level.FAR:
            self._come_near()
        step = shift - self._shift
        if step.isNull():
            return
        self._shift = shift
        if self._far:
            self.view.far.shift(shift.x(), shift.y())
            self.view.touch_far()
            return
        items, dx, dy = self.scene.items_by_id, shift.x(), shift.y()
        for item_id, (x, y) in self._start.items():
            items[item_id].setPos(x + dx, y + dy)
        self.scene.line_layer.drag(self._ids, step.x(), step.y())

    def _snapped(self, shift: QPointF) -> QPointF:
        start = QPointF(*self._start[self._held])
        target = start + shift
        if self.view.snap:
            target = QPointF(snapped(target.x()), snapped(target.y()))
        free = start + shift
        if self._guides is None:
            return target - start
        return self._guides.line_up(self.scene.items_by_id[self._held], free, target) - start

    def _light_line(self, at: Pointer) -> None:
        """The edge that a single, unconnected node would be put on."""
        item = self.scene.items_by_id[self._held]
        single = len(self._ids) == 1 and not self._far and not self.scene.line_layer.at(self._held)
        if single and not at.alt and item.layer >= 3.0 and not isinstance(item, JunctionItem):
            self._onto.look(item.rect.center(), 24.0, at)
        else:
            self._onto.clear()

    # ---- ending

    def finish(self, at: Pointer) -> None:
        self.move(at)
        line, shift = self._onto.edge, self._shift
        if line is not None:
            held = self.scene.items_by_id[self._held]
            shift = shift + on_line(held, held.pos(), line) - held.pos()
        self._tidy()
        if shift.isNull():
            return
        workflow = self.scene.workflow
        places: dict[str, Place | None] = {}
        items = self.scene.items_by_id
        dx, dy, known = shift.x(), shift.y(), workflow.places
        for item_id, (x, y) in self._start.items():
            old = known.get(item_id)
            if old is not None:
                places[item_id] = with_values(old, {"x": x + dx, "y": y + dy})
            elif not isinstance(items[item_id], FrameItem):
                places[item_id] = Place(x=x + dx, y=y + dy)
        hidden = self.scene.contents.hidden
        inside = [i for i, group in hidden.items() if group in self._ids]
        places.update({i: moved(workflow.places[i], shift.x(), shift.y()) for i in inside if i in workflow.places})
        places.update(moved_bends(workflow, {*self._ids, *inside}, shift.x(), shift.y()))
        edits: list[Edit] = [SetPlaces(places), *self._frame_edits()]
        if at.ctrl:
            edits.insert(0, self._copy())
        if self._out is not None:
            edits.insert(0, self._out)
        if line is not None:
            edits += self._put_on(line, edits)
        text = (tr("Copy {name}") if at.ctrl else tr("Move {name}")).format(name=self.view.name_of(self._held))
        if self._out is not None:
            text = tr("Take out {name}").format(name=self.view.name_of(self._held))
        if len(self._ids) > 1:
            text = (tr("Copy {n} items") if at.ctrl else tr("Move {n} items")).format(n=len(self._ids))
        self.view.execute(Batch(tuple(edits)) if len(edits) > 1 else edits[0], text)

    def _put_on(self, line: EdgeItem, moved: list[Edit]) -> list[Edit]:
        """Leads an edge through the held node; what follows moves aside."""
        now = Batch(tuple(moved)).apply(self.scene.workflow).workflow
        edit = drop_on_edge(now, line.line.id, self._held)
        if isinstance(edit, Problem):
            self.view.tell(edit.message)
            return []
        return [edit, make_room(edit.apply(now).workflow, self._held)]

    def _copy(self) -> Edit:
        """A copy that stays where the originals were."""
        workflow = self.scene.workflow
        edit = duplicate(workflow, self.view.with_hidden(self._ids))
        grown = edit.apply(workflow).workflow.places
        beside = {i: place for i, place in grown.items() if i not in workflow.places}
        return Batch((edit, SetPlaces({i: moved(place, -BESIDE, -BESIDE) for i, place in beside.items()})))

    def _frame_edits(self) -> Iterable[Edit]:
        """Nodes that were dragged into a frame join it, those dragged out leave it; groups of patterns keep theirs."""
        if not self.scene.workflow.groups:
            return
        items = self.scene.items_by_id
        dragged = {i for i in self._ids if items[i].layer >= 3.0}
        for group in self.scene.workflow.groups:
            frame = items.get(group.id)
            if group.kind != "frame" or group.id in self._ids or frame is None:
                continue
            members = _members(group, dragged, {i for i in dragged if frame.rect.contains(self._center(i))})
            if members != group.members:
                yield SetFields("groups", group.id, {"members": members})

    def _center(self, item_id: str) -> QPointF:
        return QPointF(*self._start[item_id]) + self._shift + self.scene.items_by_id[item_id].box.center()

    def _tidy(self) -> None:
        if self._guides is not None:
            self._guides.hide()
        self.view.far.end_shift()
        self._onto.clear()
        items = self.scene.items_by_id
        if not self._far and len(self._ids) <= LIFTED:
            for item_id in self._ids:
                items[item_id].mark("lifted", False)
        if self._out is not None:
            self._fade(False)

    def cancel(self) -> None:
        self._move_to(QPointF())
        self._tidy()
        if not self._far:
            self.scene.line_layer.follow(self._ids)
            self.scene.line_layer.labels.place()
        self.view.touch_far()


def _members(group: Group, dragged: set[str], inside: set[str]) -> tuple[str, ...]:
    kept = tuple(m for m in group.members if m not in dragged or m in inside)
    return (*kept, *(i for i in sorted(inside) if i not in kept))
