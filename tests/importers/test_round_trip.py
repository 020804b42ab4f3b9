"""Our own exports come back: untouched ones as they were, edited ones with the edits as a list that can be undone."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from studio.document.conditions import Condition, Rule
from studio.document.edits import Batch
from studio.document.layout import arrange
from studio.document.model import (
    AgentNode,
    DirectEdge,
    FanInEdge,
    FanOutEdge,
    FunctionNode,
    HumanInputNode,
    JoinNode,
    ModuleDecl,
    Note,
    StateDecl,
    SubWorkflowNode,
    SwitchCase,
    SwitchEdge,
    TemplateNode,
    ToolDecl,
    Workflow,
)
from studio.document.validate import problems
from studio.export import export_project
from studio.files import read_workflow, write_project
from studio.importers import Imported, ImportProblem, read
from studio.settings.places import resource

TEMPLATES = sorted(resource("templates").glob("*.workflow.json"))


def _exported(workflow: Workflow, folder: Path) -> tuple[dict[str, str], Path]:
    files = export_project(workflow, package="pkg", layout=True)
    write_project(files, folder)
    return files, folder / "pkg" / "workflow.py"


def _untouched(workflow: Workflow, folder: Path) -> None:
    files, path = _exported(workflow, folder)
    found = read(path)
    assert found.report.detected == "own-export"
    assert found.report.entries == ()
    assert found.edits == ()
    assert found.report.counts.balanced
    assert found.workflow == workflow
    assert export_project(found.workflow, package="pkg", layout=True) == files


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda f: f.name)
def test_templates_come_back_as_they_were(file: Path, tmp_path: Path) -> None:
    _untouched(read_workflow(file), tmp_path)


def _condition(chance: random.Random, name: str) -> Condition:
    kind = chance.choice(["rules", "expression", "python"])
    if kind == "rules":
        return Condition(name=name, rule=Rule(op="contains", value=chance.choice(["yes", 'a "b"', "ü"])))
    if kind == "expression":
        return Condition(kind="expression", name=name, expression="len(text) > 3")
    return Condition(kind="python", name=name, body="found = text.strip()\nresult = bool(found)")


def _node(chance: random.Random, item: str, depth: int) -> object:
    kinds = ["agent", "function", "template", "human", "sub"][: 5 if depth == 0 else 4]
    name = chance.choice(["Writer", "Ärger & Co", 'The "best"', "x\\y", "日本"])
    match chance.choice(kinds):
        case "agent":
            text = chance.choice(["Write.", 'Say "hi".\n\nThen stop.', "{curly} \\ back"])
            return AgentNode(id=item, name=name, instructions=text, temperature=chance.choice([None, 0.5]))
        case "function":
            body = chance.choice(
                ["result = data", "# first\nif data:\n    result = 'x'\nelse:\n    result = '''a\n  b'''"]
            )
            return FunctionNode(id=item, name=name, body=body, yields=chance.choice([None, "text"]))
        case "template":
            return TemplateNode(id=item, name=name, text="Hello {text}\n\n  twice")
        case "human":
            return HumanInputNode(id=item, name=name, question="Is it {text}?")
    return SubWorkflowNode(id=item, name=name, embedded=_document(chance, depth + 1), direct_output=True)


def _document(chance: random.Random, depth: int = 0) -> Workflow:
    """A tree of nodes with every kind of edge group, sometimes with a join."""
    nodes = [_node(chance, f"n{i}", depth) for i in range(chance.randint(1, 6))]
    edges: list[object] = []
    waiting = [f"n{i}" for i in range(1, len(nodes))]
    for i in range(len(nodes)):
        taken = waiting[: chance.randint(1, 3)]
        waiting = waiting[len(taken) :]
        edges += _group(chance, f"n{i}", taken)
    if len(nodes) > 2 and chance.random() < 0.5:
        nodes.append(JoinNode(id="join", name="Join"))
        edges.append(FanInEdge(id="waits", sources=("n0", "n1"), target="join"))
    workflow = Workflow(
        id="w",
        name="Round trip",
        start="n0",
        nodes=tuple(nodes),  # type: ignore[arg-type]
        edges=tuple(edges),  # type: ignore[arg-type]
        max_supersteps=chance.choice([100, 12]),
        state=(StateDecl(key="k", initial=[1, "a"]),) if chance.random() < 0.5 else (),
        notes=(Note(id="note", text="A note\nof two lines"),),
    )
    return workflow.model_copy(update={"places": arrange(workflow)})


def _group(chance: random.Random, source: str, targets: list[str]) -> list[object]:
    if not targets:
        return []
    if len(targets) == 1:
        condition = _condition(chance, f"when_{source}") if chance.random() < 0.5 else None
        return [DirectEdge(id=f"{source}_out", source=source, target=targets[0], condition=condition)]
    if chance.random() < 0.5:
        *cases, default = targets
        made = tuple(
            SwitchCase(id=f"{source}_{t}", target=t, condition=_condition(chance, f"when_{source}_{t}")) for t in cases
        )
        return [SwitchEdge(id=f"{source}_switch", source=source, cases=made, default=default)]
    selection = {targets[0]: _condition(chance, f"when_{source}_{targets[0]}")} if chance.random() < 0.5 else None
    return [FanOutEdge(id=f"{source}_fan", source=source, targets=tuple(targets), selection=selection)]


def test_random_documents_come_back_as_they_were(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    wanted, tried, seed = 300 if request.config.getoption("--long") else 60, 0, 0
    while tried < wanted:
        seed += 1
        assert seed < wanted * 10, "the documents made here are mostly invalid"
        workflow = _document(random.Random(seed))
        if any(p.severity == "error" for p in problems(workflow)):
            continue
        _untouched(workflow, tmp_path / str(tried))
        tried += 1


# ------------------------------------------------------------------------------------------------- edited code

EDITED = Workflow(
    id="edited",
    name="Edited",
    start="writer",
    nodes=(
        AgentNode(id="writer", name="Writer", instructions="Write.", tools=("look_up",)),
        FunctionNode(id="tidy", name="Tidy", body="import words\n\nresult = words.plain(data)", yields="text"),
        AgentNode(id="critic", name="Critic", instructions="Judge."),
        AgentNode(id="editor", name="Editor", instructions="Edit."),
    ),
    edges=(
        DirectEdge(id="a", source="writer", target="tidy"),
        SwitchEdge(
            id="b",
            source="tidy",
            cases=(SwitchCase(id="long", target="critic", condition=Condition(kind="python", body="len(text) > 9")),),
            default="editor",
        ),
    ),
    modules=(ModuleDecl(name="words", source="def plain(text):\n    return text.strip()\n"),),
    tools=(ToolDecl(name="look_up", call="words:plain"), ToolDecl(name="other", call="words:plain")),
)

Change = Callable[[str], str]


def _edited(folder: Path, **changes: Change) -> Imported:
    workflow = EDITED.model_copy(update={"places": arrange(EDITED)})
    _, path = _exported(workflow, folder)
    for name, change in changes.items():
        file = path.with_name(f"{name}.py")
        before = file.read_text(encoding="utf-8")
        after = change(before)
        assert after != before, f"the edit of {name} changes nothing"
        file.write_text(after, encoding="utf-8")
    found = read(path)
    assert found.before == workflow
    done = Batch(found.edits).apply(workflow)
    assert done.workflow == found.workflow
    assert done.inverse.apply(done.workflow).workflow == workflow
    return found


def test_a_prompt(tmp_path: Path) -> None:
    found = _edited(tmp_path, agents=lambda t: t.replace('"Judge."', '"Judge it well.",\n        description="Strict"'))
    node = found.workflow.node("critic")
    assert isinstance(node, AgentNode)
    assert (node.instructions, node.description) == ("Judge it well.", "Strict")
    assert [e.code for e in found.report.entries] == []
    assert found.report.edited == ("critic",)


def test_tools_and_options(tmp_path: Path) -> None:
    found = _edited(tmp_path, agents=lambda t: t.replace("tools=[look_up]", 'default_options={"temperature": 0.1}'))
    node = found.workflow.node("writer")
    assert isinstance(node, AgentNode)
    assert (node.tools, node.temperature) == ((), 0.1)


def test_user_code_of_a_function_and_of_a_module(tmp_path: Path) -> None:
    found = _edited(
        tmp_path,
        functions=lambda t: t.replace("result = words.plain(data)", "result = words.plain(data).upper()"),
        words=lambda t: t.replace("text.strip()", "text.rstrip()"),
    )
    node = found.workflow.node("tidy")
    assert isinstance(node, FunctionNode)
    assert node.body == "import words\n\nresult = words.plain(data).upper()"
    assert found.workflow.modules[0].source == "def plain(text):\n    return text.rstrip()\n"
    assert found.report.entries == ()


def test_a_condition(tmp_path: Path) -> None:
    found = _edited(tmp_path, workflow=lambda t: t.replace("len(text) > 9", "len(text) > 90"))
    edge = found.workflow.edge("b")
    assert isinstance(edge, SwitchEdge)
    assert edge.cases[0].condition is not None
    assert "len(text) > 90" in edge.cases[0].condition.body
    assert edge.cases[0].condition.name == EDITED.edges[1].cases[0].condition.name  # type: ignore[union-attr]


def test_a_new_edge_a_removed_edge_and_the_limit(tmp_path: Path) -> None:
    def change(text: str) -> str:
        text = text.replace(".add_edge(writer, tidy)", ".add_edge(writer, tidy)\n        .add_edge(critic, editor)")
        return text.replace("max_iterations=100", "max_iterations=7")

    found = _edited(tmp_path, workflow=change)
    assert [(e.source, e.target) for e in found.workflow.edges if isinstance(e, DirectEdge)] == [
        ("writer", "tidy"),
        ("critic", "editor"),
    ]
    assert found.workflow.max_supersteps == 7
    assert found.workflow.edge("a") == EDITED.edges[0]
    assert found.report.entries == ()

    found = _edited(tmp_path / "two", workflow=lambda t: t.replace("        .add_edge(writer, tidy)\n", ""))
    assert found.workflow.edge("a") is None


def test_a_new_node(tmp_path: Path) -> None:
    call = 'Agent(\n        client,\n        "Polish.",\n        name="polish",\n    )'
    agent = f"\n\n# node: polish\ndef polish(client):\n    return {call}\n"

    def change(text: str) -> str:
        text = text.replace(
            "    return (\n", '    polish = agent_node(agents.polish(client), id="polish")\n    return (\n', 1
        )
        return text.replace(".add_edge(writer, tidy)", ".add_edge(writer, tidy)\n        .add_edge(editor, polish)")

    found = _edited(tmp_path, agents=lambda t: t + agent, workflow=change)
    node = found.workflow.node("polish")
    assert isinstance(node, AgentNode)
    assert node.instructions == "Polish."
    assert getattr(found.workflow.places["polish"], "placed", "") == "auto"
    assert found.workflow.places["writer"] == arrange(EDITED)["writer"]


def _everywhere(old: str, new: str) -> Change:
    """What renaming in an editor does: every word, in all cases."""
    return lambda text: text.replace(old, new).replace(old.title(), new.title()).replace(old.upper(), new.upper())


def test_a_renamed_agent(tmp_path: Path) -> None:
    """It keeps its place, edges and script; id and label are those of the code."""
    rename = _everywhere("critic", "reviewer")
    found = _edited(tmp_path, agents=rename, workflow=rename)
    node = found.workflow.node("reviewer")
    assert isinstance(node, AgentNode)
    assert (node.name, node.instructions) == ("Reviewer", "Judge.")
    assert found.workflow.node("critic") is None
    assert [n.id for n in found.workflow.nodes] == ["writer", "tidy", "reviewer", "editor"]
    edge = found.workflow.edge("b")
    assert isinstance(edge, SwitchEdge)
    assert [case.target for case in edge.cases] == ["reviewer"]
    assert found.workflow.places["reviewer"] == arrange(EDITED)["critic"]
    assert "critic" not in found.workflow.places
    assert [(e.code, e.item, e.severity) for e in found.report.entries] == [("node_renamed", "reviewer", "info")]


def test_a_renamed_agent_with_another_prompt_and_a_new_edge(tmp_path: Path) -> None:
    """The marker stayed, so it is the same node."""
    found = _edited(
        tmp_path,
        agents=lambda t: t.replace("def critic", "def reviewer").replace('"Judge."', '"Judge it."'),
        workflow=lambda t: t.replace("critic", "reviewer").replace(
            ".build()", ".add_edge(reviewer, editor)\n        .build()"
        ),
    )
    node = found.workflow.node("reviewer")
    assert isinstance(node, AgentNode)
    assert (node.name, node.instructions) == ("Critic", "Judge it.")
    assert ("reviewer", "editor") in [(e.source, e.target) for e in found.workflow.edges if isinstance(e, DirectEdge)]


def test_a_renamed_function_node(tmp_path: Path) -> None:
    rename = _everywhere("tidy", "clean_up")
    found = _edited(tmp_path, functions=rename, workflow=rename)
    node = found.workflow.node("clean_up")
    assert isinstance(node, FunctionNode)
    assert node.body == EDITED.nodes[1].body  # type: ignore[union-attr]
    assert node.call == ""
    assert found.workflow.edge("a").target == "clean_up"  # type: ignore[union-attr]
    assert found.workflow.edge("b").source == "clean_up"  # type: ignore[union-attr]
    assert [e.code for e in found.report.entries] == ["node_renamed"]


def test_another_id_alone(tmp_path: Path) -> None:
    found = _edited(tmp_path, workflow=lambda t: t.replace('id="critic"', 'id="reviewer"'))
    assert found.workflow.node("reviewer").name == "Critic"  # type: ignore[union-attr]


def test_another_variable_alone_changes_nothing_and_is_said(tmp_path: Path) -> None:
    def change(text: str) -> str:
        return text.replace("critic = ", "judge = ").replace("when_long, critic)", "when_long, judge)")

    found = _edited(tmp_path, workflow=change)
    assert found.workflow == found.before
    (entry,) = found.report.entries
    assert "critic is called judge in the code." in entry.text


def test_another_label(tmp_path: Path) -> None:
    found = _edited(tmp_path, agents=lambda t: t.replace('"""Critic."""', '"""The strict one."""'))
    assert found.workflow.node("critic").name == "The strict one"  # type: ignore[union-attr]
    found = _edited(tmp_path / "two", functions=lambda t: t.replace('"""Tidy."""', '"""Tidy up."""'))
    assert found.workflow.node("tidy").name == "Tidy up"  # type: ignore[union-attr]


def test_one_removed_and_another_added_is_no_renaming(tmp_path: Path) -> None:
    def agents(text: str) -> str:
        return text.replace("critic", "poet").replace("Critic", "Poet").replace('"Judge."', '"Write a poem."')

    found = _edited(tmp_path, agents=agents, workflow=lambda t: t.replace("critic", "poet"))
    assert found.workflow.node("critic") is None
    assert [e.code for e in found.report.entries if e.code == "node_renamed"] == []
    assert getattr(found.workflow.places["poet"], "placed", "") == "auto"
    edge = found.workflow.edge("b")
    assert isinstance(edge, SwitchEdge)
    assert ([case.target for case in edge.cases], edge.default) == (["poet"], "editor"), "the switch leads to it"


def test_a_changed_switch(tmp_path: Path) -> None:
    """Another target, another default, a new case; what stayed keeps its ids."""
    line = "Case(when_long, critic), Default(editor)"
    new = "Case(when_long, editor), Case(is_short, critic), Default(writer)"
    rule = "def is_short(data: Any) -> bool:\n    return len(data) < 2\n\n\n# edges\n"
    found = _edited(tmp_path, workflow=lambda t: t.replace(line, new).replace("# edges\n", rule))
    edge = found.workflow.edge("b")
    assert isinstance(edge, SwitchEdge)
    assert [(case.id, case.target) for case in edge.cases] == [("long", "editor"), ("b_2", "critic")]
    assert edge.default == "writer"
    assert edge.cases[0].condition == EDITED.edges[1].cases[0].condition  # type: ignore[union-attr]
    assert "len(data) < 2" in edge.cases[1].condition.body  # type: ignore[union-attr]
    assert found.workflow.places == found.before.places  # type: ignore[union-attr]


def test_a_changed_switch_and_its_changed_condition(tmp_path: Path) -> None:
    found = _edited(
        tmp_path,
        workflow=lambda t: t.replace("len(text) > 9", "len(text) > 90").replace("Default(editor)", "Default(writer)"),
    )
    edge = found.workflow.edge("b")
    assert isinstance(edge, SwitchEdge)
    assert edge.default == "writer"
    assert "len(text) > 90" in edge.cases[0].condition.body  # type: ignore[union-attr]


def test_generated_lines_that_mean_nothing_known_are_reported(tmp_path: Path) -> None:
    found = _edited(tmp_path, functions=lambda t: t.replace("if result is not None:", "if result:"))
    assert [(e.code, e.item) for e in found.report.entries] == [("block_changed", "tidy")]


def test_damaged_markers_are_a_problem_with_a_place(tmp_path: Path) -> None:
    with pytest.raises(ImportProblem) as stopped:
        _edited(tmp_path, functions=lambda t: t.replace("# endregion", "#"))
    assert stopped.value.line


def test_without_the_layout_file_the_code_is_read_alone(tmp_path: Path) -> None:
    _, path = _exported(EDITED, tmp_path)
    (path.parent / "pkg.layout.json").unlink()
    found = read(path)
    assert {n.id for n in found.workflow.nodes} == {"writer", "tidy", "critic", "editor"}
    assert found.workflow.start == "writer"


def test_the_layout_file_is_off_by_default() -> None:
    assert not any("layout.json" in path for path in export_project(EDITED, package="pkg"))
