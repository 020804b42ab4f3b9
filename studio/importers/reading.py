"""Text of a source -> plain data, within limits, with the lines that things stand on."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from studio.importers.problems import MAX_ALIASES, MAX_BYTES, MAX_DEPTH, WRONG_FILE, ImportProblem, too_deep

_MAX_VALUES = 500_000
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*[\w+-]*[ \t]*\n(.*?)^[ \t]*\1[ \t]*$", re.MULTILINE | re.DOTALL)


def text_of(source: Path | str) -> str:
    """The text of a file or the text itself. Raises :class:`ImportProblem`."""
    if isinstance(source, str):
        raw = source.encode("utf-8", "surrogatepass")
    else:
        try:
            if source.is_dir():
                raise ImportProblem(f"{source.name} is a folder.", "Choose a file in it.")
            with source.open("rb") as file:
                raw = file.read(MAX_BYTES + 1)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            message = f"{source.name} cannot be opened: {reason}."
            raise ImportProblem(message, "Check that it is there and that you may read it.") from None
    if len(raw) > MAX_BYTES:
        raise ImportProblem(f"The file has more than {MAX_BYTES // 1_000_000} MB.", WRONG_FILE)
    return _decoded(raw)


def _decoded(raw: bytes) -> str:
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raw = raw.decode("utf-16", "replace").encode("utf-8")
    if raw.startswith(b"PK\x03\x04"):
        raise ImportProblem("This is a zip file.", "Unpack it and choose the workflow in it.")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode("utf-8", "replace")
        line = before.count("\n") + 1
        raise ImportProblem("The file is not UTF-8 text.", WRONG_FILE, line) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise ImportProblem("The file is not text: it contains zero bytes.", WRONG_FILE, line)
    if not text.strip():
        raise ImportProblem("The file is empty.", WRONG_FILE)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def fenced(text: str) -> str | None:
    """The one fenced block of a Markdown text; None if there is none or more than one."""
    blocks = _FENCE.findall(text)
    return blocks[0][1] if len(blocks) == 1 else None


# ------------------------------------------------------------------------------------------------------ JSON


def json_of(text: str) -> Any:
    """The value of a JSON text. Raises :class:`ImportProblem` with the place."""
    _check_depth(text)
    try:
        return json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        message = f"The file is not valid JSON: {error.msg[0].lower()}{error.msg[1:]}."
        raise ImportProblem(message, "Export it again; it may be cut off.", error.lineno, error.colno) from None
    except ValueError as error:
        raise ImportProblem(f"The file is not valid JSON: {error}.", WRONG_FILE) from None
    except RecursionError:
        raise too_deep() from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{\]}]')


def _check_depth(text: str) -> None:
    depth = 0
    for found in _JSON_TOKEN.finditer(text):
        sign = found.group()
        if sign in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise too_deep(text.count("\n", 0, found.start()) + 1)
        elif sign in "]}":
            depth -= 1


# ------------------------------------------------------------------------------------------------------ YAML


class Lines(dict[int, int]):
    """``id(mapping)`` -> the line it starts on, counted from 1."""

    def of(self, value: object) -> int | None:
        return self.get(id(value))


@dataclass(slots=True)
class YamlFile:
    """The value of a YAML text, the lines of its mappings, and the source of each of them."""

    value: Any
    lines: Lines
    spans: dict[int, tuple[int, int]]
    text: str

    def line(self, value: object) -> int | None:
        """The line on which a mapping starts."""
        return self.lines.of(value)

    def source(self, value: object) -> str:
        """The text that a mapping was written as, without the indent of its first line."""
        span = self.spans.get(id(value))
        if span is None:
            return ""
        start, end = span
        first = self.text.rfind("\n", 0, start) + 1
        indent = start - first
        lines = self.text[start:end].rstrip().split("\n")
        return "\n".join([lines[0], *(line[indent:] if not line[:indent].strip() else line for line in lines[1:])])


def yaml_of(text: str) -> YamlFile:
    """The value of a YAML text, read with a safe loader. Raises :class:`ImportProblem` with the place."""
    import yaml  # only for imports of YAML

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _check_events(yaml.parse(text, Loader=loader))
        node = yaml.compose(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = error.problem or error.context or "it cannot be read"
        place = (mark.line + 1, mark.column + 1) if mark else (None, None)
        raise ImportProblem(f"The file is not valid YAML: {what}.", "Export it again.", *place) from None
    except yaml.YAMLError as error:
        what = getattr(error, "reason", None) or str(error).partition("\n")[0]  # a sign that no YAML may have
        raise ImportProblem(f"The file is not valid YAML: {what}.", "Export it again.") from None
    except RecursionError:
        raise too_deep() from None
    made = _Construction(text)
    return YamlFile(made.value(node), made.lines, made.spans, text)


def _check_events(events: Any) -> None:
    depth, aliases = 0, 0
    for count, event in enumerate(events):
        name = type(event).__name__
        if name in ("MappingStartEvent", "SequenceStartEvent"):
            depth += 1
        elif name in ("MappingEndEvent", "SequenceEndEvent"):
            depth -= 1
        elif name == "AliasEvent":
            aliases += 1
        line = event.start_mark.line + 1
        if depth > MAX_DEPTH:
            raise too_deep(line)
        if aliases > MAX_ALIASES:
            raise ImportProblem(f"The file uses more than {MAX_ALIASES} aliases.", WRONG_FILE, line)
        if count > _MAX_VALUES:
            raise ImportProblem("The file has too many values.", WRONG_FILE, line)


_INT = re.compile(r"[-+]?(?:0|[1-9][0-9_]*)\Z")
_FLOAT = re.compile(r"[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?\Z")


@dataclass(slots=True)
class _Construction:
    """Nodes of PyYAML as plain data; aliases are expanded and counted."""

    text: str
    lines: Lines = field(default_factory=Lines)
    spans: dict[int, tuple[int, int]] = field(default_factory=dict)
    _made: int = 0
    _open: set[int] = field(default_factory=set)

    def value(self, node: Any) -> Any:
        if node is None:
            return None
        self._made += 1
        if self._made > _MAX_VALUES:
            raise ImportProblem("Aliases make the file too large.", WRONG_FILE, node.start_mark.line + 1)
        kind = type(node).__name__
        if kind == "ScalarNode":
            return _scalar(node)
        if id(node) in self._open:
            raise ImportProblem("An alias contains itself.", WRONG_FILE, node.start_mark.line + 1)
        self._open.add(id(node))
        try:
            if kind == "SequenceNode":
                return [self.value(inner) for inner in node.value]
            return self._mapping(node)
        finally:
            self._open.discard(id(node))

    def _mapping(self, node: Any) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        merged: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            key = self.value(key_node)
            if isinstance(key, dict | list):
                key = self.text[key_node.start_mark.index : key_node.end_mark.index]
            value = self.value(value_node)
            if key_node.tag == "tag:yaml.org,2002:merge":
                for part in value if isinstance(value, list) else [value]:
                    merged = {**part, **merged} if isinstance(part, dict) else merged
            else:
                found[key] = value
        made = {**merged, **found}
        self.lines[id(made)] = node.start_mark.line + 1
        self.spans[id(made)] = (node.start_mark.index, node.end_mark.index)
        return made


def _scalar(node: Any) -> Any:
    """Numbers, true, false and null as such; everything else (yes, no, dates, a bare =) is text."""
    text = node.value
    if node.style or not node.tag.startswith("tag:yaml.org,2002:") or node.tag.endswith(":str"):
        return text
    lower = text.lower()
    if lower in ("true", "false"):
        return lower == "true"
    if lower in ("", "~", "null"):
        return None
    if _INT.match(text):
        return int(text.replace("_", "")) if len(text) < 400 else text
    if _FLOAT.match(text) and any(c.isdigit() for c in text):
        return float(text.replace("_", ""))
    return text


# ------------------------------------------------------------------------------------------------- plain data


def mapping(value: object) -> dict[str, Any]:
    """The value if it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def text(value: object) -> str:
    """The value if it is a text, a number as text, else empty."""
    if isinstance(value, bool) or value is None:
        return "" if value is None else str(value).lower()
    return str(value) if isinstance(value, str | int | float) else ""


def first(values: Mapping[str, Any], *names: str) -> Any:
    """The first of these fields that is there and not None."""
    return next((values[n] for n in names if values.get(n) is not None), None)
