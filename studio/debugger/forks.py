"""Edits of what waits at a checkpoint: the edited state is a checkpoint of its own, the original stays as it was."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from studio.agents.messages import AgentRequest, AgentResponse, Message, Text
from studio.checkpoints import Checkpoint, QueuedMessage
from studio.engine.values import Record

Reset = Literal["conversation", "node"]
"""The node begins a new conversation, and what waits for it stays; or it is as new, and its open questions are gone."""
_TALK = ("session", "emit")
"""What a node saves of a conversation, in both hosts and the runner."""


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
    resets: Mapping[str, Reset] = field(default_factory=dict)
    """What begins anew, by node."""

    def __bool__(self) -> bool:
        return (
            bool(self.texts or self.dropped or self.added or self.conversations or self.resets)
            or self.state is not None
        )

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

    def with_conversation(self, node: str, messages: Iterable[Message]) -> QueueEdits:
        """The same with another memory of a node, which then does not begin anew."""
        changed = {**self.conversations, node: tuple(messages)}
        return replace(self, conversations=changed, resets={n: r for n, r in self.resets.items() if n != node})

    def with_reset(self, node: str, reset: Reset | None) -> QueueEdits:
        """The same with a node that begins anew; None: it goes on as it was."""
        others = {n: r for n, r in self.resets.items() if n != node}
        kept = {n: m for n, m in self.conversations.items() if n != node}
        return replace(self, conversations=kept, resets=others if reset is None else {**others, node: reset})

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
        for reset in dict.fromkeys(self.resets.values()):
            parts.append(f"{reset} reset")
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
        if not isinstance(changed.get(node, {}).get("session"), Mapping):
            raise EditProblem(f"{node} remembers no conversation at this checkpoint.")
        for name in _sharing(changed, node):
            saved = changed[name]
            changed[name] = {**saved, "session": {**saved["session"], "messages": list(messages)}}
    return changed


def _sharing(executors: Mapping[str, Mapping[str, Any]], node: str) -> list[str]:
    """The nodes that remember the same conversation, this one first."""

    def session(name: str) -> Any:
        found = executors.get(name, {}).get("session")
        return found.get("id") if isinstance(found, Mapping) else None

    id = session(node)
    return [node, *(name for name in executors if id is not None and name != node and session(name) == id)]


def _with_resets(
    executors: Mapping[str, Mapping[str, Any]], resets: Mapping[str, Reset]
) -> dict[str, Mapping[str, Any]]:
    changed = dict(executors)
    for node, reset in resets.items():
        for name in _sharing(changed, node):
            saved = changed.get(name, {})
            changed[name] = {key: value for key, value in saved.items() if key not in _TALK}
        if reset == "node":
            changed[node] = {}
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
        executors=_with_resets(_with_conversations(original.executors, edits.conversations), edits.resets),
        requests=tuple(r for r in original.requests if edits.resets.get(r.node) != "node"),
        name="",
    )
