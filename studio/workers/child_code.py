"""User code inside the worker process: modules and bodies, compiled so that line numbers are those of the user's text.

Standard library only; see ``child.py``. A *body* is a list of statements with its parameters in scope that leaves
``result`` (``return`` works too); it may ``await``. A *predicate* that is one expression is its own result.
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.abc
import importlib.machinery
import inspect
import linecache
import sys
import textwrap
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from studio.workers import child_middleware as middleware
    from studio.workers import child_values as values
else:
    middleware = sys.modules["child_middleware"]
    values = sys.modules["child_values"]

PARAMETERS = {
    "body": ("data", "ctx"),
    "predicate": ("data", "text", "value", "type", "state"),
    "filter": ("messages",),
    "provider": ("messages", "session_id"),
    "middleware": ("context", "call_next"),
}


def offer_framework(context: type) -> None:
    """Makes ``from agent_framework import Message, WorkflowContext, ...`` work, with the classes of this process."""
    module = types.ModuleType("agent_framework", "The names of the framework that user code in a node may use.")
    module.__dict__.update(values.PUBLIC, **middleware.PUBLIC, WorkflowContext=context)
    sys.modules["agent_framework"] = module


class Code(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """What is loaded. Modules are executed when first imported; syntax is checked at loading."""

    def __init__(self) -> None:
        self.types: dict[str, type] = {}
        self.files: dict[str, str] = {}
        self._modules: dict[str, Any] = {}
        self._bodies: dict[str, Any] = {}
        sys.meta_path.insert(0, self)

    def load(self, units: list[dict[str, str]], declared: dict[str, dict[str, Any]]) -> None:
        for name in self._modules:
            sys.modules.pop(name, None)
        self._modules, self._bodies, self.files = {}, {}, {}
        self.types = values.make_types(declared)
        for unit in units:
            name, source = unit["name"], unit["source"]
            file = f"<{unit['kind']} {name}>"
            self.files[file] = name
            linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
            if unit["kind"] == "module":
                if name in getattr(sys, "stdlib_module_names", ()):
                    raise ValueError(f"a module cannot be named {name}: Python has one with this name")
                self._modules[name] = compile(source, file, "exec", dont_inherit=True)
            else:
                self._bodies[name] = self._function(compile_body(source, file, unit["kind"]), name)

    def _function(self, compiled: types.CodeType, name: str) -> Any:
        scope: dict[str, Any] = {"__name__": name, **values.PUBLIC, **middleware.PUBLIC, **self.types}
        exec(compiled, scope)
        return scope["body"]

    def is_body(self, target: str) -> bool:
        return target in self._bodies

    def function(self, target: str) -> Any:
        """The function of a target, as it is."""
        return self._bodies.get(target) or self._named(target)

    def prepare(self, target: str, style: str, data: Any, context: Any) -> functools.partial[Any]:
        """The function of a target with its arguments. ``style`` says how ``data`` is given to it."""
        function = self._bodies.get(target) or self._named(target)
        given = values.decode(data, self.types)
        if target in self._bodies and style == "node":
            return functools.partial(function, given, context)
        if style in ("tool", "predicate"):
            return functools.partial(function, **given)
        return functools.partial(function, *(given, context)[: _positional(function)])

    def _named(self, target: str) -> Any:
        module_name, _, function_name = target.partition(":")
        if module_name not in self._modules:
            raise LookupError(f"the workflow has no module {module_name!r}")
        found: Any = importlib.import_module(module_name)
        for part in function_name.split("."):
            found = getattr(found, part, None)
        if not callable(found):
            raise LookupError(f"module {module_name} has no function {function_name!r}")
        return found

    # ---- import system
    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        is_package = any(name.startswith(fullname + ".") for name in self._modules)
        if fullname not in self._modules and not is_package:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=is_package)

    def create_module(self, spec: Any) -> None:
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        module.__dict__.update(self.types)
        compiled = self._modules.get(module.__name__)
        if compiled is not None:
            exec(compiled, module.__dict__)


def _positional(function: Any) -> int:
    """How many of (data, ctx) a function takes."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return 1
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return 2
    return len([p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)])


def compile_body(source: str, file: str, kind: str) -> types.CodeType:
    """Statements as a function named ``body``; line numbers and texts with line breaks stay as they are."""
    first_line = next((line for line in source.splitlines() if line.strip()), "")
    if first_line[:1].isspace():
        source = textwrap.dedent(source)
    tree = ast.parse(source, file)
    found = _Suspensions()
    found.visit(tree)
    if found.generator is not None:
        text = (source.splitlines() or [""])[found.generator.lineno - 1]
        raise SyntaxError("'yield' cannot be used here; see ctx.yield_output", (file, found.generator.lineno, 1, text))
    statements = list(tree.body)
    if kind == "predicate" and len(statements) == 1 and isinstance(statements[0], ast.Expr):
        statements = [ast.Assign([ast.Name("result", ast.Store())], statements[0].value)]
    before: ast.expr = ast.Name("messages", ast.Load()) if kind == "filter" else ast.Constant(None)
    first: ast.stmt = ast.Assign([ast.Name("result", ast.Store())], before)
    last = ast.Return(ast.Name("result", ast.Load()))
    waits = found.waits or kind == "middleware"
    header = f"{'async ' if waits else ''}def body({', '.join(PARAMETERS[kind])}): pass"
    module = ast.parse(header, file)
    function = module.body[0]
    assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
    function.body = [first, *statements, last]
    return compile(ast.fix_missing_locations(module), file, "exec", dont_inherit=True)


class _Suspensions(ast.NodeVisitor):
    """Finds ``await`` and ``yield`` of the body itself, not of functions defined in it."""

    def __init__(self) -> None:
        self.waits = False
        self.generator: ast.expr | None = None

    def visit_Await(self, node: ast.Await) -> None:
        self.waits = True
        self.generic_visit(node)

    def visit_AsyncFor(self, node: ast.AsyncFor) -> None:
        self.waits = True
        self.generic_visit(node)

    def visit_AsyncWith(self, node: ast.AsyncWith) -> None:
        self.waits = True
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        self.waits = self.waits or bool(node.is_async)
        self.generic_visit(node)

    def visit_Yield(self, node: ast.Yield) -> None:
        self.generator = self.generator or node

    def visit_YieldFrom(self, node: ast.YieldFrom) -> None:
        self.generator = self.generator or node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Another function."""

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        """Another function."""

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """Another function."""


def describe(error: BaseException, files: dict[str, str]) -> dict[str, Any]:
    """An exception for the studio: type, message and the frames that lie in the user's own text."""
    where: list[dict[str, Any]] = []
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file in files:
            name = trace.tb_frame.f_code.co_name
            where.append(_frame(files[file], trace.tb_lineno, file, "" if name == "body" else name))
        trace = trace.tb_next
    message = _text(error)
    if isinstance(error, SyntaxError) and error.filename in files:
        where.append(_frame(files[error.filename], error.lineno or 1, error.filename, "", error.offset or 1))
        message = error.msg
    return {"type": type(error).__name__, "message": message, "where": where}


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return ""


def _frame(unit: str, line: int, file: str, function: str, column: int = 0) -> dict[str, Any]:
    source = linecache.getline(file, line).strip()
    return {"unit": unit, "line": line, "column": column, "function": function, "code": source}
