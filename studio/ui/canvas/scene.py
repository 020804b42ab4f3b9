"""The scene of one workspace: an item per drawn thing, kept up to date from change sets, run and problems."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Set

from PySide6.QtCore import QElapsedTimer, QObject, QRectF, QTimer, Signal
from PySide6.QtWidgets import QGraphicsScene

from studio.bridge.run_views import RunUpdate
from studio.bridge.workspace import Workspace
from studio.document.changes import ChangeSet
from studio.document.lines import lines
from studio.document.model import Workflow
from studio.document.problems import Problem
from studio.ui.canvas.contents import Contents
from studio.ui.canvas.edge_item import EdgeItem
from studio.ui.canvas.item import DrawnItem, Look
from studio.ui.canvas.junction_items import JunctionItem
from studio.ui.canvas.levels import Level
from studio.ui.canvas.line_layer import LineLayer
from studio.ui.canvas.node_item import NodeItem
from studio.ui.canvas.run_marks import concerns, merged, next_steps
from studio.ui.theme import Theme
from studio.ui.widgets.slices import FIRST_MS, PIECE, Slices, at_once

FRAME_MS = 16
MANY_MARKED = 200
"""When more than this is selected at once, what is out of sight is marked later."""
UNSEEN_MS = 120
"""So long after a selection in the far picture, which needs no items, they are marked."""
LARGE = 200
"""A change of more ids than this is large: the far picture shows it before the items do."""
TURN_MS, TURN_STEPS = 40, 30
"""A running ring turns once in 1.2 s, in 30 steps."""
_EMPTY = Workflow(id="empty")
_ON_CARDS = frozenset({"start", "outputs", "modules"})
"""Fields of the workflow that cards show."""


class CanvasScene(QGraphicsScene):
    """Items by id of the document; it holds no facts, only pictures of them."""

    bulk_changed = Signal(int)
    """How many items are about to change; the view chooses its update mode."""
    refreshed = Signal(bool)
    """Items follow document, run, problems or selection again; True: places, sizes or what there is changed."""
    selected = Signal(object)
    """Ids of what is selected now, a frozenset."""
    touched = Signal(object)
    """Before that: ids of items and lines that look another way or are elsewhere; None: all of them."""
    foreseen = Signal()
    """A large change is shown by the far picture alone; the items will follow."""

    about_to_clear = Signal()
    """Everything goes: nobody may keep items of their own in the scene."""
    messages_arrived = Signal(list)
    """Ids of lines on which messages were just delivered."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.look = Look(theme)
        self.workspace: Workspace | None = None
        self.drawn: dict[str, DrawnItem] = {}
        """The items that are there, while some may still come or go; others ask for :attr:`items_by_id`."""
        self.later = Slices(self)
        """What is done in later turns of the loop after a large change."""
        self.foresee: Callable[[ChangeSet, Workflow], bool] | None = None
        """Shows a large change before the items do; returns whether it can."""
        self.marking = Slices(self)
        """Marks of many selected items that nobody sees now."""
        self._unmarked: set[str] = set()
        self._marks_follow = False
        self.absorb: Callable[[Iterable[str]], Iterator[None]] | None = None
        """Has the far picture look at items again that it showed before they were there."""
        self._parked: dict[str, DrawnItem] = {}
        """Items of the last large deletion: undo shows them again."""
        self.contents = Contents(_EMPTY)
        self.line_layer = LineLayer(self)
        self.focus_id: str | None = None
        self.seen = QRectF()
        """What the view shows, in scene coordinates."""
        self.shows_problems = True
        """Off in pictures, which are about the drawing."""
        self._selected: frozenset[str] = frozenset()
        self._box: QRectF | None = None
        """The rectangle around everything; None: to be found again."""
        self._problems: Mapping[str, tuple[Problem, ...]] = {}
        self._hidden: Mapping[str, str] = {}
        self._pending = ChangeSet()
        self._pending_run = RunUpdate()
        self._problems_changed = False
        self._since = QElapsedTimer()
        self._since.start()
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.flush)
        self._turning = QTimer(self, interval=TURN_MS)
        self._turning.timeout.connect(self._on_turning_timeout)

    @property
    def workflow(self) -> Workflow:
        """The document that is shown; an empty one without a workspace."""
        return self.workspace.document.workflow if self.workspace else _EMPTY

    # ---- workspace

    def set_workspace(self, workspace: Workspace | None) -> None:
        """Shows another workspace, or nothing."""
        if self.workspace is not None:
            self._connect(self.workspace, on=False)
        self.workspace = workspace
        self.focus_id = None
        if workspace is not None:
            self._connect(workspace, on=True)
        self._pending = ChangeSet(everything=True)
        self.flush()

    def _connect(self, workspace: Workspace, *, on: bool) -> None:
        run = workspace.run
        for signal, slot in (
            (workspace.document.changed, self._on_document_changed),
            (run.updated, self._on_run_updated),
            (run.state_changed, self._on_run_state_changed),
            (run.breakpoints_changed, self._on_run_state_changed),
            (workspace.problems.changed, self._on_problems_changed),
            (workspace.selection.changed, self.show_selection),
        ):
            if on:
                signal.connect(slot)
            else:
                signal.disconnect(slot)

    def _on_document_changed(self, changes: ChangeSet) -> None:
        self._pending = self._pending | changes
        self._schedule()

    def _on_run_updated(self, update: RunUpdate) -> None:
        self._pending_run = merged(self._pending_run, update)
        self._schedule()

    def _on_run_state_changed(self) -> None:
        self._pending_run = merged(self._pending_run, RunUpdate(everything=True))
        self._schedule()

    def _on_problems_changed(self) -> None:
        self._problems_changed = True
        self._schedule()

    def _schedule(self) -> None:
        if not self._timer.isActive():
            self._timer.start(max(0, FRAME_MS - self._since.elapsed()))

    # ---- following

    @property
    def items_by_id(self) -> dict[str, DrawnItem]:
        """The items; brings up to date first what would be later."""
        self.later.finish()
        return self.drawn

    def flush(self) -> None:
        """Brings the items up to date now; by itself it happens within a frame.

        In the far picture a large change is shown at once, and the items follow in later turns of the loop."""
        self._timer.stop()
        changes, self._pending = self._pending, ChangeSet()
        update, self._pending_run = self._pending_run, RunUpdate()
        problems, self._problems_changed = self._problems_changed, False
        self._since.restart()
        if self.look.down != (self.workflow.flow == "down"):
            self.look.down = not self.look.down
            changes |= ChangeSet(everything=True)  # every port is on another side
        far = self.look.level == Level.FAR and not changes.everything and changes.size > LARGE
        if far and self.foresee is not None and self.foresee(changes, self.workflow):
            self.later.add(self._following(changes, update, problems=problems, foreseen=True))
            self.foreseen.emit()
            return
        self.later.finish()
        at_once(self._following(changes, update, problems=problems))

    def _following(
        self, changes: ChangeSet, update: RunUpdate, *, problems: bool, foreseen: bool = False
    ) -> Iterator[None]:
        removed: set[str] = set()
        added: set[str] = set()
        touched: set[str] = set()
        moved = False
        if changes:
            only_placed = changes == ChangeSet(placed=changes.placed)
            self.contents = self.contents.moved(self.workflow) if only_placed else Contents(self.workflow)
            yield
            if not only_placed or self.workflow.groups:
                yield from self._sync_items(changes, added, removed)
        if self.workspace is not None and (changes or problems or concerns(update)):
            moved = yield from self._fill(self.workspace, changes, update, added, removed, touched)
        self._box = None if moved or added or removed or changes.everything or changes.placed else self._box
        touched |= added | removed
        if foreseen and self.absorb is not None:
            yield from self.absorb(touched)
            touched = set()
        self.touched.emit(None if changes.everything or update.everything else touched)
        self.refreshed.emit(bool(moved or added or removed or changes.everything))

    def _sync_items(self, changes: ChangeSet, added: set[str], removed: set[str]) -> Iterator[None]:
        """Adds and removes items, and says which."""
        if changes.everything:
            self.about_to_clear.emit()
            self.clear()
            self.drawn.clear()
            self.line_layer.reset()
            self._selected = frozenset()
            self._problems, self._parked = {}, {}
        wanted, groups = self.contents.by_id, bool(self.workflow.groups)
        removed |= {i for i in self.drawn if i not in wanted or (groups and not self.contents.suits(self.drawn[i]))}
        if len(removed) > LARGE:
            self._parked = {}
        for number, item_id in enumerate(tuple(removed)):
            if number % PIECE == 0:
                yield
            item = self.drawn.pop(item_id)
            self.removeItem(item)
            if len(removed) > LARGE:
                self._parked[item_id] = item
        added |= {i for i in wanted if i not in self.drawn}
        for number, item_id in enumerate([i for i in wanted if i in added]):
            if number % PIECE == 0:
                yield
            self._add(item_id)
        if self.focus_id not in self.drawn and self.focus_id not in self.line_layer.drawn:
            self.focus_id = None

    def _add(self, item_id: str) -> None:
        item = self._parked.pop(item_id, None)
        if item is None or type(item) is not self.contents.class_of(item_id):
            item = self.contents.made(item_id, self.look)
        else:
            item.revive()
        self.drawn[item_id] = item
        self.addItem(item)

    def _fill(
        self,
        workspace: Workspace,
        changes: ChangeSet,
        update: RunUpdate,
        added: set[str],
        removed: set[str],
        touched: set[str],
    ) -> Generator[None, None, bool]:
        """Contents, lines and chips of what changed; returns whether anything moved."""
        edges = changes.edges_added | changes.edges_removed | changes.edges_changed
        ends = self._ends_of(edges)
        fresh: set[str] = set()
        if self._other_lines(added, removed) or changes.everything or edges or changes.groups:  # the first always asked
            fresh = yield from self.line_layer.set_lines(self.contents.shown_lines(lines(self.workflow)))
            ends |= self._ends_of(edges)
        fresh |= changes.placed & self.line_layer.drawn.keys()
        before = self._problems
        self._problems = workspace.problems.by_place if self.shows_problems else {}
        if changes.everything or update.everything or changes.workflow & _ON_CARDS:
            shown = tuple(self.drawn)
        else:
            shown = tuple(self._touched(changes, update, added | ends, before) & self.drawn.keys())
        placed = changes.placed & self.drawn.keys() if not changes.everything else frozenset()
        touched.update(shown, placed)
        self.bulk_changed.emit(len(shown) + len(placed))
        # What was dragged is there already; its lines and those around it are not.
        moved = set(placed)
        yield from self._show(workspace, shown, placed, moved)
        if changes or update.everything or update.nodes:
            moved |= self.contents.show_frames(self.drawn, workspace.run)
        if moved or fresh or added or removed:
            yield from self.line_layer.follow_slowly(moved | added | removed, fresh)
        relabelled = self.line_layer.show_states(fresh)
        if moved or fresh:
            self.line_layer.labels.place(self.line_layer.touched | relabelled)
        touched |= moved | self.line_layer.taken_touched()
        self._mark_selection(touched)
        self._turn(workspace)
        return bool(moved)

    def _other_lines(self, added: Set[str], removed: Set[str]) -> bool:
        """Whether other lines are shown now although no edge changed; collapsed groups hide those inside them."""
        before, self._hidden = self._hidden, self.contents.hidden
        return before != self._hidden or self.line_layer.concern(added, removed)

    def _show(self, workspace: Workspace, shown: Iterable[str], placed: Set[str], moved: set[str]) -> Iterator[None]:
        """Fills these items, and puts those that are only somewhere else where they are."""
        steps = next_steps(self.line_layer.lines, workspace.run)
        for number, item_id in enumerate(shown):
            if number % PIECE == 0:
                yield
            if self.contents.show(self.drawn[item_id], workspace.run, self._problems, steps):
                moved.add(item_id)
        for number, item_id in enumerate(placed - set(shown)):
            if number % PIECE == 0:
                yield
            self.contents.put(self.drawn[item_id])

    def _ends_of(self, edges: frozenset[str]) -> set[str]:
        """Items at the ends of these edge groups: their badges and labels depend on them."""
        found = [line for edge in edges for line in self.line_layer.lines.of(edge)]
        return {line.source for line in found} | {line.target for line in found} | set(edges)

    def _touched(
        self,
        changes: ChangeSet,
        update: RunUpdate,
        others: set[str],
        problems_before: Mapping[str, tuple[Problem, ...]],
    ) -> set[str]:
        """Ids of items whose content may be another one now."""
        touched = others | changes.nodes_changed | changes.notes | changes.groups | update.nodes
        touched |= {i for i in changes.placed if not isinstance(self.drawn.get(i), NodeItem)}
        now = self._problems
        if now is not problems_before:
            touched |= {i for i in problems_before.keys() | now.keys() if problems_before.get(i) != now.get(i)}
        if self.contents.hidden:
            touched |= {self.contents.hidden[i] for i in touched & self.contents.hidden.keys()}
        if update.queued or update.supersteps or update.messages:
            touched |= {i for i, item in self.drawn.items() if _waits(item)}
            if self.workspace is not None:
                touched |= next_steps(self.line_layer.lines, self.workspace.run).keys() & self.drawn.keys()
        return touched

    # ---- look

    def set_zoom(self, zoom: float, level: Level, titles: bool) -> None:
        """The view's zoom changed."""
        look = self.look
        if level != look.level:
            self.later.finish()
            self.marking.finish()
        changed = level != look.level
        look.zoom, look.level, look.titles = zoom, level, titles
        if changed:
            self.line_layer.show_level()
        if level != Level.FAR and (changed or level <= Level.MIDDLE):
            for item in self.drawn.values():
                item.update()

    def refresh_look(self) -> None:
        """The theme changed."""
        for item in self.items_by_id.values():
            item.refresh_look()
        self.line_layer.refresh_look()
        self.refreshed.emit(True)

    # ---- selection and focus

    def show_selection(self) -> None:
        """Marks what is selected. The keyboard focus does not stay behind when something else is selected."""
        chosen = self.workspace.selection.items if self.workspace is not None else ()
        if chosen and self.focus_id is not None and self.focus_id not in chosen:
            self.set_focus_id(None)
        self._mark_selection()
        self.refreshed.emit(False)

    def _mark_selection(self, again: Set[str] = frozenset()) -> None:
        """Marks what is selected now; ``again``: items that may be new."""
        if self.workspace is None:
            return
        wanted = self.workspace.selection.ids
        if wanted is self._selected:
            changed: frozenset[str] = frozenset()  # asked again by every change of a run
        else:
            changed = wanted ^ self._selected if self._selected else wanted
        self._selected = wanted
        self.selected.emit(wanted)
        self.bulk_changed.emit(len(changed))
        self._unmarked |= changed
        now = self._seen_of(changed) if len(changed) > MANY_MARKED else changed
        self._mark(now | (wanted & again))
        if self._unmarked and not self._marks_follow:
            self._marks_follow = True
            self.marking.add(self._mark_slowly(), UNSEEN_MS if self.look.level == Level.FAR else FIRST_MS)
        self._mark_pills()

    def _mark(self, ids: Iterable[str]) -> None:
        for item_id in ids:
            self.mark_selected(item_id, item_id in self._selected)
        self._unmarked.difference_update(ids)

    def _mark_slowly(self) -> Iterator[None]:
        try:
            while self._unmarked:
                self._mark([self._unmarked.pop() for _ in range(min(PIECE, len(self._unmarked)))])
                yield
        finally:
            self._marks_follow = False

    def _seen_of(self, ids: frozenset[str]) -> frozenset[str]:
        """Those of many items and lines that the view shows; none in the far picture, which needs no items."""
        if self.look.level == Level.FAR:
            return frozenset()
        found = (i.item_id if isinstance(i, DrawnItem) else i.line.id if isinstance(i, EdgeItem) else ""
                 for i in self.items(self.seen))  # fmt: skip
        return ids.intersection(found)

    def _mark_pills(self) -> None:
        """The pill of the queued message that is looked at."""
        assert self.workspace is not None
        message = self.workspace.selection.message
        looked_at = next((q for q in self.workspace.run.queued if q.message == message), None)
        for (line_id, pill), chip in self.line_layer.chips.items():
            if pill:
                source = self.line_layer.drawn[line_id].line.source
                chip.mark(looked_at is not None and looked_at.source == source)

    def mark_selected(self, item_id: str, on: bool) -> None:
        """Shows an item or line as selected; the selection model decides what is."""
        item = self.drawn.get(item_id)
        if item is not None:
            item.mark("selected", on)
            return
        edge = self.line_layer.drawn.get(item_id)
        if edge is not None and edge.selected != on:
            edge.mark("selected", on)
            edge.setZValue(2.5 if on else 2.0)
            self.line_layer.labels.show((item_id,))
        chip = self.line_layer.chips.get((item_id, False))
        if chip is not None:
            chip.mark(on)

    def set_focus_id(self, item_id: str | None) -> None:
        """Moves the keyboard focus inside the canvas."""
        for old, on in ((self.focus_id, False), (item_id, True)):
            item = self.items_by_id.get(old or "")
            if item is not None:
                item.mark("focused", on)
            edge = self.line_layer.items.get(old or "")
            if edge is not None:
                edge.mark("hovered", on)
                self.line_layer.labels.show((edge.line.id,))
        self.focus_id = item_id

    def bounds(self, ids: Iterable[str] | None = None) -> QRectF:
        """The rectangle around these items and lines, or around everything."""
        if ids is None:
            self.later.finish()
            if self._box is None:
                self._box = _around((*self.drawn, *self.line_layer.drawn), self.drawn, self.line_layer.drawn)
            return QRectF(self._box)
        return _around(ids, self.items_by_id, self.line_layer.drawn)

    # ---- running arcs

    def _turn(self, workspace: Workspace) -> None:
        running = any(view.status == "running" for view in workspace.run.nodes.values())
        if running and not self._turning.isActive():
            self._turning.start()
        elif not running:
            self._turning.stop()

    def _on_turning_timeout(self) -> None:
        self.look.phase = (self.look.phase + 1 / TURN_STEPS) % 1.0
        if self.look.level <= Level.FLAT or self.workspace is None:
            return
        running = {i for i, view in self.workspace.run.nodes.items() if view.status == "running"}
        running |= {self.contents.hidden[i] for i in running & self.contents.hidden.keys()}
        for item_id in running:
            item = self.drawn.get(item_id)
            if item is not None and self.seen.intersects(item.rect):
                item.update()


def _around(ids: Iterable[str], items: Mapping[str, DrawnItem], lines: Mapping[str, EdgeItem]) -> QRectF:
    """The rectangle around items and lines; null if there are none of these."""
    left, top, right, bottom = math.inf, math.inf, -math.inf, -math.inf
    for item_id in ids:
        item = items.get(item_id)
        if item is not None:
            box, x, y = item.box, item.x(), item.y()
            span = (box.left() + x, box.top() + y, box.right() + x, box.bottom() + y)
        elif item_id in lines:
            span = lines[item_id].span
            span = (span[0], span[1], max(span[0] + 1.0, span[2]), max(span[1] + 1.0, span[3]))
        else:
            continue
        left, top, right, bottom = min(left, span[0]), min(top, span[1]), max(right, span[2]), max(bottom, span[3])
    return QRectF(left, top, right - left, bottom - top) if left <= right else QRectF()


def _waits(item: DrawnItem) -> bool:
    """Whether an item shows something about queued messages."""
    return isinstance(item, JunctionItem) or (isinstance(item, NodeItem) and bool(item.card.note))
