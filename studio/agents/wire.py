"""A request of ours as the body of a Chat Completions call."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from studio.agents.client import ChatOptions, ChatRequest
from studio.agents.messages import Data, Message, Text, ToolCall, ToolResult
from studio.agents.tools import Tool

Json = dict[str, Any]


def wire_name(author: str | None) -> str:
    """An author's name as the ``name`` field takes it: letters, digits and ``_``, at most 64; may be empty."""
    return re.sub(r"[^a-zA-Z0-9_]+", "", author or "")[:64]


def wire_messages(request: ChatRequest, *, origin: str = "", names: bool = False) -> list[Json]:
    """All messages, with one system message in front.

    Approvals, reasoning and reported errors are not sent. ``origin`` is whom the request goes to: unknown fields
    that came from there go back. ``names``: whether messages carry their author's name.
    """
    system = [request.instructions, *(m.text for m in request.messages if m.role == "system")]
    text = "\n\n".join(s for s in system if s)
    body: list[Json] = [{"role": "system", "content": text}] if text else []
    for message in request.messages:
        for entry in _entries(message, origin):
            if names and entry["role"] != "tool" and (name := wire_name(message.author)):
                entry["name"] = name
            body.append(entry)
    return body


def _entries(message: Message, origin: str) -> Iterable[Json]:
    if message.role == "tool" or any(isinstance(p, ToolResult) for p in message.parts):
        for result in (p for p in message.parts if isinstance(p, ToolResult)):
            yield {"role": "tool", "tool_call_id": result.call_id, "content": _result_text(result.result)}
    elif message.role == "assistant":
        calls = [_call(p, origin) for p in message.parts if isinstance(p, ToolCall)]
        texts = [p.text for p in message.parts if isinstance(p, Text)]
        if calls or texts:
            entry: Json = {"role": "assistant", "content": "\n".join(texts) if texts else None}
            if calls:
                entry["tool_calls"] = calls
            yield {**_kept(message.extra, origin), **entry}
    elif message.role == "user":
        content = _user_content(message)
        if content is not None:
            yield {"role": "user", "content": content}


def _user_content(message: Message) -> str | list[Json] | None:
    texts = [p.text for p in message.parts if isinstance(p, Text)]
    if not any(isinstance(p, Data) for p in message.parts):
        return "\n".join(texts) if texts or not message.parts else None
    content: list[Json] = []
    for part in message.parts:
        if isinstance(part, Text):
            content.append({"type": "text", "text": part.text})
        elif isinstance(part, Data):
            content.append({"type": "image_url", "image_url": {"url": part.uri}})
    return content


def _call(call: ToolCall, origin: str) -> Json:
    extra = _kept(call.extra, origin)
    inner = extra.pop("function", {})
    function = {**inner, "name": call.name, "arguments": call.arguments}
    return {**extra, "id": call.call_id, "type": "function", "function": function}


def _kept(extra: Mapping[str, Any], origin: str) -> Json:
    return dict(extra.get("fields", {})) if origin and extra.get("origin") == origin else {}


def _result_text(result: Any) -> str:
    if isinstance(result, str):
        return result
    return "" if result is None else json.dumps(result, ensure_ascii=False, default=str)


def wire_tools(tools: Iterable[Tool]) -> list[Json]:
    """The tools as the model sees them."""
    return [
        {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": dict(t.schema)}}
        for t in tools
    ]


def wire_options(options: ChatOptions, tools: tuple[Tool, ...], limit_name: str) -> Json:
    """The settings that were set, under the names of the protocol."""
    body: Json = {
        "temperature": options.temperature,
        "top_p": options.top_p,
        limit_name: options.max_tokens,
        "seed": options.seed,
        "stop": list(options.stop) or None,
        "reasoning_effort": options.reasoning_effort,
    }
    if tools:
        body["tools"] = wire_tools(tools)
        body["tool_choice"] = _tool_choice(options.tool_choice, tools)
        body["parallel_tool_calls"] = options.parallel_tool_calls
    if options.response_schema is not None:
        schema = dict(options.response_schema)
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": options.response_name, "schema": schema, "strict": _is_strict(schema)},
        }
    return {**{k: v for k, v in body.items() if v is not None}, **options.extra}


def _tool_choice(choice: str | None, tools: tuple[Tool, ...]) -> str | Json | None:
    if choice is None or choice in ("auto", "none", "required"):
        return choice
    if len(tools) == 1:  # a named choice is refused or ignored by some servers; with one tool it says the same
        return "required"
    return {"type": "function", "function": {"name": choice}}


def _is_strict(schema: Mapping[str, Any]) -> bool:
    """Whether the schema has the form that strict mode asks for, all the way down."""
    if schema.get("type") == "object":
        properties = schema.get("properties", {})
        if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != set(properties):
            return False
    inner = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values(), schema.get("items")]
    return all(_is_strict(s) for s in inner if isinstance(s, Mapping))
