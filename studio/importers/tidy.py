"""Code that an import writes, laid out as common formatters lay it out: what comes out of it again passes them."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator

_WIDTH = 96
"""Columns of a body: exported code has 100 and indents it by 4."""
_INDENT = "    "
_BEFORE_A_BRACKET = re.compile(r"\s*(?:(?:return|raise|await|[\w.]+ =) )*[\w.]*[(\[{]")
"""The whole line up to the bracket that it is broken at: no operator is in front of it."""
_LAID_OUT = frozenset({tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER})


def tidied(code: str) -> str:
    """The same code: quotes are double where that needs no escape, a bracket is broken where a line is too long, and no
    two blank lines follow each other. Code that is no Python is returned as it is."""
    try:
        lines = [line for statement in _statements(_double_quoted(code)) for line in statement]
    except (tokenize.TokenError, SyntaxError):
        return code
    return "\n".join(lines)


def _tokens(code: str) -> Iterator[tokenize.TokenInfo]:
    return tokenize.generate_tokens(io.StringIO(code).readline)


def _double_quoted(code: str) -> str:
    lines = code.split("\n")
    for token in _tokens(code):
        inner = token.string[1:-1]
        is_plain = token.type == tokenize.STRING and token.string[0] == "'" and token.string[:3] != "'''"
        if is_plain and '"' not in inner and "\\'" not in inner and token.start[0] == token.end[0]:
            row, (first, last) = token.start[0] - 1, (token.start[1], token.end[1])
            lines[row] = f'{lines[row][:first]}"{inner}"{lines[row][last:]}'
    return "\n".join(lines)


def _statements(code: str) -> Iterator[list[str]]:
    """The lines, a statement at a time; blank lines and comments between statements are one each."""
    lines, at = code.split("\n"), 0
    found: list[tokenize.TokenInfo] = []
    for token in _tokens(code):
        if token.type in _LAID_OUT:
            continue
        if token.type != tokenize.NEWLINE:
            found.append(token)
            continue
        first, last = found[0].start[0] - 1, token.start[0]
        yield from _between(lines[at:first])
        yield _broken(lines[first], found) if last - first == 1 else lines[first:last]
        found, at = [], last
    yield from _between(lines[at:])


def _between(lines: list[str]) -> Iterator[list[str]]:
    for before, line in zip([None, *lines], lines, strict=False):
        if line.strip() or before is None or before.strip():
            yield [line]


def _broken(line: str, tokens: list[tokenize.TokenInfo]) -> list[str]:
    """One line, or its last bracket over several: what is in it on one line if that fits, else an item a line."""
    if len(line) <= _WIDTH or tokens[-1].string not in (")", "]", "}") or tokens[-1].end[1] != len(line):
        return [line]
    depth, commas, opened = 0, [], None
    for token in reversed(tokens):
        if token.type != tokenize.OP:
            continue
        depth += (token.string in ")]}") - (token.string in "([{")
        if depth == 0:
            opened = token.end[1]
            break
        if depth == 1 and token.string == ",":
            commas.append(token.start[1])
    if opened is None or _BEFORE_A_BRACKET.fullmatch(line[:opened]) is None:
        return [line]
    outer = line[: len(line) - len(line.lstrip())]
    indent = outer + _INDENT
    inside = indent + line[opened:-1]
    if len(inside) <= _WIDTH:
        return [line[:opened], inside, outer + line[-1]]
    ends = [*reversed(commas), len(line) - 1]
    items = [line[a:b].strip(", ") for a, b in zip([opened, *ends], ends, strict=False)]
    return [line[:opened], *(f"{indent}{item}," for item in items), outer + line[-1]]
