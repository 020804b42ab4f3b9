"""Fingerprints: what a run depends on, as SHA-256. Moving, labelling, notes and frames change none of them."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from studio.document.conditions import Condition
from studio.document.model import (
    AgentNode,
    DirectEdge,
    FanOutEdge,
    FunctionNode,
    HumanInputNode,
    JoinNode,
    NodeBase,
    RunnerNode,
    SwitchEdge,
    ToolDecl,
    Workflow,
)

_LOOKS = ("id", "name", "description", "flow", "places", "notes", "groups", "sample_input", "runs_on_disk", "imported")
_LABELS = ("label", "default_label", "description")


def document_fingerprint(workflow: Workflow) -> str:
    """Of everything that decides how a run goes."""
    return _digest(_logic(workflow))


def node_fingerprint(workflow: Workflow, node_id: str) -> str:
    """Of one node: its settings, the tools, types and code it uses, the conditions on what it sends.

    Raises ``KeyError`` if there is no such node.
    """
    node = workflow.node(node_id)
    if node is None:
        raise KeyError(node_id)
    return _of_node(workflow, node, _conditions(workflow).get(node_id, []))


def node_fingerprints(workflow: Workflow) -> dict[str, str]:
    """The fingerprint of every node by id."""
    conditions = _conditions(workflow)
    return {node.id: _of_node(workflow, node, conditions.get(node.id, [])) for node in workflow.nodes}


def _of_node(workflow: Workflow, node: NodeBase, conditions: list[Any]) -> str:
    tool_names = set(_tool_names(node))
    tools = [t for t in workflow.tools if t.name in tool_names]
    code = isinstance(node, FunctionNode | JoinNode) or (isinstance(node, AgentNode) and calls_code(node))
    servers = [m for m in workflow.mcp_servers if m.name in _server_names(node)]
    modules = workflow.modules if code or any(t.call or t.source for t in tools) else ()
    types = workflow.types if code or isinstance(node, HumanInputNode) else ()
    return _digest(
        {
            "node": _node(node),
            "tools": [_tool(t) for t in tools],
            "mcp_servers": [m.model_dump(mode="json") for m in servers],
            "modules": [m.model_dump(mode="json") for m in modules],
            "types": [t.model_dump(mode="json") for t in types],
            "conditions": conditions,
        }
    )


def _tool_names(node: NodeBase) -> tuple[str, ...]:
    match node:
        case AgentNode():
            return (*node.tools, *node.tool_loop.additional_tools)
        case RunnerNode():
            return tuple(name for agent in node.agents for name in agent.tools)
    return ()


def _server_names(node: NodeBase) -> frozenset[str]:
    match node:
        case AgentNode():
            return frozenset(node.mcp_servers)
        case RunnerNode():
            return frozenset(name for agent in node.agents for name in agent.mcp_servers)
    return frozenset()


def calls_code(node: AgentNode) -> bool:
    """Whether a middleware or a context provider of the agent is user code, which may import the modules."""
    return bool(node.middleware) or any(p.kind == "code" for p in node.providers)


def _tool(tool: ToolDecl) -> dict[str, Any]:
    # about editing, and the form in which a person answers: not about what runs
    return tool.model_dump(mode="json", exclude={"from_code", "result_schema"})


def _node(node: NodeBase) -> dict[str, Any]:
    data = node.model_dump(mode="json")
    data.pop("description", None)
    inner = getattr(node, "embedded", None)
    if isinstance(inner, Workflow):
        data["embedded"] = _logic(inner)
    return data


def _conditions(workflow: Workflow) -> dict[str, list[Any]]:
    """Target and condition of every conditional line, by the node whose messages it decides on."""
    behind: dict[str, list[Any]] = {}
    for edge in workflow.edges:
        found: list[tuple[str, Condition | None]] = []
        match edge:
            case DirectEdge():
                found = [(edge.target, edge.condition)]
            case SwitchEdge():
                found = [(c.target, c.condition) for c in edge.cases]
            case FanOutEdge(selection=dict() as selection):
                found = list(selection.items())
        source = getattr(edge, "source", None)
        conditions = [[target, c.model_dump(mode="json")] for target, c in found if c is not None]
        if conditions and isinstance(source, str):
            behind.setdefault(source, []).extend(conditions)
    return behind


def _logic(workflow: Workflow) -> dict[str, Any]:
    data = workflow.model_dump(mode="json", exclude=set(_LOOKS))
    data["nodes"] = [_node(node) for node in workflow.nodes]
    data["tools"] = [_tool(tool) for tool in workflow.tools]
    data["edges"] = [_unlabelled(edge.model_dump(mode="json")) for edge in workflow.edges]
    return data


def _unlabelled(edge: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in edge.items() if key not in _LABELS}
    if isinstance(kept.get("cases"), list):
        kept["cases"] = [{k: v for k, v in c.items() if k not in _LABELS} for c in kept["cases"] if isinstance(c, dict)]
    return kept


def _digest(data: object) -> str:
    text = json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
