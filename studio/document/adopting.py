"""What a workflow from elsewhere names that has to be found here: models, and tools without code. Both are mapped in
one edit; embedded workflows are mapped with the one around them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from studio.document.edits import Batch, Edit, SetFields, SetWorkflow
from studio.document.model import AgentNode, Node, RunnerNode, SubWorkflowNode, ToolDecl, Workflow
from studio.document.tool_edits import code_of, remove_tool, set_code_of, set_tool
from studio.document.tools import functions


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """Who answers for a model: a profile (None: the one chosen for the run), and the model it is asked for (None: the
    profile's own)."""

    profile: str | None
    model: str | None


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """What stands for a tool without code. ``where``: ``written`` (its code is written here), ``module`` (``name`` is
    ``module:function``), ``server`` (``name`` is that of an MCP server of the workflow, whose tools the agents get in
    its place) or ``none`` (the agents lose it)."""

    where: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Choices:
    """By the name of a model and of a tool; what is not there stays."""

    models: Mapping[str, ModelChoice] = field(default_factory=dict)
    tools: Mapping[str, ToolChoice] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Named:
    """Who uses a model or a tool: names to show, and ids of the nodes of the workflow itself."""

    users: tuple[str, ...] = ()
    nodes: frozenset[str] = frozenset()

    def and_(self, user: str, node_id: str) -> Named:
        return Named((*self.users, user), self.nodes | {node_id})


def named_models(workflow: Workflow) -> dict[str, Named]:
    """The models that agents name without saying who answers for them."""
    found: dict[str, Named] = {}
    for node_id, user, agent in _agents(workflow):
        if agent.model and not agent.profile:
            found[agent.model] = found.get(agent.model, Named()).and_(user, node_id)
    return found


def tools_without_code(workflow: Workflow) -> dict[str, Named]:
    """The tools that whoever runs the workflow has to answer for, with the agents that may call them."""
    found = {tool.name: Named() for inner in _all(workflow) for tool in inner.tools if code_of(tool) == "caller"}
    for node_id, user, agent in _agents(workflow):
        for name in agent.tools:
            if name in found:
                found[name] = found[name].and_(user, node_id)
    return found


def places_of_code(workflow: Workflow, tool: str) -> list[ToolChoice]:
    """The functions and MCP servers that can stand for a tool, in every workflow that declares it."""
    found: list[list[ToolChoice]] = []
    for inner in _all(workflow):
        if any(t.name == tool and code_of(t) == "caller" for t in inner.tools):
            calls = [f"{m.name}:{f.name}" for m in inner.modules for f in functions(m.source)]
            servers = [ToolChoice("server", s.name) for s in inner.mcp_servers]
            found.append([*(ToolChoice("module", call) for call in calls), *servers])
    first, *others = found or [[]]
    return [choice for choice in first if all(choice in other for other in others)]


def adopt(workflow: Workflow, choices: Choices) -> Edit | None:
    """The choices as one edit; None if nothing changes."""
    after = _adopted(workflow, choices)
    edits: list[Edit] = [SetWorkflow({"tools": after.tools})] if after.tools != workflow.tools else []
    for old, new in zip(workflow.nodes, after.nodes, strict=True):
        if changed := {name: value for name, value in new if value != getattr(old, name)}:
            edits.append(SetFields("nodes", old.id, changed))
    return Batch(tuple(edits)) if edits else None


def _adopted(workflow: Workflow, choices: Choices) -> Workflow:
    for name, choice in choices.tools.items():
        tool = next((t for t in workflow.tools if t.name == name and code_of(t) == "caller"), None)
        if tool is not None:
            workflow = _with_tool(workflow, tool, choice)
    return workflow.model_copy(update={"nodes": tuple(_with_models(node, choices) for node in workflow.nodes)})


def _with_tool(workflow: Workflow, tool: ToolDecl, choice: ToolChoice) -> Workflow:
    at = workflow.tools.index(tool)
    if choice.where == "written":
        return set_code_of(workflow, at, "written").apply(workflow).workflow
    if choice.where == "module":
        edit = set_tool(workflow, at, approval="never", call=choice.name, source="", from_code=("parameters",))
        return edit.apply(workflow).workflow
    if choice.where == "server":
        nodes = tuple(_with_server(node, tool.name, choice.name) for node in workflow.nodes)
        workflow = workflow.model_copy(update={"nodes": nodes})
    return remove_tool(workflow, at).apply(workflow).workflow


def _with_server(node: Node, tool: str, server: str) -> Node:
    def servers(agent: Any) -> dict[str, Any]:
        gets = tool in agent.tools and server not in agent.mcp_servers
        return {"mcp_servers": (*agent.mcp_servers, server)} if gets else {}

    match node:
        case AgentNode():
            return node.model_copy(update=servers(node))
        case RunnerNode():
            return node.model_copy(update={"agents": tuple(a.model_copy(update=servers(a)) for a in node.agents)})
    return node


def _with_models(node: Node, choices: Choices) -> Node:
    def values(agent: Any) -> dict[str, Any]:
        choice = choices.models.get(agent.model) if agent.model and not agent.profile else None
        return {"profile": choice.profile, "model": choice.model} if choice is not None else {}

    match node:
        case AgentNode():
            return node.model_copy(update=values(node))
        case RunnerNode():
            return node.model_copy(update={"agents": tuple(a.model_copy(update=values(a)) for a in node.agents)})
        case SubWorkflowNode(embedded=Workflow() as inner):
            return node.model_copy(update={"embedded": _adopted(inner, choices)})
    return node


def _all(workflow: Workflow) -> Iterator[Workflow]:
    yield workflow
    for node in workflow.nodes:
        if isinstance(node, SubWorkflowNode) and node.embedded is not None:
            yield from _all(node.embedded)


def _agents(workflow: Workflow) -> Iterator[tuple[str, str, Any]]:
    """Every agent, with the id of the node that it is or is in, and its name to show."""
    for node in workflow.nodes:
        match node:
            case AgentNode():
                yield node.id, node.name or node.id, node
            case RunnerNode():
                yield from ((node.id, f"{node.name}: {a.name or a.id}", a) for a in node.agents)
            case SubWorkflowNode(embedded=Workflow() as inner):
                yield from ((node.id, f"{node.name}: {name}", agent) for _, name, agent in _agents(inner))
