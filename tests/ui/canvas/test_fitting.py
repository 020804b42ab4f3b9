"""What is in view: after opening, when the view gets its size, after a recovery, when a run needs room."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot
from studio.document.conditions import Condition
from studio.document.edits import ReplaceAll
from studio.document.model import AgentNode, Note, Place, SwitchCase, SwitchEdge, Workflow
from studio.ui.canvas import CanvasView
from studio.ui.canvas.area_items import NoteItem
from studio.ui.canvas.node_item import NodeItem
from tests.ui.canvas.drawings import large, research_brief, small

Make = Callable[[Workflow], CanvasView]


def sees_all(view: CanvasView) -> bool:
    return view.seen_rect().contains(view.canvas_scene.bounds())


def opened(view: CanvasView) -> CanvasView:
    """As after opening: fitted, not touched yet."""
    view.show_all()
    return view


@pytest.mark.parametrize("size", [(420, 330), (1500, 900), (900, 260)])
def test_an_opened_drawing_stays_whole_while_the_window_is_built(make_canvas: Make, size: tuple[int, int]) -> None:
    view = opened(make_canvas(research_brief()))
    view.resize(*size)
    assert sees_all(view)


def test_what_was_moved_or_edited_is_not_fitted_again(make_canvas: Make) -> None:
    view = opened(make_canvas(research_brief()))
    view.set_zoom(0.9)
    view.resize(500, 300)
    assert view.zoom == pytest.approx(0.9)
    edited = opened(make_canvas(small()))
    before = edited.zoom
    edited.add_node("agent", QPointF(2000, 2000))
    edited.resize(500, 300)
    assert edited.zoom == before


def test_a_recovered_drawing_is_in_view(make_canvas: Make) -> None:
    view = make_canvas(Workflow(id="lost"))
    assert view.workspace is not None
    far = research_brief().model_copy(update={"id": "lost"})
    far = far.model_copy(
        update={"places": {i: p.model_copy(update={"x": p.x + 9000.0}) for i, p in far.places.items()}}
    )
    view.workspace.document.execute(ReplaceAll(far), "Recover unsaved work")
    view.canvas_scene.flush()
    assert sees_all(view)
    view.resize(700, 400)
    assert sees_all(view)


@pytest.mark.parametrize("size", [(1000, 700), (700, 420), (1400, 500)])
def test_the_minimap_covers_nothing_after_fitting(make_canvas: Make, size: tuple[int, int]) -> None:
    view = opened(make_canvas(research_brief()))
    view.resize(*size)
    view.show_all()
    assert view.overlays.map.isVisible()
    over = QRectF(view.overlays.map.geometry())
    for item in view.canvas_scene.items_by_id.values():
        assert not over.intersects(view.viewportTransform().mapRect(item.rect))


def test_a_thousand_nodes_fit(make_canvas: Make) -> None:
    view = opened(make_canvas(large(1000)))
    view.resize(700, 300)
    assert sees_all(view)
    assert view.zoom < 0.05


def test_the_minimap_shows_a_thousand_nodes(make_canvas: Make, qtbot: QtBot) -> None:
    view = opened(make_canvas(large(1000)))
    shown = view.overlays.map
    qtbot.waitUntil(lambda: not shown._around.isNull())
    image = QImage(shown.size(), QImage.Format.Format_RGB32)
    shown.render(image)
    plain = view.theme.color("raised").rgb()
    inner = shown.box.adjusted(10, 10, -10, -10).toRect()
    cells = [(x, y) for x in range(inner.left(), inner.right()) for y in range(inner.top(), inner.bottom())]
    marked = sum(abs((image.pixel(x, y) & 255) - (plain & 255)) > 12 for x, y in cells)
    assert marked > 100


def test_a_run_in_a_small_window_stays_readable(make_canvas: Make) -> None:
    view = opened(make_canvas(research_brief()))
    assert view.workspace is not None
    view.workspace.selection.select(("planner",))
    view.resize(480, 250)
    assert view.zoom < 0.45
    view.show_readable()
    assert view.zoom >= 0.6
    assert view.seen_rect().contains(view.canvas_scene.bounds(("planner",)))
    here = view.seen_rect().center()
    view.show_readable()
    assert view.seen_rect().center() == here, "what is in view is not moved"


@pytest.mark.parametrize("zoom", [0.62, 0.7, 1.0])
def test_a_note_can_be_read_down_to_60_per_cent(make_canvas: Make, zoom: float) -> None:
    def picture(text: str) -> QImage:
        note = Note(id="n", text=text)
        view = make_canvas(Workflow(id="notes", notes=(note,), places={"n": Place(x=0, y=0)}))
        assert isinstance(view.canvas_scene.items_by_id["n"], NoteItem)
        view.set_zoom(zoom)
        view.look_at(QPointF(80, 40))
        return view.viewport().grab().toImage()

    assert picture("Some words") != picture("")


def test_the_first_node_stays_where_it_was_dropped(make_canvas: Make) -> None:
    view = make_canvas(Workflow(id="empty"))
    view.show_all()
    where = view.viewport().mapToGlobal(QPointF(300, 300)).toPoint()
    assert view.preview_node("agent", where)
    assert view.drop_node("agent", where)
    view.canvas_scene.flush()
    (item,) = view.canvas_scene.items_by_id.values()
    at = view.viewportTransform().map(item.rect.center())
    assert abs(at.x() - 300) <= 16
    assert abs(at.y() - 300) <= 16


@pytest.mark.parametrize("zoom", [0.62, 1.0])
def test_the_wait_chip_leaves_the_badges_free(make_canvas: Make, zoom: float) -> None:
    view = make_canvas(research_brief())
    view.set_zoom(zoom)
    found = 0
    for item in view.canvas_scene.items_by_id.values():
        if isinstance(item, NodeItem):
            item.show_card(replace(item.card, note="next: superstep 12"), item.width)
            item._lay_out()
            assert item.note_rect.right() < item.badges_left
            assert item.boundingRect().contains(item.note_rect)
            found += bool(item.card.badges)
    assert found


def test_labels_of_a_switch_hide_no_card_no_head_and_not_each_other(make_canvas: Make) -> None:
    ends = {"a": Place(x=0, y=0), "b": Place(x=330, y=-60), "c": Place(x=330, y=60)}
    nodes = tuple(AgentNode(id=i, name=i.upper()) for i in ends)
    condition = Condition(kind="expression", expression="True")
    cases = (SwitchCase(id="k", condition=condition, target="b", label="needs a second look"),)
    switch = SwitchEdge(id="s", source="a", cases=cases, default="c", default_label="everything else")
    places = {**ends, "s": Place(x=240, y=12)}
    view = make_canvas(Workflow(id="w", nodes=nodes, edges=(switch,), places=places, start="a"))
    view.set_zoom(0.65)
    view.canvas_scene.line_layer.labels.place()
    layer = view.canvas_scene.line_layer
    labels = [layer.chips[i, False].rect for i in ("k", "s:default")]
    assert not labels[0].intersects(labels[1])
    for rect, line in zip(labels, ("k", "s:default"), strict=True):
        assert not any(rect.intersects(item.rect) for item in view.canvas_scene.items_by_id.values())
        head = layer.items[line].points[-1]
        assert not rect.contains(QPointF(*head))


def test_in_a_narrow_view_the_minimap_hides_no_tool(make_canvas: Make) -> None:
    view = opened(make_canvas(research_brief()))
    for width in (1000, 560, 420, 360):
        view.resize(width, 500)
        view.overlays.place()
        assert not view.overlays.zoom.geometry().intersects(view.overlays.map.geometry()), width
        assert view.rect().contains(view.overlays.map.geometry())
