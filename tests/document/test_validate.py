"""Every reason why a document would be refused, and what it says."""

from __future__ import annotations

from typing import Any

import pytest
from studio.document import commands
from studio.document.conditions import Condition, Rule
from studio.document.model import (
    DirectEdge,
    FanInEdge,
    FanOutEdge,
    GenericNode,
    HandoffEdge,
    McpServerDecl,
    ModuleDecl,
    OfflineScript,
    StateDecl,
    SwitchCase,
    SwitchEdge,
    ToolDecl,
    TypeDecl,
    UnknownNode,
    Workflow,
)
from studio.document.validate import problems, reachable

from tests.document.building import Drawing


def two_agents() -> Drawing:
    drawing = Drawing("agent", "agent")
    drawing.connect("agent", "agent_2")
    return drawing


def test_a_sound_document_has_no_problems() -> None:
    drawing = Drawing("agent", "switch", "agent", "function", "fan_out", "template", "human_input", "join", "agent")
    drawing.connect("agent", "switch", "agent_2", "fan_out", "template", "join", "agent_3")
    drawing.connect("switch", "function", "agent")
    drawing.connect("fan_out", "human_input", "join")
    drawing.do(commands.set_condition(drawing.workflow, "switch_case_1", Condition(rule=Rule(value="good"))))
    assert problems(drawing.workflow) == ()
    assert reachable(drawing.workflow) == {n.id for n in drawing.workflow.nodes}


def test_errors_come_first() -> None:
    drawing = Drawing("function", "agent", "agent")
    drawing.set("function", body="")
    drawing.set("agent", instructions="")
    severities = [p.severity for p in problems(drawing.workflow)]
    assert severities[0] == "error"
    assert severities == sorted(severities, key=["error", "warning", "info"].index)
    assert {"warning", "info"} <= set(severities)


def test_an_empty_document() -> None:
    assert [p.code for p in problems(Workflow())] == ["empty"]


def test_no_start_offers_one() -> None:
    drawing = two_agents()
    drawing.set_workflow(start=None)
    problem = drawing.problem("no_start")
    assert problem.fix is not None
    assert problem.fix.text == "Start with “Agent”"
    drawing.do(problem.fix.edit)
    assert drawing.codes() == []


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("switch", {"switch_no_source", "switch_no_case", "switch_no_default"}),
        ("fan_out", {"fan_out_no_source", "fan_out_few_targets"}),
        ("join", {"join_without_sources", "unreachable"}),
    ],
)
def test_just_dropped_junctions(kind: str, expected: set[str]) -> None:
    drawing = two_agents()
    drawing.add(kind)
    assert set(drawing.codes()) == expected


def test_switch_default_can_be_made_of_the_last_case() -> None:
    drawing = Drawing("agent", "agent", "agent")
    cases = tuple(
        SwitchCase(id=f"c{i}", target=f"agent_{i}", condition=Condition(rule=Rule(value="x"))) for i in (2, 3)
    )
    drawing.set_workflow(edges=(SwitchEdge(id="s", source="agent", cases=cases),))
    problem = drawing.problem("switch_no_default")
    assert problem.fix is not None
    drawing.do(problem.fix.edit)
    assert drawing.codes() == []


def test_fan_in_of_one() -> None:
    drawing = Drawing("agent", "join", "agent")
    drawing.connect("agent", "join", "agent_2")
    assert drawing.codes() == ["fan_in_few_sources"]


def test_duplicate_edges_in_different_groups() -> None:
    drawing = two_agents()
    drawing.add("agent")
    bar = FanOutEdge(id="bar", source="agent", targets=("agent_2", "agent_3"))
    drawing.set_workflow(edges=(*drawing.workflow.edges, bar))
    problem = drawing.problem("duplicate_edge")
    assert problem.place == "bar:to:agent_2"
    assert problem.fix is not None
    drawing.do(problem.fix.edit)
    assert "duplicate_edge" not in drawing.codes()


def test_two_conditional_edges_are_joined_with_or() -> None:
    drawing = two_agents()
    edges = tuple(
        DirectEdge(id=i, source="agent", target="agent_2", condition=Condition(rule=Rule(value=i))) for i in ("a", "b")
    )
    drawing.set_workflow(edges=edges)
    fix = drawing.problem("duplicate_edge").fix
    assert fix is not None
    drawing.do(fix.edit)
    (edge,) = drawing.workflow.edges
    assert isinstance(edge, DirectEdge)
    assert edge.condition is not None
    assert edge.condition.rule == Rule(op="or", rules=(Rule(value="a"), Rule(value="b")))


@pytest.mark.parametrize(
    ("edge", "code"),
    [
        (DirectEdge(id="x", source="agent", target="gone"), "dangling_edge"),
        (FanInEdge(id="x", sources=("agent", "agent"), target="agent_2"), "fan_in_agent"),
        (HandoffEdge(id="x", source="agent", target="agent_2"), "cannot_run"),
        (DirectEdge(id="agent", source="agent_2", target="agent"), "duplicate_id"),
        (DirectEdge(id="AGENT", source="agent_2", target="agent"), "duplicate_id"),
    ],
)
def test_bad_edges(edge: Any, code: str) -> None:
    drawing = Drawing("agent", "agent")
    drawing.set_workflow(edges=(edge,))
    assert code in drawing.codes()


def test_an_edge_past_the_barrier_is_made_a_source() -> None:
    drawing = Drawing("agent", "agent", "join", "agent")
    drawing.connect("agent", "join", "agent_3")
    drawing.connect("agent", "agent_2")
    direct = DirectEdge(id="d", source="agent_2", target="join")
    drawing.set_workflow(edges=(*drawing.workflow.edges, direct))
    fix = drawing.problem("direct_into_join").fix
    assert fix is not None
    drawing.do(fix.edit)
    assert drawing.codes() == []


def test_types_that_do_not_fit_name_both_nodes() -> None:
    drawing = Drawing("function", "function")
    drawing.connect("function", "function_2")
    drawing.set("function", sends="number")
    problem = drawing.problem("type_mismatch")
    assert problem.message.startswith("“Function” sends a number; “Function 2” takes text, ")
    assert problem.place == "function_to_function_2"


def test_a_join_of_messages_before_a_function() -> None:
    drawing = Drawing("agent", "agent", "join", "agent")
    drawing.connect("agent", "join", "agent_3")
    drawing.connect("agent", "agent_2", "join")
    drawing.add("function")
    edges = tuple(e for e in drawing.workflow.edges if e.id != "join_to_agent_3")
    drawing.set_workflow(edges=(*edges, DirectEdge(id="d", source="join", target="function")))
    fix = drawing.problem("type_mismatch").fix
    assert fix is not None
    drawing.do(fix.edit)
    assert "type_mismatch" not in drawing.codes()


def test_unreachable_is_a_warning_but_not_before_a_barrier() -> None:
    drawing = two_agents()
    drawing.add("agent")
    problem = drawing.problem("unreachable")
    assert (problem.severity, problem.place) == ("warning", "agent_3")
    drawing.add("join")
    drawing.connect("agent_2", "join")
    drawing.connect("agent_3", "join")
    assert drawing.problem("unreachable_source").place == "agent_3"


def test_a_loop_that_nothing_ends() -> None:
    drawing = two_agents()
    drawing.connect("agent_2", "agent")
    assert "“Agent” → “Agent 2” → “Agent”" in drawing.problem("endless_loop").message
    drawing.do(commands.set_condition(drawing.workflow, "agent_2_to_agent", Condition(rule=Rule(value="again"))))
    assert drawing.codes() == []


def test_a_loop_with_a_person_or_code_in_it_is_no_problem() -> None:
    for kind in ("human_input", "function"):
        drawing = Drawing("agent", kind)
        drawing.connect("agent", kind, "agent")
        assert drawing.codes() == []


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"outputs": ()}, "designation_empty"),
        ({"outputs": ("agent", "agent")}, "designation_twice"),
        ({"outputs": ("gone",)}, "designation_missing"),
        ({"outputs": ("agent",), "intermediate": ("agent",)}, "designation_both"),
        ({"outputs": "all", "intermediate": "all"}, "designation_both"),
        ({"max_supersteps": 0}, "max_supersteps"),
        ({"modules": (ModuleDecl(name="m", source="def f(:"),)}, "syntax"),
        ({"modules": (ModuleDecl(name="a b", source=""),)}, "module_name"),
        ({"modules": (ModuleDecl(name="m", source=""), ModuleDecl(name="m", source=""))}, "declared_twice"),
        ({"tools": (ToolDecl(name="no spaces", approval="caller"),)}, "tool_name"),
        ({"tools": (ToolDecl(name="t"),)}, "tool_without_code"),
        ({"tools": (ToolDecl(name="t", call="nowhere"),)}, "call_form"),
        ({"tools": (ToolDecl(name="t", call="m:f"),)}, "unknown_module"),
        ({"types": (TypeDecl(name="text", json_schema={}),)}, "type_name"),
        ({"state": (StateDecl(key="_x"),)}, "state_key"),
        ({"state": (StateDecl(key="x", type="Gone"),)}, "unknown_type"),
        ({"offline": OfflineScript(nodes={"gone": {"replies": []}})}, "orphan_script"),
        ({"offline": OfflineScript(nodes={"agent": {"replies": "x"}})}, "script_form"),
    ],
)
def test_declarations(values: dict[str, Any], code: str) -> None:
    drawing = two_agents()
    drawing.set_workflow(**values)
    assert code in drawing.codes()


@pytest.mark.parametrize(
    ("kind", "values", "code", "severity"),
    [
        ("agent", {"name": " "}, "no_name", "warning"),
        ("agent", {"instructions": " "}, "no_instructions", "info"),
        ("agent", {"context": "custom"}, "no_context_filter", "error"),
        ("agent", {"temperature": 3.0}, "temperature", "error"),
        ("agent", {"max_tokens": 0}, "max_tokens", "error"),
        ("agent", {"output_schema": {"type": "string"}}, "output_schema", "error"),
        ("agent", {"tools": ("gone",)}, "unknown_tool", "error"),
        ("function", {"body": ""}, "no_code", "error"),
        ("function", {"body": "x = (\n1"}, "syntax", "error"),
        ("function", {"call": "m:f"}, "function_twice", "error"),
        ("function", {"body": "", "call": "m:f"}, "unknown_module", "error"),
        ("function", {"body": "", "call": "m"}, "call_form", "error"),
        ("function", {"sends": "Gone"}, "unknown_type", "error"),
        ("template", {"text": "{nobody} {text}"}, "unknown_field", "warning"),
        ("template", {"text": "{state.gone}"}, "unknown_state", "warning"),
        ("human_input", {"question": " "}, "no_question", "warning"),
        ("human_input", {"choices": ("a", "a")}, "choice_twice", "warning"),
        ("human_input", {"answer_type": "Gone"}, "unknown_type", "error"),
        ("sub_workflow", {}, "no_sub_workflow", "error"),
        ("sub_workflow", {"embedded": Workflow()}, "sub_workflow", "error"),
        ("loop", {}, "cannot_run", "error"),
        ("placeholder", {}, "cannot_run", "error"),
    ],
)
def test_nodes(kind: str, values: dict[str, Any], code: str, severity: str) -> None:
    drawing = Drawing("agent", "agent")
    node_id = drawing.add(kind)
    drawing.set(node_id, **values)
    drawing.connect("agent", node_id)
    found = [p for p in problems(drawing.workflow) if p.place == node_id and p.code != "output_unused"]
    assert [(p.code, p.severity) for p in found] == [(code, severity)]


def test_a_placeholder_can_be_let_pass_and_keeps_its_text() -> None:
    drawing = Drawing("agent")
    node = GenericNode.model_validate({"id": "p", "name": "P", "kind": "placeholder", "original": "kind: Ring"})
    passed = problems(drawing.workflow.model_copy(update={"nodes": (*drawing.workflow.nodes, node)}))
    fix = next(p.fix for p in passed if p.code == "cannot_run")
    assert fix is not None
    found = fix.edit.apply(drawing.workflow.model_copy(update={"nodes": (*drawing.workflow.nodes, node)})).workflow
    assert found.node("p") == node.model_copy(update={"kind": "pass"})
    assert "cannot_run" not in [p.code for p in problems(found)]


@pytest.mark.parametrize("text", ['{"json": 1}', "{ text }", "{}", "{input} {value} {value.a.b}", "{"])
def test_braces_that_are_no_field(text: str) -> None:
    drawing = Drawing("template")
    drawing.set("template", text=text)
    assert drawing.codes() == ["no_output"]


def test_code_with_await_and_return_can_be_read() -> None:
    drawing = Drawing("function")
    drawing.set(
        "function", body='"""two\nlines"""\nif data:\n    return 1\nresult = await ctx.get(data)', yields="text"
    )
    assert drawing.codes() == []


def test_functions_and_tools_of_modules() -> None:
    drawing = Drawing("agent", "function")
    drawing.connect("agent", "function")
    drawing.set("function", body="", call="mod:count")
    source = "from x import count\n\nif True:\n    async def look(q): ...\n"
    drawing.set_workflow(
        modules=(ModuleDecl(name="mod", source=source),), tools=(ToolDecl(name="look", call="mod:look"),)
    )
    assert drawing.codes() == []
    drawing.set_workflow(modules=(ModuleDecl(name="mod", source="def other(): ..."),))
    assert drawing.codes() == ["unknown_function", "unknown_function"]


def test_a_join_bar_with_code() -> None:
    drawing = Drawing("agent", "agent", "join", "agent")
    drawing.connect("agent", "agent_2", "join", "agent_3")
    drawing.connect("agent", "join")
    drawing.set("join", merge="code")
    assert drawing.codes() == ["no_code"]


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        (Condition(), "no_condition"),
        (Condition(rule=Rule(value="")), "incomplete_rule"),
        (Condition(rule=Rule(op="and")), "incomplete_rule"),
        (Condition(rule=Rule(op="not", rules=(Rule(op="compares"),))), "incomplete_rule"),
        (Condition(rule=Rule(op="matches", value="(")), "pattern"),
        (Condition(rule=Rule(path="score", value="1")), "rule_path"),
        (Condition(rule=Rule(path="state.x", value="1")), "condition_state"),
        (Condition(kind="expression", expression="text =="), "expression"),
        (Condition(kind="expression", expression="state.x == 1"), "condition_state"),
        (Condition(kind="python"), "no_condition"),
        (Condition(kind="python", body="return ("), "syntax"),
    ],
)
def test_conditions(condition: Condition, code: str) -> None:
    drawing = two_agents()
    drawing.set("agent_to_agent_2", condition=condition)
    assert drawing.codes() == [code]
    assert drawing.problem(code).message.startswith("The edge from “Agent” to “Agent 2”")


def test_a_switch_may_read_state() -> None:
    drawing = Drawing("agent", "switch", "agent", "agent")
    drawing.connect("agent", "switch", "agent_2")
    drawing.connect("switch", "agent_3")
    condition = Condition(kind="expression", expression="state.tries > 3")
    drawing.do(commands.set_condition(drawing.workflow, "switch_case_1", condition))
    assert drawing.codes() == []


def test_a_case_that_hides_others() -> None:
    drawing = Drawing("agent", "switch", "agent", "agent", "agent")
    drawing.connect("agent", "switch")
    for target in ("agent_2", "agent_3", "agent_4"):
        drawing.connect("switch", target)
    for case in ("switch_case_1", "switch_case_2"):
        drawing.do(commands.set_condition(drawing.workflow, case, Condition(rule=Rule(op="always"))))
    assert drawing.codes() == ["case_hides_others"]
    assert drawing.problem("case_hides_others").place == "switch_case_1"


def test_equal_instructions_of_scripted_agents() -> None:
    drawing = two_agents()
    for node_id in ("agent", "agent_2"):
        drawing.set(node_id, instructions="Same. ")
    assert drawing.codes() == []
    drawing.set_workflow(offline=OfflineScript(nodes={n: {"replies": []} for n in ("agent", "agent_2")}))
    assert drawing.codes() == ["equal_instructions"]


def test_a_script_that_calls_a_tool_of_a_server_without_its_prefix() -> None:
    drawing = two_agents()
    drawing.set_workflow(mcp_servers=(McpServerDecl(name="maths: one", command="python", tools=("add",)),))
    drawing.set("agent", mcp_servers=("maths: one",))
    call = {"tool": "add", "arguments": {"tool": "add"}}
    drawing.set_workflow(offline=OfflineScript(nodes={"agent": {"replies": ["Well.", {"calls": [call]}]}}))
    problem = drawing.problem("script_tool")
    assert problem.message.endswith("calls add. Tools of an MCP server have its name in front: maths_one_add.")
    assert problem.fix is not None
    drawing.do(problem.fix.edit)
    called = drawing.workflow.offline.nodes["agent"]["replies"]
    assert called == ["Well.", {"calls": [{"tool": "maths_one_add", "arguments": {"tool": "add"}}]}]
    assert "script_tool" not in drawing.codes()


def test_what_can_be_an_output() -> None:
    drawing = Drawing("agent", "function", "template")
    drawing.connect("agent", "function", "template")
    drawing.set_workflow(outputs=("function",))
    fix = drawing.problem("cannot_yield").fix
    assert fix is not None
    drawing.do(fix.edit)
    assert drawing.codes() == []
    drawing.set_workflow(outputs=("template",))
    assert drawing.codes() == ["cannot_yield"]


def test_an_unknown_kind_is_a_warning() -> None:
    drawing = Drawing("agent")
    new = UnknownNode.model_validate({"id": "x", "name": "Warp", "kind": "warp", "speed": 9})
    edge = DirectEdge(id="e", source="agent", target="x")
    drawing.set_workflow(nodes=(*drawing.workflow.nodes, new), edges=(edge,))
    assert drawing.problem("cannot_run").message.startswith("“Warp” is of kind warp")


def test_a_join_bar_cannot_be_the_start() -> None:
    drawing = Drawing("agent", "agent", "join")
    drawing.connect("agent", "join")
    drawing.connect("agent_2", "join", "agent")
    drawing.set_workflow(start="join")
    assert "start_takes_list" in drawing.codes()
