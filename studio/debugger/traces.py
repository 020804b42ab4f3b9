"""What happened on the way to a moment, superstep by superstep and node by node: what comparisons are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from studio.agents.messages import Message, Usage
from studio.assembly.texts import value_text
from studio.engine import events as ev

CostOf = Callable[[str, str, Usage], float | None]
"""What a model call cost, by node, model and tokens; None if nobody knows."""


def told_cost(_node: str, _model: str, usage: Usage) -> float | None:
    """What the call itself was told to cost; None: not known, or in several currencies. Where nothing is paid for, as
    with the offline model, no price is looked up."""
    if usage.cost is None:
        return 0.0
    amounts = list(usage.cost.amounts.values())
    return float(amounts[0]) if len(amounts) == 1 else None


@dataclass(slots=True)
class Spent:
    """Tokens, money, seconds. ``cost`` None: not known for at least one call, unless there was none."""

    tokens: int = 0
    cost: float | None = 0.0
    seconds: float = 0.0
    calls: int = 0

    def add(self, other: Spent) -> None:
        """Adds up; what is unknown stays unknown."""
        self.tokens += other.tokens
        self.seconds += other.seconds
        self.calls += other.calls
        self.cost = None if self.cost is None or other.cost is None else self.cost + other.cost


@dataclass(slots=True)
class NodeTrace:
    """One run of one node. ``prompt``: the messages of its last model call, as (role, text); ``reply``: what it sent
    and yielded."""

    node: str
    invocation: str
    superstep: int
    given: str = ""
    reply: str = ""
    error: str = ""
    prompt: tuple[tuple[str, str], ...] = ()
    tools: list[str] = field(default_factory=list)
    spent: Spent = field(default_factory=Spent)
    started: float = 0.0
    taken: list[tuple[str, str]] = field(default_factory=list)
    """Edges that what it sent has travelled on, with their targets; in the superstep after."""


@dataclass(slots=True)
class MessageTrace:
    """A message. ``target`` None: by its edges."""

    id: str
    source: str
    target: str | None
    text: str
    superstep: int


@dataclass(slots=True)
class StepTrace:
    """One superstep. ``number`` counts from the last input, ``checkpoint`` is the one saved after it."""

    number: int
    nodes: list[NodeTrace] = field(default_factory=list)
    messages: list[MessageTrace] = field(default_factory=list)
    written: dict[str, Any] = field(default_factory=dict)
    answers: list[tuple[str, str]] = field(default_factory=list)
    """What a person answered before it: node and text."""
    checkpoint: str | None = None


@dataclass(slots=True)
class Trace:
    """The whole way. ``state`` is the shared state at its end, as far as it was written."""

    steps: list[StepTrace] = field(default_factory=list)
    given: str = ""
    state: dict[str, Any] = field(default_factory=dict)
    spent: Spent = field(default_factory=Spent)
    error: str = ""


class TraceFolder:
    """Makes a trace from events, oldest first; a sink for :func:`studio.debugger.branches.replay`."""

    def __init__(self, cost_of: CostOf = told_cost) -> None:
        self.trace = Trace()
        self._cost_of = cost_of
        self._running: dict[str, NodeTrace] = {}
        self._models: dict[str, str] = {}
        self._senders: dict[str, NodeTrace] = {}
        self._asked: dict[str, str] = {}
        self._answers: list[tuple[str, str]] = []

    def fold(self, event: ev.Event) -> None:
        """Takes the next event; what happens inside sub-workflows counts for their node."""
        handler = _HANDLERS.get(type(event))
        if handler is not None:
            handler(self, event)

    def _step(self) -> StepTrace:
        if not self.trace.steps:
            self.trace.steps.append(StepTrace(0))
        return self.trace.steps[-1]

    def _run_started(self, event: ev.RunStarted) -> None:
        if event.kind == "input" and not self.trace.steps:
            self.trace.given = value_text(event.data)

    def _superstep_started(self, event: ev.SuperstepStarted) -> None:
        if not event.inside:
            answers, self._answers = self._answers, []
            self.trace.steps.append(StepTrace(event.superstep, answers=answers))

    def _node_started(self, event: ev.NodeStarted) -> None:
        if not event.inside:
            node = NodeTrace(event.node, event.invocation, event.superstep, value_text(event.data), started=event.t)
            self._running[event.invocation] = node
            self._step().nodes.append(node)

    def _owner(self, event: Any) -> NodeTrace | None:
        found = self._running.get(event.invocation)
        if found is not None or not event.inside:
            return found
        return next((n for n in reversed(self._step().nodes) if n.node == event.inside[0]), None)

    def _node_finished(self, event: ev.NodeFinished) -> None:
        node = self._running.get(event.invocation)
        if node is not None and not event.inside:
            texts = dict.fromkeys(value_text(item) for item in event.data)
            node.reply = "\n".join(text for text in texts if text)
            self._end(node, event.t)

    def _node_failed(self, event: ev.NodeFailed) -> None:
        node = self._running.get(event.invocation)
        if node is not None and not event.inside:
            node.error = event.message or event.error
            self._end(node, event.t)

    def _end(self, node: NodeTrace, at: float) -> None:
        node.spent.seconds = max(0.0, at - node.started)
        self.trace.spent.add(node.spent)

    def _model_call_started(self, event: ev.ModelCallStarted) -> None:
        self._models[event.call] = event.model
        node = self._owner(event)
        if node is not None:
            node.prompt = tuple((str(m.role), _words(m)) for m in event.messages)

    def _model_call_finished(self, event: ev.ModelCallFinished) -> None:
        node = self._owner(event)
        if node is None:
            return
        usage, model = event.usage, self._models.get(event.call, "")
        node.spent.calls += 1
        cost = self._cost_of(event.node, model, usage) if usage is not None else None
        node.spent.cost = None if cost is None or node.spent.cost is None else node.spent.cost + cost
        if usage is not None:
            node.spent.tokens += (usage.input or 0) + (usage.output or 0)

    def _tool_started(self, event: ev.ToolStarted) -> None:
        node = self._owner(event)
        if node is not None:
            node.tools.append(event.call.name)

    def _message_queued(self, event: ev.MessageQueued) -> None:
        if event.inside:
            return
        message = MessageTrace(event.message, event.source, event.target, value_text(event.data), event.superstep)
        self._step().messages.append(message)
        sender = self._running.get(event.invocation or "")
        if sender is not None:
            self._senders[event.message] = sender

    def _message_routed(self, event: ev.MessageRouted) -> None:
        sender = self._senders.get(event.message)
        if sender is not None and event.delivered and not event.inside:
            sender.taken.append((event.edge, event.target))

    def _state_written(self, event: ev.StateWritten) -> None:
        if not event.inside:
            self._step().written[event.key] = event.value
            self.trace.state[event.key] = event.value

    def _request_raised(self, event: ev.RequestRaised) -> None:
        self._asked[event.request] = event.inside[0] if event.inside else event.node

    def _request_answered(self, event: ev.RequestAnswered) -> None:
        self._answers.append((self._asked.get(event.request, event.node), value_text(event.value)))

    def _checkpoint_saved(self, event: ev.CheckpointSaved) -> None:
        if event.kind == "superstep" and self.trace.steps:
            self.trace.steps[-1].checkpoint = event.checkpoint

    def _run_failed(self, event: ev.RunFailed) -> None:
        self.trace.error = event.message or event.error


def _words(message: Message) -> str:
    """A message as text, calls and results of tools included."""
    return "\n".join(text for text in (value_text(part) for part in message.parts) if text)


def made(events: Iterable[ev.Event], cost_of: CostOf = told_cost) -> Trace:
    """The trace of these events."""
    folder = TraceFolder(cost_of)
    for event in events:
        folder.fold(event)
    return folder.trace


_HANDLERS: Mapping[type, Callable[[TraceFolder, Any], None]] = {
    ev.RunStarted: TraceFolder._run_started,
    ev.SuperstepStarted: TraceFolder._superstep_started,
    ev.NodeStarted: TraceFolder._node_started,
    ev.NodeFinished: TraceFolder._node_finished,
    ev.NodeFailed: TraceFolder._node_failed,
    ev.ModelCallStarted: TraceFolder._model_call_started,
    ev.ModelCallFinished: TraceFolder._model_call_finished,
    ev.ToolStarted: TraceFolder._tool_started,
    ev.MessageQueued: TraceFolder._message_queued,
    ev.MessageRouted: TraceFolder._message_routed,
    ev.StateWritten: TraceFolder._state_written,
    ev.RequestRaised: TraceFolder._request_raised,
    ev.RequestAnswered: TraceFolder._request_answered,
    ev.CheckpointSaved: TraceFolder._checkpoint_saved,
    ev.RunFailed: TraceFolder._run_failed,
}
