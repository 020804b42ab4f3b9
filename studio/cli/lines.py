"""The JSON lines of ``run --json``: one event a line, and a last line with the result. Version 1."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from typing import Any, TextIO

from studio.cli.values import shown
from studio.engine.events import Event

VERSION = 1
_OWN_PLACE = ("t", "superstep", "node", "data")
_STEP = re.compile(r"(?<=[a-z])(?=[A-Z])")


def type_of(event_class: type) -> str:
    """The name of an event class in a line: ``SuperstepStarted`` -> ``superstep_started``."""
    return _STEP.sub("_", event_class.__name__).lower()


def event_line(event: Event, seq: int, run: str) -> dict[str, Any]:
    """An event as a line. ``data`` holds its further fields by name; the event's own data is the field ``value``."""
    line: dict[str, Any] = {"v": VERSION, "seq": seq, "t": round(event.t, 6), "run": run, "type": type_of(type(event))}
    names = [f.name for f in fields(event)]
    if "superstep" in names:
        line["superstep"] = event.superstep  # type: ignore[union-attr]
    if "node" in names and event.node is not None:  # type: ignore[union-attr]
        line["node"] = event.node  # type: ignore[union-attr]
    data = {"value": shown(event.data)} if "data" in names else {}  # type: ignore[union-attr]
    for name in names:
        if name not in _OWN_PLACE and (name != "inside" or getattr(event, name)):
            data[name] = shown(getattr(event, name))
    if data:
        line["data"] = data
    return line


class LineWriter:
    """Writes lines, each at once."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._seq = 0

    def event(self, event: Event, run: str) -> None:
        """One event."""
        self._seq += 1
        self.write(event_line(event, self._seq, run))

    def write(self, line: dict[str, Any]) -> None:
        """Any line."""
        self._out.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
        self._out.flush()
