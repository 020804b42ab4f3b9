"""Statements and functions that people wrote, as they stand in a module of the export."""

from __future__ import annotations

import ast

from studio.document.model import Workflow
from studio.export.source import FRAMEWORK, Module, with_relative_imports

_VALUES = ("Content", "Message", "AgentResponse", "AgentExecutorResponse", "AgentExecutorRequest")
_AROUND = ("AgentContext", "ChatContext", "FunctionInvocationContext", "MiddlewareFailure", "MiddlewareTermination")
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


def missing_types(source: str, workflow: Workflow) -> list[str]:
    """Declared types that a module of user code uses and neither imports nor defines."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return []
    known: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom() | ast.Import():
                known |= {alias.asname or alias.name for alias in node.names}
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                known.add(node.name)
            case ast.Name(ctx=ast.Store()):
                known.add(node.id)
    used = names_in(source)
    return [t.name for t in workflow.types if t.name in used and t.name not in known]


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
