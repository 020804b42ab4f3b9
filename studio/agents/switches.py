"""What is said differently to one provider than to others, and what a refusal teaches."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

LimitName = Literal["max_tokens", "max_completion_tokens"]
AnswerFormat = Literal["json_schema", "json_object", "prompt"]

_DROPPABLE = frozenset({"temperature", "top_p", "parallel_tool_calls", "reasoning_effort"})


@dataclass(frozen=True, slots=True)
class Switches:
    """Kept with a profile; every one can be set back."""

    include_usage: bool = True
    """Ask for token counts in streams."""
    limit_name: LimitName = "max_tokens"
    send_names: bool = False
    """Messages carry their author's name."""
    left_out: frozenset[str] = frozenset()
    """Settings that are not sent although they are set."""
    forced_tool: Literal["by name", "required", "never"] = "by name"
    """How a tool is forced: by its name; by "required" with no other tool in sight; not at all."""
    answer_format: AnswerFormat = "json_schema"
    """How a schema of the answer is asked for; "prompt" only asks in words."""
    strict: bool = True
    """Schemas are sent as strict where they can be."""
    null_content: bool = True
    """An assistant message of calls alone has the content null; False: an empty text."""

    def applied(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The body of a call as this provider takes it."""
        changed = {key: value for key, value in body.items() if key not in self.left_out}
        choice = changed.get("tool_choice")
        if isinstance(choice, Mapping) and self.forced_tool != "by name":
            changed["tool_choice"] = "required"
            if self.forced_tool == "required":
                changed["tools"] = [t for t in changed["tools"] if t["function"]["name"] == choice["function"]["name"]]
        if changed.get("tool_choice") == "required" and self.forced_tool == "never":
            del changed["tool_choice"]
        if isinstance(changed.get("response_format"), Mapping):
            self._format(changed)
        if not self.null_content:
            changed["messages"] = [_with_text(message) for message in changed["messages"]]
        return changed

    def _format(self, body: dict[str, Any]) -> None:
        wanted = body["response_format"]
        schema = wanted.get("json_schema") if isinstance(wanted, Mapping) else None
        if not isinstance(schema, Mapping):
            return
        if self.answer_format == "json_schema":
            if not self.strict:
                inner = {key: value for key, value in schema.items() if key != "strict"}
                body["response_format"] = {**wanted, "json_schema": inner}
            return
        if self.answer_format == "json_object":
            body["response_format"] = {"type": "json_object"}
        else:
            del body["response_format"]
        body["messages"] = _asked_in_words(body["messages"], schema.get("schema", {}))

    def learned(self, parameter: str, body: Mapping[str, Any]) -> Switches | None:
        """The switches after ``parameter`` of ``body`` was refused; None if leaving it out is no way on."""
        match parameter:
            case "stream_options":
                return replace(self, include_usage=False) if parameter in body else None
            case "max_tokens" | "max_completion_tokens":
                return self._other_limit(body)
            case "name":
                return replace(self, send_names=False) if self.send_names else None
            case "tool_choice":
                return self._weaker_choice(body.get("tool_choice"))
            case "response_format":
                return self._weaker_format(body)
            case "strict":
                return replace(self, strict=False) if self.strict and "response_format" in body else None
        if parameter in _DROPPABLE and parameter in body:
            return replace(self, left_out=self.left_out | {parameter})
        return None

    def _other_limit(self, body: Mapping[str, Any]) -> Switches | None:
        """The limit under its other name. Either name may be in the message: "use the other one instead"."""
        if self.limit_name not in body:
            return None
        other: LimitName = "max_completion_tokens" if self.limit_name == "max_tokens" else "max_tokens"
        return replace(self, limit_name=other)

    def _weaker_choice(self, choice: Any) -> Switches | None:
        if isinstance(choice, Mapping):
            return replace(self, forced_tool="required")
        return replace(self, forced_tool="never") if choice == "required" else None

    def _weaker_format(self, body: Mapping[str, Any]) -> Switches | None:
        if "response_format" not in body:
            return None
        weaker: dict[AnswerFormat, AnswerFormat] = {"json_schema": "json_object", "json_object": "prompt"}
        found = weaker.get(self.answer_format)
        return None if found is None else replace(self, answer_format=found)


def _with_text(message: Any) -> Any:
    if isinstance(message, Mapping) and message.get("role") == "assistant" and message.get("content", "") is None:
        return {**message, "content": ""}
    return message


def _asked_in_words(messages: list[Any], schema: Any) -> list[Any]:
    """The schema as a sentence in the one system message."""
    words = f"Answer with one JSON value that fits this JSON Schema, and nothing else: {json.dumps(schema)}"
    if messages and messages[0].get("role") == "system":
        return [{**messages[0], "content": f"{messages[0]['content']}\n\n{words}"}, *messages[1:]]
    return [{"role": "system", "content": words}, *messages]
