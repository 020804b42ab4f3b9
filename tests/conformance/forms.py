"""Values of the case files and values of the engine, in both directions."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from studio.agents.messages import (
    AgentReply,
    AgentRequest,
    AgentResponse,
    AgentUpdate,
    ApprovalRequest,
    ApprovalResponse,
    Message,
    Text,
    ToolCall,
    ToolResult,
)
from studio.engine.orchestrations import HandoffUserRequest, Review
from studio.engine.types import CONTENT, fits
from studio.engine.values import (
    PlanReview,
    PlanReviewRequest,
    ProgressLedger,
    Record,
    ResetNode,
    SubRequest,
    SubResponse,
)

Form = Any


def form(value: Any) -> Form:
    """An engine value as a case file shows it."""
    if isinstance(value, list | tuple):
        return [form(item) for item in value]
    if isinstance(value, Message):
        return _message(value)
    if isinstance(value, AgentRequest):
        return {"$": "request", "messages": form(value.messages), "should_respond": value.should_respond}
    if isinstance(value, AgentResponse):
        return {
            "$": "response",
            "executor": value.executor,
            "reply": form(value.reply.messages),
            "conversation": form(value.conversation),
        }
    if isinstance(value, AgentReply):
        return {"$": "agent_reply", "messages": form(value.messages)}
    if isinstance(value, AgentUpdate):
        return {"$": "agent_update", **_text_and_parts(value)}
    if isinstance(value, SubRequest):
        shown = {"executor": value.executor, "inner_executor": value.inner_executor, "data": form(value.data)}
        return {"$": "sub_request", **shown}
    if isinstance(value, SubResponse):
        return {"$": "sub_response", "data": form(value.data)}
    if isinstance(value, HandoffUserRequest):
        return {"$": "HandoffAgentUserRequest", "agent_response": form(value.reply)}
    if isinstance(value, PlanReviewRequest):
        progress = form(value.current_progress)
        shown = {"plan": form(value.plan), "current_progress": progress, "is_stalled": value.is_stalled}
        return {"$": "plan_review_request", **shown}
    if isinstance(value, ResetNode):
        return {"$": "reset"}
    if isinstance(value, PlanReview):
        return {"$": "plan_review", "messages": form(value.review)}
    if isinstance(value, ProgressLedger):
        return dataclasses.asdict(value)
    if isinstance(value, Record):
        return form(value.plain())
    if isinstance(value, Mapping):
        return {key: form(item) for key, item in value.items()}
    if fits(value, CONTENT):
        return {"$": "content", **_part(value)}
    return value


def _message(message: Message) -> Form:
    return {"$": "message", **_text_and_parts(message)}


def _text_and_parts(value: Message | AgentUpdate) -> dict[str, Form]:
    shown: dict[str, Form] = {"role": value.role, "text": value.text}
    if value.author is not None:
        shown["author"] = value.author
    if not all(isinstance(part, Text) for part in value.parts):
        shown["parts"] = [_part(part) for part in value.parts]
    return shown


def _part(part: Any) -> dict[str, Form]:
    if isinstance(part, ToolCall):
        arguments = json.loads(part.arguments) if part.arguments else {}
        return {"type": part.type, "call_id": part.call_id, "name": part.name, "arguments": arguments}
    if isinstance(part, ToolResult):
        return {"type": part.type, "call_id": part.call_id, "result": part.result}
    if isinstance(part, ApprovalRequest):
        return {"type": part.type, "name": part.call.name, "arguments": json.loads(part.call.arguments)}
    if isinstance(part, ApprovalResponse):
        return {"type": part.type, "approved": part.approved, "name": part.call.name}
    return {"type": part.type, "text": part.text}


def value(form: Form, request: Any = None) -> Any:
    """The engine value of a case file's form. ``request`` is the data of the request that it answers."""
    if isinstance(form, list):
        return [value(item) for item in form]
    if not isinstance(form, dict):
        return form
    tag = form.get("$")
    if tag is None:
        return {key: value(item) for key, item in form.items()}
    if tag == "message":
        return Message(form["role"], (Text(form["text"]),), form.get("author"))
    if tag == "request":
        return AgentRequest(tuple(value(form["messages"])), form.get("should_respond", True))
    if tag == "agent_reply":
        return AgentReply(tuple(value(form["messages"])))
    if tag == "response":
        reply = AgentReply(tuple(value(form["reply"])))
        return AgentResponse(form["executor"], reply, tuple(value(form["conversation"])))
    if tag == "plan_review":
        return PlanReview(tuple(value(form["messages"])))
    if tag == "review":
        return Review(tuple(value(form["messages"])))
    if tag == "approve":
        return ApprovalResponse(request.id, form["approved"], request.call)
    if tag == "tool_result":
        return ToolResult(request.call_id, form["result"])
    raise NotImplementedError(f"a value of kind {tag}")


def text(value: Any) -> str:
    """ "Text of" a value, as the suite defines it."""
    if isinstance(value, str):
        return value
    if isinstance(value, Message | AgentResponse | AgentReply | AgentUpdate):
        return value.text
    if isinstance(value, AgentRequest):
        return value.messages[-1].text if value.messages else ""
    if isinstance(value, SubRequest):
        return text(value.data)
    if isinstance(value, Mapping):
        return str(value.get("text", ""))
    if isinstance(value, list | tuple):
        return " ".join(text(item) for item in value)
    return str(value)
