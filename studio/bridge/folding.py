"""Folds the events of one branch into views. No Qt: the run model owns one and shows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from studio.agents.messages import AgentUpdate, Usage
from studio.assembly.texts import type_name, value_text
from studio.bridge.kept_events import KeptEvents
from studio.bridge.node_event_words import node_event_words
from studio.bridge.refusals import Refusals
from studio.bridge.request_views import answer_view, request_view
from studio.bridge.run_views import (
    STOPPED,
    AnswerView,
    InvocationView,
    MessageView,
    NodeView,
    OutputView,
    RequestView,
    RunUpdate,
    StreamPiece,
    SuperstepView,
)
from studio.bridge.state_history import StateHistory, Written
from studio.engine import events as ev


@dataclass(slots=True)
class _Changed:
    """What was touched since the last frame."""

    nodes: set[str] = field(default_factory=set)
    invocations: set[str] = field(default_factory=set)
    supersteps: set[int] = field(default_factory=set)
    parts: set[str] = field(default_factory=set)
    events: int = 0


class RunViews:
    """Everything that panels show of a branch, kept up to date event by event."""

    def __init__(
        self,
        shared_state: Mapping[str, Any] | None = None,
        schemas: Mapping[str, dict[str, Any]] | None = None,
        refusals: Refusals | None = None,
        results: Mapping[str, dict[str, Any]] | None = None,
    ) -> None:
        self._schemas, self._results = schemas or {}, results or {}
        self._refusals = refusals
        self.nodes: dict[str, NodeView] = {}
        self.invocations: dict[str, InvocationView] = {}
        self.supersteps: list[SuperstepView] = []
        self.messages: list[MessageView] = []
        self.outputs: list[OutputView] = []
        self.requests: list[RequestView] = []
        self.shared_state: dict[str, Any] = dict(shared_state or {})
        self.state_history = StateHistory(shared_state)
        self.events = KeptEvents()
        self.usage: Usage | None = None
        """Of all model calls of the branch, those inside sub-workflows included."""
        self.last_checkpoint: str | None = None
        self.failure: ev.RunFailed | ev.NodeFailed | None = None
        self._message_by_id: dict[str, MessageView] = {}
        self._output_by_invocation: dict[str, OutputView] = {}
        self._answers: list[AnswerView] = []
        self._superstep = 0
        self._outputs_before = 0
        """How many outputs there were before the superstep."""
        self._failed = False
        """Whether the superstep failed: its outputs do not count."""
        self._asked_by: dict[str, list[InvocationView]] = {}
        """Open request -> the invocations that wait for its answer: who asked, and the sub-workflows around it."""
        self._asked_from: dict[str, tuple[str, ...]] = {}
        """Request -> the path of the inner node that asks, for those of sub-workflows."""
        self._changed = _Changed()

    def fold(self, event: ev.Event) -> None:
        """Takes the next event of the branch."""
        self.events.append(event)
        self._changed.events += 1
        handler = _HANDLERS.get(type(event))
        if handler is not None:
            handler(self, event)

    def take_update(self, *, everything: bool = False, queued: bool = False, checkpoints: bool = False) -> RunUpdate:
        """What changed since the last call."""
        changed, self._changed = self._changed, _Changed()
        return RunUpdate(
            nodes=frozenset(changed.nodes),
            invocations=frozenset(changed.invocations),
            supersteps=frozenset(changed.supersteps),
            messages="messages" in changed.parts,
            outputs="outputs" in changed.parts,
            requests="requests" in changed.parts,
            shared_state="shared_state" in changed.parts,
            queued=queued,
            checkpoints=checkpoints or "checkpoints" in changed.parts,
            events=changed.events,
            everything=everything,
        )

    @property
    def failure_text(self) -> str:
        """Why the branch failed, as its log has it; empty if it did not."""
        failure = self.failure
        if failure is None:
            return ""
        who = f"{failure.node} failed" if failure.node else "The run failed"
        return f"{who}: {failure.message or failure.error}"

    def replace_state(self, shared_state: Mapping[str, Any]) -> None:
        """Shared state as a checkpoint has it; the log knows only what was written."""
        self.shared_state = dict(shared_state)
        self.state_history.replace(len(self.supersteps), self._superstep, shared_state)
        self._changed.parts.add("shared_state")

    def settle(self) -> None:
        """Nothing runs any more (stopped, interrupted, restored): what was running is shown as stopped."""
        if any(i.status == "running" for i in self.invocations.values()):
            self._cut_off()
        for invocation in self.invocations.values():
            if invocation.status == "running":
                invocation.status = "stopped"
                self._changed.invocations.add(invocation.invocation)
        for node in self.nodes.values():
            if node.status in ("running", "queued"):
                node.status = "stopped" if node.status == "running" else self._rest(node)
                self._changed.nodes.add(node.node)

    # ------------------------------------------------------------------------------------------------ pieces

    def _cut_off(self) -> None:
        """The superstep will never be whole: what it gave so far is not a result."""
        self._failed = True
        for output in self.outputs[self._outputs_before :]:
            output.cut_off = True
        self._changed.parts.add("outputs")

    def _waits(self, view: InvocationView) -> bool:
        return any(view is asking for views in self._asked_by.values() for asking in views)

    def _node(self, node: str) -> NodeView:
        view = self.nodes.get(node)
        if view is None:
            view = self.nodes[node] = NodeView(node)
        self._changed.nodes.add(node)
        return view

    def _rest(self, node: NodeView) -> Any:
        return "waiting" if node.open_requests else "done" if node.invocations else "idle"

    def _invocation(self, invocation: str) -> InvocationView | None:
        view = self.invocations.get(invocation)
        if view is not None:
            self._changed.invocations.add(invocation)
        return view

    def _piece(self, invocation: str, piece: StreamPiece) -> None:
        view = self._invocation(invocation)
        if view is None:
            return
        last = view.pieces[-1] if view.pieces else None
        if last is not None and last.kind == piece.kind and piece.kind in ("text", "reasoning", "print"):
            last.text += piece.text
        else:
            view.pieces.append(piece)

    def _row(self) -> SuperstepView | None:
        if not self.supersteps:
            return None
        self._changed.supersteps.add(self.supersteps[-1].number)
        return self.supersteps[-1]

    # ---------------------------------------------------------------------------------------------- handlers

    def _run_started(self, event: ev.RunStarted) -> None:
        self.failure = None
        if event.kind == "checkpoint":
            self.settle()
        if event.kind == "input":
            self._superstep = 0

    def _status_changed(self, event: ev.StatusChanged) -> None:
        if event.state in ("FAILED", "CANCELLED"):
            self.settle()

    def _superstep_started(self, event: ev.SuperstepStarted) -> None:
        if event.inside:
            return
        self._superstep = event.superstep
        self._outputs_before, self._failed = len(self.outputs), False
        self.supersteps.append(SuperstepView(event.superstep, event.t, answers=self._answers))
        self._answers = []
        self._changed.supersteps.add(event.superstep)

    def _superstep_finished(self, event: ev.SuperstepFinished) -> None:
        row = None if event.inside else self._row()
        if row is not None:
            row.ended = event.t
            row.checkpoint = event.checkpoint or row.checkpoint

    def _node_started(self, event: ev.NodeStarted) -> None:
        number = self._superstep if event.inside else event.superstep
        self.invocations[event.invocation] = InvocationView(
            event.invocation, event.node, number, event.t, inside=event.inside
        )
        self._changed.invocations.add(event.invocation)
        row = self._row()
        if row is not None:
            self._drop_collecting(row, event)
            row.invocations.append(event.invocation)
        if event.inside:
            return
        node = self._node(event.node)
        node.status, node.error = "running", ""
        node.invocations += 1

    def _drop_collecting(self, row: SuperstepView, event: ev.NodeStarted) -> None:
        """A turn is one row and one lane: what only collected messages for it is not listed beside it."""
        place = (event.node, event.inside)
        views = [self.invocations[key] for key in row.invocations]
        row.invocations = [v.invocation for v in views if not (v.collected and (v.node, v.inside) == place)]

    def _node_finished(self, event: ev.NodeFinished) -> None:
        view = self._invocation(event.invocation)
        if view is None:
            return
        view.ended, view.status = event.t, "waiting" if self._waits(view) else "done"
        if not any(p.kind == "text" for p in view.pieces):
            texts = dict.fromkeys(value_text(d) for d in event.data if not isinstance(d, AgentUpdate))
            if texts:
                view.pieces.append(StreamPiece("text", "\n".join(texts)))
        self._end_of(event.node, view, event.inside)

    def _node_failed(self, event: ev.NodeFailed) -> None:
        self.failure = event
        text = event.message or event.error
        view = self._invocation(event.invocation)
        if view is not None:
            view.ended, view.status, view.error = event.t, "failed", text
            if view.pieces and view.pieces[-1].kind == "error" and view.pieces[-1].text in text:
                view.pieces.pop()  # the model call said the same
            view.pieces.append(StreamPiece("error", text))
            self._end_of(event.node, view, event.inside)
        if not event.inside:
            self._cut_off()
            node = self._node(event.node)
            node.status, node.error = "failed", text

    def _end_of(self, node_id: str, view: InvocationView, inside: tuple[str, ...]) -> None:
        if not inside:
            node = self._node(node_id)
            node.seconds += (view.ended or view.started) - view.started
            node.status = self._rest(node)

    def _output_yielded(self, event: ev.OutputYielded) -> None:
        self._changed.parts.add("outputs")
        chunk = isinstance(event.data, AgentUpdate)
        text = value_text(event.data)
        before = self._output_by_invocation.get(event.invocation) if chunk else None
        if before is not None and before.intermediate == event.intermediate:
            before.grow(text, event.data.author)
            return
        view = OutputView(event.node, event.superstep, text, event.data, event.intermediate, event.order)
        view.cut_off = self._failed
        self._place_output(view)
        if chunk:
            self._output_by_invocation[event.invocation] = view

    def _place_output(self, view: OutputView) -> None:
        """Outputs of one superstep stand in delivery order, whichever arrives first."""
        at = len(self.outputs)
        while at > self._outputs_before and self.outputs[at - 1].order > view.order:
            at -= 1
        self.outputs.insert(at, view)

    def _message_queued(self, event: ev.MessageQueued) -> None:
        if event.inside:
            return
        view = MessageView(
            event.message,
            event.source,
            event.target,
            event.superstep,
            type_name(event.data),
            value_text(event.data),
            event.data,
            invocation=event.invocation,
            purpose=event.purpose,
        )
        self.messages.append(view)
        self._message_by_id[event.message] = view
        self._changed.parts.add("messages")

    def _message_routed(self, event: ev.MessageRouted) -> None:
        view = self._message_by_id.get(event.message)
        if view is None or event.inside:
            return
        words: str = event.reason
        if event.reason and self._refusals is not None:
            state = self.shared_state
            words = self._refusals.words(event.reason, event.edge, event.target, view.data, state) or words
        view.routes.append((event.edge, event.target, event.delivered, words))
        kept = event.delivered or event.reason == "buffered"
        if kept or view.status == "queued":
            view.status = "delivered" if kept else "dropped"
        self._changed.parts.add("messages")
        if event.delivered:
            node = self._node(event.target)
            if node.status != "running":
                node.status = "queued"

    def _state_written(self, event: ev.StateWritten) -> None:
        if event.inside:
            return
        self.shared_state[event.key] = event.value
        written = Written(len(self.supersteps), self._superstep, event.node, event.value)
        self.state_history.write(event.key, written)
        self._changed.parts.add("shared_state")

    def _request_raised(self, event: ev.RequestRaised) -> None:
        if any(r.request == event.request for r in self.requests):
            return
        form = request_view(event, self._superstep, self._schemas, self._results)
        form.path = self._asked_from.get(event.request, ())
        self.requests.append(form)
        self._changed.parts.add("requests")
        self._mark_asking(event)
        node = self._node(event.inside[0] if event.inside else event.node)
        node.open_requests += 1
        if node.status != "running":
            node.status = "waiting"

    def _mark_asking(self, event: ev.RequestRaised) -> None:
        path = (*event.inside, event.node)
        latest = self.supersteps[-1].invocations if self.supersteps else []
        views = (self.invocations[key] for key in latest if key in self.invocations)
        asking = [v for v in views if path[: len(v.inside) + 1] == (*v.inside, v.node)]
        self._asked_by[event.request] = asking
        for view in asking:
            if view.status == "done":
                view.status = "waiting"
                self._changed.invocations.add(view.invocation)

    def _request_gone(self, event: ev.RequestAnswered | ev.RequestCancelled) -> None:
        found = next((r for r in self.requests if r.request == event.request), None)
        if found is None:
            return
        self.requests.remove(found)
        self._changed.parts.add("requests")
        for view in self._asked_by.pop(event.request, ()):
            if view.status == "waiting" and not self._waits(view):
                view.status = "done"
                self._changed.invocations.add(view.invocation)
        node = self._node(found.node)
        node.open_requests = max(0, node.open_requests - 1)
        if node.status == "waiting":
            node.status = self._rest(node)
        if isinstance(event, ev.RequestAnswered):
            self._answers.append(answer_view(found, event.value))

    def _checkpoint_saved(self, event: ev.CheckpointSaved) -> None:
        self.last_checkpoint = event.checkpoint
        self._changed.parts.add("checkpoints")
        if event.kind == "superstep":
            row = self._row()
            if row is not None:
                row.checkpoint = event.checkpoint

    def _run_failed(self, event: ev.RunFailed) -> None:
        if self.failure is None or event.message:
            self.failure = event

    def _tokens_arrived(self, event: ev.TokensArrived) -> None:
        self._piece(event.invocation, StreamPiece(event.kind, event.text))
        view = self.invocations.get(event.invocation)
        if view is not None:
            view.tokens += event.chunks
            view.next_try = None

    def _model_call_retried(self, event: ev.ModelCallRetried) -> None:
        reason = event.reason.strip().removesuffix(".")
        follows = f"in {event.wait:.1f} s" if event.wait else "at once"
        text = f"{reason[:1].upper()}{reason[1:]}. The next try follows {follows}."
        self._piece(event.invocation, StreamPiece("note", text))
        view = self.invocations.get(event.invocation)
        if view is not None:
            view.next_try = event.t + event.wait if event.wait else None

    def _model_call_finished(self, event: ev.ModelCallFinished) -> None:
        view = self._invocation(event.invocation)
        if view is None:
            return
        view.next_try = None
        if event.usage is not None or not event.error:
            told = event.usage if event.usage is not None else Usage()  # nothing told is not nothing used
            view.usage = told if view.usage is None else view.usage + told
            view.tokens = view.usage.output if view.usage.output is not None else view.tokens
            node = self._node(event.inside[0] if event.inside else event.node)
            node.usage = told if node.usage is None else node.usage + told
            self.usage = told if self.usage is None else self.usage + told
        if event.error:
            kind: Any = "note" if event.error == "cancelled" else "error"  # stopped by a person: nothing went wrong
            self._piece(event.invocation, StreamPiece(kind, event.error))

    def _tool_started(self, event: ev.ToolStarted) -> None:
        call = event.call
        self._piece(event.invocation, StreamPiece("tool", call.arguments, call.name, call.call_id))

    def _tool_finished(self, event: ev.ToolFinished) -> None:
        view = self.invocations.get(event.invocation)
        pieces = view.pieces if view is not None else []
        title = next((p.title for p in pieces if p.kind == "tool" and p.key == event.call_id), "")
        kind: Any = "error" if event.error else "result"
        cut_off = event.error == "CancelledError"
        text = STOPPED if cut_off else event.detail or event.error or value_text(event.result)
        self._piece(event.invocation, StreamPiece(kind, text, title, event.call_id))

    def _node_event(self, event: ev.NodeEvent) -> None:
        if event.kind == "request_from":  # the innermost workflow tells it first
            self._asked_from.setdefault(event.data["request"], (*event.inside, event.node, event.data["node"]))
            return
        view = self._invocation(event.invocation)
        if view is None:
            return
        if event.kind == "collected":
            view.collected = True
            if not event.inside:
                self._node(event.node).invocations -= 1
        words = node_event_words(event)
        if words and event.kind != "LimitReached":  # the hook of the limit says it, too
            view.pieces.append(StreamPiece("note", words))

    def _line_printed(self, event: ev.LinePrinted) -> None:
        running = (i for i in reversed(self.invocations.values()) if i.node == event.node)
        view = next(running, None)
        if view is not None:
            self._piece(view.invocation, StreamPiece("print", event.text.rstrip("\n") + "\n"))


_HANDLERS: Mapping[type, Callable[[RunViews, Any], None]] = {
    ev.RunStarted: RunViews._run_started,
    ev.StatusChanged: RunViews._status_changed,
    ev.SuperstepStarted: RunViews._superstep_started,
    ev.SuperstepFinished: RunViews._superstep_finished,
    ev.NodeStarted: RunViews._node_started,
    ev.NodeFinished: RunViews._node_finished,
    ev.NodeFailed: RunViews._node_failed,
    ev.OutputYielded: RunViews._output_yielded,
    ev.MessageQueued: RunViews._message_queued,
    ev.MessageRouted: RunViews._message_routed,
    ev.StateWritten: RunViews._state_written,
    ev.RequestRaised: RunViews._request_raised,
    ev.RequestAnswered: RunViews._request_gone,
    ev.RequestCancelled: RunViews._request_gone,
    ev.CheckpointSaved: RunViews._checkpoint_saved,
    ev.RunFailed: RunViews._run_failed,
    ev.TokensArrived: RunViews._tokens_arrived,
    ev.ModelCallRetried: RunViews._model_call_retried,
    ev.ModelCallFinished: RunViews._model_call_finished,
    ev.ToolStarted: RunViews._tool_started,
    ev.ToolFinished: RunViews._tool_finished,
    ev.LinePrinted: RunViews._line_printed,
    ev.NodeEvent: RunViews._node_event,
}
