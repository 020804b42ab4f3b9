"""Patterns of the palette: dropped as ready groups that are in order."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest
from studio.document.model import Workflow
from studio.document.ready_groups import PATTERNS, add_ready_group
from studio.document.validate import problems
from studio.files.format import dumps
from studio.ui.canvas import CanvasView
from studio.ui.canvas.area_items import FrameItem
from studio.ui.canvas.gestures import PlaceGesture, Pointer
from studio.ui.canvas.prompts import kinds
from studio.ui.canvas.ready import ready_group, room_for
from tests.fuzz.invariants import check_canvas
from tests.ui.canvas.drawings import small

Make = Callable[[Workflow], CanvasView]


@pytest.mark.parametrize("kind", PATTERNS)
def test_a_pattern_in_an_empty_document_is_in_order_and_one_step(make_canvas: Make, kind: str) -> None:
    view = make_canvas(Workflow(id="w", name="Empty"))
    before = dumps(view.workflow)
    group = view.add_node(kind, QPointF(80, 48))
    now, ready = view.workflow, ready_group(kind)
    assert not [p for p in problems(now) if p.severity == "error"]
    assert len(now.nodes) == len(ready.nodes)
    assert len(now.edges) == len(ready.edges)
    assert now.start is not None
    assert isinstance(now.outputs, tuple)
    assert set(now.outputs) <= {n.id for n in now.nodes}
    assert now.offline.nodes.keys() == ready.offline.nodes.keys()
    assert [(g.id, g.kind, len(g.members)) for g in now.groups] == [(group, kind, len(view.workflow.groups[0].members))]
    frame = view.canvas_scene.items_by_id[str(group)]
    assert isinstance(frame, FrameItem)
    assert (frame.x(), frame.y()) == (80, 48)
    frame.show_frame("<b>A\nname</b> " * 40, "frame", "2 of 3", (), frame.rect)
    assert frame._title_width <= frame.rect.width() - 26
    assert (frame._title.textFormat(), frame._detail.text()) == (Qt.TextFormat.PlainText, "")
    for item_id, item in view.canvas_scene.items_by_id.items():
        assert frame.rect.contains(item.rect), item_id
    assert view.selection_items == (group,)
    check_canvas(view)
    assert view.workspace is not None
    stack = view.workspace.document.undo_stack
    assert stack.count() == 1
    stack.undo()
    assert dumps(view.workflow) == before


@pytest.mark.parametrize("kind", PATTERNS)
def test_a_pattern_beside_other_nodes_leaves_them_alone(make_canvas: Make, kind: str) -> None:
    view = make_canvas(small())
    start, outputs = view.workflow.start, view.workflow.outputs
    old = {n.id: n for n in view.workflow.nodes}
    first, second = view.add_node(kind), view.add_node(kind)
    now = view.workflow
    assert first != second
    assert now.start == start
    assert now.outputs == outputs
    assert {i: n for n in now.nodes if (i := n.id) in old} == old
    assert len({n.name for n in now.nodes}) == len(now.nodes)
    assert not [p for p in problems(now) if p.severity == "error" and p.place not in old]
    boxes = [view.canvas_scene.items_by_id[str(i)].rect for i in (first, second)]
    assert not boxes[0].intersects(boxes[1])


def test_named_outputs_get_those_of_the_pattern_too() -> None:
    listed = small().model_copy(update={"outputs": ("b",)})
    edit, _ = add_ready_group(listed, ready_group("sequential"), "sequential", listed.places["a"])
    assert edit.apply(listed).workflow.outputs == ("b", "translator")


def test_dragging_shows_the_frame_and_drops_it_there(make_canvas: Make) -> None:
    view = make_canvas(Workflow(id="w"))
    room = room_for("concurrent")
    view.begin(PlaceGesture(view, "concurrent"), Pointer(QPointF(600, 400), QPointF()))
    preview = next(i for i in view.canvas_scene.items() if isinstance(i, FrameItem))
    assert (preview.box.width(), preview.box.height()) == room
    view.end(Pointer(QPointF(640, 400), QPointF()))
    frame = view.canvas_scene.items_by_id[view.selection_items[0]]
    assert abs(frame.rect.center().x() - 640) <= 8
    assert abs(frame.rect.center().y() - 400) <= 8


def test_the_search_finds_patterns_and_offers_none_on_a_line(make_canvas: Make) -> None:
    view = make_canvas(small())
    view.open_search(QPointF(300, 300))
    QTest.keyClicks(view.prompts.popup.field, "group chat")
    QTest.keyClick(view.prompts.popup.field, Qt.Key.Key_Return)
    assert [g.kind for g in view.workflow.groups] == ["group_chat"]
    assert not {e.key for e in kinds(view.workflow, "a")} & set(PATTERNS)
