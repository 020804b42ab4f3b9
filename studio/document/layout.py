"""Arranging: layers from left to right or from top to bottom, loops drawn back, crossings reduced."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from studio.document.geometry import (
    FAN_OUT,
    GAP_X,
    GAP_Y,
    GRID,
    bounds,
    boxes,
    covers,
    drawn,
    moved,
    sizes_of,
    snapped,
    stepped,
    turned,
)
from studio.document.lines import lines
from studio.document.model import JoinNode, Note, Place, Workflow

SWEEPS = 6
WIDEST_GAP = 200.0
"""Between layers, for the longest labels."""
BETWEEN = 112.0
"""Between parts that nothing connects: room for the frames around both."""
OVER = 16.0
"""How far a join bar goes beyond the outermost of its lines."""
Flow = Literal["right", "down"]


def arrange(workflow: Workflow, ids: Iterable[str] | None = None, flow: Flow | None = None) -> dict[str, Place]:
    """New places for nodes, switches and fan-outs (all, or the given ones among themselves; notes and groups stay).

    ``flow``: where the layers follow each other; None: where the lines of the document run. The top left corner of what
    is arranged stays where it was. Widths that someone set are kept; a join bar gets as long as its sources need. What
    is to keep its place has its part in the order, and the others are placed around it.
    """
    chosen = None if ids is None else frozenset(ids)
    items = [i for i, item in drawn(workflow).items() if not isinstance(item, Note) and (chosen is None or i in chosen)]
    if not items:
        return {}
    corner = bounds(workflow, items) or (0.0, 0.0, 0.0, 0.0)
    down = (flow or workflow.flow) == "down"
    kept = [i for i in items if (place := workflow.places.get(i)) is not None and place.kept]
    parts = _parts(workflow, items)
    fixed = [i for part in parts if set(part) & set(kept) for i in part]
    every: dict[str, Place] = {}
    left, top = corner[:2]
    if fixed:
        found = in_layers(workflow, _layers(workflow, fixed), left, top, down=down)
        every = _around(workflow, found, kept, down=down)
        left, top = _after(workflow, every | {i: workflow.places[i] for i in kept}, left, top, down=down)
    for part in parts:
        if part[0] not in fixed:
            layers = _layers(workflow, part)
            placed = spanning(workflow, layers, in_layers(workflow, layers, left, top, down=down), down=down)
            left, top = _after(workflow, placed, left, top, down=down)
            every.update(placed)
    return every


def _after(workflow: Workflow, placed: dict[str, Place], left: float, top: float, *, down: bool) -> tuple[float, float]:
    """Where the next part begins: below those places, or right of them where lines run down."""
    sizes = sizes_of(workflow, placed)
    if down:
        return snapped(max(p.x + (p.width or sizes[i][0]) for i, p in placed.items()) + BETWEEN), top
    return left, snapped(max(p.y + (p.height or sizes[i][1]) for i, p in placed.items()) + BETWEEN)


def _parts(workflow: Workflow, items: list[str]) -> list[list[str]]:
    """What no line connects, also by way of others, nor a frame holds together is arranged apart. All that has neither
    lines nor a frame is one part: the last."""
    import networkx as nx

    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(items)
    graph.add_edges_from((e.source, e.target) for e in lines(workflow))
    for group in workflow.groups:
        nx.add_path(graph, group.members)
    order = {item: at for at, item in enumerate(items)}
    found = (sorted(part & order.keys(), key=order.__getitem__) for part in nx.connected_components(graph))
    parts = [part for part in found if part]
    parts.sort(key=lambda part: (workflow.start not in part, order[part[0]]))
    joined = [part for part in parts if len(part) > 1]
    alone = [part[0] for part in parts if len(part) == 1]
    return [*joined, alone] if alone else joined


def _around(workflow: Workflow, found: dict[str, Place], kept: list[str], *, down: bool) -> dict[str, Place]:
    """The new places moved so that the first of those that stay would be where it is; what would cover one of them
    goes below it, or right of it where lines run down."""
    first = workflow.places[kept[0]]
    dx, dy = snapped(first.x - found[kept[0]].x), snapped(first.y - found[kept[0]].y)
    sizes, taken = sizes_of(workflow, found), boxes(workflow, kept)
    moving = {i: moved(place, dx, dy) for i, place in found.items() if i not in set(kept)}
    for item, place in moving.items():
        if not any(covers(place, sizes[item], box) for box in taken):
            continue
        others = [*taken, *((p.x, p.y, p.x + sizes[i][0], p.y + sizes[i][1]) for i, p in moving.items() if i != item)]
        while any(covers(place, sizes[item], box) for box in others):
            place = stepped(place, across=GAP_Y, down=down)
        moving[item] = place
    return moving


def _layers(workflow: Workflow, items: list[str]) -> list[list[str]]:
    """The items by longest way from the start, back edges turned around, ordered to cross little."""
    import networkx as nx  # half a second that a start need not pay

    known = set(items)
    graph: nx.DiGraph[str] = nx.DiGraph()
    first = [workflow.start] if workflow.start in known else []
    graph.add_nodes_from([*first, *items])
    graph.add_edges_from((e.source, e.target) for e in lines(workflow) if {e.source, e.target} <= known)
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    acyclic = _without_loops(graph)
    layers = [list(layer) for layer in nx.topological_generations(acyclic)]
    return _ordered(acyclic, layers)


def _without_loops(graph: nx.DiGraph[str]) -> nx.DiGraph[str]:  # type: ignore[name-defined]  # noqa: F821
    """A copy whose back edges, found by a walk in drawing order, are left out."""
    acyclic = graph.copy()
    done: set[str] = set()
    for root in graph.nodes:
        if root in done:
            continue
        path, stack = {root}, [(root, iter(list(graph.successors(root))))]
        while stack:
            node, following = stack[-1]
            target = next(following, None)
            if target is None:
                stack.pop()
                path.discard(node)
                done.add(node)
            elif target in path:
                acyclic.remove_edge(node, target)
            elif target not in done:
                path.add(target)
                stack.append((target, iter(list(graph.successors(target)))))
    return acyclic


def _ordered(graph: nx.DiGraph[str], layers: list[list[str]]) -> list[list[str]]:  # type: ignore[name-defined]  # noqa: F821
    """Each layer sorted by the middle of its neighbours, forwards and backwards in turn."""
    for sweep in range(SWEEPS):
        order = layers if sweep % 2 == 0 else layers[::-1]
        rank = {item: float(i) for layer in layers for i, item in enumerate(layer)}
        for layer in order:
            near = graph.predecessors if sweep % 2 == 0 else graph.successors
            middle = {item: _mean([rank[n] for n in near(item)], rank[item]) for item in layer}
            layer.sort(key=lambda item, m=middle: m[item])  # type: ignore[misc]
            rank.update((item, float(i)) for i, item in enumerate(layer))
    return layers


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def in_layers(workflow: Workflow, layers: list[list[str]], left: float, top: float, *, down: bool) -> dict[str, Place]:
    """Places, layer by layer; x and y change their parts when the layers follow each other from top to bottom."""
    every = sizes_of(workflow, (i for layer in layers for i in layer))
    sizes = {i: turned(size, down=down) for i, size in every.items()}
    along, start = turned((left, top), down=down)
    breadths = [sum(sizes[i][1] for i in layer) + GAP_Y * (len(layer) - 1) for layer in layers]
    # The ports of a card in the grid are in the grid when they are at its sides, and in the middle of a cell on top.
    ports = GRID / 2 if down else 0.0
    middle = snapped(start + max(breadths) / 2) + ports
    cards = {n.id for n in workflow.nodes if not isinstance(n, JoinNode)}
    found: dict[str, Place] = {}
    gaps = {} if down else _gaps(workflow)
    for layer, breadth in zip(layers, breadths, strict=True):
        depth = max(sizes[i][0] for i in layer)
        across = middle - breadth / 2
        for item in layer:
            own = workflow.places.get(item) or Place(x=0, y=0)
            # bars, rhombi and cards of other widths leave the grid rather than the line through the ports
            half = sizes[item][1] / 2
            beside = snapped(across + half - ports) + ports - half if item in cards else across
            x, y = turned((snapped(along + (depth - sizes[item][0]) / 2), beside), down=down)
            found[item] = own.model_copy(update={"x": x, "y": y})
            across += sizes[item][1] + GAP_Y
        along += depth + (GAP_X if down else max(gaps.get(item, GAP_X) for item in layer))
    return found


def _gaps(workflow: Workflow) -> dict[str, float]:
    """The distance to the next layer by source, where the label of a line has to stand on it."""
    found: dict[str, float] = {}
    for ln in lines(workflow):
        if ln.label:
            letters = len(ln.label) + (6 if ln.kind == "default" else 0)
            wanted = snapped(min(WIDEST_GAP, max(GAP_X, 8 * letters + 60)))
            found[ln.source] = max(found.get(ln.source, GAP_X), wanted)
    return found


def spanning(workflow: Workflow, layers: list[list[str]], found: dict[str, Place], *, down: bool) -> dict[str, Place]:
    """The places, with join bars that have a layer of their own so long that a line from each of their sources arrives
    straight; their middle, where the line goes on, stays."""
    sizes = {i: turned(size, down=down) for i, size in sizes_of(workflow, found).items()}
    middles = {i: turned((p.x, p.y), down=down)[1] + sizes[i][1] / 2 for i, p in found.items()}
    sources: dict[str, list[float]] = {}
    for ln in lines(workflow):
        if ln.kind == "fan_in" and ln.source in middles:
            sources.setdefault(ln.target, []).append(middles[ln.source])
    longer = dict(found)
    for bar in (layer[0] for layer in layers if len(layer) == 1 and layer[0] in sources):
        length = max(FAN_OUT[1], 2 * (max(abs(at - middles[bar]) for at in sources[bar]) + OVER))
        along, _ = turned((found[bar].x, found[bar].y), down=down)
        x, y = turned((along, middles[bar] - length / 2), down=down)
        longer[bar] = found[bar].model_copy(update={"x": x, "y": y, "height": length})
    return longer
