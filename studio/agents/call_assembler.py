"""Putting tool calls together from the pieces that providers send, each in its own way."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from studio.agents.messages import ToolCall

_KNOWN = {"id", "type", "index", "function"}
_KNOWN_IN_FUNCTION = {"name", "arguments"}


@dataclass(slots=True)
class _Building:
    index: int | None
    id: str = ""
    name: str = ""
    arguments: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


class CallAssembler:
    """Takes the ``tool_calls`` lists of a stream's deltas (or of a whole message) in order.

    Ids and names are the first non-empty ones: some providers repeat them in every piece. A new call begins with
    another id on the same index, with a name where there is no index, or with new JSON after complete JSON.
    """

    def __init__(self) -> None:
        self._calls: list[_Building] = []

    def __bool__(self) -> bool:
        return bool(self._calls)

    def feed(self, entries: Any) -> None:
        """One ``tool_calls`` list; anything that is none is ignored."""
        if not isinstance(entries, list):
            return
        for entry in entries:
            if isinstance(entry, Mapping):
                self._feed(entry)

    def _feed(self, entry: Mapping[str, Any]) -> None:
        function = entry.get("function")
        function = function if isinstance(function, Mapping) else {}
        id, name = _text(entry.get("id")), _text(function.get("name"))
        arguments = function.get("arguments")
        if arguments is None:
            arguments = ""
        elif not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)
        index = entry.get("index")
        call = self._target(index if isinstance(index, int) else None, id, name, arguments)
        call.id = call.id or id
        call.name = call.name or name
        call.arguments += arguments
        call.extra.update({k: v for k, v in entry.items() if k not in _KNOWN and v is not None})
        inner = {k: v for k, v in function.items() if k not in _KNOWN_IN_FUNCTION and v is not None}
        if inner:
            call.extra["function"] = {**call.extra.get("function", {}), **inner}

    def _target(self, index: int | None, id: str, name: str, arguments: str) -> _Building:
        if index is None:
            same = next((c for c in reversed(self._calls) if id and c.id == id), None)
            if same is not None:
                return same
            if id or name or not self._calls:
                return self._new(None)
            return self._calls[-1]
        on_index = [c for c in self._calls if c.index == index]
        if not on_index:
            return self._new(index)
        current = on_index[-1]
        if id:
            same = next((c for c in reversed(on_index) if c.id == id), None)
            if same is not None:
                return same
            if current.id:
                return self._new(index)
        if arguments.lstrip().startswith("{") and _is_json(current.arguments):
            new = self._new(index)
            new.name = name or current.name
            return new
        return current

    def _new(self, index: int | None) -> _Building:
        call = _Building(index)
        self._calls.append(call)
        return call

    @property
    def complete(self) -> bool:
        """Whether every call has whole arguments."""
        return all(not c.arguments.strip() or _is_json(c.arguments) for c in self._calls)

    def calls(self, first_number: int = 1, origin: str = "") -> tuple[ToolCall, ...]:
        """The calls in order. Missing ids become ``call_N`` from ``first_number`` on; double ones are made different.

        Unknown fields are kept under ``extra["fields"]``, with ``origin`` saying who sent them.
        """
        done: list[ToolCall] = []
        taken: set[str] = set()
        for number, call in enumerate(self._calls, first_number):
            id = call.id or f"call_{number}"
            while id in taken:
                id = f"{id}_{number}"
            taken.add(id)
            extra = {"origin": origin, "fields": call.extra} if call.extra else {}
            done.append(ToolCall(id, call.name, call.arguments.strip() or "{}", extra))
        return tuple(done)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _is_json(text: str) -> bool:
    if not text.strip():
        return False
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
