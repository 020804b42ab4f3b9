"""One branch of a run, driven: start, step, pause, stop, answer; its state machine is the table in ``states``."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any
from uuid import uuid4

from studio.checkpoints import Codec, PendingRequest, QueuedMessage, RunRecord, RunStore, RunWentOn
from studio.debugger.beginning import Beginning, Runnable, SessionSetup
from studio.debugger.breakpoints import Breakpoint
from studio.debugger.event_log import EventLog, LoggedFirst
from studio.debugger.forks import fork_checkpoint
from studio.debugger.gate import DebuggerGate
from studio.debugger.holds import HeldNode, Stop
from studio.debugger.run_usage import usage_before
from studio.debugger.states import ACTIVE, INTERRUPTED, Command, Happening, RunState, after, applies
from studio.debugger.wording import failure_sentences, state_sentence
from studio.document.model import Workflow as Document
from studio.engine import Workflow
from studio.engine import events as ev
from studio.engine.errors import ResumeError, RunRejected
from studio.engine.workflow import RunResult

__all__ = ["Beginning", "RunSession", "Runnable", "SessionSetup"]


class RunSession:
    """Commands are plain calls that raise :class:`studio.debugger.states.IllegalCommand` where the table has no entry.

    ``changed`` is called after every change of state or sentence. The session owns its task: :meth:`ended` awaits it,
    :meth:`close` ends it. Nothing is recorded before the branch really goes on.
    """

    state = RunState.IDLE
    failure = ""
    """What failed, why, and the way out, as sentences."""
    error: BaseException | None = None
    signature = ""
    """Of the graph, once the plan is made."""
    linked: Mapping[str, Document] = {}
    """The workflows of linked files that run, by the path of their node; none before the plan is made."""
    _runnable: Runnable | None = None
    outputs: tuple[Any, ...] = ()
    """What finished stretches of the run yielded, in delivery order."""

    def __init__(
        self,
        record: RunRecord,
        beginning: Beginning,
        prepare: Callable[[], Awaitable[Runnable]],
        store: RunStore,
        codec: Codec,
        *,
        sink: ev.EventSink,
        changed: Callable[[], None] = lambda: None,
        setup: SessionSetup | None = None,
        name_of: Callable[[str], str] = str,
        streaming: bool = True,
    ) -> None:
        self.record = record
        self.beginning = beginning
        self.last_checkpoint: str | None = beginning.checkpoint.id if beginning.checkpoint else None
        self._prepare = prepare
        self._store = store
        self._sink, self._changed, self._name_of = sink, changed, name_of
        self._streaming = streaming
        before = usage_before(record, codec, resumed=beginning.resumed)
        self._log = EventLog(store, record.id, codec, self._warn, before)
        self._setup = SessionSetup() if setup is None else setup
        watch = self._setup.watch(beginning.checkpoint, self._log_breakpoint)
        self._gate = DebuggerGate(self._setup.breakpoints, self._happen, self._log.flush, watch)
        self._gate.go_on_from(beginning.passed)
        self._task: asyncio.Task[None] | None = None
        self._driving = False
        self._clock_start = beginning.clock
        self._began = 0.0
        self._recorded = self._rejoined = False
        self._answers: dict[str, Any] = {}
        self._answered = asyncio.Event()
        self._stepping = False
        self._kept_as: str | None = None
        self._failed_node: str | None = None
        self._requests = {r.id: r for r in beginning.checkpoint.requests} if beginning.checkpoint else {}
        if beginning.checkpoint is not None:
            self._gate.superstep = beginning.checkpoint.superstep + 1

    # ---------------------------------------------------------------------------------------------------- to read

    @property
    def recorded(self) -> bool:
        """Whether the store knows the branch; a plan that cannot be made leaves none."""
        return self._recorded

    @property
    def started(self) -> bool:
        """Whether the branch exists: a restored session is only a position until it goes on."""
        return self._task is not None

    @property
    def sentence(self) -> str:
        """The state chip's text."""
        return state_sentence(
            self.state,
            superstep=self._gate.superstep,
            busy=[self._name(path) for path in self._gate.busy],
            holds=[h.words(self._name) for h in self._gate.held]
            or [h.words(self._name) for h in self._gate.boundary_hits],
            inside=self._gate.in_the_middle,
            asking=[self._name_of(r.node) for r in self._requests.values()],
            failure=self.failure,
            restored=not self.started and not self.beginning.resumed,
        )

    @property
    def paused_at(self) -> str | None:
        """The first node that a breakpoint holds."""
        return self._gate.held[0].node if self._gate.held else None

    @property
    def held(self) -> tuple[HeldNode, ...]:
        """The invocations that wait at a breakpoint or a step."""
        return tuple(self._gate.held)

    @property
    def stands_at(self) -> frozenset[Stop]:
        """The breakpoints at which invocations stood since the last checkpoint, for a fork that goes on from here."""
        return frozenset(self._gate.stood)

    @property
    def held_by(self) -> frozenset[str]:
        """Ids of the breakpoints that hold the run."""
        hits = [*(h.breakpoint for h in self._gate.held), *(h.breakpoint for h in self._gate.boundary_hits)]
        return frozenset(b.id for b in hits if b is not None)

    @property
    def superstep(self) -> int:
        """The superstep that runs or comes next."""
        return self._gate.superstep

    @property
    def requests(self) -> tuple[PendingRequest, ...]:
        """Questions that nobody has answered yet."""
        return tuple(self._requests.values())

    @property
    def queued(self) -> tuple[QueuedMessage, ...]:
        """What the next superstep delivers, at a boundary; at a breakpoint the messages to the held nodes."""
        if not self.started and self.beginning.checkpoint is not None:
            return self.beginning.checkpoint.messages
        if self.state is not RunState.PAUSED:
            return ()
        if self._gate.held:
            sources = {s for held in self._gate.held if held.at == "before" for s in held.sources}
            return tuple(m for m in self._gate.queued if m.source in sources)
        return self._gate.queued

    def clock(self) -> float:
        """Seconds of the run's time, counted on from the checkpoint the branch began at."""
        return self.beginning.clock + (time.perf_counter() - self._began if self._began else 0.0)

    @property
    def seconds(self) -> float:
        """How long the branch has run."""
        return self.beginning.spent + self.clock() - self.beginning.clock

    def can(self, command: Command) -> bool:
        """Whether the command applies now."""
        return applies(command, self.state)

    # --------------------------------------------------------------------------------------------------- commands

    def run(self) -> None:
        """Starts the branch."""
        self._go(Command.RUN)
        self._start()

    def step(self) -> None:
        """Starts held before the first superstep, or lets one superstep run."""
        state = self.state
        self._go(Command.STEP)
        self._stepping = True
        if state is RunState.IDLE:
            self._gate.hold_after(0)
            self._start()
        elif not self.started:
            self._gate.hold_after(1)
            self._start()
        else:
            self._gate.step()

    def step_node(self) -> None:
        """Lets one invocation of a node run, then holds before the next."""
        if self.state is RunState.IDLE or not self.started:
            self.step()
            return
        self._go(Command.STEP)
        self._stepping = True
        self._gate.step_node()

    def run_to(self, path: str) -> None:
        """Goes on (or starts) until this node is about to run."""
        self._gate.run_to(path)
        self.run() if self.state is RunState.IDLE else self.continue_()

    def continue_(self) -> None:
        """Lets a paused run go on to its end; takes a pause back."""
        self._go(Command.CONTINUE)
        self._stepping = False
        self._gate.let_run()
        if not self.started:
            self._start()

    def retry_failed(self) -> None:
        """Runs the held invocations that failed again, in this superstep."""
        self._go(Command.CONTINUE)
        self._stepping = False
        self._gate.retry_failed()

    def try_now(self) -> None:
        """Model calls that wait for a further try begin it at once."""
        if self._runnable is not None:
            self._runnable.try_now()

    def pause(self) -> None:
        """Holds at the next superstep boundary."""
        self._go(Command.PAUSE)
        self._gate.hold_after(0)

    def restore(self) -> None:
        """Stands at the checkpoint of the beginning; Step and Continue make it a branch."""
        self._go(Command.RESTORE)
        checkpoint = self.beginning.checkpoint
        if checkpoint is not None and checkpoint.requests and not checkpoint.messages:
            self.state = RunState.WAITING
            self._changed()

    def stop(self) -> None:
        """Cancels the run; :meth:`ended` returns when connections are closed and the worker is dead."""
        self._go(Command.STOP)
        if self._task is None:
            self._happen(Happening.CANCELLED)
        elif self._driving:  # a task that is cancelled before its first turn never tells its end
            self._task.cancel()

    def answer(self, answers: Mapping[str, Any]) -> None:
        """Answers requests by id. While something still runs the answers are kept until it has ended."""
        waiting = self.state is RunState.WAITING
        self._go(Command.ANSWER)
        self._answers.update(answers)
        self._answered.set()
        if not waiting:
            return
        if self._stepping:
            self._gate.hold_after(0)
        if not self.started:
            self._start()

    async def ended(self) -> RunState:
        """Waits for the end of the branch, or until it was stopped and everything of it is gone."""
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)
        return self.state

    async def close(self, keep_as: str | None = None) -> None:
        """Ends the session whatever its state; an active branch is recorded as ``keep_as`` (default: as it was)."""
        if self.state in ACTIVE and self.state is not RunState.STOPPING:
            self._kept_as = keep_as or self.state.value
            self._sink = _NOWHERE
            self.stop()
        await self.ended()

    # ---------------------------------------------------------------------------------------------- engine's side

    def append(self, event: ev.Event) -> None:
        """The engine's event sink."""
        if self._clock_start:
            event = replace(event, t=event.t + self._clock_start)
        if not isinstance(event, ev.TokensArrived):
            self._gate.observe(event)
        match event:
            case ev.TokensArrived():
                pass
            case ev.NodeFinished():
                self._tell_whom_pausing_waits_for()
            case ev.NodeFailed():
                self._failed_node = event.inside[0] if event.inside else event.node
            case ev.RequestRaised():
                self._requests[event.request] = PendingRequest(
                    event.request, event.node, event.data, event.response_type
                )
            case ev.RequestAnswered() | ev.RequestCancelled():
                self._requests.pop(event.request, None)
            case ev.CheckpointSaved():
                self.last_checkpoint = event.checkpoint
            case ev.RunStarted(kind="checkpoint") if self.beginning.resumed and not self._rejoined:
                self._rejoined = True
                event = replace(event, data=self.last_checkpoint)
        if self._kept_as is None:
            self._log.append(event)
        self._sink.append(event)
        if isinstance(event, ev.SuperstepStarted) and not event.inside:
            self._changed()  # after the event: the window then shows both in the same frame, not within this step

    def _name(self, path: str) -> str:
        return known if (known := self._name_of(path)) != path else self._name_of(path.rsplit("/", 1)[-1])

    def _tell_whom_pausing_waits_for(self) -> None:
        if self.state is RunState.PAUSING:
            self._changed()

    def _warn(self, text: str) -> None:
        self._sink.append(ev.RunWarned(self._clock_start, text))

    def _say(self, text: str) -> None:
        """A warning that is kept with the run."""
        self.append(ev.RunWarned(self.clock() - self._clock_start, text))

    def _log_breakpoint(self, breakpoint: Breakpoint, path: str, text: str) -> None:
        *inside, node = path.split("/")
        kept = {"breakpoint": breakpoint.id, "text": text}
        event = ev.NodeEvent(
            self.clock() - self._clock_start, self.superstep, node, "", "breakpoint_logged", kept, tuple(inside)
        )
        self.append(event)

    def _warn_of_call(self, node: str, text: str) -> None:
        self.append(ev.RunWarned(self.clock() - self._clock_start, text, node))

    def _go(self, command: Command) -> None:
        self.state = after(command, self.state)
        self._changed()

    def _happen(self, happening: Happening) -> None:
        self.state = after(happening, self.state)
        self._changed()

    # ------------------------------------------------------------------------------------------------- its own task

    def _start(self) -> None:
        self._setup.breakpoints.begin()
        self._task = asyncio.create_task(self._drive(), name=f"run {self.record.number} {self.record.name}")

    async def _drive(self) -> None:
        self._driving = True
        given_up = self.state is RunState.STOPPING
        if given_up:
            self._happen(Happening.CANCELLED)
            return
        self._began = time.perf_counter()
        started = time.time() - self.beginning.spent
        self.record = replace(self.record, started=started, ended=None, state=RunState.RUNNING.value)
        happening = Happening.CANCELLED
        try:
            await self._run_to_the_end()
            happening = Happening.COMPLETED
        except asyncio.CancelledError:
            if self.state is not RunState.STOPPING:
                self._kept_as = INTERRUPTED
                raise
        except Exception as error:
            happening = Happening.FAILED
            self.error = error
            self.failure = failure_sentences(error, self._failed_node, self._name_of)
        finally:
            self._gate.superstep_ended()
            await self._recorded_end(happening)
            self._happen(happening)

    async def _run_to_the_end(self) -> None:
        self._runnable = runnable = await self._prepare()
        self._gate.watch.linked = self.linked = runnable.linked
        self._instrument(runnable.workflow)
        try:
            self.signature = runnable.workflow.signature
            begin = self.beginning.checkpoint
            if begin is not None and begin.signature != self.signature:
                raise ResumeError("The graph has changed since this checkpoint was saved")
            self.record = replace(self.record, document_fingerprint=runnable.fingerprint)
            await self._store.save_document(runnable.fingerprint, runnable.document_text)
            await self._record_start()
            self._recorded = True
            self._log.start()
            await asyncio.sleep(0)  # what listens to the state has a turn of its own
            self._happen(Happening.PREPARED)
            await asyncio.sleep(0)
            arguments = await self._first_arguments()
            await self._engine_run(runnable.workflow, arguments)
            while self._requests:
                answers = await self._next_answers()
                try:
                    await self._engine_run(runnable.workflow, {"answers": answers})
                except RunRejected as refused:
                    if runnable.workflow.state != "IDLE_WITH_PENDING_REQUESTS":
                        raise
                    self._warn(str(refused))
        finally:
            await runnable.close()

    def _instrument(self, workflow: Workflow) -> None:
        from studio.debugger.instrument import Instruments, instrument, known_result  # loads agents and hosts

        tape, overrides = self.beginning.tape, self._setup.overrides
        if tape is not None:
            tape.say = self._say
        self._gate.take_tool = lambda path, call: known_result(overrides, tape, path, call)
        if self._setup.document is not None:
            from studio.debugger.context.before_calls import BeforeCalls

            self._gate.before_calls = BeforeCalls(self._setup.document, self._warn_of_call)
        instrument(workflow, Instruments(overrides, self._gate, tape))

    async def _record_start(self) -> None:
        """From here on the branch is ours. Raises :class:`studio.checkpoints.leases.RunIsElsewhere`."""
        record = self.record
        await self._store.claim_run(record.id)
        if self.beginning.resumed:
            newest, begin = await self._store.latest(record.id), self.beginning.checkpoint
            if newest is not None and begin is not None and newest.id not in (begin.id, begin.parent):
                raise RunWentOn
            fields = {"state": record.state, "started": record.started, "ended": None}
            await self._store.update_run(record.id, document_fingerprint=record.document_fingerprint, **fields)
        else:
            self.record = await self._store.start_run(record)

    async def _engine_run(self, workflow: Workflow, arguments: Mapping[str, Any]) -> None:
        self._clock_start = self.clock()
        result: RunResult = await workflow.run(
            **arguments,
            stream=self._streaming,
            events=self,
            gate=self._gate,
            store=LoggedFirst(self._store, self._log),
            run_id=self.record.id,
        )
        self.outputs += result.outputs

    async def _first_arguments(self) -> dict[str, Any]:
        begin = self.beginning
        if begin.checkpoint is None:
            return {"data": begin.data}
        checkpoint = begin.checkpoint
        if begin.edits:
            now = time.time()
            checkpoint = fork_checkpoint(checkpoint, begin.edits, id=uuid4().hex, run=self.record.id, created=now)
        if begin.edits or begin.unsaved:
            size = await self._store.save(checkpoint)
            self.append(ev.CheckpointSaved(0.0, checkpoint.id, checkpoint.parent, "fork", checkpoint.superstep, size))
        return {"checkpoint": checkpoint.id, "answers": self._take_answers() or None}

    async def _next_answers(self) -> Mapping[str, Any]:
        if self.beginning.tape is not None:
            self._answers.update(self.beginning.tape.answers(self._requests.values()))
        while not (answers := self._take_answers()):
            if self.state is not RunState.WAITING:
                await self._log.flush()
                await self._store.update_run(self.record.id, state=RunState.WAITING.value, usage=self._log.usage)
                self._happen(Happening.QUESTIONS_LEFT)
            self._answered.clear()
            await self._answered.wait()
        await self._store.update_run(self.record.id, state=RunState.RUNNING.value)
        return answers

    def _take_answers(self) -> dict[str, Any]:
        taken = {request: value for request, value in self._answers.items() if request in self._requests}
        self._answers.clear()
        return taken

    async def _recorded_end(self, happening: Happening) -> None:
        """Writes how the branch ended. A stop that comes only now does not break that off: the run is over."""
        writing = asyncio.ensure_future(self._record_end(happening))
        while not writing.done():
            try:
                await asyncio.shield(writing)
            except asyncio.CancelledError:
                continue
        writing.result()

    async def _record_end(self, happening: Happening) -> None:
        if self._recorded:
            await self._log.close()
            state = self._kept_as or happening.value
            await self._store.update_run(self.record.id, state=state, ended=time.time(), usage=self._log.usage)
        await self._store.release_run(self.record.id)


class _Nowhere:
    def append(self, event: Any, /) -> None: ...


_NOWHERE = _Nowhere()
