"""Extracting a sub-workflow and putting it back: edges, conditions, start, outputs, places."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from studio.document import commands
from studio.document.conditions import Condition, Rule
from studio.document.geometry import GRID, boxes
from studio.document.lines import lines, pairs
from studio.document.model import FanInEdge, Place, SubWorkflowNode, SwitchEdge, Workflow
from studio.document.problems import Problem
from studio.document.validate import problems

from tests.assembly.running import Bench, script
from tests.document.building import Drawing


def named_ends(workflow: Workflow) -> set[tuple[str, str]]:
    """Edges by the names of their nodes, which come back when ids do not."""
    names = {n.id: n.name for n in workflow.nodes}
    return {(names[s], names[t]) for s, t, _ in pairs(workflow)}


def errors(workflow: Workflow) -> list[str]:
    return [p.message for p in problems(workflow) if p.severity == "error"]


def chain() -> Drawing:
    drawing = Drawing("agent", "template", "function", "agent")
    drawing.connect("agent", "template", "function", "agent_2")
    return drawing


def extracted(drawing: Drawing, *ids: str) -> SubWorkflowNode:
    found = commands.extract(drawing.workflow, ids)
    assert not isinstance(found, Problem), found.message
    drawing.do(found)
    node = drawing.node(found[1])
    assert isinstance(node, SubWorkflowNode)
    return node


def inner_of(node: SubWorkflowNode) -> Workflow:
    assert isinstance(node.embedded, Workflow)
    return node.embedded


def test_a_part_of_a_chain_and_back_again() -> None:
    drawing = chain()
    before = named_ends(drawing.workflow)
    node = extracted(drawing, "template", "function")
    inner = inner_of(node)
    assert (inner.start, inner.outputs) == ("template", ("function",))
    assert {(ln.source, ln.target) for ln in lines(inner)} == {("template", "function")}
    assert {(ln.source, ln.target) for ln in lines(drawing.workflow)} == {("agent", node.id), (node.id, "agent_2")}
    assert not errors(drawing.workflow)
    drawing.do(commands.inline(drawing.workflow, node.id))
    assert named_ends(drawing.workflow) == before
    assert not errors(drawing.workflow)
    assert all(getattr(n, "yields", None) is None for n in drawing.workflow.nodes)


def test_undo_of_both_gives_the_same_document() -> None:
    drawing = chain()
    before = drawing.workflow
    edit = commands.extract(before, ("template", "function"))
    assert not isinstance(edit, Problem)
    done = edit[0].apply(before)
    assert done.inverse.apply(done.workflow).workflow == before
    put = commands.inline(done.workflow, edit[1])
    assert not isinstance(put, Problem)
    again = put.apply(done.workflow)
    assert again.inverse.apply(again.workflow).workflow == done.workflow


def test_conditions_cases_and_barriers_outside_are_kept() -> None:
    drawing = Drawing("agent", "switch", "agent", "template", "join", "agent")
    drawing.connect("agent", "switch", "agent_2", "join", "agent_3")
    drawing.connect("switch", "template", "join")
    drawing.do(commands.set_condition(drawing.workflow, "switch_case_1", Condition(rule=Rule(value="yes"))))
    before = drawing.edge("switch")
    node = extracted(drawing, "agent_2")
    switch, fan_in = drawing.edge("switch"), drawing.edge("into_join")
    assert isinstance(before, SwitchEdge)
    assert isinstance(switch, SwitchEdge)
    assert isinstance(fan_in, FanInEdge)
    assert [(c.id, c.condition) for c in switch.cases] == [(c.id, c.condition) for c in before.cases]
    assert switch.cases[0].target == node.id
    assert fan_in.sources[0] == node.id
    assert not errors(drawing.workflow)


def test_a_switch_wholly_inside_goes_along_with_its_place() -> None:
    drawing = Drawing("agent", "agent", "switch", "function", "template", "agent")
    drawing.connect("agent", "agent_2", "switch", "function")
    drawing.connect("switch", "template", "function")
    drawing.connect("function", "agent_3")
    node = extracted(drawing, "agent_2", "function", "template")
    inner = inner_of(node)
    assert isinstance(inner.edge("switch"), SwitchEdge)
    assert "switch" in inner.places
    assert "switch" not in drawing.workflow.places
    assert drawing.workflow.edge("switch") is None


def test_the_start_and_the_end_of_a_workflow() -> None:
    drawing = chain()
    drawing.set_workflow(outputs=("agent_2",))
    first = extracted(drawing, "agent")
    assert drawing.workflow.start == first.id
    last = extracted(drawing, "agent_2")
    assert last.direct_output
    assert drawing.workflow.outputs == (last.id,)
    assert not errors(drawing.workflow)
    drawing.do(commands.inline(drawing.workflow, last.id))
    assert isinstance(drawing.workflow.outputs, tuple)
    assert [drawing.node(i).name for i in drawing.workflow.outputs] == ["Agent 2"]


@pytest.mark.parametrize(
    ("ids", "why"),
    [
        ((), "Select the nodes"),
        (("template",), "gives no output"),
        (("agent", "agent_2"), "come in at"),
    ],
)
def test_what_cannot_be_extracted_says_why(ids: tuple[str, ...], why: str) -> None:
    found = commands.extract(chain().workflow, ids)
    assert isinstance(found, Problem)
    assert why in found.message


def test_what_the_framework_would_refuse_afterwards_is_refused() -> None:
    drawing = Drawing("agent", "agent", "agent")
    drawing.connect("agent", "agent_2", "agent_3")
    found = commands.extract(drawing.workflow, ("agent_2",))
    assert isinstance(found, Problem)
    assert found.code == "type_mismatch"


def test_agents_amid_agents_are_extracted_with_a_template_behind_them() -> None:
    drawing = Drawing("agent", "agent", "agent")
    drawing.connect("agent", "agent_2", "agent_3")
    condition = Condition(rule=Rule(value="yes"))
    drawing.do(commands.set_condition(drawing.workflow, "agent_2_to_agent_3", condition))
    refused = commands.extract(drawing.workflow, ("agent_2",))
    assert isinstance(refused, Problem)
    assert refused.fix is not None
    assert refused.fix.text == "Hand its text on through a template"
    drawing.do(refused.fix.edit)
    assert named_ends(drawing.workflow) == {
        ("Agent", "Sub-workflow"), ("Sub-workflow", "Template"), ("Template", "Agent 3"),
    }  # fmt: skip
    before = drawing.edge("agent_2_to_agent_3")
    assert getattr(before, "condition", None) is not None
    assert errors(drawing.workflow) == []


def test_branches_are_extracted_with_a_pass_node_before_their_bar() -> None:
    drawing = Drawing("agent", "fan_out", "function", "function", "join", "function")
    drawing.connect("agent", "fan_out", "function", "join", "function_3")
    drawing.connect("fan_out", "function_2", "join")
    drawing.do(commands.set_bends("fan_out:to:function", [(100, 200)]))
    chosen = ("fan_out", "function", "function_2", "join", "function_3")
    refused = commands.extract(drawing.workflow, chosen)
    assert isinstance(refused, Problem)
    assert "a sub-workflow starts with one node" in refused.message
    assert refused.fix is not None
    drawing.do(refused.fix.edit)
    assert named_ends(drawing.workflow) == {("Agent", "Sub-workflow")}
    node = drawing.node("sub_workflow")
    assert isinstance(node, SubWorkflowNode)
    inner = inner_of(node)
    assert (inner.start, len(inner.edges)) == ("pass_", 3)
    found = boxes(inner, ("pass_", "fan_out"))
    assert found[0][2] < found[1][0], "the bar made room"
    assert ("fan_out:to:function" in inner.places, "fan_out:to:function" in drawing.workflow.places) == (True, False)
    assert errors(drawing.workflow) == []


def test_what_still_is_in_the_way_is_said_and_what_is_added_covers_nothing() -> None:
    drawing = Drawing("agent", "fan_out", "agent", "agent", "join", "agent")
    drawing.connect("agent", "fan_out", "agent_2", "join", "agent_4", "agent")
    drawing.connect("fan_out", "agent_3", "join")
    drawing.do(commands.arrange_items(drawing.workflow))
    workflow = drawing.workflow
    refused = commands.extract(workflow, ("fan_out", "agent_2", "agent_3", "join"))
    assert isinstance(refused, Problem)
    assert (refused.fix, "“Join” gives no output" in refused.message) == (None, True), "a pass node is not enough"
    offered = commands.extract(workflow, ("fan_out", "agent_2", "agent_3", "join", "agent_4"))
    assert isinstance(offered, Problem)
    assert offered.fix is not None
    assert "a sub-workflow starts with one node" in offered.message
    assert offered.fix.text == "Begin it with a pass node and hand its text on through a template"
    drawing.do(offered.fix.edit)
    (left, top, right, bottom), (x, y, end, below) = boxes(drawing.workflow, ("sub_workflow", "template"))
    assert right <= x or end <= left or bottom <= y or below <= top


def test_what_is_put_in_stands_around_the_place_of_its_node_and_covers_nothing() -> None:
    drawing = chain()
    places = {i: Place(x=at * 280.0, y=0) for at, i in enumerate(("agent", "template", "function", "agent_2"))}
    drawing.workflow = drawing.workflow.model_copy(update={"places": places})
    node = extracted(drawing, "template", "function")
    inlined = commands.inline(drawing.workflow, node.id)
    assert not isinstance(inlined, Problem)
    drawing.do(inlined)
    assert sorted(p.x for p in drawing.workflow.places.values()) == pytest.approx([0, 280, 560, 840], abs=GRID)


def test_two_ways_out_are_refused() -> None:
    drawing = Drawing("agent", "agent", "agent", "template", "template")
    drawing.connect("agent", "agent_2", "template")
    drawing.connect("agent", "agent_3", "template_2")
    found = commands.extract(drawing.workflow, ("agent", "agent_2", "agent_3"))
    assert isinstance(found, Problem)
    assert "go out from" in found.message


def test_a_linked_or_unfinished_sub_workflow_is_not_put_in() -> None:
    drawing = Drawing("agent", "sub_workflow")
    drawing.connect("agent", "sub_workflow")
    drawing.set("sub_workflow", path="other.workflow.json")
    linked = commands.inline(drawing.workflow, "sub_workflow")
    assert isinstance(linked, Problem)
    assert "embed a copy" in linked.message
    drawing.set("sub_workflow", path=None, embedded=Workflow(id="in"))
    assert isinstance(commands.inline(drawing.workflow, "sub_workflow"), Problem)


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    made = Bench()
    yield made
    await made.source.close()


async def test_it_runs_the_same_drawn_flat_extracted_and_inlined(bench: Bench) -> None:
    drawing = chain()
    drawing.set("template", text="[{text}]")
    drawing.set("function", body="result = data + '!'")
    drawing.set_workflow(offline=script(agent=[{"text": "one"}], agent_2=[{"echo": True}]), outputs=("agent_2",))

    async def said() -> list[str]:
        ran = await bench.run(drawing.workflow, "go")
        return [data.messages[-1].text for _, data in ran.outputs]

    flat = await said()
    assert flat
    node = extracted(drawing, "template", "function")
    assert await said() == flat
    drawing.do(commands.inline(drawing.workflow, node.id))
    assert await said() == flat
