"""Looking at the user's Python without running it: syntax, and what a module defines."""

from __future__ import annotations

import ast
import textwrap
import warnings
from dataclasses import dataclass
from functools import lru_cache

_HEAD = "async def run(data, ctx):\n"
_INDENT = "    "


@dataclass(frozen=True, slots=True)
class CodeProblem:
    """What Python says about a text; lines count from 1."""

    message: str
    line: int


@lru_cache(maxsize=1024)
def body_problem(body: str) -> CodeProblem | None:
    """The first syntax error in the statements of a function node or predicate; None if they can be read."""
    if not body.strip():
        return None
    lines = textwrap.dedent(body)
    return _problem(_HEAD + textwrap.indent(lines, _INDENT, lambda _: True), shift=1)


@lru_cache(maxsize=256)
def module_problem(source: str) -> CodeProblem | None:
    """The first syntax error in a module; None if it can be read."""
    return _problem(source)


def _problem(source: str, shift: int = 0) -> CodeProblem | None:
    try:
        _parse(source)
    except SyntaxError as error:
        return CodeProblem(error.msg, max(1, (error.lineno or 1) - shift))
    except (ValueError, RecursionError, MemoryError) as error:
        return CodeProblem(str(error) or "the code is nested too deeply", 1)
    return None


def _parse(source: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an odd escape in the user's text is not our warning
        return ast.parse(source)


@lru_cache(maxsize=256)
def defined(source: str) -> frozenset[str]:
    """The names that a module defines at its top level; empty if it cannot be read."""
    try:
        tree = _parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    names: set[str] = set()
    for statement in ast.walk(tree):
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.alias(name=name, asname=asname):
                names.add(asname or name)
            case ast.Assign(targets=targets):
                names.update(t.id for t in targets if isinstance(t, ast.Name))
    return frozenset(names)
