"""Python text -> syntax tree, without running it, whatever version of Python it was written for.

Newer syntax is replaced by older syntax of the same length before parsing, so that every place in the tree is a place
in the original text.
"""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from dataclasses import dataclass

from studio.importers.problems import ImportProblem, too_deep

_OPENERS = re.compile(r"#[^\n]*|(?P<prefix>[A-Za-z]{0,2})(?P<quote>\"\"\"|'''|\"|')")
_TYPE_ALIAS = re.compile(r"^([ \t]*)type[ \t]+(\w+)(?:\[[^\]\n]*\])?[ \t]*=", re.MULTILINE)
_GENERIC = re.compile(
    r"^([ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+\w+)(\[[^\n\]]*(?:\[[^\n\]]*\][^\n\]]*)*\])(?=\s*[(:])", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class PythonSource:
    """A parsed module; ``text`` is what was written, ``readable`` the same for the parser of this Python."""

    text: str
    readable: str
    tree: ast.Module
    name: str = "imported"
    lines: tuple[str, ...] = ()

    def __deepcopy__(self, memo: dict[int, object]) -> PythonSource:
        return self  # parts of a tree are copied, the module they come from is not

    def segment(self, node: ast.AST | None) -> str:
        """The text of a part of the tree, as it was written."""
        if node is None:
            return ""
        first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", None) or 0
        if not first or not last:
            return ""
        lines = list(_home(node, self).lines[first - 1 : last])
        lines[-1] = lines[-1].encode()[: getattr(node, "end_col_offset", 0)].decode(errors="replace")
        lines[0] = lines[0].encode()[getattr(node, "col_offset", 0) :].decode(errors="replace")
        return "\n".join(lines)

    def code(self, node: ast.AST) -> str:
        """The text of a statement, its lines moved to the left margin."""
        first, last = getattr(node, "lineno", 1), getattr(node, "end_lineno", 1)
        lines = _home(node, self).readable.split("\n")
        return textwrap.dedent("\n".join(lines[first - 1 : last]))

    def body(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
        """The statements of a function, at the left margin, without its docstring."""
        statements = node.body
        if ast.get_docstring(node) is not None and len(statements) > 1:
            statements = statements[1:]
        lines = _home(node, self).readable.split("\n")
        first, last = statements[0], statements[-1]
        if first.lineno == node.lineno:
            return ast.unparse(ast.Module(body=list(statements), type_ignores=[]))
        above = statements is not node.body
        start = first.lineno - 1
        while not above and start > node.lineno and lines[start - 1].lstrip().startswith("#"):
            start -= 1
        return textwrap.dedent("\n".join(lines[start : last.end_lineno])).rstrip()


def parse(text: str, name: str = "imported") -> PythonSource:
    """The module. Raises :class:`ImportProblem` with the place of a syntax error."""
    readable = text
    try:
        tree = _parsed(text)
    except SyntaxError as original:
        readable = modern_as_old(text)
        try:
            tree = _parsed(readable)
        except SyntaxError as error:
            found = original if readable == text else error
            message = f"The file is not valid Python: {found.msg}."
            way_out = "Export it again; it may be cut off."
            raise ImportProblem(message, way_out, found.lineno, found.offset) from None
    except (RecursionError, MemoryError):
        raise too_deep() from None
    except ValueError as error:
        raise ImportProblem(f"The file is not valid Python: {error}.") from None
    source = PythonSource(text, readable, tree, name, tuple(text.split("\n")))
    for node in ast.walk(tree):
        node.home = source  # type: ignore[attr-defined]  # parts of several modules meet in one reading
    return source


def _home(node: ast.AST, otherwise: PythonSource) -> PythonSource:
    """The module that a part of a tree belongs to."""
    found = getattr(node, "home", otherwise)
    return found if isinstance(found, PythonSource) else otherwise


def _parsed(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def modern_as_old(text: str) -> str:
    """The text with newer syntax replaced by older syntax of the same length."""
    text = _f_strings(text)
    text = _GENERIC.sub(lambda m: m.group(1) + " " * len(m.group(2)), text)
    return _TYPE_ALIAS.sub(lambda m: f"{m.group(1)}{m.group(2)}".ljust(len(m.group()) - 1) + "=", text)


def _f_strings(text: str) -> str:
    made: list[str] = []
    at = 0
    while True:
        found = _OPENERS.search(text, at)
        if found is None:
            return "".join(made) + text[at:]
        made.append(text[at : found.start()])
        if found.group("quote") is None:
            end, written = found.end(), found.group()
        else:
            end = string_end(text, found.start())
            written = text[found.start() : end]
            if "f" in found.group("prefix").lower():
                written = _older(written, len(found.group("prefix")), found.group("quote"))
        made.append(written)
        at = end


def string_end(text: str, start: int) -> int:
    """Where a string literal ends; quotes inside the fields of an f-string do not end it."""
    found = _OPENERS.match(text, start)
    if found is None or found.group("quote") is None:
        return start + 1
    quote, prefix = found.group("quote"), found.group("prefix").lower()
    at, depth = found.end(), 0
    while at < len(text):
        doubled = "f" in prefix and depth == 0 and text.startswith(("{{", "}}"), at)
        if doubled or (text[at] == "\\" and (depth == 0 or "r" not in prefix)):
            at += 2
        elif "f" in prefix and text[at] == "{":
            depth, at = depth + 1, at + 1
        elif "f" in prefix and text[at] == "}" and depth:
            depth, at = depth - 1, at + 1
        elif depth and text[at] in "\"'" and not _ends_line_first(text, at, quote):
            at = string_end(text, at)
        elif text.startswith(quote, at):
            return at + len(quote)
        elif text[at] == "\n" and len(quote) == 1 and depth == 0:
            return at
        else:
            at += 1
    return len(text)


def _ends_line_first(text: str, at: int, quote: str) -> bool:
    """Whether a quote inside a field cannot open a string, because nothing closes it on its line."""
    if text[at] != quote[0]:
        return False
    line_end = text.find("\n", at)
    rest = text[at + 1 : line_end if line_end >= 0 else len(text)]
    return text[at] not in rest


def _older(written: str, prefix: int, quote: str) -> str:
    """An f-string for the parser before 3.12: other quotes inside its fields; a plain text of the same length where
    that is not enough."""
    body = written[prefix + len(quote) : -len(quote)]
    other = "'" if quote[0] == '"' else '"'
    if quote[0] not in body and "\\" not in body:
        return written
    swapped = body.replace(quote[0], other) if len(quote) == 1 else body
    candidate = written[: prefix + len(quote)] + swapped + quote
    try:
        _parsed(f"({candidate})")
    except (SyntaxError, ValueError):
        filler = "".join("\n" if c == "\n" else "x" for c in body)
        return " " * prefix + quote + filler + quote
    return candidate
