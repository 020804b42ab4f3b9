"""Spans of runs: the tree, the names, what is known of each, and nothing at all while it is switched off."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from studio.agents.telemetry import Spans, open_spans
from studio.assembly import ServiceSource, compile_plan
from studio.debugger.telemetry import Telemetry
from studio.document.model import AgentNode, DirectEdge, OfflineScript, ToolDecl, Workflow
from studio.settings.preferences import Preferences
from studio.settings.profiles import Profiles
from studio.settings.secrets import Secrets


@dataclass
class Made:
    """A span that was ended."""

    name: str
    parent: str
    attributes: dict[str, Any]
    start: int
    end: int = 0
    status: str = ""
    kind: str = ""
    order: list[str] = field(default_factory=list)


class SpanOfTest:
    """Enough of a span for the code under test; ``opentelemetry.trace`` takes any object as the span of a context."""

    def __init__(self, made: Made) -> None:
        self.made = made

    def set_attribute(self, name: str, value: Any) -> None:
        self.made.attributes[name] = value

    def set_status(self, status: Any) -> None:
        self.made.status = f"{status.status_code.name}: {status.description}"

    def end(self, end_time: int) -> None:
        self.made.end = end_time


class TracerOfTest:
    """Keeps what it is asked to make."""

    def __init__(self) -> None:
        self.spans: list[Made] = []
        self.chats = asyncio.Event()

    def start_span(
        self, name: str, *, context: Any, kind: Any, attributes: Mapping[str, Any], start_time: int
    ) -> SpanOfTest:
        parents = [v.made.name for v in context.values()]
        self.spans.append(Made(name, parents[0] if parents else "", dict(attributes), start_time, kind=kind.name))
        if name.startswith("chat"):
            self.chats.set()
        return SpanOfTest(self.spans[-1])

    def tree(self) -> list[tuple[str, str]]:
        return [(s.name, s.parent) for s in self.spans]

    def one(self, name: str) -> Made:
        (found,) = [s for s in self.spans if s.name == name]
        return found


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"calls": [{"tool": name, "arguments": arguments}]}


def flow(*writer: Any, critic: tuple[Any, ...] = ("done",), **fields: Any) -> Workflow:
    script = OfflineScript.model_validate(
        {"nodes": {"writer": {"replies": list(writer)}, "critic": {"replies": list(critic)}}}
    )
    parameters = {"type": "object", "properties": {"key": {"type": "string"}}}
    return Workflow(
        name="Two",
        start="writer",
        nodes=(
            AgentNode(
                id="writer", name="The writer", instructions="Write.", tools=("look",), temperature=0.5, **fields
            ),
            AgentNode(id="critic", name="Critic", instructions="Judge."),
        ),
        edges=(DirectEdge(id="e", source="writer", target="critic"),),
        tools=(
            ToolDecl(name="look", source="def look(key: str = ''):\n    return 'seen ' + key", parameters=parameters),
        ),
        offline=script,
    )


async def traced(workflow: Workflow, tracer: TracerOfTest, *, content: bool = False, stream: bool = False) -> None:
    """Runs a document with spans."""
    preferences = Preferences(telemetry=True, telemetry_content=content)
    secrets = Secrets()
    telemetry = Telemetry(lambda: preferences, Profiles, secrets, pytest.fail, lambda: Spans(tracer))  # type: ignore[arg-type]
    await telemetry.prepare()
    events: deque[Any] = deque()
    source = ServiceSource(Profiles, secrets, trusts=lambda *_: True)
    try:
        plan = compile_plan(workflow, source.services(workflow))
        await plan.engine.run("in", events=telemetry.sink(events, workflow, "run-1"), stream=stream)
    finally:
        assert events
        await source.close()
        await telemetry.close()


async def test_the_tree_of_a_run_with_tools() -> None:
    tracer = TracerOfTest()
    await traced(
        flow({"calls": [*call("look", key="a")["calls"], *call("look", key="b")["calls"]]}, "text"), tracer, stream=True
    )
    assert tracer.tree() == [
        ("invoke_workflow Two", ""),
        ("superstep 1", "invoke_workflow Two"),
        ("invoke_agent The writer", "superstep 1"),
        ("chat offline", "invoke_agent The writer"),
        ("execute_tool look", "invoke_agent The writer"),
        ("execute_tool look", "invoke_agent The writer"),
        ("chat offline", "invoke_agent The writer"),
        ("superstep 2", "invoke_workflow Two"),
        ("invoke_agent Critic", "superstep 2"),
        ("chat offline", "invoke_agent Critic"),
        ("superstep 3", "invoke_workflow Two"),
    ]
    assert all(s.end >= s.start > 0 for s in tracer.spans)
    agent, chat = tracer.one("invoke_agent The writer"), tracer.spans[6]
    assert (agent.kind, chat.kind) == ("INTERNAL", "CLIENT")
    assert agent.attributes["gen_ai.agent.id"] == "writer"
    assert agent.attributes["gen_ai.provider.name"] == "offline"
    assert agent.attributes["gen_ai.request.temperature"] == 0.5
    assert chat.attributes["gen_ai.operation.name"] == "chat"
    assert chat.attributes["gen_ai.response.finish_reasons"] == ("stop",)
    assert chat.attributes["gen_ai.response.time_to_first_chunk"] >= 0
    chats = [s for s in tracer.spans if s.name.startswith("chat")][:2]
    assert agent.attributes["gen_ai.usage.input_tokens"] == sum(
        s.attributes["gen_ai.usage.input_tokens"] for s in chats
    )
    assert "gen_ai.usage.cache_read.input_tokens" not in chat.attributes  # not told is no zero
    assert tracer.one("superstep 1").attributes["superstep.executors"] == ("writer",)
    assert tracer.one("invoke_workflow Two").attributes["superstep.run.id"] == "run-1"
    assert not any("message" in name or "argument" in name for s in tracer.spans for name in s.attributes)


async def test_content_goes_along_only_when_wanted_and_without_secrets() -> None:
    tracer = TracerOfTest()
    await traced(flow(call("look", key="sk-canary-canary-canary"), "text"), tracer, content=True)
    tool = tracer.one("execute_tool look")
    assert tool.attributes["gen_ai.tool.call.arguments"] == '{"key": "[secret]"}'
    assert tool.attributes["gen_ai.tool.call.result"] == "seen [secret]"
    assert '"content": "in"' in tracer.spans[3].attributes["gen_ai.input.messages"]


async def test_an_error_marks_every_span_up_to_the_workflow() -> None:
    tracer = TracerOfTest()
    with pytest.raises(Exception, match="no such key"):
        await traced(flow({"error": "no such key sk-canary-canary", "status": 401}), tracer)
    names = ("invoke_workflow Two", "superstep 1", "invoke_agent The writer", "chat offline")
    found = [tracer.one(name) for name in names]
    assert [bool(s.end) for s in found] == [True] * 4
    assert found[3].attributes["error.type"] == "provider_error"
    assert found[2].attributes["error.type"] == "ProviderError"
    assert found[0].status.startswith("ERROR")
    assert "canary" not in "".join(s.status for s in tracer.spans)


async def test_a_cancelled_run_has_no_error_status() -> None:
    tracer = TracerOfTest()
    running = asyncio.create_task(traced(flow({"text": "x", "wait_ms": 60_000}), tracer))
    async with asyncio.timeout(60):
        await tracer.chats.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    root = tracer.one("invoke_workflow Two")
    assert root.end > 0
    assert root.attributes["error.type"] == "cancelled"
    assert all(s.status == "" and s.end for s in tracer.spans)


def test_without_the_sdk_it_says_what_is_missing() -> None:
    told = open_spans()
    assert told.tracer is None
    assert told.problem == "OpenTelemetry is on, but its SDK is missing: pip install opentelemetry-sdk."


async def test_the_reason_is_told_once_and_the_run_goes_on() -> None:
    told: list[str] = []
    preferences = Preferences(telemetry=True)
    telemetry = Telemetry(lambda: preferences, Profiles, Secrets(), told.append, lambda: Spans(None, "It is missing."))
    events: deque[Any] = deque()
    for _ in range(2):
        await telemetry.prepare()
    sink = telemetry.sink(events, flow("x"), "r")
    sink.append("an event")
    assert (told, list(events)) == (["It is missing."], ["an event"])


def test_switched_off_nothing_of_it_is_imported() -> None:
    code = (
        "import asyncio, sys\n"
        "from studio.debugger.telemetry import Telemetry\n"
        "from studio.settings.preferences import Preferences\n"
        "from studio.settings.profiles import Profiles\n"
        "from studio.settings.secrets import Secrets\n"
        "made = Telemetry(Preferences, Profiles, Secrets(), print)\n"
        "asyncio.run(made.prepare())\n"
        "assert made.sink(sink := [], None, 'r') is sink\n"
        "assert not any(name.startswith('opentelemetry') for name in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr
