"""Arguments -> the sub-command, which is imported only then."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from studio.cli.checkpoint_options import add_arguments as add_checkpoints
from studio.cli.exits import INTERRUPTED, USAGE, Stop

_MODULES = {
    "run": "running",
    "test": "testing",
    "batch": "batch",
    "check": "checking",
    "export": "exporting",
    "import": "importing",
    "checkpoints": "checkpoints",
    "schema": "schemas",
    "templates": "templates",
    "offline-model": "offline",
    "doctor": "doctor",
}
_ANSWER_HELP = (
    "answer a request by its id, or every request of a node by the id of the node; a text needs no quotes. "
    "May be given several times"
)
SUB_COMMANDS = tuple(_MODULES)
DRAWINGS = ("mermaid", "dot", "svg", "png")
"""Targets of ``export`` that are one file."""


def version() -> str:
    """The version of the installed program."""
    from importlib import metadata  # takes longer than everything else a start of the window imports from here

    try:
        return metadata.version("superstep-studio")
    except metadata.PackageNotFoundError:
        return "not installed"


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    top = argparse.ArgumentParser(
        "superstep-studio",
        description="Draw, run, step, rewind, branch and export multi-agent workflows. Without a command: the window.",
        epilog="Exit codes: 0 done, 1 failed, 2 wrong usage or invalid document, 3 waiting for answers, "
        "4 imported with losses, 130 cancelled.",
    )
    top.add_argument("--version", action="version", version=f"superstep-studio {version()}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    run = commands.add_parser("run", help="run a workflow file")
    _add_run(run)
    _add_test(commands.add_parser("test", help="run tests of workflows, with pinned replies"))
    _add_batch(commands.add_parser("batch", help="run a workflow for every row of a table"))
    check = commands.add_parser("check", help="say what is wrong with a workflow file")
    check.add_argument("file")
    check.add_argument("--json", action="store_true", help="one problem a line, as JSON")
    export = commands.add_parser("export", help="write a workflow as code")
    _add_export(export)
    _add_picture(export)
    _add_import(commands.add_parser("import", help="take over a workflow of another program"))
    add_checkpoints(commands.add_parser("checkpoints", help="list, compare, prune, export, import what was kept"))
    schema = commands.add_parser("schema", help="print a JSON Schema")
    schema.add_argument("of", nargs="?", default="workflow", choices=["workflow", "events"])
    commands.add_parser("templates", help="list the workflow templates")
    offline = commands.add_parser("offline-model", help="serve the built-in model on this computer")
    offline.add_argument("file", nargs="?", help="a workflow file whose script is used")
    offline.add_argument("--port", type=int, default=0, help="default: a free one")
    doctor = commands.add_parser("doctor", help="check that everything needed is there")
    doctor.add_argument("--probe", metavar="PROFILE", help="also find out what the model of this profile can do")
    return top


def _add_export(export: argparse.ArgumentParser) -> None:
    export.add_argument("file")
    export.add_argument("--to", required=True, choices=["agent-framework", "durabletask", *DRAWINGS])
    export.add_argument("-o", "--output", required=True, metavar="OUT", help="the folder or file to write")
    export.add_argument("--package", metavar="NAME", help="of the Python package; default: the workflow's name")
    export.add_argument("--single-file", action="store_true", help="agent-framework: one Python file, not a project")
    export.add_argument("--layout", action="store_true", help="also write positions, so that import gives them back")
    export.add_argument(
        "--client",
        choices=["chat-completions", "responses"],
        default="chat-completions",
        help="the API that the code speaks to the model; default: chat-completions",
    )
    export.add_argument("--no-smoke-test", dest="smoke_test", action="store_false", help="without tests/test_smoke.py")
    export.add_argument("--force", action="store_true", help="replace files that differ")
    export.add_argument("--prove", action="store_true", help="build and run the code and compare it with the canvas")
    export.add_argument("--python", metavar="PYTHON", help="with --prove: a Python that has agent-framework")
    export.add_argument("--input", metavar="TEXT", help="with --prove: the input; default: the workflow's sample input")
    export.add_argument(
        "--recorded",
        metavar="RUN",
        help="with --prove: give both sides the input, replies and answers of this run: a branch of checkpoints list "
        "(id or name), “last”, or a test file",
    )
    export.add_argument(
        "--store", default="default", metavar="default|PATH", help="with --recorded: where runs are kept"
    )
    export.add_argument("--trust", action="store_true", help="with --prove: let the code in the file run")


def _add_picture(export: argparse.ArgumentParser) -> None:
    export.add_argument("--theme", choices=["light", "dark"], default="light", help="of svg and png; default: light")
    export.add_argument("--transparent", action="store_true", help="svg and png without a background")
    export.add_argument("--scale", type=float, default=2.0, metavar="N", help="png: pixels per unit; default: 2")
    export.add_argument("--embed", action="store_true", help="keep the workflow in the svg or png, to open it again")


def _add_import(taken: argparse.ArgumentParser) -> None:
    taken.add_argument("source")
    taken.add_argument("-o", "--output", required=True, metavar="FILE", help="the workflow file to write")
    taken.add_argument("--kind", metavar="FORMAT", help="the format; default: found out by content")
    taken.add_argument("--choice", metavar="NAME", help="which of several workflows, with --build the function to call")
    taken.add_argument("--json", action="store_true", help="the report on standard output, as JSON")
    taken.add_argument("--build", action="store_true", help="run the program to see what it builds")
    taken.add_argument("--interpreter", metavar="PYTHON", help="with --build: the Python that runs it")
    taken.add_argument("--timeout", type=float, default=30.0, metavar="SECONDS", help="with --build; default: 30")
    _add_mapping(taken)


def _add_mapping(taken: argparse.ArgumentParser) -> None:
    shown = taken.add_argument_group("what the source names, as what is here (each may be given several times)")
    shown.add_argument(
        "--provider", action="append", default=[], metavar="NAME=PROFILE", help="an empty PROFILE: the one of the run"
    )
    shown.add_argument(
        "--model", action="append", default=[], metavar="NAME=PROFILE[,MODEL]",
        help="who answers for a model; without MODEL it is asked for its own, an empty PROFILE is the one of the run",
    )  # fmt: skip
    shown.add_argument(
        "--tool", action="append", default=[], metavar="NAME=CODE",
        help="MODULE:FUNCTION, server:NAME, written (you write it here), none (agents lose it), by-hand (the default)",
    )  # fmt: skip


def _add_test(test: argparse.ArgumentParser) -> None:
    test.add_argument("files", nargs="+", metavar="FILE", help="test files, or folders with test files")
    test.add_argument("--junit", metavar="OUT", help="also write the results as JUnit XML")
    test.add_argument("--trust", action="store_true", help="let the code in the workflows run")


def _above_zero(kind: type[int] | type[float]) -> Callable[[str], float]:
    def read(text: str) -> float:
        number = kind(text)
        if not number > 0:
            raise argparse.ArgumentTypeError(f"{text} is not above 0")
        return number

    read.__name__ = kind.__name__  # argparse names it where the text is no number
    return read


def _add_batch(batch: argparse.ArgumentParser) -> None:
    batch.add_argument("file")
    batch.add_argument("--inputs", required=True, metavar="TABLE", help="a CSV or JSONL file, a row for each run")
    batch.add_argument("--column", metavar="NAME", help="the column with the input; default: input, else the whole row")
    batch.add_argument("-o", "--output", metavar="OUT", help="the results as JSON lines; default: beside the table")
    batch.add_argument(
        "--parallel", type=_above_zero(int), default=4, metavar="N", help="runs at the same time; default: 4"
    )
    batch.add_argument(
        "--max-cost", type=_above_zero(float), metavar="MONEY", help="begin no run after so much was spent"
    )
    batch.add_argument("--again", action="store_true", help="also run rows that are done in the results")
    batch.add_argument("--provider", metavar="NAME", help="the profile for all agents")
    batch.add_argument("--trust", action="store_true", help="let the code in the file run")


def _add_run(run: argparse.ArgumentParser) -> None:
    run.add_argument("file")
    given = run.add_mutually_exclusive_group()
    given.add_argument("--input", metavar="TEXT", help="the input; default: the workflow's sample input")
    given.add_argument("--input-json", metavar="JSON", help="the input as JSON")
    given.add_argument("--input-file", metavar="F", help="a file with the input, - for standard input")
    run.add_argument("--stream", action="store_true", help="stream the models, show text as it arrives")
    run.add_argument("--provider", metavar="NAME", help="the profile for all agents")
    run.add_argument("--store", default="default", metavar="default|memory|PATH", help="where checkpoints are kept")
    run.add_argument("--resume", metavar="CHECKPOINT", help="go on from this checkpoint, as a new branch")
    run.add_argument("--answer", action="append", default=[], metavar="REQUEST=JSON", help=_ANSWER_HELP)
    tape = run.add_mutually_exclusive_group()
    tape.add_argument(
        "--record", metavar="FILE", help="keep model calls and tool results in this file, without secrets"
    )
    tape.add_argument(
        "--replay", metavar="FILE", help="answer model calls and tools from a recording: no network, no cost"
    )
    run.add_argument("--trust", action="store_true", help="let the code in the file run")
    run.add_argument("--json", action="store_true", help="one event a line on standard output, as JSON")


def main(arguments: Sequence[str], draw: Callable[..., bytes] | None = None) -> int:
    """Runs a sub-command and gives its exit code. ``draw`` paints pictures: see :mod:`studio.cli.drawings`."""
    try:
        options = parser().parse_args(arguments)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else USAGE
    options.draw = draw
    command: Callable[[argparse.Namespace], int] = import_module(f"studio.cli.{_MODULES[options.command]}").command
    try:
        return command(options)
    except Stop as stop:
        print(stop, file=sys.stderr)
        return stop.code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        sys.stdout = None  # the reader is gone; nothing is to be flushed at exit
        return INTERRUPTED
