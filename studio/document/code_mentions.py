"""Where Python of the user surely means a state key, type, module or node id: found in its syntax tree, never run."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Iterator

Span = tuple[int, int]

_STATE_CALLS = {"get_state", "set_state"}
_HEAD = "async def run(data, ctx):\n"


def code_mentions(code: str, kind: str, name: str, *, expression: bool = False) -> Iterator[Span]:
    """Spans of ``name`` in a module, a body or (``expression``) a condition; none in code that cannot be read."""
    if name not in code:
        return
    tree, places = _read(code, expression=expression)
    if tree is None:
        return
    bound = _bound(tree)
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    for node in ast.walk(tree):
        for part in _named(node, kind, name, bound):
            start = places.offset(part)
            found = word.search(code, start, places.end(part)) if start is not None else None
            if found is not None:
                yield found.span()


class _Places:
    """Offsets in the text as it is typed, from lines and UTF-8 columns of a tree that was read with ``shift`` lines
    before it and ``indent`` columns beside it."""

    def __init__(self, code: str, shift: int, removed: int, added: int) -> None:
        self._lines = code.split("\n")
        self._shift, self._removed, self._added = shift, removed, added
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def offset(self, node: ast.expr | ast.alias | ast.stmt) -> int | None:
        return self._at(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.alias | ast.stmt) -> int:
        end = self._at(node.end_lineno or node.lineno, node.end_col_offset or 0)
        return end if end is not None else 0

    def _at(self, line: int, column: int) -> int | None:
        index = line - 1 - self._shift
        if not 0 <= index < len(self._lines):
            return None
        text = self._lines[index]
        bytes_before = max(0, column - self._added + self._removed)
        return self._starts[index] + len(text.encode("utf-8")[:bytes_before].decode("utf-8", "ignore"))


def _read(code: str, *, expression: bool) -> tuple[ast.AST | None, _Places]:
    if expression:
        first = len(code) - len(code.lstrip())
        tree = _parsed(code.strip(), "eval")
        return tree, _Places(code, 0, first, 0)
    tree = _parsed(code, "exec")
    if tree is not None:
        return tree, _Places(code, 0, 0, 0)
    plain = textwrap.dedent(code)
    cut = next((len(a) - len(b) for a, b in zip(code.split("\n"), plain.split("\n"), strict=False) if b.strip()), 0)
    body = _HEAD + textwrap.indent(plain, "    ", lambda _line: True)
    return _parsed(body, "exec"), _Places(code, 1, cut, 4)


def _parsed(source: str, mode: str) -> ast.AST | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an odd escape in the user's text is not our warning
        try:
            return ast.parse(source, mode=mode)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _bound(tree: ast.AST) -> frozenset[str]:
    """Names that the code gives another meaning."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
    return frozenset(found)


def _named(node: ast.AST, kind: str, name: str, bound: frozenset[str]) -> Iterator[ast.expr | ast.alias | ast.stmt]:
    if kind == "state":
        yield from _state(node, name, bound)
    elif kind == "type":
        yield from _type(node, name, bound)
    elif kind == "module":
        yield from _module(node, name, bound)
    elif kind == "id":
        yield from _target(node, name)


def _is_text(node: ast.AST | None, name: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == name


def _state(node: ast.AST, name: str, bound: frozenset[str]) -> Iterator[ast.expr]:
    match node:
        case ast.Call(func=ast.Attribute(attr=attr), args=[first, *_]) if attr in _STATE_CALLS and _is_text(
            first, name
        ):
            yield first
        case ast.Call(func=ast.Attribute(attr=attr), keywords=keywords) if attr in _STATE_CALLS:
            yield from (k.value for k in keywords if k.arg == "key" and _is_text(k.value, name))
        case ast.Call(func=ast.Attribute(value=ast.Name(id="state"), attr="get"), args=[first, *_]):
            if "state" not in bound and _is_text(first, name):
                yield first
        case ast.Subscript(value=ast.Name(id="state"), slice=ast.Constant() as key):
            if "state" not in bound and _is_text(key, name):
                yield key
        case ast.Attribute(value=ast.Name(id="state") as value, attr=attr) if attr == name and "state" not in bound:
            yield _Tail(node, value)


class _Tail(ast.expr):
    """The part of an attribute behind the dot."""

    def __init__(self, node: ast.Attribute, value: ast.expr) -> None:
        super().__init__()
        self.lineno, self.col_offset = value.end_lineno or node.lineno, value.end_col_offset or node.col_offset
        self.end_lineno, self.end_col_offset = node.end_lineno, node.end_col_offset


def _type(node: ast.AST, name: str, bound: frozenset[str]) -> Iterator[ast.expr | ast.alias]:
    match node:
        case ast.Name(id=found, ctx=ast.Load()) if found == name and name not in bound:
            yield node
        case ast.ImportFrom(names=names):
            yield from (alias for alias in names if alias.name == name)
        case ast.Compare(left=ast.Name(id="type"), comparators=[other]):
            options = other.elts if isinstance(other, ast.Tuple | ast.List | ast.Set) else [other]
            yield from (option for option in options if _is_text(option, name))


def _module(node: ast.AST, name: str, bound: frozenset[str]) -> Iterator[ast.expr | ast.alias | ast.stmt]:
    match node:
        case ast.Import(names=names):
            yield from (alias for alias in names if alias.name == name)
        case ast.ImportFrom(module=module, level=0) if module == name:
            yield node
        case ast.Attribute(value=ast.Name(id=found) as value) if found == name and name not in bound:
            yield value


def _target(node: ast.AST, name: str) -> Iterator[ast.expr]:
    match node:
        case ast.Call(func=ast.Attribute(attr="send_message"), args=args, keywords=keywords):
            yield from (k.value for k in keywords if k.arg == "target_id" and _is_text(k.value, name))
            if len(args) > 1 and _is_text(args[1], name):
                yield args[1]
