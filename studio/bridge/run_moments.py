"""Looking into a moment before going there: what a checkpoint holds, and what going on from it does outside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

from studio.bridge.run_bundles import RunBundles
from studio.bridge.run_services import RunServices
from studio.checkpoints import Checkpoint, CheckpointNotFound
from studio.debugger.branches import Stretch, replay
from studio.debugger.comparison import Ahead, Comparison, ahead_of
from studio.debugger.effects import Effect, outside_effects, sentence
from studio.debugger.forks import EditProblem, QueueEdits, fork_checkpoint, state_value
from studio.debugger.recorded_runs import recorded_after
from studio.debugger.recording import Tape
from studio.debugger.traces import StepTrace, TraceFolder
from studio.document.model import SubWorkflowNode, Workflow
from studio.engine.values import FROM_OUTSIDE

if TYPE_CHECKING:
    from studio.debugger.details import Details


class RunMoments(RunBundles):
    """Part of :class:`studio.bridge.run_model.RunModel`."""

    def __init__(self, services: RunServices | None = None, parent: QObject | None = None) -> None:
        self._details: dict[str, Details] = {}
        self._effects: dict[str, tuple[Effect, ...]] = {}
        self._effects_of: Workflow | None = None
        self._looked_into: set[str] = set()
        self._asked: tuple[str, Callable[[Ahead], object]] | None = None
        super().__init__(services, parent)

    def details(self, checkpoint: str) -> Details | None:
        """What a checkpoint holds. None: not known yet; ``updated`` follows."""
        if checkpoint not in self._details:
            self._look_into(checkpoint)
        return self._details.get(checkpoint)

    def effects(self, checkpoint: str) -> tuple[Effect, ...] | None:
        """What reaches outside when a run goes on from here. None: not known yet; ``updated`` follows."""
        services = self._services
        if services is not None and self._effects_of is not services.document():
            self._effects.clear()
            self._effects_of = services.document()
        if checkpoint not in self._effects:
            self._look_into(checkpoint)
        return self._effects.get(checkpoint)

    def comparison(self, checkpoint: str) -> Comparison | None:
        """How the drawing differs from the one of a checkpoint. None: not known yet; ``updated`` follows."""
        services = self._services
        if services is None or self._tree.record_of(checkpoint) is None:
            return None
        known = self._comparisons.get(checkpoint) if self._compared_with is services.document() else None
        if known is None and checkpoint not in self._comparing:
            self._comparing.add(checkpoint)
            self._tasks.turn(lambda: self._compare(checkpoint))
        return known

    def look_ahead(self, checkpoint: str, told: Callable[[Ahead], object]) -> None:
        """Calls ``told`` with what a person must know before a run goes on from here: at once if it is known. Asked
        again before it is known, only the last one is told."""
        links = self._services is not None and _links(self._services.document())
        if links:  # a linked file may have changed since the last look
            self._comparisons.pop(checkpoint, None)
        found, effects = self.comparison(checkpoint), self.effects(checkpoint)
        if self._services is None or (found is not None and effects is not None):
            told(ahead_of(found, sentence(effects or ())))
            return
        asked, self._asked = self._asked, (checkpoint, told)
        if asked is None:
            self._tasks.turn(self._tell_ahead)

    async def _tell_ahead(self) -> None:
        """After the turns that :meth:`comparison` and :meth:`effects` began."""
        asked, self._asked = self._asked, None
        if asked is None:
            return
        checkpoint, told = asked
        try:
            found = await self._compared(checkpoint)
        except CheckpointNotFound:
            self._fail("This checkpoint is no longer in the file.")
            return
        if checkpoint not in self._effects:
            await self._read_moment(checkpoint)
        told(ahead_of(found, sentence(self._effects.get(checkpoint, ()))))

    def _look_into(self, checkpoint: str) -> None:
        if self._services is not None and checkpoint not in self._looked_into:
            self._looked_into.add(checkpoint)
            self._tasks.turn(lambda: self._read_moment(checkpoint))

    async def _read_moment(self, checkpoint: str) -> None:
        from studio.debugger.details import details_of

        assert self._services is not None
        try:
            store, document = await self._opened_store(), self._services.document()
            loaded = await store.load(checkpoint)
            record = self._tree.record_of(checkpoint)
            drawing = record.document_fingerprint if record is not None else ""
            self._details[checkpoint] = details_of(loaded, await store.weight(checkpoint), drawing)
            after = await self._steps_after(loaded)
            starts = [m.target or m.source.removeprefix(FROM_OUTSIDE) for m in loaded.messages]
            starts += [request.node for request in loaded.requests]
            self._effects[checkpoint] = outside_effects(document, after, starts)
            self._effects_of = document
        except CheckpointNotFound:
            return
        finally:
            self._looked_into.discard(checkpoint)
        self._tell_tree()

    async def _steps_after(self, checkpoint: Checkpoint) -> list[StepTrace]:
        """What the branch of a checkpoint did after it."""
        assert self._services is not None
        folder = TraceFolder()
        way = [Stretch(checkpoint.run, None)]
        await replay(way, await self._opened_store(), self._services.codec, folder.fold)
        steps = folder.trace.steps
        places = [at for at, step in enumerate(steps) if step.checkpoint == checkpoint.id]
        if places:
            return steps[places[-1] + 1 :]
        return [step for step in steps if step.number > checkpoint.superstep]

    # ---------------------------------------------------------------------------------------------- going there

    def fork_edited(self, checkpoint: str, edits: QueueEdits, *, recorded: bool = False) -> None:
        """Runs a new branch from a checkpoint with edited messages, state or conversations. ``recorded``: steps with
        outside effects give again what they gave, and are not run."""
        if self._may("fork"):
            self._move(lambda: self._fork_edited(checkpoint, edits, recorded=recorded))

    async def _fork_edited(self, checkpoint: str, edits: QueueEdits, *, recorded: bool) -> None:
        store = await self._opened_store()
        try:
            fork_checkpoint(await store.load(checkpoint), edits, id="", run="", created=0.0)
        except EditProblem as problem:
            self._fail(str(problem))
            return
        await self._go_with_recorded(checkpoint, edits, run=True, recorded=recorded)

    async def _go_with_recorded(self, checkpoint: str, edits: QueueEdits, *, run: bool, recorded: bool) -> None:
        """Goes to a moment; ``recorded``: what reaches outside is given again instead of being done."""
        tape = await self._tape_of_effects(checkpoint) if recorded else None
        await self._go_to(checkpoint, edits, "", run=run, tape=tape)

    async def _tape_of_effects(self, checkpoint: str) -> Tape | None:
        """What the nodes with outside effects did after a checkpoint, to be given again."""
        assert self._services is not None
        if checkpoint not in self._effects:
            await self._read_moment(checkpoint)
        outside = {effect.node for effect in self._effects.get(checkpoint, ())}
        record, document = self._tree.record_of(checkpoint), self._services.document()
        if record is None or not outside:
            return None
        recording = await recorded_after(await self._opened_store(), self._services.codec, record.id, checkpoint)
        names = {node.id: node.name for node in document.nodes}
        others = {path.split("/")[0] for path in recording.calls} | {
            i.path.split("/")[0] for i in recording.invocations
        }
        others -= outside
        return Tape(recording.without(others), whole=False, name_of=lambda node: names.get(node) or node)

    def state_values(self, texts: Mapping[str, str], before: Mapping[str, Any]) -> dict[str, Any]:
        """Typed texts as values of shared state. Raises :class:`studio.debugger.forks.EditProblem`."""
        return {key: state_value(key, text, before.get(key)) for key, text in texts.items()}


def _links(document: Workflow) -> bool:
    """Whether a drawing has a sub-workflow that is read from a file."""
    return any(isinstance(node, SubWorkflowNode) and node.path is not None for node in document.nodes)
