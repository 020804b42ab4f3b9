"""Requests as forms: what is asked, which kind of answer is wanted, and the value that an answer becomes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from studio.agents.messages import ApprovalRequest, ApprovalResponse, ToolCall, ToolResult
from studio.assembly.people import QUESTION
from studio.assembly.texts import value_text
from studio.bridge.run_views import RequestView
from studio.engine.events import RequestRaised
from studio.engine.values import Record, plain

_ANSWER_TYPES = {
    **dict.fromkeys(("str", "text", "any", "none", ""), "text"),
    **dict.fromkeys(("bool", "boolean"), "bool"),
    **dict.fromkeys(("int", "float", "integer", "number"), "number"),
}


def request_view(event: RequestRaised, superstep: int, schemas: Mapping[str, dict[str, Any]]) -> RequestView:
    """The form of a request. ``schemas``: those of the document's declared types."""
    data = event.data
    kind: Literal["question", "approval", "call"] = "question"
    choices: tuple[str, ...] = ()
    question, written = value_text(data), event.response_type
    if isinstance(data, ApprovalRequest):
        kind, written, question = "approval", "bool", f"Run {data.call.name}?"
    elif isinstance(data, ToolCall):
        kind, written, question = "call", "text", f"Give the result of {data.name}"
    elif isinstance(data, Record) and data.type_name == QUESTION:
        asked = data.plain()
        question, written, choices = str(asked["text"]), str(asked["answer_type"]), tuple(asked["choices"])
    return RequestView(
        event.request,
        event.node,
        kind,
        question,
        "choice" if choices else _ANSWER_TYPES.get(written, written),
        choices,
        schemas.get(written),
        data,
        superstep,
        event.t,
    )


def answer_value(request: RequestView, answer: Any) -> Any:
    """What the engine takes for an answer of a form.

    An approval is a bool, or a mapping with ``approved`` and ``arguments`` (JSON text or an object); a call's answer is
    its result; a number or a declared type may be given as text. Raises ``ValueError`` with a sentence.
    """
    data = request.data
    if isinstance(data, ApprovalRequest) and not isinstance(answer, ApprovalResponse):
        return _approval(data, answer)
    if isinstance(data, ToolCall) and not isinstance(answer, ToolResult):
        return ToolResult(data.call_id, answer)
    if isinstance(answer, str):
        if request.answer_type == "number":
            return _number(answer)
        if request.answer_type == "bool":
            return answer.strip().lower() in ("yes", "true", "1")
        if request.answer_type not in ("text", "choice"):
            return _json(answer, request.answer_type)
    return answer


def _approval(request: ApprovalRequest, answer: Any) -> ApprovalResponse:
    if not isinstance(answer, Mapping):
        return ApprovalResponse(request.id, bool(answer), request.call)
    call = request.call
    if answer.get("arguments") is not None:
        given = answer["arguments"]
        text = given if isinstance(given, str) else json.dumps(plain(given))
        call = ToolCall(call.call_id, call.name, text, call.extra)
    return ApprovalResponse(request.id, bool(answer.get("approved")), call)


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"“{text}” is not a number.") from None


def _json(text: str, type_name: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError(f"A {type_name} is written as JSON: {error}.") from None
