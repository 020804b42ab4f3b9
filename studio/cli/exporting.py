"""``export``: a document as a Python project."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Mapping
from dataclasses import replace
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING

from studio.cli.documents import read
from studio.cli.exits import DONE, FAILED, Stop, usage
from studio.cli.main import DRAWINGS
from studio.document.model import Workflow
from studio.document.validate import problems
from studio.export import Client, ExportProblem, export_project, export_single_file, left_out, sentence_of
from studio.files import FileProblem
from studio.files.re_export import ExportRecord, planned, write_planned
from studio.settings import places

if TYPE_CHECKING:
    from studio.proof import Sample


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
        files = _files(options, workflow, path.absolute().parent)
    except ExportProblem as problem:
        usage(f"{options.file} cannot be exported: {problem}")
    if options.recorded is not None and not options.prove:
        usage("--recorded says what a proof is given: add --prove.")
    if options.prove:
        _proven(options, workflow, files, path.absolute().parent)
    try:
        written = _written(files, Path(options.output), force=options.force)
    except FileProblem as problem:
        raise Stop(FAILED, f"{problem.message} {problem.way_out}".strip()) from None
    for file in written:
        print(file)
    return DONE


def _files(options: argparse.Namespace, workflow: Workflow, folder: Path) -> dict[str, str]:
    """The project for the wanted target; what a person should know of it goes to standard error."""
    client: Client = "responses" if options.client == "responses" else "chat_completions"
    for found in left_out(workflow, client):
        print(sentence_of(found), file=sys.stderr)
    if options.to != "durabletask":
        if options.single_file:
            return export_single_file(workflow, options.package, folder, client=client)
        return export_project(
            workflow,
            options.package,
            folder,
            layout=options.layout,
            client=client,
            smoke_test=options.smoke_test,
        )
    from studio.export.durable import export_durable, findings

    files = export_durable(
        workflow, options.package, folder, layout=options.layout, client=client, smoke_test=options.smoke_test
    )
    for finding in findings(workflow, folder):
        print(finding.message, file=sys.stderr)
    return files


def _written(files: Mapping[str, str], folder: Path, *, force: bool) -> tuple[Path, ...]:
    """Writes the files. What was changed by hand since the last export is kept where the export left those lines alone;
    otherwise the differences are shown and nothing is written, if not ``force``. Raises :class:`FileProblem`."""
    record = ExportRecord(places.state_dir(), folder)
    plan = planned(files, folder, record)
    lost = [file for file in plan if file.kind == "lost"]
    if force:
        return write_planned([replace(file, text=files[file.path]) for file in plan], files, folder, record)
    if lost:
        for file in lost:
            for line in unified_diff(
                (file.now or "").split("\n"), file.text.split("\n"), file.path, "export", n=2, lineterm=""
            ):
                print(line, file=sys.stderr)
        names = ", ".join(file.path for file in lost)
        raise Stop(
            FAILED,
            f"Nothing was written: {folder} has files that differ from what would be written: {names}. "
            "Choose another folder, or replace them with --force.",
        )
    for file in plan:
        if file.kind == "kept":
            print(f"Kept what was changed by hand in {file.path}.", file=sys.stderr)
    return write_planned(plan, files, folder, record)


def _proven(options: argparse.Namespace, workflow: Workflow, files: Mapping[str, str], folder: Path) -> None:
    """Proves the export, with a line per step on standard error. Nothing is written if that fails."""
    from studio.proof import Step, prove  # with it come the engine and the worker
    from studio.proof.words import line
    from studio.settings import trust
    from studio.settings.preferences import read_preferences

    if not options.trust:
        untrusted = trust.trust_list().untrusted(workflow, folder)
        if untrusted:
            usage(f"The proof runs the code in {options.file}, which nobody has accepted. Read it, then add --trust.")

    def told(step: Step) -> None:
        if step.state in ("passed", "failed", "not_run"):
            print(line(step), file=sys.stderr, flush=True)

    interpreters = [options.python, workflow.interpreter, read_preferences()[0].interpreter]
    sample = _sample(options, workflow)
    proof = asyncio.run(prove(workflow, files, sample, folder=folder, interpreters=interpreters, on_step=told))
    ran = proof.interpreter
    if ran is not None:
        other = f" {options.python} could not run it." if options.python and ran.path != options.python else ""
        print(f"Python {ran.version}, agent-framework-core {ran.framework}: {ran.path}.{other}", file=sys.stderr)
    if not proof.proven:
        at = f" The node that differs: {proof.failed.node}." if proof.failed and proof.failed.node else ""
        raise Stop(FAILED, f"The export is not proven; nothing was written.{at}")
    if options.to == "durabletask":
        print("Proven in one process; tests/test_scale_out.py of the project runs it on two workers.", file=sys.stderr)


def _sample(options: argparse.Namespace, workflow: Workflow) -> Sample:
    """What both sides are given: the wanted input, with the replies and answers of a recorded run if one is named."""
    from studio.proof import Sample, sample_of

    if options.recorded is None:
        return Sample(input=options.input if options.input is not None else workflow.sample_input or "Hello")
    from studio.cli.recorded import recorded_run

    sample = sample_of(recorded_run(options.recorded, workflow, options.store))
    print(f"With the replies of {sample.name}.", file=sys.stderr)
    return sample if options.input is None else replace(sample, input=options.input)
