"""Copy, paste, duplicate: a piece of a document as JSON text, put in with fresh ids and names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from studio.document.conditions import Condition
from studio.document.connecting import connect
from studio.document.edits import Batch, Edit, Insert, SetPlaces, SetWorkflow
from studio.document.frozen import Model
from studio.document.geometry import GRID, bounds, moved
from studio.document.ids import condition_name, free_id, free_name, script_key, script_owner, taken_ids, taken_names
from studio.document.lines import lines, pairs
from studio.document.model import (
    DirectEdge,
    Edge,
    FanInEdge,
    FanOutEdge,
    HandoffEdge,
    Place,
    SwitchCase,
    SwitchEdge,
    UnknownEdge,
    Workflow,
)
from studio.document.problems import Problem
from studio.document.telling_apart import told_apart
from studio.document.turning import turned_to

FORMAT = "superstep-clipping"
MIME = "application/x-superstep-clipping+json"


def copy_items(workflow: Workflow, ids: Iterable[str]) -> str:
    """The chosen items, and the edges among them, as JSON text for the clipboard. Also the declarations they use by
    name (types, tools, modules, state) and the offline scripts of copied nodes."""
    return _clipping(workflow, frozenset(ids) - {""}).model_dump_json(by_alias=True)


class _Outer(Model):
    """A line between something copied and something that was not."""

    kind: str
    source: str
    target: str
    condition: Condition | None = None


class _Clipping(Workflow):
    format: str = FORMAT
    origin: str = ""
    """Id of the document it was copied from: only there do the ids of outer lines mean the same."""
    outer: tuple[_Outer, ...] = ()


def _clipping(workflow: Workflow, ids: frozenset[str]) -> _Clipping:
    nodes = tuple(n for n in workflow.nodes if n.id in ids)
    kept = frozenset(n.id for n in nodes)
    edges = tuple(e for e in (_cut(edge, kept, ids) for edge in workflow.edges) if e is not None)
    notes = tuple(n for n in workflow.notes if n.id in ids)
    groups = tuple(
        g.model_copy(update={"members": tuple(m for m in g.members if m in ids)})
        for g in workflow.groups
        if g.id in ids
    )
    placed = {i.id for i in (*nodes, *edges, *notes, *groups)}
    scripts = {k: v for k, v in workflow.offline.nodes.items() if script_owner(k) in kept}
    inner = frozenset(ln.id for ln in lines(workflow.model_copy(update={"edges": edges})))
    return _Clipping(
        origin=workflow.id,
        outer=tuple(_outer(workflow, placed, inner)),
        nodes=nodes,
        edges=edges,
        notes=notes,
        groups=groups,
        types=workflow.types,
        state=workflow.state,
        tools=workflow.tools,
        mcp_servers=workflow.mcp_servers,
        modules=workflow.modules,
        offline=workflow.offline.model_copy(update={"nodes": scripts}),
        flow=workflow.flow,
        places={k: p for k, p in workflow.places.items() if k in placed or k in inner},
    )


def _outer(workflow: Workflow, copied: set[str], inner: frozenset[str]) -> Iterator[_Outer]:
    for ln in lines(workflow):
        if ln.id not in inner and (ln.source in copied) != (ln.target in copied) and ln.kind != "handoff":
            yield _Outer(kind=ln.kind, source=ln.source, target=ln.target, condition=ln.condition)


def _cut(edge: Edge, kept: frozenset[str], ids: frozenset[str]) -> Edge | None:
    """What of an edge lies among the chosen items. A switch or fan-out comes along if it was chosen itself."""
    match edge:
        case DirectEdge() | HandoffEdge():
            return edge if edge.source in kept and edge.target in kept else None
        case SwitchEdge() if edge.id in ids:
            values = {
                "source": edge.source if edge.source in kept else None,
                "cases": tuple(c for c in edge.cases if c.target in kept),
                "default": edge.default if edge.default in kept else None,
            }
            return edge.model_copy(update=values)
        case FanOutEdge() if edge.id in ids:
            targets = tuple(t for t in edge.targets if t in kept)
            selection = {t: c for t, c in (edge.selection or {}).items() if t in targets} or None
            source = edge.source if edge.source in kept else None
            return edge.model_copy(update={"source": source, "targets": targets, "selection": selection})
        case FanInEdge():
            sources = tuple(s for s in edge.sources if s in kept)
            return edge.model_copy(update={"sources": sources}) if edge.target in kept and sources else None
        case UnknownEdge() if edge.id in ids:
            return edge
    return None


def paste_items(
    workflow: Workflow, text: str, place: Place | None = None, *, keep_outer: bool = False
) -> Edit | Problem:
    """Puts copied items in, their top left corner at ``place`` (None: a little beside where they were).

    What was copied from a drawing whose lines run the other way is turned. Everything gets a fresh id, nodes get fresh
    names. Declarations come along unless the document has one of that name.
    ``keep_outer``: in the document that they come from, the copies are also connected with what the originals were
    connected with, wherever a second edge is allowed.
    Text that is not a piece of a workflow: a :class:`Problem`, nothing changes. Use :func:`pasted_ids` to select.
    """
    clipping = read_clipping(text)
    if isinstance(clipping, Problem):
        return clipping
    return _pasted(workflow, clipping, place, keep_outer=keep_outer)[0]


def paste_workflow(workflow: Workflow, other: Workflow, place: Place | None = None) -> Edit | Problem:
    """Puts everything in that stands in another document, as :func:`paste_items` does with a piece of one."""
    if not (other.nodes or other.edges or other.notes or other.groups):
        return _NOTHING
    return put_in(workflow, told_apart(other)[0], place)[0]


def put_in(workflow: Workflow, inner: Workflow, place: Place | None) -> tuple[Edit, Mapping[str, str]]:
    """The whole of another workflow put in, and the new id of each of its things."""
    every = (*inner.nodes, *inner.edges, *inner.notes, *inner.groups)
    return _pasted(workflow, _clipping(inner, frozenset(i.id for i in every)), place, keep_outer=False)


def piece(workflow: Workflow, ids: Iterable[str]) -> Workflow:
    """The chosen items, the edges among them and the declarations they use, as a workflow of its own without start."""
    found = _clipping(workflow, frozenset(ids))
    return Workflow.model_validate({name: getattr(found, name) for name in _PIECE})


BESIDE = 3 * GRID
"""How far right and below of the original a copy without a place of its own is put."""
_PIECE = (
    "nodes",
    "edges",
    "notes",
    "groups",
    "types",
    "state",
    "tools",
    "mcp_servers",
    "modules",
    "offline",
    "flow",
    "places",
)


def _pasted(
    workflow: Workflow, clipping: _Clipping, place: Place | None, *, keep_outer: bool
) -> tuple[Edit, Mapping[str, str]]:
    clipping = turned_to(clipping, workflow.flow)
    fresh = _fresh(workflow, clipping)
    edits: list[Edit] = []
    for where in ("nodes", "edges", "notes", "groups"):
        edits += [Insert(where, _renamed(item, fresh)) for item in getattr(clipping, where)]
    renamed = clipping.model_copy(update={"edges": tuple(_renamed(e, fresh) for e in clipping.edges)})
    # The lines of both come in the same order.
    line_ids = {old.id: new.id for old, new in zip(lines(clipping), lines(renamed), strict=True)}
    places = _shifted(clipping, {**line_ids, **fresh.ids}, place)
    if places:
        edits.append(SetPlaces(places))
    declared = _declarations(workflow, clipping, fresh.ids)
    if declared:
        edits.append(SetWorkflow(declared))
    if keep_outer and clipping.origin == workflow.id:
        edits += _connected_outside(Batch(tuple(edits)).apply(workflow).workflow, clipping, fresh.ids)
    return Batch(tuple(edits)), fresh.ids


def _connected_outside(workflow: Workflow, clipping: _Clipping, ids: Mapping[str, str]) -> list[Edit]:
    from studio.document.commands import set_condition  # which offers paste_items too

    edits: list[Edit] = []
    for outer in clipping.outer:
        source, target = ids.get(outer.source, outer.source), ids.get(outer.target, outer.target)
        edit = connect(workflow, source, target)
        if isinstance(edit, Problem):
            continue
        had = {ln.id for ln in lines(workflow)}
        workflow = edit.apply(workflow).workflow
        edits.append(edit)
        new = [ln for ln in lines(workflow) if ln.id not in had and ln.kind in ("direct", "case", "leg")]
        if outer.condition is not None and len(new) == 1:
            named = outer.condition.model_copy(update={"name": condition_name(new[0].id)})
            edits.append(set_condition(workflow, new[0].id, named))
            workflow = edits[-1].apply(workflow).workflow
    return edits


def pasted_ids(edit: Edit) -> tuple[str, ...]:
    """The ids of what an edit of this module puts in, to select afterwards."""
    if isinstance(edit, Batch):
        return tuple(e.item.id for e in edit.edits if isinstance(e, Insert))
    return ()


def duplicate(workflow: Workflow, ids: Iterable[str], *, keep_outer: bool = False) -> Edit:
    """A copy of the chosen items beside them, with the edges among them; ``keep_outer`` as in :func:`paste_items`."""
    edit = paste_items(workflow, copy_items(workflow, ids), keep_outer=keep_outer)
    return Batch(()) if isinstance(edit, Problem) else edit  # there is nothing that can be copied alone


def read_clipping(text: str) -> _Clipping | Problem:
    """The piece of a workflow in a clipboard text, which may have been written or changed in a text editor: edges whose
    ends are not in it stay out, of what cannot be read it says where."""
    try:
        data: Any = json.loads(unfenced(text))
    except json.JSONDecodeError as error:
        where = f"{error.msg} in line {error.lineno}, column {error.colno}"
        return _NOTHING if FORMAT not in text else _unreadable(where[0].lower() + where[1:])
    except (ValueError, RecursionError):
        return _NOTHING
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        return _NOTHING
    try:
        found = _Clipping.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        return _unreadable(f"{where}: {first['msg'].lower()}")
    except RecursionError:
        return _NOTHING
    if double := doubled(found):
        return _unreadable(double)
    every = frozenset(item.id for item in (*found.nodes, *found.edges))
    kept = frozenset(node.id for node in found.nodes)
    edges = tuple(cut for cut in (_cut(edge, kept, every) for edge in found.edges) if cut is not None)
    if not (found.nodes or edges or found.notes or found.groups):
        return _NOTHING
    return found.model_copy(update={"edges": edges})


_NOTHING = Problem("not_a_clipping", "The clipboard holds no nodes of a workflow.")
_FENCED = re.compile(r"\s*```\w*\s*\n(.*)\n\s*```\s*", re.DOTALL)


def unfenced(text: str) -> str:
    """A text as it was before a chat or a Markdown file put a fence around it."""
    text = text.removeprefix("\ufeff")
    found = _FENCED.fullmatch(text)
    return found[1] if found else text


def _unreadable(why: str) -> Problem:
    return Problem("not_a_clipping", f"The nodes in the clipboard cannot be read: {why}.")


def doubled(workflow: Workflow) -> str:
    """Why things of a document cannot be told apart; "" if they can. Files that programs wrote may be like that."""
    items = (*workflow.nodes, *workflow.edges, *workflow.notes, *workflow.groups)
    cases = (case.id for edge in workflow.edges if isinstance(edge, SwitchEdge) for case in edge.cases)
    seen: set[str] = set()
    for item_id in (*(item.id for item in items), *cases):
        if not item_id or item_id in seen:
            return f"two things have the id “{item_id}”" if item_id else "something has no id"
        seen.add(item_id)
    return ""


@dataclass(frozen=True, slots=True)
class _Fresh:
    """New ids and names by old id."""

    ids: dict[str, str]
    names: dict[str, str]


def _fresh(workflow: Workflow, clipping: Workflow) -> _Fresh:
    folded = {i.casefold() for i in taken_ids(workflow)}
    taken = taken_names(workflow)
    fresh = _Fresh({}, {})
    items: list[Any] = [*clipping.nodes, *clipping.edges, *clipping.notes, *clipping.groups]
    for item in items:
        name: Any = None if isinstance(item, UnknownEdge) else getattr(item, "name", None)
        if isinstance(name, str) and name:
            name = fresh.names[item.id] = free_name(name, taken)
            taken.add(name)
        for old in (item.id, *(c.id for c in getattr(item, "cases", ()) if isinstance(item, SwitchEdge))):
            new = (
                old if old.casefold() not in folded else free_id(name if old == item.id and name else old, folded, old)
            )
            fresh.ids[old] = new
            folded.add(new.casefold())
    return fresh


def _condition(condition: Condition | None, owner: str) -> Condition | None:
    return None if condition is None else condition.model_copy(update={"name": condition_name(owner)})


def _case(case: SwitchCase, ids: dict[str, str]) -> SwitchCase:
    new_id = ids[case.id]
    condition = _condition(case.condition, new_id)
    return case.model_copy(update={"id": new_id, "target": ids[case.target], "condition": condition})


def _renamed(item: Any, fresh: _Fresh) -> Any:
    """An item with its new id, name and ends."""
    ids = fresh.ids
    values: dict[str, Any] = {"id": ids[item.id]}
    match item:
        case DirectEdge():
            values |= {"source": ids[item.source], "target": ids[item.target]}
            values["condition"] = _condition(item.condition, ids[item.id])
        case HandoffEdge():
            values |= {"source": ids[item.source], "target": ids[item.target]}
        case SwitchEdge():
            values |= {"source": ids.get(item.source or ""), "default": ids.get(item.default or "")}
            values["cases"] = tuple(_case(case, ids) for case in item.cases)
        case FanOutEdge():
            selection = {ids[t]: c for t, c in (item.selection or {}).items()} or None
            targets = tuple(ids[t] for t in item.targets)
            values |= {"source": ids.get(item.source or ""), "targets": targets, "selection": selection}
        case FanInEdge():
            values |= {"sources": tuple(ids[s] for s in item.sources), "target": ids[item.target]}
        case UnknownEdge():
            pass
        case _:
            if getattr(item, "members", None) is not None:
                values["members"] = tuple(ids[m] for m in item.members if m in ids)
    if item.id in fresh.names:
        values["name"] = fresh.names[item.id]
    return item.model_copy(update=values)


def _shifted(clipping: Workflow, ids: dict[str, str], place: Place | None) -> dict[str, Place | None]:
    box = bounds(clipping, clipping.places)
    if box is None:
        return {}
    dx, dy = (place.x - box[0], place.y - box[1]) if place is not None else (BESIDE, BESIDE)
    return {ids[i]: moved(p, dx, dy) for i, p in clipping.places.items() if i in ids}


def _declarations(workflow: Workflow, clipping: Workflow, ids: dict[str, str]) -> dict[str, Any]:
    """Types, tools, modules and state keys that the document lacks, the scripts of the new nodes, and a start."""
    values: dict[str, Any] = {}
    keys = {"types": "name", "tools": "name", "mcp_servers": "name", "modules": "name", "state": "key"}
    for name, key in keys.items():
        have = {getattr(d, key) for d in getattr(workflow, name)}
        new = tuple(d for d in getattr(clipping, name) if getattr(d, key) not in have)
        if new:
            values[name] = (*getattr(workflow, name), *new)
    scripts = {
        script_key(k, ids[script_owner(k)]): v for k, v in clipping.offline.nodes.items() if script_owner(k) in ids
    }
    if scripts:
        nodes = {**workflow.offline.nodes, **scripts}
        values["offline"] = workflow.offline.model_copy(update={"nodes": nodes})
    if workflow.start is None and clipping.nodes:
        sources = {source for source, _, _ in pairs(clipping)}
        first = next((n.id for n in clipping.nodes if n.id in sources), clipping.nodes[0].id)
        values["start"] = ids[first]
    return values
