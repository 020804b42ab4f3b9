"""A part of a drawing becomes a workflow inside, and the other way round; edges to the rest are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from studio.document import types
from studio.document.connecting import junction_targets, type_problem
from studio.document.copying import doubled, piece, put_in
from studio.document.deleting import delete_items
from studio.document.edits import Batch, Edit, Insert, Remove, SetFields, SetPlaces, SetWorkflow
from studio.document.facts import edge_ends
from studio.document.geometry import CARD, bounds, drawn, free_place, size_of, snapped
from studio.document.ids import make_id, taken_ids, unique_name
from studio.document.lines import into_id, lines, name_of, pairs
from studio.document.model import (
    Edge,
    FanInEdge,
    FanOutEdge,
    FunctionNode,
    JoinNode,
    Place,
    SubWorkflowNode,
    SwitchEdge,
    Workflow,
)
from studio.document.problems import Fix, Problem
from studio.document.rewiring import insert_on_edge
from studio.document.room import with_room


def extract(workflow: Workflow, ids: Iterable[str], name: str = "Sub-workflow") -> tuple[Edit, str] | Problem:
    """Puts the chosen nodes, with the edges among them, into an embedded sub-workflow; and the id of its node.

    Messages may come in at one node and go out from one that gives outputs; otherwise a :class:`Problem` says why not,
    with a fix if a pass node before them, or a template behind them, makes it possible.
    """
    wanted = frozenset(ids)
    chosen = frozenset(n.id for n in workflow.nodes if n.id in wanted)
    if not chosen:
        return Problem("cannot_extract", "Select the nodes that should be in the sub-workflow.")
    found = _extract(workflow, chosen, name)
    return found if not isinstance(found, Problem) else _way_out(workflow, chosen, name, found)


def _extract(workflow: Workflow, chosen: frozenset[str], name: str) -> tuple[Edit, str] | Problem:
    entry = _entry(workflow, chosen)
    leaving = _exit(workflow, chosen)
    for found in (entry, leaving):
        if isinstance(found, Problem):
            return found
    assert isinstance(entry, str)
    assert not isinstance(leaving, Problem)
    inside = frozenset(e.id for e in workflow.edges if edge_ends(e) and set(edge_ends(e)) <= chosen)
    shown = unique_name(name, workflow)
    new_id = make_id(shown, taken_ids(workflow), "sub_workflow")
    node = SubWorkflowNode(
        id=new_id,
        name=shown,
        embedded=_inner(workflow, chosen | inside | _whole_groups(workflow, chosen), entry, leaving, shown),
        direct_output=leaving is None,
    )
    edits: list[Edit] = [Insert("nodes", node, _first_index(workflow, chosen))]
    edits += [Remove("edges", i) for i in inside]
    ends = dict.fromkeys(chosen, new_id)
    edits += [e for edge in workflow.edges if edge.id not in inside and (e := _led(edge, ends, ends)) is not None]
    edits += _designated(workflow, chosen, (new_id,))
    edits.append(SetPlaces({new_id: _middle(workflow, chosen), **dict.fromkeys(inside & workflow.places.keys())}))
    now = Batch(tuple(edits)).apply(workflow).workflow
    edits.append(delete_items(now, chosen | _whole_groups(workflow, chosen)))
    return _checked(workflow, _without_lost_bends(workflow, Batch(tuple(edits))), new_id)


def inline(workflow: Workflow, node_id: str) -> Edit | Problem:
    """Puts the nodes of an embedded sub-workflow in its place. Raises ``KeyError`` if it is no sub-workflow node."""
    node = workflow.node(node_id)
    if not isinstance(node, SubWorkflowNode):
        raise KeyError(node_id)
    inner = node.embedded
    if inner is None:
        return Problem("cannot_inline", f"“{node.name}” is linked to a file: embed a copy of it first.", node_id)
    if inner.start is None or inner.node(inner.start) is None:
        return Problem("cannot_inline", f"The workflow inside “{node.name}” has no start.", node_id)
    if double := doubled(inner):
        return Problem("cannot_inline", f"Inside “{node.name}”, {double}.", node_id)
    leaving = _last_inside(inner)
    used = any(source == node_id for source, _, _ in pairs(workflow))
    if used and leaving is None:
        message = f"The outputs of “{node.name}” come from more than one node inside, so its edges have no one source."
        return Problem("cannot_inline", message, node_id)
    put, ids = put_in(workflow, inner, _around(workflow, node_id, inner))
    edits: list[Edit] = [put]
    now = put.apply(workflow).workflow
    source, target = ids[leaving or inner.start], ids[inner.start]
    for edge in workflow.edges:
        edit = _led(edge, {node_id: source}, {node_id: target})
        if edit is not None:
            edits.append(edit)
    edits += _designated(workflow, frozenset((node_id,)), (target,), _outputs(inner, ids))
    exit_node = now.node(source)
    if used and isinstance(exit_node, FunctionNode) and exit_node.yields == exit_node.sends:
        edits.append(SetFields("nodes", source, {"yields": None}))
    now = Batch(tuple(edits)).apply(workflow).workflow
    edits.append(delete_items(now, (node_id,)))
    found = _checked(workflow, _without_lost_bends(workflow, Batch(tuple(edits))), node_id)
    return found if isinstance(found, Problem) else with_room(workflow, found[0])


# ------------------------------------------------------------------------------------------------- ways out


def _way_out(workflow: Workflow, chosen: frozenset[str], name: str, problem: Problem) -> Problem:
    """The problem with a fix that extracts after putting something between the chosen nodes and the rest; if that does
    not make it possible, what would still be in the way: the part that a person has to change."""
    before, left, edits = workflow, problem, list[Edit]()
    words: list[str] = []
    for prepare in (_with_pass, _with_templates):
        made = prepare(workflow, chosen)
        if made is None:
            continue
        edit, chosen, text = made
        edits.append(edit)
        words.append(text)
        workflow = edit.apply(workflow).workflow
        found = _extract(workflow, chosen, name)
        if not isinstance(found, Problem):
            whole = _uncovered(before, Batch((*edits, found[0])), found[1])
            return replace(problem, fix=Fix(_sentence(words), whole))
        left = found
    return left


def _sentence(words: list[str]) -> str:
    return " and ".join([words[0], *(w[0].lower() + w[1:] for w in words[1:])])


def _uncovered(before: Workflow, edit: Edit, node_id: str) -> Edit:
    """The edit, with what it adds beside the sub-workflow moved to where it covers nothing."""
    after, edits = edit.apply(before).workflow, [edit]
    for item_id in (i for i in drawn(after) if i not in drawn(before) and i != node_id):
        place = after.places.get(item_id)
        if place is not None:
            others = SetPlaces({item_id: None}).apply(after).workflow
            edits.append(SetPlaces({item_id: free_place(others, size_of(after, item_id), place)}))
            after = edits[-1].apply(after).workflow
    return Batch(tuple(edits))


def _with_pass(workflow: Workflow, chosen: frozenset[str]) -> tuple[Edit, frozenset[str], str] | None:
    """A pass node before a switch or fan-out that leads to chosen nodes only: messages come in at one node."""
    for junction in workflow.edges:
        if not isinstance(junction, SwitchEdge | FanOutEdge) or junction.source is None or junction.source in chosen:
            continue
        if set(junction_targets(junction)) <= chosen and len(junction_targets(junction)) > 1:
            made = insert_on_edge(workflow, into_id(junction.id), "pass")
            if not isinstance(made, Problem):
                return with_room(workflow, made[0]), chosen | {made[1]}, "Begin it with a pass node"
    return None


def _with_templates(workflow: Workflow, chosen: frozenset[str]) -> tuple[Edit, frozenset[str], str] | None:
    """A template on each leaving line whose target does not take what comes out of a sub-workflow, but takes text."""
    last = _exit(workflow, chosen)
    node = workflow.node(last) if isinstance(last, str) else None
    if node is None:
        return None
    junctions = {e.id for e in workflow.edges if isinstance(e, SwitchEdge | FanOutEdge) and e.source == last}
    edits: list[Edit] = []
    for line in lines(workflow):
        target = workflow.node(line.target)
        if line.source not in {last, *junctions} or target is None or target.id in chosen:
            continue
        if not types.compatible(types.yields(node), types.accepts(target)):
            made = insert_on_edge(workflow, line.id, "template")
            if isinstance(made, Problem):
                return None
            edits.append(with_room(workflow, made[0]))
            workflow = edits[-1].apply(workflow).workflow
    return (Batch(tuple(edits)), chosen, "Hand its text on through a template") if edits else None


# --------------------------------------------------------------------------------------------- what is inside


def _entry(workflow: Workflow, chosen: frozenset[str]) -> str | Problem:
    """The one node that gets the messages from outside."""
    entries = dict.fromkeys(t for s, t, _ in pairs(workflow) if t in chosen and s not in chosen)
    if workflow.start in chosen:
        entries = dict.fromkeys([workflow.start or "", *entries])
    if not entries:
        targets = {t for s, t, _ in pairs(workflow) if s in chosen and s != t}
        order = [n for n in workflow.nodes if n.id in chosen and not isinstance(n, JoinNode)]
        entries = dict.fromkeys([n.id for n in order if n.id not in targets][:1] or [n.id for n in order][:1])
    names = [name_of(workflow, i) for i in entries]
    if len(entries) != 1:
        which = " and ".join(f"“{n}”" for n in names[:2]) if names else "no node"
        return Problem("cannot_extract", f"Messages would come in at {which}: a sub-workflow starts with one node.")
    first = next(iter(entries))
    if isinstance(workflow.node(first), JoinNode):
        message = f"“{names[0]}” waits for several messages: select the nodes that it waits for too."
        return Problem("cannot_extract", message, first)
    return first


def _exit(workflow: Workflow, chosen: frozenset[str]) -> str | Problem | None:
    """The one node whose messages go out; None if nothing follows the chosen nodes."""
    exits = dict.fromkeys(s for s, t, _ in pairs(workflow) if s in chosen and t not in chosen)
    exits.update(
        dict.fromkeys(
            e.source
            for e in workflow.edges
            if isinstance(e, SwitchEdge | FanOutEdge) and e.source in chosen and not set(edge_ends(e)) <= chosen
        )
    )
    if not exits:
        return None
    names = [name_of(workflow, i) for i in exits if i]
    if len(exits) > 1:
        which = " and ".join(f"“{n}”" for n in names[:2])
        return Problem("cannot_extract", f"Messages would go out from {which}: a sub-workflow ends with one node.")
    last = next(iter(exits))
    node = workflow.node(last or "")
    if node is None or not (types.yields(node) or isinstance(node, FunctionNode)):
        message = f"“{names[0]}” gives no output that could leave a sub-workflow: end with an agent or a function."
        return Problem("cannot_extract", message, last or "")
    if isinstance(workflow.outputs, tuple) and chosen & set(workflow.outputs):
        message = f"“{names[0]}” has edges that leave, while an output of the workflow is inside: select fewer nodes."
        return Problem("cannot_extract", message, last or "")
    return last


def _inner(workflow: Workflow, ids: frozenset[str], entry: str, leaving: str | None, name: str) -> Workflow:
    inner = piece(workflow, ids)
    outputs = tuple(i for i in workflow.outputs if i in ids) if isinstance(workflow.outputs, tuple) else ()
    nodes = tuple(
        n.model_copy(update={"yields": n.sends}) if n.id == leaving and isinstance(n, FunctionNode) else n
        for n in inner.nodes
    )
    values = {
        "name": name,
        "start": entry,
        "nodes": nodes,
        "outputs": (leaving,) if leaving else outputs or None,
        "max_supersteps": workflow.max_supersteps,
    }
    return inner.model_copy(update=values)


def _last_inside(inner: Workflow) -> str | None:
    """The one node whose outputs leave a workflow inside."""
    if isinstance(inner.outputs, tuple):
        return inner.outputs[0] if len(inner.outputs) == 1 else None
    giving = [n.id for n in inner.nodes if types.yields(n)]
    return giving[0] if len(giving) == 1 else None


def _outputs(inner: Workflow, ids: Mapping[str, str]) -> tuple[str, ...]:
    named = inner.outputs if isinstance(inner.outputs, tuple) else [n.id for n in inner.nodes if types.yields(n)]
    return tuple(ids[i] for i in named if i in ids)


# ------------------------------------------------------------------------------------------------ the rest


def _led(edge: Edge, sources: Mapping[str, str], targets: Mapping[str, str]) -> Edit | None:
    """An edge group with other nodes at its ends."""
    values: dict[str, object] = {}
    for field, ends in (("source", sources), ("target", targets), ("default", targets)):
        end = getattr(edge, field, None)
        if isinstance(end, str) and end in ends:
            values[field] = ends[end]
    if isinstance(edge, SwitchEdge) and any(c.target in targets for c in edge.cases):
        values["cases"] = tuple(
            c.model_copy(update={"target": targets.get(c.target, c.target)}) for c in edge.cases
        )  # fmt: skip
    if isinstance(edge, FanOutEdge) and set(edge.targets) & targets.keys():
        values["targets"] = tuple(targets.get(t, t) for t in edge.targets)
        values["selection"] = {targets.get(t, t): c for t, c in (edge.selection or {}).items()} or None
    if isinstance(edge, FanInEdge) and set(edge.sources) & sources.keys():
        values["sources"] = tuple(sources.get(s, s) for s in edge.sources)
    return SetFields("edges", edge.id, values) if values else None


def _designated(
    workflow: Workflow, gone: frozenset[str], start: tuple[str], outputs: tuple[str, ...] | None = None
) -> list[Edit]:
    """Start and outputs with the new nodes instead of the old ones."""
    values: dict[str, object] = {}
    if workflow.start in gone:
        values["start"] = start[0]
    for field in ("outputs", "intermediate"):
        named = getattr(workflow, field)
        if isinstance(named, tuple) and gone & set(named):
            new = start if outputs is None else outputs
            kept = dict.fromkeys(i for n in named for i in (new if n in gone else (n,)))
            values[field] = tuple(kept) or None
    return [SetWorkflow(values)] if values else []


def _whole_groups(workflow: Workflow, chosen: frozenset[str]) -> frozenset[str]:
    return frozenset(g.id for g in workflow.groups if g.members and set(g.members) <= chosen)


def _first_index(workflow: Workflow, chosen: frozenset[str]) -> int:
    return next(i for i, n in enumerate(workflow.nodes) if n.id in chosen)


def _middle(workflow: Workflow, chosen: frozenset[str]) -> Place:
    box = bounds(workflow, chosen) or (0.0, 0.0, *CARD)
    return Place(x=snapped((box[0] + box[2] - CARD[0]) / 2), y=snapped((box[1] + box[3] - CARD[1]) / 2))


def _without_lost_bends(workflow: Workflow, edit: Edit) -> Edit:
    """The edit, and no bends of lines that went inside or are led elsewhere."""
    after = edit.apply(workflow).workflow
    known = {*drawn(after), *(g.id for g in after.groups), *(line.id for line in lines(after))}
    lost: dict[str, Place | None] = {i: None for i in after.places if i not in known}
    return Batch((edit, SetPlaces(lost))) if lost else edit


def _around(workflow: Workflow, node_id: str, inner: Workflow) -> Place | None:
    """The top left corner of what is inside, so that its middle comes where the node is."""
    here, box = bounds(workflow, (node_id,)), bounds(inner, drawn(inner))
    if here is None or box is None:
        return workflow.places.get(node_id)
    x = (here[0] + here[2] - (box[2] - box[0])) / 2
    y = (here[1] + here[3] - (box[3] - box[1])) / 2
    return Place(x=snapped(x), y=snapped(y))


def _checked(workflow: Workflow, edit: Edit, place: str) -> tuple[Edit, str] | Problem:
    """The edit, unless it would draw an edge twice."""
    after = edit.apply(workflow).workflow
    before = Counter((s, t) for s, t, _ in pairs(workflow))
    counted = Counter((s, t) for s, t, _ in pairs(after))
    twice = next(((s, t) for (s, t), n in counted.items() if n > max(1, before[s, t])), None)
    if twice is None:
        at = [e for e in counted if e not in before and (after.node(place) is None or place in e)]
        return next((p for s, t in at if (p := type_problem(after, s, t)) is not None), (edit, place))
    names = f"“{name_of(after, twice[0])}” to “{name_of(after, twice[1])}”"
    return Problem("cannot_extract", f"There would be two edges from {names}; the framework allows one.")
