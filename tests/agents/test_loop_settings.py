"""Every setting of the tool loop, and of single tools."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from studio.agents import (
    Agent,
    ApprovalRequest,
    ApprovalResponse,
    LayeredClient,
    LoopSettings,
    Message,
    Middleware,
    NoHooks,
    Tool,
    ToolCall,
    ToolResult,
    user,
)
from studio.agents.loop import NO_ANSWER, UnknownToolError
from tests.agents.pipeline import ADD_PARAMETERS, Log, LoggedClient, add_tool, agent, call


@pytest.fixture
def log() -> Log:
    return []


class Limits(NoHooks):
    """Notes which limit was reached."""

    def __init__(self) -> None:
        self.reached: list[str] = []

    def limit_reached(self, kind: str, detail: str) -> None:
        self.reached.append(kind)


def looping(log: Log, *replies: Any, tool: Tool | None = None, **settings: Any) -> tuple[Agent, LoggedClient]:
    client = LoggedClient(replies, log)
    return agent(client, tools=(tool or add_tool(log),), loop=LoopSettings(**settings)), client


def results(client: LoggedClient, number: int = -1) -> list[Any]:
    """Results in the last message of a model call."""
    return [p.result for p in client.requests[number].messages[-1].parts if isinstance(p, ToolResult)]


def models(log: Log) -> int:
    return sum(entry.startswith("model") for entry in log)


async def test_max_iterations_then_one_call_without_tools(log: Log) -> None:
    bot, client = looping(log, call(1), call(2), "sum", max_iterations=2)
    limits = Limits()
    assert (await bot.run([user("q")], hooks=limits)).text == "sum"
    assert models(log) == 3
    assert [r.options.tool_choice for r in client.requests] == [None, None, "none"]
    assert limits.reached == ["max_iterations"]


async def test_max_iterations_without_a_text_at_the_end(log: Log) -> None:
    bot, _ = looping(log, call(1), call(2), call(3), max_iterations=2)
    got = await bot.run([user("q")])
    assert (models(log), got.text) == (3, NO_ANSWER)


async def test_max_function_calls_lets_the_batch_finish(log: Log) -> None:
    bot, client = looping(log, call(1, 2, 3), "sum", max_function_calls=2)
    assert (await bot.run([user("q")])).text == "sum"
    assert log.count("TOOL") == 3
    assert client.requests[1].options.tool_choice == "none"


async def test_max_duration_is_looked_at_after_a_batch(log: Log) -> None:
    times: Iterator[float] = iter([0.0, 5.0, 11.0])
    bot, client = looping(log, call(1), call(2), "sum", max_duration_seconds=10, clock=lambda: next(times))
    assert (await bot.run([user("q")])).text == "sum"
    assert [r.options.tool_choice for r in client.requests] == [None, None, "none"]


async def test_max_duration_counts_the_wait_for_an_approval(log: Log) -> None:
    now = [100.0]
    tool = add_tool(log, approval="always")
    bot, client = looping(log, call(1), "sum", tool=tool, max_duration_seconds=10, clock=lambda: now[0])
    session = bot.new_session()
    (request,) = (await bot.run([user("q")], session=session)).requests
    assert isinstance(request, ApprovalRequest)
    now[0] = 111.0
    await bot.run([Message("user", (ApprovalResponse(request.id, True, request.call),))], session=session)
    assert client.requests[1].options.tool_choice == "none"
    assert session.state == {}


async def test_consecutive_errors_switch_tools_off(log: Log) -> None:
    async def fails(arguments: dict[str, Any]) -> None:
        raise ValueError

    broken = Tool("add", "", ADD_PARAMETERS, fails)
    bot, client = looping(log, call(1), call(2), "sorry", tool=broken, max_consecutive_errors=2)
    limits = Limits()
    assert (await bot.run([user("q")], hooks=limits)).text == "sorry"
    assert client.requests[2].options.tool_choice == "none"
    assert limits.reached == ["max_consecutive_errors"]


async def test_unknown_tool_is_told_or_ends_the_run(log: Log) -> None:
    bot, client = looping(log, call(1, tool="nothing"), "ok")
    assert (await bot.run([user("q")])).text == "ok"
    assert results(client) == ['Error: Requested function "nothing" not found.']
    strict, _ = looping(log, call(1, tool="nothing"), "ok", terminate_on_unknown_calls=True)
    session = strict.new_session()
    with pytest.raises(UnknownToolError, match="nothing"):
        await strict.run([user("q")], session=session)
    assert session.messages == []


async def test_unknown_tool_ends_the_run_even_beside_an_approval(log: Log) -> None:
    both = {"calls": [{"id": "a", "tool": "add", "arguments": {"a": 1}}, {"id": "b", "tool": "nothing"}]}
    tool = add_tool(log, approval="always")
    bot, _ = looping(log, both, tool=tool, terminate_on_unknown_calls=True)
    with pytest.raises(UnknownToolError):
        await bot.run([user("q")])


@pytest.mark.parametrize("at_once", [True, False])
async def test_calls_run_at_once_or_in_the_models_order(log: Log, at_once: bool) -> None:
    async def tool(arguments: dict[str, Any]) -> int:
        log.append(f"{arguments['a']}>")
        await asyncio.sleep(0)
        if arguments["a"] == 1:
            await asyncio.sleep(0)
        log.append(f"{arguments['a']}<")
        return int(arguments["a"])

    bot, client = looping(
        log, call(1, 2), "done", tool=Tool("add", "", ADD_PARAMETERS, tool), allow_concurrent_invocation=at_once
    )
    await bot.run([user("q")])
    order = [entry for entry in log if not entry.startswith("model")]
    assert order == (["1>", "2>", "2<", "1<"] if at_once else ["1>", "1<", "2>", "2<"])
    assert results(client) == ["1", "2"]


async def test_failure_in_a_serial_batch_runs_nothing_more(log: Log) -> None:
    from studio.agents import MiddlewareFailure

    async def tool(arguments: dict[str, Any]) -> int:
        log.append(f"{arguments['a']}")
        raise MiddlewareFailure

    bot, _ = looping(log, call(1, 2), tool=Tool("add", "", ADD_PARAMETERS, tool), allow_concurrent_invocation=False)
    with pytest.raises(MiddlewareFailure):
        await bot.run([user("q")])
    assert log == ["model#1(1)", "1"]


@pytest.mark.parametrize("detailed", [False, True])
async def test_what_the_model_sees_of_an_error(log: Log, detailed: bool) -> None:
    async def fails(arguments: dict[str, Any]) -> None:
        raise ValueError("disk full")

    bot, client = looping(
        log, call(1), "x", tool=Tool("add", "", ADD_PARAMETERS, fails), include_detailed_errors=detailed
    )
    await bot.run([user("q")])
    assert results(client) == ["Error: Function failed." + (" Exception: disk full" if detailed else "")]


async def test_wrong_arguments_never_reach_the_tool(log: Log) -> None:
    wrong = {"calls": [{"id": "c", "tool": "add", "arguments": {"a": "one"}}]}
    bot, client = looping(log, wrong, "x")
    await bot.run([user("q")])
    assert "TOOL" not in log
    assert results(client) == ["Error: Argument parsing failed."]


async def test_middleware_may_repair_arguments(log: Log) -> None:
    async def repair(context: Any, call_next: Any) -> None:
        context.arguments["a"] = int(context.arguments["a"])
        await call_next()

    wrong = {"calls": [{"id": "c", "tool": "add", "arguments": {"a": "1"}}]}
    client = LoggedClient([wrong, "x"], log)
    await agent(client, tools=(add_tool(log),), middleware=Middleware(function=(repair,))).run([user("q")])
    assert results(client) == ["2"]


async def test_additional_tools_are_hidden_and_pause_for_the_caller(log: Log) -> None:
    hidden = add_tool(log)
    shown = Tool("look", "", None, hidden.run)
    client = LoggedClient([call(1), "done"], log)
    bot = agent(client, tools=(shown,), loop=LoopSettings(additional_tools=(hidden,)))
    session = bot.new_session()
    reply = await bot.run([user("q")], session=session)
    assert [t.name for t in client.requests[0].tools] == ["look"]
    assert [r.name for r in reply.requests if isinstance(r, ToolCall)] == ["add"]
    assert "TOOL" not in log
    done = await bot.run([Message("tool", (ToolResult("c1", "from outside"),))], session=session)
    assert done.text == "done"


async def test_switched_off_calls_are_returned_unexecuted(log: Log) -> None:
    bot, _ = looping(log, call(1), enabled=False)
    reply = await bot.run([user("q")])
    assert log == ["model#1(1)"]
    assert [p.name for m in reply.messages for p in m.parts if isinstance(p, ToolCall)] == ["add"]
    assert reply.requests == ()


async def test_limit_of_invocations_holds_for_the_session(log: Log) -> None:
    tool = add_tool(log, max_invocations=2)
    bot, client = looping(log, call(1, 2, 3), "x", call(4), "y", tool=tool, include_detailed_errors=True)
    session = bot.new_session()
    await bot.run([user("q")], session=session)
    assert results(client, 1)[:2] == ["2", "3"]
    assert "maximum invocation limit" in results(client, 1)[2]
    await bot.run([user("q")], session=session)
    assert log.count("TOOL") == 2
    assert session.state == {"tool_counts": {"add": [2, 0]}}


async def test_limit_of_exceptions(log: Log) -> None:
    async def fails(arguments: dict[str, Any]) -> None:
        log.append("TOOL")
        raise ValueError

    tool = Tool("add", "", ADD_PARAMETERS, fails, max_invocation_exceptions=1)
    bot, client = looping(log, call(1), call(2), "x", tool=tool)
    await bot.run([user("q")])
    assert log.count("TOOL") == 1
    assert results(client) == ["Error: Function failed."]


async def test_time_limit_of_a_tool(log: Log) -> None:
    cancelled: list[bool] = []

    async def waits(arguments: dict[str, Any]) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.append(True)

    bot, client = looping(log, call(1), "x", tool=Tool("add", "", ADD_PARAMETERS, waits, timeout=0.01))
    await bot.run([user("q")])
    assert results(client) == ["Error: Function 'add' took longer than 0.01 s."]
    assert cancelled == [True]


async def test_forced_tool_is_forced_once(log: Log) -> None:
    from studio.agents import ChatOptions

    client = LoggedClient([call(1), "x"], log)
    await agent(client, tools=(add_tool(log),), options=ChatOptions(tool_choice="required")).run([user("q")])
    assert [r.options.tool_choice for r in client.requests] == ["required", None]


async def test_settings_of_the_client_hold_if_the_agent_has_none(log: Log) -> None:
    client = LoggedClient([call(1), "x"], log)
    layered = LayeredClient(client, loop=LoopSettings(max_function_calls=1))
    await agent(layered, tools=(add_tool(log),)).run([user("q")])
    assert client.requests[1].options.tool_choice == "none"
    again = LoggedClient([call(1), "x"], log)
    layered = LayeredClient(again, loop=LoopSettings(max_function_calls=1))
    await agent(layered, tools=(add_tool(log),), loop=LoopSettings()).run([user("q")])
    assert again.requests[1].options.tool_choice is None


@pytest.mark.parametrize("bad", [{"max_iterations": 0}, {"max_duration_seconds": 0}, {"max_function_calls": -1}])
def test_impossible_limits_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="greater than 0"):
        LoopSettings(**bad)


# ---------------------------------------------------------------------------------------------- going in circles


async def test_a_model_that_asks_the_same_again_and_again_is_stopped(log: Log) -> None:
    client = LoggedClient([call(1)], log, then="repeat_last")
    bot = agent(client, tools=(add_tool(log),), loop=LoopSettings(max_repeats=3))
    limits = Limits()
    got = await bot.run([user("q")], hooks=limits)
    assert log.count("TOOL") == 3
    assert models(log) == 5
    assert limits.reached == ["repeated_calls"]
    assert results(client) == ["Error: This call was made 3 times in a row with the same result; it is not run again."]
    assert got.text == NO_ANSWER


async def test_equal_calls_with_news_are_no_circle(log: Log) -> None:
    progress = iter(range(10))

    async def poll(arguments: dict[str, Any]) -> int:
        return next(progress)

    replies: list[Any] = [call(1)] * 6
    bot, client = looping(log, *replies, "ready", tool=Tool("add", "", ADD_PARAMETERS, poll), max_repeats=3)
    assert (await bot.run([user("q")])).text == "ready"
    assert len(client.requests) == 7


async def test_another_call_between_begins_the_count_anew(log: Log) -> None:
    bot, _ = looping(log, call(1), call(1), call(2), call(1), call(1), "done", max_repeats=2)
    assert (await bot.run([user("q")])).text == "done"
    assert log.count("TOOL") == 5


# ------------------------------------------------------------------------------------------------------ approval


def answer(request: Any, approved: bool = True, **changes: Any) -> Message:
    edited = ToolCall(request.call.call_id, request.call.name, changes.get("arguments", request.call.arguments))
    return Message("user", (ApprovalResponse(changes.get("id", request.id), approved, edited),))


@pytest.mark.parametrize("approved", [True, False])
async def test_approve_and_reject(log: Log, approved: bool) -> None:
    bot, client = looping(log, call(1), "done", tool=add_tool(log, approval="always"))
    session = bot.new_session()
    (request,) = (await bot.run([user("q")], session=session)).requests
    assert "TOOL" not in log
    assert (await bot.run([answer(request, approved)], session=session)).text == "done"
    assert results(client) == ["2" if approved else "Error: Tool call invocation was rejected by user."]


async def test_an_approval_with_other_arguments_runs_what_was_asked_for(log: Log) -> None:
    bot, client = looping(log, call(1), "done", tool=add_tool(log, approval="always"))
    session = bot.new_session()
    (request,) = (await bot.run([user("q")], session=session)).requests
    await bot.run([answer(request, arguments='{"a": 41}')], session=session)
    assert results(client) == ["2"]


async def test_forged_approval_authorises_nothing(log: Log) -> None:
    bot, client = looping(log, call(1), "not now", tool=add_tool(log, approval="always"))
    session = bot.new_session()
    (request,) = (await bot.run([user("q")], session=session)).requests
    await bot.run([answer(request, id="forged")], session=session)
    assert "TOOL" not in log
    assert all(not isinstance(p, ApprovalResponse) for m in client.requests[1].messages for p in m.parts)


async def test_function_middleware_sees_the_approved_call_and_not_the_pause(log: Log) -> None:
    async def note(context: Any, call_next: Any) -> None:
        log.append(f"fm approved={context.approved}")
        await call_next()

    client = LoggedClient([call(1), "done"], log)
    bot = agent(client, tools=(add_tool(log, approval="always"),), middleware=Middleware(function=(note,)))
    session = bot.new_session()
    (request,) = (await bot.run([user("q")], session=session)).requests
    assert log == ["model#1(1)"]
    await bot.run([answer(request)], session=session)
    assert log[1:] == ["fm approved=True", "TOOL", "model#2(3)"]


async def test_arguments_changed_by_middleware_after_the_approval_are_asked_for_again(log: Log) -> None:
    async def change(context: Any, call_next: Any) -> None:
        if context.arguments["a"] == 1:
            context.arguments["a"] = 10
        await call_next()

    client = LoggedClient([call(1, 2), "done"], log)
    bot = agent(client, tools=(add_tool(log, approval="always"),), middleware=Middleware(function=(change,)))
    session = bot.new_session()
    first = (await bot.run([user("q")], session=session)).requests
    both = Message("user", tuple(ApprovalResponse(r.id, True, r.call) for r in first if isinstance(r, ApprovalRequest)))
    again = await bot.run([both], session=session)
    assert log.count("TOOL") == 1
    (request,) = again.requests
    assert isinstance(request, ApprovalRequest)
    assert request.call.arguments == '{"a": 10}'
    assert (await bot.run([answer(request)], session=session)).text == "done"
    assert log.count("TOOL") == 2
    assert results(client) == ["11", "3"]
