"""Lining up, bends, the knife, taking out of the wire, inserting with room, frames and collapsed frames, by hand."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from studio.document.bends import bends_of
from studio.document.lines import lines
from studio.document.model import AgentNode, DirectEdge, FunctionNode, Place, SubWorkflowNode, Workflow
from studio.files import write_workflow
from studio.ui.canvas import CanvasView, routing
from studio.ui.canvas.group_card import GroupCard
from studio.ui.canvas.picking import Hit
from tests.ui.canvas.drawings import large, research_brief
from tests.ui.canvas.fake_run import FakeRun
from tests.ui.canvas.hands import click, drag, key, move, point, press, release

Make = Callable[[Workflow], CanvasView]
K = Qt.Key
SHIFT, CTRL, ALT = (
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.AltModifier,
)


def chain() -> Workflow:
    """a → b → c in a row, and d alone below."""
    nodes = tuple(AgentNode(id=i, name=i.upper(), model="m") for i in "abcd")
    edges = tuple(DirectEdge(id=f"{s}{t}", source=s, target=t) for s, t in ("ab", "bc"))
    places = {"a": Place(x=0, y=0), "b": Place(x=280, y=0), "c": Place(x=560, y=0), "d": Place(x=100, y=200)}
    return Workflow(id="chain", start="a", nodes=nodes, edges=edges, places=places)


def workflow_of(view: CanvasView) -> Workflow:
    return view.workflow


def ends(view: CanvasView) -> set[tuple[str, str]]:
    return {(ln.source, ln.target) for ln in lines(view.workflow)}


def steps(view: CanvasView) -> int:
    assert view.workspace is not None
    return view.workspace.document.undo_stack.count()


def undo(view: CanvasView) -> None:
    assert view.workspace is not None
    view.workspace.document.undo_stack.undo()
    view.canvas_scene.flush()


def double_click(view: CanvasView, x: float, y: float) -> None:
    click(view, x, y)
    QTest.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, point(view, x, y))


# ---------------------------------------------------------------------------------------- selecting


def test_selecting_along_edges_with_keys(make_canvas: Make) -> None:
    view = make_canvas(chain())
    view.select(("b",))
    QTest.keyClick(view, K.Key_BraceLeft, SHIFT)
    assert set(view.selection_items) == {"a", "b"}
    view.select(("b",))
    QTest.keyClick(view, K.Key_BraceRight, SHIFT)
    assert set(view.selection_items) == {"b", "c"}
    view.select(("b",))
    view.select_connected()
    assert set(view.selection_items) == {"a", "b", "c"}


def test_ctrl_click_twice_also_selects_what_leads_there(make_canvas: Make) -> None:
    view = make_canvas(chain())
    click(view, 380, 45, CTRL)
    assert set(view.selection_items) == {"b", "c"}
    click(view, 380, 45, CTRL)
    assert set(view.selection_items) == {"a", "b", "c"}


# --------------------------------------------------------------------------------- align, distribute


def test_l_and_an_arrow_align_in_one_step(make_canvas: Make) -> None:
    view = make_canvas(chain())
    view.select(("b", "d"))
    key(view, K.Key_L)
    key(view, K.Key_Left)
    assert workflow_of(view).places["b"].x == workflow_of(view).places["d"].x == 100
    assert steps(view) == 1
    undo(view)
    assert workflow_of(view).places["b"].x == 280


def test_l_and_shift_arrow_distribute(make_canvas: Make) -> None:
    view = make_canvas(chain())
    assert view.workspace is not None
    view.select(("a", "b", "c"))
    from studio.document.edits import SetPlaces

    view.execute(SetPlaces({"b": Place(x=220, y=0)}), "Move")
    key(view, K.Key_L)
    QTest.keyClick(view, K.Key_Right, SHIFT)
    assert workflow_of(view).places["b"].x == 280


def test_l_and_escape_or_another_key_changes_nothing(make_canvas: Make) -> None:
    view = make_canvas(chain())
    view.select(("b", "d"))
    key(view, K.Key_L)
    key(view, K.Key_Escape)
    assert view.selection_items == ("b", "d")
    key(view, K.Key_Left)
    assert steps(view) == 0


# ------------------------------------------------------------------------------------------- bends


def test_a_double_click_on_an_edge_adds_a_bend_that_can_be_dragged_and_removed(make_canvas: Make) -> None:
    view = make_canvas(chain())
    double_click(view, 240, 32)
    assert bends_of(view.workflow, "ab") == ((240, 32),)
    assert view.pick(QPointF(240, 32)) == Hit("bend", "ab")
    drag(view, (240, 32), (240, 120))
    assert bends_of(view.workflow, "ab") == ((240, 120),)
    edge = view.canvas_scene.line_layer.items["ab"]
    assert (240, 120) in edge.points
    assert steps(view) == 2
    double_click(view, 240, 120)
    assert bends_of(view.workflow, "ab") == ()
    assert edge.points == ((206, 32), (274, 32))
    for _ in range(3):
        undo(view)
    assert "ab" not in view.workflow.places


def test_a_cancelled_bend_goes_back(make_canvas: Make) -> None:
    view = make_canvas(chain())
    view.add_bend("ab", QPointF(240, 32))
    before = view.canvas_scene.line_layer.items["ab"].points
    press(view, 240, 32)
    move(view, 240, 90)
    move(view, 240, 150)
    key(view, K.Key_Escape)
    assert view.canvas_scene.line_layer.items["ab"].points == before
    assert steps(view) == 1


def test_a_second_bend_comes_where_the_line_was_clicked(make_canvas: Make) -> None:
    view = make_canvas(chain())
    view.add_bend("ab", QPointF(256, 32))
    view.add_bend("ab", QPointF(224, 32))
    assert [x for x, _ in bends_of(view.workflow, "ab")] == [224, 256]


def test_bends_move_with_both_ends(make_canvas: Make) -> None:
    view = make_canvas(chain())
    view.add_bend("ab", QPointF(240, 96))
    view.select(("a", "b"))
    drag(view, (100, 45), (180, 125))
    assert bends_of(view.workflow, "ab") == ((320, 176),)


@pytest.mark.parametrize("bends", [[(60, 50)], [(-50, 80)], [(60, -40), (10, 90)], [(300, 0)], [(-40, 0), (200, 0)]])
@pytest.mark.parametrize("end", [(120, 0), (120, 70), (-200, 0), (-200, 90)])
@pytest.mark.parametrize("side", ["right", "bottom"])
def test_a_bent_route_is_level_and_upright_passes_its_bends_and_arrives_from_the_left(
    side: str, end: tuple[float, float], bends: list[tuple[float, float]]
) -> None:
    start = routing.End(0, 0, side, 0)  # type: ignore[arg-type]
    points = routing.through(start, routing.End(*end, "left", 6), bends)
    assert points[0] == (0, 0)
    assert points[-1] == (end[0] - 6, end[1])
    assert all(a[0] == b[0] or a[1] == b[1] for a, b in pairwise(points)), points
    assert points[-2][0] < points[-1][0]
    for x, y in bends:
        assert routing.distance(points, x, y) == 0


# ------------------------------------------------------------------------------------------- knife


def test_ctrl_drag_on_empty_canvas_cuts_every_edge_it_crosses(make_canvas: Make) -> None:
    view = make_canvas(chain())
    press(view, 240, -40, CTRL)
    for x, y in ((240, -20), (240, 90), (520, 90), (520, -20)):
        move(view, x, y, CTRL)
    assert view.canvas_scene.line_layer.items["ab"].opacity() < 1
    release(view, 520, -20, CTRL)
    assert ends(view) == set()
    assert steps(view) == 1
    assert view.workspace is not None
    assert view.workspace.document.undo_stack.undoText() == "Cut 2 edges"


def test_a_cancelled_knife_leaves_no_trace(make_canvas: Make) -> None:
    view = make_canvas(chain())
    items = len(view.canvas_scene.items())
    press(view, 240, -40, CTRL)
    move(view, 240, 0, CTRL)
    move(view, 240, 90, CTRL)
    key(view, K.Key_Escape)
    assert ends(view) == {("a", "b"), ("b", "c")}
    assert view.canvas_scene.line_layer.items["ab"].opacity() == 1
    assert len(view.canvas_scene.items()) == items


# --------------------------------------------------------------------------------- wires and inserting


def test_alt_drag_takes_a_node_out_of_the_wire(make_canvas: Make) -> None:
    view = make_canvas(chain())
    drag(view, (380, 45), (380, 205), ALT)
    assert ends(view) == {("a", "c")}
    assert workflow_of(view).places["b"].y == 160
    assert steps(view) == 1
    undo(view)
    assert ends(view) == {("a", "b"), ("b", "c")}


def test_alt_drag_that_is_cancelled_keeps_the_wire(make_canvas: Make) -> None:
    view = make_canvas(chain())
    press(view, 380, 45, ALT)
    move(view, 380, 100, ALT)
    move(view, 380, 205, ALT)
    key(view, K.Key_Escape)
    assert ends(view) == {("a", "b"), ("b", "c")}
    assert view.canvas_scene.line_layer.items["ab"].opacity() == 1


def test_a_node_dropped_on_an_edge_pushes_what_follows_aside(make_canvas: Make) -> None:
    view = make_canvas(chain())
    drag(view, (200, 245), (240, 45))
    assert ends(view) == {("a", "d"), ("d", "b"), ("b", "c")}
    x = {i: p.x for i, p in workflow_of(view).places.items()}
    assert x["d"] >= x["a"] + 248
    assert x["b"] >= x["d"] + 248
    assert x["c"] - x["b"] == 280
    assert steps(view) == 1


def test_ctrl_delete_joins_the_neighbours(make_canvas: Make) -> None:
    view = make_canvas(chain())
    view.select(("b",))
    QTest.keyClick(view, K.Key_Delete, CTRL)
    assert ends(view) == {("a", "c")}
    assert view.workflow.node("b") is None


def test_shift_d_and_ctrl_shift_v_keep_outer_edges(make_canvas: Make) -> None:
    view = make_canvas(chain())
    view.select(("b",))
    QTest.keyClick(view, K.Key_D, SHIFT)
    (copy,) = view.selection_items
    assert {("a", copy), (copy, "c")} <= ends(view)
    view.select(("b",))
    view.copy_selection()
    QTest.keyClick(view, K.Key_V, CTRL | SHIFT)
    (pasted,) = view.selection_items
    assert {("a", pasted), (pasted, "c")} <= ends(view)
    QGuiApplication.clipboard().clear()


# ------------------------------------------------------------------------------------------- frames


def test_f_frames_and_takes_the_frame_away_again(make_canvas: Make) -> None:
    view = make_canvas(chain())
    view.select(("a", "b"))
    key(view, K.Key_F)
    (group,) = view.workflow.groups
    assert group.members == ("a", "b")
    assert view.selection_items == (group.id,)
    key(view, K.Key_F)
    assert not view.workflow.groups
    assert set(view.selection_items) == {"a", "b"}
    assert steps(view) == 2


def collapsed(view: CanvasView) -> str:
    view.select(("a", "b"))
    key(view, K.Key_F)
    key(view, K.Key_H)
    return view.workflow.groups[0].id


def test_h_collapses_a_frame_to_one_card_and_opens_it(make_canvas: Make) -> None:
    view = make_canvas(chain())
    group = collapsed(view)
    scene = view.canvas_scene
    assert set(scene.items_by_id) == {group, "c", "d"}
    card = scene.items_by_id[group]
    assert isinstance(card, GroupCard)
    assert card.card.subtitle == "2 nodes"
    assert {i: e.ends for i, e in scene.line_layer.items.items()} == {"bc": (group, "c")}
    key(view, K.Key_H)
    assert set(scene.items_by_id) == {group, "a", "b", "c", "d"}
    assert {i: e.ends for i, e in scene.line_layer.items.items()} == {"ab": ("a", "b"), "bc": ("b", "c")}


def test_a_collapsed_card_moves_its_members_and_shows_their_state(make_canvas: Make) -> None:
    from studio.bridge.run_views import NodeView, RunUpdate

    view = make_canvas(chain())
    group = collapsed(view)
    box = view.canvas_scene.items_by_id[group].rect
    before = view.workflow.places["a"]
    drag(view, (box.x() + 80, box.y() + 50), (box.x() + 160, box.y() + 210))
    after = view.workflow.places["a"]
    moved = view.workflow.places[group].y - (box.y())
    assert moved > 100
    assert after.y - before.y == moved
    assert view.workspace is not None
    run = view.workspace.run
    assert isinstance(run, FakeRun)
    run.nodes = {"b": NodeView("b", status="failed")}
    run.updated.emit(RunUpdate(nodes=frozenset({"b"})))
    view.canvas_scene.flush()
    card = view.canvas_scene.items_by_id[group]
    assert isinstance(card, GroupCard)
    assert card.card.status == "failed"


def test_deleting_a_collapsed_card_deletes_what_it_stands_for(make_canvas: Make) -> None:
    view = make_canvas(chain())
    collapsed(view)
    key(view, K.Key_Delete)
    assert {n.id for n in view.workflow.nodes} == {"c", "d"}
    assert not view.workflow.groups
    undo(view)
    assert len(view.workflow.nodes) == 4


def test_revealing_a_hidden_node_shows_its_card(make_canvas: Make) -> None:
    view = make_canvas(chain())
    group = collapsed(view)
    view.look_at(QPointF(5000, 5000))
    assert view.workspace is not None
    view.workspace.selection.reveal("a")
    assert view.seen_rect().intersects(view.canvas_scene.items_by_id[group].rect)


def test_arranging_keeps_frames_around_their_members(make_canvas: Make) -> None:
    view = make_canvas(research_brief())
    view.select(("writer", "publisher"))
    key(view, K.Key_F)
    view.select(())
    view.arrange()
    group = next(g for g in view.workflow.groups if g.kind == "frame")
    frame = view.canvas_scene.items_by_id[group.id].rect
    assert all(frame.contains(view.canvas_scene.items_by_id[m].rect) for m in group.members)


# ------------------------------------------------------------------------------------ workflows inside


def test_extract_and_put_back_from_the_canvas(make_canvas: Make) -> None:
    start = chain()
    code = FunctionNode(id="b", name="B", body="result = data")
    start = start.model_copy(update={"nodes": tuple(code if n.id == "b" else n for n in start.nodes)})
    view = make_canvas(start)
    view.select(("b",))
    view.extract_selection()
    (node,) = view.selection_items
    assert ends(view) == {("a", node), (node, "c")}
    assert steps(view) == 1
    view.inline(node)
    assert {n.name for n in view.workflow.nodes} == {"A", "B", "C", "D"}
    assert len(view.selection_items) == 1
    assert steps(view) == 2
    undo(view)
    undo(view)
    assert view.workflow == start


def test_what_cannot_be_extracted_is_told(make_canvas: Make) -> None:
    view = make_canvas(chain())
    told: list[str] = []
    view.message_shown.connect(told.append)
    view.select(("a", "c"))
    view.extract_selection()
    assert steps(view) == 0
    assert len(told) == 1
    assert told[0].endswith(".")


def test_a_frame_around_everything_gives_all_lines_back_when_it_is_opened(make_canvas: Make) -> None:
    view = make_canvas(chain())
    view.select_all()
    view.toggle_frame()
    view.toggle_collapsed()
    view.canvas_scene.flush()
    assert not view.canvas_scene.line_layer.items
    undo(view)
    assert set(view.canvas_scene.line_layer.items) == {"ab", "bc"}
    for count in (0, 2):
        view.toggle_collapsed()
        view.canvas_scene.flush()
        assert len(view.canvas_scene.line_layer.items) == count


def test_a_frame_is_around_what_a_file_gives_no_place_too(make_canvas: Make) -> None:
    places = {"a": Place(x=0, y=0), "b": Place(x=280, y=0), "c": Place(x=560, y=0)}
    view = make_canvas(chain().model_copy(update={"places": places}))
    view.select(("c", "d"))
    view.toggle_frame()
    view.canvas_scene.flush()
    items = view.canvas_scene.items_by_id
    assert items["frame"].rect.contains(items["c"].rect)
    assert items["frame"].rect.contains(items["d"].rect)


def test_a_link_becomes_a_copy(make_canvas: Make, tmp_path: Path) -> None:
    write_workflow(chain(), tmp_path / "inner.workflow.json")
    node = SubWorkflowNode(id="s", name="S", path="inner.workflow.json")
    view = make_canvas(Workflow(id="outer", start="s", nodes=(node,), places={"s": Place(x=0, y=0)}))
    told: list[str] = []
    view.message_shown.connect(told.append)
    view.embed_copy("s")
    assert "Save this workflow first" in told[0]
    assert view.workspace is not None
    view.workspace.document.mark_saved(tmp_path / "outer.workflow.json")
    view.embed_copy("s")
    now = view.workflow.node("s")
    assert isinstance(now, SubWorkflowNode)
    assert now.path is None
    assert now.embedded == chain()


def test_a_line_between_dragged_items_knows_where_it_is(make_canvas: Make) -> None:
    view = make_canvas(chain())
    view.select(("a", "b"))
    drag(view, (100, 45), (180, 125))
    edge = view.canvas_scene.line_layer.items["ab"]
    assert edge.points == ((286, 112), (354, 112))
    undo(view)
    assert edge.points == ((206, 32), (274, 32))


def test_lines_out_of_sight_are_drawn_as_selected_soon(make_canvas: Make) -> None:
    view = make_canvas(large(400))
    view.canvas_scene.line_layer.finish()
    view.select_all()
    layer = view.canvas_scene.line_layer
    seen = view.canvas_scene.seen
    assert all(item.selected for item in view.canvas_scene.items_by_id.values() if seen.intersects(item.rect))
    view.canvas_scene.marking.finish()
    assert all(edge.selected for edge in layer.items.values())
    layer.finish()
    accent = view.canvas_scene.look.ink.brush("accent")
    assert {edge.brush().color().name() for edge in layer.items.values()} == {accent.color().name()}
    view.select(())
    view.canvas_scene.marking.finish()
    layer.finish()
    assert not any(edge.selected for edge in layer.items.values())
    assert accent.color().name() not in {edge.brush().color().name() for edge in layer.items.values()}


def test_a_collapsed_group_is_copied_with_what_it_hides_and_opened_by_a_double_click(make_canvas: Make) -> None:
    view = make_canvas(chain())
    view.select(("a", "b"))
    view.toggle_frame()
    view.toggle_collapsed()
    group = view.workflow.groups[0]
    assert group.name == "Frame"
    card = view.canvas_scene.items_by_id[group.id].rect
    at = (card.center().x(), card.center().y())
    press(view, *at)
    move(view, at[0], at[1] + 160, CTRL)
    release(view, at[0], at[1] + 160, CTRL)
    copy = view.workflow.groups[1]
    assert [view.workflow.node(m).name for m in copy.members] == ["A 2", "B 2"]  # type: ignore[union-attr]
    left = {m: (view.workflow.places[m].x, view.workflow.places[m].y) for m in copy.members}
    assert list(left.values()) == [(0, 0), (280, 0)], "the copy stays, the original went"
    view.delete_ids(["bc"])  # no edge leads out of the group
    here = view.canvas_scene.items_by_id[group.id].rect.center()
    double_click(view, here.x(), here.y())
    assert "ab" in view.canvas_scene.line_layer.items, "edges inside are there again"
    assert not isinstance(view.canvas_scene.items_by_id[group.id], GroupCard)
