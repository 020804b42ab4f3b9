"""Parts that readers share: formulas, newer Python, secrets, YAML, detection."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from studio.document.conditions import Scope, evaluate
from studio.importers import ImportProblem, Refused, powerfx, read, reading, secrets
from studio.importers.detection import detect
from studio.importers.python_source import parse

STATE = {"Local.N": 4, "Local.Name": "Ann Lee", "Local.Reply": {"ok": True, "items": [1, 2]}, "Local.Empty": ""}


@pytest.mark.parametrize(
    ("formula", "holds"),
    [
        ("Local.N < 5", True),
        ("Local.N = 4", True),
        ("Local.N <> 4", False),
        ("And(Local.N >= 2, Local.N < 4)", False),
        ("Local.N > 1 And Not(Local.N > 3)", False),
        ("!(Local.N > 9) && Local.Reply.ok", True),
        ("Local.N = 9 Or Local.N = 4", True),
        ("IsBlank(Local.Empty)", True),
        ("IsBlank(Local.Missing)", True),
        ('IsBlank(Find("Lee", Local.Name))', False),
        ('Not(IsBlank(Find("Lee", Local.Name)))', True),
        ('Upper(Local.Name) = "ANN LEE"', True),
        ("Len(Local.Name) = 7", True),
        ("Value(System.LastMessage.Text) + 1 = 43", True),
        ("CountRows(Local.Reply.items) = 2", True),
        ("First(Local.Reply.items) = 1", True),
        ('If(Local.N > 3, "many", "few") = "many"', True),
        ('"a ""b""" = "a ""b"""', True),
        ("1 + 2 * 3 = 7", True),
        ("true", True),
    ],
)
def test_power_fx_is_translated(formula: str, holds: bool) -> None:
    condition = powerfx.translated(formula)
    assert condition is not None
    assert condition.kind == "expression"
    assert evaluate(condition, Scope(text="42", state=STATE)) is holds


@pytest.mark.parametrize(
    "formula",
    ["ForAll(Local.Items, ThisRecord.x)", 'Concat(Local.Items, "x")', "Foo.Bar = 1", "Local.N <", "{a: 1}", "1 2", ""],
)
def test_everything_else_keeps_its_text(formula: str) -> None:
    assert powerfx.translated(formula) is None
    assert powerfx.rule(f"={formula}").text == formula


@pytest.mark.parametrize(
    "line",
    [
        'x = f"a {b["c"]} d"',
        'x = f"a {b["c"] + f"{d["e"]}"} d"',
        "x = f'{a['b']!r:>10}'",
        'x = f"""{a["b"]} "quoted" """',
        'x = f"{a["it\'s"]}"',
        "type Pair[T] = tuple[T, T]",
        "def first[T](items: list[T]) -> T: return items[0]",
        "class Box[T]: pass",
    ],
)
def test_newer_syntax_is_read_at_its_place(line: str) -> None:
    text = f"before = 1\n{line}\nafter = 'here'\n"
    source = parse(text)
    assert len(source.readable) == len(text)
    assert [s.lineno for s in source.tree.body] == [1, 2, 3]
    last = source.tree.body[2]
    assert isinstance(last, ast.Assign)
    assert source.segment(last.value) == "'here'"
    assert source.segment(source.tree.body[1]) == line


def test_older_f_strings_are_left_alone() -> None:
    text = 'x = f\'{a}\' \'{\' "}" # f"{"\ny = f"{{}}"\n'
    assert parse(text).readable == text


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("api_key", "not-a-key", True),
        ("apiKey", "${OPENAI_KEY}", False),
        ("api_key", "**********", False),
        ("password", "=Env.PASSWORD", False),
        ("outputKey", "bill", False),
        ("max_tokens", 500, False),
        ("someKey", "0123456789abcdef0123", True),
        ("text", "sk-0123456789abcdef0123", True),
        ("credential_type", "basic", False),
    ],
)
def test_secrets_by_name_and_by_look(name: str, value: object, found: bool) -> None:
    assert bool(list(secrets.found_in({"config": {name: value}}))) is found


def test_secrets_leave_every_text() -> None:
    key = "abcdef0123456789abcdef"
    ring = f"  - kind: Ring\n    id: a\n    token: {key}\n"
    found = read(f"actions:\n{ring}  - kind: SendActivity\n    id: b\n    activity: {key}\n")
    assert key not in found.workflow.model_dump_json()
    assert [e.item for e in found.report.entries if e.code == "secret_removed"] == ["a"]


def test_yaml_texts_stay_texts() -> None:
    file = reading.yaml_of("a: yes\nb: 2026-01-01\nc: =\nd: 1\ne: true\nf: '1'\ng: 1_000\nh: 1.5\ni: ~\nj: 0777\n")
    texts = {"a": "yes", "b": "2026-01-01", "c": "=", "f": "1", "j": "0777"}
    assert file.value == {**texts, "d": 1, "e": True, "g": 1000, "h": 1.5, "i": None}


def test_one_fenced_block_is_enough() -> None:
    flow = "actions:\n  - kind: SendActivity\n    id: hello\n    activity: Hi\n"
    found = read(f"# My workflow\n\n```yaml\n{flow}```\n\nEnjoy.\n")
    assert found.report.detected == "maf-yaml"
    with pytest.raises(ImportProblem):
        read(f"```yaml\n{flow}```\n```yaml\n{flow}```\n")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("# exported workflow: format 1\nimport agent_framework\n", "own-export"),
        ("kind: Prompt\nname: A\ninstructions: Do.\n", "maf-agent-yaml"),
        ("beginDialog:\n  kind: OnUnknownIntent\n", "copilot-studio-topic"),
        (
            'import { Agent } from "@openai/agents";\nexport const runWorkflow = async () => {};\n',
            "openai-agent-builder-ts",
        ),
        ("from agents import Agent\na = Agent(name='x')\n", "openai-agents"),
        ('{"kind": "app", "app": {"mode": "chat"}}', "dify"),
        ('{"components": {"teams": []}}', "autogen-studio-gallery"),
    ],
)
def test_formats_are_found_by_content(text: str, kind: str) -> None:
    assert detect(text).kind == kind


def test_recognised_formats_without_a_reader_are_refused_with_a_report() -> None:
    with pytest.raises(Refused) as stopped:
        read("beginDialog:\n  kind: OnUnknownIntent\n")
    assert [e.code for e in stopped.value.report.entries] == ["unsupported_format"]
    assert stopped.value.report.has_losses


def test_an_agent_of_its_own(tmp_path: Path) -> None:
    found = read(
        "kind: Prompt\nname: Helper\ninstructions: Help.\nmodel:\n  id: small\n  options:\n    temperature: 0.2\n"
    )
    node = found.workflow.nodes[0]
    assert (node.kind, node.name, getattr(node, "temperature", None)) == ("agent", "Helper", 0.2)


def test_agents_beside_the_workflow_are_found(tmp_path: Path) -> None:
    (tmp_path / "helper.yaml").write_text("kind: Prompt\nname: Helper\ninstructions: Help.\n", encoding="utf-8")
    flow = tmp_path / "flow.yaml"
    flow.write_text(
        "actions:\n  - kind: InvokeAzureAgent\n    id: a\n    agent:\n      name: Helper\n", encoding="utf-8"
    )
    found = read(flow)
    assert found.report.entries == ()
    assert getattr(found.workflow.nodes[0], "instructions", "") == "Help."


def test_what_has_no_name_is_called_as_its_file(tmp_path: Path) -> None:
    file = tmp_path / "two_models.flow.json"
    file.write_bytes((Path(__file__).parent / "samples" / "flowise" / "01_two_models.json").read_bytes())
    assert read(file).workflow.name == "two models"
    assert read(file.read_text(encoding="utf-8")).workflow.name == "Imported workflow"


_TWO = {
    "maf": """from agent_framework import WorkflowBuilder, WorkflowContext, executor

@executor(id="one")
async def one(text: str, ctx: WorkflowContext[str]) -> None: ...

@executor(id="two")
async def two(text: str, ctx: WorkflowContext[str]) -> None: ...

first = WorkflowBuilder(start_executor=one).build()
second = WorkflowBuilder(start_executor=two).build()
""",
    "langgraph": """from langgraph.graph import START, StateGraph

def one(state): ...
def two(state): ...

first = StateGraph(dict)
first.add_node("one", one)
first.add_edge(START, "one")
second = StateGraph(dict)
second.add_node("two", two)
second.add_edge(START, "two")
""",
}


@pytest.mark.parametrize("source", _TWO.values(), ids=_TWO)
def test_another_workflow_of_the_file_can_be_chosen(source: str) -> None:
    found = read(source)
    assert ([n.id for n in found.workflow.nodes], len(found.report.choices)) == (["one"], 1)
    other = read(source, choice=found.report.choices[0])
    assert [n.id for n in other.workflow.nodes] == ["two"]
    assert len(other.report.choices) == 1


def test_a_short_key_is_taken_out_as_a_word_and_no_id_changes() -> None:
    assert secrets.scrubbed({"set_idle": "idle, idle_1"}, {"idle"}) == {"set_idle": f"{secrets.MASK}, idle_1"}


def test_python_without_imports_is_not_said_to_be_bad_yaml() -> None:
    with pytest.raises(ImportProblem, match="format of the file is not known"):
        read('"""Words: of a module.\n\n  and: more\n"""\nx = 1\n')
