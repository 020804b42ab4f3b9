"""What is shown of a run: views folded frame by frame, the state of the session, the tree of branches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QObject, Signal

from studio.agents.messages import Usage
from studio.bridge.branch_tree import BranchTree
from studio.bridge.event_pump import EventPump
from studio.bridge.folding import RunViews
from studio.bridge.queued_views import queued_views
from studio.bridge.run_setup import RunSetup
from studio.bridge.run_views import (
    BranchView,
    CheckpointView,
    InvocationView,
    MessageView,
    NodeView,
    OutputView,
    QueuedView,
    RequestView,
    SuperstepView,
)
from studio.debugger.forks import QueueEdits
from studio.debugger.session import RunSession
from studio.debugger.states import ENDED, HALTED, RunState
from studio.debugger.wording import state_sentence
from studio.document.model import Node, Workflow
from studio.engine.events import CheckpointSaved, Event


class ShownRun(QObject):
    """The reading half of :class:`studio.bridge.run_model.RunModel`.

    Attributes are replaced or changed in place before ``updated`` or ``state_changed``; read them, never change them.
    """

    state_changed = Signal()
    """Run state, sentence or which commands apply changed."""
    updated = Signal(object)
    """RunUpdate, at most once per frame."""
    breakpoints_changed = Signal()
    """Breakpoints, pins, muted nodes or mocked tools changed."""
    failed_to_start = Signal(str)
    """A run could not start, or a command could not be carried out; a whole sentence with the way out."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.state = RunState.IDLE
        self.sentence = state_sentence(RunState.IDLE, superstep=0)
        """The state chip: "Pausing: waits for Writer", "Paused before superstep 4 — breakpoint on Join"."""
        self.paused_at: str | None = None
        """Node whose breakpoint holds the run."""
        self.next_superstep = 0
        """The superstep that a paused run does next, or in which a breakpoint holds it; 0: it is not paused."""
        self.branch: str | None = None
        """Branch that is shown."""
        self.here: str | None = None
        """The checkpoint that the shown state comes from."""
        self.queued: list[QueuedView] = []
        self.setup = RunSetup(self)
        """Breakpoints, pins, muted nodes and mocked tools."""
        self.breakpoints: frozenset[str] = frozenset()
        """Nodes with an enabled breakpoint."""
        self.setup.changed.connect(self._on_setup_changed)
        self._tree = BranchTree()
        self.checkpoints: list[CheckpointView] = self._tree.checkpoints
        self.branches: list[BranchView] = self._tree.branches
        self._show(RunViews())
        self._session: RunSession | None = None
        self._pinned: Workflow | None = None
        self._edits = QueueEdits()
        self.drafts: dict[str, str] = {}
        """Texts typed for queued messages that are not edits yet, by message; a fork from their moment takes them."""
        self.answer_drafts: dict[str, Any] = {}
        """Answers that were begun and not sent, JSON values by request; kept in the store."""
        self._usage_before: Usage | None = None
        """What the way to the beginning of the session used."""
        self._state_pending = False
        self._queue_pending = False
        self._everything_pending = False
        self._pump = EventPump(self._fold, self._on_frame_done, self)

    def _show(self, views: RunViews) -> None:
        self._views = views
        self.nodes: dict[str, NodeView] = views.nodes
        self.invocations: dict[str, InvocationView] = views.invocations
        self.supersteps: list[SuperstepView] = views.supersteps
        self.messages: list[MessageView] = views.messages
        self.outputs: list[OutputView] = views.outputs
        self.requests: list[RequestView] = views.requests
        self.shared_state: dict[str, Any] = views.shared_state
        self.state_history = views.state_history
        self.events: Sequence[Event] = views.events

    def as_run(self, node: str) -> Node | None:
        """A node as the run of this session has it; None where that is not known."""
        return self._pinned.node(node) if self._pinned is not None else None

    @property
    def held_by(self) -> frozenset[str]:
        """Ids of the breakpoints that hold the run."""
        return self._session.held_by if self._session is not None else frozenset()

    @property
    def held_nodes(self) -> tuple[str, ...]:
        """The drawn nodes whose invocations wait at a breakpoint or a step: what else the queue led to has run."""
        held = self._session.held if self._session is not None else ()
        return tuple(dict.fromkeys(one.node.split("/")[0] for one in held))

    @property
    def held_failures(self) -> tuple[str, ...]:
        """The drawn nodes that failed and wait, before their superstep is given up, to be run again."""
        held = self._session.held if self._session is not None else ()
        return tuple(dict.fromkeys(one.node.split("/")[0] for one in held if one.at == "error"))

    @property
    def events_gone(self) -> int:
        """How many events are older than :attr:`events` goes back."""
        return self._views.events.gone

    @property
    def usage(self) -> Usage | None:
        """Of all model calls up to the moment that is shown; None if nobody reported any."""
        return self._views.usage

    @property
    def now(self) -> float:
        """Seconds of the run's time: its clock while it works, also where a node says nothing for long; else as far as
        its events tell."""
        told = self.events[-1].t if len(self.events) else 0.0
        session = self._session
        return told if session is None or session.state in (HALTED | ENDED) else max(told, session.clock())

    @property
    def seconds(self) -> float:
        """How long supersteps worked, waiting for answers and pauses left out; a running one counts up to now."""
        now = self.now
        return sum(step.worked(self.invocations, now) for step in self.supersteps)

    @property
    def waits(self) -> list[tuple[InvocationView, float]]:
        """Who waits before a refused model call is tried again, and the seconds that are left; the soonest first."""
        session = self._session
        if session is None or session.state in (HALTED | ENDED) or not self.supersteps:
            return []
        now = session.clock()
        views = (self.invocations[key] for key in self.supersteps[-1].invocations if key in self.invocations)
        found = [(v, v.next_try - now) for v in views if v.next_try is not None and v.status == "running"]
        return sorted(((view, left) for view, left in found if left > 0), key=lambda wait: wait[1])

    def _on_setup_changed(self) -> None:
        self.breakpoints = self.setup.breakpoints.places("node")
        self.breakpoints_changed.emit()

    def _on_session_changed(self) -> None:
        self._state_pending = True
        if not self._pump.pending:
            self._on_frame_done()

    def _fold(self, event: Event) -> None:
        self._views.fold(event)
        session = self._session
        if isinstance(event, CheckpointSaved) and session is not None:
            self.here = event.checkpoint
            self._tree.saved(event, session.record, session.signature)

    def _on_frame_done(self) -> None:
        rests = self._session is not None and (self._session.state in ENDED or self._session.state in HALTED)
        if self._state_pending and not (rests and self._pump.pending):  # an end or a halt is shown with its last events
            self._state_pending = False
            self._take_state()
        everything, self._everything_pending = self._everything_pending, False
        queue, self._queue_pending = self._queue_pending, False
        self.updated.emit(self._views.take_update(everything=everything, queued=queue, checkpoints=everything))

    def _take_state(self) -> None:
        session = self._session
        if session is None:
            return
        if session.recorded and self._tree.branch(session.record.id) is None:
            self._tree.begin(session.record)
            self.branch = session.record.id
            self._everything_pending = True
        if session.state in ENDED:
            self._views.settle()
            if session.state is RunState.FAILED and not session.recorded:
                self._session = None
                self._set_state(RunState.IDLE)
                self.failed_to_start.emit(session.failure)
                return
        self._update_tree(session, session.state.value)
        self._refresh_queue(session)
        self.next_superstep = session.superstep if session.state is RunState.PAUSED else 0
        self._set_state(session.state, session.sentence, session.paused_at)

    def _update_tree(self, session: RunSession, state: str) -> None:
        if session.recorded:
            usage = usage_since(self._usage_before, self._views.usage)
            self._tree.update(session.record, state, session.seconds, usage)

    def _refresh_queue(self, session: RunSession) -> None:
        queued = session.queued if session.state in HALTED else ()
        if queued or self.queued:
            self._queue_pending = True
            self._edits = self._edits if session.state is RunState.PAUSED else QueueEdits()
            self.queued = queued_views(queued, self._pinned, self._edits)

    def _set_state(self, state: RunState, sentence: str = "", paused_at: str | None = None) -> None:
        sentence = sentence or state_sentence(state, superstep=0)
        if state is not RunState.PAUSED:
            self.next_superstep = 0
        if (state, sentence, paused_at) != (self.state, self.sentence, self.paused_at):
            self.state, self.sentence, self.paused_at = state, sentence, paused_at
            self.state_changed.emit()


def usage_since(before: Usage | None, now: Usage | None) -> Usage | None:
    """What was used after ``before``; None if nothing was reported since."""
    if before is None or now is None or now == before:
        return None if now == before else now

    def since(then: int | None, value: int | None) -> int | None:
        return None if value is None else value - (then or 0)

    return Usage(
        since(before.input, now.input),
        since(before.output, now.output),
        since(before.cached, now.cached),
        since(before.reasoning, now.reasoning),
        now.partial,
        now.cost.since(before.cost) if now.cost is not None else None,
    )
