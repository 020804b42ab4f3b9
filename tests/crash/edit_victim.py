"""Edits an open document without a display, some fifty times a second, until it is killed; saves it now and then.

``python -m tests.crash.edit_victim SAVE_EVERY``: after how many edits the file is saved; 0: never.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from studio.bridge.autosave import Autosave
from studio.bridge.document_model import DocumentModel
from studio.document.edits import Batch, Edit, Insert, SetFields, SetPlaces, SetWorkflow
from studio.document.model import AgentNode, Place, Workflow
from studio.files import read_workflow, write_workflow

from tests.crash.victims import say

FILE = "edited.workflow.json"
_EVERY_MS = 20
_TEXT = "Write about everything. " * 20


def count(workflow: Workflow) -> int:
    """How many edits a document has seen. Raises AssertionError for one that no edit can have left."""
    edits = int(workflow.description or 0)
    nodes = [node for node in workflow.nodes if isinstance(node, AgentNode)]
    assert len(nodes) == 1 + edits // 5
    assert len(workflow.places) == 1 + edits // 5
    assert nodes[0].instructions.endswith(f"{_TEXT}{edits}")
    return edits


def begin() -> Workflow:
    """The document before the first edit."""
    node = AgentNode(id="a0", name="A0", instructions=f"{_TEXT}0")
    return Workflow(id="edited", name="Edited", description="0", nodes=(node,), places={"a0": Place(x=0, y=0)})


class Editor:
    """Types, adds nodes, moves them; undoes and repeats every seventh edit."""

    def __init__(self, document: DocumentModel, save_every: int) -> None:
        self._document, self._save_every = document, save_every
        self._edits = 0
        self._timer = QTimer(document)
        self._timer.timeout.connect(self._on_timer_timeout)
        self._timer.start(_EVERY_MS)

    def _on_timer_timeout(self) -> None:
        self._edits += 1
        document, n = self._document, self._edits
        document.execute(self._edit(n), f"Edit {n}")
        if n % 7 == 0:
            document.undo_stack.undo()
            document.undo_stack.redo()
        say(edits=n)
        if self._save_every and n % self._save_every == 0:
            path = Path(FILE).absolute()
            write_workflow(document.workflow, path)
            document.mark_saved(path)
            say(saved=n)

    def _edit(self, n: int) -> Edit:
        edits: list[Edit] = [
            SetWorkflow({"description": str(n)}),
            SetFields("nodes", "a0", {"instructions": f"{_TEXT}{n}"}),
        ]
        if n % 5 == 0:
            edits.append(Insert("nodes", AgentNode(id=f"a{n}", name=f"A{n}")))
            edits.append(SetPlaces({f"a{n}": Place(x=n, y=n)}))
        return Batch(tuple(edits))


def _main(save_every: int) -> int:
    app = QApplication(sys.argv[:1])
    path = Path(FILE).absolute()
    write_workflow(begin(), path)
    document = DocumentModel(read_workflow(path), path)
    autosave, editor = Autosave(document, document), Editor(document, save_every)
    assert autosave
    assert editor
    say(begin=True)
    return app.exec()


if __name__ == "__main__":
    sys.exit(_main(int(sys.argv[1])))
