"""The text of a workflow file: UTF-8 JSON, stable order, one value a line. Reading runs no code."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

from pydantic import BaseModel, ValidationError

from studio.document.model import KNOWN_EDGES, KNOWN_NODES, UnknownEdge, UnknownNode, Workflow
from studio.files.locate import line_and_column, locate
from studio.files.migrations import FORMAT, VERSION, migrated
from studio.files.plain import document_data, plain_workflow
from studio.files.problems import FileProblem

MAX_BYTES = 20_000_000
"""Larger files are refused unread: a document of 10,000 nodes has a tenth of it."""

MAX_DEPTH = 200
"""More levels of nesting than any document has; deeper ones could be read but not written again."""

_KINDS: tuple[type[BaseModel], ...] = (*KNOWN_NODES.values(), UnknownNode, *KNOWN_EDGES.values(), UnknownEdge)
_TAGS = frozenset(kind.__name__ for kind in _KINDS)
"""What pydantic puts into the path of a value where it chose a class by kind."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_RESTORE = "Use a copy of the file, or one of the versions that were kept when it was saved."
_FOREIGN = "Open a file that Superstep Studio saved (*.workflow.json)."


def dumps(workflow: Workflow) -> str:
    """The text of the file of a document, with a line break at the end."""
    data = {"format": FORMAT, "version": VERSION, **plain_workflow(workflow)}
    return to_text(data) + "\n"


def to_text(data: Any, *, indent: int | None = 2) -> str:
    """JSON that every reader takes: half a surrogate pair is written as an escape, infinite numbers are refused."""
    text = json.dumps(data, ensure_ascii=False, indent=indent, allow_nan=False)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def loads(text: str) -> Workflow:
    """The document in a text. Raises :class:`FileProblem`."""
    data = _parsed(text)
    version = _version(text, data)
    try:
        data = migrated({k: v for k, v in data.items() if k not in ("format", "version")}, version)
        return Workflow.model_validate(document_data(data))
    except ValidationError as error:
        raise _misfit(text, error) from None
    except RecursionError:
        raise FileProblem("The file is nested too deeply.", _FOREIGN) from None


def decode(raw: bytes) -> str:
    """The text of a file. Raises :class:`FileProblem` for anything but UTF-8, with the place of the first bad byte."""
    if len(raw) > MAX_BYTES:
        raise too_large(len(raw))
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, column = line_and_column(raw[: error.start].decode("utf-8", "replace"), error.start)
        raise FileProblem("The file is not UTF-8 text.", _FOREIGN, line, column) from None


def too_large(size: int) -> FileProblem:
    """The problem of a file that is not even tried."""
    message = f"The file has {size / 1e6:.0f} MB; workflow files have at most {MAX_BYTES / 1e6:.0f} MB."
    return FileProblem(message, _FOREIGN)


def _parsed(text: str) -> dict[str, Any]:
    if not text.strip():
        raise FileProblem("The file is empty.", _RESTORE)
    try:
        data = json.loads(text, parse_constant=_no_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise _unreadable(text, error) from None
    except RecursionError:
        raise FileProblem("The file is nested too deeply.", _FOREIGN) from None
    except ValueError as error:
        raise FileProblem(f"The file cannot be read: {error}.", _RESTORE) from None
    if _is_deeper(data, MAX_DEPTH):
        raise FileProblem("The file is nested too deeply.", _FOREIGN)
    if not isinstance(data, dict) or "format" not in data:
        raise FileProblem("The file is not a workflow of Superstep Studio.", _FOREIGN, 1, 1)
    return data


def _is_deeper(data: Any, limit: int) -> bool:
    """Whether lists and objects lie in each other more than ``limit`` times."""
    level = [data]
    for _ in range(limit):
        items = [v.values() if isinstance(v, dict) else v for v in level if isinstance(v, dict | list)]
        level = [inner for item in items for inner in item]
        if not level:
            return False
    return True


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


def _finite(written: str) -> float:
    value = float(written)
    if math.isinf(value):
        raise ValueError(f"the number {written[:20]} is too large")
    return value


def _unreadable(text: str, error: json.JSONDecodeError) -> FileProblem:
    if re.search(r"^(<{7}|={7}|>{7})( |$)", text, re.MULTILINE):
        message, way_out = "The file holds an unfinished merge.", "Finish the merge of your version control first."
        return FileProblem(message, way_out, error.lineno, error.colno)
    if not text.lstrip().startswith("{"):
        return FileProblem("The file is not a workflow of Superstep Studio.", _FOREIGN, error.lineno, error.colno)
    rest = text[error.pos :].strip()
    if not rest or error.msg.startswith("Unterminated"):
        return FileProblem("The file ends too early: a part of it is missing.", _RESTORE, error.lineno, error.colno)
    return FileProblem(f"The file is damaged: {error.msg}.", _RESTORE, error.lineno, error.colno)


def _version(text: str, data: dict[str, Any]) -> int:
    if data["format"] != FORMAT:
        line, column = locate(text, ["format"])
        raise FileProblem(f"The file has the format {str(data['format'])[:40]!r}.", _FOREIGN, line, column)
    version = data.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        line, column = locate(text, ["version"])
        raise FileProblem("The file does not say which version of the format it has.", _RESTORE, line, column)
    if version > VERSION:
        line, column = locate(text, ["version"])
        message = f"The file has version {version} of the format; this program reads up to version {VERSION}."
        way_out = "Update Superstep Studio, or save the file there in the older version."
        raise FileProblem(message, way_out, line, column)
    return version


def _misfit(text: str, error: ValidationError) -> FileProblem:
    first = error.errors(include_url=False)[0]
    path = [step for step in first["loc"] if step not in _TAGS]
    if path[:1] == ["places"]:
        path = ["geometry", *path]
    line, column = locate(text, path)
    where = ".".join(str(step) for step in path) or "the file"
    more = f" There are {error.error_count() - 1} more problems." if error.error_count() > 1 else ""
    message = f"The value of {where} does not fit: {first['msg'].lower()}.{more}"
    return FileProblem(message, _RESTORE, line, column)
