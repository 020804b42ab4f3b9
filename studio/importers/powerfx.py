"""The part of Power Fx that is translated: conditions as expressions of ours, values as code of a function. Everything
else keeps its text.

The translation follows the documentation of the language and is not checked against an engine for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from studio.document.conditions import Condition
from studio.document.expressions import ExpressionError, parsed
from studio.importers.draft import Rule

_TOKEN = re.compile(
    r"""\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<text>"(?:[^"]|"")*")|(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)"""
    r"""|(?P<sign><>|<=|>=|&&|\|\||[=<>+\-*/&!(),.]))"""
)
_ROOTS = ("Local", "Topic", "Global", "Workflow", "inputs", "Env", "System")
_COMPARE = {"=": "==", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_MAX_LENGTH = 4_000
_MAX_DEPTH = 60


class _Untranslated(Exception):
    """Something outside the table."""


def rule(text: str) -> Rule:
    """The rule of a condition: its text, and the translation if all of it is in the table."""
    written = text.strip().removeprefix("=").strip()
    condition = translated(written)
    return Rule(written, "powerfx", "translated" if condition else "kept", condition)


def is_translatable(text: str) -> bool:
    """Whether a formula (without its ``=``) is inside the translated part."""
    return translated(text) is not None


def translated(text: str) -> Condition | None:
    """The condition for a formula; None if any of it is outside the table."""
    try:
        code = _Parser(text).formula()
    except _Untranslated:
        return None
    try:
        parsed(code)
    except ExpressionError:
        return Condition(kind="python", body=f"{_HELPERS}\nresult = bool({code})") if "str(" in code else None
    return Condition(kind="expression", expression=code)


_HELPERS = '''def number(value):
    """A number, or None."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def contains(whole, part):
    """Whether a text contains another."""
    return str(part) in str(whole or "")


def lower(value):
    """In lower case."""
    return str(value or "").lower()

'''


def value_code(text: str) -> str | None:
    """Python for the value of a formula: ``state["key"]`` and ``text`` stand for what they say, the functions are those
    of :data:`VALUE_HELPERS`; None if any of it is outside the table."""
    try:
        return _ValueParser(text).formula()
    except _Untranslated:
        return None


class _Parser:
    """One pass from the tokens to an expression."""

    _calls: Mapping[str, Callable[[list[str]], str]]

    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._at = 0
        self._depth = 0
        self._calls = _CALLS

    def formula(self) -> str:
        found = self._or()
        if self._at != len(self._tokens):
            raise _Untranslated
        return found

    def _peek(self) -> tuple[str, str]:
        return self._tokens[self._at] if self._at < len(self._tokens) else ("end", "")

    def _take(self, *signs: str) -> str | None:
        kind, value = self._peek()
        if (kind == "sign" and value in signs) or (kind == "name" and value.lower() in signs):
            self._at += 1
            return value
        return None

    def _expect(self, sign: str) -> None:
        if self._take(sign) is None:
            raise _Untranslated

    def _chain(self, part: Callable[[], str], word: str, *signs: str) -> str:
        parts = [part()]
        while self._take(*signs):
            parts.append(part())
        return parts[0] if len(parts) == 1 else f"({f' {word} '.join(parts)})"

    def _or(self) -> str:
        return self._chain(self._and, "or", "||", "or")

    def _and(self) -> str:
        return self._chain(self._compared, "and", "&&", "and")

    def _compared(self) -> str:
        left = self._joined()
        sign = self._take(*_COMPARE)
        if sign is None:
            return left
        return self._comparison(left, sign, self._joined())

    def _comparison(self, left: str, sign: str, right: str) -> str:
        return f"{left} {_COMPARE[sign]} {right}"

    def _joined(self) -> str:
        return self._chain(self._sum, "+", "&")

    def _sum(self) -> str:
        found = self._product()
        while sign := self._take("+", "-"):
            found = f"({found} {sign} {self._product()})"
        return found

    def _product(self) -> str:
        found = self._prefixed()
        while sign := self._take("*", "/"):
            found = f"({found} {sign} {self._prefixed()})"
        return found

    def _prefixed(self) -> str:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise _Untranslated
        try:
            if self._take("-"):
                return f"-{self._prefixed()}"
            following = self._tokens[self._at + 1] if self._at + 1 < len(self._tokens) else ("end", "")
            if self._take("!") or (following != ("sign", "(") and self._take("not")):
                return f"(not {self._prefixed()})"
            return self._value()
        finally:
            self._depth -= 1

    def _value(self) -> str:
        kind, value = self._peek()
        self._at += 1
        if kind == "number":
            found = value
        elif kind == "text":
            found = repr(value[1:-1].replace('""', '"'))
        elif kind == "sign" and value == "(":
            found = f"({self._or()})"
            self._expect(")")
        elif kind == "name" and self._peek() == ("sign", "("):
            found = self._call(value)
        elif kind == "name":
            found = _path(value)
        else:
            raise _Untranslated
        while self._take("."):
            kind, value = self._peek()
            self._at += 1
            if kind != "name":
                raise _Untranslated
            found += "".join(f"[{part!r}]" for part in value.split("."))
        return found

    def _call(self, name: str) -> str:
        self._expect("(")
        arguments: list[str] = []
        found_inside = name == "IsBlank" and self._peek() == ("name", "Find")
        if found_inside:
            self._at += 1
            self._expect("(")
            parts = [self._or()]
            while self._take(","):
                parts.append(self._or())
            self._expect(")")
            self._expect(")")
            if len(parts) != 2:
                raise _Untranslated
            return f"(not contains({parts[1]}, {parts[0]}))"
        while not self._take(")"):
            arguments.append(self._or())
            if not self._take(","):
                self._expect(")")
                break
        make = self._calls.get(name)
        if make is None:
            raise _Untranslated
        return make(arguments)


def _tokens(text: str) -> list[tuple[str, str]]:
    if len(text) > _MAX_LENGTH:
        raise _Untranslated
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(text) and text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise _Untranslated
        found.append((match.lastgroup, match.group(match.lastgroup)))
        at = match.end()
    return found


def _path(name: str) -> str:
    if name.lower() in ("true", "false"):
        return name.capitalize() if name.islower() else name.lower().capitalize()
    root, *rest = name.split(".")
    if root == "System" and rest:
        if rest[0] in ("LastMessage", "LastMessageText") and rest[1:] in ([], ["Text"]):
            return "text"
        if rest == ["ConversationId"]:
            return f"state[{name!r}]"
        raise _Untranslated
    if root not in _ROOTS or not rest:
        raise _Untranslated
    fixed = 3 if root == "Workflow" else 2
    parts = name.split(".")
    if len(parts) < fixed:
        raise _Untranslated
    return f"state[{'.'.join(parts[:fixed])!r}]" + "".join(f"[{part!r}]" for part in parts[fixed:])


def _one(template: str) -> Callable[[list[str]], str]:
    def make(arguments: list[str]) -> str:
        if len(arguments) != 1:
            raise _Untranslated
        return template.format(arguments[0])

    return make


def _joining(word: str) -> Callable[[list[str]], str]:
    def make(arguments: list[str]) -> str:
        if not arguments:
            raise _Untranslated
        return f"({f' {word} '.join(arguments)})" if len(arguments) > 1 else arguments[0]

    return make


def _if(arguments: list[str]) -> str:
    if len(arguments) != 3:
        raise _Untranslated
    return f"({arguments[1]} if {arguments[0]} else {arguments[2]})"


def _blank(arguments: list[str]) -> str:
    if arguments:
        raise _Untranslated
    return "None"


_CALLS: Mapping[str, Callable[[list[str]], str]] = {
    "And": _joining("and"),
    "Or": _joining("or"),
    "Not": _one("(not {0})"),
    "If": _if,
    "Blank": _blank,
    "IsBlank": _one("({0} is None or {0} == '')"),
    "Upper": _one("({0}).upper()"),
    "Lower": _one("({0}).lower()"),
    "Trim": _one("({0}).strip()"),
    "Len": _one("len({0})"),
    "Value": _one("number({0})"),
    "Text": _one("str({0})"),
    "Concatenate": _joining("+"),
    "CountRows": _one("len({0})"),
    "First": _one("({0})[0]"),
    "Last": _one("({0})[-1]"),
    "MessageText": _one("{0}"),
    "UserMessage": _one("{0}"),
    "AgentMessage": _one("{0}"),
}


class _ValueParser(_Parser):
    """Values instead of truths: a blank counts as 0 and as an empty text, as Power Fx has it."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._calls = {**_CALLS, "Concatenate": _listed("joined"), "Text": _one("joined({0})")}
        self._calls |= {name: _one(_CALLS[name](["joined({0})"])) for name in ("Upper", "Lower", "Trim", "Len")}
        self._calls |= {"CountRows": _one("len({0} or ())"), "First": _one("at({0}, 0)"), "Last": _one("at({0}, -1)")}

    def _comparison(self, left: str, sign: str, right: str) -> str:
        if sign in ("=", "<>"):
            return f"({left} {_COMPARE[sign]} {right})"
        return f"(number({left}) {_COMPARE[sign]} number({right}))"

    def _joined(self) -> str:
        parts = [self._sum()]
        while self._take("&"):
            parts.append(self._sum())
        return parts[0] if len(parts) == 1 else f"joined({', '.join(parts)})"

    def _sum(self) -> str:
        return self._numbers(self._product, "+", "-")

    def _product(self) -> str:
        return self._numbers(self._prefixed, "*", "/")

    def _numbers(self, part: Callable[[], str], *signs: str) -> str:
        found = part()
        while sign := self._take(*signs):
            found = f"({_number(found)} {sign} {_number(part())})"
        return found


def _number(code: str) -> str:
    plain = code.lstrip("-").replace(".", "", 1).isdigit() or (
        code.startswith("(") and code.endswith(")") and "number(" in code
    )
    return code if plain else f"number({code})"


def _listed(name: str) -> Callable[[list[str]], str]:
    return lambda arguments: f"{name}({', '.join(arguments)})"


VALUE_HELPERS: Mapping[str, str] = {
    "number": '''def number(value):
    """A blank counts as 0, a text as the number that it says."""
    return float(value) if isinstance(value, str) and value.strip() else value or 0
''',
    "joined": '''def joined(*parts):
    """One text; a blank is an empty one."""
    return "".join("" if part is None else str(part) for part in parts)
''',
    "contains": '''def contains(whole, part):
    """Whether a text contains another."""
    return joined(part) in joined(whole)
''',
    "at": '''def at(whole, key):
    """A field of a record or an item of a list; None if it is not there."""
    try:
        return whole[key]
    except (IndexError, KeyError, TypeError):
        return None
''',
}
"""The functions that the code of values calls, by name."""
