"""Going on otherwise than forwards: node by node, to a node, from a node, again from a recording, and backwards."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any
from uuid import uuid4

from PySide6.QtCore import QObject

from studio.agents.messages import AgentReply, AgentResponse, AgentUpdate
from studio.bridge.run_moments import RunMoments
from studio.bridge.run_services import RunServices
from studio.debugger.comparison import old_document
from studio.debugger.forks import QueueEdits
from studio.debugger.recorded_runs import before_node, changed_nodes, last_visit, recorded_way
from studio.debugger.recording import Tape
from studio.debugger.session import Beginning, RunSession
from studio.debugger.states import ENDED, RunState
from studio.document.fingerprint import document_fingerprint
from studio.document.model import Workflow
from studio.engine.values import plain

_BEYOND = frozenset({RunState.FAILED, RunState.CANCELLED})


class RunReplays(RunMoments):
    """Part of :class:`studio.bridge.run_model.RunModel`."""

    def __init__(self, services: RunServices | None = None, parent: QObject | None = None) -> None:
        self.drawing_differs: tuple[str, ...] = ()
        """Names of what is drawn differently than in the run that is paused or waits."""
        self._looked_at: tuple[Workflow, Workflow] | None = None
        super().__init__(services, parent)
        self.state_changed.connect(self._on_state_changed_for_drawing)

    # --------------------------------------------------------------------------------------- nodes as targets

    def step_node(self, text: str) -> None:
        """Lets one invocation of a node run; starts held before the first superstep if nothing runs."""
        if not self._may("step_node"):
            return
        session = self._session
        if session is None or session.state in ENDED:
            self._start(text, RunSession.step)
        elif self._edits:
            edits = self._edits
            self._move(lambda: self._fork_paused(session, edits, step=True))
        else:
            session.step_node()

    def run_to(self, node: str, text: str) -> None:
        """Starts, or goes on, until this node is about to run."""
        if not self._may("run_to"):
            return
        session = self._session
        if session is None or session.state in ENDED:
            self._start(text, lambda started: started.run_to(node))
        else:
            session.run_to(node)

    def run_from(self, node: str) -> None:
        """Runs a node again with the inputs it had last in the shown run, and all that follows, as a new branch."""
        branch = self.branch
        if self._may("run_from") and branch is not None:
            self._move(lambda: self._run_from(branch, node))

    async def _run_from(self, branch: str, node: str) -> None:
        assert self._services is not None
        store, document = await self._opened_store(), self._services.document()
        drawn = document.node(node)
        name = (drawn.name if drawn is not None else "") or node
        visit = await last_visit(store, self._services.codec, self._tree.way_to(branch, None), node)
        if visit is None:
            self._fail(f"{name} did not run in the shown run: there are no inputs to start from.")
            return
        old = await self._drawing_of(branch)
        changed = await asyncio.to_thread(changed_nodes, old, document)
        stale = sorted(n.name or n.id for n in document.nodes if n.id in changed & before_node(document, node))
        note = f"from {name}" + (f", with inputs from before {', '.join(stale)} changed," if stale else "")
        recording = visit.recording.without({node, *changed})
        tape = Tape(recording, whole=False, name_of=self._name_of_node)
        await self._go_to(visit.checkpoint, QueueEdits(), note, run=True, tape=tape)

    async def _drawing_of(self, branch: str) -> Workflow | None:
        record = self._tree.record(branch)
        return await old_document(await self._opened_store(), record.document_fingerprint) if record else None

    # ------------------------------------------------------------------------------------------------------ pins

    def last_reply(self, node: str) -> Any:
        """What a node gave last in the shown run: the text of an agent's reply, else a plain value; None: nothing."""
        sent = next((m.data for m in reversed(self.messages) if m.source == node and m.target is None), None)
        if sent is None:
            sent = next((o.data for o in reversed(self.outputs) if o.node == node), None)
        return sent.text if isinstance(sent, AgentResponse | AgentReply | AgentUpdate) else plain(sent)

    def toggle_pin(self, node: str) -> None:
        """Pins what a node gave last in the shown run, or lets it be called again."""
        if node in self.setup.overrides.pins:
            self.setup.unpin(node)
            return
        reply, shown = self.last_reply(node), self._tree.branch(self.branch or "")
        if reply is None:
            self.failed_to_start.emit("There is no reply to pin yet. Run the workflow, or type one with Pin a reply.")
        else:
            self.setup.pin(node, reply, f"run {shown.number}" if shown is not None else "")

    # ------------------------------------------------------------------------------------------------ recordings

    async def _retry(self, branch: str, point: str) -> None:
        tape = await self._tape_after(branch, point)
        await self._go_to(point, QueueEdits(), "retried", run=True, tape=tape)

    def replay(self, branch: str | None = None, *, speed: float = 0.0, step: bool = False) -> None:
        """Runs the shown branch again from its recording: without network and cost, with breakpoints. ``speed`` 1 takes
        as long as the models took, 0 waits for nothing."""
        chosen = branch or self.branch
        if self._may("replay") and chosen is not None:
            self._move(lambda: self._replay(chosen, speed, step=step))

    async def _replay(self, branch: str, speed: float, *, step: bool) -> None:
        assert self._services is not None
        services, document = self._services, self._services.document()
        store, record = await self._opened_store(), self._tree.record(branch)
        if record is None:
            return
        await self._leave()
        recording = await recorded_way(store, services.codec, self._tree.way_to(branch, None))
        drawn = await self._drawing_of(branch)
        changed = await asyncio.to_thread(_changes, drawn, document) if drawn is not None else {}
        tape = Tape(recording.without(changed), speed=speed, name_of=self._name_of_node)
        await self._see_others(store)
        note = f"replay of {record.name} of run {record.number}"
        made = replace(self._tree.new_run(uuid4().hex, record.input), note=note)
        self._last_input = record.input
        session = self._new_session(made, Beginning(recording.input, tape=tape))
        session.step() if step else session.run()

    # ------------------------------------------------------------------------------------------------- backwards

    def step_back(self) -> None:
        """Shows the moment one superstep earlier, and pauses there; nothing is called."""
        before = self._before_here()
        if self._may("step_back") and before is not None:
            self._move(lambda: self._go_to(before, QueueEdits(), "", run=False))

    def step_forward(self) -> None:
        """Shows the next recorded moment; nothing is called."""
        after = self._after_here()
        if self._may("step_forward") and after is not None:
            self._move(lambda: self._go_to(after, QueueEdits(), "", run=False))

    def _before_here(self) -> str | None:
        """The checkpoint before the shown moment. A superstep that failed has saved none: it is before itself."""
        if self.state in _BEYOND:
            return self.here
        found = next((c for c in self.checkpoints if c.checkpoint == self.here), None)
        return found.parent if found is not None else None

    def _after_here(self) -> str | None:
        """The newest checkpoint that follows the shown one, on the shown branch if it goes on there."""
        if self.here is None or self.state in _BEYOND:
            return None
        following = [c for c in self.checkpoints if c.parent == self.here]
        own = [c for c in following if c.branch == self.branch]
        found = own or following
        return found[-1].checkpoint if found else None

    # ---------------------------------------------------------------------------------------- changed drawings

    def apply_drawing(self) -> None:
        """Takes the drawing as it is now for the run that is paused or waits: a fork that stands where it stood. What
        nodes did since the last checkpoint is not done again, unless they are drawn differently."""
        session = self._session
        if session is not None and self._may("apply"):
            self._move(lambda: self._apply(session))

    async def _apply(self, session: RunSession) -> None:
        assert self._services is not None
        services, checkpoint = self._services, session.last_checkpoint
        if checkpoint is None:
            self._fail("This run has no checkpoint to fork from. Start it again.")
            return
        signature = await services.signature(services.document())
        loaded = await (await self._opened_store()).load(checkpoint)
        if signature != loaded.signature:
            self._fail(
                "The drawing cannot run yet. Solve its problems first."
                if not signature
                else "Nodes or edges were added or removed since this run began. Fork from the checkpoint to map them."
            )
            return
        edits, passed = self._edits, session.stands_at
        await self._leave()
        tape = await self._tape_after(session.record.id, checkpoint) if session.started else session.beginning.tape
        await self._go_to(checkpoint, QueueEdits(), "", run=False, tape=tape, passed=passed)
        self._edits = edits
        if self._session is not None:
            self._refresh_queue(self._session)

    async def _look_at_drawing(self) -> None:
        await super()._look_at_drawing()
        await self._compare_drawings()

    def _on_state_changed_for_drawing(self) -> None:
        if self.state in (RunState.PAUSED, RunState.WAITING):
            if self._pinned is not None and self._services is not None:
                self._drawing_timer.start()
        elif self.drawing_differs:
            self.drawing_differs = ()
            self._looked_at = None  # the same two drawings differ again at the next halt

    async def _compare_drawings(self) -> None:
        pinned, halted = self._pinned, self.state in (RunState.PAUSED, RunState.WAITING)
        if pinned is None or not halted or self._services is None:
            return
        document = self._services.document()
        if self._looked_at is not None and self._looked_at[0] is pinned and self._looked_at[1] is document:
            return
        differs = await asyncio.to_thread(differences, pinned, document)
        self._looked_at = (pinned, document)
        if differs != self.drawing_differs:
            self.drawing_differs = differs
            self.state_changed.emit()


def _changes(old: Workflow, new: Workflow) -> dict[str, str]:
    """What does something else than it did in a recording, and why."""
    from studio.debugger.drift import changes_of

    return changes_of(old, new, changed_nodes(old, new))


def differences(old: Workflow, new: Workflow) -> tuple[str, ...]:
    """What is drawn differently, by name; places and notes do not count."""
    if old is new or document_fingerprint(old) == document_fingerprint(new):
        return ()
    changed = changed_nodes(old, new)
    return tuple(n.name or n.id for n in new.nodes if n.id in changed) or ("the workflow",)
