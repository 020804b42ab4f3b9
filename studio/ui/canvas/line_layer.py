"""All edges and chips of a scene: which lines there are, where they run, how they look."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING

from PySide6.QtCore import QElapsedTimer, QRectF, QTimer

from studio.document.bends import bends_of
from studio.document.lines import Line, default_id
from studio.document.model import SwitchEdge
from studio.ui.canvas.area_items import FrameItem, NoteItem
from studio.ui.canvas.chip_layer import ChipLayer
from studio.ui.canvas.edge_item import IDLE, ChipItem, EdgeItem, LineState
from studio.ui.canvas.item import DrawnItem
from studio.ui.canvas.levels import Level
from studio.ui.canvas.node_item import NodeItem
from studio.ui.canvas.routing import End, Points
from studio.ui.canvas.run_marks import Lines, line_states
from studio.ui.canvas.spans import Box, Spans, strip, with_room
from studio.ui.canvas.ways import Ways, across
from studio.ui.widgets.slices import PIECE, at_once

if TYPE_CHECKING:
    from studio.ui.canvas.scene import CanvasScene

AT_ONCE = 200
"""Up to this many lines are routed in one go; more are spread over turns of the loop."""
SLICE_MS = 4
MOVED_BY_HAND = 40
"""When more items move at once, lines that only pass by are not looked at again: all is new then."""
MANY_LINES = 1000
"""In a drawing with more lines, those that only pass by what moved are looked at again a little later."""
LEAST_BEHIND = 400
"""Up to this many lines that moved are looked up at once."""
PASSING = 48
"""Up to this many lines that only pass what grew are led around it at once."""


class LineLayer:
    """Keeps edge items and chips in step with the drawing. Items stay top level in the scene."""

    def __init__(self, scene: CanvasScene) -> None:
        self._scene = scene
        self.lines = Lines(())
        self.drawn: dict[str, EdgeItem] = {}
        """The lines that are there, while some may still come or go; others ask for :attr:`items`."""
        self.labels = ChipLayer(scene, self)
        self.touched: set[str] = set()
        """Lines that look another way since the scene asked last."""
        self._states: Mapping[str, LineState] = {}
        self._relabelled: set[str] = set()
        self._parked: dict[str, EdgeItem] = {}
        """Lines of the last large deletion: undo shows them again."""
        self._at: dict[str, list[str]] = {}
        self.cases: dict[str, int] = {}
        """Numbers of the cases of switches, by id of their lines."""
        self._ways = Ways(scene.look)
        self._spans = Spans(self._span_of)
        self._todo: deque[str] = deque()
        self._repaint: deque[str] = deque()
        self._timer = QTimer(scene)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._on_timer_timeout)
        self._level = Level.NEAR

    @property
    def items(self) -> dict[str, EdgeItem]:
        """The lines by id; brings up to date first what would be later."""
        self._scene.later.finish()
        return self.drawn

    @property
    def chips(self) -> dict[tuple[str, bool], ChipItem]:
        """By line id and whether it is the pill of queued messages."""
        return self.labels.chips

    def reset(self) -> None:
        """The scene was cleared."""
        self.lines = Lines(())
        for table in (self.drawn, self._at, self.cases, self._parked):
            table.clear()
        self.labels.reset()
        self._states = {}
        self._relabelled.clear()
        self._ways.clear_all()
        self._spans.clear()
        self._todo.clear()
        self._repaint.clear()

    # ---- which lines there are

    def set_lines(self, lines: Iterable[Line]) -> Generator[None, None, set[str]]:
        """The lines of the document now; returns the ids of new and changed ones."""
        self.lines = Lines(lines)
        yield
        shown = self._scene.drawn
        wanted = {line.id: line for line in self.lines.all if line.source in shown and line.target in shown}
        yield from self._drop([i for i in self.drawn if i not in wanted])
        fresh: set[str] = set()
        for number, (line_id, line) in enumerate(wanted.items()):
            if number % PIECE == 0:
                yield
            item = self.drawn.get(line_id)
            if item is None:
                self._add(line)
                fresh.add(line_id)
            elif item.line is not line and item.line != line:
                if (item.line.source, item.line.target, item.line.kind) != (line.source, line.target, line.kind):
                    fresh.add(line_id)
                    self._unlink(item)
                    self._link(line)
                self._relabelled.add(line_id)
                item.line = line
        self._number_cases(fresh)
        self.touched |= fresh
        return fresh

    def _add(self, line: Line) -> None:
        item = self._parked.pop(line.id, None)
        if item is None:
            item = EdgeItem(line, self._scene.look)
        else:
            item.revive(line)
        self.drawn[line.id] = item
        self._spans.spoil((line.id,))
        self._scene.addItem(item)
        self._link(line)

    def _drop(self, line_ids: list[str]) -> Iterator[None]:
        if len(line_ids) > AT_ONCE:
            self._parked = {}
        for number, line_id in enumerate(line_ids):
            if number % PIECE == 0:
                yield
            item = self.drawn.pop(line_id)
            self._scene.removeItem(item)
            self._unlink(item)
            self._ways.tracks.pop(line_id, None)
            self._spans.spoil((line_id,))
            self.touched.add(line_id)
            self._relabelled.add(line_id)
            if len(line_ids) > AT_ONCE:
                self._parked[line_id] = item

    def _link(self, line: Line) -> None:
        for end in {line.source, line.target}:
            self._at.setdefault(end, []).append(line.id)

    def _unlink(self, item: EdgeItem) -> None:
        for end in set(item.ends):
            there = self._at.get(end, [])
            if item.line.id in there:
                there.remove(item.line.id)
            if not there:
                self._at.pop(end, None)

    def _number_cases(self, fresh: set[str]) -> None:
        cases: dict[str, int] = {}
        for edge in self._scene.workflow.edges:
            if isinstance(edge, SwitchEdge):
                cases.update({case.id: number for number, case in enumerate(edge.cases)})
                # The default leaves behind the last case.
                cases[default_id(edge.id)] = max(1, len(edge.cases))
        fresh.update(i for i in cases.keys() & self.drawn.keys() if cases[i] != self.cases.get(i))
        self.cases = cases

    def concern(self, added: Set[str], removed: Set[str]) -> bool:
        """Whether other lines can be shown when these items come and go."""
        if any(i in self._at for i in removed):
            return True
        if not added or len(self.drawn) == len(self.lines.all):
            return False
        return any(n.id not in self.drawn and (n.source in added or n.target in added) for n in self.lines.all)

    def taken_touched(self) -> set[str]:
        """The lines that look another way since this was asked last."""
        taken, self.touched = self.touched, set()
        return taken

    def of_edge(self, edge_id: str) -> list[str]:
        """Ids of the lines of an edge group."""
        return [line.id for line in self.lines.of(edge_id)]

    def between(self, item_ids: Set[str]) -> Iterator[Line]:
        """The lines that start or end at some of these items."""
        if len(item_ids) < len(self._at) // 4:
            for line_id in {line for i in item_ids for line in self._at.get(i, ())}:
                yield self.drawn[line_id].line
            return
        for item in self.drawn.values():
            line = item.line
            if line.source in item_ids or line.target in item_ids:
                yield line

    def at(self, item_id: str) -> list[str]:
        """Ids of the lines that start or end at an item."""
        self._scene.later.finish()
        return self._at.get(item_id, [])

    def at_now(self, item_id: str) -> list[str]:
        """The same of the lines that are there by now."""
        return self._at.get(item_id, [])

    def covered(self, box: QRectF) -> bool:
        """Whether a card covers part of this rectangle."""
        return self._ways.covered(box)

    # ---- where they run

    def follow(self, moved: Iterable[str], fresh: Iterable[str] = ()) -> None:
        """Routes again: the lines of these items (moved, resized, added or removed), lines that pass where they are,
        and ``fresh`` lines."""
        at_once(self.follow_slowly(moved, fresh))

    def follow_slowly(self, moved: Iterable[str], fresh: Iterable[str] = ()) -> Iterator[None]:
        """The same in pieces."""
        items = self._scene.drawn
        fresh = set(fresh)
        wanted = set(fresh)
        boxes: list[Box] = []
        for number, item_id in enumerate(moved):
            if number % PIECE == 0:
                yield
            item = items.get(item_id)
            if item is None or isinstance(item, NoteItem):
                self._ways.drop(item_id)
                continue
            rect, area = item.rect, isinstance(item, FrameItem)
            before = self._ways.put(item_id, rect, area=area)
            grown = strip(before, rect) if before is not None else None
            wanted.update(self._at.get(item_id, ()) if grown is None else self._dependent(item))
            if grown is not None or before != rect:
                boxes.append(with_room(grown if grown is not None else rect))
        if len(boxes) > MOVED_BY_HAND:
            still: set[str] = set()
            for number, line_id in enumerate(wanted - fresh):
                if number % PIECE == 0:
                    yield
                if self._moved_as_one(line_id):
                    still.add(line_id)
            wanted -= still
        elif boxes and self._spans.behind > LEAST_BEHIND:
            self._scene.marking.add(self._reroute_passing(boxes))
        elif boxes:
            wanted |= self._passing(boxes)
        yield from self._route_all([i for i in self.drawn if i in wanted] if len(wanted) > 1 else list(wanted))

    def _passing(self, boxes: Sequence[Box]) -> set[str]:
        """The lines that pass these boxes and those that lead back; of a large drawing many, or those
        that are not seen, follow in pieces."""
        found = self._spans.crossing(boxes) | self._ways.tracks.keys()
        unseen = self._scene.look.level == Level.FAR
        if len(self.drawn) > MANY_LINES and (unseen or len(found) > PASSING):
            self._scene.marking.add(self._reroute(found))
            return set()
        return found

    def _reroute_passing(self, boxes: Sequence[Box]) -> Iterator[None]:
        """The same in pieces, after a change of thousands of lines of which it is not known yet where they are."""
        while self._spans.behind:
            self._spans.refresh(PIECE)
            yield
        yield from self._reroute(self._passing(boxes))

    def _reroute(self, line_ids: Iterable[str]) -> Iterator[None]:
        """Routes these in pieces: cards of a run grow many times a second."""
        for line_id in list(line_ids):
            self._route(line_id)
            self.touched.add(line_id)
            yield
        self.labels.place(i for i in line_ids if i in self.drawn)

    def _dependent(self, item: DrawnItem) -> list[str]:
        """Lines of a card that only became longer or shorter: those that may run elsewhere, because they lead around
        it or their ends moved with it."""
        own = [edge for i in self._at.get(item.item_id, ()) if (edge := self.drawn.get(i)) is not None]
        ends_stay = isinstance(item, NodeItem) and not self._scene.look.down
        return [
            edge.line.id
            for edge in own
            if edge.line.source == edge.line.target
            or edge.line.id in self._ways.tracks
            or not (ends_stay or self._shift_of(edge) == (0, 0))
        ]

    def _moved_as_one(self, line_id: str) -> bool:
        """Moves a line whose ends moved alike along as it is; returns whether that is so."""
        edge = self.drawn.get(line_id)
        shift = self._shift_of(edge) if edge is not None else None
        if edge is None or shift is None:
            return False
        if shift != (0, 0):
            edge.shift(*shift)
            self._spans.spoil((line_id,))
            self.touched.add(line_id)
        return True

    def _shift_of(self, edge: EdgeItem) -> tuple[float, float] | None:
        """How far both ends of a line are from where it was led; None: not equally far."""
        first, last = self._ways.tips(*self._ends(edge.line))
        (ax, ay), (bx, by) = edge.ends_at
        x, y = first[0] - ax, first[1] - ay
        return (x, y) if abs(last[0] - bx - x) <= 0.01 and abs(last[1] - by - y) <= 0.01 else None

    def _span_of(self, line_id: str) -> Box | None:
        edge = self.drawn.get(line_id)
        return edge.span if edge is not None else None

    def _route_all(self, line_ids: list[str]) -> Iterator[None]:
        self.touched.update(line_ids)
        if len(line_ids) <= AT_ONCE:
            for line_id in line_ids:
                self._route(line_id)
            return
        for number, line_id in enumerate(line_ids):
            if number % PIECE == 0:
                yield
            self._plain(line_id)
            self._todo.append(line_id)
        self._timer.start()

    def redraw_later(self, line_ids: Iterable[str]) -> None:
        """Draws lines that nobody sees again in later turns of the loop."""
        self._repaint.extend(line_ids)
        if self._repaint:
            self._timer.start()

    def finish(self) -> None:
        """Routes at once what would be routed in later turns."""
        self._timer.stop()
        while self._todo:
            self._route(self._todo.popleft())
        while self._repaint:
            self._redraw(self._repaint.popleft())
        self._spans.refresh(self._spans.behind)
        self.labels.place()

    def _on_timer_timeout(self) -> None:
        clock = QElapsedTimer()
        clock.start()
        routed = bool(self._todo)
        while self._todo and clock.elapsed() < SLICE_MS:
            self._route(self._todo.popleft())
        while self._repaint and clock.elapsed() < SLICE_MS:
            self._redraw(self._repaint.popleft())
        if routed and not self._todo:
            self.labels.place()
        while self._spans.behind and not self._todo and clock.elapsed() < SLICE_MS:
            self._spans.refresh(PIECE)
        if not self._todo and not self._repaint and not self._spans.behind:
            self._timer.stop()

    def _redraw(self, line_id: str) -> None:
        edge = self.drawn.get(line_id)
        if edge is not None:
            edge.redraw()

    def _ends(self, line: Line) -> tuple[End, End]:
        items = self._scene.drawn
        start = items[line.source].out_end(self._case(line))
        return start, items[line.target].in_end(across(start, down=self._scene.look.down))

    def _case(self, line: Line) -> int:
        return self.cases.get(line.id, 0) if line.kind in ("case", "default") else 0

    def _plain(self, line_id: str) -> None:
        edge = self.drawn.get(line_id)
        self._spans.spoil((line_id,))
        if edge is not None and not self._bent(edge, *self._ends(edge.line)):
            edge.set_points(self._ways.plain(*self._ends(edge.line)))

    def _bent(self, edge: EdgeItem, start: End, end: End) -> bool:
        """Leads a line through the bends that it has in the document; returns whether it has any."""
        bends = bends_of(self._scene.workflow, edge.line.id)
        if bends:
            edge.set_points(self._ways.through(start, end, bends), bends)
        return bool(bends)

    def lead(self, line_id: str, bends: Points) -> None:
        """Shows a line through these points, while one is dragged."""
        edge = self.items[line_id]
        ends = self._ends(edge.line)
        edge.set_points(self._ways.through(*ends, bends) if bends else self._ways.plain(*ends), bends)
        self._spans.spoil((line_id,))
        self.labels.put(line_id)

    def _route(self, line_id: str) -> None:
        edge = self.drawn.get(line_id)
        if edge is None:
            return
        line = edge.line
        start, end = self._ends(line)
        self._ways.tracks.pop(line_id, None)
        self._spans.spoil((line_id,))
        if self._bent(edge, start, end):
            return
        if line.source == line.target:
            edge.set_points(self._ways.loop(start, end, self._scene.drawn[line.source].rect))
            return
        ends = {i: self._scene.drawn[i].rect for i in (line.source, line.target)}
        edge.set_points(self._ways.around(line_id, start, end, ends))

    # ---- while something is dragged

    def drag(self, ids: frozenset[str], dx: float, dy: float) -> None:
        """Items moved by a step: lines inside follow as they are, the others become plain."""
        for line in list(self.between(ids)):
            line_id = line.id
            edge = self.drawn[line_id]
            if line.source in ids and line.target in ids:
                edge.shift(dx, dy)
                self._spans.spoil((line_id,))
                self.labels.shift(line_id, dx, dy)
            else:
                self._plain(line_id)
                self.labels.put(line_id)

    # ---- how they look

    def show_states(self, fresh: Iterable[str] = ()) -> set[str]:
        """Colours and chips from run and problems; ``fresh`` lines are looked at in any case. Returns the lines whose
        chips are other ones."""
        workspace = self._scene.workspace
        if workspace is None:
            return set()
        before, states = self._states, line_states(self.lines, workspace.run, workspace.problems.by_place)
        self._states = states
        changed = {i for i in before.keys() | states.keys() if _differ(before.get(i), states.get(i))}
        arrived = [i for i in changed & self.drawn.keys() if i in states and states[i].delivered]
        arrived = [i for i in arrived if not self.drawn[i].state.delivered]
        changed.update(fresh)
        for line_id in changed & self.drawn.keys():
            self.drawn[line_id].set_state(states.get(line_id, IDLE))
        self.touched |= changed
        changed |= self._relabelled
        self._relabelled = set()
        self.labels.sync(changed)
        if arrived:
            order = [i for i in self.drawn if i in set(arrived)] if len(arrived) > 1 else arrived
            self._scene.messages_arrived.emit(order)
        return changed

    def show_level(self) -> None:
        """The level changed: other paths, other chips. What is seen comes first."""
        level = self._scene.look.level
        if level == Level.FAR:
            return
        other = (level <= Level.FLAT) != (self._level <= Level.FLAT)
        self._level = level
        wanted = [i for i, edge in self.drawn.items() if other or edge.stale]
        self.redraw_seen_first(wanted)
        self.labels.show()

    def redraw_seen_first(self, line_ids: Iterable[str]) -> None:
        """Draws what the view shows now, and the rest in later turns of the loop if it is much."""
        wanted = list(line_ids)
        if len(wanted) <= AT_ONCE:
            for line_id in wanted:
                self.drawn[line_id].redraw()
            return
        seen = self._scene.seen
        view = (seen.left(), seen.top(), seen.right(), seen.bottom())
        later = []
        for line_id in wanted:
            edge = self.drawn[line_id]
            if _touch(edge.span, view):
                edge.redraw()
            else:
                edge.stale = True
                later.append(line_id)
        self.redraw_later(later)

    def refresh_look(self) -> None:
        """The theme changed."""
        self._parked = {}
        for edge in self.drawn.values():
            edge.redraw()
        self.labels.refresh_look()


def _differ(before: LineState | None, now: LineState | None) -> bool:
    """Most are the same objects: comparing what is in them takes longer than all the rest."""
    return before is not now and before != now


def _touch(span: Box, view: Box) -> bool:
    return span[0] <= view[2] and span[2] >= view[0] and span[1] <= view[3] and span[3] >= view[1]
