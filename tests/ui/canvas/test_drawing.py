"""What is drawn: items follow the document, the run and the problems; every level paints."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from PySide6.QtCore import QPointF
from pytestqt.qtbot import QtBot
from studio.agents.messages import Usage
from studio.bridge.run_views import InvocationView, MessageView, NodeView, QueuedView, RunUpdate, SuperstepView
from studio.debugger.states import RunState
from studio.document import commands
from studio.document.conditions import Condition
from studio.document.edits import ReplaceAll, SetFields
from studio.document.model import AgentNode, DirectEdge, FunctionNode, HumanInputNode, Place, UnknownNode, Workflow
from studio.ui.canvas import CanvasView
from studio.ui.canvas.cards import is_output, subtitle_of
from studio.ui.canvas.junction_items import JoinItem
from studio.ui.canvas.levels import Level, level_at
from studio.ui.canvas.node_item import NodeItem
from studio.ui.theme import Theme
from tests.ui.canvas.drawings import large, research_brief, small
from tests.ui.canvas.fake_run import FakeRun

Make = Callable[[Workflow], CanvasView]


def _run(view: CanvasView) -> FakeRun:
    assert view.workspace is not None
    assert isinstance(view.workspace.run, FakeRun)
    return view.workspace.run


def _card(view: CanvasView, item_id: str) -> NodeItem:
    item = view.canvas_scene.items_by_id[item_id]
    assert isinstance(item, NodeItem)
    return item


def _chip(view: CanvasView, line: str, *, pill: bool = False) -> tuple[str, str]:
    chip = view.canvas_scene.line_layer.chips[line, pill].chip
    return chip.strong, chip.text


def test_cards_say_what_the_nodes_are(make_canvas: Make) -> None:
    view = make_canvas(research_brief())
    assert _card(view, "market").card.subtitle == "offline-model · 2 tools"
    assert _card(view, "policy").card.subtitle == "offline-model · 1 tool"
    assert _card(view, "publisher").card.subtitle == "publish(draft) → Brief"
    assert [b.text for b in _card(view, "planner").card.badges][-1] == "Start"
    assert "Output" in [b.text for b in _card(view, "publisher").card.badges]


def test_only_what_can_yield_has_the_output_badge() -> None:
    function = FunctionNode(id="f", name="F", call="m:work", accepts="text", sends="nothing")
    nodes = (AgentNode(id="a", name="A"), function, HumanInputNode(id="h", name="H"))
    workflow = Workflow(nodes=nodes)
    assert [is_output(workflow, node) for node in nodes] == [True, False, False]
    assert subtitle_of(workflow, function) == "work(text)"
    yielding = function.model_copy(update={"yields": "text | Brief"})
    assert is_output(workflow, yielding)
    assert subtitle_of(workflow, yielding) == "work(text) → text | Brief"
    assert not is_output(workflow.model_copy(update={"outputs": ("a",)}), yielding)


def test_conditions_and_cases_are_chips(make_canvas: Make) -> None:
    view = make_canvas(research_brief())
    assert _chip(view, "good") == ("1", "score ≥ 8")
    assert _chip(view, "review:default") == ("default", "revise")
    assert view.workspace is not None
    document = view.workspace.document
    condition = Condition(kind="expression", expression="value.score > 3")
    document.execute(commands.set_condition(document.workflow, "join_to_writer", condition), "Condition")
    view.canvas_scene.flush()
    assert _chip(view, "join_to_writer") == ("", "value.score > 3")
    document.undo_stack.undo()
    view.canvas_scene.flush()
    assert ("join_to_writer", False) not in view.canvas_scene.line_layer.chips


def test_the_back_edge_runs_below_everything_it_passes(make_canvas: Make) -> None:
    view = make_canvas(research_brief())
    points = view.canvas_scene.line_layer.items["review:default"].points
    frame = view.canvas_scene.items_by_id["research"].rect
    assert max(y for _, y in points) > frame.bottom() + 16
    assert all(a[0] == b[0] or a[1] == b[1] for a, b in itertools.pairwise(points))


def test_edges_go_around_cards(make_canvas: Make) -> None:
    workflow = Workflow(
        id="w",
        start="a",
        nodes=tuple(AgentNode(id=i, name=i) for i in ("a", "b", "c")),
        edges=(DirectEdge(id="e", source="a", target="c"),),
        places={"a": Place(x=0, y=0), "b": Place(x=280, y=0), "c": Place(x=560, y=0)},
    )
    view = make_canvas(workflow)
    points = view.canvas_scene.line_layer.items["e"].points
    middle = view.canvas_scene.items_by_id["b"].rect
    assert not any(middle.intersects(_box(a, b)) for a, b in itertools.pairwise(points)), points


def _box(a: tuple[float, float], b: tuple[float, float]):  # type: ignore[no-untyped-def]
    from PySide6.QtCore import QRectF

    return QRectF(min(a[0], b[0]), min(a[1], b[1]), abs(a[0] - b[0]) + 0.1, abs(a[1] - b[1]) + 0.1)


def test_self_loop_leaves_and_enters_the_same_card(make_canvas: Make) -> None:
    workflow = small().model_copy(update={"edges": (DirectEdge(id="loop", source="a", target="a"),)})
    view = make_canvas(workflow)
    points = view.canvas_scene.line_layer.items["loop"].points
    assert points[0] == (206, 32)
    assert points[-1] == (-6, 32)
    assert max(y for _, y in points) > 64


def test_changes_come_within_a_frame(make_canvas: Make, qtbot: QtBot) -> None:
    view = make_canvas(small())
    assert view.workspace is not None
    view.workspace.document.execute(SetFields("nodes", "a", {"name": "Renamed"}), "Rename")
    qtbot.waitUntil(lambda: _card(view, "a").card.title == "Renamed")
    view.workspace.document.execute(ReplaceAll(research_brief()), "Load")
    qtbot.waitUntil(lambda: "writer" in view.canvas_scene.items_by_id)
    assert "a" not in view.canvas_scene.items_by_id


def test_problems_are_badges(make_canvas: Make) -> None:
    view = make_canvas(small())
    assert view.workspace is not None
    document = view.workspace.document
    document.execute(SetFields("nodes", "b", {"name": ""}), "Rename")
    view.workspace.problems.refresh()
    view.canvas_scene.flush()
    counted = [p for p in view.workspace.problems.at("b") if p.severity != "info"]
    badges = [b for b in _card(view, "b").card.badges if b.icon in ("error", "problem")]
    assert [b.text for b in badges] == ([str(len(counted))] if counted else [])
    assert counted


def test_run_states_footers_and_pills(make_canvas: Make) -> None:
    view = make_canvas(research_brief())
    run = _run(view)
    run.state, run.next_superstep = RunState.PAUSED, 4
    run.paused_at = "join"
    run.breakpoints = frozenset({"join", "writer"})
    run.supersteps = [SuperstepView(3, 0.0, 9.8)]
    for node in ("market", "tech", "policy"):
        run.nodes[node] = NodeView(node, "done", 1, 8.1, Usage(3000, 200))
        run.invocations[node] = InvocationView(f"i-{node}", node, 3, 0.0, 9.8, "done")
    run.queued = [
        QueuedView(f"m{i}", node, None, ("gather",), "agent reply", "text", None)
        for i, node in enumerate(("market", "tech", "policy"))
    ]
    run.show()
    view.canvas_scene.flush()
    assert _card(view, "tech").card.footer == (("tokens", "3.2 k"), ("clock", "8.1 s"))
    assert _card(view, "tech").box.height() == 88
    join = view.canvas_scene.items_by_id["join"]
    assert isinstance(join, JoinItem)
    assert join.card.chip == "0 of 3 in · fires next"
    assert join.card.note == "next: superstep 4"
    assert join.card.octagon == "hit"
    assert _card(view, "writer").card.octagon == "on"
    assert _chip(view, "gather:to:tech", pill=True) == ("", "1")
    assert view.canvas_scene.line_layer.items["gather:to:tech"].token == "run"
    assert view.overlays.summary.isVisible()
    frame = view.canvas_scene.items_by_id["research"]
    assert frame.detail == "superstep 3 · 9.8 s"  # type: ignore[attr-defined]
    pill = view.canvas_scene.line_layer.chips["gather:to:tech", True]
    from tests.ui.canvas.hands import click

    click(view, pill.x(), pill.y())
    assert view.workspace is not None
    assert view.workspace.selection.message == "m1"
    assert pill.selected


def test_false_conditions_are_dotted_with_their_reason(make_canvas: Make) -> None:
    view = make_canvas(research_brief())
    run = _run(view)
    run.state = RunState.PAUSED
    run.supersteps = [SuperstepView(6, 0.0, 1.0)]
    run.messages = [
        MessageView(
            "m", "writer", None, 5, "agent reply", "text", None, "delivered",
            [("review:default", "publisher", False, "selection"), ("review:default", "planner", True, "")],
        )
    ]  # fmt: skip
    run.updated.emit(RunUpdate(messages=True))
    view.canvas_scene.flush()
    assert view.canvas_scene.line_layer.items["good"].state.refused == "score ≥ 8"
    assert view.canvas_scene.line_layer.chips["good", False].chip.icon == "muted"
    assert not view.canvas_scene.line_layer.items["review:default"].state.refused

    # After the run what never was taken still says why; what was taken once does not.
    run.state = RunState.COMPLETED
    run.supersteps.append(SuperstepView(7, 1.0, 2.0))
    run.messages.append(
        MessageView("n", "writer", None, 7, "agent reply", "text", None, "delivered",
                    [("review:default", "publisher", False, "score 6 is not ≥ 8"),
                     ("review:default", "planner", True, "")])
    )  # fmt: skip
    run.state_changed.emit()
    run.updated.emit(RunUpdate(messages=True))
    view.canvas_scene.flush()
    assert view.canvas_scene.line_layer.items["good"].state.refused == "score 6 is not ≥ 8"
    assert not view.canvas_scene.line_layer.items["review:default"].state.refused

    # A reason for which there is no room gives way to the name of the line; the card beside the pointer has all of it.
    chip = view.canvas_scene.line_layer.chips["good", False]
    assert (chip.chip.text, chip.chip.strong) == ("score 6 is not ≥ 8", "")
    layer = view.canvas_scene.line_layer
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(layer), "covered", lambda _layer, box: box.width() > chip.chip.width)
        layer.labels.put("good")
    assert (chip.chip.text, chip.chip.strong, chip.chip.icon) == (layer.items["good"].line.label, "1", "muted")
    layer.labels.put("good")
    assert chip.chip.text == "score 6 is not ≥ 8"
    run.messages[0].routes += [("good", "publisher", True, "")]
    run.updated.emit(RunUpdate(messages=True))
    view.canvas_scene.flush()
    assert not view.canvas_scene.line_layer.items["good"].state.refused


def test_a_join_counts_what_waits_at_it(make_canvas: Make) -> None:
    view = make_canvas(research_brief())
    run = _run(view)
    run.state = RunState.RUNNING
    run.supersteps = [SuperstepView(2, 0.0), SuperstepView(3, 1.0)]
    run.messages = [
        MessageView("m", "tech", None, 2, "text", "x", None, "delivered", [("gather", "join", False, "buffered")])
    ]
    run.updated.emit(RunUpdate(messages=True))
    view.canvas_scene.flush()
    join = view.canvas_scene.items_by_id["join"]
    assert isinstance(join, JoinItem)
    assert join.card.chip == "1 of 3 in"
    assert view.canvas_scene.line_layer.items["gather:to:tech"].token == "done"


def test_labels_stand_above_lines_that_are_too_short(make_canvas: Make) -> None:
    workflow = research_brief()
    places = {**workflow.places, "publisher": Place(x=920, y=268)}
    view = make_canvas(workflow.model_copy(update={"places": places}))
    chip = view.canvas_scene.line_layer.chips["good", False]
    assert chip.y() < 300 - 10


def test_running_rings_turn_only_while_something_runs(make_canvas: Make, qtbot: QtBot) -> None:
    view = make_canvas(small())
    run = _run(view)
    run.nodes["a"] = NodeView("a", "running", 1)
    run.updated.emit(RunUpdate(nodes=frozenset({"a"})))
    view.canvas_scene.flush()
    qtbot.waitUntil(lambda: view.canvas_scene.look.phase > 0)
    run.nodes["a"] = NodeView("a", "done", 1)
    run.updated.emit(RunUpdate(nodes=frozenset({"a"})))
    view.canvas_scene.flush()
    assert not view.canvas_scene._turning.isActive()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("zoom", [0.1, 0.35, 0.5, 0.7, 1.0, 2.0])
def test_every_level_paints_every_kind(make_canvas: Make, theme: Theme, zoom: float, scheme: str) -> None:
    workflow = research_brief()
    extra = UnknownNode.model_validate({"id": "future", "name": "Future", "kind": "oracle"})
    workflow = workflow.model_copy(update={"nodes": (*workflow.nodes, extra)})
    view = make_canvas(workflow)
    theme.set_choice(scheme)  # type: ignore[arg-type]
    run = _run(view)
    for node, status in zip(
        workflow.nodes, ("running", "done", "failed", "waiting", "stopped", "queued"), strict=False
    ):
        run.nodes[node.id] = NodeView(node.id, status, 2, 3.0, open_requests=1)  # type: ignore[arg-type]
    run.state = RunState.RUNNING
    run.breakpoints = frozenset({"planner", "writer"})
    run.queued = [QueuedView("m", "writer", None, ("review",), "text", "x", None)]
    run.show()
    view.select_all()
    view.set_zoom(zoom)
    view.canvas_scene.flush()
    view.fit_all() if zoom == 0.1 else None
    picture = view.grab().toImage()
    background = theme.color("canvas").rgb()
    seen = {picture.pixel(x, y) for x in range(0, picture.width(), 5) for y in range(0, picture.height(), 5)}
    assert background in seen
    assert len(seen) > 3
    view.canvas_scene._turning.stop()


def test_levels_have_hysteresis() -> None:
    assert level_at(0.29) == Level.FAR
    assert level_at(0.31, Level.FAR) == Level.FAR
    assert level_at(0.34, Level.FAR) == Level.FLAT
    assert level_at(0.44, Level.MIDDLE) == Level.FLAT
    assert level_at(0.46, Level.FLAT) == Level.FLAT
    assert level_at(1.0, Level.FAR) == Level.NEAR


def test_chips_exist_only_where_text_is_readable(make_canvas: Make) -> None:
    view = make_canvas(research_brief())
    chip = view.canvas_scene.line_layer.chips["good", False]
    assert chip.isVisible()
    view.set_zoom(0.5)
    assert not chip.isVisible()
    view.select(("good",))
    assert chip.isVisible()
    view.set_zoom(0.35)
    assert not chip.isVisible()


def test_a_thousand_nodes_build_paint_and_follow(make_canvas: Make) -> None:
    view = make_canvas(large(1000))
    assert len(view.canvas_scene.items_by_id) == 1000
    assert len(view.canvas_scene.line_layer.items) == 990
    view.canvas_scene.line_layer.finish()
    view.fit_all()
    assert view.level == Level.FAR
    view.grab()
    view.set_zoom(1.0)
    view.look_at(QPointF(500, 500))
    view.grab()
    view.select_all()
    view.delete_selection()
    assert not view.canvas_scene.items_by_id
    assert view.overlays.empty.isVisible()
    assert view.workspace is not None
    view.workspace.document.undo_stack.undo()
    view.canvas_scene.flush()
    view.canvas_scene.line_layer.finish()
    assert len(view.canvas_scene.items_by_id) == 1000


def test_theme_switches_live(make_canvas: Make, theme: Theme) -> None:
    view = make_canvas(research_brief())
    light = view.grab().toImage().pixelColor(3, 3)
    theme.set_choice("dark")
    dark = view.grab().toImage().pixelColor(3, 3)
    assert light.lightness() > 200
    assert dark.lightness() < 60


def test_empty_canvas_offers_a_start(make_canvas: Make, qtbot: QtBot) -> None:
    view = make_canvas(Workflow(id="new"))
    assert view.overlays.empty.isVisible()
    with qtbot.waitSignal(view.templates_requested):
        view.overlays.empty.templates.click()
    view.overlays.empty.add.click()
    assert view.prompts.popup.isVisible()
    view.prompts.close()
    view.add_node("agent")
    assert not view.overlays.empty.isVisible()
    assert view.workflow.start is not None


def test_reveal_scrolls_to_an_item(make_canvas: Make) -> None:
    view = make_canvas(research_brief())
    view.look_at(QPointF(-2000, -2000))
    assert view.workspace is not None
    view.workspace.selection.reveal("publisher")
    assert view.seen_rect().contains(view.canvas_scene.items_by_id["publisher"].rect)


def test_revealed_items_flash_and_messages_fly(make_canvas: Make, qtbot: QtBot) -> None:
    view = make_canvas(research_brief())
    view.motion = True
    assert view.workspace is not None
    count = len(view.canvas_scene.items())
    view.workspace.selection.reveal("writer")
    assert len(view.canvas_scene.items()) == count + 1
    qtbot.waitUntil(lambda: len(view.canvas_scene.items()) == count)
    run = _run(view)
    run.state = RunState.RUNNING
    run.supersteps = [SuperstepView(1, 0.0), SuperstepView(2, 1.0)]
    routes = [("split", i, True, "") for i in ("market", "tech", "policy")]
    run.messages = [MessageView("m", "planner", None, 1, "text", "plan", None, "delivered", routes)]
    run.updated.emit(RunUpdate(messages=True))
    view.canvas_scene.flush()
    assert view.canvas_scene.line_layer.items["split:to:tech"].token == "done"
    assert len(view.canvas_scene.items()) == count + 4
    qtbot.waitUntil(lambda: len(view.canvas_scene.items()) == count)


def test_without_a_workspace_nothing_happens(make_canvas: Make) -> None:
    view = make_canvas(research_brief())
    view.set_workspace(None)
    assert not view.canvas_scene.items_by_id
    view.add_node("agent")
    view.delete_selection()
    view.arrange()
    view.paste()
    view.grab()


def test_a_time_is_shown_when_there_is_one(make_canvas: Make) -> None:
    view = make_canvas(research_brief())
    run = _run(view)
    for status, seconds, footer in (
        ("running", 0.0, ()),
        ("stopped", 0.0, ()),
        ("done", 0.0, (("clock", "0.00 s"),)),
        ("running", 2.0, (("clock", "2.0 s"),)),
    ):
        run.nodes["writer"] = NodeView("writer", status, 1, seconds)  # type: ignore[arg-type]
        run.show()
        view.canvas_scene.flush()
        assert _card(view, "writer").card.footer == footer


def test_small_text_of_cards_can_be_read_at_every_near_zoom(make_canvas: Make) -> None:
    view = make_canvas(research_brief())
    look = view.canvas_scene.look
    for zoom in (1.0, 0.8, 0.73, 0.61):
        view.set_zoom(zoom)
        assert look.level is Level.NEAR
        assert 11.0 * look.zoom * look.small_scale >= 8.0
    view.grab()
    item = _card(view, "market")
    assert item._small_scale == look.small_scale > 1.0
    assert item._subtitle.size().width() * item._small_scale <= item.width


def test_a_chip_takes_the_same_room_in_the_index_at_every_zoom(make_canvas: Make) -> None:
    """If it changed unannounced, a chip that is deleted would stay in the index, and the next paint would crash."""
    view = make_canvas(research_brief())
    chip = view.canvas_scene.line_layer.chips["good", False]
    first = chip.boundingRect()
    for zoom in (2.0, 1.0, 0.7, 0.45, 0.43, 0.1):
        view.set_zoom(zoom)
        view.grab()
        assert chip.boundingRect() == first
        if chip.isVisible():
            assert first.contains(chip.box)
    view.set_zoom(2.0)
    view.grab()
    for zoom in (0.5, 1.5):
        view.set_zoom(zoom)
        view.canvas_scene.refresh_look()
        view.grab()
    assert view.canvas_scene.line_layer.chips["good", False] is not chip
