"""TOML text of plain data; the standard library only reads it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import date, datetime, time
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")


def dumps(data: Mapping[str, Any]) -> str:
    """Tables, arrays of tables, texts, numbers, booleans, dates and arrays of these; None is left out."""
    lines: list[str] = []
    _table(data, (), lines)
    return "\n".join(lines).lstrip("\n") + "\n"


def _table(data: Mapping[str, Any], path: tuple[str, ...], lines: list[str]) -> None:
    inner: list[tuple[str, Any]] = []
    for key, value in data.items():
        if isinstance(value, Mapping) or _is_tables(value):
            inner.append((key, value))
        elif value is not None:
            lines.append(f"{_key(key)} = {_value(value)}")
    for key, value in inner:
        name = ".".join(_key(part) for part in (*path, key))
        if isinstance(value, Mapping):
            lines.extend(("", f"[{name}]"))
            _table(value, (*path, key), lines)
            continue
        for table in value:
            lines.extend(("", f"[[{name}]]"))
            _table(table, (*path, key), lines)


def _is_tables(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(v, Mapping) for v in value)


def _key(key: str) -> str:
    return key if _BARE.match(key) else _text(key)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(v) for v in value if v is not None)}]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items() if v is not None) + "}"
    raise TypeError(f"{type(value).__name__} has no TOML form")
