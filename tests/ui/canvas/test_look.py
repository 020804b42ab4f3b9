"""Texts on the canvas where there is little room: cut at whole lines, smaller, or elsewhere."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from studio.document.model import AgentNode, Note, Place, Workflow
from studio.export.picture_look import PictureLook
from studio.ui.canvas import CanvasView, routing
from studio.ui.canvas.area_items import NoteItem
from studio.ui.canvas.junction_items import SwitchItem
from studio.ui.canvas.node_item import NodeItem
from studio.ui.canvas.routing import crosses
from studio.ui.pictures.render import _Stage
from tests.export.corpus import templates
from tests.ui.canvas.drawings import research_brief

Make = Callable[[Workflow], CanvasView]


def test_a_note_ends_with_a_whole_line_and_an_ellipsis(make_canvas: Make) -> None:
    words = "One line of words. " * 20
    note = Note(id="n", text=words)
    view = make_canvas(Workflow(id="w", notes=(note,), places={"n": Place(x=0, y=0, width=160, height=60)}))
    item = view.canvas_scene.items_by_id["n"]
    assert isinstance(item, NoteItem)
    end, cut = item._whole_lines(48, 140)
    assert cut is not None
    assert cut.bottom() < end <= 48
    assert 100 < cut.left() <= 130
    assert item._whole_lines(4000, 140)[1] is None


def test_a_label_of_a_crowded_switch_covers_neither_its_name_nor_the_next_card(make_canvas: Make) -> None:
    workflow = research_brief()
    places = {**workflow.places, "publisher": Place(x=950, y=268)}
    view = make_canvas(workflow.model_copy(update={"places": places}))
    chip, items = view.canvas_scene.line_layer.chips["good", False], view.canvas_scene.items_by_id
    switch = items["review"]
    assert isinstance(switch, SwitchItem)
    assert not chip.rect.intersects(switch.chip_room)
    assert not chip.rect.intersects(items["publisher"].rect)
    assert chip.y() < items["publisher"].y()


def test_titles_of_the_middle_level_get_smaller_before_they_are_cut(make_canvas: Make) -> None:
    names = {"a": "Short", "b": "Market research", "c": "Market research of everything"}
    nodes = tuple(AgentNode(id=i, name=name) for i, name in names.items())
    view = make_canvas(Workflow(id="w", nodes=nodes))
    found = []
    for item in (view.canvas_scene.items_by_id[i] for i in names):
        assert isinstance(item, NodeItem)
        item._lay_out()
        found.append(item._smaller)
    assert found[0] is None
    assert found[1] is not None
    assert found[1][1].text() == "Market research"
    assert found[2] is None


@pytest.mark.parametrize("name", templates())
def test_labels_of_templates_stand_on_their_own_lines_and_are_in_the_picture(make_canvas: Make, name: str) -> None:
    workflow = templates()[name]
    layer = make_canvas(workflow).canvas_scene.line_layer
    stage = _Stage(workflow, PictureLook(), shadows=False)
    for (line_id, _), chip in layer.chips.items():
        box = chip.rect.getCoords()
        assert stage.area.contains(chip.rect)
        assert [i for i, edge in layer.drawn.items() if crosses(edge.points, *box)] == [line_id]  # type: ignore[misc]
    stage.close()


def test_arranged_cases_have_their_labels_on_the_line(make_canvas: Make) -> None:
    view = make_canvas(research_brief())
    view.arrange("right")
    edge = view.canvas_scene.line_layer.items["good"]
    chip = view.canvas_scene.line_layer.chips["good", False]
    assert len(edge.points) == 2
    assert chip.y() == edge.points[0][1]
    assert edge.points[0][0] < chip.rect.left() < chip.rect.right() < edge.points[1][0] - 9


def test_hairlines_go_up_to_the_cards_and_end_before_them_where_ports_are_drawn() -> None:
    points = ((6.0, 0.0), (50.0, 0.0), (50.0, 80.0))
    assert routing.reaching(points, 6.0) == ((0.0, 0.0), (50.0, 0.0), (50.0, 86.0))
    assert routing.reaching(((0.0, 5.0), (0.0, 5.0)), 6.0) == ((0.0, 5.0), (0.0, 5.0))
