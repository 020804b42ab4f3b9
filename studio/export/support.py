"""``support.py`` of an export: of the functions written for all exports those that one project uses."""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache

from studio.export.source import Module
from studio.settings.places import resource


@dataclass(frozen=True, slots=True)
class _Part:
    """A definition: its text and the names that it uses."""

    name: str
    text: str
    uses: frozenset[str]


@cache
def _parts(file: str) -> tuple[tuple[_Part, ...], dict[str, str], frozenset[str], str]:
    """The definitions of a text in order, where its imported names come from ("" for whole modules), docstring."""
    source = resource("export", file).read_text(encoding="utf-8")
    tree = ast.parse(source)
    lines = source.split("\n")
    parts: list[_Part] = []
    names: dict[str, str] = {}
    modules: set[str] = set()
    for number, statement in enumerate(tree.body):
        match statement:
            case ast.ImportFrom():
                names |= {alias.name: "." * statement.level + (statement.module or "") for alias in statement.names}
            case ast.Import():
                modules |= {alias.name for alias in statement.names}
            case ast.Expr() if parts:  # a text or call under a definition belongs to it
                before, text = parts.pop(), isinstance(statement.value, ast.Constant)
                joined = f"{before.text}{chr(10) if text else chr(10) * 3}{_lines(lines, statement)}"
                parts.append(_Part(before.name, joined, before.uses | _used(statement)))
            case ast.Expr() if number == 0:
                continue
            case _:
                parts.append(_Part(_defined(statement), _lines(lines, statement), _used(statement)))
    return tuple(parts), names, frozenset(modules), ast.get_docstring(tree) or ""


def _used(statement: ast.stmt) -> frozenset[str]:
    return frozenset(n.id for n in ast.walk(statement) if isinstance(n, ast.Name))


def _lines(lines: list[str], statement: ast.stmt) -> str:
    decorators = getattr(statement, "decorator_list", [])
    first = min([statement.lineno, *(d.lineno for d in decorators)])
    while first > 1 and lines[first - 2].startswith("# "):
        first -= 1
    return "\n".join(lines[first - 1 : statement.end_lineno])


def _defined(statement: ast.stmt) -> str:
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return statement.name
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
    raise ValueError(f"line {statement.lineno} of an exported text defines nothing")


def needed(file: str, wanted: Collection[str]) -> Module:
    """A module with the wanted definitions of ``resources/export/<file>`` and all that these use; no import too
    many."""
    module = Module(_parts(file)[3])
    add_needed(module, file, wanted)
    return module


def add_needed(module: Module, file: str, wanted: Collection[str]) -> None:
    """Adds the wanted definitions of a text, and what they use, to a module."""
    parts, names, modules, _ = _parts(file)
    by_name = {part.name: part for part in parts}
    kept: set[str] = set()
    waiting = [name for name in wanted if name in by_name]
    while waiting:
        name = waiting.pop()
        if name not in kept:
            kept.add(name)
            waiting += [used for used in by_name[name].uses if used in by_name]
    used = {name for part in parts if part.name in kept for name in part.uses}
    for name in sorted(used & names.keys()):
        module.need(names[name], name)
    for name in sorted(modules & used):
        module.need(name)
    module.blocks += [part.text for part in parts if part.name in kept]
