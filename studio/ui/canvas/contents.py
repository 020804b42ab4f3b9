"""Fills items with what document, run and problems say about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace

from PySide6.QtCore import QRectF

from studio.bridge.run_model import RunModel
from studio.document.geometry import CARD, FAN_OUT, JOIN, NOTE, turned
from studio.document.layout import arrange
from studio.document.lines import Line
from studio.document.model import FanOutEdge, Group, JoinNode, Node, Note, Place, SwitchEdge, Workflow
from studio.document.problems import Problem
from studio.ui.canvas.area_items import FRAME_PADDING, FrameItem, NoteItem
from studio.ui.canvas.cards import Card, card_of, join_card, worst
from studio.ui.canvas.group_card import GroupCard, group_card, hidden_members
from studio.ui.canvas.item import DrawnItem, Look
from studio.ui.canvas.junction_items import FanOutItem, JoinItem, JunctionItem, SwitchItem
from studio.ui.canvas.node_item import NodeItem
from studio.ui.canvas.run_marks import Lines, next_steps
from studio.ui.paint.numbers import seconds_text
from studio.ui.text import tr
from studio.ui.widgets.sources import short

FOOTER_ROOM = 18.0
"""Least space under the last card of a frame."""
Drawn = Node | SwitchEdge | FanOutEdge | Note | Group

_SWITCH_NAME = 28
"""Letters of the name over a switch, which is small itself."""


class Contents:
    """One document, looked up by id, and its items filled from it. Made anew when the document changed."""

    def __init__(self, workflow: Workflow) -> None:
        self.workflow = workflow
        junctions = (e for e in workflow.edges if isinstance(e, SwitchEdge | FanOutEdge))
        self.hidden = hidden_members(workflow)
        """What is inside a collapsed group, and which."""
        self.by_id: dict[str, Drawn] = {
            item.id: item
            for item in (*workflow.groups, *workflow.notes, *junctions, *workflow.nodes)
            if item.id not in self.hidden
        }
        missing = [i for i, item in self.by_id.items() if i not in workflow.places and not isinstance(item, Group)]
        self._places: Mapping[str, Place] = workflow.places
        if missing:
            self._places = {**arrange(workflow, missing), **workflow.places}

    def moved(self, workflow: Workflow) -> Contents:
        """The same of a document in which only places are other ones."""
        if workflow.groups or len(self._places) != len(self.workflow.places):
            return Contents(workflow)
        other = copy(self)
        other.workflow, other._places = workflow, workflow.places
        return other

    def made(self, item_id: str, look: Look) -> DrawnItem:
        """A new item for this id."""
        return self.class_of(item_id)(item_id, look)

    def class_of(self, item_id: str) -> type[DrawnItem]:
        """What draws it."""
        match self.by_id[item_id]:
            case JoinNode():
                return JoinItem
            case SwitchEdge():
                return SwitchItem
            case FanOutEdge():
                return FanOutItem
            case Note():
                return NoteItem
            case Group():
                return GroupCard if self._collapsed(item_id) else FrameItem
        return NodeItem

    def _collapsed(self, item_id: str) -> bool:
        place = self.workflow.places.get(item_id)
        return place is not None and place.collapsed

    def suits(self, item: DrawnItem) -> bool:
        """Whether an item is of the right class still: a group may have been collapsed or opened."""
        if not isinstance(self.by_id.get(item.item_id), Group):
            return True
        return isinstance(item, GroupCard) == self._collapsed(item.item_id)

    def inside(self, group_id: str) -> list[str]:
        """What a collapsed group hides."""
        return [i for i, group in self.hidden.items() if group == group_id]

    def shown_lines(self, lines: Iterable[Line]) -> Iterator[Line]:
        """The lines as drawn: those of hidden members end at their group, those inside it are not there."""
        if not self.hidden:
            yield from lines
            return
        for line in lines:
            source, target = self.hidden.get(line.source, line.source), self.hidden.get(line.target, line.target)
            if (source, target) == (line.source, line.target):
                yield line
            elif source != target:
                yield replace(line, source=source, target=target)

    def place(self, item_id: str) -> Place:
        """Where something is drawn."""
        return self._places.get(item_id) or Place(x=0, y=0)

    def put(self, item: DrawnItem) -> None:
        """Puts a card where it is drawn, in its width; what it says is as before."""
        place = self.place(item.item_id)
        if item.x() != place.x or item.y() != place.y:
            item.setPos(place.x, place.y)
        if isinstance(item, NodeItem) and not isinstance(item, GroupCard):
            item.show_card(item.card, place.width or CARD[0])

    def show(
        self, item: DrawnItem, run: RunModel, problems: Mapping[str, Sequence[Problem]], steps: Mapping[str, str]
    ) -> bool:
        """Fills one item that is not a frame; returns whether it moved or has another size."""
        thing, place = self.by_id[item.item_id], self.place(item.item_id)
        moved = item.x() != place.x or item.y() != place.y
        if moved:
            item.setPos(place.x, place.y)
        found = problems.get(item.item_id, ())
        if isinstance(item, GroupCard) and isinstance(thing, Group):
            shown = group_card(thing, self.inside(thing.id), self.workflow, run, problems)
            return item.show_card(shown, CARD[0]) or moved
        if isinstance(item, NodeItem) and not isinstance(thing, SwitchEdge | FanOutEdge | Note | Group):
            card = card_of(self.workflow, thing, run, found, steps)
            return item.show_card(card, place.width or 200.0) or moved
        if isinstance(item, JunctionItem):
            return self._show_junction(item, thing, place, run, found, steps) or moved
        if isinstance(item, NoteItem) and isinstance(thing, Note):
            item.show_note(thing.text, place.width or NOTE[0], place.height)
        return moved

    def _show_junction(
        self,
        item: JunctionItem,
        thing: Drawn,
        place: Place,
        run: RunModel,
        problems: Sequence[Problem],
        steps: Mapping[str, str],
    ) -> bool:
        if isinstance(thing, JoinNode):
            card = join_card(self.workflow, thing, run, problems, steps)
            return item.show_card(card, *self._bar(JOIN, place), carrying=thing.id in steps)
        severity = worst(problems)
        if isinstance(thing, FanOutEdge):
            chosen = tr("chooses by message") if thing.selection else ""
            card = Card("fan_out", thing.name, chip=chosen, severity=severity)
            return item.show_card(card, *self._bar(FAN_OUT, place))
        name = thing.name if isinstance(thing, SwitchEdge) else ""
        return item.show_card(Card("switch", name, chip=short(name, _SWITCH_NAME), severity=severity), *SwitchItem.size)

    def _bar(self, size: tuple[float, float], place: Place) -> tuple[float, float]:
        return turned((size[0], place.height or size[1]), down=self.workflow.flow == "down")

    def show_frames(self, items: Mapping[str, DrawnItem], run: RunModel) -> set[str]:
        """Puts frames around their members; returns those that moved or have another size."""
        moved: set[str] = set()
        for group in self.workflow.groups:
            item = items.get(group.id)
            if isinstance(item, FrameItem):
                rect = self._frame_rect(group, items)
                if item.rect != rect:
                    moved.add(group.id)
                item.show_frame(group.name, group.kind, _progress(group, run), group.members, rect)
        return moved

    def _frame_rect(self, group: Group, items: Mapping[str, DrawnItem]) -> QRectF:
        place = self.workflow.places.get(group.id)
        if place is not None and place.width and place.height:
            rect = QRectF(place.x, place.y, place.width, place.height)
            # Cards grow a footer during a run; the frame gives way below.
            lowest = max((items[m].rect.bottom() for m in group.members if m in items), default=rect.bottom())
            rect.setBottom(max(rect.bottom(), lowest + FOOTER_ROOM if lowest > rect.top() else rect.bottom()))
            return rect
        return around((items[m].rect for m in group.members if m in items), place)


def around(rects: Iterable[QRectF], place: Place | None = None) -> QRectF:
    """The rectangle of a frame around these."""
    box = QRectF()
    for rect in rects:
        box = box.united(rect)
    if box.isNull():
        return QRectF(place.x if place else 0, place.y if place else 0, 240, 120)
    left, top, right, bottom = FRAME_PADDING
    return box.adjusted(-left, -top, right, bottom)


def _progress(group: Group, run: RunModel) -> str:
    """ "superstep 3 · 9.8 s" when all members ran in the same superstep."""
    members = set(group.members)
    latest = {v.node: v for v in run.invocations.values() if v.node in members}
    numbers = {v.superstep for v in latest.values()}
    if len(latest) < 2 or len(latest) < len(members & {v.node for v in run.nodes.values()}) or len(numbers) != 1:
        return ""
    if any(v.ended is None for v in latest.values()):
        return tr("superstep {n}").format(n=numbers.pop())
    took = max(v.ended or 0.0 for v in latest.values()) - min(v.started for v in latest.values())
    return tr("superstep {n} · {time}").format(n=numbers.pop(), time=seconds_text(took))


def steps_of(lines: Lines, run: RunModel) -> Mapping[str, str]:
    """Nodes that run next, with the words for it."""
    return next_steps(lines, run)
