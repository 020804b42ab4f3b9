"""What can be done in the drawing about what a context rule found: one or two ways, the likelier one first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from studio.debugger.context.items import Finding
from studio.document.agent_options import Compaction, ContextProvider
from studio.document.commands import set_fields, set_output
from studio.document.edits import Edit
from studio.document.model import AgentNode, Node, Workflow

_KEPT_GROUPS = 12
"""Groups of messages that stay when a long conversation is cut to its end."""


@dataclass(frozen=True, slots=True)
class ContextFix:
    """A button: its text, and either the edit (with the words of the undo step) or the field to look at."""

    text: str
    edit: Edit | None = None
    step: str = ""
    field: str = ""


def fixes(found: Finding, workflow: Workflow) -> tuple[ContextFix, ...]:
    """The ways out of a finding, at most two; none if the drawing as it is now has none."""
    node = workflow.node(found.node)
    make = _FIXES.get(found.rule)
    return tuple(make(workflow, node))[:2] if make is not None and node is not None else ()


def _duplicate(workflow: Workflow, node: Node) -> Iterator[ContextFix]:
    """A node that has its session for itself and still sees things twice is in a loop, or its history holds what others
    pass on each time: a history that remembers nothing stands in place of the session."""
    yield from _last_reply(workflow, node)
    if isinstance(node, AgentNode) and node.session:
        yield ContextFix(
            "Own session", set_fields(workflow, node.id, {"session": None}), "Give the node a session of its own"
        )
    elif (
        isinstance(node, AgentNode) and not _waits(workflow, node) and all(p.kind != "history" for p in node.providers)
    ):
        history = ContextProvider(kind="history", store_inputs=False, store_outputs=False)
        edit = set_fields(workflow, node.id, {"providers": (*node.providers, history)})
        yield ContextFix("New session per turn", edit, "Begin every turn without history")


def _waits(workflow: Workflow, node: AgentNode) -> bool:
    """Whether a turn may wait for a person: what it asked for must then be in the history when the answer comes."""
    asking = {tool.name for tool in workflow.tools if tool.approval != "never"}
    servers = {server.name for server in workflow.mcp_servers if server.approval != "never"}
    return not asking.isdisjoint(node.tools) or not servers.isdisjoint(node.mcp_servers)


def _last_reply(workflow: Workflow, node: Node) -> Iterator[ContextFix]:
    if isinstance(node, AgentNode) and node.host == "python" and node.context != "last_agent":
        edit = set_fields(workflow, node.id, {"context": "last_agent"})
        yield ContextFix("Use last reply only", edit, "Pass on the last reply only")


def _wide(workflow: Workflow, node: Node) -> Iterator[ContextFix]:
    yield from _last_reply(workflow, node)
    if isinstance(node, AgentNode) and node.compaction.strategy == "none":
        compaction = Compaction(strategy="sliding_window", keep_last=_KEPT_GROUPS)
        edit = set_fields(workflow, node.id, {"compaction": compaction})
        yield ContextFix("Keep only the newest messages", edit, "Compact the conversation")


def _shown_twice(workflow: Workflow, node: Node) -> Iterator[ContextFix]:
    named = workflow.outputs if isinstance(workflow.outputs, tuple) else ()
    if node.id in named and len(named) > 1:
        yield ContextFix("Take it out of the outputs", set_output(workflow, node.id, False), "Take out of the outputs")


def _looked_at(text: str, field: str) -> Callable[[Workflow, Node], Iterator[ContextFix]]:
    """A way out that a person must choose: the field that decides."""

    def make(_workflow: Workflow, node: Node) -> Iterator[ContextFix]:
        if isinstance(node, AgentNode):
            yield ContextFix(text, field=field)

    return make


_FIXES: Mapping[str, Callable[[Workflow, Node], Iterator[ContextFix]]] = {
    "W1": _duplicate,
    "W2": _shown_twice,
    "W4": _last_reply,
    "W13": _wide,
    "W14": _looked_at("Show its middleware", "middleware"),
    "W15": _looked_at("Show the option", "turn_token"),
}
