"""What panels show of a run: plain data that the run model keeps up to date. Read it, never change it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from studio.agents.messages import AgentUpdate, Text, Usage

NodeStatus = Literal["idle", "queued", "running", "done", "failed", "waiting", "stopped"]


@dataclass(slots=True)
class StreamPiece:
    """A stretch of one kind in a lane. ``text`` grows while the piece is the last one."""

    kind: Literal["text", "reasoning", "tool", "result", "print", "error", "note"]
    text: str
    title: str = ""
    """For tool and result: the tool's name."""
    key: str = ""
    """For tool and result: the call id."""


STOPPED = "stopped"
"""What a lane says of a tool call that was cancelled with its run."""


@dataclass(slots=True)
class InvocationView:
    """One run of one node in one superstep; also its lane. Times in seconds since the run started."""

    invocation: str
    node: str
    superstep: int
    started: float
    ended: float | None = None
    status: NodeStatus = "running"
    usage: Usage | None = None
    tokens: int = 0
    """Chunks so far while running, output tokens once usage is known."""
    pieces: list[StreamPiece] = field(default_factory=list)
    inside: tuple[str, ...] = ()
    """The sub-workflow nodes around it, outermost first; ``superstep`` is then that of the outermost."""
    error: str = ""
    next_try: float | None = None
    """When a model call that was refused is tried again; None once something came."""
    collected: bool = False
    """Whether it only kept messages for a turn that begins when the turn token comes."""


@dataclass(slots=True)
class NodeView:
    """A node's state on the canvas."""

    node: str
    status: NodeStatus = "idle"
    invocations: int = 0
    seconds: float = 0.0
    usage: Usage | None = None
    open_requests: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class AnswerView:
    """What a person said before a superstep. ``tool``: name of the tool that was asked about, if one. "changed": the
    call was refused and made with other arguments."""

    request: str
    node: str
    kind: Literal["approved", "refused", "changed", "answered", "result"]
    tool: str = ""


@dataclass(slots=True)
class SuperstepView:
    """A row of the superstep list. ``number`` counts from 1 since the last input."""

    number: int
    started: float
    ended: float | None = None
    invocations: list[str] = field(default_factory=list)
    """In the order they began, those inside sub-workflows too."""
    answers: list[AnswerView] = field(default_factory=list)
    checkpoint: str | None = None

    def usage(self, all_invocations: Mapping[str, InvocationView]) -> Usage | None:
        """Tokens and cost of all its model calls, those inside sub-workflows too; None if there were none."""
        total: Usage | None = None
        for key in self.invocations:
            view = all_invocations.get(key)
            if view is not None and view.usage is not None:
                total = view.usage if total is None else total + view.usage
        return total

    def worked(self, all_invocations: Mapping[str, InvocationView], now: float) -> float:
        """Seconds in which at least one of its nodes ran: a pause at a breakpoint inside it is not counted."""
        end = self.ended if self.ended is not None else max(now, self.started)
        found = (all_invocations.get(key) for key in self.invocations)
        views = sorted((v for v in found if v is not None and not v.inside), key=lambda v: v.started)
        if not views:
            return end - self.started if self.ended is not None else 0.0
        spent, until = 0.0, self.started
        for view in views:
            last = view.ended if view.ended is not None else end
            spent += max(0.0, last - max(view.started, until))
            until = max(until, last)
        return spent


def begun(supersteps: Sequence[SuperstepView]) -> int:
    """How many supersteps ran something: a run that is held before its next one may have begun it on paper."""
    count = len(supersteps)
    while count and not supersteps[count - 1].invocations and supersteps[count - 1].ended is None:
        count -= 1
    return count


@dataclass(slots=True)
class MessageView:
    """A message; ``routes`` are (edge id, target, delivered, reason): the engine's word, or what a condition measured
    ("score 6 is not ≥ 8")."""

    message: str
    source: str
    target: str | None
    superstep: int
    """Superstep in which it was sent; 0 for the input."""
    type_name: str
    text: str
    data: Any
    status: Literal["queued", "delivered", "dropped"] = "queued"
    routes: list[tuple[str, str, bool, str]] = field(default_factory=list)
    invocation: str | None = None
    purpose: str = "send"
    """The engine's word for why it was sent: input, answer, send, response, request."""


@dataclass(slots=True)
class RequestView:
    """Something a person must answer."""

    request: str
    node: str
    kind: Literal["question", "approval", "call"]
    question: str
    answer_type: str
    """``text``, ``bool``, ``number``, ``choice`` or the name of a declared type."""
    choices: tuple[str, ...] = ()
    schema: dict[str, Any] | None = None
    data: Any = None
    superstep: int = 0
    raised: float = 0.0
    response_type: str = ""
    """The engine's name of the answer's type."""
    path: tuple[str, ...] = ()
    """For a request out of a sub-workflow: the ids of the nodes around, then the inner node that asks."""


class OutputView:
    """An output of the run. One that is streamed grows; its parts are joined when somebody reads it."""

    __slots__ = ("_data", "_grown", "_parts", "_streamed", "cut_off", "intermediate", "node", "order", "superstep")

    def __init__(
        self,
        node: str,
        superstep: int,
        text: str,
        data: Any,
        intermediate: bool = False,
        order: tuple[int, ...] = (),
    ) -> None:
        self.node, self.superstep, self.intermediate, self.order = node, superstep, intermediate, order
        self.cut_off = False
        """It is of a superstep that failed or was stopped: not a result of the run."""
        self._parts = [text]
        self._data = data
        self._streamed = isinstance(data, AgentUpdate)
        self._grown: tuple[str | None] | None = None

    def grow(self, text: str, author: str | None) -> None:
        """The next chunk of a streamed output."""
        self._parts.append(text)
        self._grown, self._data = (author,), None

    @property
    def final(self) -> bool:
        """Whether it counts as a result of the run."""
        return self.said and not self.intermediate and not self.cut_off

    @property
    def said(self) -> bool:
        """Whether there is anything to show: a stream that so far has only asked for tools has said nothing."""
        return not self._streamed or any(self._parts)

    @property
    def text(self) -> str:
        """All of it so far."""
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0]

    @property
    def data(self) -> Any:
        """What was yielded; the chunks of a stream as one."""
        if self._data is None and self._grown is not None:
            self._data = AgentUpdate((Text(self.text),), author=self._grown[0])
        return self._data


@dataclass(slots=True)
class CheckpointView:
    """A point of the timeline. ``branch`` is the run it was saved in; ``parent`` may belong to another branch."""

    checkpoint: str
    parent: str | None
    branch: str
    kind: Literal["input", "superstep", "answers", "fork"]
    superstep: int
    created: float
    """Unix time."""
    bytes: int = 0
    name: str = ""
    problem: str = ""
    """Why it cannot be restored; empty if it can."""
    note: str = ""
    """What a person wrote about it."""
    pinned: bool = False
    tags: tuple[str, ...] = ()


@dataclass(slots=True)
class BranchView:
    """A row of the tree: one run session. ``name`` is "main" or "Fork A" ..."""

    branch: str
    number: int
    """Number of the run within the workflow; forks share it."""
    name: str
    state: str
    started: float
    note: str = ""
    """What was changed at the fork ("message edited at 3")."""
    seconds: float = 0.0
    usage: Usage | None = None
    """Of its own model calls, without those before the fork; None: not known, or nobody reported any."""
    input_text: str = ""
    elsewhere: str = ""
    """Who works on it, if that is another program: "another window (process 4711)"."""
    began: str | None = None
    """The checkpoint that it was forked from; None: it began with an input."""


@dataclass(slots=True)
class QueuedView:
    """A message that waits while the run is paused; editable. ``edges`` are the edges it will travel on."""

    message: str
    source: str
    target: str | None
    edges: tuple[str, ...]
    type_name: str
    text: str
    data: Any
    edited: bool = False
    purpose: str = "send"


@dataclass(frozen=True, slots=True)
class RunUpdate:
    """What one frame changed. ``everything``: show the model from scratch (new run, restore, other branch)."""

    nodes: frozenset[str] = frozenset()
    invocations: frozenset[str] = frozenset()
    supersteps: frozenset[int] = frozenset()
    messages: bool = False
    outputs: bool = False
    requests: bool = False
    shared_state: bool = False
    queued: bool = False
    checkpoints: bool = False
    events: int = 0
    """How many events were appended to the event list."""
    everything: bool = False
