"""The scene of one workspace: an item per drawn thing, kept up to date from change sets, run and problems."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from PySide6.QtCore import QElapsedTimer, QObject, QRectF, QTimer, Signal
from PySide6.QtWidgets import QGraphicsScene

from studio.bridge.run_views import RunUpdate
from studio.bridge.workspace import Workspace
from studio.document.changes import ChangeSet
from studio.document.lines import lines as lines_of
from studio.document.model import Workflow
from studio.document.problems import Problem
from studio.ui.canvas.contents import Contents
from studio.ui.canvas.item import DrawnItem, Look
from studio.ui.canvas.junction_items import JunctionItem
from studio.ui.canvas.levels import Level
from studio.ui.canvas.line_layer import LineLayer
from studio.ui.canvas.node_item import NodeItem
from studio.ui.canvas.run_marks import next_steps
from studio.ui.theme import Theme

FRAME_MS = 16
MANY_MARKED = 200
"""When more than this is selected at once, lines out of sight are drawn later."""
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

    about_to_clear = Signal()
    """Everything goes: nobody may keep items of their own in the scene."""
    messages_arrived = Signal(list)
    """Ids of lines on which messages were just delivered."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.look = Look(theme)
        self.workspace: Workspace | None = None
        self.items_by_id: dict[str, DrawnItem] = {}
        self.contents = Contents(_EMPTY)
        self.line_layer = LineLayer(self)
        self.focus_id: str | None = None
        self.seen = QRectF()
        """What the view shows, in scene coordinates."""
        self.shows_problems = True
        """Off in pictures, which are about the drawing."""
        self._selected: frozenset[str] = frozenset()
        self._problems: Mapping[str, tuple[Problem, ...]] = {}
        self._pending = ChangeSet()
        self._pending_run = RunUpdate()
        self._problems_changed = False
        self._since = QElapsedTimer()
        self._since.start()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.flush)
        self._turning = QTimer(self)
        self._turning.setInterval(TURN_MS)
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
        self._pending_run = _merged(self._pending_run, update)
        self._schedule()

    def _on_run_state_changed(self) -> None:
        self._pending_run = _merged(self._pending_run, RunUpdate(everything=True))
        self._schedule()

    def _on_problems_changed(self) -> None:
        self._problems_changed = True
        self._schedule()

    def _schedule(self) -> None:
        if not self._timer.isActive():
            self._timer.start(max(0, FRAME_MS - self._since.elapsed()))

    # ---- following

    def flush(self) -> None:
        """Brings the items up to date now; by itself it happens within a frame."""
        self._timer.stop()
        changes, self._pending = self._pending, ChangeSet()
        update, self._pending_run = self._pending_run, RunUpdate()
        problems, self._problems_changed = self._problems_changed, False
        removed: set[str] = set()
        added: set[str] = set()
        if changes:
            self.contents = Contents(self.workflow)
            added, removed = self._sync_items(changes)
        moved = False
        if self.workspace is not None and (changes or problems or _concerns(update)):
            moved = self._fill(self.workspace, changes, update, added, removed)
        self._since.restart()
        self.refreshed.emit(bool(moved or added or removed or changes.everything))

    def _sync_items(self, changes: ChangeSet) -> tuple[set[str], set[str]]:
        """Adds and removes items; returns which."""
        wanted = self.contents.by_id
        if changes.everything:
            self.about_to_clear.emit()
            self.clear()
            self.items_by_id.clear()
            self.line_layer.reset()
            self._selected = frozenset()
            self._problems = {}
        removed = {i for i, item in self.items_by_id.items() if i not in wanted or not self.contents.suits(item)}
        for item_id in removed:
            self.removeItem(self.items_by_id.pop(item_id))
        added = {i for i in wanted if i not in self.items_by_id}
        for item_id in wanted:
            if item_id in added:
                item = self.items_by_id[item_id] = self.contents.made(item_id, self.look)
                self.addItem(item)
        if self.focus_id not in self.items_by_id and self.focus_id not in self.line_layer.items:
            self.focus_id = None
        return added, removed

    def _fill(
        self, workspace: Workspace, changes: ChangeSet, update: RunUpdate, added: set[str], removed: set[str]
    ) -> bool:
        """Contents, lines and chips of what changed; returns whether anything moved."""
        edges = changes.edges_added | changes.edges_removed | changes.edges_changed
        ends = self._ends_of(edges)
        fresh: set[str] = set()
        if changes.everything or edges or added or removed:
            fresh = self.line_layer.set_lines(self.contents.shown_lines(lines_of(self.workflow)))
            ends |= self._ends_of(edges)
        fresh |= changes.placed & self.line_layer.items.keys()
        before, self._problems = self._problems, _by_place(workspace.problems.problems if self.shows_problems else ())
        if changes.everything or update.everything or changes.workflow & _ON_CARDS:
            shown = tuple(self.items_by_id)
        else:
            shown = tuple(self._touched(changes, update, added | ends, before) & self.items_by_id.keys())
        steps = next_steps(self.line_layer.lines, workspace.run)
        placed = set() if changes.everything else changes.placed & self.items_by_id.keys()
        self.bulk_changed.emit(len(shown) + len(placed))
        # What was dragged is there already; its lines and those around it are not.
        moved = placed | {
            i for i in shown if self.contents.show(self.items_by_id[i], workspace.run, self._problems, steps)
        }
        for item_id in placed - set(shown):
            self.contents.put(self.items_by_id[item_id])
        if changes or update.everything or update.nodes:
            moved |= self.contents.show_frames(self.items_by_id, workspace.run)
        if moved or fresh or added or removed:
            self.line_layer.follow(moved | added | removed, fresh)
        self.line_layer.show_states()
        if moved or fresh:
            self.line_layer.place_chips()
        self._mark_selection()
        self._turn()
        return bool(moved)

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
        touched |= {i for i in changes.placed if not isinstance(self.items_by_id.get(i), NodeItem)}
        now = self._problems
        touched |= {i for i in problems_before.keys() | now.keys() if problems_before.get(i) != now.get(i)}
        touched |= {self.contents.hidden[i] for i in touched & self.contents.hidden.keys()}
        if update.queued or update.supersteps or update.messages:
            touched |= {i for i, item in self.items_by_id.items() if _waits(item)}
            if self.workspace is not None:
                touched |= next_steps(self.line_layer.lines, self.workspace.run).keys()
        return touched

    # ---- look

    def set_zoom(self, zoom: float, level: Level, titles: bool) -> None:
        """The view's zoom changed."""
        look = self.look
        changed = level != look.level
        look.zoom, look.level, look.titles = zoom, level, titles
        if changed:
            self.line_layer.show_level()
        if level != Level.FAR and (changed or level <= Level.MIDDLE):
            for item in self.items_by_id.values():
                item.update()

    def refresh_look(self) -> None:
        """The theme changed."""
        for item in self.items_by_id.values():
            item.refresh_look()
        self.line_layer.refresh_look()
        self.refreshed.emit(True)

    # ---- selection and focus

    def show_selection(self) -> None:
        """Marks what is selected."""
        self._mark_selection()
        self.refreshed.emit(False)

    def _mark_selection(self) -> None:
        if self.workspace is None:
            return
        selection = self.workspace.selection
        wanted = frozenset(selection.items)
        changed = wanted ^ self._selected
        self.bulk_changed.emit(len(changed))
        later = self._mark_unseen(changed, wanted) if len(changed) > MANY_MARKED else frozenset()
        for item_id in changed - later:
            self.mark_selected(item_id, item_id in wanted)
        for item_id in wanted - changed:
            self.mark_selected(item_id, True)
        self._selected = wanted
        looked_at = next((q for q in self.workspace.run.queued if q.message == selection.message), None)
        for (line_id, pill), chip in self.line_layer.chips.items():
            edge = self.line_layer.items[line_id]
            on_message = pill and looked_at is not None and looked_at.source == edge.line.source
            chip.mark(on_message or (not pill and edge.selected))
        self.line_layer.show_chips()

    def _mark_unseen(self, changed: frozenset[str], wanted: frozenset[str]) -> frozenset[str]:
        """Marks lines that are out of sight now and draws them soon; returns which."""
        seen = self.seen
        left, top, right, bottom = seen.left(), seen.top(), seen.right(), seen.bottom()
        found: list[str] = []
        for line_id in changed:
            edge = self.line_layer.items.get(line_id)
            if edge is None:
                continue
            span = edge.span
            if span[0] > right or span[2] < left or span[1] > bottom or span[3] < top:
                found.append(line_id)
                edge.setZValue(2.5 if line_id in wanted else 2.0)
                edge.mark_later("selected", line_id in wanted)
        self.line_layer.redraw_later(found)
        return frozenset(found)

    def mark_selected(self, item_id: str, on: bool) -> None:
        """Shows an item or line as selected; the selection model decides what is."""
        item = self.items_by_id.get(item_id)
        if item is not None:
            item.mark("selected", on)
            return
        edge = self.line_layer.items.get(item_id)
        if edge is not None:
            edge.mark("selected", on)
            edge.setZValue(2.5 if on else 2.0)

    def set_focus_id(self, item_id: str | None) -> None:
        """Moves the keyboard focus inside the canvas."""
        for old, on in ((self.focus_id, False), (item_id, True)):
            item = self.items_by_id.get(old or "")
            if item is not None:
                item.mark("focused", on)
            edge = self.line_layer.items.get(old or "")
            if edge is not None:
                edge.mark("hovered", on)
        self.focus_id = item_id

    def bounds(self, ids: Iterable[str] | None = None) -> QRectF:
        """The rectangle around these items and lines, or around everything."""
        box = QRectF()
        for item_id in self.items_by_id if ids is None else ids:
            if item_id in self.items_by_id:
                box = box.united(self.items_by_id[item_id].rect)
            elif item_id in self.line_layer.items:
                left, top, right, bottom = self.line_layer.items[item_id].span
                box = box.united(QRectF(left, top, max(1.0, right - left), max(1.0, bottom - top)))
        if ids is None:
            for edge in self.line_layer.items.values():
                left, top, right, bottom = edge.span
                box = box.united(QRectF(left, top, right - left, bottom - top))
        return box

    # ---- running arcs

    def _turn(self) -> None:
        running = any(isinstance(i, NodeItem) and i.card.status == "running" for i in self.items_by_id.values())
        if running and not self._turning.isActive():
            self._turning.start()
        elif not running:
            self._turning.stop()

    def _on_turning_timeout(self) -> None:
        self.look.phase = (self.look.phase + 1 / TURN_STEPS) % 1.0
        if self.look.level <= Level.FLAT:
            return
        for item in self.items_by_id.values():
            if isinstance(item, NodeItem) and item.card.status == "running" and self.seen.intersects(item.rect):
                item.update()


def _by_place(problems: Iterable[Problem]) -> dict[str, tuple[Problem, ...]]:
    found: dict[str, tuple[Problem, ...]] = {}
    for problem in problems:
        found[problem.place] = (*found.get(problem.place, ()), problem)
    return found


def _waits(item: DrawnItem) -> bool:
    """Whether an item shows something about queued messages."""
    return isinstance(item, JunctionItem) or (isinstance(item, NodeItem) and bool(item.card.note))


def _concerns(update: RunUpdate) -> bool:
    return bool(update.nodes or update.queued or update.supersteps or update.messages or update.everything)


def _merged(a: RunUpdate, b: RunUpdate) -> RunUpdate:
    return RunUpdate(
        nodes=a.nodes | b.nodes,
        supersteps=a.supersteps | b.supersteps,
        messages=a.messages or b.messages,
        queued=a.queued or b.queued,
        everything=a.everything or b.everything,
    )
