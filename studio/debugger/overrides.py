"""The run configuration of a workflow: pinned replies, muted nodes, mocked tools. Never part of the drawing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from studio.engine.events import Event, NodeEvent


@dataclass(frozen=True, slots=True)
class Pin:
    """What a node gives instead of being called. ``value``: a text, or JSON for a node that gives data. ``origin``: the
    run it was taken from, in words; "" for one that was typed."""

    value: Any
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Mock:
    """What a tool gives instead of being run: a result, or the text of an error."""

    result: Any = None
    error: str = ""


@dataclass(slots=True)
class Overrides:
    """The live configuration; changes hold for a run in progress. Nodes by path, tools by name."""

    pins: dict[str, Pin] = field(default_factory=dict)
    muted: set[str] = field(default_factory=set)
    mocks: dict[str, Mock] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.pins or self.muted or self.mocks)

    def to_json(self) -> dict[str, Any]:
        """As the view state keeps it."""
        return {
            "pins": {path: {"value": p.value, "origin": p.origin} for path, p in self.pins.items()},
            "muted": sorted(self.muted),
            "mocks": {name: {"result": m.result, "error": m.error} for name, m in self.mocks.items()},
        }

    def take(self, kept: object) -> None:
        """Becomes what was kept; what nobody of ours wrote is left out."""
        given = kept if isinstance(kept, Mapping) else {}
        pins, muted, mocks = given.get("pins"), given.get("muted"), given.get("mocks")
        self.pins = {
            str(path): Pin(pin.get("value"), str(pin.get("origin", "")))
            for path, pin in (pins.items() if isinstance(pins, Mapping) else ())
            if isinstance(pin, Mapping)
        }
        self.muted = {str(path) for path in muted} if isinstance(muted, list) else set()
        self.mocks = {
            str(name): Mock(mock.get("result"), str(mock.get("error", "")))
            for name, mock in (mocks.items() if isinstance(mocks, Mapping) else ())
            if isinstance(mock, Mapping)
        }

    def take_told(self, event: Event) -> None:
        """Becomes what a recorded run tells that it did instead of calling nodes; results of mocks are in its tools."""
        if not isinstance(event, NodeEvent):
            return
        path = "/".join((*event.inside, event.node))
        if event.kind == "muted":
            self.muted.add(path)
        elif event.kind == "pinned" and isinstance(event.data, Mapping) and "value" in event.data:
            self.pins[path] = Pin(event.data["value"], str(event.data.get("origin", "")))

    def note(self) -> str:
        """What is not as drawn, for the list of runs: "2 pinned, 1 muted, 1 tool mocked"."""
        parts = []
        if self.pins:
            parts.append(f"{len(self.pins)} pinned")
        if self.muted:
            parts.append(f"{len(self.muted)} muted")
        if self.mocks:
            parts.append(f"{len(self.mocks)} {'tool' if len(self.mocks) == 1 else 'tools'} mocked")
        return ", ".join(parts)
