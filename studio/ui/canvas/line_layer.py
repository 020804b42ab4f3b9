"""All edges and chips of a scene: which lines there are, where they run, how they look."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QElapsedTimer, QPointF, QRectF, QTimer

from studio.document.bends import bends_of
from studio.document.lines import Line, default_id
from studio.document.model import SwitchEdge
from studio.ui.canvas import routing
from studio.ui.canvas.area_items import FrameItem, NoteItem
from studio.ui.canvas.chips import ChipSpec, chip_specs
from studio.ui.canvas.edge_item import IDLE, ChipItem, EdgeItem
from studio.ui.canvas.levels import Level
from studio.ui.canvas.run_marks import Lines, line_states

if TYPE_CHECKING:
    from studio.ui.canvas.scene import CanvasScene

AT_ONCE = 200
"""Up to this many lines are routed in one go; more are spread over turns of the loop."""
SLICE_MS = 4
MANY_LABELS = 24
"""With more lines at one source there is no room beside them, and looking for it takes time."""
WIDEST = 1.27
"""How much larger chips are at the lowest zoom at which all are shown."""
MOVED_BY_HAND = 40
"""When more items move at once, lines that only pass by are not looked at again: all is new then."""


class LineLayer:
    """Keeps edge items and chips in step with the drawing. Items stay top level in the scene."""

    def __init__(self, scene: CanvasScene) -> None:
        self._scene = scene
        self.lines = Lines(())
        self.items: dict[str, EdgeItem] = {}
        self.chips: dict[tuple[str, bool], ChipItem] = {}
        """By line id and whether it is the pill of queued messages."""
        self._specs: dict[tuple[str, bool], ChipSpec] = {}
        self._at: dict[str, list[str]] = {}
        self._cases: dict[str, int] = {}
        self._blocks = routing.Blocks()
        self._areas = routing.Blocks()
        self._tracks: dict[str, tuple[float, float, float]] = {}
        self._todo: deque[str] = deque()
        self._repaint: deque[str] = deque()
        self._timer = QTimer(scene)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._on_timer_timeout)
        self._level = Level.NEAR

    def reset(self) -> None:
        """The scene was cleared."""
        self.lines = Lines(())
        self.items.clear()
        self.chips.clear()
        self._specs.clear()
        self._at.clear()
        self._cases.clear()
        self._blocks.clear_all()
        self._areas.clear_all()
        self._todo.clear()
        self._repaint.clear()
        self._tracks.clear()

    # ---- which lines there are

    def set_lines(self, lines: Iterable[Line]) -> set[str]:
        """The lines of the document now; returns the ids of new and changed ones."""
        self.lines = Lines(lines)
        shown = self._scene.items_by_id
        wanted = {line.id: line for line in self.lines.all if line.source in shown and line.target in shown}
        for line_id in [i for i, item in self.items.items() if i not in wanted]:
            self._scene.removeItem(self.items.pop(line_id))
            self._tracks.pop(line_id, None)
        fresh: set[str] = set()
        for line_id, line in wanted.items():
            item = self.items.get(line_id)
            if item is None:
                item = self.items[line_id] = EdgeItem(line, self._scene.look)
                self._scene.addItem(item)
                fresh.add(line_id)
            elif item.line != line:
                if (item.line.source, item.line.target, item.line.kind) != (line.source, line.target, line.kind):
                    fresh.add(line_id)
                item.line = line
        self._at = {}
        for line_id, item in self.items.items():
            for end in {item.line.source, item.line.target}:
                self._at.setdefault(end, []).append(line_id)
        self._number_cases(fresh)
        return fresh

    def _number_cases(self, fresh: set[str]) -> None:
        cases: dict[str, int] = {}
        for edge in self._scene.workflow.edges:
            if isinstance(edge, SwitchEdge):
                cases.update({case.id: number for number, case in enumerate(edge.cases)})
                # The default leaves behind the last case.
                cases[default_id(edge.id)] = max(1, len(edge.cases))
        fresh.update(i for i in cases.keys() & self.items.keys() if cases[i] != self._cases.get(i))
        self._cases = cases

    def at(self, item_id: str) -> list[str]:
        """Ids of the lines that start or end at an item."""
        return self._at.get(item_id, [])

    # ---- where they run

    def follow(self, moved: Iterable[str], fresh: Iterable[str] = ()) -> None:
        """Routes again: the lines of these items (moved, resized, added or removed), lines that pass where they are,
        and ``fresh`` lines."""
        items = self._scene.items_by_id
        wanted = set(fresh)
        boxes: list[tuple[float, float, float, float]] = []
        for item_id in moved:
            item = items.get(item_id)
            self._blocks.drop(item_id)
            self._areas.drop(item_id)
            if item is None or isinstance(item, NoteItem):
                continue
            rect = item.rect
            (self._areas if isinstance(item, FrameItem) else self._blocks).put(item_id, rect)
            wanted.update(self.at(item_id))
            boxes.append((rect.left() - 16, rect.top() - 16, rect.right() + 16, rect.bottom() + 16))
        if len(boxes) > MOVED_BY_HAND:
            wanted = {i for i in wanted if i in fresh or not self._moved_as_one(i)}
        elif boxes:
            wanted.update(i for i, edge in self.items.items() if _crosses(edge.span, boxes))
            wanted |= self._tracks.keys()
        self._route_all([i for i in self.items if i in wanted])

    def _moved_as_one(self, line_id: str) -> bool:
        """Moves a line whose ends moved alike along as it is; returns whether that is so."""
        edge = self.items.get(line_id)
        if edge is None:
            return False
        start, end = self._ends(edge.line)
        points = edge.points
        x = start.x + (0.0 if start.side == "bottom" else start.gap) - points[0][0]
        y = start.y - points[0][1]
        if abs(end.x - end.gap - points[-1][0] - x) > 0.01 or abs(end.y - points[-1][1] - y) > 0.01:
            return False
        if x or y:
            edge.moveBy(x, y)
        return True

    def _route_all(self, line_ids: list[str]) -> None:
        if len(line_ids) <= AT_ONCE:
            for line_id in line_ids:
                self._route(line_id)
            return
        for line_id in line_ids:
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
        self.place_chips()

    def _on_timer_timeout(self) -> None:
        clock = QElapsedTimer()
        clock.start()
        routed = bool(self._todo)
        while self._todo and clock.elapsed() < SLICE_MS:
            self._route(self._todo.popleft())
        while self._repaint and clock.elapsed() < SLICE_MS:
            self._redraw(self._repaint.popleft())
        if routed and not self._todo:
            self.place_chips()
        if not self._todo and not self._repaint:
            self._timer.stop()

    def _redraw(self, line_id: str) -> None:
        edge = self.items.get(line_id)
        if edge is not None:
            edge.redraw()

    def _ends(self, line: Line) -> tuple[routing.End, routing.End]:
        items = self._scene.items_by_id
        start = items[line.source].out_end(self._case(line))
        return start, items[line.target].in_end(start.y)

    def _case(self, line: Line) -> int:
        return self._cases.get(line.id, 0) if line.kind in ("case", "default") else 0

    def _plain(self, line_id: str) -> None:
        edge = self.items.get(line_id)
        if edge is not None and not self._bent(edge, *self._ends(edge.line)):
            edge.set_points(routing.two_bends(*self._ends(edge.line)))

    def _bent(self, edge: EdgeItem, start: routing.End, end: routing.End) -> bool:
        """Leads a line through the bends that it has in the document; returns whether it has any."""
        bends = bends_of(self._scene.workflow, edge.line.id)
        if bends:
            edge.set_points(routing.through(start, end, bends), bends)
        return bool(bends)

    def lead(self, line_id: str, bends: routing.Points) -> None:
        """Shows a line through these points, while one is dragged."""
        edge = self.items[line_id]
        ends = self._ends(edge.line)
        edge.set_points(routing.through(*ends, bends) if bends else routing.two_bends(*ends), bends)
        self._place(line_id)

    def _route(self, line_id: str) -> None:
        edge = self.items.get(line_id)
        if edge is None:
            return
        line = edge.line
        start, end = self._ends(line)
        free = frozenset((line.source, line.target))
        self._tracks.pop(line_id, None)
        if self._bent(edge, start, end):
            return
        if line.source == line.target:
            edge.set_points(routing.self_loop(start, end, self._scene.items_by_id[line.source].rect.bottom()))
            return
        below = None
        if routing.is_back(start, end):
            below = self._below(line, start, end)
        points = routing.around(start, end, self._blocks, free, below)
        if below is not None and any(y == below for _, y in points):
            self._tracks[line_id] = (end.x - 24, start.x + 24, below)
        edge.set_points(points)

    def _below(self, line: Line, start: routing.End, end: routing.End) -> float:
        """A free level under what a back edge passes, apart from other back edges."""
        items = self._scene.items_by_id
        left, right = end.x - end.gap - routing.STUB, start.x + start.gap + routing.STUB
        bottoms = [items[i].rect.bottom() for i in (line.source, line.target)]
        level = max(bottoms) + routing.BELOW
        nothing: frozenset[str] = frozenset()
        for _ in range(200):
            box = self._blocks.hit(left, level - 40, right, level + 8, nothing) or self._areas.hit(
                left, level - 40, right, level + 8, nothing
            )
            if box is None:
                break
            level = box[4] + routing.BELOW
        for _ in range(200):
            if not any(a < right and b > left and abs(y - level) < routing.TRACK for a, b, y in self._tracks.values()):
                break
            level += routing.TRACK
        return level

    # ---- while something is dragged

    def drag(self, ids: frozenset[str], dx: float, dy: float) -> None:
        """Items moved by a step: lines inside follow as they are, the others become plain."""
        for line_id in {line for i in ids for line in self.at(i)}:
            edge = self.items[line_id]
            if edge.line.source in ids and edge.line.target in ids:
                edge.moveBy(dx, dy)
                for pill in (False, True):
                    chip = self.chips.get((line_id, pill))
                    if chip is not None:
                        chip.moveBy(dx, dy)
            else:
                self._plain(line_id)
                self._place(line_id)

    # ---- how they look

    def show_states(self) -> None:
        """Colours and chips from run and problems."""
        workspace = self._scene.workspace
        if workspace is None:
            return
        states = line_states(self.lines, workspace.run, workspace.problems.problems)
        arrived = [
            i for i, s in states.items() if s.delivered and i in self.items and not self.items[i].state.delivered
        ]
        for line_id, edge in self.items.items():
            edge.set_state(states.get(line_id, IDLE))
        self._sync_chips()
        if arrived:
            self._scene.messages_arrived.emit(arrived)

    def show_level(self) -> None:
        """The level changed: other paths, other chips."""
        level = self._scene.look.level
        if level == Level.FAR:
            return
        other = (level <= Level.FLAT) != (self._level <= Level.FLAT)
        for edge in self.items.values():
            if other or edge.stale:
                edge.redraw()
        self._level = level
        self.show_chips()

    def refresh_look(self) -> None:
        """The theme changed."""
        for edge in self.items.values():
            edge.redraw()
        for key in list(self.chips):
            self._scene.removeItem(self.chips.pop(key))
        self._specs.clear()
        self._sync_chips()
        self.place_chips()

    def _sync_chips(self) -> None:
        wanted = chip_specs(self.items, self._cases)
        for key in [k for k in self.chips if k not in wanted]:
            self._scene.removeItem(self.chips.pop(key))
            self._specs.pop(key, None)
        for key, spec in wanted.items():
            if self._specs.get(key) == spec:
                continue
            self._specs[key] = spec
            text, chip = spec.made(self._scene.look.theme), self.chips.get(key)
            if chip is None:
                chip = self.chips[key] = ChipItem(key[0], text, self._scene.look, pill=key[1])
                self._scene.addItem(chip)
            else:
                chip.show_chip(text)
            self._place(key[0])
        self.show_chips()

    def show_chips(self) -> None:
        """Which chips are there at this level."""
        level = self._scene.look.level
        for (line_id, pill), chip in self.chips.items():
            edge = self.items[line_id]
            told = edge.selected or edge.hovered or edge.state.delivered or bool(edge.state.refused or edge.state.fault)
            chip.setVisible(level == Level.NEAR or (level == Level.MIDDLE and (pill or told)))

    def place_chips(self) -> None:
        """Puts all chips on their lines."""
        for line_id in {key[0] for key in self.chips}:
            self._place(line_id)

    def _place(self, line_id: str) -> None:
        edge = self.items[line_id]
        pill, label = self.chips.get((line_id, True)), self.chips.get((line_id, False))
        taken = 0.0
        if pill is not None:
            x, y = routing.pill_spot(edge.points, pill.chip.width)
            first = abs(edge.points[1][0] - edge.points[0][0]) + abs(edge.points[1][1] - edge.points[0][1])
            if label is not None and first > pill.chip.width + label.chip.width + 16:
                (ax, ay), (bx, by) = edge.points[0], edge.points[1]
                part = (pill.chip.width / 2 + 6) / first
                x, y = ax + (bx - ax) * part, ay + (by - ay) * part
                taken = pill.chip.width + 12
            pill.setPos(x, y)
        if label is not None:
            spot = routing.label_spot(edge.points, label.chip.width, taken)
            label.setPos(QPointF(*self._free_spot(edge, label, spot)))

    def _free_spot(self, edge: EdgeItem, label: ChipItem, spot: tuple[float, float]) -> tuple[float, float]:
        """This spot if a label there hides no card, end, or other label of the same source; else one beside the line
        that is free; else this one."""
        if len(self.at(edge.line.source)) > MANY_LABELS:
            return spot
        width, height = label.chip.width * WIDEST, label.chip.height * WIDEST
        others = [c.rect for i in self.at(edge.line.source) for c in self._chips_of(i) if c is not label]
        (ax, ay), (bx, by) = edge.points[0], edge.points[-1]
        others += [QRectF(ax - 5, ay - 5, 10, 10), QRectF(bx - 12, by - 6, 16, 12)]
        nothing: frozenset[str] = frozenset()
        for x, y in (spot, *routing.spots_beside(edge.points, width, height)):
            box = QRectF(x - width / 2, y - height / 2, width, height)
            if any(box.intersects(other) for other in others):
                continue
            if self._blocks.hit(box.left(), box.top(), box.right(), box.bottom(), nothing) is None:
                return x, y
        return spot

    def _chips_of(self, line_id: str) -> list[ChipItem]:
        return [self.chips[line_id, pill] for pill in (False, True) if (line_id, pill) in self.chips]


def _crosses(span: tuple[float, float, float, float], boxes: Sequence[tuple[float, float, float, float]]) -> bool:
    left, top, right, bottom = span
    return any(b[0] <= right and b[2] >= left and b[1] <= bottom and b[3] >= top for b in boxes)
