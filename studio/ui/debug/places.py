"""What a breakpoint can be at, with the names that people read."""

from __future__ import annotations

from collections.abc import Iterator

from studio.debugger.breakpoints import Breakpoint, Kind
from studio.document.lines import lines, name_of
from studio.document.model import AgentNode, NodeBase, SubWorkflowNode, Workflow
from studio.document.state_keys import state_keys
from studio.ui.text import tr

KIND_WORDS: tuple[tuple[Kind, str], ...] = (
    ("node", "Node"),
    ("edge", "Edge"),
    ("model", "Model call"),
    ("tool", "Tool call"),
    ("request", "Request"),
    ("state", "State key changes"),
    ("error", "Error"),
    ("tokens", "Budget: tokens"),
    ("cost", "Budget: cost"),
    ("supersteps", "Budget: supersteps"),
    ("repeats", "Repeated tool call"),
)
_EVERY = {
    "node": "Every node",
    "edge": "Every edge",
    "model": "Every agent",
    "tool": "Every tool",
    "request": "Every node that asks",
    "state": "Every key",
    "error": "Every node",
    "repeats": "Every tool",
}

TYPED = {"state": "A key that code sets", "tool": "A tool, also of an MCP server", "repeats": "A tool"}
"""Kinds whose places are not all in the drawing, so that a name can be typed; with what stands in the empty field."""


def places(workflow: Workflow, kind: Kind) -> list[tuple[str, str]]:
    """(place, what people call it); empty for a kind that has no place."""
    every = _EVERY.get(kind)
    if every is None:
        return []
    found = [("", tr(every))]
    if kind in ("node", "model", "request", "error"):
        found += list(_nodes(workflow, agents=kind == "model"))
    elif kind == "edge":
        found += [(line.id, line_name(workflow, line.id)) for line in lines(workflow)]
    elif kind in ("tool", "repeats"):
        found += [(tool.name, tool.name) for tool in workflow.tools]
    else:
        found += [(key, key) for key in state_keys(workflow)]
    return found


def _nodes(
    workflow: Workflow, path: str = "", shown: str = "", *, agents: bool = False, depth: int = 0
) -> Iterator[tuple[str, str]]:
    """The nodes of a workflow and of those that are embedded in it."""
    for node in workflow.nodes:
        assert isinstance(node, NodeBase)
        name = f"{shown}{node.name or node.id}"
        if isinstance(node, AgentNode) or not agents:
            yield f"{path}{node.id}", name
        if isinstance(node, SubWorkflowNode) and node.embedded is not None and depth < 4:
            yield from _nodes(node.embedded, f"{path}{node.id}/", f"{name} › ", agents=agents, depth=depth + 1)


def line_name(workflow: Workflow, line_id: str) -> str:
    """A line as people read it: "Writer → Publisher"."""
    found = next((line for line in lines(workflow) if line.id == line_id), None)
    if found is None:
        return line_id
    text = f"{name_of(workflow, found.source)} → {name_of(workflow, found.target)}"
    return f"{text} ({found.label})" if found.label else text


def place_name(workflow: Workflow, breakpoint: Breakpoint) -> str:
    """What people call the place of a breakpoint; "" if it is every one."""
    place = breakpoint.place
    if not place:
        return ""
    if breakpoint.kind == "edge":
        return line_name(workflow, place)
    if breakpoint.kind in ("node", "model", "request", "error"):
        return next((name for path, name in _nodes(workflow) if path == place), place)
    return place


def node_of(workflow: Workflow, breakpoint: Breakpoint) -> str:
    """What the canvas can show of it: a node, or a line; "" for neither."""
    if breakpoint.kind in ("node", "model", "request", "error"):
        return breakpoint.place.split("/")[0]
    return breakpoint.place if breakpoint.kind == "edge" else ""
