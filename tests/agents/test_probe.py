"""What a probe finds at servers of different habits, and what settings it picks."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest
from studio.agents.connection import ClientSettings
from studio.agents.messages import Usage
from studio.agents.probe import MOST_CALLS, MOST_TOKENS, Finding, Probe, ProbeResult
from tests.fakes.provider_server import ProviderServer
from tests.fakes.scripted_server import HOLD, Given, ScriptedServer

ALL_GOOD = {
    "connection": "yes",
    "models": "yes",
    "streaming": "yes",
    "usage": "yes",
    "tools": "yes",
    "parallel_tools": "yes",
    "tool_results": "yes",
    "forced_tool": "yes",
    "json_schema": "yes",
    "vision": "yes",
    "model_name": "yes",
}


async def probed(server: ProviderServer, model: str = "small-1", **options: Any) -> ProbeResult:
    ticks = itertools.count()
    made = Probe(ClientSettings(server.url, "k", model=model), clock=lambda: next(ticks) / 10, **options)
    return await made.run()


def table(result: ProbeResult) -> dict[str, str]:
    return {f.key: f.works for f in result.findings}


async def test_a_full_provider() -> None:
    told: list[Finding] = []
    began: list[str] = []
    with ProviderServer() as server:
        result = await probed(server, vision=True, told=told.append, began=began.append)
        assert table(result) == ALL_GOOD
        assert tuple(told) == result.findings
        assert began[0] == "models"
        assert began[-1] == "model_name"
        assert result.models == ("large-1", "small-1")
        assert result.calls <= MOST_CALLS
        assert result.usage is not None
        assert (result.usage.input, result.usage.output) == (600, 120)
        assert result.switches.forced_tool == "by name"
        assert result.switches.answer_format == "json_schema"
        assert next(f.evidence for f in result.findings if f.key == "parallel_tools") == "2 calls in one answer"
        sent = sum(b.get("max_tokens", 0) for path, b in server.requests if b)
        assert sent <= MOST_TOKENS
        assert '"get_weather"' in result.said
        assert "← 404" in result.said


@pytest.mark.parametrize(
    ("habits", "differs"),
    [
        (
            ("no_list", "one_call", "any_model", "whole", "no_usage"),
            {"models": "no", "parallel_tools": "no", "model_name": "no", "streaming": "partly", "usage": "no"},
        ),
        (
            ("no_tools", "no_schema"),
            {
                "tools": "no",
                "parallel_tools": None,
                "tool_results": "not tried",
                "forced_tool": "no",
                "json_schema": "partly",
            },
        ),
        (("no_json", "no_name_choice"), {"json_schema": "partly", "forced_tool": "partly"}),
    ],
)
async def test_habits_are_found(habits: tuple[str, ...], differs: dict[str, str | None]) -> None:
    with ProviderServer(*habits) as server:
        result = await probed(server)
    expected = {**ALL_GOOD, "vision": "not tried", **differs}
    assert table(result) == {key: works for key, works in expected.items() if works is not None}


async def test_settings_are_picked_from_what_was_refused() -> None:
    with ProviderServer("new_limit", "no_stream_options", "no_name_choice", "no_schema") as server:
        switches = (await probed(server)).switches
    assert switches.limit_name == "max_completion_tokens"
    assert switches.include_usage is False
    assert switches.forced_tool == "required"
    assert switches.answer_format == "json_object"


async def test_unknown_usage_is_unknown() -> None:
    with ProviderServer("no_usage") as server:
        usage = (await probed(server)).usage
    assert usage is not None
    assert (usage.input, usage.output) == (None, None)


async def test_a_model_that_is_not_listed_and_not_known_ends_the_probe() -> None:
    with ProviderServer() as server:
        result = await probed(server, "huge-9")
    assert result.findings[1].evidence == "2 models; huge-9 is not among them"
    assert "huge-9" in result.stopped
    assert result.works("tools") == "not tried"


async def test_nobody_there_and_a_bad_key() -> None:
    with ProviderServer() as server:
        url = server.url
    gone = await Probe(ClientSettings(url, "k", model="m")).run()
    assert "cannot be reached" in gone.stopped
    assert gone.usage is None
    async with ScriptedServer(Given((b'{"error": {"message": "no such key"}}',), 401, "application/json")) as strict:
        refused = await Probe(ClientSettings(strict.url, "sk-secret-key", model="m")).run()
    assert "does not accept the key" in refused.stopped
    assert "sk-secret-key" not in refused.said
    assert len(strict.received) == 1


async def test_cancelling_closes_the_connection() -> None:
    async with ScriptedServer(Given((HOLD,))) as slow:
        running = asyncio.create_task(Probe(ClientSettings(slow.url, "k", model="m")).run())
        async with asyncio.timeout(60):
            await slow.arrived.wait()
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            await slow.hang_up.wait()


def test_a_sum_of_known_and_unknown_is_at_least() -> None:
    assert (Usage(1, 2) + Usage()).partial
