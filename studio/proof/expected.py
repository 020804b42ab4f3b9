"""What the canvas does with a document: its graph, and one run on the embedded engine with scripted replies."""

from __future__ import annotations

import asyncio
import tempfile
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from studio.agents.messages import AgentUpdate, ApprovalRequest, ToolCall
from studio.agents.stored_history import HistoryRows
from studio.assembly import ServiceSource, compile_plan
from studio.assembly.histories import HistoryFiles
from studio.assembly.texts import plain_value
from studio.debugger.answers import answer_kind, answer_value
from studio.document.model import OfflineScript, Workflow
from studio.engine import events as e
from studio.engine.errors import WorkflowError
from studio.engine.graph import Edge as GraphEdge
from studio.engine.values import Record
from studio.engine.workflow import Workflow as Graph
from studio.export.smoke import example
from studio.proof.model import Outcome, Shape
from studio.proof.ordering import unordered
from studio.settings.profiles import OFFLINE_NAME, Profiles
from studio.settings.secrets import Secrets

_KINDS = {
    "DirectEdge": "SingleEdgeGroup",
    "FanOutEdge": "FanOutEdgeGroup",
    "SwitchEdge": "SwitchCaseEdgeGroup",
    "FanInEdge": "FanInEdgeGroup",
}


@dataclass(frozen=True, slots=True)
class Sample:
    """What both sides are given: input, replies of the models (in place of those of the document's own script; an
    agent inside an embedded workflow is ``node/agent``), and answers by node, in the order of its requests. What has no
    answer here gets one that fits."""

    input: Any = ""
    script: OfflineScript | None = None
    answers: Mapping[str, list[JsonValue]] = field(default_factory=dict)
    name: str = ""
    """Of the recorded run, for people; empty: scripted replies."""


async def outcome_of(
    document: Workflow,
    sample: Sample,
    folder: Path | None = None,
    *,
    interpreter: str | None = None,
    source: ServiceSource | None = None,
) -> tuple[Shape, Outcome, dict[str, list[JsonValue]]]:
    """The graph, the run, and the answers that were given in it. User code runs: ask for trust before.

    ``source`` is used again for many documents in a row; without it one is made and closed.
    """
    if source is None:
        source = offline_source()
        try:
            return await outcome_of(document, sample, folder, interpreter=interpreter, source=source)
        finally:
            await source.close()
    services = source.services(document.model_copy(update={"interpreter": interpreter}), folder)
    with tempfile.TemporaryDirectory(prefix="proof-") as own:
        histories = OwnHistories(Path(own))
        try:
            plan = await asyncio.to_thread(compile_plan, document, replace(services, histories=histories))
            await plan.prepare()
            run = _Run(document, sample)
            outcome = await run.run(plan.engine)
        finally:
            await histories.close()
    return shape_of(plan.engine), outcome, run.given


class OwnHistories(HistoryFiles):
    """Histories in a folder of their own: a proof reads and leaves nothing in those of the user."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._places: dict[Path, Path] = {}

    def rows(self, store: str, path: Path) -> HistoryRows:
        return super().rows(store, self._places.setdefault(path, self._folder / str(len(self._places))))


def offline_source() -> ServiceSource:
    """Services with the built-in model alone; code runs."""
    return ServiceSource(Profiles, Secrets(), trusts=lambda *_: True, provider=OFFLINE_NAME)


def shape_of(graph: Graph) -> Shape:
    """The graph as the framework's names it."""
    edges = sorted(_edge(edge) for edge in graph.edges)
    return Shape(graph.start, tuple(sorted(graph.executors)), tuple(edges))


def _edge(edge: GraphEdge) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    return _KINDS[type(edge).__name__], tuple(sorted(edge.sources)), tuple(sorted(set(edge.targets)))


class _Run:
    def __init__(self, document: Workflow, sample: Sample) -> None:
        self._document = document
        self._sample = sample
        self._left = {node: list(answers) for node, answers in sample.answers.items()}
        self.given: dict[str, list[JsonValue]] = {}

    async def run(self, graph: Graph) -> Outcome:
        """To the end, as long as it asks."""
        events: deque[e.Event] = deque()
        try:
            result = await graph.run(self._sample.input, stream=True, events=events)
            while result.requests:
                answers = {r.id: self._answer(r.node, r.data, r.response_type) for r in result.requests}
                result = await graph.run(answers=answers, stream=True, events=events)
        except WorkflowError:
            return _outcome(events, "")  # what failed is in the events
        except Exception as problem:
            return _outcome(events, f"{type(problem).__name__}: {problem}")
        return _outcome(events, "")

    def _answer(self, node: str, data: Any, response_type: str) -> Any:
        left = self._left.get(node)
        plain: JsonValue = left.pop(0) if left else _fitting(self._document, data, response_type)
        self.given.setdefault(node, []).append(plain)
        return answer_value(data, response_type, plain, self._document)


def _fitting(document: Workflow, data: Any, response_type: str) -> JsonValue:
    """An answer that a request takes."""
    kind = answer_kind(data, response_type)
    if isinstance(data, ApprovalRequest):
        return True
    if isinstance(data, ToolCall):
        return "done"
    if kind == "choice":
        choices = data.get("choices") if isinstance(data, Record | Mapping) else ()
        return str(next(iter(choices or ("yes",))))
    simple: dict[str, JsonValue] = {"text": "yes", "bool": True, "number": 1, "object": {}, "list": []}
    if kind in simple:
        return simple[kind]
    declared = next((t.json_schema for t in document.types if t.name == kind), {})
    return example(dict(declared))


def _outcome(events: deque[e.Event], failure: str) -> Outcome:
    supersteps: list[list[tuple[str, str]]] = [[]]
    outputs: list[tuple[str, Any]] = []
    open_chunks: dict[str, int] = {}
    failed: tuple[str, str] | None = ("", failure) if failure else None
    for event in events:
        if getattr(event, "inside", ()):
            continue
        match event:
            case e.SuperstepStarted():
                supersteps.append([])
            case e.NodeFailed():
                failed = (event.node, f"{event.error}: {event.message}")
            case e.RunFailed() if failed is None:
                failed = ("", getattr(event, "message", ""))
            case e.OutputYielded(intermediate=False):
                if not _output(event, outputs, open_chunks):
                    continue
        noted = _noted(event)
        if noted is not None:
            supersteps[-1].append(noted)
    kept = [number for number, step in enumerate(supersteps) if step]
    loose = {(kept.index(number), node) for number, node in unordered(events)}
    return Outcome(tuple(tuple(supersteps[number]) for number in kept), tuple(outputs), failed, frozenset(loose))


def _output(event: e.OutputYielded, outputs: list[tuple[str, Any]], open_chunks: dict[str, int]) -> bool:
    """Adds an output; False for a further chunk of one that is there."""
    if not isinstance(event.data, AgentUpdate):
        outputs.append((event.node, plain_value(event.data)))
        return True
    at = open_chunks.setdefault(event.invocation, len(outputs))
    new = at == len(outputs)
    if new:
        outputs.append((event.node, ""))
    outputs[at] = (event.node, outputs[at][1] + event.data.text)
    return new


def _noted(event: e.Event) -> tuple[str, str] | None:
    match event:
        case e.NodeStarted():
            return ("invoked", event.node)
        case e.NodeFinished():
            return ("completed", event.node)
        case e.NodeFailed():
            return ("failed", event.node)
        case e.RequestRaised():
            return ("asked", event.node)
        case e.OutputYielded(intermediate=False):
            return ("output", event.node)
    return None
