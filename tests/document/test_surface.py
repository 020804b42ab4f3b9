"""The public names of the package, and what importing it must not load."""

from __future__ import annotations

import subprocess
import sys

import studio.document
import studio.files

NAMES = (
    "AgentNode Applied Batch ChangeSet Condition DirectEdge Edit FanInEdge FanOutEdge Fix FunctionNode HumanInputNode "
    "Insert JoinNode Place Problem Remove ReplaceAll Rule RunnerNode Scope SetFields SetPlaces SetWorkflow "
    "SubWorkflowNode SwitchCase SwitchEdge TemplateNode Workflow describe document_fingerprint evaluate explain "
    "node_fingerprints"
)


def test_the_names_of_the_package() -> None:
    assert studio.document.__all__ == NAMES.split()
    assert all(hasattr(studio.document, name) for name in NAMES.split())


def test_the_names_of_files() -> None:
    wanted = "FileProblem Journal Recovery Stamp Version dumps json_schema kept_versions loads read_stamped"
    more = "read_workflow recoverable write_project write_workflow"
    assert studio.files.__all__ == [*wanted.split(), *more.split()]


def test_opening_and_checking_a_document_loads_no_heavy_library() -> None:
    code = (
        "import sys, studio.document.commands, studio.document.validate, studio.files; from studio.document import *; "
        "studio.document.validate.problems(Workflow()); "
        "print([m for m in ('networkx', 'regex', 'simpleeval', 'asyncio', 'PySide6', 'sqlite3') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
