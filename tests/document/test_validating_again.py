"""Validation after an edit: only what it touched is looked at again; the result is that of looking at everything."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from studio.document import checks_graph, checks_nodes, commands
from studio.document.facts import Facts
from studio.document.lookup import KeptEach
from studio.document.model import AgentNode, DirectEdge, ModuleDecl, Node, StateDecl, ToolDecl, Workflow
from studio.document.problems import Problem
from studio.document.validate import Validation, problems

from tests.fuzz.steps import OFTEN, STEPS, Chance, NothingThere


def chain(count: int) -> Workflow:
    """Agents in a row, each with a hint and an error."""
    nodes = tuple(AgentNode(id=f"n{i}", name=f"Agent {i}", tools=("missing",)) for i in range(count))
    edges = tuple(DirectEdge(id=f"e{i}", source=f"n{i}", target=f"n{i + 1}") for i in range(count - 1))
    return Workflow(id="chain", start="n0", nodes=nodes, edges=edges)


@pytest.mark.parametrize("seed", range(6))
def test_the_result_is_that_of_looking_at_everything(seed: int) -> None:
    chance, validation, workflow = Chance(Random(seed)), Validation(), Workflow()
    names = [*STEPS, *OFTEN * 8]
    found = 0
    for _ in range(80):
        try:
            edit = STEPS[chance.of(names)](workflow, chance)
        except NothingThere:
            continue
        if edit is not None:
            workflow = edit.apply(workflow).workflow
            assert validation.problems(workflow) == problems(workflow)
            found += len(problems(workflow))
    assert found > 20, "documents with something to find"


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of nodes and lines that checks looked at closely."""
    seen: list[str] = []
    inside, types = checks_nodes._inside, checks_graph._type_problem

    def noted(facts: Facts, node: Node) -> Iterator[Problem]:
        seen.append(node.id)
        return inside(facts, node)

    def noted_line(facts: Facts, source: str, target: str, line: str) -> Iterator[Problem]:
        seen.append(line)
        return types(facts, source, target, line)

    monkeypatch.setattr(checks_nodes, "_inside", noted)
    monkeypatch.setattr(checks_graph, "_type_problem", noted_line)
    return seen


def test_an_edit_of_one_node_is_looked_at_alone(looked_at: list[str]) -> None:
    validation, workflow = Validation(), chain(500)
    assert len(validation.problems(workflow)) >= 1000
    assert len(looked_at) == 999
    looked_at.clear()
    workflow = commands.set_fields(workflow, "n7", {"instructions": "Write."}).apply(workflow).workflow
    found = validation.problems(workflow)
    assert sorted(looked_at) == ["e6", "e7", "n7"]
    assert [p.code for p in found if p.place == "n7"] == ["unknown_tool"]


def test_a_declaration_has_its_readers_looked_at_again(looked_at: list[str]) -> None:
    validation, workflow = Validation(), chain(3)
    validation.problems(workflow)
    looked_at.clear()
    declared = commands.set_workflow({"tools": (ToolDecl(name="missing", approval="caller"),)})
    workflow = declared.apply(workflow).workflow
    assert not [p for p in validation.problems(workflow) if p.code == "unknown_tool"]
    assert looked_at == ["n0", "n1", "n2"]


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("state", (StateDecl(key="mood"),), "unknown_state"),
        ("modules", (ModuleDecl(name="tools", source="def make(data):\n    return data\n"),), "unknown_module"),
    ],
)
def test_what_templates_and_calls_ask_about_is_followed(field: str, value: object, code: str) -> None:
    validation, workflow = Validation(), Workflow()
    for kind, values in (("template", {"text": "{state.mood}"}), ("function", {"call": "tools:make"})):
        edit, node = commands.new_node(workflow, kind)
        workflow = edit.apply(workflow).workflow
        workflow = commands.set_fields(workflow, node, values).apply(workflow).workflow
    assert code in [p.code for p in validation.problems(workflow)]
    after = commands.set_workflow({field: value}).apply(workflow).workflow
    assert code not in [p.code for p in validation.problems(after)]
    assert code in [p.code for p in validation.problems(workflow)]


def test_a_new_name_is_in_the_sentences_of_its_lines() -> None:
    validation, workflow = Validation(), Workflow()
    for kind in ("human_input", "agent", "join"):
        workflow = commands.new_node(workflow, kind)[0].apply(workflow).workflow
    edge = DirectEdge(id="e", source="human_input", target="join")
    workflow = workflow.model_copy(update={"edges": (edge,)})
    validation.problems(workflow)
    renamed = commands.rename(workflow, "join", "Bar").apply(workflow).workflow
    assert validation.problems(renamed) == problems(renamed)
    assert any("“Bar”" in p.message for p in validation.problems(renamed))


def test_what_is_made_of_each_item_is_made_again_only_for_new_ones() -> None:
    made: list[str] = []

    def twice(item: list[str]) -> tuple[str, ...]:
        made.append(item[0])
        return (item[0], item[0])

    kept: KeptEach[str] = KeptEach(twice)
    a, b, c = ["a"], ["b"], ["c"]
    assert kept.of((a, b)) == ("a", "a", "b", "b")
    assert kept.of((a, c, a)) == ("a", "a", "c", "c", "a", "a")
    assert made == ["a", "b", "c"]
    assert kept.of((["a"],)) == ("a", "a"), "an equal one is another"
    assert made == ["a", "b", "c", "a"]
