"""Expressions laid out as common formatters lay them out: one line if it fits, else an item a line.

Every broken bracket ends with a comma, so that a formatter leaves it broken; what is written on one line fits into
:data:`WIDTH`. A test runs ruff over all generated projects.
"""

from __future__ import annotations

import ast
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

INDENT = "    "
WIDTH = 100
"""Columns of an exported project; its ``pyproject.toml`` says the same to the formatter."""


@dataclass(frozen=True, slots=True)
class Bracket:
    """``f(a, b)``, ``[a, b]``, ``name={...}``: what stands before the items includes the opening bracket."""

    opening: str
    items: Sequence[str | Bracket | Joined | Pair]
    closing: str = ")"
    trailing: bool = True
    """Whether a broken bracket ends with a comma: not after a generator expression."""


@dataclass(frozen=True, slots=True)
class Joined:
    """Operands of ``and`` or ``or``; in round brackets where it is an operand itself or broken."""

    word: str
    parts: Sequence[str | Bracket | Joined]
    inner: bool = False


@dataclass(frozen=True, slots=True)
class Pair:
    """``key: value`` of a dict, or ``name=value`` of a call."""

    key: str
    value: str | Bracket | Joined


Expression = str | Bracket | Joined | Pair


def replaced(code: Expression, old: str, new: str) -> Expression:
    """The expression with other code in place of some."""
    match code:
        case str():
            return code.replace(old, new)
        case Pair(key, inner):
            return Pair(key, plain(replaced(inner, old, new)))
        case Joined(word, parts, inside):
            return Joined(word, [plain(replaced(part, old, new)) for part in parts], inside)
    items = [replaced(item, old, new) for item in code.items]
    return Bracket(code.opening.replace(old, new), items, code.closing, code.trailing)


def width(text: str) -> int:
    """Columns of a text: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 or unicodedata.category(c) in ("Mn", "Cf") for c in text)


def flat(code: Expression) -> str:
    """On one line."""
    match code:
        case str():
            return code
        case Pair(key, value):
            return key + flat(value)
        case Joined(word, parts, inner):
            text = f" {word} ".join(flat(part) for part in parts)
            return f"({text})" if inner else text
    return code.opening + ", ".join(flat(item) for item in code.items) + code.closing


def laid_out(code: Expression, depth: int = 0, before: str = "", after: str = "") -> str:
    """The lines of an expression at an indent. ``before`` and ``after`` stand on its first and last line. The first
    line is not indented."""
    whole = before + flat(code) + after
    if "\n" not in whole and len(INDENT) * depth + width(whole) <= WIDTH:
        return whole
    match code:
        case str():
            return whole
        case Pair(key, value):
            return laid_out(value, depth, before + key, after)
        case Joined():
            return _joined(code, depth, before, after)
    return _broken(code, depth, before, after) if code.items else whole


def _broken(code: Bracket, depth: int, before: str, after: str) -> str:
    pad, end = INDENT * (depth + 1), INDENT * depth
    last = "," if code.trailing else ""
    comma = [","] * (len(code.items) - 1) + [last]
    lines = [pad + laid_out(item, depth + 1, "", c) for item, c in zip(code.items, comma, strict=True)]
    return "\n".join([before + code.opening, *lines, end + code.closing + after])


def _joined(code: Joined, depth: int, before: str, after: str) -> str:
    if len(code.parts) == 2 and not code.inner and (ends := as_call(code.parts[1])) is not None:
        # Formatters break the arguments of a call at the end, or else at the beginning, rather than at one operator.
        first, begins = flat(code.parts[0]), as_call(code.parts[0])
        if len(INDENT) * depth + width(f"{before}{first} {code.word} {ends.opening}") <= WIDTH:
            return _broken(ends, depth, f"{before}{first} {code.word} ", after)
        rest = f" {code.word} {flat(ends)}{after}"
        if begins is not None and len(INDENT) * depth + width(begins.closing + rest) > WIDTH:
            rest = f" {code.word} {_broken(ends, depth, '', after)}"
        if begins is not None:
            return _broken(begins, depth, before, rest)
    pad, end = INDENT * (depth + 1), INDENT * depth
    words = ["", *[f"{code.word} "] * (len(code.parts) - 1)]
    lines = [pad + laid_out(part, depth + 1, word) for word, part in zip(words, code.parts, strict=True)]
    return "\n".join([before + "(", *lines, end + ")" + after])


def as_call(code: Expression) -> Bracket | None:
    """A call with arguments, or ``not`` one, that can be broken at them; None if the expression is none."""
    if isinstance(code, Bracket):
        return code if code.items else None
    if not isinstance(code, str) or not code.endswith(")"):
        return None
    call = ast.parse(code, mode="eval").body
    if isinstance(call, ast.UnaryOp) and isinstance(call.op, ast.Not):
        call = call.operand
    if not isinstance(call, ast.Call) or call.keywords or not call.args or not code.isascii():
        return None
    items = [ast.get_source_segment(code, argument) or "" for argument in call.args]
    return Bracket(code[: call.args[0].col_offset], items)


def statement(code: Expression, depth: int = 1, before: str = "", after: str = "") -> str:
    """A whole line (or lines) with its indent: ``return …``, ``name = …``."""
    return INDENT * depth + laid_out(code, depth, before, after)


def call(function: str, *arguments: Expression, **named: Expression) -> Bracket:
    """``function(a, name=b)``."""
    keywords = [Pair(f"{name}=", value) for name, value in named.items() if not isinstance(value, Pair)]
    return Bracket(f"{function}(", [*arguments, *keywords])


def listed(items: Sequence[Expression]) -> Bracket:
    """``[a, b]``."""
    return Bracket("[", list(items), "]")


def signature(name: str, parameters: Sequence[str], returns: str, depth: int = 0) -> str:
    """``def name(a: A, b: B) -> R:``; ``name`` may begin with ``async def``."""
    return statement(Bracket(f"{name}(", list(parameters)), depth, "", f" -> {returns}:")


def value(data: object) -> Expression:
    """A JSON value, or a tuple of them, as a literal."""
    match data:
        case str():
            return string(data)
        case dict():
            return Bracket("{", [Pair(f"{flat(value(k))}: ", plain(value(v))) for k, v in data.items()], "}")
        case list():
            return Bracket("[", [value(item) for item in data], "]")
        case tuple():
            closing = ",)" if len(data) == 1 else ")"
            return Bracket("(", [value(item) for item in data], closing)
    return repr(data)


def plain(code: Expression) -> str | Bracket | Joined:
    """An expression that is no pair of a dict."""
    assert not isinstance(code, Pair)
    return code


def string(text: str) -> str:
    """A string literal as formatters write it: double quotes, single ones where that saves backslashes."""
    quote = "'" if text.count('"') > text.count("'") else '"'
    return quote + "".join(_escaped(c, quote) for c in text) + quote


_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _escaped(character: str, quote: str) -> str:
    if character == quote:
        return "\\" + quote
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character == " " or (character.isprintable() and not "\ud800" <= character <= "\udfff"):
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


def text_block(text: str) -> str:
    """A long text as a literal in triple quotes at the left margin; a paragraph wider than the page goes on behind a
    backslash. Evaluates to the text exactly."""
    quotes = '"""' if '"""' not in text or "'''" in text else "'''"
    lines = [_block_line(line, quotes) for line in text.split("\n")]
    body = "\n".join(lines)
    if body.endswith(quotes[0]) and not _is_escaped(body):
        body = body[:-1] + "\\" + quotes[0]
    return f"{quotes}\\\n{body}{quotes}"


def _is_escaped(body: str) -> bool:
    """Whether the last character is behind a backslash that is not one itself."""
    before = body[:-1]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _block_line(line: str, quotes: str) -> str:
    pieces, rest = [], line
    while len(rest) > WIDTH - 2:
        cut = rest.rfind(" ", 0, WIDTH - 2) + 1
        if cut == 0:
            cut = rest.find(" ") + 1
        if cut == 0 or cut >= len(rest):
            break
        pieces.append(rest[:cut])
        rest = rest[cut:]
    written = [_in_block(piece, quotes) for piece in [*pieces, rest]]
    return "\\\n".join(written)


def _in_block(piece: str, quotes: str) -> str:
    """A piece of one line. Blanks at its end are written so that no editor strips them."""
    text = "".join(c if c in "\"'" else _escaped(c, "") for c in piece)
    return text.replace(quotes, "\\" + "\\".join(quotes))


def readable_text(text: str, depth: int = 0, room: int = 0) -> str | None:
    """The literal of a text that fits on a line below ``depth`` indents beside ``room`` other columns; None if it is
    better written as :func:`text_block`."""
    short = string(text)
    return short if "\n" not in text and width(short) + len(INDENT) * depth + room <= WIDTH else None
