"""Exported projects build and run on the real framework."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from studio.document.conditions import Condition, Rule
from studio.document.model import (
    AgentNode,
    DirectEdge,
    FanInEdge,
    FanOutEdge,
    FunctionNode,
    HumanInputNode,
    JoinNode,
    ModuleDecl,
    RunnerNode,
    StateDecl,
    SubWorkflowNode,
    SwitchCase,
    SwitchEdge,
    TemplateNode,
    TypeDecl,
    Workflow,
)
from studio.export import ExportProblem, export_project
from studio.export.user_code import result_line
from studio.files import write_project
from studio.importers.own_conditions import edited_condition

from tests.export.conftest import Exported

pytestmark = pytest.mark.filterwarnings("default")


def function(node_id: str, body: str, **fields: Any) -> FunctionNode:
    return FunctionNode(id=node_id, name=node_id.title(), body=body, **fields)


def chain(*nodes: Any, **fields: Any) -> Workflow:
    edges = tuple(DirectEdge(id=f"e{i}", source=a.id, target=b.id) for i, (a, b) in enumerate(pairwise(nodes)))
    return Workflow(name="Chain", start=nodes[0].id, nodes=nodes, **{"edges": edges, **fields})


async def outputs(module: Any, text: str = "hello") -> list[Any]:
    return list((await module.build(client_factory=lambda: None).run(text)).get_outputs())


async def test_function_and_template(exported: Exported) -> None:
    module = exported(
        chain(
            function("shout", "result = data.upper()"),
            TemplateNode(id="frame", name="Frame", text="<{text}> {state.seen} {value.no}"),
            function("end", "result = data", sends="", yields="text"),
            state=(StateDecl(key="seen", initial="nobody"),),
        )
    )
    assert await outputs(module) == ["<HELLO> nobody "]


async def test_state_has_its_initial_value_in_user_code(exported: Exported) -> None:
    body = 'ctx.set_state("n", ctx.get_state("n") + 1)\nresult = str(ctx.get_state("n"))'
    module = exported(
        chain(function("count", body, sends="", yields="text"), edges=(), state=(StateDecl(key="n", initial=41),))
    )
    assert await outputs(module) == ["42"]


async def test_switch_loop_and_modules(exported: Exported) -> None:
    longer = Condition(name="long_enough", rule=Rule(op="matches", path="text", value="x{3}"))
    grow = FunctionNode(id="grow", name="Grow", call="tools:grow", accepts="text", sends="text")
    edges = (
        SwitchEdge(
            id="s", source="grow", cases=(SwitchCase(id="s_1", condition=longer, target="end"),), default="grow"
        ),
    )
    module = exported(
        Workflow(
            name="Loop",
            start="grow",
            nodes=(grow, function("end", "result = data", sends="", yields="text")),
            edges=edges,
            modules=(
                ModuleDecl(name="letters", source='X = "x"\n'),
                ModuleDecl(name="tools", source="from letters import X\n\n\ndef grow(data):\n    return data + X\n"),
            ),
        )
    )
    assert await outputs(module, "") == ["xxx"]


async def test_fan_out_selection_and_join(exported: Exported) -> None:
    only_a = Condition(name="wants_b", rule=Rule(op="contains", path="text", value="b"))
    workflow = Workflow(
        name="Fan",
        start="go",
        nodes=(
            function("go", "result = data"),
            function("a", 'result = data + "a"'),
            function("b", 'result = data + "b"'),
            JoinNode(id="join", name="Join", merge="texts", separator="+"),
            function("end", "result = data", sends="", yields="text"),
        ),
        edges=(
            FanOutEdge(id="f", source="go", targets=("a", "b"), selection={"b": only_a}),
            FanInEdge(id="j", sources=("a", "b"), target="join"),
            DirectEdge(id="e", source="join", target="end"),
        ),
    )
    module = exported(workflow)
    assert await outputs(module, "b") == ["ba+bb"]


async def test_human_input_and_declared_types(exported: Exported) -> None:
    score = TypeDecl(
        name="Score", schema={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    )
    workflow = chain(
        HumanInputNode(id="ask", name="Ask", question="How many for {text}?", answer_type="integer"),
        function("make", 'result = {"n": data}', accepts="integer", sends="Score"),
        function("end", "result = Score(data.n + 1)", accepts="Score", sends="", yields="Score"),
        types=(score,),
    )
    module = exported(workflow)
    built = module.build(client_factory=lambda: None)
    request = (await built.run("tea")).get_request_info_events()[0]
    assert (request.data.text, request.response_type) == ("How many for tea?", int)
    done = await built.run(responses={request.request_id: 4})
    assert [value.n for value in done.get_outputs()] == [5]


@pytest.mark.parametrize(
    ("given", "code", "out", "err"),
    [
        ("", 3, "", "Sure about hello?\nThe input has ended, and the workflow waits for this answer.\n"),
        ("\n", 0, "end\t<>\n", "Sure about hello?\n"),
        ("yes", 0, "end\t<yes>\n", "Sure about hello?\n"),
    ],
)
def test_the_end_of_the_input_is_no_answer(tmp_path: Path, given: str, code: int, out: str, err: str) -> None:
    workflow = chain(
        HumanInputNode(id="ask", name="Ask", question="Sure about {text}?"),
        function("end", 'result = f"<{data}>"', sends="", yields="text"),
    )
    write_project(export_project(workflow, package="asking"), tmp_path)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "asking.workflow", "hello"],
        input=given, capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (code, out, err)


async def test_sub_workflow(exported: Exported) -> None:
    inner = chain(function("twice", "result = data * 2", sends="", yields="text"), edges=())
    workflow = chain(
        SubWorkflowNode(id="inner", name="Inner", embedded=inner),
        function("end", "result = data", sends="", yields="text"),
    )
    assert await outputs(exported(workflow), "ab") == ["abab"]


@pytest.mark.parametrize(
    ("expression", "text", "taken"),
    [
        ('len(text) > 3 and "a" in text', "abcd", True),
        ('len(text) > 3 and "a" in text', "abc", False),
        ("value.missing > 3", "x", False),
        ('text.startswith("x") or number(text) >= 4.5', "5", True),
        ("text + 1 == 2", "x", False),
    ],
)
async def test_expressions(exported: Exported, expression: str, text: str, taken: bool) -> None:
    nodes = (function("go", "result = data"), function("end", "result = data", sends="", yields="text"))
    edge = DirectEdge(
        id="e", source="go", target="end", condition=Condition(kind="expression", name="c", expression=expression)
    )
    module = exported(chain(*nodes, edges=(edge,)))
    assert await outputs(module, text) == ([text] if taken else [])


async def test_python_condition(exported: Exported) -> None:
    nodes = (function("go", "result = data"), function("end", "result = data", sends="", yields="text"))
    edge = DirectEdge(
        id="e", source="go", target="end", condition=Condition(kind="python", name="c", body="len(text) == 3")
    )
    module = exported(chain(*nodes, edges=(edge,)))
    assert await outputs(module, "abc") == ["abc"]
    assert await outputs(module, "abcd") == []


def test_an_export_names_no_folder_of_this_machine(tmp_path: Path) -> None:
    workflow = chain(
        AgentNode(id="writer", name='W "quoted" \\ 你好', instructions="One\nTwo " + "long " * 40, temperature=0.5),
        function("end", 'result = """a\n  b"""', sends="", yields="text"),
    )
    files = export_project(workflow, folder=tmp_path)
    assert not any(word in text for text in files.values() for word in ("sk-", str(tmp_path)))


def test_what_cannot_be_written_is_said() -> None:
    awaits = Condition(kind="python", name="slow", body="result = await nothing()")
    switch = SwitchEdge(id="s", source="a", cases=(SwitchCase(id="c", condition=awaits, target="b"),), default="b")
    documents = {
        "has no workflow inside": Workflow(start="a", nodes=(SubWorkflowNode(id="a", name="A"),)),
        "has no agent": Workflow(start="a", nodes=(RunnerNode(id="a", name="A"),)),
        "slow awaits": Workflow(start="a", nodes=(function("a", ""), function("b", "")), edges=(switch,)),
    }
    for words, workflow in documents.items():
        with pytest.raises(ExportProblem, match=words):
            export_project(workflow)


@pytest.mark.parametrize("layout", [False, True])
def test_only_a_layout_file_that_is_written_is_named(layout: bool) -> None:
    inner = chain(function("twice", "result = data * 2", sends="", yields="text"), edges=())
    files = export_project(chain(SubWorkflowNode(id="inner", name="Inner", embedded=inner)), "pkg", layout=layout)
    named = [line for text in files.values() for line in text.split("\n") if line.startswith("# layout: ")]
    assert named == (["# layout: pkg.layout.json"] if layout else [])
    assert ("pkg/pkg.layout.json" in files) is layout


def test_no_start_node() -> None:
    with pytest.raises(ExportProblem, match="start"):
        export_project(Workflow(nodes=(function("a", "result = 1"),)))


@pytest.mark.parametrize("kind", ["rules", "expression", "python"])
async def test_switch_that_reads_state(exported: Exported, kind: str) -> None:
    condition = {
        "rules": Condition(name="often", rule=Rule(op="compares", path="state.n", compare=">=", value=3)),
        "expression": Condition(kind="expression", name="often", expression="state.n >= 3"),
        "python": Condition(kind="python", name="often", body='state["n"] >= 3'),
    }[kind]
    count = function("count", 'ctx.set_state("n", ctx.get_state("n") + 1)\nresult = str(ctx.get_state("n"))')
    workflow = Workflow(
        name="Counting",
        start="count",
        nodes=(count, function("end", "result = data", sends="", yields="text")),
        edges=(
            SwitchEdge(
                id="gate",
                source="count",
                cases=(SwitchCase(id="gate_1", condition=condition, target="end"),),
                default="count",
            ),
        ),
        state=(StateDecl(key="n", initial=0),),
    )
    assert await outputs(exported(workflow)) == ["3"]


def _condition_code(rule: Rule) -> str:
    nodes = (function("a", "result = data"), function("b", "result = data", sends="", yields="text"))
    edge = DirectEdge(id="e", source="a", target="b", condition=Condition(name="fits", rule=rule))
    flow = chain(*nodes, edges=(edge,))
    return export_project(flow, package="pkg")["pkg/workflow.py"]


def test_what_a_condition_asks_for_several_times_is_named_once_and_read_back() -> None:
    words = [Rule(op="contains", path="text", value=word, ignore_case=True) for word in ("yes", "sure", "fine")]
    rule = Rule(op="or", rules=tuple(words))
    code = _condition_code(rule)
    assert code.count("text_of(message).casefold()") == 1
    assert (
        '    text = text_of(message).casefold()\n    return "yes" in text or "sure" in text or "fine" in text' in code
    )
    found = edited_condition("fits", code, "")
    assert found is not None
    assert found.rule == rule
    spoken = Rule(op="or", rules=(words[0], Rule(op="contains", path="text", value="text_of(message).casefold()")))
    assert "    return " in _condition_code(spoken)
    assert '"text_of(message).casefold()" in text_of(message)' in _condition_code(spoken), "a text stays what it is"


def test_a_body_that_gives_its_result_itself_gets_no_line_for_it() -> None:
    for body, line in (
        ("result = data", ""),
        ("if data:\n    result = 1", "    result: Any = None\n"),
        ("result = 1\nresult = 'b'", "    result: Any = None\n"),
        ("result = [result, 1]", "    result: Any = None\n"),
        ("a = (result := 1)", "    result: Any = None\n"),
        ("x = 1", "    result: Any = None\n"),
    ):
        assert result_line(body) == line, body


def test_questions_that_all_want_texts_are_answered_without_reading_values() -> None:
    ask = HumanInputNode(id="ask", name="Ask", choices=("fine", "bad"))
    flow = chain(ask, function("end", "result = data", sends="", yields="text"))
    code = export_project(flow, package="pkg")["pkg/workflow.py"]
    assert "value_of_answer" not in code
    assert "def answer_question(event: WorkflowEvent[Any]) -> str:" in code
    inner = chain(HumanInputNode(id="sum", name="Sum", answer_type="number"))
    both = chain(ask, SubWorkflowNode(id="sub", name="Sub", embedded=inner))
    code = export_project(both, package="pkg")["pkg/workflow.py"]
    assert code.count("def answer_question(") == code.count("def value_of_answer(") == 1


def test_what_the_smoke_test_needs_is_named_where_there_is_one() -> None:
    nodes = (FunctionNode(id="f", name="F", body="result = data", yields="text"),)
    flow = Workflow(name="W", start="f", nodes=nodes)
    with_test, without = export_project(flow), export_project(flow, smoke_test=False)
    assert tomllib.loads(with_test["pyproject.toml"])["dependency-groups"] == {"dev": ["pytest>=8"]}
    assert "python -m pytest" in with_test["README.md"]
    assert "dependency-groups" not in without["pyproject.toml"]
    assert "pytest" not in without["README.md"]
    assert "\n\n\n" not in with_test["README.md"] + with_test["pyproject.toml"], "also without a description"
