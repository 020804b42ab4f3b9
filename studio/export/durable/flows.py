"""Types on edges: Durable Task hands a node whatever its edges let through, and fails where it takes no such type.

In one process such a message is dropped. Where it could come, the edge gets a condition that drops it.
"""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import JsonValue

from studio.document.conditions import Condition, Rule
from studio.document.model import DirectEdge, Edge, FanOutEdge, GenericNode, Node, SwitchEdge, Workflow
from studio.document.types import WITH_TEXT, accepts, fits, item_type, sends
from studio.export.durable.deliveries import calls_of
from studio.export.durable.findings import Finding

_ANYTHING = ("any",)


def guarded(workflow: Workflow) -> Workflow:
    """The workflow with a condition on every edge that could let through what its target does not take."""
    edges = tuple(_guarded(workflow, edge) for edge in workflow.edges)
    return workflow.model_copy(update={"edges": edges})


def unguardable(workflow: Workflow) -> Iterator[Finding]:
    """Edges where no condition helps."""
    for edge in workflow.edges:
        for target, condition in _legs(edge):
            unfit = _unfit(workflow, getattr(edge, "source", None), target)
            python = condition is not None and condition.kind == "python"
            if unfit and (isinstance(edge, SwitchEdge) or python):
                source, name = (_name(workflow, item) for item in (getattr(edge, "source", ""), target))
                yield Finding(
                    edge.id,
                    f"{source} can send {name} what it does not take ({', '.join(unfit)}), which a run on Durable Task "
                    f"fails of. Let {source} send one type, or let {name} take all of them.",
                )


def _legs(edge: Edge) -> list[tuple[str, Condition | None]]:
    match edge:
        case DirectEdge():
            return [(edge.target, edge.condition)]
        case FanOutEdge():
            return [(target, (edge.selection or {}).get(target)) for target in edge.targets]
        case SwitchEdge():
            cases = [(case.target, case.condition) for case in edge.cases]
            return [*cases, *([(edge.default, None)] if edge.default else [])]
    return []  # what a join takes is made of what its sources send


def _guarded(workflow: Workflow, edge: Edge) -> Edge:
    if isinstance(edge, DirectEdge):
        condition = _guard(workflow, edge.source, edge.target, edge.condition)
        return edge if condition is edge.condition else edge.model_copy(update={"condition": condition})
    if isinstance(edge, FanOutEdge):
        given = edge.selection or {}
        selection = {t: _guard(workflow, edge.source, t, given.get(t)) for t in edge.targets}
        kept = {target: condition for target, condition in selection.items() if condition is not None}
        return edge if kept == given else edge.model_copy(update={"selection": kept})
    return edge


def _guard(workflow: Workflow, source: str | None, target: str, condition: Condition | None) -> Condition | None:
    """The condition of an edge, and that the target takes the message."""
    if not _unfit(workflow, source, target):
        return condition
    wanted: list[JsonValue] = [*_names(_taken(workflow, target))]
    rule = Rule(op="type_is", value=wanted)
    if condition is None:
        return Condition(name=f"{target}_takes", rule=rule)
    if condition.kind == "rules":
        both = (rule, *([condition.rule] if condition.rule else []))
        return condition.model_copy(update={"rule": Rule(op="and", rules=both)})
    names = ", ".join(f'"{name}"' for name in _names(_taken(workflow, target)))
    return condition.model_copy(update={"expression": f"type in [{names}] and ({condition.expression})"})


def _names(taken: tuple[str, ...]) -> list[str]:
    """Types as a condition asks for them: a list is a list, whatever is in it; a number can be an integer."""
    found = ["list" if item_type(name) else name for name in taken]
    return list(dict.fromkeys([*found, *(["integer"] if "number" in found else [])]))


def _unfit(workflow: Workflow, source: str | None, target: str) -> list[str]:
    """The types that a source sends and a target does not surely take."""
    taken = _taken(workflow, target)
    if not taken or "any" in taken:
        return []
    return [s for s in _sent(workflow, source) if s == "any" or not any(fits(s, t) for t in taken)]


def _taken(workflow: Workflow, target: str) -> tuple[str, ...]:
    node = workflow.node(target)
    found = accepts(node) if node is not None else ()
    return (*found, "reply") if set(WITH_TEXT) <= set(found) else found


def _sent(workflow: Workflow, source: str | None, seen: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """What a node sends; a pass node sends what it is given, code may send anything."""
    node = workflow.node(source) if source else None
    if isinstance(node, GenericNode):
        return _passed(workflow, node, seen)
    if node is None or calls_of(getattr(node, "body", ""), "send_message"):
        return _ANYTHING if node is not None else ()
    return tuple(name for name in sends(node) if name != "question")


def _passed(workflow: Workflow, node: Node, seen: frozenset[str]) -> tuple[str, ...]:
    given: list[str] = ["text"] if node.id == workflow.start else []
    for edge in workflow.edges:
        source = getattr(edge, "source", None)
        if source and source not in seen and node.id in (target for target, _ in _legs(edge)):
            given += _sent(workflow, source, seen | {node.id})
    return tuple(dict.fromkeys(given))


def _name(workflow: Workflow, item: str) -> str:
    node = workflow.node(item)
    return node.name if node is not None and node.name else item
