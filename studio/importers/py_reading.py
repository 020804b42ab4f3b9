"""Following a Python program without running it: assignments, factory functions, fluent calls.

Loops and comprehensions are not run, both sides of an ``if`` are taken, other packages are not followed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from studio.importers.problems import ImportProblem
from studio.importers.py_values import (
    Call,
    Class,
    Const,
    Function,
    Imported,
    Instance,
    Items,
    Mapping_,
    Scope,
    Unknown,
    Value,
)
from studio.importers.python_source import PythonSource, parse
from studio.importers.reading import text_of

_MAX_CALLS = 30_000
_MAX_DEPTH = 40
_FACTORIES = ("tool", "ai_function", "executor", "handoff", "create_react_agent", "create_agent", "init_chat_model")
"""Functions of other packages whose results are known by their arguments."""
Def = ast.FunctionDef | ast.AsyncFunctionDef


class _Return(Exception):
    def __init__(self, value: Value) -> None:
        self.value = value


class Reading:
    """One program: its module and the modules beside it that it imports."""

    def __init__(
        self, source: PythonSource, folder: Path | None, decorated: Callable[[Def, Scope, Reading], Value | None]
    ) -> None:
        self.source = source
        self.instances: list[Instance] = []
        self._decorated = decorated
        self._folder = folder
        self._modules: dict[str, Scope] = {}
        self._calls = 0
        self._depth = 0
        self._maybe = 0
        self.module = Scope(source=source)
        self.called: set[int] = set()

    @property
    def sources(self) -> list[PythonSource]:
        """The module and those of the same folder that it imports."""
        return [self.source, *(s.source for s in self._modules.values() if s.source is not None)]

    def run(self) -> None:
        """Reads the module from top to bottom."""
        self.statements(self.source.tree.body, self.module)

    # -------------------------------------------------------------------------------------------- statements

    def statements(self, body: Iterable[ast.stmt], scope: Scope) -> None:
        for statement in body:
            self._statement(statement, scope)

    def _statement(self, statement: ast.stmt, scope: Scope) -> None:
        match statement:
            case ast.Import() | ast.ImportFrom():
                self._import(statement, scope)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                made = self._decorated(statement, scope, self)
                scope.names[statement.name] = made or Function(statement, statement.name, scope, scope_source(scope))
            case ast.ClassDef():
                scope.names[statement.name] = Class(statement, statement.name, scope, scope_source(scope))
            case ast.Assign():
                value = self.value(statement.value, scope)
                for target in statement.targets:
                    self._bind(target, value, scope)
            case ast.AnnAssign() if statement.value is not None:
                self._bind(statement.target, self.value(statement.value, scope), scope)
            case ast.AugAssign():
                self._bind(statement.target, Unknown(statement), scope)
            case ast.Expr():
                self.value(statement.value, scope)
            case ast.Return():
                raise _Return(self.value(statement.value, scope) if statement.value else Const(statement))
            case _:
                self._compound(statement, scope)

    def _compound(self, statement: ast.stmt, scope: Scope) -> None:
        match statement:
            case ast.If(test=test) if _is_main(test):
                self.statements(statement.body, scope)
            case ast.If():
                self.value(statement.test, scope)
                self._perhaps([statement.body, statement.orelse], scope)
            case ast.With() | ast.AsyncWith():
                for item in statement.items:
                    value = self.value(item.context_expr, scope)
                    if item.optional_vars is not None:
                        self._bind(item.optional_vars, value, scope)
                self.statements(statement.body, scope)
            case ast.Try():
                self.statements([*statement.body, *statement.orelse, *statement.finalbody], scope)
            case ast.For() | ast.AsyncFor():
                for name in ast.walk(statement.target):
                    if isinstance(name, ast.Name):
                        scope.names[name.id] = Unknown(statement.iter, name.id)
                self._perhaps([statement.body, statement.orelse], scope)
            case ast.While():
                self._perhaps([statement.body, statement.orelse], scope)

    def _perhaps(self, bodies: list[list[ast.stmt]], scope: Scope) -> None:
        self._maybe += 1
        try:
            for body in bodies:
                self.statements(body, scope)
        finally:
            self._maybe -= 1

    def _bind(self, target: ast.expr, value: Value, scope: Scope) -> None:
        match target:
            case ast.Name():
                if not value.name:
                    value.name = target.id
                scope.names[target.id] = value
            case ast.Tuple() | ast.List():
                known = isinstance(value, Items) and len(value.items) == len(target.elts)
                for number, part in enumerate(target.elts):
                    inner = value.items[number] if known and isinstance(value, Items) else Unknown(value.node)
                    self._bind(part, inner, scope)
            case ast.Attribute():
                owner = self.value(target.value, scope)
                if isinstance(owner, Instance):
                    owner.attributes[target.attr] = value

    def _import(self, statement: ast.Import | ast.ImportFrom, scope: Scope) -> None:
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                name = alias.asname or alias.name.partition(".")[0]
                module = alias.name if alias.asname else name
                scope.names[name] = Imported(statement, name, module, "")
            return
        module = statement.module or ""
        local = self._sibling(module, statement.level)
        for alias in statement.names:
            found = local.find(alias.name) if local else None
            name = alias.asname or alias.name
            scope.names[name] = found or Imported(statement, alias.name, module, alias.name)

    def _sibling(self, module: str, level: int) -> Scope | None:
        """The module of the same folder, if there is one."""
        if self._folder is None or not module or level > 1:
            return None
        if module not in self._modules:
            path = self._folder.joinpath(*module.split(".")).with_suffix(".py")
            if self._folder not in path.parents or not path.is_file() or len(self._modules) > 50:
                return None
            try:
                source = parse(text_of(path), module.rpartition(".")[2])
            except ImportProblem:
                return None
            scope = self._modules[module] = Scope(source=source)
            self.statements(source.tree.body, scope)
        return self._modules[module]

    # ------------------------------------------------------------------------------------------- expressions

    def value(self, node: ast.expr, scope: Scope) -> Value:
        """What an expression stands for."""
        self._depth += 1
        try:
            if self._depth > _MAX_DEPTH:
                return Unknown(node)
            return self._value(node, scope)
        finally:
            self._depth -= 1

    def _value(self, node: ast.expr, scope: Scope) -> Value:
        match node:
            case ast.Constant():
                return Const(node, value=node.value)
            case ast.Name():
                return scope.find(node.id) or Unknown(node, node.id)
            case ast.List() | ast.Tuple() | ast.Set():
                return self._items(node, scope)
            case ast.Dict():
                return self._dict(node, scope)
            case ast.JoinedStr():
                return self._joined(node, scope)
            case ast.BinOp(op=ast.Add()):
                left, right = self.value(node.left, scope), self.value(node.right, scope)
                if (
                    isinstance(left, Const)
                    and isinstance(right, Const)
                    and type(left.value) is type(right.value) is str
                ):
                    return Const(node, value=left.value + right.value)
                if isinstance(left, Items) and isinstance(right, Items):
                    return Items(node, items=[*left.items, *right.items])
                return Unknown(node)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                return Const(node, value=-number)
            case ast.Await():
                return self.value(node.value, scope)
            case ast.NamedExpr():
                value = self.value(node.value, scope)
                self._bind(node.target, value, scope)
                return value
            case ast.Lambda():
                return Function(node, "", scope, scope_source(scope))
            case ast.Attribute():
                return self._member(self.value(node.value, scope), node)
            case ast.Call():
                return self._chain(node, scope)
            case ast.Subscript():
                return self._subscript(node, scope)
        return Unknown(node)

    def _items(self, node: ast.List | ast.Tuple | ast.Set, scope: Scope) -> Value:
        found: list[Value] = []
        for part in node.elts:
            if isinstance(part, ast.Starred):
                inner = self.value(part.value, scope)
                found.extend(inner.items if isinstance(inner, Items) else [inner])
            else:
                found.append(self.value(part, scope))
        return Items(node, items=found)

    def _dict(self, node: ast.Dict, scope: Scope) -> Value:
        found: dict[Any, Value] = {}
        for key, part in zip(node.keys, node.values, strict=True):
            known = self.value(key, scope) if key is not None else None
            inner = self.value(part, scope)
            if isinstance(known, Const) and isinstance(known.value, str | int):
                found[known.value] = inner
            elif key is None and isinstance(inner, Mapping_):
                found.update(inner.items)
        return Mapping_(node, items=found)

    def _joined(self, node: ast.JoinedStr, scope: Scope) -> Value:
        parts: list[str] = []
        for part in node.values:
            found = self.value(part.value, scope) if isinstance(part, ast.FormattedValue) else part
            inner = found.value if isinstance(found, Const | ast.Constant) else None
            if not isinstance(inner, str | int | float):
                return Unknown(node)
            parts.append(str(inner))
        return Const(node, value="".join(parts))

    def _subscript(self, node: ast.Subscript, scope: Scope) -> Value:
        owner, key = self.value(node.value, scope), self.value(node.slice, scope)
        if isinstance(key, Const):
            if isinstance(owner, Mapping_) and key.value in owner.items:
                return owner.items[key.value]
            if (
                isinstance(owner, Items)
                and isinstance(key.value, int)
                and -len(owner.items) <= key.value < len(owner.items)
            ):
                return owner.items[key.value]
        if isinstance(owner, Imported | Class):
            return owner  # a generic class
        return Unknown(node)

    def _member(self, owner: Value, node: ast.Attribute) -> Value:
        if isinstance(owner, Imported):
            path = f"{owner.path}.{node.attr}" if owner.path else node.attr
            return Imported(node, "", owner.module, path)
        if isinstance(owner, Instance):
            found = owner.attributes.get(node.attr) or owner.kwargs.get(node.attr)
            if found is not None:
                return found
        return Unknown(node)

    # ------------------------------------------------------------------------------------------------- calls

    def _chain(self, node: ast.Call, scope: Scope) -> Value:
        """A call, and the calls that it is called on: ``Builder().add(a).add(b)`` is long, not deep."""
        calls = [node]
        while isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Call):
            node = node.func.value
            calls.append(node)
        found: Value | None = None
        for call in reversed(calls):
            found = self._call(call, scope, found)
        return found or Unknown(node)

    def _call(self, node: ast.Call, scope: Scope, owner: Value | None) -> Value:
        """One call; ``owner`` is what the call in front of its last dot gave, if there is one."""
        self._calls += 1
        if self._calls > _MAX_CALLS:
            message = f"Reading this program takes more than {_MAX_CALLS} calls."
            raise ImportProblem(message, "Choose a file that builds less.", node.lineno)
        if isinstance(node.func, ast.Attribute):
            owner = owner or self._listed(node.func, scope) or self.value(node.func.value, scope)
            if isinstance(owner, Instance):
                return self._method(owner, node.func.attr, node, scope)
            if isinstance(owner, Items) and node.func.attr in ("append", "extend") and len(node.args) == 1:
                added = self.value(node.args[0], scope)
                owner.items.extend(added.items if node.func.attr == "extend" and isinstance(added, Items) else [added])
                return Const(node)
            called = self._member(owner, node.func)
        else:
            called = self.value(node.func, scope)
        args, kwargs = self.arguments(node, scope)
        match called:
            case Function():
                return self.apply(called, args, kwargs, node)
            case Class():
                made = Instance(node, "", called, None, None, args, kwargs, source=scope_source(scope))
                self.instances.append(made)
                return made
            case Imported() if called.last[:1].isupper() or called.last in _FACTORIES:
                made = Instance(node, "", None, called, None, args, kwargs, source=scope_source(scope))
                self.instances.append(made)
                return made
            case Imported(module="asyncio", path="run") if args:
                return args[0]
        return Unknown(node)

    def _listed(self, called: ast.Attribute, scope: Scope) -> Items | None:
        """The list behind ``x.field.append``: made at the first time."""
        if called.attr not in ("append", "extend") or not isinstance(called.value, ast.Attribute):
            return None
        owner = self.value(called.value.value, scope)
        if not isinstance(owner, Instance):
            return None
        found = owner.attributes.get(called.value.attr) or owner.kwargs.get(called.value.attr)
        if found is None:
            found = owner.attributes[called.value.attr] = Items(called)
        return found if isinstance(found, Items) else None

    def arguments(self, node: ast.Call, scope: Scope) -> tuple[list[Value], dict[str, Value]]:
        """The arguments of a call; ``*`` and ``**`` are opened where they are known."""
        args: list[Value] = []
        for part in node.args:
            value = self.value(part.value if isinstance(part, ast.Starred) else part, scope)
            if isinstance(part, ast.Starred) and isinstance(value, Items):
                args.extend(value.items)
            else:
                args.append(value)
        kwargs: dict[str, Value] = {}
        for keyword in node.keywords:
            value = self.value(keyword.value, scope)
            if keyword.arg is not None:
                kwargs[keyword.arg] = value
            elif isinstance(value, Mapping_):
                kwargs.update({str(k): v for k, v in value.items.items()})
        return args, kwargs

    def _method(self, owner: Instance, name: str, node: ast.Call, scope: Scope) -> Value:
        args, kwargs = self.arguments(node, scope)
        if name in ("create_agent", "as_agent", "as_tool", "clone", "build", "compile"):
            made = Instance(
                node, "", None, Imported(node, name, "", name), owner, args, kwargs, source=scope_source(scope)
            )
            owner.calls.append(Call(name, args, kwargs, node, self._maybe > 0))
            self.instances.append(made)
            return made
        owner.calls.append(Call(name, args, kwargs, node, self._maybe > 0))
        if name in ("run", "run_stream", "invoke", "ainvoke", "stream"):
            return Unknown(node)
        if owner.cls is not None:
            return Unknown(node)
        return owner

    def apply(self, called: Function, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
        """What a function of the program returns for these arguments."""
        inner = Scope(parent=called.scope, source=called.source)
        if isinstance(called.node, ast.Lambda):
            self.parameters(called.node.args, args, kwargs, inner)
            return self.value(called.node.body, inner)
        if not isinstance(called.node, Def) or self._depth > _MAX_DEPTH // 2:
            return Unknown(node)
        self.called.add(id(called.node))
        self.parameters(called.node.args, args, kwargs, inner)
        self._depth += 5
        try:
            self.statements(called.node.body, inner)
        except _Return as found:
            return found.value
        finally:
            self._depth -= 5
        return Const(node)

    def parameters(self, given: ast.arguments, args: list[Value], kwargs: dict[str, Value], scope: Scope) -> None:
        names = [*given.posonlyargs, *given.args]
        defaults = dict(zip(reversed(names), reversed(given.defaults), strict=False))
        defaults.update({a: d for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True) if d is not None})
        for number, parameter in enumerate([*names, *given.kwonlyargs]):
            if number < len(args) and parameter not in given.kwonlyargs:
                scope.names[parameter.arg] = args[number]
            elif parameter.arg in kwargs:
                scope.names[parameter.arg] = kwargs[parameter.arg]
            elif parameter in defaults:
                scope.names[parameter.arg] = self.value(defaults[parameter], scope.parent or scope)
            else:
                scope.names[parameter.arg] = Unknown(parameter, parameter.arg)


def scope_source(scope: Scope | None) -> PythonSource | None:
    """The module that a scope belongs to."""
    while scope is not None:
        if scope.source is not None:
            return scope.source
        scope = scope.parent
    return None


def _is_main(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"


def decorators(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> dict[str, ast.Call | None]:
    """The names of the decorators, with their calls."""
    found: dict[str, ast.Call | None] = {}
    for decorator in node.decorator_list:
        call = decorator if isinstance(decorator, ast.Call) else None
        target = call.func if call else decorator
        found[target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")] = call
    return found
