"""``import``: a workflow of another program as a workflow file, with its report."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from studio.cli.exits import DONE, FAILED, LOSSES, Stop, usage
from studio.cli.mapping import mapped, unmapped
from studio.document.difference import difference
from studio.document.model import Workflow
from studio.files import FileProblem, write_workflow
from studio.importers import ImportProblem, Report, in_words, read
from studio.importers.opening import opened
from studio.settings.profiles import read_profiles

_WORDS = {"info": "note", "warn": "warning", "loss": "loss"}


def command(options: argparse.Namespace) -> int:
    """Writes the workflow file and tells what became of the source."""
    try:
        found = read(
            Path(options.source),
            options.kind,
            "build" if options.build else "static",
            interpreter=options.interpreter,
            timeout=options.timeout,
            choice=options.choice,
        )
    except ImportProblem as problem:
        place = f" ({problem.place})" if problem.place else ""
        others = f" --choice takes: {', '.join(problem.choices)}." if problem.choices else ""
        usage(f"{options.source} cannot be imported: {problem.message}{place} {problem.way_out}{others}".strip())
    profiles = [profile.name for profile in read_profiles()[0].profiles]
    found = opened(found, Path(options.source).name)
    workflow = mapped(found.workflow, options, profiles)
    _write(workflow, Path(options.output))
    if options.json:
        print(json.dumps(found.report.to_json(), ensure_ascii=False))
    else:
        print(options.output)
        _tell(found.report)
        for change in difference(found.before, found.workflow).changes if found.before is not None else ():
            fields = f": {', '.join(field.field for field in change.fields)}" if change.item and change.fields else ""
            print(f"{change.what} in the code: {change.name}{fields}", file=sys.stderr)
        for line in unmapped(workflow, options, profiles):
            print(f"to map: {line}", file=sys.stderr)
    return LOSSES if found.report.has_losses else DONE


def _write(workflow: Workflow, path: Path) -> None:
    try:
        write_workflow(workflow, path)
    except FileProblem as problem:
        raise Stop(FAILED, f"{problem.message} {problem.way_out}".strip()) from None
    except OSError as error:
        raise Stop(FAILED, f"{path} cannot be written: {error.strerror or error}.") from None


def _tell(report: Report) -> None:
    """The report on standard error: a line per entry, a sentence at the end."""
    if report.preface:
        print(report.preface, file=sys.stderr)
    for entry in report.of("loss", "warn", "info"):
        line = f", line {entry.line}" if entry.line is not None else ""
        print(f"{_WORDS[entry.severity]}: {entry.item}{line}: {entry.text}", file=sys.stderr)
    print(in_words(report), file=sys.stderr)
