"""What each kind of node has in its context, may show and gives back (points of view of a conversation)."""

from __future__ import annotations

from dataclasses import dataclass

from studio.document.model import AgentNode, RunnerNode


@dataclass(frozen=True, slots=True)
class PointOfView:
    """A row of the table of points of view. ``locked``: flags that no setting of the node changes."""

    name: str
    has: str
    writes: str
    gives: str
    sees_parent_context: bool = False
    may_write_chat: bool = False
    returns_explicit: bool = True
    returns_implicit: bool = False
    locked: tuple[str, ...] = ()


_ALL = ("sees_parent_context", "may_write_chat", "returns_explicit", "returns_implicit")
_TOOL = PointOfView(
    "Tool or flow", "Only the inputs filled in by the caller", "nothing, unless it is an output", "Its outputs",
    locked=_ALL,
)  # fmt: skip
_VIEWS = {
    "function": _TOOL,
    "template": _TOOL,
    "join": _TOOL,
    "human_input": PointOfView(
        "Question", "The message that it asks about", "its question", "The answer, with or without the input",
        may_write_chat=True, locked=("sees_parent_context", "may_write_chat", "returns_explicit"),
    ),
    "sub_workflow": PointOfView(
        "Topic", "Its own variables, the state of its inner nodes", "what its outputs show", "Declared outputs",
        may_write_chat=True, locked=("sees_parent_context",),
    ),
}  # fmt: skip


def view_of(node: object, *, output: bool = True) -> PointOfView:
    """The point of view of a node; ``output``: what it yields is shown."""
    if isinstance(node, AgentNode):
        token = node.host == "turn_token"
        forwards = node.turn_token.forward_incoming_messages if token else True
        return PointOfView(
            "Sub-agent",
            "The initial request, its inputs, the parent context that is included, its own session",
            "yes, if it is an output",
            "One answer" + (", and the conversation that it was given" if forwards else ""),
            sees_parent_context=token or node.context != "last_agent",
            may_write_chat=output,
            returns_implicit=forwards,
            locked=("sees_parent_context", "returns_explicit") if token else ("returns_explicit", "returns_implicit"),
        )
    if isinstance(node, RunnerNode):
        return PointOfView(
            "Orchestration layer",
            "The request, its conversation, what its agents answered",
            "its answers",
            "Its answer and the conversation",
            may_write_chat=output,
            returns_implicit=True,
            locked=_ALL,
        )
    return _VIEWS.get(str(getattr(node, "kind", "")), _TOOL)
