"""A drawing arranged from top to bottom: ports, lines and hands are turned with it, and one undo turns it back."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from PySide6.QtCore import QPointF, QRectF
from studio.document import commands
from studio.document.model import Place, Workflow
from studio.ui.canvas import CanvasView
from studio.ui.canvas.picking import pick
from tests.ui.canvas.drawings import research_brief, small
from tests.ui.canvas.hands import drag

Make = Callable[[Workflow], CanvasView]


@pytest.fixture
def brief(make_canvas: Make) -> CanvasView:
    view = make_canvas(research_brief())
    view.arrange("down")
    view.canvas_scene.flush()
    view.canvas_scene.line_layer.finish()
    return view


def rect_of(view: CanvasView, item: str) -> QRectF:
    return view.canvas_scene.items_by_id[item].rect


def test_lines_leave_at_the_bottom_and_arrive_on_top(brief: CanvasView) -> None:
    cards = {n.id for n in brief.workflow.nodes if n.kind != "join"}
    seen = 0
    for edge in brief.canvas_scene.line_layer.items.values():
        source, target = rect_of(brief, edge.line.source), rect_of(brief, edge.line.target)
        if edge.line.source in cards:
            assert edge.points[0] == (source.center().x(), source.bottom() + 6)
        if edge.line.target in cards:
            seen += 1
            assert edge.points[-1] == (target.center().x(), target.top() - 6)
            assert edge.points[-2][1] < edge.points[-1][1]
    assert seen >= 6


def test_lines_cross_no_card_and_follow_the_way_down_straight(brief: CanvasView) -> None:
    items = brief.canvas_scene.items_by_id
    for edge in brief.canvas_scene.line_layer.items.values():
        ends = {edge.line.source, edge.line.target}
        for (ax, ay), (bx, by) in itertools.pairwise(edge.points):
            assert ax == bx or ay == by
            part = QRectF(min(ax, bx), min(ay, by), abs(bx - ax) or 0.1, abs(by - ay) or 0.1)
            assert not [n.id for n in brief.workflow.nodes if n.id not in ends and items[n.id].rect.intersects(part)]
    into_join = [e for e in brief.canvas_scene.line_layer.items.values() if e.line.target == "join"]
    assert any(len(e.points) == 2 and e.points[0][0] == e.points[1][0] for e in into_join)


def test_one_undo_turns_everything_back(make_canvas: Make) -> None:
    view = make_canvas(research_brief())
    before = view.workflow
    lines = {i: e.points for i, e in view.canvas_scene.line_layer.items.items()}
    view.select(("writer",))
    view.select(())
    view.arrange("down")
    view.canvas_scene.flush()
    assert rect_of(view, "join").size().width() > 100 > rect_of(view, "join").height()
    assert view.workspace is not None
    stack = view.workspace.document.undo_stack
    assert stack.count() == 1
    stack.undo()
    view.canvas_scene.flush()
    assert view.workflow == before
    assert {i: e.points for i, e in view.canvas_scene.line_layer.items.items()} == lines


def test_an_edge_is_drawn_from_the_bottom_of_a_card_to_the_top_of_another(make_canvas: Make) -> None:
    workflow = small().model_copy(update={"flow": "down"})
    first, second = (n.id for n in workflow.nodes[:2])
    workflow = workflow.model_copy(update={"edges": (), "places": {first: Place(x=0, y=0), second: Place(x=40, y=200)}})
    view = make_canvas(workflow)
    assert pick(view.canvas_scene, view.far, QPointF(100, 64)).kind == "port_out"
    assert pick(view.canvas_scene, view.far, QPointF(140, 200)).kind == "port_in"
    drag(view, (100, 64), (140, 200))
    view.canvas_scene.flush()
    (edge,) = view.canvas_scene.line_layer.items.values()
    assert (edge.line.source, edge.line.target) == (first, second)
    assert (edge.points[0], edge.points[-1]) == ((100, 70), (140, 194))


def test_a_loop_and_a_way_back_run_beside_the_cards(make_canvas: Make) -> None:
    workflow = small().model_copy(update={"flow": "down"})
    first, second = (n.id for n in workflow.nodes[:2])
    places = {first: Place(x=0, y=0), second: Place(x=0, y=200)}
    workflow = workflow.model_copy(update={"edges": (), "places": places})
    for source, target in ((first, second), (second, first), (first, first)):
        edit = commands.connect(workflow, source, target)
        assert not hasattr(edit, "message")
        workflow = edit.apply(workflow).workflow  # type: ignore[union-attr]
    view = make_canvas(workflow)
    edges = {(e.line.source, e.line.target): e.points for e in view.canvas_scene.line_layer.items.values()}
    assert edges[first, second] == ((100, 70), (100, 194))
    assert max(x for x, _ in edges[second, first]) > 200
    assert max(x for x, _ in edges[first, first]) == 224


def test_everything_is_seen_after_it_was_arranged(make_canvas: Make) -> None:
    view = make_canvas(research_brief())
    view.motion = False
    view.arrange("down")
    view.canvas_scene.flush()
    assert view.seen_rect().contains(view.canvas_scene.bounds())


def test_what_is_added_to_a_card_stands_below_or_above_it(make_canvas: Make) -> None:
    workflow = small().model_copy(update={"flow": "down"})
    first = workflow.nodes[0].id
    lone = {"edges": (), "nodes": workflow.nodes[:1], "places": {first: Place(x=0, y=0)}, "start": first}
    view = make_canvas(workflow.model_copy(update=lone))
    after = view.add_connected("template", first)
    before = view.add_connected("template", first, backwards=True)
    assert after is not None
    assert before is not None
    places = view.workflow.places
    assert (places[after].x, places[after].y) == (0, 136)
    assert (places[before].x, places[before].y) == (0, -136)
    between = view.insert_after("agent", first)
    assert between is not None
    places = view.workflow.places
    assert (places[between].x, places[after].x) == (0, 0)
    assert places[first].y + 64 + 48 <= places[between].y
    assert places[between].y + 64 + 48 <= places[after].y
