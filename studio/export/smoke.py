"""``tests/test_smoke.py`` of an export: builds the workflow and runs it once with scripted replies."""

from __future__ import annotations

import json

from pydantic import JsonValue

from studio.document.model import AgentNode, SubWorkflowNode, Workflow
from studio.document.runners import all_agents
from studio.export.main_part import uses_servers
from studio.export.pretty import readable_text, text_block
from studio.export.source import literal

_HEAD = '''"""Builds the workflow and runs it once with scripted replies; no model, no network."""

import asyncio
{imports}
{servers}from {package}.workflow import build

'''

_CLIENT = '''

class ScriptedClient(BaseChatClient):
    """A model that gives each agent its replies."""

    def __init__(self) -> None:
        super().__init__()
        self._asked: dict[str, int] = {}

    def _next(self, options: Any, messages: Any) -> str:
        system = next((m.text for m in messages if m.role == "system"), "")
        instructions = options.get("instructions") or system
        replies = REPLIES.get(instructions, ["A short answer."])
        count = self._asked[instructions] = self._asked.get(instructions, 0) + 1
        return replies[min(count, len(replies)) - 1]

    def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **_: Any) -> Any:
        text = self._next(options, messages)

        async def updates() -> Any:
            yield ChatResponseUpdate(role="assistant", contents=[Content.from_text(text)])

        async def whole() -> ChatResponse:
            return ChatResponse(messages=[Message("assistant", [text])])

        if stream:
            return ResponseStream(updates(), finalizer=ChatResponse.from_updates)
        return whole()
'''

_RUN = '''

async def run_once() -> list[str]:
    """The types of the events of a run, as far as the limit."""
    workflow = build({client})
{servers}    events: list[str] = []
    async for event in workflow.run(INPUT, stream=True):
        events.append(event.type)
        if len(events) >= LIMIT:
            break
    return events


def test_builds_and_runs() -> None:
    events = asyncio.run(run_once())
    assert "executor_completed" in events
    assert "executor_failed" not in events
'''

_NO_SERVERS = """    for server in servers_of(workflow):
        server.is_connected = True  # so that none is started: it has no tools then
"""
_IMPORTS = """from typing import Any

from agent_framework import (
    BaseChatClient,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    Message,
    ResponseStream,
)
"""


def test_module(workflow: Workflow, package: str) -> str:
    """The source of the smoke test."""
    scripted = replies(workflow)
    served = uses_servers(workflow)
    text = _HEAD.format(
        imports=_IMPORTS if scripted else "",
        package=package,
        servers=f"from {package}.agent_support import servers_of\n" if served else "",
    )
    text += text_constant("INPUT", workflow.sample_input or "Hello") + "LIMIT = 500\n"
    if scripted:
        text += literal(scripted, 0, "REPLIES: dict[str, list[str]] = ")
        text += '\n"""Instructions of an agent -> its replies in order; the last one is repeated."""\n' + _CLIENT
    return text + _RUN.format(
        client="ScriptedClient" if scripted else "lambda: None", servers=_NO_SERVERS if served else ""
    )


def text_constant(name: str, text: str) -> str:
    """The line that names a text."""
    shown = readable_text(text, 0, len(name) + 3)
    return f"{name} = {text_block(text) if shown is None else shown}\n"


def replies(workflow: Workflow) -> dict[str, list[str]]:
    """Instructions of each agent -> its scripted replies, agents inside too."""
    found: dict[str, list[str]] = {}
    for agent in all_agents(workflow):
        found[agent.instructions] = _texts(workflow, agent)
    for node in workflow.nodes:
        if isinstance(node, SubWorkflowNode) and node.embedded is not None:
            found |= replies(node.embedded)
    return found


def _texts(workflow: Workflow, node: AgentNode) -> list[str]:
    entries = workflow.offline.nodes.get(node.id, {}).get("replies")
    texts = [_text(entry) for entry in entries] if isinstance(entries, list) else []
    kept = [text for text in texts if text]
    if kept:
        return kept
    return [json.dumps(example(node.output_schema), ensure_ascii=False) if node.output_schema else "A short answer."]


def _text(entry: JsonValue) -> str:
    if not isinstance(entry, dict):
        return ""
    chunks = entry.get("chunks")
    text = entry.get("text", "".join(str(c) for c in chunks) if isinstance(chunks, list) else "")
    return text if isinstance(text, str) else ""


def example(schema: JsonValue) -> JsonValue:
    """The smallest value that fits a JSON Schema, as far as the smoke test needs it."""
    if not isinstance(schema, dict):
        return None
    choices = schema.get("enum")
    if isinstance(choices, list) and choices:
        return choices[0]
    if schema.get("type") == "object":
        fields = schema.get("properties")
        return {name: example(field) for name, field in fields.items()} if isinstance(fields, dict) else {}
    examples: dict[str, JsonValue] = {"string": "text", "integer": 1, "number": 1.0, "boolean": True, "array": []}
    kind = schema.get("type")
    return examples.get(kind) if isinstance(kind, str) else None
