"""Reading the workflow file that a sub-command is about."""

from __future__ import annotations

from pathlib import Path

from studio.cli.exits import usage
from studio.document.model import Workflow
from studio.files import FileProblem, read_workflow


def read(file: str) -> tuple[Workflow, Path]:
    """The document and its path; ends the command with a sentence if it cannot be read."""
    path = Path(file)
    try:
        return read_workflow(path), path
    except FileProblem as problem:
        named = problem.message.startswith(path.name or file)
        usage(f"{'' if named else f'{file}: '}{problem}")
    except OSError as error:
        usage(f"{file} cannot be read: {error.strerror or error}.")
