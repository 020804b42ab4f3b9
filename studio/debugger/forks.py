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
    """What a person changed of a moment. Messages by id; what is ``added`` comes last, in the order it was added."""

    texts: Mapping[str, str] = field(default_factory=dict)
    dropped: frozenset[str] = frozenset()
    added: tuple[QueuedMessage, ...] = ()
    """Duplicated and injected messages."""
    state: Mapping[str, Any] | None = None
    """The whole shared state; None: as it is."""
    conversations: Mapping[str, tuple[Message, ...]] = field(default_factory=dict)
    """What agents remember, by node."""

    def __bool__(self) -> bool:
        return bool(self.texts or self.dropped or self.added or self.conversations) or self.state is not None

    def with_text(self, message: str, text: str) -> QueueEdits:
        """The same with one text more."""
        return replace(self, texts={**self.texts, message: text})

    def without(self, message: str) -> QueueEdits:
        """The same with one message dropped; one that was added only here is simply gone."""
        added = tuple(m for m in self.added if m.id != message)
        dropped = self.dropped if len(added) < len(self.added) else self.dropped | {message}
        texts = {k: t for k, t in self.texts.items() if k != message}
        return replace(self, texts=texts, dropped=dropped, added=added)

    def with_message(self, message: QueuedMessage) -> QueueEdits:
        """The same with one message more."""
        return replace(self, added=(*self.added, message))

    def copy_of(self, original: QueuedMessage) -> QueueEdits:
        """The same with a message queued once more."""
        return self.with_message(replace(original, id=f"{original.id}+{len(self.added) + 1}"))

    def injected(self, source: str, target: str | None, data: Any) -> QueueEdits:
        """The same with a new message of ``source``, over all its edges or only towards ``target``."""
        return self.with_message(QueuedMessage(f"injected.{len(self.added) + 1}", source, target, data))

    def within(self, messages: Iterable[QueuedMessage]) -> QueueEdits:
        """What of it concerns these messages, and what is added."""
        ids = {m.id for m in messages} | {m.id for m in self.added}
        texts = {k: t for k, t in self.texts.items() if k in ids}
        return replace(self, texts=texts, dropped=self.dropped & ids)

    def note(self, superstep: int) -> str:
        """The branch's note, "message edited at 3"."""
        parts = []
        for count, what in ((len(self.texts), "edited"), (len(self.dropped), "dropped"), (len(self.added), "added")):
            if count:
                parts.append(f"message {what}" if count == 1 else f"{count} messages {what}")
        if self.state is not None:
            parts.append("state changed")
        if self.conversations:
            parts.append("conversation changed")
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
    queue = (*messages, *edits.added)
    missing = ({*edits.texts} | edits.dropped) - {m.id for m in queue}
    if missing:
        raise EditProblem("The edited message is not queued at this checkpoint.")
    return tuple(
        replace(m, data=with_text(m.data, edits.texts[m.id])) if m.id in edits.texts else m
        for m in queue
        if m.id not in edits.dropped
    )


def state_value(key: str, text: str, before: Any) -> Any:
    """A typed text as the value of a key of shared state: a text as it is, else JSON. Raises :class:`EditProblem`."""
    if isinstance(before, str):
        return text
    if isinstance(before, Record | Message | AgentResponse | AgentRequest):
        return with_text(before, text)
    try:
        return json.loads(text)
    except ValueError as error:
        raise EditProblem(f"“{key}” holds data: write it as JSON. {error}.") from None


def remembered(checkpoint: Checkpoint, node: str) -> tuple[Message, ...] | None:
    """What an agent remembers at a checkpoint; None: the node remembers nothing, it is no agent."""
    saved = checkpoint.executors.get(node, {})
    session = saved.get("session")
    return tuple(session.get("messages", ())) if isinstance(session, Mapping) else None


def _with_conversations(
    executors: Mapping[str, Mapping[str, Any]], conversations: Mapping[str, tuple[Message, ...]]
) -> dict[str, Mapping[str, Any]]:
    changed = dict(executors)
    for node, messages in conversations.items():
        saved = changed.get(node, {})
        session = saved.get("session")
        if not isinstance(session, Mapping):
            raise EditProblem(f"{node} remembers no conversation at this checkpoint.")
        changed[node] = {**saved, "session": {**session, "messages": list(messages)}}
    return changed


def fork_checkpoint(original: Checkpoint, edits: QueueEdits, *, id: str, run: str, created: float) -> Checkpoint:
    """The checkpoint a fork starts from: the original with what was changed, and the original as its parent. Raises
    :class:`EditProblem`."""
    return replace(
        original,
        id=id,
        parent=original.id,
        run=run,
        kind="fork",
        created=created,
        messages=edited(original.messages, edits),
        state=original.state if edits.state is None else dict(edits.state),
        executors=_with_conversations(original.executors, edits.conversations),
        name="",
    )
