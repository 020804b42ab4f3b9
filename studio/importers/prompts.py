"""Prompts that other programs write at an agent: a step in front of it fills them, as it is given what comes in."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from studio.document.model import (
    AgentNode,
    DirectEdge,
    Edge,
    FanInEdge,
    FanOutEdge,
    FunctionNode,
    StateDecl,
    SwitchEdge,
    Workflow,
)
from studio.importers.saved_results import free
from studio.importers.step_code import TEXT_OF_DATA, Code

QUERY = "sys.query"
"""What the user wrote, in the words of Dify."""


def with_query(workflow: Workflow) -> Workflow:
    """The workflow with a first step that keeps what comes in, if texts of it ask for that."""
    asks = any(QUERY in item.model_dump_json() for item in (*workflow.nodes, *workflow.edges))
    if not asks or workflow.start is None or workflow.node(workflow.start) is None:
        return workflow
    taken = {item.id.casefold() for item in (*workflow.nodes, *workflow.edges)}
    keep = free("query__keep", taken)
    body = f"{TEXT_OF_DATA}\nctx.set_state({QUERY!r}, text)\nresult = data"
    node = FunctionNode(id=keep, name="Keep the question", accepts="any", sends="any", body=body)
    edge = DirectEdge(id=free(f"{keep}_to_{workflow.start}", taken | {keep}), source=keep, target=workflow.start)
    known = {decl.key for decl in workflow.state}
    state = workflow.state if QUERY in known else (*workflow.state, StateDecl(key=QUERY))
    nodes, edges = (*workflow.nodes, node), (*workflow.edges, edge)
    return workflow.model_copy(update={"nodes": nodes, "edges": edges, "start": keep, "state": state})


def with_prompts(workflow: Workflow, known: Collection[str]) -> Workflow:
    """The workflow with a step ``<id>__prompt`` in front of each agent whose prompt asks only for keys of ``known``."""
    taken = {item.id.casefold() for item in (*workflow.nodes, *workflow.edges)}
    instead: dict[str, str] = {}
    added: list[FunctionNode] = []
    edges: list[Edge] = []
    for node in workflow.nodes:
        body = _body(node, known) if isinstance(node, AgentNode) else None
        if body is None:
            continue
        prompt = free(f"{node.id}__prompt", taken)
        edge = free(f"{prompt}_to_{node.id}", taken | {prompt.casefold()})
        taken |= {prompt.casefold(), edge.casefold()}
        added.append(FunctionNode(id=prompt, name=f"Prompt of {node.name}", accepts="any", sends="text", body=body))
        edges.append(DirectEdge(id=edge, source=prompt, target=node.id))
        instead[node.id] = prompt
    if not added:
        return workflow
    moved = tuple(_to(edge, instead) for edge in workflow.edges)
    start = instead.get(workflow.start or "", workflow.start)
    return workflow.model_copy(update={"nodes": (*workflow.nodes, *added), "edges": (*moved, *edges), "start": start})


def unused_prompts(workflow: Workflow) -> list[str]:
    """The agents whose prompt nobody fills: they are given what comes in."""
    filled = {edge.target for edge in workflow.edges if isinstance(edge, DirectEdge) and "__prompt" in edge.source}
    return [n.id for n in workflow.nodes if isinstance(n, AgentNode) and _prompt(n) and n.id not in filled]


def _prompt(node: AgentNode) -> str:
    found = (node.model_extra or {}).get("prompt")
    return found.strip() if isinstance(found, str) else ""


def _body(node: AgentNode, known: Collection[str]) -> str | None:
    extra: Mapping[str, Any] = node.model_extra or {}
    code = Code()
    value = code.text(_prompt(node), extra.get("refers") or {}, known) if _prompt(node) else None
    return None if value is None else code.body([f"result = {value}"])


def _to(edge: Edge, instead: Mapping[str, str]) -> Edge:
    """The same edge, to what stands in front of its targets now. Hand-offs are between the agents themselves."""
    match edge:
        case DirectEdge() | FanInEdge():
            return edge.model_copy(update={"target": instead.get(edge.target, edge.target)})
        case SwitchEdge():
            cases = tuple(c.model_copy(update={"target": instead.get(c.target, c.target)}) for c in edge.cases)
            default = instead.get(edge.default or "", edge.default)
            return edge.model_copy(update={"cases": cases, "default": default})
        case FanOutEdge():
            selection = edge.selection and {instead.get(t, t): c for t, c in edge.selection.items()}
            targets = tuple(instead.get(t, t) for t in edge.targets)
            return edge.model_copy(update={"targets": targets, "selection": selection})
    return edge
