"""What gestures become."""

from __future__ import annotations

import json
from typing import Literal

import pytest
from studio.document import commands
from studio.document.conditions import Condition, Rule, describe
from studio.document.geometry import boxes
from studio.document.lines import default_id, into_id, leg_id, lines
from studio.document.model import (
    DirectEdge,
    FanInEdge,
    FanOutEdge,
    JoinNode,
    OfflineScript,
    Place,
    SwitchEdge,
    ToolDecl,
    Workflow,
)
from studio.document.problems import Problem
from studio.document.room import GAP, with_room
from studio.document.validate import problems

from tests.document.building import Drawing


def ends(workflow: Workflow) -> set[tuple[str, str]]:
    return {(found.source, found.target) for found in lines(workflow)}


def test_the_first_node_becomes_the_start() -> None:
    drawing = Drawing("note", "switch", "join", "agent", "agent")
    assert drawing.workflow.start == "agent"


def test_new_things_cover_nothing() -> None:
    drawing = Drawing("agent", "agent", "switch", "fan_out", "join", "note")
    corners = [(p.x, p.y) for p in drawing.workflow.places.values()]
    assert len(set(corners)) == 6
    edit, new_id = commands.new_node(drawing.workflow, "agent", place=Place(x=40, y=24))
    drawing.do(edit)
    assert drawing.workflow.places[new_id] == Place(x=40, y=24)


def test_a_switch_drawn_line_by_line() -> None:
    drawing = Drawing("agent", "switch", "agent", "function", "template")
    drawing.connect("agent", "switch")
    for target in ("agent_2", "function", "template"):
        drawing.do(commands.connect(drawing.workflow, "switch", target))
    switch = drawing.edge("switch")
    assert isinstance(switch, SwitchEdge)
    assert [c.target for c in switch.cases] == ["agent_2", "template"]
    assert switch.default == "function"
    assert {p.code for p in problems(drawing.workflow) if p.severity == "error"} == {"incomplete_rule"}


def test_a_second_case_to_the_same_target_gets_a_pass_node() -> None:
    drawing = Drawing("agent", "switch", "agent")
    drawing.connect("agent", "switch", "agent_2")
    drawing.connect("switch", "agent_2")
    switch = drawing.edge("switch")
    assert isinstance(switch, SwitchEdge)
    assert switch.default == "switch__pass"
    assert ("switch__pass", "agent_2") in ends(drawing.workflow)
    assert "duplicate_edge" not in drawing.codes()


def test_junction_behind_junction_gets_a_pass_node() -> None:
    drawing = Drawing("agent", "switch", "fan_out", "join", "agent", "agent")
    drawing.connect("agent", "switch", "fan_out", "agent_2")
    drawing.connect("fan_out", "join")
    assert {n.id for n in drawing.workflow.nodes if n.kind == "pass"} == {"switch__pass", "fan_out__pass"}
    assert {("switch__pass", "fan_out"), ("fan_out__pass", "join")} <= ends(drawing.workflow)


def test_a_join_bar_collects_sources() -> None:
    drawing = Drawing("agent", "agent", "join", "agent")
    drawing.connect("agent", "join")
    drawing.connect("agent_2", "join", "agent_3")
    fan_in = next(e for e in drawing.workflow.edges if isinstance(e, FanInEdge))
    assert fan_in.sources == ("agent", "agent_2")
    assert drawing.refused("agent", "join").code == "duplicate_edge"
    assert drawing.refused("join", "join").code == "cannot_connect"
    drawing.do(commands.order_sources(drawing.workflow, fan_in.id, ["agent_2", "agent"]))
    assert drawing.edge(fan_in.id) == fan_in.model_copy(update={"sources": ("agent_2", "agent")})


def test_a_join_bar_hands_messages_to_an_agent_and_texts_to_a_function() -> None:
    for kind, merge in (("agent", "messages"), ("function", "texts")):
        drawing = Drawing("join")
        drawing.connect("join", drawing.add(kind))
        bar = drawing.node("join")
        assert isinstance(bar, JoinNode)
        assert bar.merge == merge


def test_a_second_edge_is_offered_as_or() -> None:
    drawing = Drawing("agent", "agent")
    drawing.connect("agent", "agent_2")
    plain = drawing.refused("agent", "agent_2")
    assert (plain.code, plain.fix) == ("duplicate_edge", None)
    edge = drawing.workflow.edges[0]
    drawing.do(commands.set_condition(drawing.workflow, edge.id, Condition(rule=Rule(value="yes"))))
    refused = drawing.refused("agent", "agent_2")
    assert refused.fix is not None
    drawing.do(refused.fix.edit)
    changed = drawing.edge(edge.id)
    assert isinstance(changed, DirectEdge)
    assert describe(changed.condition) == "contains “yes” or contains …"
    assert changed.condition is not None
    assert changed.condition.name == f"when_{edge.id}"


def test_a_second_edge_beside_a_case_is_offered_as_or_in_the_case() -> None:
    drawing = Drawing("agent", "switch", "agent")
    drawing.connect("agent", "switch", "agent_2")
    refused = drawing.refused("agent", "agent_2")
    assert refused.message == (
        "“Switch” leads from “Agent” to “Agent 2” already. Extend the condition of its case with “or” instead."
    )
    assert refused.fix is not None
    drawing.do(refused.fix.edit)
    switch = drawing.edge("switch")
    assert isinstance(switch, SwitchEdge)
    assert describe(switch.cases[0].condition) == "contains … or contains …"


@pytest.mark.parametrize("flow", ["right", "down"])
def test_a_new_switch_and_a_pass_node_get_room_between_others(flow: Literal["right", "down"]) -> None:
    drawing = Drawing("agent", "agent")
    drawing.connect("agent", "agent_2")
    ahead = Place(x=216, y=0) if flow == "right" else Place(x=0, y=80)
    places = {"agent": Place(x=0, y=0), "agent_2": ahead}
    drawing.workflow = drawing.workflow.model_copy(update={"flow": flow, "places": places})
    drawing.do(commands.to_switch(drawing.workflow, "agent_to_agent_2"))
    for target in ("agent", "agent_2"):  # the default, and a case whose target the switch leads to already
        edit = commands.connect(drawing.workflow, "switch", target)
        assert not isinstance(edit, Problem)
        drawing.do(with_room(drawing.workflow, edit))
    found = boxes(drawing.workflow, ("agent", "switch", "switch__pass", "agent_2"))
    along = 0 if flow == "right" else 1
    for first, second in ((found[0], found[1]), (found[1], found[2]), (found[2], found[3])):
        assert second[along] - first[along + 2] >= GAP
    assert found[0][1 - along] == found[3][1 - along], "nothing moves across the way that lines run"


def test_self_edges_are_allowed_once() -> None:
    drawing = Drawing("agent")
    drawing.connect("agent", "agent")
    assert drawing.refused("agent", "agent").code == "duplicate_edge"


def test_what_cannot_be_connected() -> None:
    drawing = Drawing("agent", "note", "end", "function", "agent")
    assert drawing.refused("agent", "note").message == "“note” cannot be connected."
    assert drawing.refused("end", "agent").code == "cannot_connect"
    drawing.do(commands.new_frame(drawing.workflow, ("agent_2",)))
    assert drawing.refused("agent", "frame").message == "“Frame” is a frame: open it, and connect what is inside."
    drawing.set("function", sends="number")
    problem = drawing.refused("function", "agent_2")
    assert problem.code == "type_mismatch"
    assert problem.message.startswith("“Function” sends a number; “Agent 2” takes text, a message, ")


def test_a_junction_with_a_source_offers_to_change_it() -> None:
    drawing = Drawing("agent", "agent", "switch")
    drawing.connect("agent", "switch")
    refused = drawing.refused("agent_2", "switch")
    assert refused.code == "has_source"
    assert refused.fix is not None
    drawing.do(refused.fix.edit)
    assert ("agent_2", "switch") in ends(drawing.workflow)


def test_connecting_a_finished_switch_checks_what_is_behind_it() -> None:
    drawing = Drawing("agent", "agent", "switch", "agent")
    drawing.connect("switch", "agent_2")
    drawing.connect("agent", "agent_2")
    assert drawing.refused("agent", "switch").code == "duplicate_edge"


def test_delete_takes_everything_along_and_brings_it_back() -> None:
    drawing = Drawing("agent", "switch", "agent", "agent", "fan_out", "join", "agent", "note")
    drawing.connect("agent", "switch", "agent_2")
    drawing.connect("switch", "agent_3")
    drawing.connect("agent_2", "fan_out", "agent_4")
    drawing.connect("agent_2", "join")
    drawing.connect("agent_3", "join")
    drawing.do(commands.new_frame(drawing.workflow, ["agent_2", "agent_3"]))
    drawing.set_workflow(outputs=("agent_2",), offline=OfflineScript(nodes={"agent_2": {"replies": []}}))
    before = drawing.workflow
    done = commands.delete_items(before, ["agent_2", "note"]).apply(before)
    after = done.workflow
    assert not any("agent_2" in pair for pair in ends(after))
    assert (after.outputs, after.offline.nodes, after.groups[0].members) == (None, {}, ("agent_3",))
    assert {"agent_2", "note"}.isdisjoint(after.places)
    assert done.inverse.apply(after).workflow == before


def test_single_lines_can_be_deleted() -> None:
    drawing = Drawing("agent", "switch", "agent", "agent", "fan_out", "join")
    drawing.connect("agent", "switch", "agent_2")
    drawing.connect("switch", "agent_3")
    drawing.connect("agent_2", "join")
    drawing.connect("agent_3", "join")
    drawing.connect("fan_out", "agent_2")
    fan_in = next(e for e in drawing.workflow.edges if isinstance(e, FanInEdge))
    gone = [into_id("switch"), default_id("switch"), leg_id(fan_in.id, "agent_2"), leg_id("fan_out", "agent_2")]
    drawing.do(commands.delete_items(drawing.workflow, gone))
    assert ends(drawing.workflow) == {("switch", "agent_2"), ("agent_3", "join")}
    drawing.do(commands.delete_items(drawing.workflow, ["switch_case_1", leg_id(fan_in.id, "agent_3")]))
    assert ends(drawing.workflow) == set()
    assert drawing.workflow.edge(fan_in.id) is None
    assert drawing.workflow.edge("switch") is not None


def test_reconnect_keeps_the_condition() -> None:
    drawing = Drawing("agent", "agent", "agent", "join")
    drawing.connect("agent", "agent_2")
    edge_id = drawing.workflow.edges[0].id
    drawing.do(commands.set_condition(drawing.workflow, edge_id, Condition(rule=Rule(value="x"))))
    drawing.do(commands.reconnect(drawing.workflow, edge_id, target="agent_3"))
    edge = drawing.edge(edge_id)
    assert isinstance(edge, DirectEdge)
    assert (edge.source, edge.target) == ("agent", "agent_3")
    assert edge.condition is not None
    drawing.do(commands.reconnect(drawing.workflow, edge_id, target="join"))
    assert ends(drawing.workflow) == {("agent", "join")}


def test_reconnect_to_a_taken_place_is_refused() -> None:
    drawing = Drawing("agent", "agent", "agent")
    drawing.connect("agent", "agent_2")
    drawing.connect("agent", "agent_3")
    found = commands.reconnect(drawing.workflow, drawing.workflow.edges[0].id, target="agent_3")
    assert isinstance(found, Problem)
    assert found.code == "duplicate_edge"


def test_reconnect_cases_legs_and_sources_in_place() -> None:
    drawing = Drawing("agent", "switch", "fan_out", "join", "agent", "agent", "agent")
    drawing.connect("agent", "switch", "agent_2")
    drawing.connect("fan_out", "agent_2")
    drawing.connect("fan_out", "agent_3")
    drawing.connect("agent_2", "join")
    drawing.connect("agent_3", "join")
    fan_in = next(e for e in drawing.workflow.edges if isinstance(e, FanInEdge))
    drawing.do(commands.reconnect(drawing.workflow, "switch_case_1", target="agent_4"))
    drawing.do(commands.reconnect(drawing.workflow, leg_id("fan_out", "agent_2"), target="agent_4"))
    drawing.do(commands.reconnect(drawing.workflow, leg_id(fan_in.id, "agent_2"), source="agent_4"))
    bar, join = drawing.edge("fan_out"), drawing.edge(fan_in.id)
    assert isinstance(bar, FanOutEdge)
    assert isinstance(join, FanInEdge)
    assert (bar.targets, join.sources) == (("agent_4", "agent_3"), ("agent_4", "agent_3"))
    assert ("switch", "agent_4") in ends(drawing.workflow)


def test_insert_on_every_kind_of_line() -> None:
    drawing = Drawing("agent", "switch", "agent", "join")
    drawing.connect("agent", "switch", "agent_2", "join")
    drawing.do(commands.set_condition(drawing.workflow, "switch_case_1", Condition(rule=Rule(value="x"))))
    for line_id in [found.id for found in lines(drawing.workflow)]:
        drawing.do(commands.insert_on_edge(drawing.workflow, line_id, "template"))
    assert ends(drawing.workflow) == {
        ("agent", "template"),
        ("template", "switch"),
        ("switch", "template_2"),
        ("template_2", "agent_2"),
        ("agent_2", "template_3"),
        ("template_3", "join"),
    }
    switch = drawing.edge("switch")
    assert isinstance(switch, SwitchEdge)
    assert describe(switch.cases[0].condition) == "contains “x”"
    assert "template_2" in drawing.workflow.places


def test_insert_a_switch_takes_the_condition() -> None:
    drawing = Drawing("agent", "agent")
    drawing.connect("agent", "agent_2")
    edge_id = drawing.workflow.edges[0].id
    drawing.do(commands.set_condition(drawing.workflow, edge_id, Condition(rule=Rule(value="x"))))
    drawing.do(commands.insert_on_edge(drawing.workflow, edge_id, "switch"))
    switch = drawing.edge("switch")
    assert isinstance(switch, SwitchEdge)
    assert (switch.source, switch.cases[0].target) == ("agent", "agent_2")
    assert describe(switch.cases[0].condition) == "contains “x”"


def test_drop_on_edge_refuses_its_own_ends() -> None:
    drawing = Drawing("agent", "agent")
    drawing.connect("agent", "agent_2")
    found = commands.drop_on_edge(drawing.workflow, drawing.workflow.edges[0].id, "agent")
    assert isinstance(found, Problem)


def test_conversions() -> None:
    drawing = Drawing("agent", "agent", "function", "template")
    for target in ("agent_2", "function", "template"):
        drawing.connect("agent", target)
    drawing.do(commands.set_condition(drawing.workflow, "agent_to_agent_2", Condition(rule=Rule(value="x"))))
    before = drawing.workflow
    drawing.do(commands.to_switch(before, "agent_to_agent_2"))
    assert ends(drawing.workflow) == {
        ("agent", "switch"),
        ("switch", "agent_2"),
        ("switch", "function"),
        ("agent", "template"),
    }
    assert [p.code for p in problems(drawing.workflow) if p.severity == "error"] == []
    drawing.workflow = before
    drawing.do(commands.to_fan_out(before, "agent"))
    bar = drawing.edge("fan_out")
    assert isinstance(bar, FanOutEdge)
    assert bar.targets == ("agent_2", "function", "template")
    assert list(bar.selection or {}) == ["agent_2"]


def test_change_id_everywhere() -> None:
    drawing = Drawing("agent", "switch", "agent", "join", "fan_out")
    drawing.connect("agent", "switch", "agent_2", "join")
    drawing.connect("fan_out", "agent_2")
    drawing.do(commands.new_frame(drawing.workflow, ["agent_2"]))
    drawing.set_workflow(start="agent_2", outputs=("agent_2",), offline=OfflineScript(nodes={"agent_2": {}}))
    drawing.do(commands.change_id(drawing.workflow, "agent_2", "critic"))
    assert "agent_2" not in drawing.workflow.model_dump_json().replace("agent_2.", "")
    assert isinstance(commands.change_id(drawing.workflow, "critic", "AGENT"), Problem)
    assert isinstance(commands.change_id(drawing.workflow, "critic", "no id"), Problem)


def test_what_an_editor_did_to_copied_nodes_is_read_or_refused_with_the_place() -> None:
    drawing = Drawing("agent", "agent", "join")
    drawing.connect("agent", "agent_2", "join")
    text = commands.copy_items(drawing.workflow, ["agent", "agent_2"])
    first, *_ = json.loads(text)["nodes"]

    def pasted(changed: str) -> str:
        edit = commands.paste_items(drawing.workflow, changed)
        if isinstance(edit, Problem):
            return edit.message
        after = edit.apply(drawing.workflow).workflow
        return f"{len(after.nodes)} nodes, {len(after.edges)} edges"

    def changed(**values: object) -> str:
        return json.dumps({**json.loads(text), **values})

    assert pasted(f"```json\n{text}\n```\n") == "5 nodes, 3 edges"
    assert pasted(changed(nodes=[first])) == "4 nodes, 2 edges"  # its edge leads to nothing and stays out
    refused = "The nodes in the clipboard cannot be read: "
    assert pasted(changed(nodes=[first, first])) == f"{refused}two things have the id “agent”."
    assert pasted(changed(nodes=[{**first, "id": ""}])) == f"{refused}something has no id."
    assert pasted(changed(nodes=5)) == f"{refused}nodes: input should be a valid tuple."
    assert pasted(text.replace('"nodes":[', '"nodes":[,', 1)).startswith(f"{refused}expecting value in line 1, column ")
    assert pasted(changed(nodes=[], edges=[])) == "The clipboard holds no nodes of a workflow."


def test_copy_and_paste_into_another_document() -> None:
    drawing = Drawing("agent", "switch", "agent", "note", "join", "agent")
    drawing.connect("agent", "switch", "agent_2", "join")
    drawing.connect("switch", "agent_3")
    drawing.do(commands.set_condition(drawing.workflow, "switch_case_1", Condition(rule=Rule(value="x"))))
    drawing.set_workflow(tools=(ToolDecl(name="look_up"),), offline=OfflineScript(nodes={"agent": {"replies": []}}))
    text = commands.copy_items(drawing.workflow, ["agent", "switch", "agent_2", "note"])
    other = Drawing("agent")
    edit = commands.paste_items(other.workflow, text, Place(x=1000, y=80))
    assert not isinstance(edit, Problem)
    other.do(edit)
    assert commands.pasted_ids(edit) == ("agent_2", "agent_3", "switch", "note")
    assert [n.name for n in other.workflow.nodes] == ["Agent", "Agent 2", "Agent 3"]
    switch = other.edge("switch")
    assert isinstance(switch, SwitchEdge)
    assert (switch.source, switch.default) == ("agent_2", None)
    assert switch.cases[0].target == "agent_3"
    assert other.workflow.tools[0].name == "look_up"
    assert list(other.workflow.offline.nodes) == ["agent_2"]
    pasted = [other.workflow.places[i] for i in commands.pasted_ids(edit) if i in other.workflow.places]
    assert (min(p.x for p in pasted), min(p.y for p in pasted)) == (1000, 80)


def test_duplicate_leaves_outside_edges() -> None:
    drawing = Drawing("agent", "agent", "agent")
    drawing.connect("agent", "agent_2", "agent_3")
    drawing.do(commands.duplicate(drawing.workflow, ["agent", "agent_2"]))
    assert len(drawing.workflow.edges) == 3
    new = drawing.workflow.edges[-1]
    assert isinstance(new, DirectEdge)
    assert (new.source, new.target) == ("agent_4", "agent_5")


def test_outputs() -> None:
    drawing = Drawing("agent", "agent")
    drawing.set_workflow(intermediate=("agent",))
    drawing.do(commands.set_output(drawing.workflow, "agent", True))
    assert (drawing.workflow.outputs, drawing.workflow.intermediate) == (("agent",), None)
    drawing.do(commands.set_output(drawing.workflow, "agent", False))
    assert drawing.workflow.outputs is None


def test_cases_in_another_order() -> None:
    drawing = Drawing("agent", "switch", "agent", "agent", "agent")
    drawing.connect("agent", "switch")
    for target in ("agent_2", "agent_3", "agent_4"):
        drawing.connect("switch", target)
    drawing.do(commands.order_cases(drawing.workflow, "switch", ["switch_case_2", "switch_case_1"]))
    switch = drawing.edge("switch")
    assert isinstance(switch, SwitchEdge)
    assert [c.id for c in switch.cases] == ["switch_case_2", "switch_case_1"]


@pytest.mark.parametrize("bar", ["switch", "fan_out", "join"])
@pytest.mark.parametrize("which", ["switch_case_1", "switch:default"])
def test_a_bar_on_a_case_keeps_the_order_and_condition_of_cases(bar: str, which: str) -> None:
    drawing = Drawing("agent", "switch", "template", "template", "template")
    drawing.connect("agent", "switch", "template")
    drawing.connect("switch", "template_2")
    drawing.connect("switch", "template_3")
    wanted = Condition(name="kept", rule=Rule(value="yes"))
    drawing.do(commands.set_condition(drawing.workflow, "switch_case_1", wanted))
    before = drawing.edge("switch")
    assert isinstance(before, SwitchEdge)
    drawing.do(commands.insert_on_edge(drawing.workflow, which, bar))
    after = drawing.edge("switch")
    assert isinstance(after, SwitchEdge)
    assert [(c.id, c.condition) for c in after.cases] == [(c.id, c.condition) for c in before.cases]
    assert after.default is not None
    led = after.default if which == "switch:default" else after.cases[0].target
    assert drawing.node(led).kind == "pass"


def test_a_bar_on_a_conditional_edge_leaves_the_condition_before_it() -> None:
    drawing = Drawing("agent", "template")
    drawing.connect("agent", "template")
    drawing.do(commands.set_condition(drawing.workflow, "agent_to_template", Condition(rule=Rule(value="yes"))))
    drawing.do(commands.insert_on_edge(drawing.workflow, "agent_to_template", "fan_out"))
    kept = drawing.edge("agent_to_template")
    assert isinstance(kept, DirectEdge)
    assert kept.condition is not None
    assert drawing.node(kept.target).kind == "pass"


def test_a_fix_of_a_refusal_behind_a_pass_node_brings_the_node_along() -> None:
    drawing = Drawing("agent", "fan_out", "switch", "template", "template")
    drawing.connect("agent", "switch", "template")
    refused = drawing.refused("fan_out", "switch")
    assert refused.fix is not None
    drawing.do(refused.fix.edit)
    assert "dangling_edge" not in drawing.codes()


def test_a_node_that_is_connected_already_is_not_put_on_an_edge_twice() -> None:
    drawing = Drawing("agent", "template", "template")
    drawing.connect("agent", "template")
    drawing.connect("agent", "template_2")
    refused = commands.drop_on_edge(drawing.workflow, "agent_to_template", "template_2")
    assert isinstance(refused, Problem)
    assert refused.code == "duplicate_edge"
