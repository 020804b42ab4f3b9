"""Older versions of the format, lifted to the present one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

FORMAT = "superstep-workflow"
VERSION = 1

MIGRATIONS: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""Version -> what turns a file of that version into one of the next. A new version adds its line here."""


def migrated(data: dict[str, Any], version: int) -> dict[str, Any]:
    """The data of a file of an older version as the present one. Raises ``KeyError`` if a step is missing."""
    while version < VERSION:
        data = MIGRATIONS[version](data)
        version += 1
    return data
