"""Requests as forms: what is asked, and which kind of answer is wanted."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

from studio.agents.messages import ApprovalRequest, ApprovalResponse, ToolCall
from studio.assembly.people import QUESTION
from studio.assembly.texts import value_text
from studio.bridge.run_views import AnswerView, RequestView
from studio.debugger.answers import answer_kind
from studio.document.types import BUILT_IN, item_type
from studio.engine.events import Event, RequestAnswered, RequestRaised
from studio.engine.values import Record


def answer_view(form: RequestView, value: object) -> AnswerView:
    """What was answered to a request."""
    if isinstance(form.data, ApprovalRequest):
        said: Literal["approved", "refused", "changed"] = "refused"
        if isinstance(value, ApprovalResponse):
            said = "approved" if value.approved else "refused" if value.instead is None else "changed"
        return AnswerView(form.request, form.node, said, form.data.call.name)
    if isinstance(form.data, ToolCall):
        return AnswerView(form.request, form.node, "result", form.data.name)
    return AnswerView(form.request, form.node, "answered")


def last_approved(events: Sequence[Event], node: str, tool: str) -> Mapping[str, Any] | None:
    """The arguments of the last call of this tool by this node that a person let run in these events, the latest last;
    None if there was none, or if they are no JSON object."""
    for at in range(len(events) - 1, -1, -1):
        event = events[at]
        if not isinstance(event, RequestAnswered) or event.node != node:
            continue
        said = event.value
        if isinstance(said, ApprovalResponse) and said.call.name == tool and (said.approved or said.instead):
            try:
                found = json.loads((said.instead or said.call).arguments or "{}")
            except ValueError:
                return None
            return found if isinstance(found, dict) else None
    return None


def request_view(
    event: RequestRaised,
    superstep: int,
    schemas: Mapping[str, dict[str, Any]],
    results: Mapping[str, dict[str, Any]] = MappingProxyType({}),
) -> RequestView:
    """The form of a request. ``schemas``: those of the document's declared types; ``results``: those of what callers
    give for tools, by tool."""
    data = event.data
    kind: Literal["question", "approval", "call"] = "question"
    question = value_text(data)
    choices: tuple[str, ...] = ()
    if isinstance(data, ApprovalRequest):
        kind, question = "approval", f"Run {data.call.name}?"
    elif isinstance(data, ToolCall):
        kind, question = "call", f"Give the result of {data.name}"
    elif isinstance(data, Record) and data.type_name == QUESTION:
        question, choices = str(data["text"]), tuple(data["choices"])
    wanted = answer_kind(data, event.response_type)
    schema = results.get(data.name) if isinstance(data, ToolCall) else _schema_of(wanted, schemas)
    return RequestView(
        event.request,
        event.node,
        kind,
        question,
        wanted,
        choices,
        schema,
        data,
        superstep,
        event.t,
        event.response_type,
    )


def _schema_of(wanted: str, schemas: Mapping[str, dict[str, Any]]) -> dict[str, Any] | None:
    """The schema of a declared type, or of a list of a declared or built-in one; None for what needs no schema."""
    item = item_type(wanted)
    if item is None:
        return schemas.get(wanted)
    inner = schemas.get(item) or dict(BUILT_IN.get(item, {}))
    return {"type": "array", "items": inner} if inner else None
