"""What a breakpoint can be at, with the names that people read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from studio.debugger.breakpoints import Breakpoint, Kind, words
from studio.document.lines import lines, name_of, path_names
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


_AT_NODES = ("node", "model", "request", "error")
_DEEPEST = 4
"""How many levels of sub-workflows are offered."""
_Place = tuple[str, str]
_NONE: Mapping[str, Workflow] = {}


def places(workflow: Workflow, kind: Kind, linked: Mapping[str, Workflow] = _NONE) -> list[tuple[str, str]]:
    """(place, what people call it); empty for a kind that has no place. ``linked``: workflows of linked files, by the
    path of their node."""
    every = _EVERY.get(kind)
    if every is None:
        return []
    found = [("", tr(every))]
    if kind in _AT_NODES:
        found += list(_nodes(workflow, linked, agents=kind == "model"))
    elif kind == "edge":
        found += list(_edges(workflow, linked))
    elif kind in ("tool", "repeats"):
        found += [(tool.name, tool.name) for tool in workflow.tools]
    else:
        found += [(key, key) for key in state_keys(workflow)]
    return found


def linked_workflows(workflow: Workflow, folder: Path | None) -> dict[str, Workflow]:
    """The workflows of linked files, by the path of their node; without those that cannot be read."""
    found: dict[str, Workflow] = {}
    _read_linked(workflow, folder, "", found)
    return found


def _read_linked(workflow: Workflow, folder: Path | None, path: str, found: dict[str, Workflow]) -> None:
    for node in workflow.nodes:
        if not isinstance(node, SubWorkflowNode) or path.count("/") >= _DEEPEST:
            continue
        inner, around, there = node.embedded, folder, f"{path}{node.id}"
        if node.path and folder is not None:
            from studio.files import FileProblem, read_workflow

            try:
                file = (folder / node.path).resolve()
                inner = found[there] = read_workflow(file)
            except (FileProblem, OSError, ValueError):  # the path may be none at all
                continue
            around = file.parent
        if inner is not None:
            _read_linked(inner, around, f"{there}/", found)


def _levels(workflow: Workflow, linked: Mapping[str, Workflow]) -> Iterator[tuple[str, str, Workflow]]:
    """The workflow and those inside it: the path in front of their items, the same in words, and what is there."""
    waiting: list[tuple[str, str, Workflow]] = [("", "", workflow)]
    while waiting:
        path, shown, here = waiting.pop(0)
        yield path, shown, here
        for node in here.nodes:
            if isinstance(node, SubWorkflowNode) and path.count("/") < _DEEPEST:
                there = f"{path}{node.id}"
                inner = node.embedded if node.embedded is not None and not node.path else linked.get(there)
                if inner is not None:
                    waiting.append((f"{there}/", f"{shown}{node.name or node.id} › ", inner))


def _nodes(workflow: Workflow, linked: Mapping[str, Workflow] = _NONE, *, agents: bool = False) -> Iterator[_Place]:
    for path, shown, here in _levels(workflow, linked):
        for node in here.nodes:
            assert isinstance(node, NodeBase)
            if isinstance(node, AgentNode) or not agents:
                yield f"{path}{node.id}", f"{shown}{node.name or node.id}"


def _edges(workflow: Workflow, linked: Mapping[str, Workflow] = _NONE) -> Iterator[_Place]:
    for path, shown, here in _levels(workflow, linked):
        for line in lines(here):
            yield f"{path}{line.id}", f"{shown}{line_name(here, line.id)}"


def line_name(workflow: Workflow, line_id: str) -> str:
    """A line as people read it: "Writer → Publisher"."""
    found = next((line for line in lines(workflow) if line.id == line_id), None)
    if found is None:
        return line_id
    text = f"{name_of(workflow, found.source)} → {name_of(workflow, found.target)}"
    return f"{text} ({found.label})" if found.label else text


def place_name(workflow: Workflow, breakpoint: Breakpoint, linked: Mapping[str, Workflow] = _NONE) -> str:
    """What people call the place of a breakpoint; "" if it is every one."""
    place = breakpoint.place
    if not place or breakpoint.kind not in (*_AT_NODES, "edge"):
        return place
    if breakpoint.kind == "edge" and "/" not in place:
        return line_name(workflow, place)
    found = _edges(workflow, linked) if breakpoint.kind == "edge" else _nodes(workflow, linked)
    named = next((name for path, name in found if path == place), None)
    *inside, item = place.split("/")
    return named or " › ".join(path_names(workflow, inside, item))


def row_words(workflow: Workflow, breakpoint: Breakpoint, linked: Mapping[str, Workflow] = _NONE) -> tuple[str, str]:
    """A breakpoint in two short lines: its place, or what kind it is; and when it stops."""
    name = place_name(workflow, breakpoint, linked)
    kind = dict(KIND_WORDS)[breakpoint.kind]
    if not name:
        return tr(kind), words(breakpoint, str)
    limit = f"{breakpoint.limit:g}"
    short = {
        "node": breakpoint.moment or "",
        "edge": tr("message queued") if breakpoint.moment == "queued" else tr("message delivered"),
        "model": tr("model call"),
        "tool": tr("after its call") if breakpoint.moment == "after" else tr("before its call"),
        "request": tr("asks"),
        "state": tr("changes"),
        "error": tr("fails"),
        "repeats": tr("same call {count} times in a row").format(count=limit),
    }
    return name, short[breakpoint.kind]


def node_of(workflow: Workflow, breakpoint: Breakpoint) -> str:
    """What the canvas can show of it: a node, or a line; "" for neither."""
    if breakpoint.kind in (*_AT_NODES, "edge"):
        return breakpoint.place.split("/")[0]
    return ""
