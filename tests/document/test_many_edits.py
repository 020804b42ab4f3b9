"""Many edits in one step: the same as one after the other, and not slower for each that was before."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from studio.document.changes import ChangeSet
from studio.document.commands import delete_items
from studio.document.edits import Batch, Edit, Insert, Remove, ReplaceAll, SetFields, SetPlaces, SetWorkflow
from studio.document.lookup import by_id
from studio.document.model import AgentNode, DirectEdge, Note, Place, Workflow
from studio.document.validate import problems

from tests.document.strategies import workflows


def _one_by_one(workflow: Workflow, edits: list[Edit]) -> tuple[Workflow, list[Edit], ChangeSet]:
    inverses: list[Edit] = []
    changes = ChangeSet()
    for edit in edits:
        done = edit.apply(workflow)
        workflow, changes = done.workflow, changes | done.changes
        inverses.insert(0, done.inverse)
    return workflow, inverses, changes


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(workflows(), st.data())
def test_a_batch_is_its_edits_one_after_the_other(workflow: Workflow, data: st.DataObject) -> None:
    edits: list[Edit] = []
    now, number = workflow, 0
    for _ in range(data.draw(st.integers(1, 25))):
        nodes = [n.id for n in now.nodes]
        makers = ["note", "place", "whole", "workflow", *(["remove", "fields", "nested"] if nodes else [])]
        match data.draw(st.sampled_from(makers)):
            case "note":
                number += 1
                at = data.draw(st.sampled_from([None, 0, len(now.notes)]))
                edit: Edit = Insert("notes", Note(id=f"fresh{number}", text="x"), at)
            case "place":
                edit = SetPlaces({f"fresh{number}": Place(x=number, y=2), "nobody": None})
            case "whole":
                edit = ReplaceAll(now.model_copy(update={"description": "other"}))
            case "workflow":
                edit = SetWorkflow({"name": f"Name {number}"})
            case "remove":
                edit = Remove("nodes", data.draw(st.sampled_from(nodes)))
            case "fields":
                edit = SetFields("nodes", data.draw(st.sampled_from(nodes)), {"name": "Other"})
            case _:
                edit = Batch((SetFields("nodes", nodes[-1], {"description": "d"}), Remove("nodes", nodes[0])))
        edits.append(edit)
        now = edit.apply(now).workflow
    after, inverses, changes = _one_by_one(workflow, edits)
    done = Batch(tuple(edits)).apply(workflow)
    assert done.workflow == after
    assert done.changes == changes
    assert done.inverse == Batch(tuple(inverses))
    assert done.inverse.apply(done.workflow).workflow == workflow


@pytest.mark.parametrize("edit", [Remove("nodes", "nobody"), SetFields("edges", "nobody", {"label": "x"})])
def test_what_is_not_there_is_refused_as_before(edit: Edit) -> None:
    with pytest.raises(KeyError, match="nobody"):
        Batch((SetWorkflow({"name": "x"}), edit)).apply(Workflow(id="w"))


def test_an_id_that_is_taken_is_refused_as_before() -> None:
    note = Note(id="n", text="")
    with pytest.raises(KeyError, match="taken"):
        Batch((Insert("notes", note), Insert("notes", note))).apply(Workflow(id="w"))


def _ring(count: int) -> Workflow:
    names = [f"n{i}" for i in range(count)]
    return Workflow(
        id="ring",
        start=names[0],
        nodes=tuple(AgentNode(id=n, name=n, instructions="x") for n in names),
        edges=tuple(DirectEdge(id=f"e{i}", source=n, target=names[(i + 1) % count]) for i, n in enumerate(names)),
    )


def test_a_large_drawing_is_deleted_and_brought_back() -> None:
    workflow = _ring(3000)
    edit = delete_items(workflow, [n.id for n in workflow.nodes])
    done = edit.apply(workflow)
    assert not done.workflow.nodes
    assert not done.workflow.edges
    assert done.inverse.apply(done.workflow).workflow == workflow


def test_a_long_loop_is_told_in_short_and_a_long_chain_is_none() -> None:
    found = [p for p in problems(_ring(3000)) if p.code == "endless_loop"]
    assert [p.place for p in found] == ["n0"]
    assert "“n0” → “n1” → “n2” → “n3” → … → “n2998” → “n2999” → “n0”" in found[0].message
    chain = _ring(3000)
    chain = chain.model_copy(update={"edges": chain.edges[:-1]})
    assert not [p for p in problems(chain) if p.code == "endless_loop"]


def test_items_are_found_by_id_in_the_document_of_now() -> None:
    workflow = _ring(40)
    found = workflow.node("n7")
    assert found is not None
    assert found.name == "n7"
    renamed = SetFields("nodes", "n7", {"name": "Other"}).apply(workflow).workflow
    assert [w.node("n7").name for w in (workflow, renamed, workflow)] == ["n7", "Other", "n7"]  # type: ignore[union-attr]
    assert renamed.node("nobody") is None
    twice = (*workflow.nodes, AgentNode(id="n7", name="second"))
    assert by_id(twice)["n7"].name == "n7"
