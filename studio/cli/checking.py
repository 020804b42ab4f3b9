"""``check``: what is wrong with a document."""

from __future__ import annotations

import argparse
import json

from studio.cli.documents import read
from studio.cli.exits import DONE, USAGE
from studio.document.problems import Problem
from studio.document.validate import problems


def command(options: argparse.Namespace) -> int:
    """Prints the problems; 2 if there are errors."""
    workflow, _ = read(options.file)
    found = problems(workflow)
    for problem in found:
        print(json.dumps(_line(problem), ensure_ascii=False) if options.json else _text(problem))
    errors = sum(p.severity == "error" for p in found)
    if not options.json:
        print(f"{options.file}: {_counted(errors, 'error')}, {_counted(len(found) - errors, 'note')}")
    return USAGE if errors else DONE


def _line(problem: Problem) -> dict[str, str]:
    return {
        "severity": problem.severity,
        "code": problem.code,
        "place": problem.place,
        "field": problem.field,
        "message": problem.message,
    }


def _text(problem: Problem) -> str:
    place = f" [{problem.place}]" if problem.place else ""
    fix = f" Fix: {problem.fix.text}." if problem.fix is not None else ""
    return f"{problem.severity}{place}: {problem.message}{fix}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
