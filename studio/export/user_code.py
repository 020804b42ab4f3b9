"""Statements and functions that people wrote, as they stand in a module of the export."""

from __future__ import annotations

import ast

from studio.document.model import Workflow
from studio.export.source import FRAMEWORK, Module, with_relative_imports

_VALUES = ("Content", "Message", "AgentResponse", "AgentExecutorResponse", "AgentExecutorRequest")
_AROUND = (
    "AgentContext", "AgentResponseUpdate", "ChatContext", "ChatResponseUpdate", "FunctionInvocationContext",
    "MiddlewareFailure", "MiddlewareTermination",
)  # fmt: skip
_OFFERED = frozenset((*_VALUES, *_AROUND))
"""Names of the framework that code may use without importing them."""


def names_in(body: str) -> set[str]:
    """The names that statements read or write; none if they cannot be read."""
    try:
        return {node.id for node in ast.walk(ast.parse(body)) if isinstance(node, ast.Name)}
    except SyntaxError:
        return set()


def written_in(module: Module, workflow: Workflow, body: str) -> str:
    """Statements of a person for a module: what they use without importing it is imported, and imports of the
    document's modules become imports within the package."""
    names = names_in(body)
    for name in sorted(names & _OFFERED):
        module.need(FRAMEWORK, name)
    for declared in workflow.types:
        if declared.name in names:
            module.need(".types", declared.name)
    return with_relative_imports(body, [m.name for m in workflow.modules])


def with_types(source: str, workflow: Workflow, level: int = 1) -> str:
    """A module of user code with an import of the declared types that it uses and neither imports nor defines.
    ``level``: how many dots the package is away."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return source
    names = _missing_types(tree, workflow)
    if not names:
        return source
    line = f"from {'.' * level}types import {', '.join(names)}"
    lines = source.split("\n")
    at, own = 0, False
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            at, own = node.end_lineno or at, isinstance(node, ast.ImportFrom) and node.level > 0
        elif not (at == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            break
        elif at == 0:
            at = node.end_lineno or at
    before = [] if own or at == 0 else [""]
    after = [] if at and at < len(lines) and not lines[at].strip() else ["", ""]
    return "\n".join([*lines[:at], *before, line, *after, *lines[at:]])


def _missing_types(tree: ast.Module, workflow: Workflow) -> list[str]:
    known: set[str] = set()
    used: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom() | ast.Import():
                known |= {alias.asname or alias.name for alias in node.names}
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                known.add(node.name)
            case ast.Name(ctx=ast.Store()):
                known.add(node.id)
            case ast.Name():
                used.add(node.id)
    return sorted(t.name for t in workflow.types if t.name in used - known)


def result_line(code: str, at_first: str = "None") -> str:
    """The line in front of a body that gives ``result`` a value; "" if the body does so itself, once and for all."""
    line = f"    result: Any = {at_first}\n"
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return line
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "result"]
    given = [node for node in names if isinstance(node.ctx, ast.Store)]
    own = [s for s in tree.body if isinstance(s, ast.Assign) and s.targets == given]
    if len(given) != 1 or not own or any(n.lineno <= (own[0].end_lineno or 0) for n in names if n is not given[0]):
        return line
    return ""


def sets_result(code: str) -> bool:
    """Whether a middleware leaves an answer of its own: ``context.result = ...``, or a termination with a result."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return False
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr="result", ctx=ast.Store()):
                return True
            case ast.Call(func=ast.Name(id="MiddlewareTermination"), keywords=[*_, ast.keyword(arg="result")]):
                return True
    return False


def changes_context(code: str) -> bool:
    """Whether a middleware changes what it is given, which the framework's annotations (``Sequence``, ``Mapping``,
    unions) would not let it do: it then takes its context as ``Any``."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return True
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()) if _of_context(node.value):
                return True
            case ast.Call(func=ast.Attribute(value=ast.Attribute() as value)) if _of_context(value):
                return True
    return False


def _of_context(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return isinstance(node, ast.Name) and node.id == "context"
