"""``tests/test_smoke.py`` of an export: builds the workflow and runs it once with scripted replies."""

from __future__ import annotations

import json

from pydantic import JsonValue

from studio.document.model import AgentNode, SubWorkflowNode, Workflow
from studio.export.source import literal, string

_SOURCE = '''"""Builds the workflow and runs it once with scripted replies; no model, no network."""

import asyncio
from typing import Any

from agent_framework import (
    BaseChatClient,
    ChatResponse,
    ChatResponseUpdate,
    Message,
    ResponseStream,
)
from {package}.workflow import build

INPUT = {input}
REPLIES: dict[str, list[str]] = {replies}
"""Instructions of an agent -> its replies in order; the last one is repeated."""


class ScriptedClient(BaseChatClient):
    def __init__(self) -> None:
        super().__init__()
        self._asked: dict[str, int] = {{}}

    def _next(self, options: Any, messages: Any) -> str:
        system = next((m.text for m in messages if m.role == "system"), "")
        instructions = (options or {{}}).get("instructions") or system
        replies = REPLIES.get(instructions, ["A short answer."])
        count = self._asked[instructions] = self._asked.get(instructions, 0) + 1
        return replies[min(count, len(replies)) - 1]

    def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **kwargs: Any) -> Any:
        text = self._next(options, messages)

        async def updates() -> Any:
            yield ChatResponseUpdate(role="assistant", contents=[{{"type": "text", "text": text}}])

        async def whole() -> ChatResponse:
            return ChatResponse(messages=[Message("assistant", [text])])

        return ResponseStream(updates(), finalizer=ChatResponse.from_updates) if stream else whole()


async def run_once() -> list[str]:
    events: list[str] = []
    async for event in build(ScriptedClient).run(INPUT, stream=True):
        events.append(event.type)
        if len(events) >= 500:
            break
    return events


def test_builds_and_runs() -> None:
    events = asyncio.run(run_once())
    assert "executor_completed" in events
    assert "executor_failed" not in events
'''


def test_module(workflow: Workflow, package: str) -> str:
    """The source of the smoke test."""
    replies = literal(_replies(workflow))
    return _SOURCE.format(package=package, input=string(workflow.sample_input or "Hello"), replies=replies)


def _replies(workflow: Workflow) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for node in workflow.nodes:
        if isinstance(node, AgentNode):
            found[node.instructions] = _texts(workflow, node)
        elif isinstance(node, SubWorkflowNode) and node.embedded is not None:
            found |= _replies(node.embedded)
    return found


def _texts(workflow: Workflow, node: AgentNode) -> list[str]:
    entries = workflow.offline.nodes.get(node.id, {}).get("replies")
    texts = [_text(entry) for entry in entries] if isinstance(entries, list) else []
    kept = [text for text in texts if text]
    if kept:
        return kept
    return [json.dumps(_example(node.output_schema), ensure_ascii=False) if node.output_schema else "A short answer."]


def _text(entry: JsonValue) -> str:
    if not isinstance(entry, dict):
        return ""
    chunks = entry.get("chunks")
    text = entry.get("text", "".join(str(c) for c in chunks) if isinstance(chunks, list) else "")
    return text if isinstance(text, str) else ""


def _example(schema: JsonValue) -> JsonValue:
    """The smallest value that fits a JSON Schema, as far as the smoke test needs it."""
    if not isinstance(schema, dict):
        return None
    choices = schema.get("enum")
    if isinstance(choices, list) and choices:
        return choices[0]
    if schema.get("type") == "object":
        fields = schema.get("properties")
        return {name: _example(field) for name, field in fields.items()} if isinstance(fields, dict) else {}
    examples: dict[str, JsonValue] = {"string": "text", "integer": 1, "number": 1.0, "boolean": True, "array": []}
    kind = schema.get("type")
    return examples.get(kind) if isinstance(kind, str) else None
