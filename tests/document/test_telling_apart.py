"""Two things of one id in a file are told apart; a document in order comes back itself."""

from __future__ import annotations

from studio.document import commands
from studio.document.conditions import Condition, Rule
from studio.document.edits import Edit
from studio.document.model import AgentNode, DirectEdge, Note, SubWorkflowNode, SwitchCase, SwitchEdge, Workflow
from studio.document.problems import Problem
from studio.document.telling_apart import told_apart


def _merged() -> Workflow:
    """As a merge of two branches leaves it: a node twice but different, an edge twice word by word."""
    a, b = AgentNode(id="a", name="A"), AgentNode(id="b", name="B")
    twin, nameless = AgentNode(id="a", name="Twin"), AgentNode(id="", name="Écrivain")
    edge = DirectEdge(
        id="a_to_b", source="a", target="b", condition=Condition(name="when_a_to_b", rule=Rule(value="x"))
    )
    other = edge.model_copy(update={"source": "b", "target": "a"})
    case = SwitchCase(id="yes", target="a", condition=Condition(name="when_yes", rule=Rule(value="y")))
    switch = SwitchEdge(id="switch", source="b", cases=(case, case.model_copy(update={"label": "z"})))
    return Workflow(
        id="w", start="a", nodes=(a, b, twin, nameless), edges=(edge, edge, other, switch), notes=(Note(id="b"),)
    )


def test_everything_gets_an_id_of_its_own_and_keeps_the_rest() -> None:
    found, doubles = told_apart(_merged())
    assert doubles == ("a", "", "a_to_b", "a_to_b", "b", "yes")
    assert [(node.id, node.name) for node in found.nodes] == [
        ("a", "A"),
        ("b", "B"),
        ("a_2", "Twin"),
        ("ecrivain", "Écrivain"),
    ]
    first, second, switch = found.edges
    assert isinstance(first, DirectEdge)
    assert isinstance(second, DirectEdge)
    assert isinstance(switch, SwitchEdge)
    assert (first.id, first.source, second.id, second.source) == ("a_to_b", "a", "a_to_b_2", "b")
    assert second.condition is not None
    assert second.condition.name == "when_a_to_b_2"
    assert [(case.id, case.condition.name) for case in switch.cases if case.condition] == [
        ("yes", "when_yes"),
        ("yes_2", "when_yes_2"),
    ]
    assert [note.id for note in found.notes] == ["b_2"]
    again, none = told_apart(found)
    assert again is found
    assert none == ()


def test_what_is_inside_is_told_apart_too_and_everything_can_be_deleted() -> None:
    outer = Workflow(id="o", nodes=(SubWorkflowNode(id="s", name="S", embedded=_merged()), AgentNode(id="c", name="C")))
    found, doubles = told_apart(outer)
    assert len(doubles) == 6
    inner = found.nodes[0]
    assert isinstance(inner, SubWorkflowNode)
    assert inner.embedded is not None
    assert inner.embedded == told_apart(_merged())[0]
    assert found.nodes[1] is outer.nodes[1]
    edit = commands.delete_items(inner.embedded, [node.id for node in inner.embedded.nodes])
    assert edit.apply(inner.embedded).workflow.nodes == ()
    put: Edit | Problem = commands.inline(outer, "s")
    assert isinstance(put, Problem)
    assert put.message == "Inside “S”, two things have the id “a”."
