"""Makes context records from the events of a run, oldest first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from studio.agents.messages import (
    AgentReply,
    AgentRequest,
    AgentResponse,
    AgentUpdate,
    ApprovalRequest,
    ApprovalResponse,
    Message,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)
from studio.assembly.texts import is_messages, value_text
from studio.debugger.context.given import Given, first_call, given_by, instructions_in, next_call
from studio.debugger.context.items import ContextRecord, Host, Item, Maker
from studio.document.model import AgentNode, RunnerNode, SubWorkflowNode, Workflow
from studio.engine import events as ev
from studio.engine.values import TurnToken

_TOKEN_HOST = "turn_token"
WORKFLOW_INPUT = "input"
"""Where an item came from that a person gave the run."""


@dataclass(slots=True)
class Sent:
    """A message on its way. ``outcomes``: (edge, target, reason), "" if it was delivered."""

    id: str
    source: str
    data: Any
    purpose: str
    superstep: int
    record: ContextRecord | None
    items: list[Item]
    outcomes: list[tuple[str, str, str]] = field(default_factory=list)
    over: bool = False
    """The superstep that would have delivered it is over."""

    @property
    def dropped(self) -> bool:
        """Nobody got it, and nobody keeps it."""
        if self.outcomes:
            return all(reason not in ("", "buffered") for _, _, reason in self.outcomes)
        return self.over


@dataclass(frozen=True, slots=True)
class Request:
    """What a person said to the run: its input, or an answer. ``order``: when, among invocations."""

    item: Item
    turn: int
    order: int


class ContextFolder:
    """Records of one run. ``document`` is what it runs: hosts, tools and names come from it."""

    def __init__(self, document: Workflow) -> None:
        self.document = document
        self.records: dict[str, ContextRecord] = {}
        self.requests: list[Request] = []
        self.sent: dict[str, Sent] = {}
        self.kept: dict[tuple[str, str], list[Sent]] = {}
        """What joins keep, by edge and target, in the order of delivery: not the order in which it was sent."""
        self.pending: dict[str, str] = {}
        """Open requests to a person, with the node that asked."""
        self.written: list[tuple[str, Item]] = []
        """Invocation and value of every state key that was written; the key is the item's ``origin_ref``."""
        self.idle = False
        self.turn = 0
        self.changed: set[str] = set()
        """Invocations that ended since somebody cleared it."""
        self.last_model_call: dict[int, int] = {}
        """By turn: when, among invocations, the last one that asked a model began."""
        self._maker = Maker()
        self._order = 0
        self._nodes = {node.id: node for node in document.nodes}
        self._buffers: dict[str, list[Given]] = {}
        self._last_call: dict[str, list[tuple[Message, Item]]] = {}
        self._given: dict[str, list[Given]] = {}
        self._arrived: dict[str, list[Sent]] = {}
        self._waiting: list[Sent] = []
        self._chunks: dict[str, list[AgentUpdate]] = {}
        self._running: dict[tuple[str, ...], str] = {}

    def fold(self, event: ev.Event) -> None:
        """Takes the next event."""
        handler = _HANDLERS.get(type(event))
        if handler is not None:
            handler(self, event)

    def host_of(self, node: str) -> Host:
        """How a node takes its input."""
        found = self._nodes.get(node)
        if isinstance(found, AgentNode):
            return "turn_token" if found.host == _TOKEN_HOST else "python"
        return "runner" if isinstance(found, RunnerNode) else "plain"

    def buffered(self, node: str) -> list[Given]:
        """What a turn-token agent was told since its last turn."""
        return self._buffers.get(node, [])

    def running(self, path: str) -> ContextRecord | None:
        """The latest invocation of a node: its id, behind those of the sub-workflow nodes around it."""
        return self.records.get(self._running.get(tuple(path.split("/")), ""))

    def peek(self, record: ContextRecord, messages: Sequence[Message]) -> tuple[Item, ...]:
        """The items of a model call that is about to be made."""
        before = self._last_call.get(record.invocation)
        if before is None:
            return first_call(messages, self._given.get(record.invocation, []), self._maker)
        return next_call(messages, before, self._maker)

    # ------------------------------------------------------------------------------------------------ the run

    def _run_started(self, event: ev.RunStarted) -> None:
        self.idle = False
        if event.kind == "input":
            self.turn += 1
            self._request(event.data)

    def _request(self, data: Any) -> None:
        self._order += 1
        for item in self._maker.items(data):
            if item.role == "user" and item.text:
                self.requests.append(Request(item, self.turn, self._order))

    def _status_changed(self, event: ev.StatusChanged) -> None:
        self.idle = event.state == "IDLE"

    def _superstep_finished(self, event: ev.SuperstepFinished) -> None:
        if not event.inside:
            for sent in self._waiting:
                sent.over = sent.superstep < event.superstep
            self._waiting = [sent for sent in self._waiting if not sent.over]
            self._arrived.clear()

    # ---------------------------------------------------------------------------------------------- invocations

    def _node_started(self, event: ev.NodeStarted) -> None:
        self._order += 1
        node = None if event.inside else self._nodes.get(event.node)
        record = ContextRecord(
            event.invocation,
            event.node,
            node.kind if node is not None else "inner" if event.inside else "junction",
            event.superstep,
            self.turn,
            event.t,
            self._order,
            event.sources,
            event.inside,
            "plain" if event.inside else self.host_of(event.node),
        )
        self.records[event.invocation] = record
        self._running[(*event.inside, event.node)] = event.invocation
        self._take_given(event, record)

    def _take_given(self, event: ev.NodeStarted, record: ContextRecord) -> None:
        sent = self._sent_as(event)
        purpose = sent.purpose if sent is not None else "send"
        source = event.sources[0] if event.sources else ""
        if source == "chat_start" or purpose == "input":
            purpose = source = WORKFLOW_INPUT  # the start only hands the workflow's input on
        given = given_by(event.data, record.host, purpose, source)
        if record.host in ("turn_token", "python"):
            given = self._buffers.setdefault(event.node, []) + given
            token, told = isinstance(event.data, TurnToken), isinstance(event.data, AgentRequest)
            asks = record.host == "python" and not (told and not event.data.should_respond)
            record.took_turn = token or asks
            if token:
                record.emit = event.data.emit_events
            record.by_answer = isinstance(event.data, ApprovalResponse | ToolResult)
            self._buffers[event.node] = [] if record.took_turn and not record.by_answer else given
        else:
            record.took_turn = True
        self._given[event.invocation] = given
        if record.host == "plain" or not record.took_turn:
            self._see_given(record, given)

    def _see_given(self, record: ContextRecord, given: list[Given]) -> None:
        items = (self._maker.item(g.message, origin=g.origin, origin_ref=g.ref) for g in given)
        record.seen = [tuple(items)]

    def _sent_as(self, event: ev.NodeStarted) -> Sent | None:
        waiting = self._arrived.get(event.node, [])
        for same in (lambda s: s.data is event.data, lambda s: s.data == event.data):
            for at, sent in enumerate(waiting):
                if same(sent):
                    return waiting.pop(at)
        return None

    def _model_call_started(self, event: ev.ModelCallStarted) -> None:
        record = self.records.get(event.invocation)
        if record is None:
            return
        items = self.peek(record, event.messages)
        if event.invocation not in self._last_call:
            record.seen = []
        record.calls_model = record.took_turn = True
        self.last_model_call[record.turn] = max(record.order, self.last_model_call.get(record.turn, 0))
        self._buffers[event.node] = []
        told = instructions_in(event.settings)
        first = [self._maker.item(told, role="system", origin="instructions", origin_ref="drawing")] if told else []
        record.seen.append((*first, *items))
        self._last_call[event.invocation] = list(zip(event.messages, items, strict=True))

    def _model_call_finished(self, event: ev.ModelCallFinished) -> None:
        record = self.records.get(event.invocation)
        if record is None or event.reply is None:
            return
        record.answers.append(event.reply.text)
        for message in event.reply.messages:
            for part in message.parts:
                if isinstance(part, Reasoning):
                    record.hidden.append(self._maker.item(part, role="think", note="reasoning"))
        if event.usage is not None:
            counts = f"{event.usage.input or 0} in, {event.usage.output or 0} out"
            record.hidden.append(self._maker.item(counts, role="usage", tokens=0, note="usage"))

    def _node_ended(self, event: ev.NodeFinished | ev.NodeFailed) -> None:
        record = self.records.get(event.invocation)
        if record is None:
            return
        record.ended, record.status = event.t, "done" if isinstance(event, ev.NodeFinished) else "failed"
        self._end_stream(record)
        if not record.seen:  # its reply was pinned, or it failed before it asked a model
            self._see_given(record, self._given.get(event.invocation, []))
        if isinstance(event, ev.NodeFailed):
            # what a failed superstep sent and showed does not count
            record.explicit_out, record.implicit_out = [], []
        self.changed.add(event.invocation)
        self._last_call.pop(event.invocation, None)
        self._given.pop(event.invocation, None)

    def _node_event(self, event: ev.NodeEvent) -> None:
        record = self.records.get(event.invocation)
        if record is not None and event.kind in ("muted", "pinned"):
            record.replaced = True

    def _history_written(self, event: ev.HistoryWritten) -> None:
        record = self.records.get(event.invocation)
        if record is not None:
            record.written += [self._maker.item(m, origin_ref=event.source) for m in event.messages]

    # ------------------------------------------------------------------------------------------- what it gives

    def _message_queued(self, event: ev.MessageQueued) -> None:
        record = self.records.get(event.invocation or "")
        if event.inside:
            self._inner(event)
        if record is None and event.purpose not in ("input", "answer"):
            return
        items = self._give(record, event) if record is not None else self._maker.items(event.data)
        if not event.inside:
            sent = Sent(event.message, event.source, event.data, event.purpose, event.superstep, record, items)
            self.sent[event.message] = sent
            self._waiting.append(sent)

    def _give(self, record: ContextRecord, event: ev.MessageQueued) -> list[Item]:
        data, make = event.data, self._maker
        if isinstance(data, TurnToken):
            return []
        if isinstance(data, AgentResponse):
            record.sent_reply = data.reply.text
            explicit = [make.item(m) for m in data.reply.messages]
            record.explicit_out += explicit
            before = data.conversation[: len(data.conversation) - len(data.reply.messages)]
            record.implicit_out += [make.item(m, note="conversation") for m in before]
            return explicit
        told = isinstance(data, AgentRequest) and not data.should_respond
        if event.purpose == "response" and is_messages(data):
            record.sent_reply = "".join(m.text for m in data)
        if told or event.purpose == "forward":
            items = make.items(data, note="conversation")
            record.implicit_out += items
        else:
            role = {} if isinstance(data, Message | AgentRequest) or is_messages(data) else {"role": "data"}
            items = make.items(data, **role) if not role else [make.item(data, **role)]
            record.explicit_out += items
        return items

    def _inner(self, event: ev.MessageQueued) -> None:
        """A message inside a sub-workflow stays hidden from everybody around it."""
        outer = self.records.get(self._running.get(event.inside[:1], ""))
        if outer is not None and isinstance(self._nodes.get(outer.node), SubWorkflowNode):
            text = value_text(event.data)
            if text and not isinstance(event.data, TurnToken):
                outer.hidden.append(self._maker.item(text, role="inside", author=event.source, note="inside"))

    def _message_routed(self, event: ev.MessageRouted) -> None:
        sent = None if event.inside else self.sent.get(event.message)
        if sent is not None:
            sent.outcomes.append((event.edge, event.target, "" if event.delivered else event.reason))
            if event.delivered:
                self._arrived.setdefault(event.target, []).append(sent)
                self.kept.pop((event.edge, event.target), None)
            elif event.reason == "buffered":
                self.kept.setdefault((event.edge, event.target), []).append(sent)

    def _output_yielded(self, event: ev.OutputYielded) -> None:
        record = self.records.get(event.invocation)
        if record is None:
            return
        if isinstance(event.data, AgentUpdate):
            self._chunks.setdefault(event.invocation, []).append(event.data)
            if event.intermediate:
                record.intermediate.add("")
            return
        if isinstance(event.data, AgentReply):
            items = [self._maker.item(m) for m in event.data.messages if m.text]
        elif isinstance(event.data, Message) or is_messages(event.data):
            items = self._maker.items(event.data)
        else:
            items = [self._maker.item(event.data, role="data")]
        record.shown += items
        if event.intermediate:
            record.intermediate |= {item.id for item in items}

    def _end_stream(self, record: ContextRecord) -> None:
        chunks = self._chunks.pop(record.invocation, [])
        text = "".join(chunk.text for chunk in chunks)
        if text:
            id = next((c.message_id for c in reversed(chunks) if c.message_id), None)
            author = next((c.author for c in chunks if c.author), None)
            item = self._maker.item(Message("assistant", (Text(text),), author, id))
            record.shown.append(item)
            if "" in record.intermediate:
                record.intermediate.add(item.id)
        record.intermediate.discard("")

    def _state_written(self, event: ev.StateWritten) -> None:
        invocation = self._running.get((*event.inside, event.node))
        if invocation is not None and not event.inside:
            self.written.append((invocation, self._maker.item(event.value, role="state", origin_ref=event.key)))

    # ------------------------------------------------------------------------------------------------- requests

    def _request_raised(self, event: ev.RequestRaised) -> None:
        self.pending[event.request] = event.inside[0] if event.inside else event.node
        record = self.records.get(self._running.get((*event.inside, event.node), ""))
        if record is not None and not event.again:
            data = event.data.call if isinstance(event.data, ApprovalRequest) else event.data
            role = "call" if isinstance(data, ToolCall) else "ask"
            record.explicit_out.append(self._maker.item(data, role=role, note="request"))
            record.asked.append(event.request)

    def _request_gone(self, event: ev.RequestAnswered | ev.RequestCancelled) -> None:
        self.pending.pop(event.request, None)
        if isinstance(event, ev.RequestAnswered) and isinstance(event.value, str):
            self._request(event.value)


_HANDLERS: Mapping[type, Callable[[ContextFolder, Any], None]] = {
    ev.RunStarted: ContextFolder._run_started,
    ev.StatusChanged: ContextFolder._status_changed,
    ev.SuperstepFinished: ContextFolder._superstep_finished,
    ev.NodeStarted: ContextFolder._node_started,
    ev.NodeFinished: ContextFolder._node_ended,
    ev.NodeFailed: ContextFolder._node_ended,
    ev.NodeEvent: ContextFolder._node_event,
    ev.HistoryWritten: ContextFolder._history_written,
    ev.ModelCallStarted: ContextFolder._model_call_started,
    ev.ModelCallFinished: ContextFolder._model_call_finished,
    ev.MessageQueued: ContextFolder._message_queued,
    ev.MessageRouted: ContextFolder._message_routed,
    ev.OutputYielded: ContextFolder._output_yielded,
    ev.StateWritten: ContextFolder._state_written,
    ev.RequestRaised: ContextFolder._request_raised,
    ev.RequestAnswered: ContextFolder._request_gone,
    ev.RequestCancelled: ContextFolder._request_gone,
}
