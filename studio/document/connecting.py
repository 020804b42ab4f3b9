"""Connecting what is drawn: ports to nodes, join bars, switches and fan-outs, and from those."""

from __future__ import annotations

from dataclasses import replace

from studio.document import types
from studio.document.conditions import Condition, Rule
from studio.document.edits import Batch, Edit, Insert, SetFields, SetPlaces
from studio.document.geometry import CARD, GRID, between, free_place, moved
from studio.document.ids import condition_name, edge_id, make_id, taken_ids
from studio.document.lines import default_id, leg_id, line, name_of, pair
from studio.document.model import (
    DirectEdge,
    FanInEdge,
    FanOutEdge,
    GenericNode,
    JoinNode,
    NodeBase,
    SwitchCase,
    SwitchEdge,
    Workflow,
)
from studio.document.problems import Fix, Problem

Junction = SwitchEdge | FanOutEdge
DEFAULT = "default"
"""``connect(..., case=DEFAULT)`` draws the default line of a switch."""


def connect(workflow: Workflow, source: str, target: str, *, case: str | None = None) -> Edit | Problem:
    """An edge from a node, switch or fan-out to a node, join bar, switch or fan-out.

    From a switch: ``case`` is the id of a case to lead elsewhere, :data:`DEFAULT`, or None: the first line drawn is
    case 1, the second the default, each further one a new case before it. A bar or rhombus right behind another one
    gets a pass node in between. Returns a :class:`Problem` with the reason where the framework would refuse the edge.
    """
    start, end = _end(workflow, source), _end(workflow, target)
    if start is None or end is None:
        missing = source if start is None else target
        if any(g.id == missing for g in workflow.groups):
            message = f"“{name_of(workflow, missing)}” is a frame: open it, and connect what is inside."
            return Problem("cannot_connect", message, missing)
        return Problem("cannot_connect", f"“{name_of(workflow, missing)}” cannot be connected.", missing)
    if isinstance(start, GenericNode) and start.kind == "end":
        return Problem("cannot_connect", f"“{start.name}” ends a path: nothing can follow it.", source)
    if isinstance(start, Junction) and isinstance(end, JoinNode | Junction):
        return _through_pass(workflow, start, target, case)
    if isinstance(start, SwitchEdge):
        return _from_switch(workflow, start, target, case)
    if isinstance(start, FanOutEdge):
        return _from_fan_out(workflow, start, target)
    if isinstance(end, Junction):
        return _into_junction(workflow, source, end)
    if isinstance(end, JoinNode):
        return _into_join(workflow, source, target)
    return _direct(workflow, source, target)


def _end(workflow: Workflow, item_id: str) -> NodeBase | Junction | None:
    node = workflow.node(item_id)
    if node is not None:
        return None if getattr(node, "kind", "") == "note" else node
    edge = workflow.edge(item_id)
    return edge if isinstance(edge, Junction) else None


# ------------------------------------------------------------------------------------------------ refusals


def refusal(workflow: Workflow, source: str | None, target: str) -> Problem | None:
    """Why the framework would refuse an edge between two nodes: there is one already, or the types do not fit."""
    if source is None:
        return None
    existing = pair(workflow, source, target)
    if existing is not None:
        return _duplicate(workflow, source, target, existing)
    return type_problem(workflow, source, target)


def type_problem(workflow: Workflow, source: str, target: str) -> Problem | None:
    """A problem if nothing that the source sends is taken by the target."""
    a, b = workflow.node(source), workflow.node(target)
    if a is None or b is None or types.compatible(types.sends(a), types.accepts(b)):
        return None
    return Problem(
        "type_mismatch",
        f"“{a.name}” sends {types.in_words(types.sends(a))}; “{b.name}” takes {types.in_words(types.accepts(b))}.",
        target,
    )


def _duplicate(workflow: Workflow, source: str, target: str, existing: str) -> Problem:
    found = line(workflow, existing)
    names = f"“{name_of(workflow, source)}” to “{name_of(workflow, target)}”"
    if found is None or found.kind not in ("direct", "case") or found.condition is None:
        why = "it has no condition, so every message passes" if found and found.kind == "direct" else "one is enough"
        return Problem("duplicate_edge", f"There is an edge from {names} already; {why}.", existing)
    wider = or_else(found.condition)
    what = "There is an edge" if found.kind == "direct" else f"“{name_of(workflow, found.edge)}” leads"
    whose = "its condition" if found.kind == "direct" else "the condition of its case"
    message = f"{what} from {names} already. Extend {whose} with “or” instead."
    if wider is None:
        return Problem("duplicate_edge", message, existing)
    fix = Fix("Add “or” to the condition", _widened(workflow, found.edge, existing, wider))
    return Problem("duplicate_edge", message, existing, "condition", fix=fix)


def _widened(workflow: Workflow, edge_id: str, line_id: str, condition: Condition) -> Edit:
    """Another condition for an edge, or for one case of a switch."""
    edge = workflow.edge(edge_id)
    if not isinstance(edge, SwitchEdge):
        return SetFields("edges", edge_id, {"condition": condition})
    cases = tuple(c.model_copy(update={"condition": condition}) if c.id == line_id else c for c in edge.cases)
    return SetFields("edges", edge_id, {"cases": cases})


def or_else(condition: Condition) -> Condition | None:
    """The condition, or another one that is still to be written; None for code."""
    if condition.kind == "expression":
        return condition.model_copy(update={"expression": f"({condition.expression}) or False"})
    if condition.kind == "rules" and condition.rule is not None:
        old = condition.rule.rules if condition.rule.op == "or" else (condition.rule,)
        return condition.model_copy(update={"rule": Rule(op="or", rules=(*old, Rule()))})
    return None


# --------------------------------------------------------------------------------------------------- edges


def _direct(workflow: Workflow, source: str, target: str) -> Edit | Problem:
    refused = refusal(workflow, source, target)
    if refused is not None:
        return refused
    new = DirectEdge(id=edge_id(source, target, taken_ids(workflow)), source=source, target=target)
    return Batch((Insert("edges", new), *_merge_for(workflow, source, target)))


def _merge_for(workflow: Workflow, source: str, target: str) -> list[Edit]:
    """A join bar that is connected first to an agent hands over messages, to anything else texts."""
    bar, follower = workflow.node(source), workflow.node(target)
    if not isinstance(bar, JoinNode) or follower is None or bar.merge == "code":
        return []
    if any(e.source == source for e in workflow.edges if isinstance(e, DirectEdge | SwitchEdge | FanOutEdge)):
        return []
    merge = "messages" if "request" in types.accepts(follower) else "texts"
    return [SetFields("nodes", source, {"merge": merge})] if merge != bar.merge else []


def _into_join(workflow: Workflow, source: str, target: str) -> Edit | Problem:
    name = name_of(workflow, target)
    if source == target:
        return Problem("cannot_connect", f"“{name}” cannot wait for itself: it would never start.", target)
    if pair(workflow, source, target) is not None:
        return Problem("duplicate_edge", f"“{name}” waits for “{name_of(workflow, source)}” already.", target)
    fan_in = next((e for e in workflow.edges if isinstance(e, FanInEdge) and e.target == target), None)
    if fan_in is not None:
        return SetFields("edges", fan_in.id, {"sources": (*fan_in.sources, source)})
    new_id = make_id(f"into_{target}", taken_ids(workflow), "edge")
    return Insert("edges", FanInEdge(id=new_id, sources=(source,), target=target))


def _into_junction(workflow: Workflow, source: str, junction: Junction) -> Edit | Problem:
    edit = SetFields("edges", junction.id, {"source": source})
    if junction.source == source:
        return Problem("duplicate_edge", f"“{junction.name}” is connected to this node already.", junction.id)
    targets = junction_targets(junction)
    twice = next((t for t in targets if targets.count(t) > 1), None)
    if twice is not None:
        message = f"“{junction.name}” leads to “{name_of(workflow, twice)}” twice: remove one line first."
        return Problem("duplicate_edge", message, junction.id)
    for target in targets:
        refused = refusal(workflow, source, target)
        if refused is not None:
            return refused
    if junction.source is not None:
        message = f"“{junction.name}” already takes its messages from “{name_of(workflow, junction.source)}”."
        fix = Fix(f"Take them from “{name_of(workflow, source)}” instead", edit)
        return Problem("has_source", message, junction.id, fix=fix)
    return edit


def junction_targets(junction: Junction) -> tuple[str, ...]:
    """The nodes behind a switch or fan-out."""
    if isinstance(junction, FanOutEdge):
        return junction.targets
    last = () if junction.default is None else (junction.default,)
    return (*(case.target for case in junction.cases), *last)


def new_case(workflow: Workflow, switch: SwitchEdge, target: str) -> SwitchCase:
    """A case whose rule is still to be written."""
    case_id = make_id(f"{switch.id}_case_{len(switch.cases) + 1}", taken_ids(workflow), "case")
    return SwitchCase(id=case_id, target=target, condition=Condition(name=condition_name(case_id), rule=Rule()))


def _from_switch(workflow: Workflow, switch: SwitchEdge, target: str, case: str | None) -> Edit | Problem:
    if case is None and switch.cases and switch.default is None:
        case = DEFAULT
    held = switch.default if case == DEFAULT else next((c.target for c in switch.cases if c.id == case), None)
    if held == target:
        return Problem(
            "duplicate_edge", f"This line leads to “{name_of(workflow, target)}” already.", case or switch.id
        )
    if pair_at(workflow, switch, target):
        return _through_pass(workflow, switch, target, case)
    refused = refusal(workflow, switch.source, target)
    return refused or _switch_edit(workflow, switch, target, case)


def pair_at(workflow: Workflow, junction: Junction, target: str) -> bool:
    """Whether the source of a junction reaches this target already, by the junction or beside it."""
    if target in junction_targets(junction):
        return True
    return junction.source is not None and pair(workflow, junction.source, target) is not None


def _switch_edit(workflow: Workflow, switch: SwitchEdge, target: str, case: str | None) -> Edit:
    if case == DEFAULT:
        return SetFields("edges", switch.id, {"default": target})
    if case is None:
        return SetFields("edges", switch.id, {"cases": (*switch.cases, new_case(workflow, switch, target))})
    if all(c.id != case for c in switch.cases):
        raise KeyError(case)
    cases = tuple(c.model_copy(update={"target": target}) if c.id == case else c for c in switch.cases)
    return SetFields("edges", switch.id, {"cases": cases})


def _from_fan_out(workflow: Workflow, bar: FanOutEdge, target: str) -> Edit | Problem:
    if target in bar.targets:
        message = f"“{bar.name}” leads to “{name_of(workflow, target)}” already."
        return Problem("duplicate_edge", message, leg_id(bar.id, target))
    refused = refusal(workflow, bar.source, target)
    return refused or SetFields("edges", bar.id, {"targets": (*bar.targets, target)})


def _through_pass(workflow: Workflow, start: Junction, target: str, case: str | None) -> Edit | Problem:
    """A pass node between a junction and a target that the junction cannot lead to itself."""
    if isinstance(start, SwitchEdge) and case is None and start.cases and start.default is None:
        case = DEFAULT
    taken = taken_ids(workflow)
    stem = f"{case if case and case != DEFAULT else start.id}__pass"
    pass_id = stem if stem.casefold() not in {i.casefold() for i in taken} else make_id(stem, taken)
    edits: list[Edit] = [Insert("nodes", GenericNode(id=pass_id, name="Pass", kind="pass"))]
    place = between(workflow, start.id, target, CARD)
    if place is not None:
        if target in junction_targets(start):  # beside the line that is there
            place = moved(place, CARD[0] + GRID, 0) if workflow.flow == "down" else moved(place, 0, CARD[1] + GRID)
        edits.append(SetPlaces({pass_id: free_place(workflow, CARD, place)}))
    inner = Batch(tuple(edits)).apply(workflow).workflow
    first = (
        _switch_edit(inner, start, pass_id, case)
        if isinstance(start, SwitchEdge)
        else SetFields("edges", start.id, {"targets": (*start.targets, pass_id)})
    )
    second = connect(first.apply(inner).workflow, pass_id, target)
    return built_on((*edits, first), second)


def built_on(edits: tuple[Edit, ...], last: Edit | Problem) -> Edit | Problem:
    """One step of ``edits`` and a last one, which was made for the document after them. Was the last one refused, its
    quick fix begins with them too."""
    if not isinstance(last, Problem):
        return Batch((*edits, last))
    if last.fix is None:
        return last
    return replace(last, fix=Fix(last.fix.text, Batch((*edits, last.fix.edit))))


__all__ = [
    "DEFAULT",
    "built_on",
    "connect",
    "default_id",
    "junction_targets",
    "new_case",
    "or_else",
    "refusal",
    "type_problem",
]
