"""Sub-workflows that are linked (a file) or embedded (a copy), and from one to the other."""

from __future__ import annotations

import os
from pathlib import Path

from studio.bridge.document_model import DocumentModel
from studio.document import commands
from studio.document.lines import name_of
from studio.document.model import SubWorkflowNode, Workflow
from studio.document.telling_apart import told_apart
from studio.files import FileProblem, read_workflow, write_workflow
from studio.ui.text import tr


def written(document: Path | None, file: Path) -> str:
    """How a document's file names another one: relative to it, whole if it was never saved or is on another drive."""
    if document is None:
        return file.as_posix()
    try:
        return Path(os.path.relpath(file, document.parent)).as_posix()
    except ValueError:
        return file.as_posix()


def embed(document: DocumentModel, node_id: str) -> str:
    """Puts a copy of the linked file into a node, or an empty workflow where nothing was linked. Returns why not."""
    node = document.workflow.node(node_id)
    if not isinstance(node, SubWorkflowNode) or (node.embedded is not None and not node.path):
        return ""
    inner = node.embedded or Workflow(name=node.name or tr("Sub-workflow"))
    if node.path:
        if document.path is None and not Path(node.path).is_absolute():
            return tr("Save this workflow first: the link is relative to its file.")
        try:
            inner = told_apart(
                read_workflow((document.path.parent if document.path is not None else Path()) / node.path)
            )[0]
        except FileProblem as problem:
            return f"{problem.message} {problem.way_out}"
    edit = commands.set_fields(document.workflow, node_id, {"path": None, "embedded": inner})
    document.execute(edit, tr("Embed a copy in {name}").format(name=name_of(document.workflow, node_id)))
    return ""


def link(document: DocumentModel, node_id: str, file: Path) -> str:
    """Saves what is embedded in a node as a file, and links that. Returns why not."""
    node = document.workflow.node(node_id)
    if not isinstance(node, SubWorkflowNode) or node.embedded is None:
        return ""
    if document.path is not None and file.absolute() == document.path:
        return tr("A workflow cannot be inside itself: choose another file.")
    try:
        write_workflow(node.embedded, file)
    except FileProblem as problem:
        return f"{problem.message} {problem.way_out}"
    except OSError as error:
        return tr("{name} could not be saved: {reason}.").format(name=file.name, reason=error.strerror or error)
    values = {"path": written(document.path, file.absolute()), "embedded": None}
    text = tr("Link {name} to a file").format(name=name_of(document.workflow, node_id))
    document.execute(commands.set_fields(document.workflow, node_id, values), text)
    return ""
