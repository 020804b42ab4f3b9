"""The difference of two documents names each item once, with the fields that differ."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from studio.document import commands
from studio.document.difference import FieldChange, difference
from studio.document.edits import Batch, Insert, Remove, SetFields, SetPlaces, SetWorkflow
from studio.document.model import AgentNode, DirectEdge, Note, Place, SwitchCase, SwitchEdge, Workflow

from tests.document.strategies import workflows


def drawing() -> Workflow:
    return Workflow(
        id="w",
        name="W",
        nodes=tuple(AgentNode(id=i, name=i.upper()) for i in ("a", "b", "c")),
        edges=(
            DirectEdge(id="ab", source="a", target="b"),
            SwitchEdge(id="s", name="S", source="b", cases=(SwitchCase(id="s_1", target="c"),), default="a"),
        ),
        places={"a": Place(x=0, y=0), "b": Place(x=100, y=0)},
    )


def test_what_is_added_removed_changed_moved() -> None:
    old = drawing()
    edits = (
        SetFields("nodes", "a", {"instructions": "One.", "temperature": 0.5}),
        commands.delete_items(old, ("c",)),
        Insert("nodes", AgentNode(id="d", name="D")),
        Insert("notes", Note(id="n", text="First\nsecond")),
        SetPlaces({"b": Place(x=100, y=50)}),
        SetWorkflow({"max_supersteps": 7}),
    )
    found = difference(old, Batch(edits).apply(old).workflow)
    assert [(c.what, c.part, c.item, c.name) for c in found.changes] == [
        ("changed", "workflow", "", "max_supersteps"),
        ("changed", "nodes", "a", "A"),
        ("moved", "nodes", "b", "B"),
        ("added", "nodes", "d", "D"),
        ("changed", "edges", "s", "S"),
        ("added", "notes", "n", "First"),
        ("removed", "nodes", "c", "C"),
    ]
    assert found.changes[0].fields == (FieldChange("max_supersteps", "100", "7"),)
    assert found.changes[1].fields == (FieldChange("instructions", "", "One."), FieldChange("temperature", "", "0.5"))
    assert "s_1" in found.changes[4].marked, "the line that is gone is marked too"
    assert [found.count(w) for w in ("added", "removed", "changed", "moved")] == [2, 1, 3, 1]


def test_a_drawing_turned_or_in_another_order_differs() -> None:
    old = drawing()
    changes = {"flow": "down", "nodes": (*old.nodes[1:], old.nodes[0])}
    found = difference(old, old.model_copy(update=changes))
    assert [(c.what, c.part, c.item, c.name, c.fields) for c in found.changes] == [
        ("changed", "workflow", "", "flow", (FieldChange("flow", "right", "down"),)),
        ("changed", "workflow", "", "order_of_nodes", (FieldChange("order_of_nodes", "A\nB\nC", "B\nC\nA"),)),
    ]


def test_removed_lines_are_marked() -> None:
    old = drawing()
    found = difference(old, Remove("edges", "s").apply(old).workflow)
    assert [(c.what, c.name, c.marked) for c in found.changes] == [
        ("removed", "S", ("s", "s:in", "s_1", "s:default")),
    ]
    assert [c.name for c in difference(old, Remove("edges", "ab").apply(old).workflow).changes] == ["A → B"]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(workflows(), workflows())
def test_any_two_documents(a: Workflow, b: Workflow) -> None:
    assert difference(a, a).changes == ()
    there, back = difference(a, b), difference(b, a)
    assert there.count("added") == back.count("removed")
    assert there.count("removed") == back.count("added")
    assert there.count("changed") == back.count("changed")
    keys = [(c.part, c.item, c.name) for c in there.changes]
    assert len(keys) == len(set(keys))
