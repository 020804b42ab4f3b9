"""Undo steps: typing in one field is one step, as long as it is one run of typing."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from PySide6.QtWidgets import QApplication
from studio.bridge.document_model import DocumentModel
from studio.document.changes import ChangeSet
from studio.document.edits import Batch, Insert, SetFields, SetWorkflow
from studio.document.model import AgentNode, Note, Workflow


class Clock:
    """Seconds that pass when a test says so."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def model(qapp: QApplication, clock: Clock) -> DocumentModel:
    return DocumentModel(Workflow(id="w", name=""), clock=clock)


def typed(model: DocumentModel, name: str, key: str = "workflow.name") -> None:
    model.execute(SetWorkflow({"name": name}), "Rename", key)


def test_keys_in_a_row_are_one_step_until_somebody_rests(model: DocumentModel, clock: Clock) -> None:
    for name in ("a", "ab", "abc"):
        clock.now += 2.5
        typed(model, name)
    assert model.undo_stack.count() == 1
    clock.now += 3.1
    typed(model, "abcd")
    assert model.undo_stack.count() == 2
    model.undo_stack.undo()
    assert model.workflow.name == "abc"
    model.undo_stack.undo()
    assert model.workflow.name == ""


def test_a_change_of_the_focus_ends_the_step(model: DocumentModel, qapp: QApplication) -> None:
    typed(model, "a")
    qapp.focusObjectChanged.emit(None)
    typed(model, "ab")
    assert model.undo_stack.count() == 2


def test_another_edit_or_an_undo_ends_the_step(model: DocumentModel) -> None:
    typed(model, "a")
    model.execute(SetWorkflow({"description": "d"}), "Describe")
    typed(model, "ab")
    assert model.undo_stack.count() == 3
    model.undo_stack.undo()
    model.undo_stack.undo()
    typed(model, "abc")
    assert model.undo_stack.count() == 2, "what is typed after an undo does not join the step before"


def test_large_steps_go_back_to_the_very_document_and_small_ones_still_fit_in_between(model: DocumentModel) -> None:
    told: list[ChangeSet] = []
    model.changed.connect(told.append)
    notes = [Insert("notes", Note(id=f"n{i}", text="x")) for i in range(300)]
    start = model.workflow
    model.execute(Batch(tuple(notes)), "Add many")
    full = model.workflow
    model.undo_stack.undo()
    assert model.workflow is start
    assert told[-1].notes == {f"n{i}" for i in range(300)}
    model.undo_stack.redo()
    assert model.workflow is full
    model.name_after("Saved")
    model.undo_stack.undo()
    assert model.workflow.name == "Saved"
    assert not model.workflow.notes
    model.undo_stack.redo()
    assert model.workflow.name == "Saved"
    assert len(model.workflow.notes) == 300


def test_a_large_step_taken_back_tells_what_is_gone(model: DocumentModel) -> None:
    told: list[ChangeSet] = []
    nodes = [AgentNode(id=f"a{i}", name="A") for i in range(300)]
    model.execute(Batch(tuple(Insert("nodes", node) for node in nodes)), "Add many")
    model.changed.connect(told.append)
    model.undo_stack.undo()
    assert told == [ChangeSet(nodes_removed=frozenset(node.id for node in nodes))]


def test_an_edit_that_cannot_be_done_changes_nothing(qapp: QApplication) -> None:
    model = DocumentModel(Workflow(id="w", nodes=(AgentNode(id="a", name="A"),)))
    model.execute(SetFields("nodes", "a", {"name": "B"}), "Rename A")
    before = model.workflow
    with pytest.raises(KeyError):
        model.execute(SetFields("nodes", "gone", {"name": "C"}), "Rename nobody")
    assert model.workflow is before
    assert (model.undo_stack.count(), model.undo_stack.undoText()) == (1, "Rename A")
    model.undo_stack.undo()
    assert model.workflow.nodes[0].name == "A"
    model.undo_stack.redo()
    assert model.workflow.nodes[0].name == "B"


COLLECTED = """
import gc, weakref
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication
from studio.bridge.document_model import DocumentModel
from studio.document.edits import SetWorkflow
from studio.document.model import Workflow

app = QApplication([])

def dropped():
    model, owner = DocumentModel(Workflow(id="w")), QObject()
    for number in range(50):
        model.execute(SetWorkflow({"name": str(number)}), "Rename")
    model.setParent(owner)
    owner.all = [model, owner]
    return weakref.ref(model)

models = [dropped() for _ in range(20)]
gc.collect()
print(sum(model() is not None for model in models), "left")
"""


def test_a_document_that_the_collector_takes_ends_with_its_steps() -> None:
    """In a process of its own: a step that is deleted twice ends it."""
    environment = {**os.environ, "MALLOC_PERTURB_": "165"}
    ran = subprocess.run(
        [sys.executable, "-c", COLLECTED], env=environment, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "0 left\n", "")
