"""What differs from another version is marked on the canvas, near and far."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, QRectF
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot
from studio.document import commands
from studio.document.edits import Batch, Insert, SetFields, SetPlaces
from studio.document.model import AgentNode, DirectEdge, Place, SwitchCase, SwitchEdge, Workflow
from studio.ui.canvas import CanvasView
from studio.ui.canvas.difference_marks import GAP, DifferenceItem
from studio.ui.canvas.levels import Level

Make = Callable[[Workflow], CanvasView]


def drawing() -> Workflow:
    return Workflow(
        id="w",
        nodes=tuple(AgentNode(id=i, name=i.upper()) for i in ("a", "b", "c", "d")),
        edges=(
            DirectEdge(id="ab", source="a", target="b"),
            SwitchEdge(id="s", source="b", cases=(SwitchCase(id="s_1", target="c"),), default="d"),
        ),
        places={i: Place(x=220 * n, y=0) for n, i in enumerate(("a", "b", "s", "c"))} | {"d": Place(x=660, y=160)},
    )


@pytest.fixture
def view(make_canvas: Make, qtbot: QtBot) -> CanvasView:
    made = make_canvas(drawing())
    assert made.workspace is not None
    edits = (
        SetFields("nodes", "a", {"instructions": "x"}),
        commands.delete_items(drawing(), ("c",)),
        Insert("nodes", AgentNode(id="e", name="E")),
        SetPlaces({"e": Place(x=0, y=160), "d": Place(x=660, y=200)}),
    )
    made.workspace.document.execute(Batch(edits), "Edit")
    made.canvas_scene.flush()
    made.workspace.compared.compare(drawing(), "before")
    return made


def item_of(view: CanvasView) -> DifferenceItem:
    return view.difference.item or DifferenceItem(view.canvas_scene.look)


def test_marks(view: CanvasView) -> None:
    item = item_of(view)
    card = view.canvas_scene.items_by_id
    assert item.rects["changed"][0] == card["a"].rect.adjusted(-GAP, -GAP, GAP, GAP)
    assert item.rects["added"] == [card["e"].rect.adjusted(-GAP, -GAP, GAP, GAP)]
    assert item.rects["moved"] == [card["d"].rect.adjusted(-GAP, -GAP, GAP, GAP)]
    assert item.rects["removed"] == [QRectF(660, 0, *_card(card["a"].rect))]
    assert [name for _, name in item.names] == ["C"]
    assert len(item.routes["removed"]) == 1, "the case that led to it"
    lost, ghost = item.routes["removed"][0], item.rects["removed"][0]
    assert lost.pointAtPercent(1).x() == pytest.approx(ghost.left()), "ends at its border, not on its words"


def _card(rect: QRectF) -> tuple[float, float]:
    return rect.width(), rect.height()


def test_marks_follow_the_document(view: CanvasView) -> None:
    assert view.workspace is not None
    view.workspace.document.execute(commands.move_items({"a": Place(x=0, y=48)}), "Move")
    view.canvas_scene.flush()
    assert item_of(view).rects["changed"][0].top() == 48 - GAP
    view.workspace.compared.close()
    assert view.difference.item is None


def test_marks_are_seen_near_and_far(view: CanvasView) -> None:
    wanted = QColor(view.theme.tokens.done)
    for zoom in (1.0, 0.2):
        view.set_zoom(zoom)
        view.look_at(item_of(view).boundingRect().center())
        image = view.grab().toImage()
        seen = {QColor(image.pixel(x, y)).name() for x in range(0, 1000, 1) for y in range(250, 500, 3)}
        assert wanted.name() in seen, zoom
    assert view.level == Level.FAR


def test_many_differences_are_marked_in_pieces(make_canvas: Make, qtbot: QtBot) -> None:
    nodes = tuple(AgentNode(id=f"n{i}", name=f"N{i}") for i in range(400))
    places = {f"n{i}": Place(x=i % 20 * 220, y=i // 20 * 120) for i in range(400)}
    made = make_canvas(Workflow(id="w", nodes=nodes, places=places))
    assert made.workspace is not None
    others = tuple(node.model_copy(update={"instructions": "x"}) for node in nodes[1:])
    made.workspace.compared.compare(Workflow(id="w", nodes=others, places=places), "before")
    qtbot.waitUntil(lambda: len(item_of(made).rects.get("changed", ())) == 399)
    assert len(item_of(made).rects["added"]) == 1


def test_marks_are_not_picked(view: CanvasView, qtbot: QtBot) -> None:
    ghost = item_of(view).rects["removed"][0]
    at = view.mapFromScene(ghost.center())
    assert view.viewport().rect().contains(QPoint(at))
    from PySide6.QtCore import Qt

    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert view.selection_items == ()


def test_another_document_takes_the_marks_away(view: CanvasView) -> None:
    view.set_workspace(None)
    assert view.difference.item is None
