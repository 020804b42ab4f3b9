"""Arranging, fingerprints, types."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis.strategies import integers
from studio.document import commands, types
from studio.document.fingerprint import document_fingerprint, node_fingerprints
from studio.document.geometry import boxes, drawn, moved, sizes_of
from studio.document.layout import arrange
from studio.document.model import AgentNode, FunctionNode, ModuleDecl, Note, Place, TypeDecl, Workflow

from tests.document.building import Drawing
from tests.document.strategies import workflows


@settings(max_examples=25, deadline=None)
@given(workflows())
def test_arranged_items_never_overlap(workflow: Workflow) -> None:
    places = arrange(workflow)
    assert set(places) == {i for i, item in drawn(workflow).items() if not isinstance(item, Note)}
    arranged = workflow.model_copy(update={"places": places})
    found = boxes(arranged, places)
    for i, a in enumerate(found):
        for b in found[i + 1 :]:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


@settings(max_examples=25, deadline=None)
@given(workflows(), integers(0, 3))
def test_what_keeps_its_place_stays_and_nothing_covers_it(workflow: Workflow, every: int) -> None:
    workflow = commands.arrange_items(workflow).apply(workflow).workflow
    kept = [i for i in workflow.places if i in drawn(workflow)][:: every + 1]
    apart = {i: moved(workflow.places[i], 400 * n, 96 * n) for n, i in enumerate(kept)}
    workflow = commands.move_items(apart).apply(workflow).workflow
    workflow = commands.keep_places(workflow, kept, True).apply(workflow).workflow
    after = commands.arrange_items(workflow).apply(workflow).workflow
    items = [i for i, item in drawn(after).items() if not isinstance(item, Note)]
    assert {i: after.places[i] for i in kept} == {i: workflow.places[i] for i in kept}
    stay, go = boxes(after, [i for i in items if i in kept]), boxes(after, [i for i in items if i not in kept])
    for a in go:
        for b in stay:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


def test_a_frame_follows_what_it_holds_and_loses_nothing() -> None:
    drawing = Drawing("agent", "template")
    edit, frame = commands.new_frame(drawing.workflow, ("template",))
    drawing.do(edit)
    drawing.do(commands.keep_places(drawing.workflow, (frame,), True))
    drawing.do(commands.set_collapsed(drawing.workflow, frame, True))
    drawing.do(commands.move_items({"template": Place(x=800, y=640)}))
    drawing.do(commands.arrange_items(drawing.workflow))
    around, inside = drawing.workflow.places[frame], drawing.workflow.places["template"]
    assert (around.x, around.y, around.kept, around.collapsed) == (inside.x - 24, inside.y - 40, True, True)


@settings(max_examples=25, deadline=None)
@given(workflows())
def test_from_top_to_bottom_nothing_overlaps_and_undo_turns_it_back(workflow: Workflow) -> None:
    workflow = workflow.model_copy(update={"flow": "right"})
    done = commands.arrange_items(workflow, None, "down").apply(workflow)
    assert done.workflow.flow == "down"
    assert done.inverse.apply(done.workflow).workflow == workflow
    items = [i for i, item in drawn(workflow).items() if not isinstance(item, Note)]
    found = boxes(done.workflow, items)
    for i, a in enumerate(found):
        for b in found[i + 1 :]:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


def test_rows_follow_each_other_and_bars_lie_across() -> None:
    drawing = Drawing("agent", "template", "human_input", "join")
    drawing.connect("agent", "template")
    drawing.connect("agent", "human_input")
    drawing.connect("template", "join")
    drawing.connect("human_input", "join")
    drawing.do(commands.arrange_items(drawing.workflow, None, "down"))
    places, sizes = drawing.workflow.places, sizes_of(drawing.workflow, drawing.workflow.places)
    assert places["template"].y == places["human_input"].y > places["agent"].y + 64
    assert places["join"].y > places["template"].y + 64
    assert sizes["join"] == (272, 8)  # 16 beyond the ports of both sources
    middle = places["join"].x + 136
    assert middle == places["agent"].x + 100 == (places["template"].x + places["human_input"].x + 200) / 2


def test_a_selection_is_arranged_in_rows_and_lines_go_on_as_they_did() -> None:
    drawing = Drawing("agent", "template", "human_input")
    drawing.connect("agent", "template", "human_input")
    drawing.do(commands.arrange_items(drawing.workflow))
    before = drawing.workflow.places["human_input"]
    drawing.do(commands.arrange_items(drawing.workflow, ("agent", "template"), "down"))
    places = drawing.workflow.places
    assert places["agent"].x == places["template"].x
    assert places["template"].y > places["agent"].y
    assert (drawing.workflow.flow, places["human_input"]) == ("right", before)


def test_the_others_are_placed_around_what_is_kept() -> None:
    drawing = Drawing("agent", "template", "human_input")
    drawing.connect("agent", "template", "human_input")
    drawing.do(commands.move_items({"template": Place(x=800, y=640, kept=True)}))
    drawing.do(commands.arrange_items(drawing.workflow))
    places = drawing.workflow.places
    assert (places["template"].x, places["template"].y, places["template"].kept) == (800, 640, True)
    assert places["agent"].x < 800 < places["human_input"].x
    assert places["agent"].y == places["human_input"].y == 640
    drawing.do(commands.keep_places(drawing.workflow, ("template",), False))
    assert not drawing.workflow.places["template"].kept


def test_left_to_right_with_a_loop_and_ports_in_line() -> None:
    drawing = Drawing("agent", "switch", "agent", "template")
    drawing.connect("agent", "switch", "agent_2", "agent")
    drawing.connect("switch", "template")
    drawing.set_workflow(places={**drawing.workflow.places, "agent": Place(x=96, y=48)})
    drawing.do(commands.arrange_items(drawing.workflow))
    places, sizes = drawing.workflow.places, sizes_of(drawing.workflow, drawing.workflow.places)
    assert places["agent"].x < places["switch"].x < places["agent_2"].x == places["template"].x
    assert places["agent"].y + sizes["agent"][1] / 2 == places["switch"].y + sizes["switch"][1] / 2
    assert all(places[i].x % 8 == 0 and places[i].y % 8 == 0 for i in ("agent", "agent_2", "template"))
    assert places["agent"].x == 96


def test_arranging_some_leaves_the_others() -> None:
    drawing = Drawing("agent", "agent", "agent")
    before = drawing.workflow.places
    drawing.do(commands.arrange_items(drawing.workflow, ["agent", "agent_2"]))
    assert drawing.workflow.places["agent_3"] == before["agent_3"]


def test_parts_that_nothing_connects_are_arranged_apart_with_their_frames() -> None:
    for flow in ("right", "down"):
        drawing = Drawing("agent", "agent", "agent", "agent", "template", "agent")
        drawing.connect("agent", "agent_2")
        drawing.connect("agent_3", "agent_4")
        drawing.connect("agent_3", "agent_5")
        drawing.do(commands.move_items({i: Place(x=0, y=0) for i in drawn(drawing.workflow)}))
        for members in (("agent", "agent_2"), ("agent_3", "agent_4", "agent_5"), ("template",)):
            drawing.do(commands.new_frame(drawing.workflow, members))
        drawing.do(commands.arrange_items(drawing.workflow, flow=flow))  # type: ignore[arg-type]
        places = [drawing.workflow.places[g.id] for g in drawing.workflow.groups]
        frames = [(p.x, p.y, p.x + (p.width or 0), p.y + (p.height or 0)) for p in places]
        for i, a in enumerate(frames):
            for b in frames[i + 1 :]:
                assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
        drawing.do(commands.keep_places(drawing.workflow, ("agent_3",), True))
        again = drawing.workflow.model_copy(update={"places": {**drawing.workflow.places, **arrange(drawing.workflow)}})
        first, second = boxes(again, ("agent", "agent_4"))
        assert (second[2] if flow == "down" else second[3]) < (first[0] if flow == "down" else first[1])
        some = arrange(drawing.workflow, ("agent_4", "agent_5"))
        assert abs(some["agent_4"].y - some["agent_5"].y) + abs(some["agent_4"].x - some["agent_5"].x) < 250


def test_moving_and_labelling_keep_the_fingerprint() -> None:
    drawing = Drawing("agent", "switch", "agent", "agent")
    drawing.connect("agent", "switch", "agent_2")
    drawing.connect("switch", "agent_3")
    first, nodes = document_fingerprint(drawing.workflow), node_fingerprints(drawing.workflow)
    drawing.do(commands.move_items({"agent": Place(x=900, y=900)}))
    drawing.do(commands.set_label(drawing.workflow, "switch_case_1", "yes"))
    drawing.do(commands.new_node(drawing.workflow, "note"))
    drawing.set("agent", description="Says things.")
    drawing.set_workflow(name="Another", sample_input="x")
    assert document_fingerprint(drawing.workflow) == first
    assert node_fingerprints(drawing.workflow) == nodes


def test_what_changes_which_fingerprint() -> None:
    drawing = Drawing("agent", "function", "agent")
    drawing.connect("agent", "function", "agent_2")
    first, nodes = document_fingerprint(drawing.workflow), node_fingerprints(drawing.workflow)

    def changed() -> set[str]:
        now = node_fingerprints(drawing.workflow)
        assert document_fingerprint(drawing.workflow) != first
        return {i for i in nodes if now[i] != nodes[i]}

    before = drawing.workflow
    drawing.set("agent", instructions="Other.")
    assert changed() == {"agent"}
    drawing.workflow = before
    condition = commands.set_fields(before, "function_to_agent_2", {"condition": {"kind": "expression"}})
    drawing.do(condition)
    drawing.workflow = Workflow.model_validate(drawing.workflow.model_dump(warnings=False))
    assert changed() == {"function"}
    drawing.workflow = before
    drawing.set_workflow(modules=(ModuleDecl(name="m", source="x = 1"),))
    assert changed() == {"function"}


def test_types() -> None:
    workflow = Workflow(types=(TypeDecl(name="Score", json_schema={"type": "object", "required": ["n"]}),))
    assert types.split("text | list[Score] | nothing") == ("text", "list[Score]")
    assert types.unknown_types(workflow, "text | list[Score] | Gone") == ("Gone",)
    assert types.schema(workflow, "list[Score]") == {"type": "array", "items": {"type": "object", "required": ["n"]}}
    assert types.schema(workflow, "text | integer") == {"anyOf": [{"type": "string"}, {"type": "integer"}]}
    assert types.schema(workflow, "nothing") == {}
    function = FunctionNode(id="f", name="F", accepts="text", sends="nothing")
    agent = AgentNode(id="a", name="A")
    assert types.compatible(types.sends(agent), types.accepts(function))
    assert types.compatible(types.sends(function), types.accepts(agent))
    assert not types.compatible(("number",), types.accepts(agent))
    assert types.fits("integer", "number")
    assert not types.fits("number", "integer")
    assert types.fits("list[text]", "list[any]")
    assert not types.fits("list[response]", "messages")


def test_a_label_gets_room_between_layers() -> None:
    drawing = Drawing("agent", "template")
    drawing.connect("agent", "template")
    edge = drawing.workflow.edges[0]
    drawing.do(commands.set_label(drawing.workflow, edge.id, "score ≥ 8 and more"))
    drawing.do(commands.arrange_items(drawing.workflow))
    places = drawing.workflow.places
    assert places["template"].x - places["agent"].x - 200 == 200  # the most
    drawing.do(commands.set_label(drawing.workflow, edge.id, "good"))
    drawing.do(commands.arrange_items(drawing.workflow))
    places = drawing.workflow.places
    assert places["template"].x - places["agent"].x - 200 == 96
