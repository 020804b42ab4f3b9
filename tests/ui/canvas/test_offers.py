"""What the canvas offers instead of what it refuses, and edges that cannot take what is dragged onto them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from studio.document.conditions import Condition, Rule, describe
from studio.document.geometry import boxes
from studio.document.model import AgentNode, DirectEdge, FunctionNode, Place, Workflow
from studio.ui.canvas import CanvasView
from tests.ui.canvas.hands import drag, key, move, press, release

Make = Callable[[Workflow], CanvasView]


def pair(condition: Condition | None) -> Workflow:
    """a → b, and a function of numbers alone below."""
    nodes = (
        *(AgentNode(id=i, name=i.upper(), model="m") for i in "ab"),
        FunctionNode(id="f", name="F", accepts="number", sends="number"),
    )
    places = {"a": Place(x=0, y=0), "b": Place(x=360, y=0), "f": Place(x=180, y=200)}
    edges = (DirectEdge(id="ab", source="a", target="b", condition=condition),)
    return Workflow(id="pair", start="a", nodes=nodes, edges=edges, places=places)


def shown(view: CanvasView) -> str:
    edge = view.workflow.edges[0]
    assert isinstance(edge, DirectEdge)
    return describe(edge.condition)


def steps(view: CanvasView) -> int:
    assert view.workspace is not None
    return view.workspace.document.undo_stack.count()


def test_a_second_edge_is_offered_as_or_by_pointer_and_by_keys(make_canvas: Make) -> None:
    view = make_canvas(pair(Condition(rule=Rule(value="yes"))))
    assert view.workspace is not None
    asked: list[tuple[str, str]] = []
    view.workspace.selection.field_requested.connect(lambda item, field: asked.append((item, field)))
    drag(view, (200, 32), (360, 32))
    told = view._told
    assert told.isVisible()
    assert told.button.text() == "Add “or” to the condition"
    assert told.rect().contains(told.button.geometry())
    QTest.mouseClick(told.button, Qt.MouseButton.LeftButton)
    assert shown(view) == "contains “yes” or contains …"
    assert (steps(view), asked, view.selection_items) == (1, [("ab", "condition")], ("ab",))
    assert not told.isVisible()
    view.workspace.document.undo_stack.undo()
    view.canvas_scene.flush()

    view.select(["a"])
    key(view, Qt.Key.Key_C)
    popup = view.prompts.popup
    QTest.keyClicks(popup.field, "B")
    QTest.keyClick(popup.field, Qt.Key.Key_Return)
    assert shown(view) == "contains “yes” or contains …"


def test_an_offer_is_gone_when_the_drawing_changed(make_canvas: Make) -> None:
    view = make_canvas(pair(Condition(rule=Rule(value="yes"))))
    drag(view, (200, 32), (360, 32))
    assert view._told.isVisible()
    view.add_node("note", QPointF(0, 300))
    assert not view._told.isVisible()


def test_without_a_condition_nothing_is_offered(make_canvas: Make) -> None:
    view = make_canvas(pair(None))
    drag(view, (200, 32), (360, 32))
    assert "every message passes" in view._told.text()
    assert not view._told.button.isVisible()
    assert steps(view) == 0


def test_an_edge_that_cannot_lead_through_what_is_dragged_says_why(make_canvas: Make) -> None:
    view = make_canvas(pair(None))
    edge = view.canvas_scene.line_layer.items["ab"]
    press(view, 280, 232)
    move(view, 280, 132)
    move(view, 280, 32)
    assert not edge.hovered
    assert "F" in view.reason.text()
    assert view.reason.isVisible()
    release(view, 280, 32)
    assert not view.reason.isVisible()
    assert len(view.workflow.edges) == 1

    where = view.viewport().mapToGlobal(view.mapFromScene(QPointF(280, 32)))
    assert view.preview_node("agent", where)
    assert edge.hovered
    assert view.drop_node("agent", where + QPoint(1, 0))
    assert len(view.workflow.edges) == 2


def test_a_dropped_text_goes_into_the_edge_under_it_else_where_it_covers_nothing(make_canvas: Make) -> None:
    view = make_canvas(pair(None))
    edge = next(iter(view.canvas_scene.line_layer.items.values()))
    (x, y), (end, _) = edge.points[0], edge.points[-1]
    inside = view.add_text("Say {text}", "letter", QPointF((x + end) / 2, y))
    assert {(e.source, e.target) for e in view.workflow.edges} == {("a", inside), (inside, "b")}  # type: ignore[union-attr]
    beside = view.add_text("Say {text}", "letter", view.canvas_scene.items_by_id["a"].rect.center())
    assert steps(view) == 2
    found = boxes(view.workflow, ("a", "b", inside or "", beside or ""))
    for i, a in enumerate(found):
        for b in found[i + 1 :]:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


def test_extracting_offers_what_makes_it_possible(make_canvas: Make) -> None:
    start = pair(None)
    view = make_canvas(start)
    assert view.workspace is not None
    view.select(("a",))
    view.extract_selection()
    assert steps(view) == 0
    assert view._told.button.text() == "Hand its text on through a template"
    view._told.offer("Messages would come in at two nodes.", "Begin it with a pass node and " * 3, lambda: None)
    assert view._told.rect().contains(view._told.button.geometry()), "nothing of what is offered is cut off"
    view.extract_selection()
    QTest.mouseClick(view._told.button, Qt.MouseButton.LeftButton)
    assert steps(view) == 1
    assert {n.kind for n in view.workflow.nodes} == {"agent", "function", "sub_workflow", "template"}
    view.workspace.document.undo_stack.undo()
    assert view.workflow == start
