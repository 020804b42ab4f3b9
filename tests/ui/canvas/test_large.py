"""Large drawings far out: the picture is right at once, the items follow, and nothing differs in the end."""

from __future__ import annotations

from collections.abc import Callable, Set

import pytest
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QImage, QPainter, QRegion, QTransform
from pytestqt.qtbot import QtBot
from studio.bridge.run_views import NodeView, RunUpdate
from studio.document.commands import delete_items
from studio.document.edits import SetPlaces
from studio.document.geometry import moved
from studio.document.model import DirectEdge, Workflow
from studio.ui.canvas import CanvasView
from studio.ui.canvas.far import FarPicture
from studio.ui.canvas.gestures import MoveGesture, Pointer
from studio.ui.canvas.levels import Level
from studio.ui.widgets.slices import Slices
from tests.fuzz.invariants import check_canvas
from tests.ui.canvas.drawings import large
from tests.ui.canvas.fake_run import FakeRun

Make = Callable[[Workflow], CanvasView]
COUNT = 300


@pytest.fixture
def view(make_canvas: Make) -> CanvasView:
    made = make_canvas(large(COUNT))
    made.motion = False
    made.set_zoom(0.1)
    made.canvas_scene.flush()
    made.far.refresh()
    assert made.level == Level.FAR
    return made


def _shown(far: FarPicture) -> dict[str, tuple[float, ...]]:
    lists = far._lists
    found = {i: (r.x(), r.y(), r.width(), r.height()) for i, r in lists.rects.items()}
    return found | {i: (n.x1(), n.y1(), n.x2(), n.y2()) for i, n in lists.lines.items()}


def _colours(far: FarPicture) -> dict[str, str]:
    lists = far._lists
    tables = [*lists.cards.items(), *lists.strokes.items()]
    return {i: token for token, table in tables for i in table}


def _is_true(view: CanvasView) -> None:
    """The picture, ahead of the items, is what one made from the items is; and these are what the document says."""
    ahead, colours = _shown(view.far), _colours(view.far)
    check_canvas(view)
    fresh = FarPicture(view.canvas_scene)
    fresh.refresh()
    view.far.refresh()
    for shown in (ahead, _shown(view.far)):
        assert shown.keys() == _shown(fresh).keys()
        for item_id, box in _shown(fresh).items():
            assert shown[item_id] == pytest.approx(box, abs=0.01), item_id
    assert colours == _colours(fresh) == _colours(view.far)


def _move(view: CanvasView, ids: list[str], dx: float, dy: float) -> None:
    view.select(ids)
    view.begin(MoveGesture(view, ids[0]), Pointer(QPointF(), QPointF()))
    for part in (0.3, 0.7, 1.0):
        assert view.gesture is not None
        view.gesture.move(Pointer(QPointF(dx * part, dy * part), QPointF(), alt=True))
        view.grab()
    view.end(Pointer(QPointF(dx, dy), QPointF(), alt=True))


def test_moving_everything_is_shown_before_the_items_follow(view: CanvasView, qtbot: QtBot) -> None:
    stack = view.workspace.document.undo_stack  # type: ignore[union-attr]
    view.select_all()
    first = next(iter(view.canvas_scene.drawn))
    _move(view, list(view.canvas_scene.drawn), 160, 80)
    scene = view.canvas_scene
    assert scene.later.busy
    place = view.workflow.places[first]
    assert _shown(view.far)[first][:2] == (place.x, place.y)
    _is_true(view)
    assert (scene.drawn[first].x(), scene.drawn[first].y()) == (place.x, place.y)
    stack.undo()
    view.canvas_scene.flush()
    _is_true(view)
    stack.redo()
    qtbot.waitUntil(lambda: scene.drawn[first].x() == place.x)
    qtbot.waitUntil(lambda: not scene.later.busy)
    _is_true(view)


def test_a_part_that_is_dragged_takes_the_ends_of_its_lines_along(view: CanvasView) -> None:
    half = list(view.canvas_scene.drawn)[: COUNT - 60]
    _move(view, half, 40, -32)
    assert view.canvas_scene.later.busy
    _is_true(view)
    view.workspace.document.undo_stack.undo()  # type: ignore[union-attr]
    view.canvas_scene.flush()
    _is_true(view)


def test_a_cancelled_drag_leaves_no_trace(view: CanvasView) -> None:
    before = _shown(view.far)
    view.begin(MoveGesture(view, "n0" if "n0" in view.canvas_scene.drawn else next(iter(view.canvas_scene.drawn))),
               Pointer(QPointF(), QPointF()))  # fmt: skip
    assert view.gesture is not None
    view.gesture.move(Pointer(QPointF(300, 300), QPointF(), alt=True))
    view.cancel_gesture()
    assert _shown(view.far) == before
    _is_true(view)


@pytest.mark.parametrize("kept", [0, 40])
def test_deleting_many_and_bringing_them_back(view: CanvasView, kept: int) -> None:
    document = view.workspace.document  # type: ignore[union-attr]
    ids = list(view.canvas_scene.drawn)[kept:]
    for _ in range(2):
        document.execute(delete_items(view.workflow, ids), "Delete")
        view.canvas_scene.flush()
        assert view.canvas_scene.later.busy
        assert ids[0] not in view.far.rects
        _is_true(view)
        document.undo_stack.undo()
        view.canvas_scene.flush()
        assert view.canvas_scene.later.busy
        assert len(view.far.rects) == COUNT
        _is_true(view)


def test_steps_that_follow_each_other_faster_than_the_items(view: CanvasView) -> None:
    """Move, delete, three steps back, one forward: each before the items have followed the one before."""
    document = view.workspace.document  # type: ignore[union-attr]
    places = {i: moved(p, 64, 64) for i, p in view.workflow.places.items()}
    document.execute(SetPlaces(places), "Move")
    view.canvas_scene.flush()
    document.execute(delete_items(view.workflow, list(view.workflow.places)[10:]), "Delete")
    view.canvas_scene.flush()
    for index in (1, 0, 2, 1, 0, 1):
        document.undo_stack.setIndex(index)
        view.canvas_scene.flush()
    assert view.canvas_scene.later.busy
    _is_true(view)


def test_a_run_that_went_on_while_cards_were_gone(view: CanvasView) -> None:
    document, run = view.workspace.document, view.workspace.run  # type: ignore[union-attr]
    assert isinstance(run, FakeRun)
    ids = list(view.canvas_scene.drawn)
    document.execute(delete_items(view.workflow, ids[20:]), "Delete")
    view.canvas_scene.flush()
    run.nodes[ids[-1]] = NodeView(ids[-1], "failed", 1)
    run.updated.emit(RunUpdate(nodes=frozenset({ids[-1]})))
    document.undo_stack.undo()
    view.canvas_scene.flush()
    view.canvas_scene.later.finish()
    view.far.refresh()
    assert _colours(view.far)[ids[-1]] == "fail_s"
    check_canvas(view)


def test_zooming_in_finds_everything_in_place(view: CanvasView) -> None:
    _move(view, list(view.canvas_scene.drawn), 500, 300)
    view.select_all()
    view.set_zoom(1.0)
    assert not view.canvas_scene.later.busy
    assert all(item.selected for item in view.canvas_scene.drawn.values())
    edges = view.canvas_scene.line_layer.items.values()
    assert all(edge.selected for edge in edges)
    _is_true(view)


def test_what_is_asked_for_is_there(view: CanvasView) -> None:
    ids = list(view.canvas_scene.drawn)
    view.delete_ids(ids[:-5])
    assert view.canvas_scene.later.busy
    assert set(view.canvas_scene.items_by_id) == set(ids[-5:])


def test_work_in_slices(qtbot: QtBot) -> None:
    done: list[str] = []

    def work(name: str, pieces: int) -> object:
        for number in range(pieces):
            done.append(f"{name}{number}")
            yield
            slices.finish()  # who asks for the result of his own work gets what there is

    slices = Slices()
    slices.add(work("a", 3))  # type: ignore[arg-type]
    slices.add(work("b", 2))  # type: ignore[arg-type]
    assert slices.busy
    qtbot.waitUntil(lambda: not slices.busy)
    assert done == ["a0", "a1", "a2", "b0", "b1"]
    slices.add(work("c", 2))  # type: ignore[arg-type]
    slices.finish()
    assert done[-2:] == ["c0", "c1"]
    slices.add(work("d", 2))  # type: ignore[arg-type]
    slices.drop()
    assert not slices.busy
    assert done[-1] == "c1"


def test_slices_that_fail_are_not_tried_again() -> None:
    def work() -> object:
        yield
        raise ValueError("broken")

    slices = Slices()
    slices.add(work())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="broken"):
        slices.finish()
    assert not slices.busy
    slices.finish()


def test_lines_that_pass_a_growing_card_are_led_around_it_soon(make_canvas: Make, qtbot: QtBot) -> None:
    drawing = large(1200)
    over = [
        DirectEdge(id=f"over{i}_{far}", source=f"n{i}", target=f"n{i + far}")
        for i in range(0, 370, 10)
        for far in (31, 41)
    ]
    back = DirectEdge(id="back", source="n59", target="n29")
    view = make_canvas(drawing.model_copy(update={"edges": (*drawing.edges, *over, back)}))
    view.motion = False
    scene, run = view.canvas_scene, view.workspace.run  # type: ignore[union-attr]
    layer = scene.line_layer
    view.set_zoom(1.0)
    layer.finish()
    assert isinstance(run, FakeRun)
    for count, status in ((10, "done"), (10, "queued"), (37, "done")):  # with a footer, without, with one
        ids = ["n59", *(f"n{i}" for i in range(10, 10 * count + 10, 10))]
        before = {i: edge.points for i, edge in layer.items.items()}
        for item_id in ids:
            run.nodes[item_id] = NodeView(item_id, status, 1, seconds=1.0)  # type: ignore[arg-type]
        run.updated.emit(RunUpdate(nodes=frozenset(ids)))
        scene.flush()
        assert scene.marking.busy == (count > 10), "many in pieces"
        qtbot.waitUntil(lambda: not scene.marking.busy)
        layer.finish()
        found = {i: edge.points for i, edge in layer.items.items()}
        assert {i for i in found if found[i] != before[i]} >= {"over10_31", "back"}
        for line_id in layer.items:
            layer._route(line_id)
        layer.finish()
        assert found == {i: edge.points for i, edge in layer.items.items()}
    check_canvas(view)


def test_a_run_has_only_the_places_painted_that_look_another_way(
    view: CanvasView, monkeypatch: pytest.MonkeyPatch
) -> None:
    view.set_zoom(0.29)
    view.select(("n3", "e4"))
    asked: list[QRegion | None] = []
    changed = view.far.changed

    def recorded(touched: Set[str], transform: QTransform) -> QRegion | None:
        asked.append(changed(touched, transform))
        return asked[-1]

    monkeypatch.setattr(view.far, "changed", recorded)
    run, scene, viewport = view.workspace.run, view.canvas_scene, view.viewport()  # type: ignore[union-attr]
    scene.shows_problems = False  # they come when they come
    run.updated.emit(RunUpdate(everything=True))
    scene.flush()
    asked.clear()
    shown = viewport.grab().toImage()
    for ids, status in ((("n1", "n3", "n44"), "running"), (("n3", "n44"), "done"), (("n1",), "idle")):
        for item_id in ids:
            run.nodes[item_id] = NodeView(item_id, status, 1, seconds=1.0)  # type: ignore[arg-type]
        run.updated.emit(RunUpdate(nodes=frozenset(ids)))
        scene.flush()
        region = asked.pop()
        assert region is not None
        assert not asked
        assert sum(r.width() * r.height() for r in region) < viewport.width() * viewport.height() / 20
        after = viewport.grab().toImage()
        assert after != shown
        painter = QPainter(shown)
        for rect in region:
            painter.drawImage(rect, after, rect)
        painter.end()
        assert shown == after, f"{status}: something else looks another way"
    run.updated.emit(RunUpdate(nodes=frozenset({"n3"})))
    scene.flush()
    region = asked.pop()
    assert region is not None
    assert region.isEmpty(), "nothing changed"
    view.workspace.selection.select(("n7",))  # type: ignore[union-attr]
    assert view._changed is None, "another selection is shown everywhere"


def test_a_part_of_the_far_picture_is_painted_as_in_the_whole(view: CanvasView) -> None:
    view.set_zoom(0.29)
    view.select(("n3", "n13", "e4"))
    far, scene = view.far, view.canvas_scene
    area = QRectF(250, 90, 700, 400)

    def painted(parts: tuple[QRectF, ...]) -> QImage:
        image = QImage(view.viewport().size(), QImage.Format.Format_RGB32)
        image.fill(Qt.GlobalColor.white)
        painter = QPainter(image)
        painter.setWorldTransform(view.viewportTransform())
        painter.setClipRect(area.adjusted(20, 20, -20, -20))
        far.paint(painter, parts)
        painter.end()
        return image

    for ids in (("n3", "n13", "e4"), list(scene.drawn), ()):
        view.select(ids)
        before = far.inside(area)
        whole = painted(())
        scene.marking.finish()
        shown = far._in((area,))
        assert shown is not None
        assert len(shown) < 40, "known by place, and little of it"
        assert painted((area,)) == whole
        assert far.inside(area) == before != []
        assert before == [i for i, rect in far.rects.items() if rect.intersects(area)]
    _move(view, ["n12"], 3000, 0)
    scene.flush()
    scene.marking.finish()
    assert far.inside(area) == [i for i, rect in far.rects.items() if rect.intersects(area)] != before
    assert painted((area,)) == painted(())
