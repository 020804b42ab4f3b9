"""What Durable Task cannot do is said before anything is written: a document for each rule, and one that keeps it."""

from __future__ import annotations

from typing import Any

import pytest
from studio.document.conditions import Condition, Rule
from studio.document.model import (
    DirectEdge,
    FanInEdge,
    FanOutEdge,
    FunctionNode,
    GenericNode,
    HumanInputNode,
    JoinNode,
    ModuleDecl,
    RunnerNode,
    StateDecl,
    SubWorkflowNode,
    SwitchCase,
    SwitchEdge,
    TemplateNode,
    ToolDecl,
    Workflow,
)
from studio.export import ExportProblem
from studio.export.durable import export_durable, findings

from tests.assembly.test_kinds import agent, contains, direct, function, show, workflow
from tests.assembly.test_turns import host
from tests.export.corpus import documents

STATE = (StateDecl(key="n", type="integer", initial=0), StateDecl(key="m", type="integer", initial=0))
WRITES_N = "ctx.set_state('n', 1)\nresult = data"
WRITES_M = "ctx.set_state('m', 1)\nresult = data"


def refused(flow: Workflow) -> list[str]:
    return [f"{f.item}: {f.message}" for f in findings(flow) if f.refused]


def told(flow: Workflow) -> list[str]:
    assert refused(flow) == []
    return [f.message for f in findings(flow)]


def python(body: str) -> Condition:
    return Condition(name="when", kind="python", body=body)


def conditional(condition: Condition) -> Workflow:
    return workflow([function("a", "result = data"), show()], [direct("a", "show", condition)])


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("import asyncio\nawait asyncio.sleep(0)\nresult = True", "awaits something"),
        ("import time\nresult = time.time() > 0", "uses time"),
        ("from random import random\nresult = random() > 0.5", "uses random"),
        ("result = open('x').read() == ''", "reads from outside"),
        ("global seen\nseen = 1\nresult = True", "uses a global variable"),
    ],
)
def test_conditions_that_would_answer_otherwise_at_a_replay(body: str, why: str) -> None:
    (said,) = refused(conditional(python(body)))
    assert f"The condition when {why}." in said


def test_a_plain_condition_and_one_that_is_a_node_are_taken() -> None:
    assert refused(conditional(python("result = len(data) > 2"))) == []
    stateful = SwitchCase(id="c", condition=python("import time\nresult = state['n'] < time.time()"), target="show")
    nodes = [function("a", "result = data"), show(), show("other")]
    edges = [SwitchEdge(id="s", source="a", cases=(stateful,), default="other")]
    assert refused(workflow(nodes, edges, state=STATE)) == []


# ------------------------------------------------------------------------------------------------- types on edges


def two_types(edge: Any) -> Workflow:
    give = function("give", "result = data", sends="text | object")
    takes = FunctionNode(id="takes", name="Takes", body="result = data", accepts="text", sends="nothing", yields="text")
    return workflow([give, takes, show()], [edge])


def test_an_edge_that_lets_too_much_through_gets_a_condition() -> None:
    code = export_durable(two_types(DirectEdge(id="e", source="give", target="takes")), "pkg")["pkg/workflow.py"]
    assert ".add_edge(give, takes, condition=takes_takes)" in code
    assert 'type_of(message) in ("text", "message", "messages", "response", "reply")' in code.replace("\n        ", " ")
    rule = Condition(name="short", rule=Rule(op="contains", value="x"))
    edge = FanOutEdge(id="f", source="give", targets=("takes", "show"), selection={"takes": rule})
    code = export_durable(two_types(edge), "pkg")["pkg/workflow.py"]
    assert "type_of(message) in" in code
    assert "if short(data):" in code
    assert '        chosen.append("show")' in code, "a target that takes all has no condition"


def test_an_edge_whose_target_takes_all_is_left_alone() -> None:
    """Only what may send anything, to what does not take everything, is asked for its type."""
    asked = [
        name
        for name, flow in documents().items()
        if not refused(flow) and "_takes(" in export_durable(flow, name)[f"{name}/workflow.py"]
    ]
    assert asked == ["template_concurrent"]


def test_a_switch_cannot_drop_what_its_target_does_not_take() -> None:
    case = SwitchCase(id="c", condition=contains("x"), target="takes")
    (said,) = refused(two_types(SwitchEdge(id="s", source="give", cases=(case,), default="show")))
    assert said.startswith("s: Give can send Takes what it does not take (object)")
    edge = DirectEdge(id="e", source="give", target="takes", condition=python("result = True"))
    assert len(refused(two_types(edge))) == 1, "nor can a condition in Python be added to"


def test_code_that_names_the_target() -> None:
    flow = workflow([function("a", 'ctx.send_message(data, target_id="show")'), show()])
    (said,) = refused(flow)
    assert said.startswith("a: A names the target of a message.")


# ---------------------------------------------------------------------------------------------- memory of a process


def test_what_lives_in_one_process() -> None:
    assert "works in turns with tokens" in refused(workflow([host("a")]))[0]
    shared = workflow([agent("a", session="s"), agent("b", session="s")])
    assert len([said for said in refused(shared) if "shares the session s" in said]) == 2
    module = ModuleDecl(
        name="tools", source="seen = 0\ndef count(data):\n    global seen\n    seen += 1\n    return data"
    )
    counting = FunctionNode(id="a", name="A", call="tools:count", accepts="text", sends="nothing", yields="text")
    assert "keeps something in a global variable" in refused(workflow([counting], modules=(module,)))[0]
    assert "is a conversation runner" in refused(workflow([RunnerNode(id="r", name="R")]))[0]


def test_an_agent_with_a_session_of_its_own_is_taken() -> None:
    assert refused(workflow([agent("a"), agent("b")])) == []


# ------------------------------------------------------------------------------------------- side by side in a step


def spread(*nodes: Any, target: Any) -> Workflow:
    start = function("start", "result = data")
    names = tuple(node.id for node in nodes)
    edges = [FanOutEdge(id="f", source="start", targets=names), *(direct(name, target.id) for name in names)]
    return workflow([start, *nodes, target], edges, state=STATE)


def test_two_messages_to_one_agent_in_a_superstep() -> None:
    (said,) = refused(spread(function("a", "result = data"), function("b", "result = data"), target=agent("end")))
    assert said.startswith("end: End can get two messages in one superstep (from A and B).")


def test_two_messages_to_what_remembers_nothing_are_taken() -> None:
    assert refused(spread(agent("a"), agent("b"), target=show())) == []


def test_two_messages_to_a_node_that_writes_state() -> None:
    flow = spread(function("a", "result = data"), function("b", "result = data"), target=function("end", WRITES_N))
    assert "keeps only what the last one made it write" in refused(flow)[0]


def test_a_join_makes_one_message_of_both() -> None:
    nodes = [function("start", "result = data"), agent("a"), agent("b"), JoinNode(id="j", name="J"), agent("end")]
    edges = [
        FanOutEdge(id="f", source="start", targets=("a", "b")),
        FanInEdge(id="i", sources=("a", "b"), target="j"),
        direct("j", "end"),
    ]
    assert refused(workflow(nodes, edges)) == []


def test_branches_of_different_length_meet_later() -> None:
    """``end`` gets one message after two supersteps and one after three; with chains of equal length, two at once."""
    nodes = [GenericNode(id="s", name="S", kind="pass"), agent("a"), agent("b"), agent("c"), agent("end")]
    fan = FanOutEdge(id="f", source="s", targets=("a", "b"))
    apart = [fan, direct("a", "end"), direct("b", "c"), direct("c", "end")]
    assert refused(workflow(nodes, apart)) == []
    d = agent("d")
    together = [fan, direct("a", "d"), direct("d", "end"), direct("b", "c"), direct("c", "end")]
    (said,) = refused(workflow([*nodes, d], together))
    assert "(from C and D)" in said


def test_a_loop_alone_gives_one_message_at_a_time() -> None:
    back = Condition(name="again", rule=Rule(op="contains", value="x"))
    case = SwitchCase(id="c", condition=back, target="a")
    nodes = [agent("a"), agent("b"), show()]
    edges = [direct("a", "b"), SwitchEdge(id="s", source="b", cases=(case,), default="show")]
    assert refused(workflow(nodes, edges)) == []


def test_questions_are_answered_in_one_superstep() -> None:
    """Asked in different supersteps, answered together: what follows gets both answers at once."""
    ask = [HumanInputNode(id=name, name=name.upper(), question="?") for name in ("x", "y")]
    nodes = [GenericNode(id="s", name="S", kind="pass"), function("slow", "result = data"), *ask, agent("end")]
    fan = FanOutEdge(id="f", source="s", targets=("x", "slow"))
    edges = [fan, direct("slow", "y"), direct("x", "end"), direct("y", "end")]
    (said,) = refused(workflow(nodes, edges))
    assert said.startswith("end: End can get two messages in one superstep (from X and Y)")


def test_several_messages_of_one_run_of_a_node() -> None:
    twice = function("a", 'ctx.send_message("1")\nctx.send_message("2")', sends="text")
    assert "(from A)" in refused(workflow([twice, agent("end")]))[0]
    inner = workflow([agent("x"), agent("y")])
    assert "(from Sub)" in refused(workflow([SubWorkflowNode(id="sub", name="Sub", embedded=inner), agent("end")]))[0]
    one = workflow([agent("x"), agent("y")], outputs=("y",))
    reads = function("end", "result = data")
    assert refused(workflow([SubWorkflowNode(id="sub", name="Sub", embedded=one), reads])) == []


def test_shared_state_side_by_side() -> None:
    end = show()
    same = spread(function("a", WRITES_N), function("b", WRITES_N), target=end)
    assert "A and B can work in the same superstep and both write the key n" in refused(same)[0]
    read = spread(function("a", WRITES_N), TemplateNode(id="b", name="B", text="{state.n}"), target=end)
    assert "use the key n, and one of them writes it" in refused(read)[0]
    assert refused(spread(function("a", WRITES_N), function("b", WRITES_M), target=end)) == []
    any_key = function("a", "for key in ('n', 'm'):\n    ctx.set_state(key, 1)\nresult = data")
    assert "both write the key m" in refused(spread(any_key, function("b", WRITES_M), target=end))[0]
    chain = workflow([function("a", WRITES_N), function("b", WRITES_N), end], state=STATE)
    assert refused(chain) == []


# ------------------------------------------------------------------------------------------------- workflows inside


def test_questions_of_a_workflow_inside_must_go_outside() -> None:
    inner = workflow([HumanInputNode(id="ask", name="Ask", question="?"), show()])
    inside = SubWorkflowNode(id="sub", name="Sub", embedded=inner, propagate_requests=False)
    assert "its questions go to the nodes around it" in refused(workflow([inside]))[0]
    assert refused(workflow([inside.model_copy(update={"propagate_requests": True})])) == []


def test_findings_inside_name_the_node_around() -> None:
    inside = SubWorkflowNode(id="sub", name="Sub", embedded=workflow([host("inner")]))
    assert refused(workflow([inside]))[0].startswith("sub: In Sub: Inner works in turns")


def test_a_workflow_inside_a_loop_begins_anew() -> None:
    inner = workflow([function("x", WRITES_N, sends="nothing", yields="text")], state=STATE)
    nodes = [SubWorkflowNode(id="sub", name="Sub", embedded=inner), show()]
    case = SwitchCase(id="c", condition=contains("x"), target="sub")
    (said,) = told(workflow(nodes, [SwitchEdge(id="s", source="sub", cases=(case,), default="show")]))
    assert said.startswith("Sub stands in a loop: on Durable Task the workflow in it begins anew")


# ----------------------------------------------------------------------------------------------------- what is told


def test_what_is_told_and_not_refused() -> None:
    tool = ToolDecl(name="buy", source="def buy() -> str:\n    return 'x'", max_invocations=2)
    assert "limit of calls of buy" in told(workflow([agent("a", tools=("buy",))], tools=(tool,)))[0]
    fetch = function("a", "import httpx\nasync with httpx.AsyncClient() as c:\n    await c.get('x')\nresult = data")
    assert "A uses httpx" in told(workflow([fetch, show()]))[0]
    case = SwitchCase(id="c", condition=contains("x"), target="a")
    loop = [SwitchEdge(id="s", source="a", cases=(case,), default="show")]
    assert "may take 500 supersteps" in told(workflow([agent("a"), show()], loop, max_supersteps=500))[0]
    assert told(workflow([agent("a"), show()], max_supersteps=500)) == []


def test_ids_that_a_task_hub_does_not_take() -> None:
    assert "too long or has a ~" in refused(workflow([function("a~1", "result = data"), show()]))[0]
    assert "too long or has a ~" in refused(workflow([function("a" * 129, "result = data"), show()]))[0]
    flow = workflow([function("a", "result = data"), function("A", "result = data"), show()])
    assert len([said for said in refused(flow) if "upper and lower case" in said]) == 2


def test_a_refused_export_says_everything_at_once() -> None:
    flow = workflow([host("a"), agent("b", session="s")])
    with pytest.raises(ExportProblem) as problem:
        export_durable(flow)
    assert str(problem.value).split("\n") == [f.message for f in findings(flow) if f.refused]
    assert len(str(problem.value).split("\n")) == 2


def test_templates() -> None:
    """All of them but the one where a manager hands out several messages at once."""
    flows = {name: flow for name, flow in documents().items() if name.startswith("template_")}
    assert [name for name, flow in flows.items() if refused(flow)] == ["template_group_chat"]
