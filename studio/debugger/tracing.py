"""A run as a tree of spans: workflow, supersteps, agents, model calls, tools. Made from its events, with their times.

Parents are set by hand: events know to which invocation they belong, so nothing depends on tasks or threads.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from studio.agents import telemetry as names
from studio.agents.messages import Message, Usage
from studio.agents.redaction import redact
from studio.engine import events as ev

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

_ENDED = ("IDLE", "IDLE_WITH_PENDING_REQUESTS", "FAILED", "CANCELLED")


@dataclass(frozen=True, slots=True)
class AgentFacts:
    """What spans say of an agent. ``attributes``: provider, server and request settings by their names."""

    name: str
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class _Node:
    """An invocation: its span is made when it first asks a model or runs a tool."""

    event: ev.NodeStarted
    span: Span | None = None
    usage: Usage | None = None


class RunTrace:
    """An event sink in front of another one. ``content``: messages, arguments and results go along, without secrets."""

    def __init__(
        self,
        sink: ev.EventSink,
        tracer: Tracer,
        workflow: str,
        run: str,
        *,
        agents: Mapping[str, AgentFacts] | None = None,
        fingerprint: str = "",
        content: bool = False,
        known: Callable[[], frozenset[str]] = frozenset,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self._sink = sink
        self._tracer = tracer
        self._root_attributes = {
            names.OPERATION: "invoke_workflow",
            names.WORKFLOW: workflow,
            names.RUN_ID: run,
            **({names.FINGERPRINT: fingerprint} if fingerprint else {}),
        }
        self._agents = agents or {}
        self._content = content
        self._known = known
        self._clock = clock
        self._offset: int | None = None
        self._root: Span | None = None
        self._steps: dict[tuple[str, ...], tuple[Span, list[str]]] = {}
        self._nodes: dict[str, _Node] = {}
        self._calls: dict[tuple[str, str], tuple[Span, float, bool]] = {}
        self._tools: dict[tuple[str, str], Span] = {}
        self._failed = ""

    def append(self, event: ev.Event) -> None:
        """The next event: spans first, then the sink behind."""
        handler = _HANDLERS.get(type(event))
        if handler is not None:
            handler(self, event)
        self._sink.append(event)

    # ------------------------------------------------------------------------------------------------------ pieces

    def _time(self, t: float) -> int:
        """Unix time in nanoseconds of a time of the run."""
        if self._offset is None:
            self._offset = self._clock() - int(t * 1e9)
        return self._offset + int(t * 1e9)

    def _begin(
        self, name: str, t: float, attributes: Mapping[str, Any], parent: Span | None, *, client: bool = False
    ) -> Span:
        from opentelemetry import trace
        from opentelemetry.context import Context

        kind = trace.SpanKind.CLIENT if client else trace.SpanKind.INTERNAL
        # An empty context, not the current one: whatever span runs around the program is no parent of ours.
        context = Context() if parent is None else trace.set_span_in_context(parent, Context())
        return self._tracer.start_span(
            name, context=context, kind=kind, attributes=dict(attributes), start_time=self._time(t)
        )

    def _end(self, span: Span, t: float, error: str = "", message: str = "") -> None:
        from opentelemetry.trace import Status, StatusCode

        if error:
            span.set_attribute(names.ERROR_TYPE, error)
            if error != "cancelled":
                span.set_status(Status(StatusCode.ERROR, str(redact(message, self._known()))[:300]))
        span.end(self._time(t))

    def _step(self, inside: tuple[str, ...]) -> Span | None:
        found = self._steps.get(inside)
        return found[0] if found is not None else self._root

    def _agent(self, invocation: str, t: float) -> Span | None:
        """The span of an invocation's agent, begun when its node was."""
        node = self._nodes.get(invocation)
        if node is None:
            return self._root
        if node.span is None:
            id = node.event.node
            facts = self._agents.get("/".join((*node.event.inside, id))) or AgentFacts(id)
            attributes = {
                names.OPERATION: "invoke_agent",
                names.AGENT_NAME: facts.name,
                names.AGENT_ID: id,
                **facts.attributes,
            }
            parent = self._step(node.event.inside)
            node.span = self._begin(f"invoke_agent {facts.name}", node.event.t, attributes, parent)
        return node.span

    def _facts(self, node: str, inside: tuple[str, ...]) -> Mapping[str, Any]:
        facts = self._agents.get("/".join((*inside, node)))
        return facts.attributes if facts is not None else {}

    def _end_all(self, t: float, error: str, message: str) -> None:
        """What is open at the end of the run, the innermost first."""
        for span in (*self._tools.values(), *(call[0] for call in self._calls.values())):
            self._end(span, t, error, message)
        for node in self._nodes.values():
            if node.span is not None:
                self._end(node.span, t, error, message)
        for step, _ in reversed(self._steps.values()):
            self._end(step, t, error, message)
        self._tools, self._calls, self._nodes, self._steps = {}, {}, {}, {}

    # ---------------------------------------------------------------------------------------------------- handlers

    def _run_started(self, event: ev.RunStarted) -> None:
        if self._root is None:
            self._failed = ""
            name = str(self._root_attributes[names.WORKFLOW])
            self._root = self._begin(f"invoke_workflow {name}", event.t, self._root_attributes, None)

    def _status_changed(self, event: ev.StatusChanged) -> None:
        if event.state not in _ENDED or self._root is None:
            return
        error = (
            "cancelled" if event.state == "CANCELLED" else self._failed or "error" if event.state == "FAILED" else ""
        )
        self._end_all(event.t, error, self._failed)
        self._end(self._root, event.t, error, self._failed)
        self._root = None

    def _run_failed(self, event: ev.RunFailed) -> None:
        self._failed = event.error

    def _superstep_started(self, event: ev.SuperstepStarted) -> None:
        parent = self._step(event.inside[:-1]) if event.inside else self._root
        attributes = {names.SUPERSTEP: event.superstep}
        span = self._begin(f"superstep {event.superstep}", event.t, attributes, parent)
        self._steps[event.inside] = (span, [])

    def _superstep_finished(self, event: ev.SuperstepFinished) -> None:
        found = self._steps.pop(event.inside, None)
        if found is not None:
            found[0].set_attribute(names.EXECUTORS, tuple(dict.fromkeys(found[1])))
            self._end(found[0], event.t)

    def _node_started(self, event: ev.NodeStarted) -> None:
        self._nodes[event.invocation] = _Node(event)
        step = self._steps.get(event.inside)
        if step is not None:
            step[1].append(event.node)

    def _node_ended(self, event: ev.NodeFinished | ev.NodeFailed) -> None:
        node = self._nodes.pop(event.invocation, None)
        if node is None or node.span is None:
            return
        _set_usage(node.span, node.usage)
        if isinstance(event, ev.NodeFailed):
            self._end(node.span, event.t, event.error, event.message)
        else:
            self._end(node.span, event.t)

    def _call_started(self, event: ev.ModelCallStarted) -> None:
        parent = self._agent(event.invocation, event.t)
        attributes: dict[str, Any] = {names.OPERATION: "chat", **self._facts(event.node, event.inside)}
        if event.model:
            attributes[names.REQUEST_MODEL] = event.model
        if self._content:
            attributes[names.INPUT_MESSAGES] = self._said(event.messages)
        span = self._begin(f"chat {event.model}".rstrip(), event.t, attributes, parent, client=True)
        self._calls[event.invocation, event.call] = (span, event.t, False)

    def _tokens_arrived(self, event: ev.TokensArrived) -> None:
        for key, (span, t, told) in self._calls.items():
            if key[0] == event.invocation and not told:
                span.set_attribute(names.FIRST_CHUNK, event.t - t)
                self._calls[key] = (span, t, True)
                return

    def _call_finished(self, event: ev.ModelCallFinished) -> None:
        found = self._calls.pop((event.invocation, event.call), None)
        if found is None:
            return
        span = found[0]
        _set_usage(span, event.usage)
        node = self._nodes.get(event.invocation)
        if node is not None and event.usage is not None:
            node.usage = event.usage if node.usage is None else node.usage + event.usage
        if event.finish_reason:
            span.set_attribute(names.FINISH_REASONS, (event.finish_reason,))
        error = "" if not event.error else "cancelled" if event.error == "cancelled" else "provider_error"
        self._end(span, event.t, error, event.error)

    def _tool_started(self, event: ev.ToolStarted) -> None:
        parent = self._agent(event.invocation, event.t)
        call = event.call
        attributes: dict[str, Any] = {
            names.OPERATION: "execute_tool",
            names.TOOL_NAME: call.name,
            names.TOOL_CALL: call.call_id,
            names.TOOL_TYPE: "function",
        }
        if self._content:
            attributes[names.TOOL_ARGUMENTS] = str(redact(call.arguments, self._known()))
        span = self._begin(f"execute_tool {call.name}", event.t, attributes, parent)
        self._tools[event.invocation, call.call_id] = span

    def _tool_finished(self, event: ev.ToolFinished) -> None:
        span = self._tools.pop((event.invocation, event.call_id), None)
        if span is None:
            return
        if self._content and event.result is not None:
            span.set_attribute(names.TOOL_RESULT, str(redact(str(event.result), self._known())))
        self._end(span, event.t, event.error, event.error)

    def _said(self, messages: tuple[Message, ...]) -> str:
        rows = [{"role": m.role, "parts": [{"type": "text", "content": m.text}]} for m in messages]
        return json.dumps(redact(rows, self._known()), ensure_ascii=False)


def _set_usage(span: Span, usage: Usage | None) -> None:
    """Only what is known: nothing told is no zero."""
    if usage is None:
        return
    counts = {
        names.INPUT_TOKENS: usage.input,
        names.OUTPUT_TOKENS: usage.output,
        names.CACHED_TOKENS: usage.cached,
        names.REASONING_TOKENS: usage.reasoning,
    }
    for name, count in counts.items():
        if count is not None:
            span.set_attribute(name, count)


_HANDLERS: Mapping[type, Callable[[RunTrace, Any], None]] = {
    ev.RunStarted: RunTrace._run_started,
    ev.StatusChanged: RunTrace._status_changed,
    ev.RunFailed: RunTrace._run_failed,
    ev.SuperstepStarted: RunTrace._superstep_started,
    ev.SuperstepFinished: RunTrace._superstep_finished,
    ev.NodeStarted: RunTrace._node_started,
    ev.NodeFinished: RunTrace._node_ended,
    ev.NodeFailed: RunTrace._node_ended,
    ev.ModelCallStarted: RunTrace._call_started,
    ev.TokensArrived: RunTrace._tokens_arrived,
    ev.ModelCallFinished: RunTrace._call_finished,
    ev.ToolStarted: RunTrace._tool_started,
    ev.ToolFinished: RunTrace._tool_finished,
}
