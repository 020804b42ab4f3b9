"""Changing edges that exist: other ends, a node in between, a switch or fan-out in their place, another id."""

from __future__ import annotations

from studio.document.connecting import DEFAULT, built_on, connect, junction_targets, new_case, refusal
from studio.document.deleting import delete_items
from studio.document.edits import Batch, Edit, Insert, Remove, SetFields, SetPlaces
from studio.document.geometry import SWITCH, behind, between, bounds, free_place, size_of, size_of_kind
from studio.document.ids import condition_name, make_id, taken_ids, unique_name
from studio.document.lines import Line, line, lines, name_of, pair
from studio.document.model import (
    DirectEdge,
    FanInEdge,
    FanOutEdge,
    JoinNode,
    Place,
    SwitchCase,
    SwitchEdge,
    Workflow,
)
from studio.document.problems import Problem
from studio.document.renaming import renamed_mentions
from studio.document.room import GAP, with_room


def reconnect(
    workflow: Workflow, line_id: str, *, source: str | None = None, target: str | None = None
) -> Edit | Problem:
    """Another end for a line: what dragging an arrow head or tail does. Condition, label and order are kept.

    Raises ``KeyError`` if there is no such line.
    """
    found = _line(workflow, line_id)
    new_source, new_target = source or found.source, target or found.target
    if (new_source, new_target) == (found.source, found.target):
        return Batch(())
    removed = delete_items(workflow, (line_id,))
    rest = removed.apply(workflow).workflow
    if found.kind in ("case", "default") and new_source == found.source:
        return connect(workflow, new_source, new_target, case=DEFAULT if found.kind == "default" else found.id)
    kept = _kept_group(workflow, rest, found, new_source, new_target)
    if kept is not None:
        return kept
    again = connect(rest, new_source, new_target)
    if isinstance(again, Problem):
        return built_on((removed,), again)
    return Batch((removed, again, *_carried(again.apply(rest).workflow, rest, found)))


def _line(workflow: Workflow, line_id: str) -> Line:
    found = line(workflow, line_id)
    if found is None:
        raise KeyError(line_id)
    return found


def _kept_group(workflow: Workflow, rest: Workflow, found: Line, source: str, target: str) -> Edit | Problem | None:
    """The edit inside the same edge group, if the new ends allow it; None if the line has to be drawn anew."""
    plain = workflow.node(source) is not None and workflow.node(target) is not None
    match found.kind:
        case "direct" if plain and not isinstance(workflow.node(target), JoinNode):
            values = {"source": source, "target": target}
            return refusal(rest, source, target) or SetFields("edges", found.edge, values)
        case "leg" if source == found.source and plain_target(workflow, target):
            return _other_leg(workflow, rest, found, target)
        case "fan_in" if target == found.target and plain:
            if source == target or pair(rest, source, target) is not None:
                return connect(rest, source, target)  # a problem that says why
            return _replaced_source(workflow, found.edge, found.source, source)
        case "into_switch" | "into_fan_out" if target == found.target and workflow.node(source) is not None:
            junction = rest.edge(found.edge)
            assert isinstance(junction, SwitchEdge | FanOutEdge)
            refused = [r for t in junction_targets(junction) if (r := refusal(rest, source, t)) is not None]
            return refused[0] if refused else SetFields("edges", found.edge, {"source": source})
    return None


def plain_target(workflow: Workflow, target: str) -> bool:
    """Whether a junction can lead here directly: a node that is no join bar."""
    node = workflow.node(target)
    return node is not None and not isinstance(node, JoinNode)


def _other_leg(workflow: Workflow, rest: Workflow, found: Line, target: str) -> Edit | Problem:
    bar = workflow.edge(found.edge)
    assert isinstance(bar, FanOutEdge)
    if target in bar.targets:
        return connect(workflow, bar.id, target)
    refused = refusal(rest, bar.source, target)
    return refused or _replaced_target(workflow, found, target)


def _replaced_target(workflow: Workflow, found: Line, target: str) -> Edit:
    """The same line with another target, nothing checked."""
    group = workflow.edge(found.edge)
    match group:
        case FanOutEdge():
            targets = tuple(target if t == found.target else t for t in group.targets)
            selection = {target if t == found.target else t: c for t, c in (group.selection or {}).items()} or None
            return SetFields("edges", group.id, {"targets": targets, "selection": selection})
        case SwitchEdge() if found.kind == "default":
            return SetFields("edges", group.id, {"default": target})
        case SwitchEdge():
            cases = tuple(c.model_copy(update={"target": target}) if c.id == found.id else c for c in group.cases)
            return SetFields("edges", group.id, {"cases": cases})
    return SetFields("edges", found.edge, {"target": target})


def _replaced_source(workflow: Workflow, edge_id: str, old: str, new: str) -> Edit:
    fan_in = workflow.edge(edge_id)
    assert isinstance(fan_in, FanInEdge)
    return SetFields("edges", edge_id, {"sources": tuple(new if s == old else s for s in fan_in.sources)})


def _carried(after: Workflow, before: Workflow, found: Line) -> list[Edit]:
    """Condition and label of a line that was drawn anew as a direct edge."""
    had = {e.id for e in before.edges}
    new = [e for e in after.edges if e.id not in had and isinstance(e, DirectEdge)]
    if found.condition is None or len(new) != 1 or new[0].target != found.target:
        return []
    condition = found.condition.model_copy(update={"name": condition_name(new[0].id)})
    return [SetFields("edges", new[0].id, {"condition": condition})]


# --------------------------------------------------------------------------------------------------- in between


def insert_on_edge(
    workflow: Workflow, line_id: str, kind: str, name: str | None = None, place: Place | None = None
) -> tuple[Edit, str] | Problem:
    """Something new of a kind in the middle of a line, and its id."""
    from studio.document.commands import new_node  # which offers this function too

    found = _line(workflow, line_id)
    edit, new_id = new_node(workflow, kind, name, place)
    grown = edit.apply(workflow).workflow
    if place is None:
        middle = between(workflow, found.source, found.target, size_of(grown, new_id))
        edit = Batch((edit, SetPlaces({new_id: middle}))) if middle is not None else edit
        grown = edit.apply(workflow).workflow
    wired = built_on((edit,), drop_on_edge(grown, line_id, new_id))
    return wired if isinstance(wired, Problem) else (wired, new_id)


def drop_on_edge(workflow: Workflow, line_id: str, item_id: str) -> Edit | Problem:
    """Leads a line through a node, switch or fan-out that is there already; the first half keeps the condition."""
    found = _line(workflow, line_id)
    if found.kind == "handoff" or item_id in (found.source, found.target):
        return Problem("cannot_insert", f"“{name_of(workflow, item_id)}” cannot be put into this line.", line_id)
    if workflow.node(item_id) is None or isinstance(workflow.node(item_id), JoinNode):
        return _through(workflow, found, item_id)
    if found.kind in ("fan_in", "into_switch", "into_fan_out"):
        first = _from_other(workflow, found, item_id)
        if isinstance(first, Problem):
            return first
        return built_on((first,), connect(first.apply(workflow).workflow, found.source, item_id))
    origin = getattr(workflow.edge(found.edge), "source", None)
    refused = refusal(workflow, origin, item_id) if isinstance(origin, str) else _in_group(workflow, found, item_id)
    if refused is not None:
        return refused
    first = _replaced_target(workflow, found, item_id)
    return built_on((first,), connect(first.apply(workflow).workflow, item_id, found.target))


def _from_other(workflow: Workflow, found: Line, source: str) -> Edit | Problem:
    """The line into a barrier, switch or fan-out from another source; or why that source cannot have it."""
    if found.kind == "fan_in":
        if pair(workflow, source, found.target) is not None:
            return connect(workflow, source, found.target)  # a problem that says why
        return _replaced_source(workflow, found.edge, found.source, source)
    junction = workflow.edge(found.edge)
    assert isinstance(junction, SwitchEdge | FanOutEdge)
    refused = (refusal(workflow, source, target) for target in junction_targets(junction))
    return next((r for r in refused if r is not None), SetFields("edges", found.edge, {"source": source}))


def _in_group(workflow: Workflow, found: Line, target: str) -> Problem | None:
    """Why a switch or fan-out without a source cannot lead to a target: it does so already."""
    junction = workflow.edge(found.edge)
    if not isinstance(junction, SwitchEdge | FanOutEdge) or target not in junction_targets(junction):
        return None
    return Problem("duplicate_edge", f"“{junction.name}” leads to “{name_of(workflow, target)}” already.", found.id)


def _through(workflow: Workflow, found: Line, item_id: str) -> Edit | Problem:
    """Through a bar or rhombus: the line goes, two are drawn; a switch takes the condition as its case. A line with
    a condition or a place in an order of its own keeps both: it leads to a pass node, and that one to the rest."""
    bare = found.condition is None or isinstance(workflow.edge(item_id), SwitchEdge)
    if found.kind in ("case", "default", "leg", "fan_in") or not bare:
        return _through_behind_pass(workflow, found, item_id)
    removed = delete_items(workflow, (found.id,))
    edits: list[Edit] = [removed]
    now = removed.apply(workflow).workflow
    for source, target in ((found.source, item_id), (item_id, found.target)):
        edit = connect(now, source, target)
        if isinstance(edit, Problem):
            return built_on(tuple(edits), edit)
        edits.append(edit)
        now = edit.apply(now).workflow
    switch = now.edge(item_id)
    if isinstance(switch, SwitchEdge) and found.condition is not None and switch.cases:
        last = switch.cases[-1]
        condition = found.condition.model_copy(update={"name": condition_name(last.id)})
        cases = (*switch.cases[:-1], last.model_copy(update={"condition": condition, "label": ""}))
        edits.append(SetFields("edges", item_id, {"cases": cases}))
    return Batch(tuple(edits))


def _through_behind_pass(workflow: Workflow, found: Line, item_id: str) -> Edit | Problem:
    inserted = insert_on_edge(workflow, found.id, "pass")
    if isinstance(inserted, Problem):
        return inserted
    edit, pass_id = inserted
    grown = edit.apply(workflow).workflow
    ends = (found.source, pass_id) if found.kind == "fan_in" else (pass_id, found.target)
    bare = next(ln for ln in lines(grown) if (ln.source, ln.target) == ends)
    return built_on((edit,), _through(grown, bare, item_id))


# ------------------------------------------------------------------------------------------------- conversions


def to_switch(workflow: Workflow, edge_id: str, place: Place | None = None) -> tuple[Edit, str] | Problem:
    """A switch instead of the direct edges of the source of this one: those with a condition become cases in order,
    the first one without becomes the default. And the id of the switch."""
    edge = workflow.edge(edge_id)
    if not isinstance(edge, DirectEdge):
        return Problem("cannot_convert", "Only a direct edge can become a switch.", edge_id)
    mine = [e for e in workflow.edges if isinstance(e, DirectEdge) and e.source == edge.source]
    conditional = [e for e in mine if e.condition is not None]
    default = next((e for e in mine if e.condition is None), None) if conditional else None
    name = unique_name("Switch", workflow)
    switch_id = make_id(name, taken_ids(workflow), "switch")
    switch = SwitchEdge(id=switch_id, name=name, source=edge.source, default=default.target if default else None)
    grown = workflow.model_copy(update={"edges": (*workflow.edges, switch)})
    for old in conditional or [edge]:
        case = _case_of(grown, switch, old)
        switch = switch.model_copy(update={"cases": (*switch.cases, case)})
        grown = grown.model_copy(update={"edges": (*grown.edges[:-1], switch)})
    replaced = (*(conditional or [edge]), *([default] if default else []))
    at = place or _behind(workflow, edge.source, SWITCH)
    removed = (Remove("edges", e.id) for e in replaced)
    return with_room(workflow, Batch((*removed, Insert("edges", switch), SetPlaces({switch_id: at})))), switch_id


def _case_of(workflow: Workflow, switch: SwitchEdge, edge: DirectEdge) -> SwitchCase:
    case = new_case(workflow, switch, edge.target)
    if edge.condition is None:
        return case
    condition = edge.condition.model_copy(update={"name": condition_name(case.id)})
    return case.model_copy(update={"condition": condition, "label": edge.label})


def to_fan_out(workflow: Workflow, node_id: str, place: Place | None = None) -> tuple[Edit, str] | Problem:
    """A fan-out bar instead of the direct edges of a node; their conditions become its selection. And its id."""
    edges = [e for e in workflow.edges if isinstance(e, DirectEdge) and e.source == node_id]
    if len(edges) < 2:
        message = f"“{name_of(workflow, node_id)}” needs two direct edges to become a fan-out."
        return Problem("cannot_convert", message, node_id)
    name = unique_name("Fan-out", workflow)
    bar_id = make_id(name, taken_ids(workflow), "fan_out")
    selection = {
        e.target: e.condition.model_copy(update={"name": condition_name(f"{bar_id}_{e.target}")})
        for e in edges
        if e.condition is not None
    }
    targets = tuple(e.target for e in edges)
    bar = FanOutEdge(id=bar_id, name=name, source=node_id, targets=targets, selection=selection or None)
    at = place or _behind(workflow, node_id, size_of_kind("fan_out", down=workflow.flow == "down"))
    removed = (Remove("edges", e.id) for e in edges)
    return with_room(workflow, Batch((*removed, Insert("edges", bar), SetPlaces({bar_id: at})))), bar_id


def _behind(workflow: Workflow, node_id: str, size: tuple[float, float]) -> Place:
    """Behind a node, in line with its port."""
    box = bounds(workflow, (node_id,))
    if box is None:
        return free_place(workflow, size)
    return free_place(workflow, size, behind(box, size, down=workflow.flow == "down", gap=GAP))


def change_id(workflow: Workflow, node_id: str, new_id: str) -> Edit | Problem:
    """Another id for a node, everywhere it is mentioned. Checkpoints of older runs no longer know the node.

    Raises ``KeyError`` if there is no such node.
    """
    node = workflow.node(node_id)
    if node is None:
        raise KeyError(node_id)
    if not new_id.isidentifier() or len(new_id) > 128 or ":" in new_id:
        message = f"“{new_id[:40]}” cannot be an id: use letters, digits and underscores, up to 128."
        return Problem("id_form", message, node_id, "id")
    if new_id.casefold() in {i.casefold() for i in taken_ids(workflow) - {node_id}}:
        return Problem("duplicate_id", f"The id {new_id} is taken.", node_id, "id")
    index = workflow.nodes.index(node)
    swap = (Remove("nodes", node_id), Insert("nodes", node.model_copy(update={"id": new_id}), index))
    return Batch((*swap, *renamed_mentions(workflow, node_id, new_id)))
