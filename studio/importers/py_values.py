"""What an expression of an imported program stands for, as far as that can be known without running it."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from studio.importers.python_source import PythonSource


@dataclass(slots=True, eq=False)
class Value:
    """Anything; two values are the same object of the program if they are the same object here."""

    node: ast.AST | None = None
    name: str = ""
    """The variable it was bound to first."""

    @property
    def line(self) -> int | None:
        return getattr(self.node, "lineno", None)


@dataclass(slots=True, eq=False)
class Const(Value):
    """A constant of the program."""

    value: Any = None


@dataclass(slots=True, eq=False)
class Items(Value):
    """A list or tuple whose items are known."""

    items: list[Value] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Mapping_(Value):  # noqa: N801
    """A dict with constant keys."""

    items: dict[Any, Value] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Unknown(Value):
    """Something that only running the program could tell."""


@dataclass(slots=True, eq=False)
class Imported(Value):
    """A name of another module, or an attribute of one: ``module`` and the path in it."""

    module: str = ""
    path: str = ""

    @property
    def last(self) -> str:
        return self.path.rpartition(".")[2] or self.module.rpartition(".")[2]


@dataclass(slots=True, eq=False)
class Function(Value):
    """A function or lambda; ``scope`` is where it was defined."""

    scope: Scope | None = None
    source: PythonSource | None = None


@dataclass(slots=True, eq=False)
class Class(Value):
    """A class of the program."""

    scope: Scope | None = None
    source: PythonSource | None = None


@dataclass(slots=True, eq=False)
class Instance(Value):
    """A call of a class: of the program (``cls``) or of another module (``imported``)."""

    cls: Class | None = None
    imported: Imported | None = None
    owner: Value | None = None
    args: list[Value] = field(default_factory=list)
    kwargs: dict[str, Value] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    source: PythonSource | None = None
    attributes: dict[str, Value] = field(default_factory=dict)

    @property
    def of(self) -> str:
        """The name of the class, or of the method that made it."""
        if self.cls is not None:
            return self.cls.name
        return self.imported.last if self.imported else ""


@dataclass(slots=True, eq=False)
class Call:
    """A method that was called on an instance, in order; ``maybe`` says that it stands under a condition or in a
    loop."""

    name: str
    args: list[Value]
    kwargs: dict[str, Value]
    node: ast.Call
    maybe: bool = False


@dataclass(slots=True, eq=False)
class Scope:
    """Names and what they stand for; ``parent`` is looked at next."""

    names: dict[str, Value] = field(default_factory=dict)
    parent: Scope | None = None
    source: PythonSource | None = None

    def find(self, name: str) -> Value | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.parent
        return None


def constant(value: Value | None) -> Any:
    """The plain data of a value; None for what is not known. Keys of agents and functions are left out."""
    match value:
        case Const():
            return value.value
        case Items():
            return [constant(item) for item in value.items]
        case Mapping_():
            return {key: constant(inner) for key, inner in value.items.items()}
    return None


def string(value: Value | None) -> str:
    """The value if it is a known text, else empty."""
    return value.value if isinstance(value, Const) and isinstance(value.value, str) else ""
