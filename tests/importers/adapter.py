"""A document in the terms of the sample files (import specification, section 16)."""

from __future__ import annotations

from typing import Any

from studio.document.model import (
    AgentNode,
    DirectEdge,
    FanInEdge,
    FanOutEdge,
    HandoffEdge,
    HumanInputNode,
    SubWorkflowNode,
    SwitchEdge,
    Workflow,
)
from studio.importers import Imported

PATTERNS = ("sequential", "concurrent", "handoff", "group_chat", "magentic")


def nodes(found: Imported) -> dict[str, dict[str, Any]]:
    """Id -> kind, label, added, properties."""
    workflow = found.workflow
    made: dict[str, dict[str, Any]] = {}
    for node in workflow.nodes:
        made[node.id] = {
            "kind": node.kind,
            "label": node.name,
            "added": node.id in found.report.added,
            "has": _properties(workflow, node),
        }
    for note in workflow.notes:
        label = getattr(note, "name", "")
        made[note.id] = {"kind": "note", "label": label, "added": False, "has": {"text": note.text}}
    return made


def _properties(workflow: Workflow, node: Any) -> dict[str, Any]:
    has = node.model_dump(mode="json", by_alias=True)
    place = workflow.places[node.id]
    has.update(x=place.x, y=place.y, placed=getattr(place, "placed", None))
    match node:
        case AgentNode():
            has["instructions"] = node.instructions or None
            has["output_schema"] = has.get("output_schema_name", has.get("output_schema"))
        case HumanInputNode():
            has["prompt"] = None if node.question == "{text}" else node.question
        case SubWorkflowNode():
            has["propagate_request"] = node.propagate_requests
            if node.embedded is not None:
                has["inner"] = _inner(node.embedded)
    frames = [g.name for g in workflow.groups if node.id in g.members and g.kind == "frame"]
    has["frame"] = frames[0] if frames else None
    if isinstance(has.get("sends"), str):
        has["sends_names"] = has["sends"].split(" | ")
    return has


def _inner(workflow: Workflow) -> dict[str, Any]:
    return {
        "start": workflow.start,
        "nodes": [{"id": n.id, "kind": n.kind} for n in workflow.nodes],
        "edges": edges(workflow),
    }


def edges(workflow: Workflow) -> list[dict[str, Any]]:
    """The edge groups."""
    return [_edge(edge) for edge in workflow.edges]


def _edge(edge: Any) -> dict[str, Any]:
    rule = getattr(edge, "rule", None)
    with_rule = {"rule": rule} if rule else {}
    match edge:
        case DirectEdge():
            return {"kind": "direct", "from": edge.source, "to": edge.target, **with_rule}
        case SwitchEdge():
            cases = [{"to": c.target, "rule": c.rule} for c in edge.cases]  # type: ignore[attr-defined]
            return {"kind": "switch", "from": edge.source, "cases": [*cases, {"to": edge.default, "default": True}]}
        case FanOutEdge():
            return {"kind": "fan_out", "from": edge.source, "to": list(edge.targets), **with_rule}
        case FanInEdge():
            return {"kind": "fan_in", "from": list(edge.sources), "to": edge.target}
        case HandoffEdge():
            tool = getattr(edge, "tool", "")
            return {"kind": "handoff", "from": edge.source, "to": edge.target, "tool": tool, **with_rule}
    raise AssertionError(edge)


def settings(found: Imported) -> dict[str, Any]:
    """Settings of the workflow."""
    workflow = found.workflow
    pattern = [g.kind for g in workflow.groups if g.kind in PATTERNS]
    return {
        "start": workflow.start,
        "name": workflow.name,
        "max_iterations": workflow.max_supersteps,
        "outputs": list(workflow.outputs) if isinstance(workflow.outputs, tuple) else workflow.outputs,
        "intermediate": list(workflow.intermediate) if isinstance(workflow.intermediate, tuple) else None,
        "pattern": pattern[0] if pattern else None,
    }
