"""One run, end to end, for each drawn kind."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from studio.agents.messages import AgentReply, AgentUpdate
from studio.assembly import PlanError, compile_plan
from studio.document.conditions import Condition, Rule
from studio.document.model import (
    AgentNode,
    DirectEdge,
    Edge,
    FanInEdge,
    FanOutEdge,
    FunctionNode,
    GenericNode,
    HumanInputNode,
    JoinNode,
    ModuleDecl,
    Node,
    StateDecl,
    SubWorkflowNode,
    SwitchCase,
    SwitchEdge,
    TemplateNode,
    ToolDecl,
    TypeDecl,
    Workflow,
)
from studio.engine.values import Record
from studio.files import write_workflow
from studio.workers import UserCodeError

from tests.assembly.running import Bench, script


def function(id: str, body: str, **fields: Any) -> FunctionNode:
    return FunctionNode(id=id, name=id.title(), body=body, **fields)


def show(id: str = "show", accepts: str = "any") -> FunctionNode:
    """Yields what it gets."""
    return function(id, "result = data", accepts=accepts, sends="nothing", yields="any")


def agent(id: str, **fields: Any) -> AgentNode:
    return AgentNode(id=id, name=id.title(), instructions=f"You are {id}.", **fields)


def direct(source: str, target: str, condition: Condition | None = None) -> DirectEdge:
    return DirectEdge(id=f"{source}_{target}", source=source, target=target, condition=condition)


def workflow(nodes: Sequence[Node], edges: Sequence[Edge] = (), **fields: Any) -> Workflow:
    chain = [direct(a.id, b.id) for a, b in pairwise(nodes)]
    return Workflow(start=nodes[0].id, nodes=tuple(nodes), edges=tuple(edges or chain), **fields)


def contains(text: str) -> Condition:
    return Condition(rule=Rule(op="contains", value=text))


# ------------------------------------------------------------------------------------------------------- agents


async def test_agents_pass_the_conversation_on_and_yield(bench: Bench) -> None:
    flow = workflow([agent("writer"), agent("critic")], offline=script(writer=["draft"], critic=[{"echo": "seen: "}]))
    ran = await bench.run(flow, "topic")
    assert [(n, d.text) for n, d in ran.outputs] == [("writer", "draft"), ("critic", "seen: draft")]
    assert all(isinstance(d, AgentReply) for _, d in ran.outputs)
    assert ran.outputs[0][1].messages[0].author == "writer"


async def test_a_streaming_run_yields_updates_and_sends_the_whole_reply(bench: Bench) -> None:
    flow = workflow([agent("writer"), show()], offline=script(writer=[{"chunks": ["one ", "two"]}]))
    ran = await bench.run(flow, "topic", stream=True)
    updates = [d for n, d in ran.outputs if n == "writer"]
    assert all(isinstance(d, AgentUpdate) for d in updates)
    assert len(updates) > 1
    assert "".join(d.text for d in updates) == "one two"
    assert ran.outputs[-1][1].reply.text == "one two"


async def test_tools_run_in_the_worker_with_their_node(bench: Bench) -> None:
    call = {"calls": [{"id": "c1", "tool": "add", "arguments": {"a": 2, "b": 3}}]}
    flow = workflow(
        [agent("calc", tools=("add",))],
        modules=(ModuleDecl(name="tools", source="def add(a, b):\n    print('adding')\n    return a + b"),),
        tools=(ToolDecl(name="add", call="tools:add", parameters=_numbers("a", "b")),),
        offline=script(calc=[call, {"echo": "result "}]),
    )
    ran = await bench.run(flow)
    assert ran.outputs[-1][1].text == "result 5"
    assert ran.printed == [("calc", "adding")]


def _numbers(*names: str) -> dict[str, Any]:
    return {"type": "object", "properties": {n: {"type": "integer"} for n in names}, "required": list(names)}


async def test_a_custom_context_is_filtered_by_the_users_code(bench: Bench) -> None:
    code = "result = [m for m in messages if m.role == 'user']"
    second = agent("b", context="custom", context_filter=code)
    flow = workflow([agent("a"), second], offline=script(a=["from a"], b=[{"echo": "got "}]))
    assert (await bench.run(flow, "prompt")).outputs[-1][1].text == "got prompt"


async def test_nodes_with_one_session_name_share_their_memory(bench: Bench) -> None:
    nodes = [agent("a", session="s"), function("cut", "result = 'next'"), agent("b", session="s")]
    flow = workflow(nodes, offline=script(a=["first"], b=[{"text": "knows", "when_seen": "first"}, "does not know"]))
    assert (await bench.run(flow)).outputs[-1][1].text == "knows"


# ----------------------------------------------------------------------------------------------------- functions


async def test_a_function_gets_the_text_of_a_reply_and_sends_its_result(bench: Bench) -> None:
    flow = workflow(
        [agent("writer"), function("up", "result = data.upper()"), show()], offline=script(writer=["draft"])
    )
    assert (await bench.run(flow)).outputs[-1] == ("show", "DRAFT")


async def test_a_function_that_accepts_the_reply_keeps_the_conversation(bench: Bench) -> None:
    body = "result = data.with_text(data.agent_response.text.upper())"
    change = function("change", body, accepts="response", sends="response")
    flow = workflow([agent("a"), change, show()], offline=script(a=["draft"]))
    response = (await bench.run(flow, "topic")).outputs[-1][1]
    assert [m.text for m in response.conversation] == ["topic", "DRAFT"]
    assert response.reply.text == "DRAFT"


async def test_what_a_function_gives(bench: Bench) -> None:
    nothing = await bench.run(workflow([function("a", "pass"), show()]))
    assert nothing.order == ["a"]
    both = await bench.run(workflow([function("a", "result = 1", sends="integer", yields="integer"), show()]))
    assert both.outputs == [("a", 1), ("show", 1)]
    own = "ctx.send_message('x', 'show')\nawait ctx.yield_output('y')\nresult = 'ignored'"
    neither = await bench.run(workflow([function("a", own, sends="nothing"), show()]))
    assert neither.outputs == [("a", "y"), ("show", "x")]


SCORE = TypeDecl(
    name="Score",
    schema={"properties": {"points": {"type": "integer"}, "note": {"default": "-"}}, "required": ["points"]},
)


@pytest.mark.parametrize("made", ["Score(7)", "{'points': 7}"])
async def test_declared_types_travel_as_records(bench: Bench, made: str) -> None:
    nodes = [
        function("rate", f"result = {made}", sends="Score"),
        function("use", "result = f'{data.points} {data.note}'", accepts="Score"),
        show(),
    ]
    good = Condition(kind="expression", expression="value.points >= 7 and type == 'Score'")
    flow = workflow(nodes, [direct("rate", "use", good), direct("use", "show")], types=(SCORE,))
    assert (await bench.run(flow)).outputs == [("show", "7 -")]


async def test_an_object_that_does_not_fit_the_declared_type_fails(bench: Bench) -> None:
    flow = workflow([function("rate", "result = {'pints': 7}", sends="Score"), show()], types=(SCORE,))
    with pytest.raises(TypeError, match="Score has no field 'pints'"):
        await bench.run(flow)


async def test_a_call_of_a_module_function_with_context_and_state(bench: Bench) -> None:
    source = "async def count(data, ctx):\n    n = ctx.get_state('n') + 1\n    ctx.set_state('n', n)\n"
    source += "    return f'{data} {n}'"
    node = FunctionNode(id="c", name="C", call="lib:count")
    flow = workflow(
        [node, show()],
        modules=(ModuleDecl(name="lib", source=source),),
        state=(StateDecl(key="n", type="integer", initial=4),),
    )
    assert (await bench.run(flow)).outputs == [("show", "in 5")]


async def test_an_error_of_user_code_carries_its_class_and_line(bench: Bench) -> None:
    with pytest.raises(UserCodeError) as caught:
        await bench.run(workflow([function("a", "x = 1\nresult = x / 0")]))
    assert type(caught.value).__name__ == "ZeroDivisionError"
    assert (caught.value.where[-1].unit, caught.value.where[-1].line) == ("a", 2)


async def test_prints_are_events_of_the_node(bench: Bench) -> None:
    assert (await bench.run(workflow([function("a", "print('hi', data)")]))).printed == [("a", "hi in")]


# -------------------------------------------------------------------------------------- templates, people, pass


async def test_a_template_fills_text_value_and_state(bench: Bench) -> None:
    text = "{text}|{value.a.0}|{state.tone}|{value.gone}|{other}|{}"
    nodes = [
        function("make", "result = {'text': 'T', 'a': [1]}", sends="object"),
        TemplateNode(id="t", name="T", text=text),
        show(),
    ]
    flow = workflow(nodes, state=(StateDecl(key="tone", initial="dry"),))
    assert (await bench.run(flow)).outputs == [("show", "T|1|dry||{other}|{}")]


async def test_a_person_is_asked_and_the_answer_goes_on(bench: Bench) -> None:
    ask = HumanInputNode(id="ask", name="Ask", question="Take {input}?", choices=("yes", "no"))
    ran = await bench.run(workflow([ask, show()]), "it", {"ask": "yes"})
    assert ran.outputs == [("show", "yes")]
    waiting = (await bench.run(workflow([ask, show()]), "it")).result
    assert waiting.state == "IDLE_WITH_PENDING_REQUESTS"
    expected = {"text": "Take it?", "answer_type": "choice", "choices": ["yes", "no"], "data": "it"}
    assert waiting.requests[0].data == Record("Question", expected)


async def test_input_and_answer_are_sent_as_one_object(bench: Bench) -> None:
    ask = HumanInputNode(id="ask", name="Ask", answer_type="number", send="input_and_answer")
    flow = workflow([agent("a"), ask, show()], offline=script(a=["draft"]))
    assert (await bench.run(flow, "x", {"ask": 3})).outputs[-1] == ("show", {"input": "draft", "answer": 3.0})


async def test_an_answer_of_a_declared_type_is_a_record(bench: Bench) -> None:
    ask = HumanInputNode(id="ask", name="Ask", answer_type="Score")
    flow = workflow([ask, show(accepts="Score")], types=(SCORE,))
    assert (await bench.run(flow, "x", {"ask": {"points": 1, "note": "n"}})).outputs == [
        ("show", Record("Score", {"points": 1, "note": "n"}))
    ]


async def test_pass_sends_its_input_on(bench: Bench) -> None:
    assert (await bench.run(workflow([GenericNode(id="p", name="P", kind="pass"), show()]))).outputs == [("show", "in")]


# ------------------------------------------------------------------------------------------------- bars and rhombi


def _fan(merge: str, body: str = "", target: Node | None = None, **fields: Any) -> Workflow:
    nodes = [
        function("start", "result = data"),
        agent("a"),
        agent("b"),
        JoinNode(id="join", name="Join", merge=merge, separator=" + ", body=body),  # type: ignore[arg-type]
        target or show(),
    ]
    edges: list[Edge] = [
        FanOutEdge(id="out", source="start", targets=("a", "b")),
        FanInEdge(id="in", sources=("a", "b"), target="join"),
        direct("join", nodes[-1].id),
    ]
    replies = script(a=["A"], b=["B"], end=[{"echo": "last "}])
    return workflow(nodes, edges, outputs=(nodes[-1].id,), offline=replies, **fields)


async def test_a_join_of_texts(bench: Bench) -> None:
    ran = await bench.run(_fan("texts"))
    assert ran.outputs == [("show", "A + B")]
    assert [e.superstep for e in ran.events if getattr(e, "node", "") == "join" and hasattr(e, "sources")] == [3]


async def test_a_join_of_messages_feeds_an_agent(bench: Bench) -> None:
    ran = await bench.run(_fan("messages", target=agent("end")))
    assert ran.outputs[0][1].text == "last B"


async def test_a_join_by_code(bench: Bench) -> None:
    ran = await bench.run(_fan("code", "result = {'count': len(data)}"))
    assert ran.outputs == [("show", {"count": 2})]


async def test_a_direct_edge_with_a_condition(bench: Bench) -> None:
    flow = workflow([function("a", "result = data"), show()], [direct("a", "show", contains("yes"))])
    assert (await bench.run(flow, "oh yes")).outputs == [("show", "oh yes")]
    assert (await bench.run(flow, "oh no")).outputs == []


PYTHON = Condition(kind="python", body="len(data) > 2 and type == 'text'")


@pytest.mark.parametrize("first", [contains("long"), PYTHON], ids=["rules", "python"])
async def test_a_switch_takes_the_first_case_that_holds(bench: Bench, first: Condition) -> None:
    nodes = [GenericNode(id="s", name="S", kind="pass"), show("one"), show("two"), show("rest")]
    cases = (
        SwitchCase(id="c1", condition=first, target="one"),
        SwitchCase(id="c2", condition=contains("l"), target="two"),
    )
    flow = workflow(nodes, [SwitchEdge(id="sw", source="s", cases=cases, default="rest")])
    assert [(await bench.run(flow, text)).order[-1] for text in ("long", "l", "x")] == ["one", "two", "rest"]


async def test_a_switch_that_reads_shared_state_is_an_executor_with_its_id(bench: Bench) -> None:
    nodes = [function("s", "ctx.set_state('n', len(data))\nresult = data"), show("many"), show("few")]
    case = SwitchCase(id="c1", condition=Condition(kind="expression", expression="state.n > 2"), target="many")
    flow = workflow(
        nodes,
        [SwitchEdge(id="sw", source="s", cases=(case,), default="few")],
        state=(StateDecl(key="n", type="integer", initial=0),),
    )
    assert (await bench.run(flow, "long")).order == ["s", "sw", "many"]
    assert (await bench.run(flow, "x")).order == ["s", "sw", "few"]


async def test_a_fan_out_with_a_selection(bench: Bench) -> None:
    nodes = [GenericNode(id="s", name="S", kind="pass"), show("one"), show("two"), show("three")]
    chosen = {"one": contains("1"), "two": Condition(kind="python", body="result = '2' in text")}
    flow = workflow(nodes, [FanOutEdge(id="f", source="s", targets=("one", "two", "three"), selection=chosen)])
    assert sorted((await bench.run(flow, "12")).order[1:]) == ["one", "three", "two"]
    assert (await bench.run(flow, "0")).order[1:] == ["three"]


async def test_outputs_and_intermediate_outputs_are_designated(bench: Bench) -> None:
    nodes = [function("a", "result = data", yields="text"), function("b", "result = data", yields="text")]
    flow = workflow([*nodes, show()], outputs=("show",), intermediate=("a",))
    result = (await bench.run(flow)).result
    assert (result.outputs, result.intermediate) == (("in",), ("in",))


# --------------------------------------------------------------------------------------------------- sub-workflows


async def test_an_embedded_workflow_runs_inside_with_its_own_script_and_code(bench: Bench) -> None:
    module = ModuleDecl(name="lib", source="def f(data):\n    return data + '!'")
    inner = workflow(
        [agent("a"), FunctionNode(id="f", name="F", call="lib:f", sends="nothing", yields="text")],
        modules=(module,),
        outputs=("f",),
        offline=script(a=["inner"]),
    )
    outer_module = ModuleDecl(name="lib", source="def f(data):\n    return data + '?'")
    nodes = [
        SubWorkflowNode(id="sub", name="Sub", embedded=inner),
        FunctionNode(id="g", name="G", call="lib:f"),
        agent("a"),
    ]
    flow = workflow(nodes, modules=(outer_module,), offline=script(a=[{"echo": "outer "}]))
    assert (await bench.run(flow)).outputs[-1][1].text == "outer inner!?"


async def test_a_question_inside_a_workflow_reaches_the_outside(bench: Bench) -> None:
    inner = workflow([HumanInputNode(id="ask", name="Ask"), show()])
    flow = workflow([SubWorkflowNode(id="sub", name="Sub", embedded=inner), show("end")])
    assert (await bench.run(flow, "q", {"sub": "answer"})).outputs == [("end", "answer")]


async def test_a_linked_file_is_read_and_pinned_by_content(bench: Bench, tmp_path: Path) -> None:
    inner = workflow([show("inner")], name="Inner")
    write_workflow(inner, tmp_path / "inner.workflow.json")
    flow = workflow([SubWorkflowNode(id="sub", name="Sub", path="inner.workflow.json"), show()])
    assert (await bench.run(flow, "x", folder=tmp_path)).outputs == [("show", "x")]
    before = compile_plan(flow, bench.source.services(flow, tmp_path))
    write_workflow(inner.model_copy(update={"max_supersteps": 7}), tmp_path / "inner.workflow.json")
    after = compile_plan(flow, bench.source.services(flow, tmp_path))
    assert before.fingerprint != after.fingerprint
    assert before.node_fingerprints["sub"] != after.node_fingerprints["sub"]
    assert before.node_fingerprints["show"] == after.node_fingerprints["show"]


async def test_a_linked_file_that_contains_itself_or_is_missing_is_a_problem(bench: Bench, tmp_path: Path) -> None:
    flow = workflow([SubWorkflowNode(id="sub", name="Sub", path="own.workflow.json"), show()])
    for file in (tmp_path / "own.workflow.json", None):
        with pytest.raises(PlanError) as caught:
            compile_plan(flow, bench.source.services(flow, tmp_path))
        assert [p.place for p in caught.value.problems] == ["sub"]
        if file is not None:
            assert "cannot be read" in str(caught.value)
            write_workflow(flow, file)
    assert "contains itself" in str(caught.value)
