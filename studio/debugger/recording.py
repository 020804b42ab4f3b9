"""What a run did, taken from its events, and the tape that gives it again instead of models, tools, code and people."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from studio.agents.messages import (
    AgentReply,
    AgentRequest,
    AgentResponse,
    ApprovalRequest,
    ApprovalResponse,
    Message,
    ToolCall,
    ToolResult,
)
from studio.assembly.texts import part_text
from studio.checkpoints import PendingRequest
from studio.debugger.holds import node_path
from studio.engine import events as ev


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One model call. ``seconds``: how long it took. ``asked``: what the last message said, where that is all there
    is of the prompt (see :func:`asked_of`); "" is any prompt."""

    messages: tuple[Message, ...] | None
    reply: AgentReply
    seconds: float = 0.0
    asked: str = ""


@dataclass(frozen=True, slots=True)
class RecordedTool:
    """One tool call; ``arguments`` as the model wrote them, ``error`` is the class of what it raised."""

    name: str
    arguments: str
    result: Any
    error: str = ""


@dataclass(slots=True)
class RecordedInvocation:
    """What one invocation got and gave. ``finished`` False: it failed, or was cut off."""

    path: str
    superstep: int
    data: Any
    sent: list[tuple[Any, str | None, str]] = field(default_factory=list)
    yielded: list[tuple[Any, bool]] = field(default_factory=list)
    state: list[tuple[str, Any]] = field(default_factory=list)
    given: tuple[Any, ...] = ()
    finished: bool = False


@dataclass(slots=True)
class Recording:
    """A whole run, or what happened since a checkpoint."""

    input: Any = None
    invocations: list[RecordedInvocation] = field(default_factory=list)
    calls: dict[str, list[RecordedCall]] = field(default_factory=dict)
    tools: dict[str, list[RecordedTool]] = field(default_factory=dict)
    answers: list[list[tuple[str, Any]]] = field(default_factory=list)
    """Answers that were given together: the node that asked, and the value."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Nodes whose part was taken out, and why: "its prompt has changed"; "" if nothing is to be said of it."""

    def without(self, excluded: Collection[str]) -> Recording:
        """The same without what these nodes, and those inside them, did; of a mapping the values say why."""

        def kept(path: str) -> bool:
            return not any(path == e or path.startswith(f"{e}/") for e in excluded)

        return Recording(
            self.input,
            [i for i in self.invocations if kept(i.path)],
            {path: calls for path, calls in self.calls.items() if kept(path)},
            {path: tools for path, tools in self.tools.items() if kept(path)},
            self.answers,
            dict(excluded) if isinstance(excluded, Mapping) else dict.fromkeys(excluded, ""),
        )

    def why_not(self, path: str) -> str:
        """Why nothing of a node is here: it, or what is around it, was taken out; "" if nothing was said."""
        return next((why for e, why in self.left_out.items() if path == e or path.startswith(f"{e}/")), "")


class Recorder:
    """Folds events, oldest first, into a :class:`Recording`."""

    def __init__(self) -> None:
        self.recording = Recording()
        self._open: dict[str, RecordedInvocation] = {}
        self._asked: dict[tuple[str, str], tuple[float, tuple[Message, ...]]] = {}
        self._tools: dict[tuple[str, str], tuple[str, str]] = {}
        self._answering = False
        """Answers that follow were given with the last one: the run has not started again since."""

    def fold(self, event: ev.Event) -> None:
        """Takes the next event."""
        handler = _FOLDS.get(type(event))
        if handler is not None:
            handler(self, event)

    def _run_started(self, event: ev.RunStarted) -> None:
        self._answering = False
        if event.kind == "input":
            self.recording.input = event.data

    def _node_started(self, event: ev.NodeStarted) -> None:
        path = node_path(event.node, event.inside)
        made = self._open[event.invocation] = RecordedInvocation(path, event.superstep, event.data)
        self.recording.invocations.append(made)

    def _node_finished(self, event: ev.NodeFinished) -> None:
        made = self._open.pop(event.invocation, None)
        if made is not None:
            made.finished, made.given = True, event.data
            if event.inside:  # yields of a workflow inside are told with its end only
                made.yielded = [(data, False) for data in event.data[len(made.sent) :]]

    def _node_failed(self, event: ev.NodeFailed) -> None:
        self._open.pop(event.invocation, None)

    def _message_queued(self, event: ev.MessageQueued) -> None:
        made = self._open.get(event.invocation or "")
        if made is not None:
            made.sent.append((event.data, event.target, event.purpose))

    def _output_yielded(self, event: ev.OutputYielded) -> None:
        made = self._open.get(event.invocation)
        if made is not None:
            made.yielded.append((event.data, event.intermediate))

    def _state_written(self, event: ev.StateWritten) -> None:
        path = node_path(event.node, event.inside)
        made = next((i for i in reversed(self._open.values()) if i.path == path), None)
        if made is not None:
            made.state.append((event.key, event.value))

    def _call_started(self, event: ev.ModelCallStarted) -> None:
        self._asked[event.invocation, event.call] = (event.t, event.messages)

    def _call_finished(self, event: ev.ModelCallFinished) -> None:
        began, messages = self._asked.pop((event.invocation, event.call), (event.t, ()))
        if event.reply is not None:
            path = node_path(event.node, event.inside)
            made = RecordedCall(messages, event.reply, max(0.0, event.t - began))
            self.recording.calls.setdefault(path, []).append(made)

    def _tool_started(self, event: ev.ToolStarted) -> None:
        self._tools[event.invocation, event.call.call_id] = (event.call.name, event.call.arguments)

    def _tool_finished(self, event: ev.ToolFinished) -> None:
        name, arguments = self._tools.pop((event.invocation, event.call_id), ("", ""))
        if name and event.error not in ("CancelledError", "ArgumentsChanged"):
            path = node_path(event.node, event.inside)
            made = RecordedTool(name, arguments, event.result, event.error)
            self.recording.tools.setdefault(path, []).append(made)

    def _answered(self, event: ev.RequestAnswered) -> None:
        if not self._answering:
            self.recording.answers.append([])
            self._answering = True
        self.recording.answers[-1].append((event.node, event.value))


_FOLDS: Mapping[type, Callable[[Recorder, Any], None]] = {
    ev.RunStarted: Recorder._run_started,
    ev.NodeStarted: Recorder._node_started,
    ev.NodeFinished: Recorder._node_finished,
    ev.NodeFailed: Recorder._node_failed,
    ev.MessageQueued: Recorder._message_queued,
    ev.OutputYielded: Recorder._output_yielded,
    ev.StateWritten: Recorder._state_written,
    ev.ModelCallStarted: Recorder._call_started,
    ev.ModelCallFinished: Recorder._call_finished,
    ev.ToolStarted: Recorder._tool_started,
    ev.ToolFinished: Recorder._tool_finished,
    ev.RequestAnswered: Recorder._answered,
}


def recorded(events: Iterable[ev.Event]) -> Recording:
    """What these events tell, oldest first."""
    recorder = Recorder()
    for event in events:
        recorder.fold(event)
    return recorder.recording


class LeftRecording(Exception):
    """A strict replay asks for something that was never recorded; ``str()`` is a sentence."""


ASKED = 400
"""Characters of a prompt's last message that a test keeps to tell calls of one node apart."""


def asked_of(messages: Sequence[Message]) -> str:
    """What a model call is about, short enough for a file: the beginning of its last message."""
    return "\n".join(filter(None, map(part_text, messages[-1].parts)))[:ASKED] if messages else ""


class Tape:
    """A place in a recording while it is given again. Each entry is given once.

    ``by_position``: a call of a node gets the next reply that was recorded for what it asks, or else the next one that
    is for anything (:attr:`RecordedCall.asked`). Else a call that asks something else
    leaves the recording: that node is called from there on, and ``say`` gets a sentence; ``strict`` raises instead.
    ``by_value``: arguments of tools may be written differently. ``whole`` False: the recording is a stretch of a run;
    what comes after it is not there, and nothing is said of it. ``speed``: 1 waits as long as the model did, 0 not at
    all.
    """

    def __init__(
        self,
        recording: Recording,
        *,
        speed: float = 0.0,
        strict: bool = False,
        by_position: bool = False,
        whole: bool = True,
        by_value: bool = False,
        name_of: Callable[[str], str] = str,
    ) -> None:
        self.speed = speed
        self._strict = strict
        self._by_position = by_position
        self._whole = whole
        self._by_value = by_value
        self._name_of = name_of
        self.say: Callable[[str], None] = lambda _sentence: None
        self.left: dict[str, str] = {}
        """Nodes that are called by now, and why."""
        self._why_not = recording.why_not
        self._calls = {path: deque(calls) for path, calls in recording.calls.items()}
        self._tools = {path: list(tools) for path, tools in recording.tools.items()}
        self._answers = deque([list(batch) for batch in recording.answers])
        self._invocations: dict[str, deque[RecordedInvocation]] = {}
        for made in recording.invocations:
            self._invocations.setdefault(made.path, deque()).append(made)

    def call(self, path: str, messages: Sequence[Message]) -> RecordedCall | None:
        """The recorded answer to a model call; None: the model is to be asked."""
        waiting = self._calls.get(path)
        if path in self.left:
            return None
        if not waiting:
            if self._whole:
                self._leave(path, self._why_not(path) or "the recording has no further answer of the model")
            return None
        if self._by_position:
            return self._by_prompt(path, waiting, asked_of(messages))
        asked = waiting[0].messages
        if asked is not None and tuple(messages) != asked:
            self._leave(path, "it asks something else than in the recording")
            return None
        return waiting.popleft()

    def _by_prompt(self, path: str, waiting: deque[RecordedCall], asked: str) -> RecordedCall | None:
        """The next reply that is for this prompt, else the next that is for any."""
        at = next((i for i, call in enumerate(waiting) if call.asked and call.asked == asked), None)
        if at is None:
            at = next((i for i, call in enumerate(waiting) if not call.asked), None)
        if at is None:
            wanted, known = _short(asked), _short(waiting[0].asked)
            self._leave(path, f"it asks “{wanted}”, and its next reply is for “{known}”")
            return None
        found = waiting[at]
        del waiting[at]
        return found

    def tool(self, path: str, name: str, arguments: str) -> RecordedTool | None:
        """The recorded result of a tool call; None: the tool is to be run."""
        if path in self.left:
            return None
        entries = self._tools.get(path, [])
        named = [at for at, entry in enumerate(entries) if entry.name == name]
        same = [at for at in named if self._same(entries[at].arguments, arguments)]
        if found := same or (named if self._by_position else []):
            return entries.pop(found[0])
        if self._whole or entries:
            self._leave(path, f"{name} was not called with these arguments in the recording")
        return None

    def _same(self, recorded: str, asked: str) -> bool:
        if recorded == asked or not self._by_value:
            return recorded == asked
        try:
            return bool(json.loads(recorded) == json.loads(asked))
        except ValueError:
            return False

    def invocation(self, path: str, data: Any) -> RecordedInvocation | None:
        """What a node of code gave; None: its code is to be run."""
        waiting = self._invocations.get(path)
        if path in self.left:
            return None
        if not waiting:
            if self._whole and (why := self._why_not(path)):
                self._leave(path, why, code=True)
            return None
        made = waiting.popleft()
        if not made.finished:
            return None
        same = made.data == data or _without_ids(made.data) == _without_ids(data)
        if not same and self._by_position:
            return None
        if not same:
            self._leave(path, "it gets something else than in the recording", code=True)
            return None
        return made

    def answers(self, requests: Iterable[PendingRequest]) -> dict[str, Any]:
        """The answers that were given next, for the requests that wait now; empty if there are none."""
        if not self._answers:
            return {}
        waiting = list(requests)
        found: dict[str, Any] = {}
        batch = self._answers.popleft()
        for node, value in batch:
            of_node = [r for r in waiting if r.node == node and r.id not in found]
            request = min(of_node, key=lambda r: _distance(value, r.data), default=None)
            if request is not None:
                found[request.id] = _bound(value, request)
        return found

    def _leave(self, path: str, why: str, *, code: bool = False) -> None:
        if path in self.left:
            return
        name = self._name_of(path.rsplit("/", 1)[-1])
        if self._strict and not code:
            raise LeftRecording(f"{name} leaves the recording: {why}.")
        what = "its code runs" if code else "the model is called"
        self.left[path] = why
        self.say(f"{name} leaves the recording: {why}. From here on {what}.")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else f"{line[:80]}…"


def _without_ids(data: Any) -> Any:
    """A message without the ids of approvals, which are made anew in every run."""
    match data:
        case AgentResponse():
            reply, said = _without_ids(data.reply), tuple(_without_ids(m) for m in data.conversation)
            return replace(data, reply=reply, conversation=said)
        case AgentReply() | AgentRequest():
            return replace(data, messages=tuple(_without_ids(m) for m in data.messages))
        case Message():
            return replace(data, parts=tuple(_without_ids(p) for p in data.parts))
        case ApprovalRequest() | ApprovalResponse():
            return replace(data, id="")
        case list() | tuple():
            return [_without_ids(item) for item in data]
    return data


def _distance(value: Any, asked: Any) -> int:
    """How far a recorded answer is from a request, where a node has several: 0 for the call that it was given to."""
    call = asked.call if isinstance(asked, ApprovalRequest) else asked
    match value:
        case ApprovalResponse():
            fits, id = isinstance(asked, ApprovalRequest), value.call.call_id
        case ToolResult():
            fits, id = isinstance(asked, ToolCall), value.call_id
        case _:
            return int(isinstance(call, ToolCall))
    return 2 if not fits else int(call.call_id != id)


def _bound(value: Any, request: PendingRequest) -> Any:
    """An approval is for one request: it is given to the one that waits now."""
    if isinstance(value, ApprovalResponse) and isinstance(request.data, ApprovalRequest):
        return replace(value, id=request.data.id)
    return value
