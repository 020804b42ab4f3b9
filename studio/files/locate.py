"""Line and column of a value in a JSON text, for messages about values that do not fit."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Both count from 1."""
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def locate(text: str, path: Sequence[int | str]) -> tuple[int, int]:
    """Where the value at a path begins. Steps that are not there are passed over: the last value found counts."""
    offset = _skip(text, 0)
    for step in path:
        found = _item(text, offset, step) if isinstance(step, int) else _field(text, offset, step)
        offset = offset if found is None else found
    return line_and_column(text, offset)


def _skip(text: str, offset: int) -> int:
    found = _SPACE.match(text, offset)
    return offset if found is None else found.end()


def _after(text: str, offset: int) -> int:
    """Behind the value that begins here, at the comma or bracket that follows."""
    return _skip(text, _DECODER.raw_decode(text, offset)[1])


def _field(text: str, offset: int, name: str) -> int | None:
    if not text.startswith("{", offset):
        return None
    offset = _skip(text, offset + 1)
    while text.startswith('"', offset):
        key, offset = _DECODER.raw_decode(text, offset)
        offset = _skip(text, _skip(text, offset) + 1)
        if key == name:
            return offset
        offset = _skip(text, _after(text, offset) + 1)
    return None


def _item(text: str, offset: int, index: int) -> int | None:
    if not text.startswith("[", offset):
        return None
    offset = _skip(text, offset + 1)
    for _ in range(index):
        offset = _after(text, offset)
        if not text.startswith(",", offset):
            return None
        offset = _skip(text, offset + 1)
    return offset
