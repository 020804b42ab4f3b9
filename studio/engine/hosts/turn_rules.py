"""The rules of a hosted turn, as pure functions: whose messages change role, what goes on, what waits for an answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from uuid import uuid4

from studio.agents.messages import (
    AgentReply,
    AgentUpdate,
    ApprovalRequest,
    ApprovalResponse,
    Data,
    ErrorPart,
    Message,
    Part,
    Role,
    Text,
    ToolCall,
    ToolResult,
    UsagePart,
)

_PORTABLE = (Text, Data, ToolCall, ToolResult, ApprovalRequest, ApprovalResponse, ErrorPart)


class DuplicateRequest(ValueError):
    """An agent asked twice with one id in one reply."""


def reassigned(message: Message, identity: str) -> Message:
    """The message as another agent's words: an assistant message of somebody else becomes one of the user.

    Only if it holds nothing but text, data and usage; calls and results must keep their role. The original stays.
    """
    if message.role != "assistant" or message.author == identity:
        return message
    return replace(message, role="user") if all(_speech(part) for part in message.parts) else message


def _speech(part: Part) -> bool:
    return isinstance(part, Text | UsagePart) or (isinstance(part, Data) and part.type != "hosted_file")


def portable(messages: Iterable[Message]) -> list[Message]:
    """What goes on of a reply: no reasoning, no usage; a message that is empty then is dropped."""
    kept: list[Message] = []
    for message in messages:
        parts = tuple(part for part in message.parts if isinstance(part, _PORTABLE))
        if parts:
            kept.append(message if len(parts) == len(message.parts) else replace(message, parts=parts))
    return kept


@dataclass(frozen=True, slots=True)
class Unserviced:
    """What a reply leaves open, by id, in order of appearance."""

    approvals: dict[str, ApprovalRequest] = field(default_factory=dict)
    calls: dict[str, ToolCall] = field(default_factory=dict)


def unserviced(reply: AgentReply) -> Unserviced:
    """Approvals without a response and calls without a result. Raises :class:`DuplicateRequest`.

    A call that an approval asks for is not asked for a second time. If the agent says itself what it waits for, other
    calls without a result only wait for their siblings and are its own business.
    """
    found = Unserviced()
    for part in (part for message in reply.messages for part in message.parts):
        match part:
            case ApprovalRequest():
                if part.id in found.approvals:
                    raise DuplicateRequest(f"two approvals with the id {part.id!r}")
                found.approvals[part.id] = part
            case ApprovalResponse():
                found.approvals.pop(part.id, None)
            case ToolCall():
                if part.call_id in found.calls:
                    raise DuplicateRequest(f"two calls with the id {part.call_id!r}")
                found.calls[part.call_id] = part
            case ToolResult():
                found.calls.pop(part.call_id, None)
    for approval in found.approvals.values():
        found.calls.pop(approval.call.call_id, None)
    named = {part.call_id for part in reply.requests if isinstance(part, ToolCall)}
    if reply.requests:
        for id in [id for id in found.calls if id not in named]:
            del found.calls[id]
    return found


class MessageIds:
    """Ids for the updates of one streamed reply that come without, so that the chunks of one message stay together.

    A generated id is kept until the response, or a known role, changes, or an update brings an id of its own. An update
    that shows nothing keeps its missing id.
    """

    def __init__(self) -> None:
        self._current: str | None = None
        self._response: str | None = None
        self._role: Role | None = None
        self._seen: list[tuple[Role, str]] = []

    def named(self, update: AgentUpdate) -> AgentUpdate:
        """The update with an id, if it shows anything."""
        own = (update.message_id or "").strip()
        if own:
            self._current = None
            self._note(update.role, own)
            return update
        if not any(not isinstance(part, Text) or part.text for part in update.parts):
            return update
        if self._current is None or update.response_id != self._response or update.role != self._role:
            self._current, self._response, self._role = uuid4().hex, update.response_id, update.role
        self._note(update.role, self._current)
        return replace(update, message_id=self._current)

    def _note(self, role: Role, id: str) -> None:
        if (role, id) not in self._seen:
            self._seen.append((role, id))

    def carried_over(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """The messages of the whole reply, with the ids under which their chunks were shown."""
        waiting = list(self._seen)
        taken: list[Message] = []
        for message in messages:
            at = next((n for n, (role, _) in enumerate(waiting) if role == message.role), None)
            if at is None:
                taken.append(message)
                continue
            _, id = waiting[at]
            del waiting[: at + 1]
            taken.append(message if message.id is not None else replace(message, id=id))
        return tuple(taken)
