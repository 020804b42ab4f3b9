"""The run as the window sees it: commands in, views and one signal per frame out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from uuid import uuid4

from PySide6.QtCore import QObject

from studio.bridge.commands import why_not
from studio.bridge.folding import RunViews
from studio.bridge.owned_tasks import OwnedTasks
from studio.bridge.run_services import RunServices
from studio.bridge.shown_run import ShownRun
from studio.bridge.view_state import ViewState
from studio.checkpoints import RunRecord, RunStore
from studio.debugger.answers import ValueProblem, answer_value, input_value
from studio.debugger.branches import replay
from studio.debugger.forks import EditProblem, QueueEdits, with_text
from studio.debugger.session import Beginning, RunSession
from studio.debugger.states import ENDED, HALTED, INTERRUPTED, RunState
from studio.document.model import Workflow

_BREAKPOINTS = "breakpoints"


class RunModel(ShownRun):
    """One per open workflow. Without services (a panel alone) it shows nothing and can do nothing."""

    def __init__(self, services: RunServices | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self._store: RunStore | None = None
        self._last_input = ""
        self._moving = False
        self._live_breakpoints: set[str] = set()
        self._tasks = OwnedTasks(self._fail)
        self._view_state: ViewState | None = None
        if services is not None:
            self._open(services)

    def _open(self, services: RunServices) -> None:
        self._view_state = ViewState(services.document().id)
        self._set_breakpoints(set(self._view_state.get(_BREAKPOINTS, [])))
        if services.store_exists():
            self._tasks.turn(self._list_branches)

    # ------------------------------------------------------------------------------------------------- commands

    def can(self, command: str) -> tuple[bool, str]:
        """Whether ``run``, ``step``, ``pause``, ``stop``, ``restart``, ``restore``, ``fork``, ``retry``, ``answer`` or
        ``edit`` applies, and else why not."""
        if self._services is None:
            return False, "No workflow is open."
        if self._moving and command != "stop":
            return False, "The last command is still being carried out."
        reason = why_not(
            command,
            self._now,
            can_retry=self._retry_point() is not None,
            has_checkpoints=bool(self.checkpoints),
            has_run=self._session is not None or bool(self._last_input),
        )
        return not reason, reason

    def run(self, text: str) -> None:
        """Starts a run with this input, or continues a paused one."""
        self._go_on(text, step=False)

    def step(self, text: str) -> None:
        """Starts paused before the first superstep, or lets one superstep run."""
        self._go_on(text, step=True)

    def _go_on(self, text: str, *, step: bool) -> None:
        if not self._may("step" if step else "run"):
            return
        session = self._session
        if session is None or session.state in ENDED:
            self._start(text, step=step)
        elif self._edits:
            edits = self._edits
            self._move(lambda: self._fork_paused(session, edits, step=step))
        elif step:
            session.step()
        else:
            session.continue_()

    def pause(self) -> None:
        """Holds the run at the next superstep boundary."""
        if self._may("pause") and self._session is not None:
            self._session.pause()

    def stop(self) -> None:
        """Cancels the run."""
        if not self._may("stop"):
            return
        if self._session is not None and self._session.state not in ENDED:
            self._session.stop()
        else:
            self._tasks.cancel_turn()
            self._set_state(RunState.CANCELLED)

    def restart(self) -> None:
        """Stops what runs and starts again with the same input."""
        if self._may("restart"):
            self._start(self._last_input, step=False)

    def retry(self) -> None:
        """Goes on from the last checkpoint of a branch that failed, was stopped or interrupted, as a new branch."""
        point = self._retry_point()
        if self._may("retry") and point is not None:
            self._move(lambda: self._go_to(point, QueueEdits(), "retried", run=True))

    def answer(self, answers: Mapping[str, Any]) -> None:
        """Answers requests by id; continues the run."""
        session = self._session
        if session is None or not self._may("answer"):
            return
        document = self._pinned or Workflow()
        try:
            values = {
                form.request: answer_value(form.data, form.response_type, answers[form.request], document)
                for form in self.requests
                if form.request in answers
            }
        except ValueProblem as problem:
            self.failed_to_start.emit(str(problem))
            return
        if values:
            session.answer(values)

    def toggle_breakpoint(self, node: str) -> None:
        """Sets a breakpoint on a node or takes it away; holds for the run in progress too."""
        self._set_breakpoints(self._live_breakpoints ^ {node})
        if self._view_state is not None:
            self._view_state.set(_BREAKPOINTS, sorted(self._live_breakpoints))
        self.breakpoints_changed.emit()

    def _set_breakpoints(self, breakpoints: set[str]) -> None:
        self._live_breakpoints.clear()
        self._live_breakpoints.update(breakpoints)
        self.breakpoints = frozenset(breakpoints)

    def edit_queued(self, message: str, text: str) -> None:
        """Changes the text of a queued message; the run goes on as a fork."""
        view = next((q for q in self.queued if q.message == message), None)
        if view is None or not self._may("edit"):
            return
        try:
            view.data = with_text(view.data, text)
        except EditProblem as problem:
            self.failed_to_start.emit(str(problem))
            return
        view.text, view.edited = text, True
        self._edits = self._edits.with_text(message, text)
        self.updated.emit(self._views.take_update(queued=True))

    def drop_queued(self, message: str) -> None:
        """Takes a queued message away; the run goes on as a fork."""
        if self._may("edit"):
            self.queued = [q for q in self.queued if q.message != message]
            self._edits = self._edits.without(message)
            self.updated.emit(self._views.take_update(queued=True))

    def restore(self, checkpoint: str) -> None:
        """Shows the moment of a checkpoint, paused there; Run or Step continues from it as a new branch."""
        if self._may("restore"):
            self._move(lambda: self._go_to(checkpoint, QueueEdits(), "", run=False))

    def fork(self, checkpoint: str, queued: Mapping[str, str] | None = None) -> None:
        """Runs a new branch from a checkpoint, with the texts of queued messages replaced."""
        if self._may("fork"):
            self._move(lambda: self._go_to(checkpoint, QueueEdits(dict(queued or {})), "", run=True))

    def show_branch(self, branch: str) -> None:
        """Shows a branch at its end; one that was not finished can go on from there."""
        if branch != self.branch and self._may("restore"):
            self._move(lambda: self._go_to_end_of(branch))

    def reopen(self) -> None:
        """The document has another id: its runs are kept elsewhere. What runs is stopped."""
        if self._services is not None:
            self._move(self._reopen)

    async def close(self) -> None:
        """Ends what runs and gives the store up. What was active is listed as interrupted next time."""
        await self._tasks.close()
        if self._session is not None:
            await self._session.close()
        self._pump.clear()
        if self._store is not None:
            await self._store.close()

    def _may(self, command: str) -> bool:
        allowed, reason = self.can(command)
        if not allowed:
            self.failed_to_start.emit(reason)
        return allowed

    def _fail(self, sentence: str) -> None:
        """A turn did not reach its goal: without a session nothing is prepared or paused any more."""
        if self._session is None and self.state not in ENDED:
            self._set_state(RunState.IDLE)
        self.failed_to_start.emit(sentence)

    # ------------------------------------------------------------------------------- turns: one after the other

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

    async def _list_branches(self) -> None:
        assert self._services is not None
        await self._tree.load(await self._opened_store())
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
        if self._store is not None:
            await self._store.close()
        self._store = None
        self._tree.clear()
        self._pump.clear()
        self._show(RunViews())
        self.branch = self.here = None
        self.queued = []
        self._set_state(RunState.IDLE)
        self._everything_pending = True
        self._on_frame_done()
        self._open(self._services)

    def _start(self, text: str, *, step: bool) -> None:
        self._last_input = text
        if self._session is None or self._session.state in ENDED:
            self._set_state(RunState.PREPARING)
        self._tasks.turn(lambda: self._start_new(text, step=step))

    async def _start_new(self, text: str, *, step: bool) -> None:
        await self._leave()
        await self._opened_store()
        assert self._services is not None
        try:
            data = input_value(text, self._services.document())
        except ValueProblem as problem:
            self._fail(f"The start node does not take this input. {problem}")
            return
        session = self._new_session(self._tree.new_run(uuid4().hex, text), Beginning(data))
        session.step() if step else session.run()

    async def _fork_paused(self, left: RunSession, edits: QueueEdits, *, step: bool) -> None:
        """A paused run with an edited queue goes on as a fork of its last checkpoint; the branch itself stays."""
        checkpoint = left.last_checkpoint
        if checkpoint is None:
            self._fail("This run has no checkpoint to fork from. Start it again.")
            return
        await self._go_to(checkpoint, edits, "", run=not step)
        if step and self._session is not None and self._session is not left:
            self._session.step()

    async def _go_to(self, checkpoint_id: str, edits: QueueEdits, note: str, *, run: bool) -> None:
        """Stands at a checkpoint as the beginning of a new branch; ``run``: and goes on."""
        store = await self._opened_store()
        await self._leave()
        checkpoint = await store.load(checkpoint_id)
        clock = await self._show_moment(checkpoint.run, checkpoint_id, checkpoint.state)
        self.branch, self.here = checkpoint.run, checkpoint_id
        if not run and not checkpoint.messages and not checkpoint.requests:
            self._set_state(RunState.COMPLETED, f"Restored after superstep {checkpoint.superstep}, the end of the run")
            self._on_frame_done()
            return
        note = f"{note} at {checkpoint.superstep}" if note else edits.note(checkpoint.superstep)
        record = self._tree.new_fork(uuid4().hex, checkpoint_id, note)
        session = self._new_session(record, Beginning(None, checkpoint, edits, clock), keep_views=True)
        session.restore()
        if run and session.state is RunState.PAUSED:
            session.continue_()

    async def _go_to_end_of(self, branch: str) -> None:
        record, point = self._tree.record(branch), self._tree.last_checkpoint(branch)
        if record is None:
            return
        view = self._tree.branch(branch)
        state = view.state if view is not None else record.state
        if point is not None and state not in ENDED:
            await self._go_to(point, QueueEdits(), "resumed", run=False)
            self.branch = branch
        else:
            store = await self._opened_store()
            await self._leave()
            await self._show_moment(branch, None, (await store.load(point)).state if point else {})
            self.branch, self.here = branch, point
            if state == INTERRUPTED:
                self._set_state(RunState.CANCELLED, "Interrupted before the first checkpoint. Run it again.")
            else:
                self._set_state(RunState(state), self._views.failure_text)
        self._everything_pending = True
        self._on_frame_done()

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
        views = RunViews(schemas=_schemas(services.document()))
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
            sink=self._pump,
            changed=self._on_session_changed,
            breakpoints=self._live_breakpoints,
            name_of=lambda node: names.get(node) or node,
        )
        self._session = session
        if not keep_views:
            self._pump.clear()
            self._show(RunViews({declared.key: declared.initial for declared in document.state}, _schemas(document)))
            self.branch, self.here = record.id, None
            self._everything_pending = True
        self._usage_before = self._views.usage
        return session

    def _retry_point(self) -> str | None:
        if self.state not in (RunState.FAILED, RunState.CANCELLED) or self.branch is None:
            return None
        return self._tree.last_checkpoint(self.branch)


def _schemas(document: Workflow) -> dict[str, dict[str, Any]]:
    return {declared.name: dict(declared.json_schema) for declared in document.types}
