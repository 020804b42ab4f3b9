"""``export``: a document as a Python project."""

from __future__ import annotations

import argparse
from pathlib import Path

from studio.cli.documents import read
from studio.cli.exits import DONE, FAILED, Stop, usage
from studio.cli.main import DRAWINGS
from studio.document.validate import problems
from studio.export import ExportProblem, export_project
from studio.files import FileProblem, differing, write_project


def command(options: argparse.Namespace) -> int:
    """Writes the project and names its files."""
    if options.to in DRAWINGS:
        from studio.cli import drawings

        return drawings.command(options)
    workflow, path = read(options.file)
    error = next((p for p in problems(workflow) if p.severity == "error"), None)
    if error is not None:
        usage(f"{options.file} cannot be exported: {error.message}")
    try:
        files = export_project(workflow, folder=path.absolute().parent, layout=options.layout)
    except ExportProblem as problem:
        usage(f"{options.file} cannot be exported: {problem}")
    folder = Path(options.output)
    replaced = () if options.force else differing(files, folder)
    if replaced:
        raise Stop(
            FAILED,
            f"Nothing was written: {folder} has files that differ from what would be written: {', '.join(replaced)}. "
            "Choose another folder, or replace them with --force.",
        )
    try:
        written = write_project(files, folder)
    except FileProblem as problem:
        raise Stop(FAILED, f"{problem.message} {problem.way_out}".strip()) from None
    for file in written:
        print(file)
    return DONE
