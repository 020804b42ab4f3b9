"""What holds for every document that was drawn with commands, and for the canvas that shows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from studio.document.facts import edge_ends
from studio.document.ids import is_valid
from studio.document.lines import lines, pairs
from studio.document.model import FanInEdge, JoinNode, SwitchEdge, Workflow
from studio.ui.canvas import CanvasView
from studio.ui.canvas.area_items import FrameItem


def check_document(workflow: Workflow) -> None:
    """Ids unique, every mention leads to something, no edge twice, nothing half connected."""
    cases = [c.id for e in workflow.edges if isinstance(e, SwitchEdge) for c in e.cases]
    ids = [i.id for i in (*workflow.nodes, *workflow.edges, *workflow.notes, *workflow.groups)] + cases
    twice = [i for i, count in Counter(i.casefold() for i in ids).items() if count > 1]
    assert not twice, f"ids are there twice: {twice}"
    assert not (odd := [i for i in ids if not is_valid(i) and not i.isidentifier()]), f"ids without form: {odd}"
    nodes = {n.id for n in workflow.nodes}
    for edge in workflow.edges:
        gone = set(edge_ends(edge)) - nodes
        assert not gone, f"{edge.id} leads to {gone}"
        assert not set(getattr(edge, "selection", None) or {}) - set(getattr(edge, "targets", ())), edge.id
    counted = Counter((source, target) for source, target, _ in pairs(workflow))
    assert not (double := [ends for ends, n in counted.items() if n > 1]), f"two edges between {double}"
    joins = {n.id for n in workflow.nodes if isinstance(n, JoinNode)}
    beside = [e.id for e in workflow.edges if e.kind != "fan_in" and joins & set(_targets(e))]
    assert not beside, f"edges go past a barrier: {beside}"
    barriers = Counter(getattr(e, "target", "") for e in workflow.edges if e.kind == "fan_in")
    assert all(n == 1 for n in barriers.values()), f"two barriers before one bar: {barriers}"
    assert workflow.start is None or workflow.start in nodes
    for listed in (workflow.outputs, workflow.intermediate):
        assert not isinstance(listed, tuple) or (listed and set(listed) <= nodes), listed
    things = set(ids)
    drawn = things | {line.id for line in lines(workflow)}
    assert not (lost := set(workflow.places) - drawn), f"places of nothing: {lost}"
    for group in workflow.groups:
        assert set(group.members) <= things, f"{group.id} holds {set(group.members) - things}"
    assert set(workflow.offline.nodes) <= nodes


def _targets(edge: object) -> tuple[str, ...]:
    found = (getattr(edge, "target", None), getattr(edge, "default", None), *getattr(edge, "targets", ()))
    return tuple(t for t in (*found, *(c.target for c in getattr(edge, "cases", ()))) if isinstance(t, str))


def check_order(before: Workflow, after: Workflow, step: str) -> None:
    """Cases, and nodes and edges that stay, keep their order; only commands that say so change it."""
    for old in before.edges:
        new = after.edge(old.id)
        if step != "order_cases" and isinstance(old, SwitchEdge) and isinstance(new, SwitchEdge):
            assert _same_order([c.id for c in old.cases], [c.id for c in new.cases]), f"cases of {old.id}"
        if step != "order_sources" and isinstance(old, FanInEdge) and isinstance(new, FanInEdge):
            assert _same_order(old.sources, new.sources), f"sources of {old.id}"
    assert _same_order([n.id for n in before.nodes], [n.id for n in after.nodes]), "nodes changed their order"


def _same_order(before: Sequence[str], after: Sequence[str]) -> bool:
    return [i for i in before if i in after] == [i for i in after if i in before]


def check_canvas(view: CanvasView) -> None:
    """Every item and line of the document is drawn where it is, and nothing else."""
    scene = view.canvas_scene
    scene.flush()
    workflow = scene.workflow
    shown = scene.contents.by_id
    wanted = {i.id for i in (*workflow.nodes, *workflow.notes, *workflow.groups)}
    wanted |= {e.id for e in workflow.edges if e.kind in ("switch", "fan_out")}
    hidden = scene.contents.hidden
    closed = {g.id for g in workflow.groups if g.id in workflow.places and workflow.places[g.id].collapsed}
    assert set(hidden.values()) <= closed - hidden.keys()
    assert {m for g in workflow.groups if g.id in closed for m in g.members} - closed <= hidden.keys()
    wanted -= hidden.keys()
    assert set(shown) == wanted
    assert set(scene.items_by_id) == wanted
    assert all(item.scene() is scene and item.item_id == i for i, item in scene.items_by_id.items())
    for item_id, item in scene.items_by_id.items():
        place = workflow.places.get(item_id)
        if place is not None and not isinstance(item, FrameItem):
            assert (item.x(), item.y()) == (place.x, place.y), item_id
    led = [
        replace(line, source=hidden.get(line.source, line.source), target=hidden.get(line.target, line.target))
        for line in lines(workflow)
    ]
    inside = set(hidden.values())
    drawn = {line.id: line for line in led if line.source != line.target or line.source not in inside}
    layer = scene.line_layer
    assert set(layer.items) == set(drawn)
    for line_id, edge in layer.items.items():
        assert edge.line == drawn[line_id]
        first, last = scene.items_by_id[edge.line.source].rect, scene.items_by_id[edge.line.target].rect
        for (x, y), rect in ((edge.points[0], first), (edge.points[-1], last)):
            assert rect.adjusted(-12, -12, 12, 12).contains(x, y), f"{line_id} does not reach its end"
    assert {i for i, _ in layer.chips} <= set(drawn)
