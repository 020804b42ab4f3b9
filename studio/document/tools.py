"""Function tools: what their code says about itself, and where that code is found.

A signature becomes JSON Schema by reading, never by running: ``city: str``, ``days: int = 3``, ``unit: Literal["c",
"f"]``, ``tags: list[str]``, ``Annotated[str, "Name of the city"]`` and the declared types of the document.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from pydantic import JsonValue

from studio.document.code import CodeProblem, module_problem
from studio.document.model import ModuleDecl, ToolDecl, TypeDecl, Workflow

Schema = dict[str, JsonValue]

_PLAIN: Mapping[str, Schema] = {
    "str": {"type": "string"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
    "None": {"type": "null"},
    "dict": {"type": "object"},
    "Mapping": {"type": "object"},
    "list": {"type": "array"},
    "tuple": {"type": "array"},
    "set": {"type": "array"},
    "Any": {},
    "object": {},
}
_LISTS = ("list", "List", "Sequence", "tuple", "Tuple", "set", "frozenset", "Iterable")
_OBJECTS = ("dict", "Dict", "Mapping")
_ARGUMENT = re.compile(r"\s*(\w+)\s*(?:\([^)]*\))?\s*:\s*(\S.*)")


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function says about itself. ``unclear``: parameters without a type that JSON Schema can say."""

    name: str
    description: str
    parameters: Schema
    is_async: bool = False
    unclear: tuple[str, ...] = ()
    returns: str = ""
    """The written type of the result; empty if none is."""
    any_name: bool = False
    """Whether it takes arguments of any name (``**more``)."""


def module_of(tool: ToolDecl) -> str:
    """The module that holds the code of a tool which is written in the tool itself."""
    return f"tool_{re.sub(r'[^A-Za-z0-9_]', '_', tool.name)}"


def target_of(tool: ToolDecl) -> str:
    """What is called, as ``module:function``; empty for a tool without code."""
    if tool.approval == "caller":
        return ""
    if not tool.source.strip():
        return tool.call
    found = functions(tool.source)
    return f"{module_of(tool)}:{found[0].name}" if found else ""


def code_modules(workflow: Workflow) -> tuple[ModuleDecl, ...]:
    """All modules of user code: those of the document, then one for each tool that is written in itself."""
    written = [t for t in workflow.tools if t.source.strip() and t.approval != "caller"]
    return (*workflow.modules, *(ModuleDecl(name=module_of(t), source=t.source) for t in written))


def source_problem(source: str) -> CodeProblem | None:
    """Why this text is not the code of a tool: it must define one public function first."""
    found = module_problem(source)
    if found is not None:
        return found
    if not functions(source):
        return CodeProblem("it defines no function", 1)
    first = functions(source)[0]
    if first.args.posonlyargs:
        return CodeProblem("parameters before / cannot be given by name", first.lineno)
    return None


def signature_of(workflow: Workflow, tool: ToolDecl) -> Signature | None:
    """What the code of a tool says; None if it has none that can be read."""
    types = tuple(workflow.types)
    if tool.source.strip():
        found = signatures(tool.source, types)
        return found[0] if found else None
    module, _, name = tool.call.partition(":")
    source = next((m.source for m in workflow.modules if m.name == module), "")
    return next((s for s in signatures(source, types) if s.name == name), None)


def importable(workflow: Workflow) -> list[str]:
    """Functions of the document's modules that a tool could call, as ``module:function``."""
    return [f"{m.name}:{f.name}" for m in workflow.modules for f in functions(m.source)]


def functions(source: str) -> Sequence[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The public functions at the top level of a module; none if it cannot be read."""
    return [f for f in _functions(source) if not f.name.startswith("_")]


@lru_cache(maxsize=256)
def _functions(source: str) -> tuple[ast.FunctionDef | ast.AsyncFunctionDef, ...]:
    if module_problem(source) is not None:
        return ()
    body = ast.parse(source).body
    return tuple(s for s in body if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef))


def signatures(source: str, types: Sequence[TypeDecl] = ()) -> list[Signature]:
    """Of every public function of a module, in its order."""
    declared = {t.name: t.json_schema for t in types}
    return [_Reader(declared).signature(f) for f in functions(source)]


@dataclass
class _Reader:
    """Turns annotations into JSON Schema. ``declared``: the document's types, put in where they are named."""

    declared: Mapping[str, Schema]
    unclear: list[str] = field(default_factory=list)

    def signature(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Signature:
        text = ast.get_docstring(function) or ""
        description, said = _docstring(text)
        properties: Schema = {}
        required: list[JsonValue] = []
        for name, annotation, default in _parameters(function):
            schema = self._parameter(name, annotation)
            if name in said:
                schema.setdefault("description", said[name])
            if default is None:
                required.append(name)
            elif (value := _literal(default)) is not _UNKNOWN and value is not None:
                schema["default"] = value  # type: ignore[assignment]
            properties[name] = schema
        parameters: Schema = {"type": "object", "properties": properties}
        if required:
            parameters["required"] = required
        returns = ast.unparse(function.returns) if function.returns is not None else ""
        is_async = isinstance(function, ast.AsyncFunctionDef)
        return Signature(
            function.name,
            description,
            parameters,
            is_async,
            tuple(self.unclear),
            returns,
            function.args.kwarg is not None,
        )

    def _parameter(self, name: str, annotation: ast.expr | None) -> Schema:
        if annotation is None:
            self.unclear.append(name)
            return {}
        found = self._type(annotation)
        if found is None:
            self.unclear.append(name)
        return dict(found or {})

    def _type(self, node: ast.expr) -> Schema | None:
        match node:
            case ast.Constant(value=None):
                return {"type": "null"}
            case ast.Constant(value=str(text)):
                return self._written(text)
            case ast.Name(id=name) | ast.Attribute(attr=name):
                found = self.declared.get(name) or _PLAIN.get(name)
                return None if found is None else dict(found)
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return self._either([left, right])
            case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name), slice=inner):
                return self._of(name, inner.elts if isinstance(inner, ast.Tuple) else [inner])
        return None

    def _written(self, text: str) -> Schema | None:
        try:
            return self._type(ast.parse(text, mode="eval").body)
        except (SyntaxError, ValueError, RecursionError):
            return None

    def _of(self, name: str, inner: Sequence[ast.expr]) -> Schema | None:
        if name == "Literal":
            values = [_literal(item) for item in inner]
            return _enumeration(values) if _UNKNOWN not in values else None
        if name == "Annotated":
            found = self._type(inner[0])
            text = next((i.value for i in inner[1:] if isinstance(i, ast.Constant) and isinstance(i.value, str)), "")
            return found if found is None or not text else {**found, "description": text}
        if name == "Optional":
            return self._either([inner[0], ast.Constant(None)])
        if name == "Union":
            return self._either(inner)
        if name in _LISTS:
            item = self._type(inner[0])
            return None if item is None else {"type": "array", "items": item}
        if name in _OBJECTS:
            value = self._type(inner[-1])
            return None if value is None else {"type": "object", "additionalProperties": value or True}
        return None

    def _either(self, choices: Sequence[ast.expr]) -> Schema | None:
        found = [self._type(choice) for choice in choices]
        if any(schema is None for schema in found):
            return None
        flat: list[JsonValue] = []
        for schema in found:
            assert schema is not None
            inner = schema.get("anyOf")
            flat += inner if isinstance(inner, list) and len(schema) == 1 else [schema]
        names = [s["type"] for s in flat if isinstance(s, dict) and set(s) == {"type"}]
        return {"type": names} if len(names) == len(flat) else {"anyOf": flat}


class _Unknown:
    """Stands for a default that is no literal."""


_UNKNOWN = _Unknown()


def _literal(node: ast.expr) -> object:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return _UNKNOWN
    return value if isinstance(value, str | int | float | bool | list | dict | None) else _UNKNOWN


def _enumeration(values: Sequence[object]) -> Schema:
    kinds = {bool: "boolean", str: "string", int: "integer", float: "number"}
    names = {kinds.get(type(v)) for v in values}
    schema: Schema = {"enum": list(values)}  # type: ignore[arg-type]
    only = names.pop() if len(names) == 1 else None
    return schema if only is None else {"type": only, **schema}


def _parameters(
    function: ast.FunctionDef | ast.AsyncFunctionDef,
) -> Iterator[tuple[str, ast.expr | None, ast.expr | None]]:
    """Name, annotation and default of what a call by keyword can give."""
    given = function.args
    positional = [*given.posonlyargs, *given.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(given.defaults))
    for argument, default in zip(positional, [*defaults, *given.defaults], strict=True):
        yield argument.arg, argument.annotation, default
    for argument, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        yield argument.arg, argument.annotation, default


def _docstring(text: str) -> tuple[str, dict[str, str]]:
    """The description, and what an ``Args:`` section says about parameters."""
    head, _, rest = text.partition("\nArgs:\n")
    description = " ".join(head.partition("\n\n")[0].split()) if head.strip() else ""
    said: dict[str, str] = {}
    for line in rest.split("\n"):
        if not line.strip():
            break
        found = _ARGUMENT.match(line)
        if found is not None:
            said[found[1]] = found[2].strip()
    return description, said
