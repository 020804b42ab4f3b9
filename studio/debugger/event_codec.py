"""Events as JSON and back, for the log of a branch.

The same message stands in many events (queued, started, finished, the next conversation). Within one log an object
or a long text is written once and referred to by number afterwards, so that a conversation of n turns costs O(n).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any, get_args

from studio.checkpoints import Codec
from studio.engine.events import Event

_LONG_TEXT = 80
"""Texts of this many characters and more are written once."""
_ATOMS = (int, float, bool, type(None))
EVENT_TYPES: Mapping[str, type] = {cls.__name__: cls for cls in get_args(Event)}


class UnreadableLog(Exception):
    """The log does not fit this version of the program."""


class EventEncoder:
    """Encodes the events of one log, in order."""

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self._numbers: dict[int, int] = {}
        self._texts: dict[str, int] = {}
        self._kept: list[object] = []

    def encode(self, event: Event) -> dict[str, Any]:
        """One event; fields with their default value are left out."""
        encoded: dict[str, Any] = {"type": type(event).__name__}
        for f in fields(event):
            value = getattr(event, f.name)
            if f.default is MISSING or value != f.default:
                encoded[f.name] = self._value(value)
        return encoded

    def encode_value(self, value: Any) -> Any:
        """Any value that the codec knows, as :meth:`encode` writes those of events."""
        return self._value(value)

    def _value(self, value: Any) -> Any:
        if isinstance(value, _ATOMS):
            return value
        if isinstance(value, str):
            return value if len(value) < _LONG_TEXT else self._text(value)
        if isinstance(value, list):
            return [self._value(item) for item in value]
        if isinstance(value, tuple):
            return {"$": "tuple", "items": [self._value(item) for item in value]}
        if isinstance(value, dict):
            if "$" in value or not all(isinstance(key, str) for key in value):
                return {"$": "dict", "items": [[self._value(k), self._value(v)] for k, v in value.items()]}
            return {key: self._value(item) for key, item in value.items()}
        return self._object(value)

    def _text(self, text: str) -> Any:
        number = self._texts.get(text)
        if number is not None:
            return {"$": "see", "n": number}
        number = self._texts[text] = self._take(text)
        return {"$": "text", "n": number, "text": text}

    def _object(self, value: object) -> Any:
        number = self._numbers.get(id(value))
        if number is not None:
            return {"$": "see", "n": number}
        tag, parts = self._codec.open(value)
        encoded = {name: self._value(part) for name, part in parts.items()}
        number = self._numbers[id(value)] = self._take(value)
        return {"$": "object", "n": number, "tag": tag, "fields": encoded}

    def _take(self, value: object) -> int:
        self._kept.append(value)  # the reference keeps the id taken
        return len(self._kept) - 1


class EventDecoder:
    """Decodes what an :class:`EventEncoder` wrote, from the beginning of the log."""

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self._known: dict[int, Any] = {}

    def decode(self, encoded: Mapping[str, Any]) -> Event | None:
        """One event; None for a kind of event that this version does not know.

        Raises :class:`UnreadableLog`.
        """
        cls = EVENT_TYPES.get(encoded.get("type", ""))
        known = {f.name for f in fields(cls)} if cls is not None else set()
        try:
            values = {name: self._value(value) for name, value in encoded.items() if name != "type"}
            if cls is None:
                return None
            event: Event = cls(**{name: value for name, value in values.items() if name in known})
        except (KeyError, TypeError, ValueError) as error:
            raise UnreadableLog(f"An event of the log cannot be read: {error}") from error
        return event

    def decode_value(self, encoded: Any) -> Any:
        """What :meth:`EventEncoder.encode_value` was given. Raises :class:`UnreadableLog`."""
        try:
            return self._value(encoded)
        except (KeyError, TypeError, ValueError) as error:
            raise UnreadableLog(f"A value cannot be read: {error}") from error

    def _value(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._value(item) for item in value]
        if not isinstance(value, dict):
            return value
        form = value.get("$")
        if form is None:
            return {key: self._value(item) for key, item in value.items()}
        return _FORMS[form](self, value)

    def _see(self, value: Mapping[str, Any]) -> Any:
        return self._known[value["n"]]

    def _text(self, value: Mapping[str, Any]) -> Any:
        self._known[value["n"]] = value["text"]
        return value["text"]

    def _tuple(self, value: Mapping[str, Any]) -> Any:
        return tuple(self._value(item) for item in value["items"])

    def _dict(self, value: Mapping[str, Any]) -> Any:
        return {self._value(key): self._value(item) for key, item in value["items"]}

    def _object(self, value: Mapping[str, Any]) -> Any:
        parts = {name: self._value(part) for name, part in value["fields"].items()}
        made = self._known[value["n"]] = self._codec.close(value["tag"], parts)
        return made


_FORMS: Mapping[str, Callable[[EventDecoder, Mapping[str, Any]], Any]] = {
    "see": EventDecoder._see,
    "text": EventDecoder._text,
    "tuple": EventDecoder._tuple,
    "dict": EventDecoder._dict,
    "object": EventDecoder._object,
}
