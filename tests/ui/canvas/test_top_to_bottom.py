"""A drawing arranged from top to bottom: ports, lines and hands are turned with it, and one undo turns it back."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from PySide6.QtCore import QPointF, QRectF, Qt
from studio.document import commands
from studio.document.model import Place, Workflow
from studio.ui.canvas import CanvasView
from studio.ui.canvas.gestures.gesture import Pointer
from studio.ui.canvas.gestures.place import PlaceGesture
from studio.ui.canvas.node_item import NodeItem
from studio.ui.canvas.picking import pick
from studio.ui.canvas.ready import room_for
from tests.ui.canvas.drawings import research_brief, small
from tests.ui.canvas.hands import drag, key, move, press, release

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


def pair(make_canvas: Make, gap: float = 200) -> tuple[CanvasView, str, str]:
    """Two connected cards below each other."""
    workflow = small().model_copy(update={"flow": "down"})
    first, second = (n.id for n in workflow.nodes[:2])
    places = {first: Place(x=0, y=0), second: Place(x=0, y=64 + gap)}
    view = make_canvas(workflow.model_copy(update={"edges": (), "places": places}))
    assert view.connect_items(first, second)
    return view, first, second


def test_dragged_things_line_up_by_the_ports_on_top(make_canvas: Make) -> None:
    view, first, _ = pair(make_canvas)
    bar = view.add_node("fan_out", QPointF(300, 100))
    assert bar is not None
    assert rect_of(view, bar).size().toTuple() == (64, 8)
    press(view, 304, 104)
    move(view, 200, 104)
    move(view, 75, 124)
    assert rect_of(view, bar).center().x() == rect_of(view, first).center().x() == 100
    release(view, 75, 124)
    assert view.workflow.places[bar].x == 68
    wide = view.add_node("agent", QPointF(300, 100))
    drag(view, (500, 145), (546, 145))
    assert wide is not None
    place = view.workflow.places[wide]
    assert (place.x, place.width) == (252, 296)
    drag(view, (548, 145), (900, 145))
    assert (view.workflow.places[wide].x, view.workflow.places[wide].width) == (244, 312)


def test_what_is_put_down_is_shown_as_it_will_be_in_line_with_what_is_there(make_canvas: Make) -> None:
    view, first, second = pair(make_canvas)
    view.begin(PlaceGesture(view, "join"), Pointer(QPointF(500, 160), QPointF()))
    preview = view.gesture
    assert isinstance(preview, PlaceGesture)
    assert preview._item.box.size().toTuple() == (188, 8)
    view.end(Pointer(QPointF(103, 420), QPointF()))
    join = view.selection_items[0]
    assert rect_of(view, join).center().x() == 100
    view.begin(PlaceGesture(view, "agent"), Pointer(QPointF(500, 160), QPointF()))
    view.end(Pointer(QPointF(112, 164), QPointF()))
    agent = view.selection_items[0]
    assert view.workflow.places[agent].x == 0
    ends = {(e.line.source, e.line.target) for e in view.canvas_scene.line_layer.items.values()}
    assert ends == {(first, agent), (agent, second)}
    assert room_for("sequential", "down") == (240, 400)


def test_an_edge_dropped_on_nothing_gets_its_node_at_the_port(make_canvas: Make) -> None:
    view, first, second = pair(make_canvas)
    after = view.add_connected("agent", second, QPointF(300, 424))
    before = view.add_connected("agent", first, QPointF(300, -80), backwards=True)
    places = view.workflow.places
    assert after is not None
    assert before is not None
    assert (places[after].x, places[after].y) == (200, 424)
    assert (places[before].x, places[before].y) == (200, -144)


def test_arrows_up_and_down_follow_the_edges(make_canvas: Make) -> None:
    view, first, second = pair(make_canvas)
    beside = view.add_node("agent", QPointF(240, 90))
    view.setFocus()
    view.set_focus(first)
    key(view, Qt.Key.Key_Down)
    assert view.canvas_scene.focus_id == second
    key(view, Qt.Key.Key_Up)
    assert view.canvas_scene.focus_id == first
    key(view, Qt.Key.Key_Right)
    assert view.canvas_scene.focus_id == beside


def test_badges_leave_the_port_on_top_free(make_canvas: Make) -> None:
    view, first, _ = pair(make_canvas)
    view.set_start(first)
    view.set_output(first, True)
    item = view.canvas_scene.items_by_id[first]
    assert isinstance(item, NodeItem)
    view.grab()
    spans = [(left, left + chip.width) for left, chip in item._badges]
    assert len(spans) >= 2
    assert all(right <= 91 or left >= 109 for left, right in spans), spans


def test_without_room_for_an_inserted_node_what_follows_moves_down(make_canvas: Make) -> None:
    view, first, second = pair(make_canvas, gap=24)
    between = view.insert_after("agent", first)
    assert between is not None
    places = view.workflow.places
    assert {places[i].x for i in (first, between, second)} == {0}
    assert [places[i].y for i in (first, between, second)] == [0, 112, 224]
