"""Align, distribute, make room, bends, taking out of the wire, copies with outer edges, collapsed frames."""

from __future__ import annotations

import pytest
from studio.document import commands
from studio.document.aligning import Side
from studio.document.bends import apply_tidily, bends_of, moved_bends
from studio.document.conditions import Condition, Rule
from studio.document.edits import SetPlaces
from studio.document.lines import line, lines
from studio.document.model import FanInEdge, Place, SwitchEdge, Workflow
from studio.document.problems import Problem
from studio.document.validate import problems

from tests.document.building import Drawing

YES = Condition(name="old", rule=Rule(value="yes"))


def ends(workflow: Workflow) -> set[tuple[str, str]]:
    return {(found.source, found.target) for found in lines(workflow)}


def spread() -> Drawing:
    """Three cards and a rhombus, each 10 lower than the one before."""
    drawing = Drawing("agent", "agent", "switch", "agent")
    for i, item in enumerate(("agent", "agent_2", "switch", "agent_3")):
        drawing.do(SetPlaces({item: Place(x=300 * i, y=10 * i)}))
    return drawing


# ------------------------------------------------------------------------------------------ places


@pytest.mark.parametrize(
    ("side", "coordinate", "expected"),
    [
        ("left", "x", {0.0}),
        ("up", "y", {0.0}),
        ("right", "x", {900.0, 1060.0}),
        ("down", "y", {30.0, 54.0}),
        ("along", "y", {15.0, 27.0}),
    ],
)
def test_align(side: Side, coordinate: str, expected: set[float]) -> None:
    drawing = spread()
    drawing.do(commands.align(drawing.workflow, ("agent", "agent_2", "switch", "agent_3"), side))
    assert {getattr(p, coordinate) for p in drawing.workflow.places.values()} == expected


def test_align_middles_above_each_other() -> None:
    drawing = spread()
    drawing.do(commands.align(drawing.workflow, ("agent", "switch"), "across"))
    assert drawing.workflow.places["agent"].x + 100 == drawing.workflow.places["switch"].x + 20


def test_distribute_makes_equal_gaps_and_keeps_the_outermost() -> None:
    drawing = spread()
    drawing.do(SetPlaces({"agent_2": Place(x=210, y=0)}))
    drawing.do(commands.distribute(drawing.workflow, ("agent", "agent_2", "switch", "agent_3"), "x"))
    places = drawing.workflow.places
    assert (places["agent"].x, places["agent_3"].x) == (0, 900)
    gaps = (places["agent_2"].x - 200, places["switch"].x - places["agent_2"].x - 200, 900 - places["switch"].x - 40)
    assert max(gaps) - min(gaps) < 1e-6


def test_align_and_distribute_of_one_item_change_nothing() -> None:
    drawing = spread()
    before = drawing.workflow
    drawing.do(commands.align(before, ("agent",), "left"))
    drawing.do(commands.distribute(before, ("agent", "agent_2"), "x"))
    assert drawing.workflow == before


def test_what_follows_moves_aside_and_what_does_not_stays() -> None:
    drawing = Drawing("agent", "agent", "agent", "agent", "agent", "agent")
    drawing.connect("agent", "agent_2", "agent_3")
    for item, x in (("agent", 0), ("agent_2", 272), ("agent_3", 544), ("agent_4", 544), ("agent_5", 760)):
        drawing.do(SetPlaces({item: Place(x=x, y=300 if item == "agent_4" else 0)}))
    drawing.do(SetPlaces({"agent_6": Place(x=980, y=40)}))
    edit, new_id = commands.insert_on_edge(drawing.workflow, "agent_to_agent_2", "template", place=Place(x=136, y=0))  # type: ignore[misc]
    drawing.do(edit)
    drawing.do(commands.make_room(drawing.workflow, new_id))
    x = {i: p.x for i, p in drawing.workflow.places.items()}
    assert x["agent"] == 0
    assert x[new_id] >= 200 + 48
    assert x["agent_2"] >= x[new_id] + 200 + 48
    assert x["agent_3"] - x["agent_2"] == 272
    assert x["agent_4"] == 544
    in_the_way = (x["agent_5"] - x["agent_2"], x["agent_6"] - x["agent_2"])
    assert in_the_way == (760 - 272, 980 - 272), "no edge leads there, but it would be covered"


def test_room_that_is_there_is_left_alone() -> None:
    drawing = Drawing("agent", "template", "agent")
    drawing.connect("agent", "template", "agent_2")
    for item, x in (("agent", 0), ("template", 300), ("agent_2", 600)):
        drawing.do(SetPlaces({item: Place(x=x, y=0)}))
    assert commands.make_room(drawing.workflow, "template") == SetPlaces({})


def test_a_back_edge_moves_nothing() -> None:
    drawing = Drawing("agent", "template")
    drawing.connect("agent", "template", "agent")
    for item, x in (("agent", 0), ("template", 104)):
        drawing.do(SetPlaces({item: Place(x=x, y=0)}))
    drawing.do(commands.make_room(drawing.workflow, "template"))
    assert drawing.workflow.places["agent"].x == 0
    assert drawing.workflow.places["template"].x == 248


# ------------------------------------------------------------------------------------------- bends


def bent() -> Drawing:
    drawing = Drawing("agent", "switch", "template", "template")
    drawing.connect("agent", "switch", "template")
    drawing.connect("switch", "template_2")
    drawing.do(commands.set_bends("switch_case_1", [(5, 6), (7, 8)]))
    drawing.do(commands.set_bends("switch:in", [(1, 2)]))
    return drawing


def test_bends_are_set_and_taken_away() -> None:
    drawing = bent()
    assert bends_of(drawing.workflow, "switch_case_1") == ((5, 6), (7, 8))
    drawing.do(commands.set_bends("switch_case_1", ()))
    assert "switch_case_1" not in drawing.workflow.places


def test_bends_go_with_their_line_and_come_back_with_it() -> None:
    before = bent().workflow
    for ids in (("template",), ("switch_case_1",), ("switch",), ("agent",)):
        done = apply_tidily(commands.delete_items(before, ids), before)
        left = {i for i, p in done.workflow.places.items() if p.bends}
        assert left == {"switch_case_1", "switch:in"} & {ln.id for ln in lines(done.workflow)}
        assert done.inverse.apply(done.workflow).workflow == before


def test_a_line_that_leads_elsewhere_loses_its_bends() -> None:
    before = bent().workflow
    edit = commands.reconnect(before, "switch:in", source="template")
    assert not isinstance(edit, Problem)
    done = apply_tidily(edit, before)
    assert bends_of(done.workflow, "switch:in") == ()
    assert bends_of(done.workflow, "switch_case_1") == ((5, 6), (7, 8))


def test_bends_between_moved_items_move_along() -> None:
    workflow = bent().workflow
    places = moved_bends(workflow, ("switch", "template"), 10, 20)
    assert {i: p.bends for i, p in places.items() if p} == {"switch_case_1": ((15, 26), (17, 28))}


def test_arranging_takes_bends_away_and_copies_take_them_along() -> None:
    drawing = bent()
    text = commands.copy_items(drawing.workflow, ("agent", "switch", "template", "template_2"))
    pasted = commands.paste_items(Workflow(), text, Place(x=1000, y=0))
    assert not isinstance(pasted, Problem)
    copied = {i: p.bends for i, p in pasted.apply(Workflow()).workflow.places.items() if p.bends}
    assert set(copied) == {"switch_case_1", "switch:in"}
    assert copied["switch:in"] != ((1, 2),)
    drawing.do(commands.arrange_items(drawing.workflow))
    assert not any(p.bends for p in drawing.workflow.places.values())


# ---------------------------------------------------------------------------------------- bypassing


def test_delete_and_join_keeps_the_condition_before_the_node() -> None:
    drawing = Drawing("agent", "agent", "template")
    drawing.connect("agent", "agent_2", "template")
    drawing.do(commands.set_condition(drawing.workflow, "agent_to_agent_2", YES))
    drawing.do(commands.delete_and_join(drawing.workflow, ("agent_2",)))
    assert ends(drawing.workflow) == {("agent", "template")}
    kept = line(drawing.workflow, "agent_to_agent_2")
    assert kept is not None
    assert kept.condition is not None


def test_an_edge_without_a_condition_takes_that_behind_the_node() -> None:
    drawing = Drawing("agent", "template", "template")
    drawing.connect("agent", "template", "template_2")
    drawing.do(commands.set_condition(drawing.workflow, "template_to_template_2", YES))
    drawing.do(commands.delete_and_join(drawing.workflow, ("template",)))
    (found,) = lines(drawing.workflow)
    assert found.condition is not None
    assert found.condition.rule == YES.rule


def test_several_neighbours_are_all_joined() -> None:
    drawing = Drawing("agent", "template", "template", "template", "template", "template")
    drawing.connect("agent", "template")
    drawing.connect("agent", "template_2")
    for first in ("template", "template_2"):
        drawing.connect(first, "template_3")
    drawing.connect("template_3", "template_4")
    drawing.connect("template_3", "template_5")
    drawing.do(commands.delete_and_join(drawing.workflow, ("template_3",)))
    wanted = {(a, b) for a in ("template", "template_2") for b in ("template_4", "template_5")}
    assert ends(drawing.workflow) == wanted | {("agent", "template"), ("agent", "template_2")}


def test_a_case_leads_on_and_a_barrier_keeps_its_order() -> None:
    drawing = Drawing("agent", "switch", "template", "template", "join", "template")
    drawing.connect("agent", "switch", "template", "join", "template_3")
    drawing.connect("switch", "template_2", "join")
    before = drawing.edge("switch")
    drawing.do(commands.delete_and_join(drawing.workflow, ("template",)))
    after = drawing.edge("switch")
    assert isinstance(before, SwitchEdge)
    assert isinstance(after, SwitchEdge)
    assert [c.id for c in after.cases] == [c.id for c in before.cases]
    assert drawing.node(after.cases[0].target).kind == "pass"
    fan_in = drawing.edge("into_join")
    assert isinstance(fan_in, FanInEdge)
    assert len(fan_in.sources) == 2


def test_the_source_of_a_switch_is_replaced() -> None:
    drawing = Drawing("agent", "agent", "switch", "template", "template")
    drawing.connect("agent", "agent_2", "switch", "template")
    drawing.connect("switch", "template_2")
    drawing.do(commands.delete_and_join(drawing.workflow, ("agent_2",)))
    switch = drawing.edge("switch")
    assert isinstance(switch, SwitchEdge)
    assert switch.source == "agent"
    assert "switch_no_source" not in drawing.codes()


def test_a_deleted_start_hands_on() -> None:
    drawing = Drawing("agent", "agent")
    drawing.connect("agent", "agent_2")
    drawing.do(commands.delete_and_join(drawing.workflow, ("agent",)))
    assert drawing.workflow.start == "agent_2"


def test_a_chain_is_deleted_as_one() -> None:
    drawing = Drawing("agent", "template", "template", "template")
    drawing.connect("agent", "template", "template_2", "template_3")
    drawing.do(commands.delete_and_join(drawing.workflow, ("template", "template_2")))
    assert ends(drawing.workflow) == {("agent", "template_3")}


def test_a_node_taken_out_of_the_wire_stays_without_edges() -> None:
    drawing = Drawing("agent", "template", "template")
    drawing.connect("agent", "template", "template_2")
    drawing.do(commands.take_out(drawing.workflow, "template"))
    assert ends(drawing.workflow) == {("agent", "template_2")}
    assert drawing.workflow.node("template") is not None
    refused = commands.take_out(drawing.workflow, "template")
    assert isinstance(refused, Problem)
    assert refused.code == "cannot_bypass"


# ------------------------------------------------------------------------------------- outer edges


def test_a_copy_keeps_outer_edges_only_when_asked_and_only_at_home() -> None:
    drawing = Drawing("agent", "agent", "join", "template", "agent")
    drawing.connect("agent", "agent_2", "join", "template")
    drawing.connect("agent_3", "join")
    drawing.connect("agent", "agent_3")
    drawing.do(commands.set_condition(drawing.workflow, "agent_to_agent_2", YES))
    text = commands.copy_items(drawing.workflow, ("agent_2",))
    plain, outer = (commands.paste_items(drawing.workflow, text, keep_outer=keep) for keep in (False, True))
    assert not isinstance(plain, Problem)
    assert not isinstance(outer, Problem)
    assert ends(plain.apply(drawing.workflow).workflow) == ends(drawing.workflow)
    after = outer.apply(drawing.workflow).workflow
    (copy,) = commands.pasted_ids(outer)[:1]
    assert ends(after) - ends(drawing.workflow) == {("agent", copy), (copy, "join")}
    conditions = [ln.condition for ln in lines(after) if ln.target == copy]
    assert [c.rule if c else None for c in conditions] == [YES.rule]
    assert conditions[0] is not None
    assert conditions[0].name != YES.name
    elsewhere = Workflow(id="elsewhere", nodes=drawing.workflow.nodes)
    foreign = commands.paste_items(elsewhere, text, keep_outer=True)
    assert not isinstance(foreign, Problem)
    assert ends(foreign.apply(elsewhere).workflow) == set()


def test_a_copy_behind_a_switch_becomes_a_case_of_its_own() -> None:
    drawing = Drawing("agent", "switch", "template", "template")
    drawing.connect("agent", "switch", "template")
    drawing.connect("switch", "template_2")
    drawing.do(commands.set_condition(drawing.workflow, "switch_case_1", YES))
    drawing.do(commands.duplicate(drawing.workflow, ("template",), keep_outer=True))
    switch = drawing.edge("switch")
    assert isinstance(switch, SwitchEdge)
    assert [c.condition.rule for c in switch.cases if c.condition] == [YES.rule, YES.rule]
    assert not [p for p in problems(drawing.workflow) if p.severity == "error"]


# --------------------------------------------------------------------------------------- collapsed


def test_a_collapsed_frame_says_so_in_its_place_and_opens_as_it_was() -> None:
    drawing = Drawing("agent", "agent")
    edit, group = commands.new_frame(drawing.workflow, ("agent", "agent_2"))
    drawing.do(edit)
    before = drawing.workflow
    drawing.do(commands.set_collapsed(before, group, True))
    assert drawing.workflow.places[group].collapsed
    drawing.do(commands.set_collapsed(drawing.workflow, group, False))
    assert drawing.workflow == before
