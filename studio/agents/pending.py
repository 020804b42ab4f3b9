"""A batch of tool calls that waits for a person or for the caller, and how answers find it.

Kept in ``Session.state`` as plain JSON, so that a checkpoint carries it. A session has at most one open batch.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Literal
from uuid import uuid4

from studio.agents.messages import ApprovalRequest, ApprovalResponse, Message, Part, ToolCall, ToolResult
from studio.agents.tool_runs import AskAgain
from studio.agents.tools import Tool

STATE_KEY = "tool_batch"

Kind = Literal["ask", "caller", "run", "done"]


@dataclass(frozen=True, slots=True)
class PendingCall:
    """One call of the batch. "run" needs nobody, but waits for its siblings; "done" has its result already."""

    kind: Kind
    call: ToolCall
    id: str = ""
    """Id of the approval request."""
    approved: bool | None = None
    result: ToolResult | None = None
    by_person: bool = False
    """Made by a person instead of one that was refused: the model hears of it with its result."""

    @property
    def open(self) -> bool:
        """Whether an answer is still missing."""
        return (self.kind == "ask" and self.approved is None) or (self.kind == "caller" and self.result is None)

    @property
    def runs(self) -> bool:
        """Whether the tool runs here once the batch is complete."""
        return self.kind == "run" or (self.kind == "ask" and bool(self.approved))


@dataclass(frozen=True, slots=True)
class Batch:
    """The calls of one model message, in its order; then those that people make instead of refused ones."""

    calls: tuple[PendingCall, ...]

    @property
    def of_model(self) -> tuple[PendingCall, ...]:
        """The calls that the model asked for."""
        return tuple(c for c in self.calls if not c.by_person)

    @property
    def of_people(self) -> tuple[PendingCall, ...]:
        """The calls that people make."""
        return tuple(c for c in self.calls if c.by_person)

    @property
    def complete(self) -> bool:
        """Whether every answer is in."""
        return not any(c.open for c in self.calls)

    @property
    def requests(self) -> tuple[ApprovalRequest, ...]:
        """The approvals still to be asked for."""
        return tuple(ApprovalRequest(c.id, c.call) for c in self.calls if c.kind == "ask" and c.approved is None)


def pause(calls: Sequence[ToolCall], tools: Mapping[str, Tool]) -> Batch | None:
    """The batch, if one of the calls must wait; None if all may run now.

    As the framework does: once an approval is asked for, an unknown tool is asked for too; beside calls that the
    caller runs, an unknown tool is the caller's.
    """
    known = [tools.get(c.name) for c in calls]
    if any(t is not None and t.asks for t in known):
        unknown: Kind = "ask"
    elif any(t is not None and t.caller_runs for t in known):
        unknown = "caller"
    else:
        return None

    def kind(tool: Tool | None) -> Kind:
        if tool is None:
            return unknown
        return "ask" if tool.asks else "caller" if tool.caller_runs else "run"

    kinds = [kind(t) for t in known]
    return Batch(
        tuple(
            PendingCall(k, c, f"approval_{uuid4().hex}" if k == "ask" else "")
            for c, k in zip(calls, kinds, strict=True)
        )
    )


def needs_keeping(batch: Batch) -> bool:
    """Whether the batch must be remembered: a lone caller-run batch is answered by plain tool messages."""
    return any(c.kind != "caller" for c in batch.calls)


def with_requests(message: Message, batch: Batch, *, streamed: bool) -> Message:
    """The model's message with the approval requests of the batch added.

    Where they stand decides the order of a turn's requests. As in the framework they follow the calls; only in a
    whole answer that also has calls for the caller each stands beside its call.
    """
    asked = {id(c.call): ApprovalRequest(c.id, c.call) for c in batch.calls if c.kind == "ask"}
    if streamed or not any(c.kind == "caller" for c in batch.calls):
        return replace(message, parts=(*message.parts, *asked.values()))
    parts: list[Part] = []
    for part in message.parts:
        parts.append(part)
        if id(part) in asked:
            parts.append(asked[id(part)])
    return replace(message, parts=tuple(parts))


def take_answers(batch: Batch, messages: Iterable[Message]) -> tuple[Batch, bool]:
    """The batch with the answers found in ``messages``, and whether there were any.

    The first answer to a request counts. As in the framework an approval is for the call as it was asked for; other
    arguments are a refusal and a call by the person, who needs no leave for it.
    """
    calls = list(batch.calls)
    made: list[PendingCall] = []
    found = False
    for part in (p for m in messages for p in m.parts):
        for i, pending in enumerate(calls):
            if isinstance(part, ApprovalResponse) and pending.kind == "ask" and part.id == pending.id:
                if pending.approved is None:
                    instead = part.instead if _same_tool(part.instead, pending.call) else None
                    calls[i] = replace(pending, approved=part.approved and instead is None)
                    if instead is not None:
                        made.append(PendingCall("ask", instead, approved=True, by_person=True))
                    found = True
                break
            if isinstance(part, ToolResult) and pending.kind == "caller" and part.call_id == pending.call.call_id:
                calls[i] = replace(pending, result=part)
                found = True
                break
    return Batch((*calls, *made)), found


def with_other_arguments(request: ApprovalRequest, arguments: str) -> ApprovalResponse:
    """The answer of a person who wants the call with other ``arguments`` (JSON text).

    An approval is bound to the arguments it was asked for, so this refuses, and the person makes a call of the same
    tool. Its id is the same in every run of a recording; it has the length and letters of the provider's, which some
    providers check. Arguments that only are written differently are an approval.
    """
    call = request.call
    if _value(arguments) == _value(call.arguments):
        return ApprovalResponse(request.id, True, call)
    digest = sha256(f"{call.call_id} {arguments}".encode()).hexdigest()[:8]
    kept = call.call_id[:-8] if len(call.call_id) > 8 else call.call_id
    made = replace(call, call_id=f"{kept}{digest}", arguments=arguments)
    return ApprovalResponse(request.id, False, call, instead=made)


def _value(arguments: str) -> Any:
    try:
        return json.loads(arguments or "{}")
    except ValueError:
        return arguments


def calls_of_people(batch: Batch) -> tuple[Message, ...]:
    """The calls that people made and their results, as the model sees them; nothing if there are none."""
    made = [c for c in batch.of_people if c.result is not None]
    if not made:
        return ()
    results = tuple(c.result for c in made if c.result is not None)
    return (Message("assistant", tuple(c.call for c in made)), Message("tool", results))


def settled(pending: PendingCall, result: ToolResult | AskAgain) -> PendingCall:
    """The call with its result; one whose arguments changed after the approval is asked for once more, as it is now."""
    if pending.kind in ("caller", "done") and pending.result is not None:
        return pending
    if isinstance(result, AskAgain):
        return PendingCall("ask", result.call, f"approval_{uuid4().hex}", by_person=pending.by_person)
    return PendingCall("done", pending.call, result=result, by_person=pending.by_person)


def _same_tool(made: ToolCall | None, asked: ToolCall) -> bool:
    """Whether a person's call is for the tool that was asked about, under an id of its own."""
    return made is not None and made.name == asked.name and made.call_id != asked.call_id


# --------------------------------------------------------------------------------------- in the session's state


def load(state: Mapping[str, Any]) -> Batch | None:
    """The open batch of a session's state."""
    entries = state.get(STATE_KEY)
    if not entries:
        return None
    return Batch(tuple(_load_call(e) for e in entries))


def _load_call(entry: Mapping[str, Any]) -> PendingCall:
    call = ToolCall(entry["call_id"], entry["name"], entry["arguments"], entry.get("extra", {}))
    result = entry.get("result")
    return PendingCall(
        entry["kind"],
        call,
        entry.get("id", ""),
        entry.get("approved"),
        ToolResult(call.call_id, result["value"], result["error"]) if result else None,
        entry.get("by_person", False),
    )


def dump(batch: Batch) -> list[dict[str, Any]]:
    """The batch as plain JSON."""
    entries: list[dict[str, Any]] = []
    for c in batch.calls:
        entry: dict[str, Any] = {
            "kind": c.kind,
            "id": c.id,
            "call_id": c.call.call_id,
            "name": c.call.name,
            "arguments": c.call.arguments,
            "extra": dict(c.call.extra),
            "approved": c.approved,
        }
        if c.result is not None:
            entry["result"] = {"value": c.result.result, "error": c.result.error}
        if c.by_person:
            entry["by_person"] = True
        entries.append(entry)
    return entries


# --------------------------------------------------------------------------------------- what the model is shown


def without(messages: Sequence[Message], drop: tuple[type, ...]) -> list[Message]:
    """The messages without parts of these types; a message that is empty then is left out."""
    free_of = frozenset(drop).isdisjoint
    kept = [message for message in messages if free_of(map(type, message.parts))]
    if len(kept) == len(messages):  # nearly always; a whole conversation is looked through in every turn
        return kept
    kept.clear()
    for message in messages:
        parts = tuple(part for part in message.parts if type(part) not in drop)
        if len(parts) == len(message.parts):
            kept.append(message)
        elif parts:
            kept.append(replace(message, parts=parts))
    return kept


def hide_open_calls(messages: Sequence[Message], batch: Batch) -> list[Message]:
    """The messages without the calls of an unanswered batch (no provider takes a call without a result)."""
    ids = {c.call.call_id for c in batch.of_model}
    kept = list(messages)
    for i in range(len(kept) - 1, -1, -1):
        message = kept[i]
        if not ids <= {p.call_id for p in message.parts if isinstance(p, ToolCall)}:
            continue
        parts = tuple(p for p in message.parts if not _belongs(p, ids))
        kept[i : i + 1] = [replace(message, parts=parts)] if parts else []
        break
    return kept


def _belongs(part: Part, ids: set[str]) -> bool:
    if isinstance(part, ToolCall):
        return part.call_id in ids
    return isinstance(part, ApprovalRequest) and part.call.call_id in ids
