"""Documents in which two things have one id: what a merge of two files or a program left behind is put right.

Everything in a document is addressed by its id; of two things with one id the second could not be selected, moved or
deleted. What is run or checked from a file is never changed: there it is a problem (``checks_graph.id_problems``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from studio.document.ids import condition_name, free_id, taken_ids
from studio.document.model import DirectEdge, SubWorkflowNode, SwitchCase, SwitchEdge, Workflow

_PLACES = ("nodes", "edges", "notes", "groups")


def told_apart(workflow: Workflow) -> tuple[Workflow, tuple[str, ...]]:
    """The document with an id of its own for everything in it, also inside of embedded sub-workflows, and the ids that
    were given twice. Whatever stands there twice word by word is left once. A document in order comes back itself."""
    found: list[str] = []
    workflow = _inside(workflow, found)
    items = [item.id for where in _PLACES for item in getattr(workflow, where)]
    items += [case.id for edge in workflow.edges if isinstance(edge, SwitchEdge) for case in edge.cases]
    if len(set(items)) == len(items) and all(items):
        return workflow, tuple(found)
    taken = {item.casefold() for item in taken_ids(workflow)}
    kept: dict[str, Any] = {}
    values = {where: tuple(_apart(getattr(workflow, where), kept, taken, found)) for where in _PLACES}
    values["edges"] = tuple(_with_cases(edge, kept, taken, found) for edge in values["edges"])
    return workflow.model_copy(update=values), tuple(found)


def _inside(workflow: Workflow, found: list[str]) -> Workflow:
    changed = False
    nodes: list[Any] = []
    for node in workflow.nodes:
        if isinstance(node, SubWorkflowNode) and node.embedded is not None:
            inner, doubles = told_apart(node.embedded)
            if doubles:
                node, changed = node.model_copy(update={"embedded": inner}), True
                found += doubles
        nodes.append(node)
    return workflow.model_copy(update={"nodes": tuple(nodes)}) if changed else workflow


def _apart(items: Iterable[Any], kept: dict[str, Any], taken: set[str], found: list[str]) -> Iterable[Any]:
    for item in items:
        first = kept.get(item.id)
        if item.id and first is None:
            kept[item.id] = item
            yield item
            continue
        found.append(item.id)
        if item != first:
            new = _with_id(item, free_id(item.id or getattr(item, "name", None) or "", taken, "node"))
            taken.add(new.id.casefold())
            kept[new.id] = new
            yield new


def _with_cases(edge: Any, kept: dict[str, Any], taken: set[str], found: list[str]) -> Any:
    if not isinstance(edge, SwitchEdge):
        return edge
    cases = tuple(_apart(edge.cases, kept, taken, found))
    return edge if cases == edge.cases else edge.model_copy(update={"cases": cases})


def _with_id(item: Any, new_id: str) -> Any:
    values: dict[str, Any] = {"id": new_id}
    if isinstance(item, DirectEdge | SwitchCase) and item.condition is not None:
        values["condition"] = item.condition.model_copy(update={"name": condition_name(new_id)})
    return item.model_copy(update=values)
