"""The minimap of a large drawing follows what changed, and shows the same as if it had looked at everything."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF
from pytestqt.qtbot import QtBot
from studio.document import commands
from studio.document.model import Place, Workflow
from studio.ui.canvas import CanvasView
from studio.ui.canvas.overlays import MANY, _shown
from tests.ui.canvas.drawings import large, small

Make = Callable[[Workflow], CanvasView]
COUNT = MANY + 50


def wanted(view: CanvasView) -> dict[str, QRectF]:
    items = view.canvas_scene.items_by_id
    return {i: rect for i, item in items.items() if (rect := _shown(item)) is not None}


def settled(view: CanvasView, qtbot: QtBot) -> None:
    view.canvas_scene.flush()
    qtbot.waitUntil(lambda: not view.overlays._map_timer.isActive() and not view.canvas_scene.later.busy)


def test_it_follows_edits_of_a_large_drawing(make_canvas: Make, qtbot: QtBot) -> None:
    view = make_canvas(large(COUNT))
    assert view.workspace is not None
    document = view.workspace.document
    settled(view, qtbot)
    minimap = view.overlays.map
    assert minimap._rects == wanted(view)
    view.execute(commands.move_items({"n3": Place(x=-900, y=-900)}), "Move")
    settled(view, qtbot)
    assert minimap._rects == wanted(view)
    assert minimap._around.contains(QRectF(-900, -900, 200, 64))
    added = view.add_node("agent")
    assert added is not None
    settled(view, qtbot)
    assert added in minimap._rects
    assert minimap._chosen == (added,)
    view.delete_selection()
    settled(view, qtbot)
    assert minimap._rects == wanted(view)
    view.select_all()
    view.delete_selection()
    settled(view, qtbot)
    document.undo_stack.undo()
    settled(view, qtbot)
    assert minimap._rects == wanted(view)
    assert len(minimap._visible(5.0)) == len(minimap._rects)


def test_small_rectangles_grow_only_as_they_are_painted(make_canvas: Make, qtbot: QtBot) -> None:
    view = make_canvas(large(COUNT))
    settled(view, qtbot)
    minimap = view.overlays.map
    assert minimap._visible(500.0)["n0"].width() == 500.0
    assert minimap._visible(1.0)["n0"].width() == 200.0
    assert minimap._rects["n0"].width() == 200.0


def test_in_a_small_view_it_is_small_and_what_lies_under_it_shines_through(make_canvas: Make) -> None:
    view = make_canvas(small())
    view.resize(1000, 700)
    minimap = view.overlays.map
    assert minimap.box.size().toTuple() == (176, 96)
    view.resize(500, 300)
    assert minimap.box.size().toTuple() == (112, 61)
    view.set_zoom(1.0)
    corner = view.to_scene(QPointF(minimap.geometry().center()))
    card = view.canvas_scene.items_by_id["a"].rect.center()
    view.look_at(view.seen_rect().center() + card - corner)
    assert minimap.opacity == minimap.FAINT
    view.look_at(QPointF(4000, 4000))
    assert minimap.opacity == 1.0


def test_what_is_gone_leaves_no_empty_part_in_the_minimap(make_canvas: Make) -> None:
    view = make_canvas(small())
    assert view.workspace is not None
    around = QRectF(view.overlays.map._around)
    view.execute(commands.move_items({"b": Place(x=4000, y=3000)}), "Move")
    assert view.overlays.map._around.contains(QRectF(4000, 3000, 200, 64))
    view.workspace.document.undo_stack.undo()
    view.canvas_scene.flush()
    assert view.overlays.map._around == around
