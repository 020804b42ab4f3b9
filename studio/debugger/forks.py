"""Edits of what waits at a checkpoint: the edited state is a checkpoint of its own, the original stays as it was."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from studio.agents.messages import AgentRequest, AgentResponse, Message, Text
from studio.checkpoints import Checkpoint, QueuedMessage
from studio.engine.values import Record


class EditProblem(ValueError):
    """The new text does not fit the message; ``str()`` is a sentence for people."""


@dataclass(frozen=True, slots=True)
class QueueEdits:
    """What a person changed of the queued messages: new texts by message id, and messages that are dropped."""

    texts: Mapping[str, str] = field(default_factory=dict)
    dropped: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.texts) or bool(self.dropped)

    def with_text(self, message: str, text: str) -> QueueEdits:
        """The same with one text more."""
        return QueueEdits({**self.texts, message: text}, self.dropped)

    def without(self, message: str) -> QueueEdits:
        """The same with one message dropped."""
        return QueueEdits({k: t for k, t in self.texts.items() if k != message}, self.dropped | {message})

    def note(self, superstep: int) -> str:
        """The branch's note, "message edited at 3"."""
        parts = []
        if self.texts:
            parts.append("message edited" if len(self.texts) == 1 else f"{len(self.texts)} messages edited")
        if self.dropped:
            parts.append("message dropped" if len(self.dropped) == 1 else f"{len(self.dropped)} messages dropped")
        return f"{', '.join(parts)} at {superstep}" if parts else f"from {superstep}"


def with_text(data: Any, text: str) -> Any:
    """``data`` with its text replaced. Raises :class:`EditProblem` if the text does not give such a value."""
    if isinstance(data, str):
        return text
    if isinstance(data, AgentResponse):
        return data.with_text(text)
    if isinstance(data, Message):
        kept = tuple(p for p in data.parts if not isinstance(p, Text))
        return replace(data, parts=(Text(text), *kept))
    if isinstance(data, AgentRequest) and data.messages:
        return replace(data, messages=(*data.messages[:-1], with_text(data.messages[-1], text)))
    if isinstance(data, list) and data and all(isinstance(m, Message) for m in data):
        return [*data[:-1], with_text(data[-1], text)]
    return _plain_with_text(data, text)


def _plain_with_text(data: Any, text: str) -> Any:
    if not isinstance(data, Record | bool | int | float | dict | list | type(None)):
        raise EditProblem(f"A message of this kind ({type(data).__name__}) has no text to edit.")
    try:
        value = json.loads(text)
    except ValueError as error:
        raise EditProblem(f"This message holds data: write it as JSON. {error}.") from None
    if isinstance(data, Record):
        if not isinstance(value, dict):
            raise EditProblem(f"A {data.type_name} is a JSON object with its fields.")
        return Record(data.type_name, value)
    number = isinstance(data, int | float) and not isinstance(data, bool)
    fits = isinstance(value, int | float) and not isinstance(value, bool) if number else isinstance(value, type(data))
    if data is not None and not fits:
        kind = {bool: "true or false", dict: "a JSON object", list: "a JSON list"}.get(type(data), "a number")
        raise EditProblem(f"This message is {kind}; the edited text is not.")
    return float(value) if isinstance(data, float) else value


def edited(messages: Iterable[QueuedMessage], edits: QueueEdits) -> tuple[QueuedMessage, ...]:
    """The queue after the edits. Raises :class:`EditProblem`."""
    queue = tuple(messages)
    missing = ({*edits.texts} | edits.dropped) - {m.id for m in queue}
    if missing:
        raise EditProblem("The edited message is not queued at this checkpoint.")
    return tuple(
        replace(m, data=with_text(m.data, edits.texts[m.id])) if m.id in edits.texts else m
        for m in queue
        if m.id not in edits.dropped
    )


def fork_checkpoint(original: Checkpoint, edits: QueueEdits, *, id: str, run: str, created: float) -> Checkpoint:
    """The checkpoint a fork starts from: the original with an edited queue, and the original as its parent."""
    return replace(
        original,
        id=id,
        parent=original.id,
        run=run,
        kind="fork",
        created=created,
        messages=edited(original.messages, edits),
        name="",
    )
