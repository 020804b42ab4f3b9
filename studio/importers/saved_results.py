"""Results that later steps ask for: a step behind the one that makes them keeps them in shared state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from studio.document.ids import free_id
from studio.document.model import (
    AgentNode,
    DirectEdge,
    Edge,
    FanInEdge,
    FanOutEdge,
    FunctionNode,
    HumanInputNode,
    Node,
    StateDecl,
    SwitchEdge,
    TemplateNode,
    Workflow,
)

_TEXTS = ("save_reply", "save_output")
_PARSED = "save_object"


def saved_keys(node: Node, state: Iterable[StateDecl] = ()) -> tuple[str, ...]:
    """The keys of shared state that the result of a step is asked for by; ``state`` has those of other fields of it."""
    extra: Mapping[str, Any] = node.model_extra or {}
    names = ("variable",) if isinstance(node, HumanInputNode) else (*_TEXTS, _PARSED)
    found = [key for name in names if isinstance(key := extra.get(name), str) and key]
    if isinstance(node, AgentNode):
        found += [decl.key for decl in state if decl.key.startswith(f"{node.id}.")]
    return tuple(dict.fromkeys(found))


def with_saved_results(workflow: Workflow) -> Workflow:
    """The workflow with a step ``<id>__save`` behind each agent, person and template whose result is asked for."""
    taken = {n.id.casefold() for n in workflow.nodes} | {e.id.casefold() for e in workflow.edges}
    instead: dict[str, str] = {}
    added: list[Node] = []
    joins: list[Edge] = []
    for node in workflow.nodes:
        found = _saving(node, workflow.state)
        if found is None:
            continue
        save = free(f"{node.id}__save", taken)
        edge = free_id(f"{node.id}_to_{save}", taken | {save.casefold()}, "edge")
        taken |= {save.casefold(), edge.casefold()}
        added.append(found.model_copy(update={"id": save}))
        joins.append(DirectEdge(id=edge, source=node.id, target=save))
        instead[node.id] = save
    if not added:
        return workflow
    edges = (*(_from(edge, instead) for edge in workflow.edges), *joins)
    return workflow.model_copy(update={"nodes": (*workflow.nodes, *added), "edges": edges})


def _saving(node: Node, state: Iterable[StateDecl]) -> FunctionNode | None:
    keys = saved_keys(node, state)
    if not keys:
        return None
    kind, lines = "text", [f"ctx.set_state({key!r}, data)" for key in keys]
    match node:
        case AgentNode(host="python"):
            kind, lines = "response", _of_answer(node, keys)
        case HumanInputNode(send="answer"):
            kind = "text" if node.answer_type == "text" else "any"
        case TemplateNode():
            pass
        case _:
            return None
    body = "\n".join([*lines, "result = data"])
    return FunctionNode(id="save", name=f"Keep what {node.name} says", accepts=kind, sends=kind, body=body)


def _of_answer(node: AgentNode, keys: Iterable[str]) -> list[str]:
    """The text of the answer, the object that it is, or a field of that."""
    extra: Mapping[str, Any] = node.model_extra or {}
    properties = (node.output_schema or {}).get("properties")
    fields = set(properties) if isinstance(properties, dict) else set()
    given = {}
    for key in keys:
        name = key.removeprefix(f"{node.id}.")
        whole = key == extra.get(_PARSED) or name in ("output_parsed", "structured_output")
        given[key] = "found" if whole else f"fields.get({name!r})" if name in fields else "text"
    lines = ["text = data.agent_response.text"]
    if any(value != "text" for value in given.values()):
        lines = [
            "import json",
            "",
            *lines,
            "try:",
            "    found = json.loads(text)",
            "except ValueError:",
            "    found = {}",
        ]
    if any(value.startswith("fields") for value in given.values()):
        lines.append("fields = found if isinstance(found, dict) else {}")
    return [*lines, *(f"ctx.set_state({key!r}, {value})" for key, value in given.items())]


def _from(edge: Edge, instead: Mapping[str, str]) -> Edge:
    """The same edge, from what stands behind its source now. Hand-offs are between the agents themselves."""
    match edge:
        case DirectEdge() | SwitchEdge() | FanOutEdge():
            return edge.model_copy(update={"source": instead.get(edge.source or "", edge.source)})
        case FanInEdge():
            return edge.model_copy(update={"sources": tuple(instead.get(s, s) for s in edge.sources)})
    return edge


def free(wanted: str, taken: set[str]) -> str:
    """Two lines join what is added to the id, as in everything that readers add."""
    found, number = wanted, 2
    while found.casefold() in taken:
        found, number = f"{wanted}_{number}", number + 1
    return found
