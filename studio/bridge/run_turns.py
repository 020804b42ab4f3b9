"""The turns of a run model: each goes to another moment, one after the other, and ends with a session or without."""

from __future__ import annotations

import asyncio
import time
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any
from uuid import uuid4

from PySide6.QtCore import QObject, QTimer, Signal

from studio.agents.messages import Usage
from studio.bridge.folding import RunViews
from studio.bridge.owned_tasks import OwnedTasks
from studio.bridge.refusals import Refusals
from studio.bridge.run_services import RunServices
from studio.bridge.run_views import BranchView, RunUpdate
from studio.bridge.shown_run import ShownRun
from studio.checkpoints import Checkpoint, CheckpointNotFound, RunRecord, RunStore
from studio.debugger.answers import ValueProblem, input_value
from studio.debugger.branches import replay
from studio.debugger.comparison import Comparison, drift_of, old_document
from studio.debugger.forks import QueueEdits
from studio.debugger.holds import Stop
from studio.debugger.mapping import MappingProblem, NodeMapping, mapped
from studio.debugger.recorded_runs import changed_nodes, recorded_after
from studio.debugger.recording import Recording, Tape
from studio.debugger.run_usage import usage_of
from studio.debugger.session import Beginning, RunSession, SessionSetup
from studio.debugger.states import ENDED, HALTED, INTERRUPTED, RunState
from studio.document.lines import path_names
from studio.document.model import Workflow

_RESTS_AFTER_MS = 300
"""Milliseconds after the last edit at which the drawing counts as at rest."""


class RunTurns(ShownRun):
    """The writing half of :class:`studio.bridge.run_model.RunModel` below its commands."""

    mapping_needed = Signal(str)
    """A branch can only go on from this checkpoint once somebody maps its nodes to those of the drawing."""

    def __init__(self, services: RunServices | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self._store: RunStore | None = None
        self._last_input = ""
        self._moving = False
        self._comparisons: dict[str, Comparison] = {}
        self._comparing: set[str] = set()
        self._compared_with: Workflow | None = None
        self._drawing_timer = QTimer(self)
        self._drawing_timer.setSingleShot(True)
        self._drawing_timer.setInterval(_RESTS_AFTER_MS)
        self._drawing_timer.timeout.connect(self._on_drawing_timer_timeout)
        self._unwritten: list[Callable[[RunStore], Awaitable[None]]] = []
        self._typed: list[Callable[[], object]] = []
        """What shows again in the tree that is not written yet, in the order it was typed."""
        self._tree.read = self._show_typed
        self._usages: dict[str, Usage | None] = {}
        self._tree.usage_of = self._usage_of
        self._tasks = OwnedTasks(self._fail)
        if services is not None:
            self._open(services)

    def _open(self, services: RunServices) -> None:
        self.setup.open(services.document().id, texts=services.document().runs_on_disk)
        if services.store_exists():
            self._tasks.turn(self._list_branches)

    @abstractmethod
    def can(self, command: str) -> tuple[bool, str]:
        """Whether a command of :mod:`studio.bridge.commands` applies, and else why not."""

    def _may(self, command: str) -> bool:
        """Whether a command applies; says why if it does not."""
        allowed, reason = self.can(command)
        if not allowed:
            self.failed_to_start.emit(reason)
        return allowed

    def _fail(self, sentence: str) -> None:
        """A turn did not reach its goal: without a session nothing is prepared or paused any more."""
        if self._session is None and self.state not in ENDED:
            self._set_state(RunState.IDLE)
        self.failed_to_start.emit(sentence)

    @property
    def _now(self) -> RunState:
        """The state as it is, not as it is shown."""
        return self._session.state if self._session is not None else self.state

    def _move(self, work: Callable[[], Awaitable[None]]) -> None:
        """A turn that goes to another moment; until it is over no other command applies."""

        async def moving() -> None:
            try:
                await work()
            finally:
                self._moving = False
                self.state_changed.emit()

        self._moving = True
        self.state_changed.emit()
        self._tasks.turn(moving)

    async def _opened_store(self) -> RunStore:
        assert self._services is not None
        if self._store is None:
            self._store = await self._services.open_store()
        return self._store

    async def _see_others(self, store: RunStore) -> None:
        """Takes in what others saved since the last look, so that no number and no name is given twice."""
        if store.changed_elsewhere() and await self._tree.load(store):
            self._tell_tree()

    async def _list_branches(self) -> None:
        assert self._services is not None
        store = await self._opened_store()
        await self._tree.load(store)
        await self._tree.find_waiting(store)
        self.answer_drafts = {**await store.drafts(), **self.answer_drafts}
        await self._mark_unfit(self._services)
        self._everything_pending = True
        self._on_frame_done()
        self.state_changed.emit()

    async def _mark_unfit(self, services: RunServices) -> None:
        if self._tree.checkpoints:
            self._tree.mark_unfit(await services.signature(services.document()))

    async def _reopen(self) -> None:
        assert self._services is not None
        await self._leave()
        await self._give_up_store()
        self._tree.clear()
        await self._reset()
        self._open(self._services)

    async def _give_up_store(self) -> None:
        """Closes the store; from the first moment nobody finds it any more."""
        store, self._store = self._store, None
        if store is not None:
            await store.close()

    def _start(self, text: str, begin: Callable[[RunSession], None] = RunSession.run) -> None:
        self._last_input = text
        if self._session is None or self._session.state in ENDED:
            self._set_state(RunState.PREPARING)
        self._tasks.turn(lambda: self._start_new(text, begin))

    async def _start_new(self, text: str, begin: Callable[[RunSession], None]) -> None:
        await self._leave()
        store = await self._opened_store()
        await asyncio.sleep(0)  # making the file of the first run takes a frame of its own
        await self._see_others(store)
        assert self._services is not None
        try:
            data = input_value(text, self._services.document())
        except ValueProblem as problem:
            self._fail(f"The start node does not take this input. {problem}")
            return
        record = replace(self._tree.new_run(uuid4().hex, text), note=self.setup.overrides.note())
        begin(self._new_session(record, Beginning(data)))

    async def _fork_paused(self, left: RunSession, edits: QueueEdits, *, step: bool) -> None:
        """A paused run with an edited queue goes on as a fork of its last checkpoint; the branch itself stays. What its
        nodes have done since that checkpoint is taken from the recording."""
        checkpoint = left.last_checkpoint
        if checkpoint is None:
            self._fail("This run has no checkpoint to fork from. Start it again.")
            return
        passed = left.stands_at
        await self._leave()
        tape = await self._tape_after(left.record.id, checkpoint) if left.started else left.beginning.tape
        await self._go_to(checkpoint, edits, "", run=not step, tape=tape, passed=passed)
        if step and self._session is not None and self._session is not left:
            self._session.step()

    async def _tape_after(self, run: str, checkpoint: str | None) -> Tape:
        """What a branch did after its last checkpoint, to be given again."""
        return Tape(await self._recording_after(run, checkpoint), whole=False, name_of=self._name_of_node)

    def _name_of_node(self, node: str) -> str:
        found = self._services.document().node(node) if self._services is not None else None
        return (found.name if found is not None else "") or node

    async def _recording_after(self, run: str, checkpoint: str | None) -> Recording:
        """What a branch did after its last checkpoint, but what nodes did that are drawn differently now."""
        assert self._services is not None
        store, services, document = await self._opened_store(), self._services, self._services.document()
        record = self._tree.record(run)
        old = await old_document(store, record.document_fingerprint) if record is not None else None
        recording = await recorded_after(store, services.codec, run, checkpoint)
        changed = await asyncio.to_thread(changed_nodes, old, document)
        return recording.without(changed)

    async def _go_to(
        self,
        checkpoint_id: str,
        edits: QueueEdits,
        note: str,
        *,
        run: bool,
        tape: Tape | None = None,
        passed: frozenset[Stop] = frozenset(),
    ) -> None:
        """Stands at a checkpoint as the beginning of a new branch; ``run``: and goes on."""
        store = await self._opened_store()
        await self._leave()
        checkpoint = await store.load(checkpoint_id)
        clock = await self._show_moment(
            checkpoint.run, checkpoint_id, checkpoint.state if edits.state is None else edits.state
        )
        self._views.requests[:] = [r for r in self._views.requests if edits.resets.get(r.node) != "node"]
        self.branch, self.here = checkpoint.run, checkpoint_id
        if not run and not checkpoint.messages and not checkpoint.requests:
            self._set_state(RunState.COMPLETED, f"Restored after superstep {checkpoint.superstep}, the end of the run")
            self._on_frame_done()
            return
        note = f"{note} at {checkpoint.superstep}" if note else await self._fork_note(checkpoint, edits)
        await self._see_others(store)
        record = self._tree.new_fork(uuid4().hex, checkpoint_id, note)
        session = self._new_session(
            record, Beginning(None, checkpoint, edits, clock, tape=tape, passed=passed), keep_views=True
        )
        session.restore()
        if run and session.state is RunState.PAUSED:
            session.continue_()

    async def _fork_note(self, checkpoint: Checkpoint, edits: QueueEdits) -> str:
        """What is different in a fork: edited messages, and what changed in the drawing since."""
        compared = await self._compared(checkpoint.id)
        changed = compared.drift.note() if compared.drift is not None else ""
        note = edits.note(checkpoint.superstep)
        if not changed:
            return note
        return f"{changed}, {note}" if edits else f"{changed} at {checkpoint.superstep}"

    async def _go_to_mapped(self, checkpoint_id: str, mapping: NodeMapping) -> None:
        """A fork on the drawing as it is now, with the ids of the checkpoint's drawing mapped."""
        assert self._services is not None
        store, document = await self._opened_store(), self._services.document()
        signature = await self._services.signature(document)
        if not signature:
            self._fail("The drawing cannot run yet. Solve its problems first.")
            return
        checkpoint = await store.load(checkpoint_id)
        compared = await self._compared(checkpoint_id)
        note = (compared.drift.note() if compared.drift is not None else "") or "mapped"
        await self._see_others(store)
        record = self._tree.new_fork(uuid4().hex, checkpoint_id, f"{note} at {checkpoint.superstep}")
        try:
            made = mapped(checkpoint, mapping, signature=signature, id=uuid4().hex, run=record.id, now=time.time())
        except MappingProblem as problem:
            self._fail(str(problem))
            return
        await self._leave()
        clock = await self._show_moment(checkpoint.run, checkpoint_id, checkpoint.state)
        self._map_requests(mapping)
        session = self._new_session(record, Beginning(None, made, clock=clock, unsaved=True), keep_views=True)
        self.branch, self.here = checkpoint.run, checkpoint_id
        session.restore()
        if session.state is RunState.PAUSED:
            session.continue_()

    def _map_requests(self, mapping: NodeMapping) -> None:
        kept = [form for form in self._views.requests if mapping.of(form.node) is not None]
        for form in kept:
            form.node = mapping.of(form.node) or form.node
        self._views.requests[:] = kept

    async def _compared(self, checkpoint: str) -> Comparison:
        """How the drawing differs from the one of a checkpoint; remembered until the drawing changes."""
        assert self._services is not None
        document = self._services.document()
        if self._compared_with is not document:
            self._comparisons.clear()
            self._compared_with = document
        if checkpoint not in self._comparisons:
            store = await self._opened_store()
            loaded = await store.load(checkpoint)
            record = self._tree.record_of(checkpoint)
            signature = await self._services.signature(document)
            old = await old_document(store, record.document_fingerprint if record is not None else "")
            same = not signature or signature == loaded.signature
            drift = None
            if old is not None and record is not None:
                drawing = await self._services.fingerprint(document)
                runs_alike = drawing in ("", record.document_fingerprint)
                drift = await asyncio.to_thread(drift_of, old, document, same_graph=same, same_run=runs_alike)
            self._comparisons[checkpoint] = Comparison(loaded, old, drift)
        return self._comparisons[checkpoint]

    async def _compare(self, checkpoint: str) -> None:
        try:
            await self._compared(checkpoint)
        except CheckpointNotFound:
            return
        finally:
            self._comparing.discard(checkpoint)
        self._tell_tree()

    def document_changed(self) -> None:
        """The drawing changed: whether checkpoints fit is looked at again when it rests."""
        if self._services is not None and self.checkpoints:
            self._drawing_timer.start()

    def _on_drawing_timer_timeout(self) -> None:
        self._tasks.turn(self._look_at_drawing)

    async def _look_at_drawing(self) -> None:
        if self._services is not None:
            await self._mark_unfit(self._services)
            self._tell_tree()

    async def _go_to_end_of(self, branch: str, *, run: bool) -> None:
        record, view, point = self._tree.record(branch), self._tree.branch(branch), self._tree.last_checkpoint(branch)
        if record is None or view is None:
            return
        if point is not None and view.state not in ENDED and not view.elsewhere:
            await self._stand_at_end_of(record, view, point, run=run)
        else:
            store = await self._opened_store()
            await self._leave()
            await self._show_moment(branch, None, (await store.load(point)).state if point else {})
            self.branch, self.here = branch, point
            if view.elsewhere:
                self._views.requests.clear()
                self._set_state(RunState.IDLE, f"At work in {view.elsewhere}; shown as far as it has saved")
            elif view.state == INTERRUPTED:
                self._set_state(RunState.CANCELLED, "Interrupted before the first checkpoint. Run it again.")
            else:
                self._set_state(RunState(view.state), self._views.failure_text)
        self._everything_pending = True
        self._on_frame_done()

    def _keep(self, write: Callable[[RunStore], Awaitable[None]], show: Callable[[], object] = lambda: None) -> None:
        """A turn that writes what ``show`` shows at once; it is not lost when the model closes, nor when the tree is
        read again before it is written."""
        show()

        async def written(store: RunStore) -> None:
            await write(store)
            self._typed.remove(show)

        self._typed.append(show)
        self._unwritten.append(written)
        self._tasks.turn(self._write_kept)
        self._tell_tree()

    def _usage_of(self, text: str) -> Usage | None:
        if text and text not in self._usages and self._services is not None:
            self._usages[text] = usage_of(text, self._services.codec)
        return self._usages.get(text)

    def _show_typed(self) -> None:
        for show in self._typed:
            show()

    async def _write_kept(self) -> None:
        while self._unwritten:
            await self._unwritten[0](await self._opened_store())
            self._unwritten.pop(0)

    def _tell_tree(self) -> None:
        self.updated.emit(RunUpdate(checkpoints=True))

    async def _delete(self, branch: str) -> None:
        """The shown branch is left first; a fork of it stays shown, from its own log."""
        store = await self._opened_store()
        shown = self._session.record.id if self._session is not None else self.branch
        if branch in (shown, self.branch):
            await self._reset()
        view = self._tree.branch(branch)
        name = f"{view.name} of run {view.number}" if view is not None else branch
        await store.discard(name, time.time(), [c.checkpoint for c in self._tree.own_checkpoints(branch)], [branch])
        await self._tree.load(store)
        self._tell_tree()

    async def _reset(self) -> None:
        """Shows nothing: no run is chosen."""
        await self._leave()
        self._pump.clear()
        self._show(RunViews())
        self.branch = self.here = None
        self.queued = []
        self._set_state(RunState.IDLE)
        self._everything_pending = True
        self._on_frame_done()

    async def _stand_at_end_of(self, record: RunRecord, view: BranchView, point: str, *, run: bool) -> None:
        """Stands at the last checkpoint of a branch that did not end, to go on with the branch itself; with another
        drawing than it has run so far only a fork can go on."""
        assert self._services is not None
        services = self._services
        drawing = await services.fingerprint(services.document())
        if record.document_fingerprint and drawing not in ("", record.document_fingerprint):
            signature = await services.signature(services.document())
            if signature and signature != (await (await self._opened_store()).load(point)).signature:
                self.mapping_needed.emit(point)
                return
            await self._go_to(point, QueueEdits(), "resumed with the changed drawing", run=run)
            self.branch = record.id
            return
        store = await self._opened_store()
        await self._leave()
        checkpoint = await store.load(point)
        tape = await self._tape_after(record.id, point)
        clock = await self._show_moment(record.id, point, checkpoint.state)
        spent = max(view.seconds, clock if record.parent_checkpoint is None else 0.0)
        beginning = Beginning(None, checkpoint, clock=clock, resumed=True, spent=spent, tape=tape)
        session = self._new_session(record, beginning, keep_views=True)
        self.branch, self.here = record.id, point
        session.restore()
        if run and session.state is RunState.PAUSED:
            session.continue_()

    async def _leave(self) -> None:
        """Lets go of the session: a halted one is kept as it stands, a running one is stopped."""
        session, self._session = self._session, None
        self._edits = QueueEdits()
        if session is not None and session.state not in ENDED:
            kept = session.state if session.state in HALTED else RunState.CANCELLED
            await session.close(kept.value)
            self._update_tree(session, kept.value)

    async def _show_moment(self, run: str, checkpoint: str | None, shared_state: Mapping[str, Any]) -> float:
        """Makes the views of a moment from the logs. Gives the run's time there."""
        assert self._services is not None
        store, services = await self._opened_store(), self._services
        await self._mark_unfit(services)
        views = views_of(services.document())
        clock = await replay(self._tree.way_to(run, checkpoint), store, services.codec, views.fold)
        views.settle()
        views.replace_state(shared_state)
        self._pump.clear()
        self._show(views)
        self._everything_pending = True
        record = self._tree.record(run)
        self._last_input = record.input if record is not None else self._last_input
        return clock

    def _new_session(self, record: RunRecord, beginning: Beginning, *, keep_views: bool = False) -> RunSession:
        assert self._services is not None
        assert self._store is not None
        services, document = self._services, self._services.document()
        self._pinned = document
        names = {node.id: node.name for node in document.nodes}
        session = RunSession(
            record,
            beginning,
            lambda: services.prepare(document),
            self._store,
            services.codec,
            sink=services.trace(self._pump, document, record.id),
            changed=self._on_session_changed,
            setup=SessionSetup(
                self.setup.breakpoints,
                self.setup.overrides,
                document,
                judge=services.judge(document),
                used=self._views.usage if keep_views else None,
            ),
            name_of=lambda path: names.get(path) or _name_inside(document, path, session.linked),
        )
        self._session = session
        if not keep_views:
            self._pump.clear()
            self._show(views_of(document))
            self.branch, self.here = record.id, None
            self._everything_pending = True
        self._usage_before = self._views.usage if record.parent_checkpoint is not None else None
        return session

    def _retry_point(self) -> str | None:
        if self.state not in (RunState.FAILED, RunState.CANCELLED) or self.branch is None:
            return None
        return self._tree.last_checkpoint(self.branch)


def views_of(document: Workflow) -> RunViews:
    """Views without events yet."""
    state = {declared.key: declared.initial for declared in document.state}
    schemas = {declared.name: dict(declared.json_schema) for declared in document.types}
    results = {tool.name: dict(tool.result_schema) for tool in document.tools if tool.result_schema}
    return RunViews(state, schemas, Refusals(document), results)


def _name_inside(document: Workflow, path: str, linked: Mapping[str, Workflow]) -> str:
    """What people call a node of a workflow inside: "Check › Score"; the path itself for one that is not drawn."""
    *inside, node = path.split("/")
    return " › ".join(path_names(document, inside, node, linked)) if inside else path
