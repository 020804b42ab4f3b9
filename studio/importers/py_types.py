"""Annotations of a program as names of types, and its records as declared types."""

from __future__ import annotations

import ast
from typing import Any

from studio.document.types import BUILT_IN
from studio.importers.draft import Draft
from studio.importers.py_reading import decorators
from studio.importers.py_values import Class, Scope

_NAMES = {
    "str": "text",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "dict": "object",
    "Dict": "object",
    "list": "list",
    "List": "list",
    "Any": "any",
    "object": "any",
    "AgentExecutorRequest": "request",
    "AgentExecutorResponse": "response",
    "Message": "message",
    "ChatMessage": "message",
    "Never": "nothing",
    "NoReturn": "nothing",
    "None": "nothing",
}
_SCHEMAS: dict[str, dict[str, Any]] = {
    "str": {"type": "string"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
    "dict": {"type": "object"},
    "list": {"type": "array"},
}


def alternatives(annotation: ast.expr | None) -> list[ast.expr]:
    """``A | B``, ``Union[A, B]``, ``Optional[A]`` as a list."""
    match annotation:
        case None:
            return []
        case ast.Constant(value=str() as text):
            try:
                return alternatives(ast.parse(text, mode="eval").body)
            except SyntaxError:
                return [annotation]
        case ast.BinOp(op=ast.BitOr()):
            return [*alternatives(annotation.left), *alternatives(annotation.right)]
        case ast.Subscript(value=ast.Name(id="Union"), slice=ast.Tuple(elts=parts)):
            return [a for part in parts for a in alternatives(part)]
        case ast.Subscript(value=ast.Name(id="Optional"), slice=part):
            return alternatives(part)
    return [annotation]


def written(annotation: ast.expr | None) -> list[str]:
    """The alternatives as they stand in the program; nothing for Never."""
    names = [ast.unparse(part) for part in alternatives(annotation)]
    return [name for name in names if _NAMES.get(name.rpartition(".")[2]) != "nothing"]


def names(annotation: ast.expr | None, scope: Scope, draft: Draft) -> str:
    """The written type of a document: "text | list[Score]"; "any" for what cannot be expressed."""
    found = [_name(part, scope, draft) for part in alternatives(annotation)]
    kept = [name for name in dict.fromkeys(found) if name != "nothing"]
    return "any" if "any" in kept else " | ".join(kept) or "nothing"


def _name(part: ast.expr, scope: Scope, draft: Draft) -> str:
    match part:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            if name in _NAMES:
                return _NAMES[name]
            return _declared(scope.find(name), draft)
        case ast.Constant(value=None):
            return "nothing"
        case ast.Subscript(value=ast.Name(id="list" | "List"), slice=inner):
            item = names(inner, scope, draft)
            return (
                "messages"
                if item == "message"
                else "list"
                if item in ("any", "nothing") or "|" in item
                else f"list[{item}]"
            )
        case ast.Subscript(value=ast.Name(id="dict" | "Dict")):
            return "object"
    return "any"


def _declared(value: object, draft: Draft) -> str:
    """Declares a dataclass or model of the program as a type."""
    if not isinstance(value, Class) or not isinstance(value.node, ast.ClassDef):
        return "any"
    name = value.name
    if name in draft.types:
        return name
    if name in BUILT_IN or not is_record(value.node):
        return "any"
    draft.types[name] = schema(value)
    return name


def is_record(node: ast.ClassDef) -> bool:
    """Whether a class is a dataclass, a pydantic model or a typed dict."""
    bases = {b.attr if isinstance(b, ast.Attribute) else getattr(b, "id", "") for b in node.bases}
    return "dataclass" in decorators(node) or bool(bases & {"BaseModel", "TypedDict", "NamedTuple"})


def schema(value: Class) -> dict[str, Any]:
    """The JSON Schema of a record."""
    properties: dict[str, Any] = {}
    required: list[str] = []
    for statement in value.node.body if isinstance(value.node, ast.ClassDef) else ():
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            properties[statement.target.id] = schema_of(statement.annotation)
            if statement.value is None:
                required.append(statement.target.id)
    return {"type": "object", "properties": properties, "required": required}


def schema_of(annotation: ast.expr | None) -> dict[str, Any]:
    """The JSON Schema of one annotation."""
    parts = alternatives(annotation)
    if len(parts) != 1:
        return {"anyOf": [schema_of(part) for part in parts]} if parts else {}
    match parts[0]:
        case ast.Name(id=name) if name in _SCHEMAS:
            return dict(_SCHEMAS[name])
        case ast.Subscript(value=ast.Name(id="list" | "List"), slice=inner):
            return {"type": "array", "items": schema_of(inner)}
        case ast.Subscript(value=ast.Name(id="Literal"), slice=inner):
            values = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            return {"enum": [v.value for v in values if isinstance(v, ast.Constant)]}
        case ast.Subscript(value=ast.Name(id="Annotated"), slice=ast.Tuple(elts=[first, *_])):
            return schema_of(first)
    return {}


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef, skipped: tuple[str, ...] = ()) -> dict[str, Any]:
    """The JSON Schema of the arguments of a tool."""
    given = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    names_ = [a for a in given if a.arg not in ("self", "cls", *skipped)]
    optional = len(function.args.defaults)
    positional = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    with_default = set(positional[len(positional) - optional :] if optional else ())
    return {
        "type": "object",
        "properties": {a.arg: schema_of(a.annotation) for a in names_},
        "required": [a.arg for a in names_ if a.arg not in with_default],
    }
