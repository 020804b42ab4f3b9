"""Checks of the graph: start, edges, bars and rhombi, reach, loops, outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial

from studio.document import types
from studio.document.connecting import connect, or_else
from studio.document.deleting import delete_items
from studio.document.edits import Batch, Edit, Remove, SetFields, SetWorkflow
from studio.document.facts import Facts
from studio.document.lines import line
from studio.document.model import (
    AgentNode,
    DirectEdge,
    FanInEdge,
    FanOutEdge,
    FunctionNode,
    HandoffEdge,
    JoinNode,
    SubWorkflowNode,
    SwitchEdge,
    UnknownEdge,
    Workflow,
)
from studio.document.problems import Fix, Problem
from studio.document.turns import takes_turns

MOST_NAMED = 12
"""A loop with more names than this is told in short."""


def start_problems(facts: Facts) -> Iterator[Problem]:
    """A workflow needs nodes and a start that takes the input."""
    workflow = facts.workflow
    if not workflow.nodes:
        yield Problem("empty", "There is nothing to run yet: add a node.")
        return
    start = facts.nodes.get(workflow.start or "")
    if start is None:
        yield _no_start(facts)
    elif isinstance(start, JoinNode):
        message = f"The start {facts.name(start.id)} is a join bar, which waits for several messages; a run gives one."
        yield Problem("start_takes_list", message, start.id, "start")


def _no_start(facts: Facts) -> Problem:
    targets = {target for source, target, _ in facts.pairs if source != target}
    cards = sorted(facts.workflow.nodes, key=lambda n: (isinstance(n, JoinNode), n.id in targets))
    first = cards[0]
    fix = Fix(f"Start with “{first.name or first.id}”", SetWorkflow({"start": first.id}))
    return Problem("no_start", "No node is the start: a run would not know where to begin.", field="start", fix=fix)


def id_problems(facts: Facts) -> Iterator[Problem]:
    """Ids are what checkpoints and code hang on: there, and unique without regard to case."""
    items = [(i.id, facts.names.get(i.id, i.id)) for i in (*facts.workflow.nodes, *facts.workflow.edges)]
    items += [(c.id, c.label or c.id) for e in facts.workflow.edges if isinstance(e, SwitchEdge) for c in e.cases]
    counted = Counter(item_id.casefold() for item_id, _ in items)
    for item_id, name in items:
        if not item_id:
            yield Problem("no_id", f"“{name or 'Something'}” has no id.", item_id, "id")
        elif counted[item_id.casefold()] > 1:
            yield Problem(
                "duplicate_id", f"The id {item_id} of “{name}” is taken by something else too.", item_id, "id"
            )


def edge_problems(facts: Facts) -> Iterator[Problem]:
    """Edges to nothing, the same edge twice, types that do not fit, kinds that cannot run."""
    workflow = facts.workflow
    for edge_id, end in facts.missing():
        fix = Fix("Remove it", _without(workflow, edge_id, end))
        yield Problem("dangling_edge", f"An edge leads to {end}, which is not there.", edge_id, fix=fix)
    first: dict[tuple[str, str], str] = {}
    for source, target, line_id in facts.pairs:
        if source in facts.nodes and target in facts.nodes:
            if (source, target) in first:
                yield _duplicate(facts, first[source, target], line_id, source, target)
            else:
                first[source, target] = line_id
            yield from _known_type_problem(facts, source, target, line_id)
    for edge in workflow.edges:
        if isinstance(edge, HandoffEdge | UnknownEdge):
            kind = "A hand-off" if isinstance(edge, HandoffEdge) else f"An edge of kind {edge.kind}"
            yield Problem("cannot_run", f"{kind} is kept in the file, but cannot run yet.", edge.id, severity="warning")


def _without(workflow: Workflow, edge_id: str, end: str) -> Edit:
    """The edge group without a node that does not exist."""
    edge = workflow.edge(edge_id)
    if isinstance(edge, SwitchEdge):
        cases = tuple(c for c in edge.cases if c.target != end)
        source, default = (None if e == end else e for e in (edge.source, edge.default))
        return SetFields("edges", edge_id, {"source": source, "cases": cases, "default": default})
    if isinstance(edge, FanOutEdge):
        targets = tuple(t for t in edge.targets if t != end)
        source = None if edge.source == end else edge.source
        return SetFields("edges", edge_id, {"source": source, "targets": targets})
    if isinstance(edge, FanInEdge) and edge.target != end:
        sources = tuple(s for s in edge.sources if s != end)
        return SetFields("edges", edge_id, {"sources": sources}) if sources else Remove("edges", edge_id)
    return Remove("edges", edge_id)


def _duplicate(facts: Facts, first: str, second: str, source: str, target: str) -> Problem:
    names = f"{facts.name(source)} to {facts.name(target)}"
    message = f"There are two edges from {names}; the second is refused. Use one with “or” in its condition."
    fix = Fix("Remove the second edge", delete_items(facts.workflow, (second,)))
    kept, extra = line(facts.workflow, first), line(facts.workflow, second)
    if kept and extra and kept.kind == extra.kind == "direct" and kept.condition and extra.condition:
        joined = or_else(kept.condition)
        if joined and joined.rule and extra.condition.kind == "rules" and extra.condition.rule:
            rules = (*joined.rule.rules[:-1], extra.condition.rule)
            wider = joined.model_copy(update={"rule": joined.rule.model_copy(update={"rules": rules})})
            edit = Batch((SetFields("edges", first, {"condition": wider}), Remove("edges", second)))
            fix = Fix("Join both with “or”", edit)
    return Problem("duplicate_edge", message, second, fix=fix)


def _known_type_problem(facts: Facts, source: str, target: str, line_id: str) -> tuple[Problem, ...]:
    """What a line between two nodes sends depends on them and its edge; of a join bar also on what it leads to."""
    a, b = facts.nodes[source], facts.nodes[target]
    found = partial(_type_problem, facts, source, target, line_id)
    if isinstance(a, JoinNode):
        return tuple(found())
    edge = facts.edges.get(line_id.partition(":")[0])
    asked = (b, isinstance(edge, FanInEdge), facts.names.get(source), facts.names.get(target))
    return facts.memory.each(f"types {line_id}", a, asked, found)


def _type_problem(facts: Facts, source: str, target: str, line_id: str) -> Iterator[Problem]:
    a, b = facts.nodes[source], facts.nodes[target]
    sent, taken = types.sends(a), types.accepts(b)
    if isinstance(a, JoinNode) and a.merge == "messages" and _before_turns(facts, a.id):
        sent = ("messages", "turn_token")
    edge = facts.edges.get(line_id.partition(":")[0])
    if isinstance(edge, FanInEdge):
        if isinstance(b, AgentNode):
            message = f"A barrier cannot feed the agent {facts.name(target)}: put a join bar in between."
            yield Problem("fan_in_agent", message, line_id)
            return
        if not isinstance(b, JoinNode):
            sent = tuple(f"list[{name}]" for name in sent)
    if types.compatible(sent, taken):
        return
    fix = None
    if isinstance(a, JoinNode) and a.merge == "messages" and "text" in taken:
        fix = Fix("Let the bar join texts", SetFields("nodes", source, {"merge": "texts"}))
    message = f"{facts.name(source)} sends {types.in_words(sent)}; {facts.name(target)} takes {types.in_words(taken)}."
    yield Problem("type_mismatch", message, line_id, fix=fix)


def _before_turns(facts: Facts, join_id: str) -> bool:
    """Whether a join bar leads to an agent that takes turns: it then sends a list and a token."""
    return any(takes_turns(facts.nodes.get(target)) for target in facts.following.get(join_id, ()))


def junction_problems(facts: Facts) -> Iterator[Problem]:
    """Bars and rhombi that are not finished yet."""
    for edge in facts.workflow.edges:
        if isinstance(edge, SwitchEdge):
            yield from _switch_problems(facts, edge)
        elif isinstance(edge, FanOutEdge):
            yield from _fan_out_problems(facts, edge)
    sources: dict[str, set[str]] = {}
    for edge in facts.workflow.edges:
        if isinstance(edge, FanInEdge):
            sources.setdefault(edge.target, set()).update(edge.sources)
            if len(set(edge.sources)) < 2:
                message = f"The join bar {facts.name(edge.target)} waits for one node only: connect a second one."
                yield Problem("fan_in_few_sources", message, edge.target)
        elif isinstance(edge, DirectEdge) and isinstance(facts.nodes.get(edge.target), JoinNode):
            yield _direct_into_join(facts, edge)
    for node in facts.workflow.nodes:
        if isinstance(node, JoinNode) and node.id not in sources:
            message = f"Nothing leads into the join bar {facts.name(node.id)}: connect the nodes that it waits for."
            yield Problem("join_without_sources", message, node.id)
    yield from _unreached_sources(facts, sources)


def _switch_problems(facts: Facts, edge: SwitchEdge) -> Iterator[Problem]:
    name = facts.name(edge.id)
    if edge.source is None:
        yield Problem("switch_no_source", f"Nothing leads into the switch {name}: connect a node to it.", edge.id)
    if not edge.cases:
        yield Problem(
            "switch_no_case", f"The switch {name} has no case: draw a line from it to a node.", edge.id, "cases"
        )
    if edge.default is None:
        message = f"The switch {name} has no default: say where messages go that fit no case."
        fix = None
        if len(edge.cases) > 1:
            last = edge.cases[-1]
            values = {"cases": edge.cases[:-1], "default": last.target}
            fix = Fix(f"Make {facts.name(last.target)} the default", SetFields("edges", edge.id, values))
        yield Problem("switch_no_default", message, edge.id, "default", fix=fix)


def _fan_out_problems(facts: Facts, edge: FanOutEdge) -> Iterator[Problem]:
    name = facts.name(edge.id)
    if edge.source is None:
        yield Problem("fan_out_no_source", f"Nothing leads into the fan-out {name}: connect a node to it.", edge.id)
    if len(set(edge.targets)) < 2:
        count = "leads nowhere" if not edge.targets else "leads to one node only"
        message = f"The fan-out {name} {count}: it needs at least two."
        yield Problem("fan_out_few_targets", message, edge.id, "targets")
    for target in edge.selection or {}:
        if target not in edge.targets:
            message = f"The fan-out {name} has a rule for {facts.name(target)}, which it does not lead to."
            yield Problem("selection_unknown_target", message, edge.id, "selection", "warning")


def _direct_into_join(facts: Facts, edge: DirectEdge) -> Problem:
    message = f"The edge from {facts.name(edge.source)} bypasses the barrier of the join bar {facts.name(edge.target)}."
    removed = Remove("edges", edge.id)
    again = connect(removed.apply(facts.workflow).workflow, edge.source, edge.target)
    fix = None if isinstance(again, Problem) else Fix("Make the bar wait for it", Batch((removed, again)))
    return Problem("direct_into_join", message, edge.id, fix=fix)


def _unreached_sources(facts: Facts, sources: dict[str, set[str]]) -> Iterator[Problem]:
    for target, waited in sources.items():
        for source in sorted(waited - facts.reached) if target in facts.reached else ():
            if source in facts.nodes:
                message = f"{facts.name(target)} waits for {facts.name(source)}, which nothing ever starts."
                yield Problem("unreachable_source", message, source)


def reach_problems(facts: Facts) -> Iterator[Problem]:
    """Nodes that no path from the start leads to; they take no part in a run."""
    if facts.reached:
        for node in facts.workflow.nodes:
            if node.id not in facts.reached:
                message = f"No path from the start leads to {facts.name(node.id)}: it takes no part in a run."
                yield Problem("unreachable", message, node.id, severity="warning")


def designation_problems(facts: Facts) -> Iterator[Problem]:
    """Outputs and intermediate outputs, as the framework checks them."""
    workflow = facts.workflow
    for name, listed in (("outputs", workflow.outputs), ("intermediate", workflow.intermediate)):
        if listed == ():
            message = f"The list of {name} is empty: nothing would come out."
            yield Problem("designation_empty", message, "", name, fix=Fix("Remove the list", SetWorkflow({name: None})))
        if not isinstance(listed, tuple):
            continue
        for node_id, count in Counter(listed).items():
            unique = tuple(dict.fromkeys(n for n in listed if n != node_id or node_id in facts.nodes))
            fix = Fix("Correct the list", SetWorkflow({name: unique or None}))
            if node_id not in facts.nodes:
                yield Problem("designation_missing", f"The output {node_id} is not there.", "", name, fix=fix)
            elif count > 1:
                yield Problem("designation_twice", f"{facts.name(node_id)} is an output twice.", node_id, name, fix=fix)
            elif not types.yields(facts.nodes[node_id]):
                yield _cannot_yield(facts, node_id, name)
    given = (workflow.outputs, workflow.intermediate)
    lists = any(isinstance(listed, tuple) for listed in given)
    if given != (None, None) and not lists and workflow.nodes and not any(map(types.yields, workflow.nodes)):
        fix = Fix("Remove both", SetWorkflow({"outputs": None, "intermediate": None}))
        yield Problem("designation_empty", "No node gives an output that could be chosen.", "", "outputs", fix=fix)
    if workflow.outputs == workflow.intermediate == "all":
        yield Problem("designation_both", "All outputs cannot be final and intermediate at once.", "", "intermediate")
    if isinstance(workflow.outputs, tuple) and isinstance(workflow.intermediate, tuple):
        for node_id in workflow.intermediate:
            if node_id in workflow.outputs:
                kept = tuple(n for n in workflow.intermediate if n != node_id) or None
                fix = Fix("Keep it as output", SetWorkflow({"intermediate": kept}))
                message = f"{facts.name(node_id)} is both an output and an intermediate output."
                yield Problem("designation_both", message, node_id, "outputs", fix=fix)


def _cannot_yield(facts: Facts, node_id: str, field: str) -> Problem:
    node = facts.nodes[node_id]
    fix = None
    if isinstance(node, FunctionNode):
        fix = Fix("Yield what it sends", SetFields("nodes", node_id, {"yields": node.sends}))
    elif isinstance(node, SubWorkflowNode):
        fix = Fix("Give its outputs directly", SetFields("nodes", node_id, {"direct_output": True}))
    return Problem(
        "cannot_yield", f"{facts.name(node_id)} is chosen as output, but gives none.", node_id, field, fix=fix
    )


def output_problems(facts: Facts) -> Iterator[Problem]:
    """A run that shows nothing."""
    if facts.reached and not any(types.yields(facts.nodes[i]) for i in facts.reached):
        message = "Nothing in this workflow gives an output: agents do, and functions that yield."
        yield Problem("no_output", message, severity="warning", field="outputs")


def loop_problems(facts: Facts) -> Iterator[Problem]:
    """Loops in which every node always sends on and every edge always passes."""
    always = {
        n.id for n in facts.workflow.nodes if getattr(n, "kind", "") in ("agent", "runner", "template", "join", "pass")
    }
    steps: dict[str, list[str]] = {}
    choices: list[tuple[str, set[str]]] = []
    for edge in facts.workflow.edges:
        ends: list[tuple[str, str]] = []
        match edge:
            case DirectEdge(condition=None):
                ends = [(edge.source, edge.target)]
            case FanOutEdge(source=str() as source):
                ends = [(source, t) for t in edge.targets if t not in (edge.selection or {})]
            case FanInEdge():
                ends = [(s, edge.target) for s in edge.sources]
            case SwitchEdge(source=str() as source, default=str() as default) if source in always & facts.reached:
                choices.append((source, {default, *(c.target for c in edge.cases)}))
        for source, target in ends:
            if {source, target} <= always and source in facts.reached:
                steps.setdefault(source, []).append(target)
    _add_closed_choices(steps, choices, always)
    for loop in _loops(steps):
        names = " → ".join(_few([facts.name(i) for i in (*loop, loop[0])]))
        most = facts.workflow.max_supersteps
        limit = "1 superstep" if most == 1 else f"{most} supersteps"
        message = f"Nothing ends the loop {names}: it runs until the limit of {limit} and then fails."
        yield Problem("endless_loop", message, loop[0], severity="warning")


def _few(names: list[str]) -> list[str]:
    """The names of a long way, with most of it left out."""
    return names if len(names) <= MOST_NAMED else [*names[:4], "…", *names[-3:]]


def _add_closed_choices(steps: dict[str, list[str]], choices: list[tuple[str, set[str]]], always: set[str]) -> None:
    """Adds the ways of switches from which every way goes on for ever."""
    closed = _closed(steps, choices, always)
    for source, targets in choices:
        if source in closed and targets <= closed:
            steps.setdefault(source, []).extend(sorted(targets))


def _closed(steps: dict[str, list[str]], choices: list[tuple[str, set[str]]], always: set[str]) -> set[str]:
    """The nodes from which some way goes on for ever: those without one go out, until all that are left have one."""
    ways: dict[str, list[set[str]]] = {}
    before: dict[str, list[str]] = {}
    for source, targets in choices:
        ways.setdefault(source, []).append(targets)
    for source, ends in (*steps.items(), *choices):
        for target in ends:
            before.setdefault(target, []).append(source)
    closed, waiting = set(always), list(always)
    while waiting:
        node = waiting.pop()
        goes_on = any(t in closed for t in steps.get(node, ())) or any(w <= closed for w in ways.get(node, ()))
        if node in closed and not goes_on:
            closed.discard(node)
            waiting.extend(before.get(node, ()))
    return closed


def _loops(steps: dict[str, list[str]]) -> Iterator[tuple[str, ...]]:
    """One way around for each group of nodes that reach each other."""
    done: set[str] = set()
    for root in steps:
        path: list[str] = []
        on_path: set[str] = set()
        stack: list[tuple[str, Iterator[str]]] = []
        if root not in done:
            path, on_path, stack = [root], {root}, [(root, iter(steps[root]))]
        while stack:
            node, following = stack[-1]
            target = next(following, None)
            if target is None:
                stack.pop()
                on_path.discard(path.pop())
                done.add(node)
            elif target in on_path:
                yield tuple(path[path.index(target) :])
            elif target not in done:
                path.append(target)
                on_path.add(target)
                stack.append((target, iter(steps.get(target, ()))))
