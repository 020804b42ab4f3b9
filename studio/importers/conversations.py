"""Agents that hand over to each other as what runs here: one conversation runner with all of them in it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from studio.document.agent_options import RunnerAgent
from studio.document.model import (
    AgentNode,
    DirectEdge,
    Edge,
    FanInEdge,
    FanOutEdge,
    HandoffEdge,
    Node,
    RunnerNode,
    SwitchEdge,
    Workflow,
)
from studio.document.runners import transfer_tool

_PLAIN = frozenset({"tool", "reason", "original", "source_line"})
"""What a hand-off may say that a runner knows by itself; code and rules of it are nothing a runner has."""
_OWN = frozenset({
    *("id", "name", "description", "kind", "instructions", "profile", "model", "temperature", "max_tokens", "tools"),
    *("mcp_servers", "context", "session"),
})  # fmt: skip
"""Settings of an agent that an agent of a runner has too, or that a conversation has by itself."""
_TOLD = frozenset({"agent", "options", "original", "source_line"})


def with_conversations(workflow: Workflow) -> Workflow:
    """The workflow with a runner in place of agents that do nothing but hand over to each other. The runner has the id
    and place of the one who starts. Others stay: their hand-offs have code, or lead to something that is no agent."""
    for members in _groups(workflow):
        workflow = _joined(workflow, members) or workflow
    return workflow


def _groups(workflow: Workflow) -> list[list[str]]:
    """The ids of nodes that hand-offs join, in the order of the document."""
    group: dict[str, str] = {}

    def root(item: str) -> str:
        while group.setdefault(item, item) != item:
            item = group[item]
        return item

    for edge in workflow.edges:
        if isinstance(edge, HandoffEdge):
            group[root(edge.target)] = root(edge.source)
    found: dict[str, list[str]] = {}
    for node in workflow.nodes:
        if node.id in group:
            found.setdefault(root(node.id), []).append(node.id)
    return list(found.values())


def _joined(workflow: Workflow, members: list[str]) -> Workflow | None:
    agents = {n.id: n for n in workflow.nodes if n.id in members and isinstance(n, AgentNode) and _is_plain(n)}
    inside = [e for e in workflow.edges if isinstance(e, HandoffEdge) and e.source in members]
    first = _first(workflow, members)
    if len(agents) < len(members) or first is None or not all(_is_known(e, agents) for e in inside):
        return None
    outside = [e for e in workflow.edges if e not in inside]
    if any(_leaves(e) & set(members) for e in outside):
        return None  # who goes on depends on who speaks last
    order = [first, *(item for item in members if item != first)]
    runner = RunnerNode(
        id=first,
        name=agents[first].name,
        description=agents[first].description,
        agents=tuple(_inner(agents[item], [e.target for e in inside if e.source == item]) for item in order),
    )
    others = set(members) - {first}
    nodes: tuple[Node, ...] = tuple(runner if n.id == first else n for n in workflow.nodes if n.id not in others)
    groups = tuple(
        g.model_copy(update={"members": tuple(m for m in g.members if m not in members)}) for g in workflow.groups
    )
    changed: dict[str, Any] = {
        "nodes": nodes,
        "edges": tuple(outside),
        "groups": tuple(g for g in groups if g.members),
        "places": {item: place for item, place in workflow.places.items() if item not in others},
    }
    for name in ("outputs", "intermediate"):
        listed = getattr(workflow, name)
        if isinstance(listed, tuple):
            changed[name] = tuple(dict.fromkeys(first if item in members else item for item in listed))
    return workflow.model_copy(update=changed)


def _is_plain(node: AgentNode) -> bool:
    changed = {name for name in type(node).model_fields if getattr(node, name) != _DEFAULTS[name]}
    return changed <= _OWN and set(node.model_extra or {}) <= _TOLD


_DEFAULTS: Mapping[str, Any] = dict(AgentNode(id="x", name="x"))


def _is_known(edge: HandoffEdge, agents: Mapping[str, AgentNode]) -> bool:
    extra = edge.model_extra or {}
    return set(extra) <= _PLAIN and extra.get("tool") in (None, "", transfer_tool(agents[edge.target].name))


def _first(workflow: Workflow, members: Collection[str]) -> str | None:
    """Who is given what comes in; None if several are."""
    entered = {item for edge in workflow.edges for item in _enters(edge) if item in members}
    entered |= {workflow.start} & set(members) if workflow.start is not None else set()
    return next(iter(entered)) if len(entered) == 1 else None


def _enters(edge: Edge) -> set[str]:
    match edge:
        case DirectEdge() | FanInEdge():
            return {edge.target}
        case SwitchEdge():
            return {*(case.target for case in edge.cases), edge.default or ""}
        case FanOutEdge():
            return set(edge.targets)
    return set()


def _leaves(edge: Edge) -> set[str]:
    found = getattr(edge, "sources", None) or (getattr(edge, "source", None) or "",)
    return set(found)


def _inner(node: AgentNode, handoffs: list[str]) -> RunnerAgent:
    return RunnerAgent(
        id=node.id,
        name=node.name,
        instructions=node.instructions,
        specialty=node.description,
        profile=node.profile,
        model=node.model,
        temperature=node.temperature,
        max_tokens=node.max_tokens,
        tools=node.tools,
        mcp_servers=node.mcp_servers,
        handoffs=tuple(dict.fromkeys(handoffs)),
    )
