"""Conditions and other lines of our exports, edited by hand: what the drawing says then."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest
from studio.document.conditions import Condition, Rule, Scope, evaluate
from studio.document.edits import Batch
from studio.document.model import AgentNode, DirectEdge, FunctionNode, SwitchCase, SwitchEdge, Workflow
from studio.export import export_project
from studio.files import write_project
from studio.importers import Imported, read
from studio.importers.own_conditions import edited_condition

_MONEY = Rule(
    op="or",
    rules=(
        Rule(op="contains", value="invoice", ignore_case=True),
        Rule(op="compares", path="value.score", compare=">=", value=8),
    ),
)
FLOW = Workflow(
    name="Sort",
    start="ask",
    nodes=(
        AgentNode(id="ask", name="Ask"),
        FunctionNode(id="money", name="Money", body="result = data", yields="text"),
        FunctionNode(id="rest", name="Rest", body="result = data", yields="text"),
    ),
    edges=(
        SwitchEdge(
            id="queue",
            source="ask",
            cases=(SwitchCase(id="paid", target="money", condition=Condition(name="is_paid", rule=_MONEY)),),
            default="rest",
        ),
        DirectEdge(id="on", source="money", target="rest"),
    ),
)
_WRITTEN = '"invoice" in text_of(message).casefold()'


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported")
    write_project(export_project(FLOW, package="pkg", layout=True), folder)
    return folder / "pkg" / "workflow.py"


def _edited(exported: Path, old: str, new: str) -> Imported:
    text = exported.read_text(encoding="utf-8")
    assert old in text
    try:
        exported.write_text(text.replace(old, new), encoding="utf-8")
        found = read(exported)
    finally:
        exported.write_text(text, encoding="utf-8")
    assert found.before is not None
    done = Batch(found.edits).apply(found.before)
    assert (done.workflow, done.inverse.apply(done.workflow).workflow) == (found.workflow, found.before)
    return found


def _condition(found: Imported) -> Condition:
    edge = found.workflow.edge("queue")
    assert isinstance(edge, SwitchEdge)
    condition = edge.cases[0].condition
    assert condition is not None
    assert condition.name == "is_paid"
    return condition


@pytest.mark.parametrize(
    ("new", "rule"),
    [
        ('"bill" in text_of(message)', Rule(op="contains", value="bill")),
        ('"bill" not in text_of(message)', Rule(op="not", rules=(Rule(op="contains", value="bill"),))),
        ('text_of(message) == "yes"', Rule(op="equals", value="yes")),
        ('type_of(message) == "text"', Rule(op="type_is", path="type", value=["text"])),
        ('equals(field_of(value_of(message), "a.b"), None)', Rule(op="equals", path="value.a.b")),
        ('contains(value_of(message), "x", ignore_case=True)', Rule(path="value", value="x", ignore_case=True)),
        ('matches(text_of(message), "^a")', Rule(op="matches", value="^a")),
        (
            'not compares(field_of(value_of(message), "n"), "<", 3)',
            Rule(op="not", rules=(Rule(op="compares", path="value.n", compare="<", value=3),)),
        ),
    ],
)
def test_a_rule_that_was_edited_is_a_rule(exported: Path, new: str, rule: Rule) -> None:
    found = _edited(exported, _WRITTEN, new)
    assert _condition(found) == Condition(
        name="is_paid", rule=_MONEY.model_copy(update={"rules": (rule, _MONEY.rules[1])})
    )
    assert found.report.entries == ()
    again = export_project(found.workflow, package="pkg")
    said = edited_condition("is_paid", again["pkg/workflow.py"], again["pkg/support.py"])
    assert said == _condition(found).model_copy(update={"name": ""}), "and is exported as what was read"


def _holds(body: str, text: str, value: Any) -> bool:
    scope: dict[str, Any] = {}
    exec(f"def predicate(data, text, value):\n{textwrap.indent(body, '    ')}", scope)
    return bool(scope["predicate"](text, text, value))


def test_anything_else_is_python_with_what_it_needs(exported: Path) -> None:
    """A function of ``support``, an import and a constant of the module come along."""
    start = "    return " + _WRITTEN
    code = "    words = re.split(SPACE, text_of(message))\n    if len(words) > 2:\n        return True\n" + start
    new = '# condition: paid\nimport re\n\nSPACE = r"\\s+"\n\n\n'
    text = exported.read_text(encoding="utf-8")
    assert start in text
    try:
        exported.write_text(text.replace(start, code).replace("# condition: paid\n", new), encoding="utf-8")
        condition = _condition(read(exported))
    finally:
        exported.write_text(text, encoding="utf-8")
    assert condition.kind == "python"
    for said, value, holds in (
        ("a b c", {}, True),
        ("a", {"score": 9}, True),
        ("An INVOICE", {}, True),
        ("a", {}, False),
    ):
        assert _holds(condition.body, said, value) is holds


def test_a_name_that_a_predicate_has_anyway_is_not_given_again() -> None:
    """The export gives what is asked for several times a name in front."""
    lines = ["value = value_of(message)", "if value:", "    return True", "return len(text_of(message)) > 2"]
    code = "def is_it(message):\n" + textwrap.indent("\n".join(lines), "    ") + "\n"
    condition = edited_condition("is_it", code, "")
    assert condition is not None
    assert "value =" not in condition.body
    assert [_holds(condition.body, text, value) for text, value in (("a", 1), ("a", 0), ("abc", 0))] == [
        True,
        False,
        True,
    ]


def test_what_it_asks_for_elsewhere_is_not_guessed(exported: Path) -> None:
    found = _edited(exported, _WRITTEN, "prices.known(text_of(message))")
    assert found.edits == ()
    assert [(e.code, e.item) for e in found.report.entries] == [("block_changed", "condition:paid")]


def test_the_same_rule_in_other_lines_changes_nothing(exported: Path) -> None:
    assert _edited(exported, _WRITTEN, f"({_WRITTEN})").edits == ()


def test_the_rule_means_what_the_code_says(exported: Path) -> None:
    condition = _condition(_edited(exported, "compares(", "not compares("))
    assert [evaluate(condition, Scope(text="x", value={"score": n})) for n in (7, 8)] == [True, False]


def test_lines_beside_the_drawing_and_lines_that_cannot_be_read_are_told(exported: Path) -> None:
    found = _edited(exported, "SAMPLE_INPUT = ", "LIMIT = 3\nSAMPLE_INPUT = ")
    assert [(e.code, e.severity) for e in found.report.entries] == [("code_outside_region", "info")]
    found = _edited(exported, ".build()\n", ".build(\n")
    (entry,) = found.report.entries
    lines = exported.read_text(encoding="utf-8").replace(".build()\n", ".build(\n").split("\n")
    assert entry.line is not None
    assert "not valid Python" in entry.text
    assert "(" in lines[entry.line - 1]


def test_a_new_node_stands_behind_what_leads_to_it(exported: Path) -> None:
    """On nothing else, though it is put where the drawing is full."""
    new = 'rest = Rest()\n    more = agent_node(agents.ask(client), id="more")\n'
    found = _edited(exported, "rest = Rest()\n", new)
    assert isinstance(found.workflow.node("more"), AgentNode)
    assert found.workflow.places["more"].x != 0 or found.workflow.places["more"].y != 0
