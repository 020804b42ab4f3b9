"""Expressions of conditions, evaluated by the kept evaluator simpleeval, narrowed to what a condition needs.

In scope are the names of :data:`NAMES`. A missing field is None; comparing None or unlike types is False. Never
``eval``; no method that can make a text long, no formatting, no comprehension, so that nothing can hang or grow.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from simpleeval import InvalidExpression, SimpleEval

from studio.document.patterns import search

NAMES = ("text", "value", "type", "state")
MAX_LENGTH = 2_000
TEXT_METHODS = frozenset({"lower", "upper", "strip", "startswith", "endswith", "count", "find", "split", "isdigit"})


class ExpressionError(ValueError):
    """The expression cannot be read. ``column`` counts from 1, 0 if unknown."""

    def __init__(self, message: str, column: int = 0) -> None:
        super().__init__(message)
        self.column = column


class UnknownName(ExpressionError):
    """The expression can be read, but a name in it means nothing now."""


class Fields:
    """A mapping whose missing fields are None; fields named like a method (``items``) are fields."""

    __slots__ = ("_data",)

    def __init__(self, data: Mapping[str, object]) -> None:
        self._data = data

    @property
    def plain(self) -> Mapping[str, object]:
        """The mapping itself."""
        return self._data

    def __getitem__(self, key: object) -> object:
        return wrapped(self._data.get(key)) if isinstance(key, str) else None

    def __contains__(self, key: object) -> bool:
        return key in self._data

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __eq__(self, other: object) -> bool:
        return self._data == (other._data if isinstance(other, Fields) else other)

    def __hash__(self) -> int:
        return id(self)

    def __str__(self) -> str:
        return str(self._data)


def wrapped(value: object) -> object:
    """A value as an expression sees it."""
    if isinstance(value, Mapping):
        return Fields(value)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [wrapped(item) for item in value]
    return value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def equal(a: object, b: object) -> bool:
    """Equality that tells True from 1."""
    return isinstance(a, bool) == isinstance(b, bool) and bool(a == b)


def ordered(compare: Callable[[Any, Any], bool]) -> Callable[[object, object], bool]:
    """A comparison of two numbers or two texts; anything else is False."""

    def compared(a: object, b: object) -> bool:
        alike = (_is_number(a) and _is_number(b)) or (isinstance(a, str) and isinstance(b, str))
        return alike and bool(compare(a, b))

    return compared


def inside(item: object, container: object) -> bool:
    """``in``: part of a text, item of a list, field of an object; False for anything else."""
    if isinstance(container, str):
        return isinstance(item, str) and item in container
    if isinstance(container, Fields | list | tuple):
        return item in container
    return False


def _calculated(calculate: Callable[[Any, Any], Any]) -> Callable[[object, object], object]:
    def result(a: object, b: object) -> object:
        if not (_is_number(a) and _is_number(b)):
            raise InvalidExpression("only numbers can be calculated with")
        return calculate(a, b)

    return result


def _joined(a: object, b: object) -> object:
    if isinstance(a, str) and isinstance(b, str):
        return a + b
    return _calculated(operator.add)(a, b)


_OPERATORS: dict[type[ast.AST], Callable[..., object]] = {
    ast.Add: _joined,
    ast.Sub: _calculated(operator.sub),
    ast.Mult: _calculated(operator.mul),
    ast.Div: _calculated(operator.truediv),
    ast.FloorDiv: _calculated(operator.floordiv),
    ast.Mod: _calculated(operator.mod),
    ast.Eq: equal,
    ast.NotEq: lambda a, b: not equal(a, b),
    ast.Gt: ordered(operator.gt),
    ast.Lt: ordered(operator.lt),
    ast.GtE: ordered(operator.ge),
    ast.LtE: ordered(operator.le),
    ast.In: inside,
    ast.NotIn: lambda a, b: not inside(a, b),
    ast.Is: lambda a, b: a is b,
    ast.IsNot: lambda a, b: a is not b,
    ast.Not: operator.not_,
    ast.USub: lambda a: -a if _is_number(a) else None,
}


def _length(value: object) -> int | None:
    return len(value) if isinstance(value, str | list | tuple | Fields) else None


def _number(value: object) -> float | None:
    try:
        return float(value) if isinstance(value, str | int | float) else None
    except (ValueError, OverflowError):
        return None


def _lower(value: object) -> str | None:
    return value.lower() if isinstance(value, str) else None


def _matches(value: object, pattern: object) -> bool:
    return isinstance(value, str) and isinstance(pattern, str) and search(pattern, value)


FUNCTIONS: Mapping[str, Callable[..., object]] = {
    "contains": lambda value, item: inside(item, value),
    "matches": _matches,
    "len": _length,
    "number": _number,
    "lower": _lower,
}
"""What an expression can call."""

_LITERALS: Mapping[str, object] = {"true": True, "false": False, "null": None}


class _Evaluator(SimpleEval):  # type: ignore[misc]
    """simpleeval with missing fields as None, a short list of text methods, lists and tuples, and little else."""

    def __init__(self, names: Mapping[str, object]) -> None:
        super().__init__(operators=dict(_OPERATORS), functions=dict(FUNCTIONS), names={**_LITERALS, **names})
        for kind in [kind for kind in self.nodes if kind not in _ALLOWED]:
            del self.nodes[kind]
        self.nodes.update({ast.List: self._eval_items, ast.Tuple: self._eval_items})

    def _eval_items(self, node: ast.List | ast.Tuple) -> list[object]:
        return [self._eval(item) for item in node.elts]

    def _eval_attribute(self, node: ast.Attribute) -> object:
        target = self._eval(node.value)
        if isinstance(target, Fields):
            return target[node.attr]
        if isinstance(target, str) and node.attr in TEXT_METHODS:
            return getattr(target, node.attr)
        return None


_ALLOWED = frozenset(
    {
        *(ast.Expr, ast.Name, ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Call),
        *(ast.Subscript, ast.Attribute, ast.Constant),
    }
)
_SYNTAX = (*_ALLOWED, ast.List, ast.Tuple, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context)


@lru_cache(maxsize=512)
def parsed(expression: str, names: tuple[str, ...] | None = NAMES) -> ast.Expr:
    """The syntax tree; ``names`` are those in scope, None: any. Raises :class:`ExpressionError` with a sentence for the
    inspector."""
    text = expression.strip()
    if not text:
        raise ExpressionError("The expression is empty.")
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"The expression is longer than {MAX_LENGTH} characters.")
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError as error:
        raise ExpressionError(f"The expression cannot be read: {error.msg}.", error.offset or len(text) + 1) from None
    except (ValueError, RecursionError, MemoryError):
        raise ExpressionError("The expression cannot be read.") from None
    _check(tree.body, names)
    return ast.Expr(value=tree.body)


def _check(tree: ast.expr, names: tuple[str, ...] | None) -> None:
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        column = getattr(node, "col_offset", -1) + 1
        match node:
            case ast.Name(id=name) if id(node) in called:
                if name not in FUNCTIONS:
                    raise ExpressionError(f"There is no function {name}; there are {', '.join(FUNCTIONS)}.", column)
            case ast.Name(id=name) if names is not None and name not in names and name not in _LITERALS:
                raise ExpressionError(f"There is no name {name}; there are {', '.join(names)}.", column)
            case ast.Attribute(value=ast.Name(id="text"), attr=attr) if names is NAMES and attr not in TEXT_METHODS:
                raise ExpressionError(f"A text has no {attr}; it has {', '.join(sorted(TEXT_METHODS))}.", column)
            case ast.operator() | ast.unaryop() | ast.cmpop() if type(node) not in _OPERATORS:
                raise ExpressionError("The expression has an operator that conditions do not know.")
            case _ if not isinstance(node, (*_SYNTAX, ast.keyword)):
                raise ExpressionError("The expression has a part that conditions do not know.", column)


def holds(expression: str, names: Mapping[str, object]) -> bool:
    """Whether the expression is true. One that cannot be read, or that fails, is False."""
    try:
        tree = parsed(expression)
        return bool(_Evaluator({name: wrapped(value) for name, value in names.items()}).eval(expression, tree))
    except (ExpressionError, InvalidExpression, ArithmeticError, LookupError, TypeError, ValueError, RecursionError):
        return False


def names_in(expression: str) -> frozenset[str]:
    """The names that an expression asks for, functions left out. Raises :class:`ExpressionError`."""
    tree = parsed(expression, None)
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    found = (n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and id(n) not in called)
    return frozenset(name for name in found if name not in _LITERALS)


def value_of(expression: str, names: Mapping[str, object]) -> object:
    """What an expression gives, with any names, as plain data. Raises :class:`ExpressionError` if it cannot be read, a
    name is not there or it fails."""
    tree = parsed(expression, None)
    for name in sorted(names_in(expression)):
        if name not in names:
            raise UnknownName(f"There is no {name} yet.")
    try:
        given = {name: wrapped(value) for name, value in names.items()}
        return _unwrapped(_Evaluator(given).eval(expression, tree))
    except (InvalidExpression, ArithmeticError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise ExpressionError(f"It gives no value: {error}") from None


def _unwrapped(value: object) -> object:
    if isinstance(value, Fields):
        return value.plain
    if isinstance(value, list | tuple):
        return [_unwrapped(item) for item in value]
    return value


def measured(expression: str, names: Mapping[str, object]) -> dict[str, object]:
    """What an expression looks at in its scope, and what is there: ``{"value.score": 6}``; nothing if it cannot be
    read."""
    try:
        tree = parsed(expression)
    except ExpressionError:
        return {}
    found: dict[str, object] = {}
    for part in _looks(tree.value):
        try:
            found[part] = value_of(part, names)
        except ExpressionError:
            continue
    return found


def _looks(node: ast.AST) -> Iterator[str]:
    """The longest ways into the scope, as they are written, in order."""
    if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and _is_way(node):
        name = ast.unparse(node)
        if name not in _LITERALS:
            yield name
        return
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("len", "number"):
        yield ast.unparse(node)  # the number counts, not what it is made of
        return
    if isinstance(node, ast.Call):
        inner = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        for part in (*inner, *node.args):
            yield from _looks(part)
        return
    for child in ast.iter_child_nodes(node):
        yield from _looks(child)


def _is_way(node: ast.AST) -> bool:
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Constant):
            return False
        node = node.value
    return isinstance(node, ast.Name)
