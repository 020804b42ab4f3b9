"""Editing what is inside a sub-workflow node: steps of the document around it, followed in both directions."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtWidgets import QApplication
from studio.bridge.document_model import DocumentModel
from studio.bridge.inner_document import InnerDocument
from studio.document import commands
from studio.document.changes import ChangeSet
from studio.document.edits import Batch, Edit, Insert, Remove, SetFields, SetPlaces, SetWorkflow
from studio.document.inside import EditInside, changes_between, embedded_in
from studio.document.model import AgentNode, Note, Place, SubWorkflowNode, Workflow
from studio.files.format import dumps

from tests.document.strategies import workflows


def _around(inner: Workflow, node_id: str = "sub") -> Workflow:
    return Workflow(
        id=f"around-{node_id}", name="Outer", nodes=(SubWorkflowNode(id=node_id, name="Sub", embedded=inner),)
    )


@pytest.fixture
def outer(qapp: QApplication) -> DocumentModel:
    deepest = Workflow(id="deep", name="Deep", nodes=(AgentNode(id="d", name="D"),))
    middle = _around(deepest, "deeper").model_copy(update={"id": "middle", "name": "Middle"})
    return DocumentModel(_around(middle))


def test_an_edit_inside_is_a_step_outside_and_goes_back(outer: DocumentModel) -> None:
    start = dumps(outer.workflow)
    inner = InnerDocument(outer, "sub")
    told: list[ChangeSet] = []
    inner.changed.connect(told.append)
    edit, node = commands.new_node(inner.workflow, "agent", place=Place(x=1, y=2))
    inner.execute(edit, "Add agent")
    assert outer.undo_stack.count() == 1
    assert outer.undo_stack.undoText() == "Add agent"
    assert told[-1].nodes_added == {node}
    assert told[-1].placed == {node}
    assert embedded_in(outer.workflow, "sub") is inner.workflow
    assert inner.dirty
    assert outer.dirty
    inner.undo_stack.undo()
    assert told[-1].nodes_removed == {node}
    assert dumps(outer.workflow) == start
    assert not inner.dirty


def test_what_happens_outside_shows_inside(outer: DocumentModel) -> None:
    inner = InnerDocument(outer, "sub")
    told: list[ChangeSet] = []
    inner.changed.connect(told.append)
    outer.execute(SetFields("nodes", "sub", {"name": "Other"}), "Rename")
    assert told == []
    outer.execute(EditInside("sub", SetWorkflow({"name": "Inside"})), "Rename inside")
    assert told == [ChangeSet(workflow=frozenset({"name"}))]
    assert inner.workflow.name == "Inside"


def test_two_levels(outer: DocumentModel) -> None:
    start = dumps(outer.workflow)
    middle = InnerDocument(outer, "sub")
    deep = InnerDocument(middle, "deeper")
    assert deep.outermost is outer
    deep.execute(SetFields("nodes", "d", {"name": "Deepest"}), "Rename", "d.name")
    deep.execute(SetFields("nodes", "d", {"name": "Deepest of all"}), "Rename", "d.name")
    assert outer.undo_stack.count() == 1, "typing is one step"
    found = embedded_in(middle.workflow, "deeper")
    assert found is deep.workflow
    assert found.nodes[0].name == "Deepest of all"
    outer.undo_stack.undo()
    assert deep.workflow.nodes[0].name == "D"
    assert dumps(outer.workflow) == start


def test_a_node_that_goes_takes_the_document_along(outer: DocumentModel) -> None:
    inner = InnerDocument(outer, "sub")
    gone: list[bool] = []
    inner.gone.connect(lambda: gone.append(True))
    outer.execute(SetFields("nodes", "sub", {"path": "x.workflow.json"}), "Link")
    assert gone == [True]
    assert not inner.there
    before = outer.workflow
    inner.execute(SetWorkflow({"name": "Too late"}), "Rename")
    assert outer.workflow is before
    outer.undo_stack.undo()
    assert inner.there
    with pytest.raises(KeyError):
        EditInside("nobody", SetWorkflow({"name": "x"})).apply(outer.workflow)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(workflows(), st.data())
def test_what_differs_is_what_the_edits_said(workflow: Workflow, data: st.DataObject) -> None:
    node = data.draw(st.sampled_from(workflow.nodes))
    edits: list[Edit] = data.draw(
        st.lists(
            st.sampled_from(
                [
                    Insert("notes", Note(id="fresh", text="x")),
                    SetFields("nodes", node.id, {"name": "Certainly another name"}),
                    Batch((SetFields("nodes", node.id, {"description": "d2"}), Remove("nodes", node.id))),
                    SetWorkflow({"description": "Certainly another one"}),
                    SetPlaces({"somebody": Place(x=77, y=78)}),
                ]
            ),
            unique_by=id,
            max_size=4,
        )
    )
    edits.sort(key=lambda e: isinstance(e, Batch))
    whole = Batch(tuple(edits))
    done = whole.apply(workflow)
    found = changes_between(workflow, done.workflow)
    assert found.nodes_removed == done.changes.nodes_removed
    assert found.nodes_changed == done.changes.nodes_changed - done.changes.nodes_removed
    assert (found.notes, found.workflow, found.placed) == (
        done.changes.notes, done.changes.workflow, done.changes.placed,
    )  # fmt: skip
    assert not changes_between(workflow, workflow)
    outside = _around(workflow)
    put = EditInside("sub", whole).apply(outside)
    assert embedded_in(put.workflow, "sub") == done.workflow
    assert put.inverse.apply(put.workflow).workflow == outside
