"""Rules of the graph that every reader follows: one edge per pair, decisions with a default, what is reachable."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from studio.importers.draft import Case, Draft, DraftEdge, DraftNode

DECISIONS = ("switch", "loop")


def finish(draft: Draft) -> None:
    """Applies all of them."""
    choose_start(draft)
    add_defaults(draft)
    separate_pairs(draft)
    open_barriers(draft)
    unreachable(draft)


def choose_start(draft: Draft) -> None:
    """A source without a start starts with the first node that nothing leads to."""
    steps = [n.id for n in draft.nodes.values() if n.kind != "note"]
    if draft.start in steps or not steps:
        return
    led_to = {target for edge in draft.edges for target in targets(edge)}
    draft.start = next((s for s in steps if s not in led_to), steps[0])
    draft.note("invalid_source", draft.start, "The source has no start: this node is the start now.")


def open_barriers(draft: Draft) -> None:
    """A barrier does not wait for what nothing ever starts."""
    found = reached(draft)
    added: list[DraftEdge] = []
    for edge in draft.edges:
        if edge.kind != "fan_in" or edge.targets[0] not in found:
            continue
        never = [s for s in edge.sources if s not in found]
        for source in never:
            text = f"{edge.targets[0]} waits for this node, which nothing starts; it does not wait for it here."
            draft.note("semantics_differ", source, text, "warn", draft.nodes[source].line)
            added.append(DraftEdge("direct", [source], list(edge.targets), counted=0))
        edge.sources = [s for s in edge.sources if s in found]
        if len(edge.sources) == 1:
            edge.kind = "direct"
    draft.edges.extend(added)


def targets(edge: DraftEdge) -> Iterator[str]:
    """The nodes that an edge group leads to."""
    yield from edge.targets
    for case in (*edge.cases, *([edge.default] if edge.default else [])):
        if case.target is not None:
            yield case.target


def add_defaults(draft: Draft) -> None:
    """A way out of a decision that leads nowhere gets an end node (``<id>__end``)."""
    draft.edges[:] = [e for e in draft.edges if e.kind != "switch" or e.cases or (e.default and e.default.target)]
    for edge in draft.edges:
        if edge.kind != "switch":
            continue
        node = draft.nodes[edge.source]
        default = edge.default or Case(node.id)
        if not edge.cases and default.target is not None:
            edge.kind, edge.targets, edge.default = "direct", [default.target], None
            continue
        edge.default = default
        open_cases = [case for case in (*edge.cases, default) if case.target is None]
        if open_cases:
            end = draft.add(DraftNode(draft.free(f"{node.id}__end"), "end", f"{node.id}__end", added=True))
            for case in open_cases:
                case.target = end.id
            draft.note("default_added", node.id, "A way out led nowhere: an end was added.", line=node.line)


def separate_pairs(draft: Draft) -> None:
    """The engine takes one edge per pair: every further one goes through a node that passes its input on."""
    seen: set[tuple[str, str]] = set()
    added: list[DraftEdge] = []
    _single_handoffs(draft)
    for edge in draft.edges:
        if edge.kind in ("handoff", "fan_in"):
            continue
        for case in (*edge.cases, *([edge.default] if edge.default else [])):
            if case.target is not None and _taken(seen, edge.source, case.target):
                added.append(_passed(draft, case))
        edge.targets = list(dict.fromkeys(edge.targets)) if edge.kind == "fan_out" else edge.targets
        for number, target in enumerate(edge.targets):
            if _taken(seen, edge.source, target):
                case = Case(edge.source, target)
                added.append(_passed(draft, case))
                edge.targets[number] = case.target or target
    draft.edges.extend(added)


def _single_handoffs(draft: Draft) -> None:
    first: dict[tuple[str, str], DraftEdge] = {}
    for edge in [e for e in draft.edges if e.kind == "handoff"]:
        kept = first.setdefault((edge.source, edge.targets[0]), edge)
        if kept is not edge:
            kept.counted += edge.counted
            draft.edges.remove(edge)


def _taken(seen: set[tuple[str, str]], source: str, target: str) -> bool:
    if (source, target) in seen:
        return True
    seen.add((source, target))
    return False


def _passed(draft: Draft, case: Case) -> DraftEdge:
    """A pass node in front of the target of a case."""
    name = f"{case.id}__pass"
    node = draft.add(DraftNode(draft.free(name), "pass", name, added=True))
    edge = DraftEdge("direct", [node.id], [case.target or ""], counted=0)
    case.target = node.id
    return edge


def reached(draft: Draft) -> set[str]:
    """The nodes that a path from the start leads to."""
    following: dict[str, list[str]] = {}
    for edge in draft.edges:
        for source in edge.sources:
            following.setdefault(source, []).extend(targets(edge))
    if draft.start not in draft.nodes:
        return set()
    found, waiting = {draft.start}, [draft.start]
    while waiting:
        for target in following.get(waiting.pop(), ()):
            if target not in found:
                found.add(target)
                waiting.append(target)
    return found


def unreachable(draft: Draft) -> None:
    """Reports what no path from the start leads to."""
    found = reached(draft)
    if not found:
        return
    for node in draft.nodes.values():
        if node.id not in found and node.kind != "note":
            draft.note("unreachable", node.id, "No path from the start leads here. It is kept.", line=node.line)


def fan_out(draft: Draft, source: str, following: list[str], counted: int | None = None) -> DraftEdge:
    """One direct edge, or a fan-out to several."""
    kind = "direct" if len(following) == 1 else "fan_out"
    edge = DraftEdge(kind, [source], list(following), counted=len(following) if counted is None else counted)  # type: ignore[arg-type]
    draft.edges.append(edge)
    return edge


def barrier(draft: Draft, sources: list[str], target: str, counted: int | None = None) -> None:
    """A barrier in front of a node; an agent gets a joining node (``<id>__join``) in between."""
    count = len(sources) if counted is None else counted
    if draft.nodes[target].kind in ("agent", "sub_workflow"):
        name = f"{target}__join"
        draft.add(DraftNode(draft.free(name), "transform", name, {"template": "{text}"}, added=True))
        draft.direct(name, target, counted=0)
        target = name
    draft.edges.append(DraftEdge("fan_in", list(sources), [target], counted=count))


def lower(draft: Draft, pairs: list[tuple[str, str]], barriers: set[str]) -> None:
    """Plain connections as edge groups: barriers where a target waits, a fan-out where a source has several."""
    waiting: dict[str, list[str]] = {}
    following: dict[str, list[str]] = {}
    for source, target in pairs:
        if target in barriers:
            waiting.setdefault(target, []).append(source)
        else:
            following.setdefault(source, []).append(target)
    for source, found in following.items():
        fan_out(draft, source, list(dict.fromkeys(found)), len(found))
    for target, sources in waiting.items():
        unique = list(dict.fromkeys(sources))
        if len(unique) > 1:
            barrier(draft, unique, target, len(sources))
        else:
            draft.direct(unique[0], target, counted=len(sources))


def parallel_targets(following: dict[str, list[str]], cases: dict[str, list[list[str]]]) -> set[str]:
    """The targets whose sources can all have run: no ways back, no two branches of one decision.

    ``following`` are all connections, ``cases`` for each decision the targets of each of its ways out.
    """
    sources: dict[str, list[str]] = {}
    for source, found in following.items():
        for target in dict.fromkeys(found):
            sources.setdefault(target, []).append(source)
    ways = {decision: [_closure(following, out, decision) for out in outs] for decision, outs in cases.items()}
    found_targets: set[str] = set()
    for target, before in sources.items():
        if len(before) < 2:
            continue
        behind = _closure(following, [target], "")
        forward = [s for s in before if s not in behind]
        if len(forward) > 1 and len(forward) == len(before) and not _exclusive(forward, ways):
            found_targets.add(target)
    return found_targets


def _exclusive(sources: list[str], ways: dict[str, list[set[str]]]) -> bool:
    """Whether any two of the sources stand in different branches of one decision."""
    for decision, branches in ways.items():
        owned = [{n for n, b in enumerate(branches) if s in b or (s == decision)} for s in sources]
        alone = [next(iter(o)) for s, o in zip(sources, owned, strict=True) if len(o) == 1 and s != decision]
        if len(set(alone)) > 1 or (decision in sources and alone):
            return True
    return False


def _closure(following: dict[str, list[str]], start: list[str], without: str) -> set[str]:
    found, waiting = set(start), list(start)
    while waiting:
        for target in following.get(waiting.pop(), ()):
            if target not in found and target != without:
                found.add(target)
                waiting.append(target)
    return found


def decide(
    draft: Draft, source: str, ways: list[tuple[Case, list[str]]], default: list[str], default_id: str = ""
) -> DraftEdge:
    """A decision: each case with its targets, and those of the default. Several targets get a pass node in between."""
    edge = DraftEdge("switch", [source], default=Case(default_id or source), counted=0)
    draft.edges.append(edge)
    for case, found in ways:
        edge.cases.append(case)
        edge.counted += _lead(draft, case, found)
    assert edge.default is not None
    edge.counted += _lead(draft, edge.default, default)
    return edge


def _lead(draft: Draft, case: Case, found: list[str]) -> int:
    """Lets a case lead to its targets; how many connections the switch stands for then."""
    unique = list(dict.fromkeys(found))
    if len(unique) < 2:
        case.target = unique[0] if unique else None
        return len(found)
    name = f"{case.id}__pass"
    node = draft.add(DraftNode(draft.free(name), "pass", name, added=True))
    case.target = node.id
    fan_out(draft, node.id, unique, len(found))
    return 0


def unique(draft: Draft, nodes: list[dict[str, Any]], key: str = "id") -> list[dict[str, Any]]:
    """The nodes with different ids; a second one of the same id is lost, because edges cannot tell them apart."""
    found: dict[str, dict[str, Any]] = {}
    for node in nodes:
        item = str(node.get(key) or "")
        if item in found:
            draft.lost.append(item or "step without an id")
            draft.note("invalid_source", item, "Two steps have this id; only the first one is taken over.", "loss")
        else:
            found[item] = node
    return list(found.values())


def lose(draft: Draft, source: str, count: int) -> None:
    """Connections from a way out that does not exist."""
    if count:
        draft.edges_lost += count
        draft.note("dangling_edge", source, f"{count} connections leave this step by a way out that it does not have.")
