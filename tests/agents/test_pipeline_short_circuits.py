"""Rows A3.1 to A3.14: who may answer in the model's place, who may end a turn, and what is stored then."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from studio.agents import (
    AgentReply,
    Message,
    Middleware,
    MiddlewareFailure,
    Termination,
    Text,
    Tool,
    ToolResult,
    Usage,
    assistant,
    user,
)
from tests.agents.pipeline import ADD_PARAMETERS, Log, LoggedClient, Noted, add_tool, agent, around, call, shapes, texts


def reply(text: str) -> AgentReply:
    return AgentReply((assistant(text),))


def answering(text: str, *, go_on: bool = False, end: bool = False, result_in_signal: bool = False) -> Any:
    """Middleware that sets a result."""

    async def middleware(context: Any, call_next: Any) -> None:
        if go_on:
            await call_next()
        if not result_in_signal:
            context.result = reply(text)
        if end or result_in_signal:
            raise Termination(reply(text) if result_in_signal else None)

    return middleware


@pytest.fixture
def log() -> Log:
    return []


async def test_a3_1_result_without_continuing(log: Log) -> None:
    bot = agent(
        LoggedClient(["no"], log),
        providers=(Noted("p", log),),
        middleware=Middleware((around("outer", log), answering("mine"))),
    )
    session = bot.new_session()
    assert (await bot.run([user("q")], session=session)).text == "mine"
    assert log == ["outer>", "outer<"]
    assert session.messages == []


@pytest.mark.parametrize("in_signal", [False, True])
async def test_a3_2_termination_with_a_result_skips_what_comes_after(log: Log, in_signal: bool) -> None:
    ending = answering("mine", end=True, result_in_signal=in_signal)
    bot = agent(LoggedClient(["no"], log), middleware=Middleware((around("outer", log), ending)))
    assert (await bot.run([user("q")])).text == "mine"
    assert log == ["outer>"]


@pytest.mark.parametrize("stream", [False, True])
async def test_a3_3_and_4_termination_without_result_is_an_empty_response(log: Log, stream: bool) -> None:
    async def end(context: Any, call_next: Any) -> None:
        raise Termination

    updates: list[Any] = []
    bot = agent(LoggedClient(["no"], log), middleware=Middleware((end,)))
    got = await bot.run([user("q")], updates=updates.append if stream else None)
    assert got == AgentReply()
    assert (updates, log) == ([], [])


async def test_a3_5_other_exceptions_reach_the_caller(log: Log) -> None:
    async def broken(context: Any, call_next: Any) -> None:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        await agent(LoggedClient(["no"], log), middleware=Middleware((broken,))).run([user("q")])


@pytest.mark.parametrize("end", [False, True])
@pytest.mark.parametrize("stream", [False, True])
async def test_a3_6_chat_middleware_answers_for_the_model_and_is_stored(log: Log, end: bool, stream: bool) -> None:
    bot = agent(LoggedClient(["no"], log), middleware=Middleware(chat=(answering("mine", end=end),)))
    session = bot.new_session()
    updates: list[Any] = []
    got = await bot.run([user("q")], session=session, updates=updates.append if stream else None)
    assert (got.text, log) == ("mine", [])
    assert shapes(session.messages) == [("user", "q"), ("assistant", "mine")]
    assert texts(updates) == (["mine"] if stream else [])


async def test_usage_of_an_answer_that_no_model_gave_counts_if_it_says_so(log: Log) -> None:
    async def cached(context: Any, call_next: Any) -> None:
        context.result = AgentReply((assistant("x"),), Usage(1, 2))

    assert (await agent(LoggedClient([], log), middleware=Middleware(chat=(cached,))).run([user("q")])).usage == Usage(
        1, 2
    )
    plain = agent(LoggedClient([], log), middleware=Middleware(chat=(answering("x"),)))
    assert (await plain.run([user("q")])).usage is None


async def test_retrying_middleware_counts_both_calls(log: Log) -> None:
    async def twice(context: Any, call_next: Any) -> None:
        await call_next()
        await call_next()

    bot = agent(LoggedClient(["a", "b"], log, usage=Usage(1, 1)), middleware=Middleware(chat=(twice,)))
    got = await bot.run([user("q")])
    assert (got.text, got.usage) == ("b", Usage(2, 2))


async def test_a3_7_function_middleware_gives_the_result(log: Log) -> None:
    async def skip(context: Any, call_next: Any) -> None:
        context.result = "mine"

    client = LoggedClient([call(1), "done"], log)
    bot = agent(client, tools=(add_tool(log),), middleware=Middleware(function=(skip,)))
    assert (await bot.run([user("q")])).text == "done"
    assert "TOOL" not in log
    (result,) = client.requests[1].messages[-1].parts
    assert isinstance(result, ToolResult)
    assert result.result == "mine"


@pytest.mark.parametrize("in_signal", [False, True])
@pytest.mark.parametrize("stream", [False, True])
async def test_a3_8_termination_around_a_tool_ends_the_turn(log: Log, in_signal: bool, stream: bool) -> None:
    """All calls of the batch finish, results are recorded, the model is not asked again, history is stored."""

    async def end(context: Any, call_next: Any) -> None:
        if context.arguments["a"] == 1:
            if not in_signal:
                context.result = "ended"
            raise Termination("ended" if in_signal else None)
        await call_next()

    bot = agent(LoggedClient([call(1, 2), "no"], log), tools=(add_tool(log),), middleware=Middleware(function=(end,)))
    session = bot.new_session()
    got = await bot.run([user("q")], session=session, updates=(lambda u: None) if stream else None)
    assert got.text == ""
    assert log == ["model#1(1)", "TOOL"]
    assert [p.result for p in got.messages[-1].parts if isinstance(p, ToolResult)] == ["ended", "3"]
    assert [m.role for m in session.messages] == ["user", "assistant", "tool"]


@pytest.mark.parametrize("where", ["middleware", "tool"])
async def test_a3_9_ordinary_exceptions_become_results(log: Log, where: str) -> None:
    async def broken(context: Any, call_next: Any) -> None:
        raise ValueError("secret")

    async def fails(arguments: dict[str, Any]) -> None:
        raise ValueError("secret")

    client = LoggedClient([call(1), "done"], log)
    tool = add_tool(log) if where == "middleware" else Tool("add", "", ADD_PARAMETERS, fails)
    middleware = Middleware(function=(broken,)) if where == "middleware" else Middleware()
    assert (await agent(client, tools=(tool,), middleware=middleware).run([user("q")])).text == "done"
    (result,) = client.requests[1].messages[-1].parts
    assert isinstance(result, ToolResult)
    assert (result.result, result.error) == ("Error: Function failed.", "ValueError")


@pytest.mark.parametrize("where", ["middleware", "tool"])
async def test_a3_10_failure_cancels_the_batch_and_stores_nothing(log: Log, where: str) -> None:
    cancelled = asyncio.Event()

    async def tool(arguments: dict[str, Any]) -> None:
        if arguments["a"] == 1:
            await asyncio.sleep(0)
            raise MiddlewareFailure("closed")
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    async def failing(context: Any, call_next: Any) -> None:
        if context.arguments["a"] == 1:
            await asyncio.sleep(0)
            raise MiddlewareFailure("closed")
        await call_next()

    middleware = Middleware(function=(failing,)) if where == "middleware" else Middleware()
    bot = agent(
        LoggedClient([call(1, 2), "no"], log),
        tools=(Tool("add", "", ADD_PARAMETERS, tool),),
        middleware=middleware,
        providers=(Noted("p", log),),
    )
    session = bot.new_session()
    with pytest.raises(MiddlewareFailure, match="closed"):
        await bot.run([user("q")], session=session)
    assert cancelled.is_set()
    assert session.messages == []
    assert log == ["p.before", "model#1(1)"]


async def test_a3_11_replaced_result_is_not_what_is_stored(log: Log) -> None:
    bot = agent(LoggedClient(["original"], log), middleware=Middleware((answering("new", go_on=True),)))
    session = bot.new_session()
    assert (await bot.run([user("q")], session=session)).text == "new"
    assert shapes(session.messages) == [("user", "q"), ("assistant", "original")]


@pytest.mark.parametrize("stream", [False, True])
async def test_a3_12_changed_input_is_sent_and_stored(log: Log, stream: bool) -> None:
    def change(context: Any) -> None:
        context.messages = [user("changed")]

    client = LoggedClient(["x"], log)
    bot = agent(client, middleware=Middleware((around("m", log, before=change),)))
    session = bot.new_session()
    await bot.run([user("q")], session=session, updates=(lambda u: None) if stream else None)
    assert shapes(client.requests[0].messages) == [("user", "changed")]
    assert shapes(session.messages) == [("user", "changed"), ("assistant", "x")]


async def test_a3_13_changes_by_chat_middleware_hold_for_each_call_alone(log: Log) -> None:
    def change(context: Any) -> None:
        context.messages.append(user("hint"))
        context.instructions += " briefly"

    client = LoggedClient([call(1), "done"], log)
    bot = agent(
        client,
        tools=(add_tool(log),),
        instructions="answer",
        middleware=Middleware(chat=(around("m", log, before=change),)),
    )
    session = bot.new_session()
    await bot.run([user("q")], session=session)
    assert [r.messages[-1].text for r in client.requests] == ["hint", "hint"]
    assert [len(r.messages) for r in client.requests] == [2, 4]
    assert [r.instructions for r in client.requests] == ["answer briefly"] * 2
    assert "hint" not in [m.text for m in session.messages]


async def test_a3_14_a_value_in_a_stream_becomes_a_stream(log: Log) -> None:
    updates: list[Any] = []
    bot = agent(LoggedClient(["no"], log), middleware=Middleware((answering("mine"),)))
    got = await bot.run([user("q")], updates=updates.append)
    assert (texts(updates), got.text, log) == (["mine"], "mine", [])


async def test_streamed_replacement_after_continuing_leaves_the_model_alone(log: Log) -> None:
    """As upstream: the stream that call_next made is never read."""
    bot = agent(LoggedClient(["no"], log), middleware=Middleware((answering("new", go_on=True),)))
    session = bot.new_session()
    updates: list[Any] = []
    await bot.run([user("q")], session=session, updates=updates.append)
    assert (texts(updates), log, session.messages) == (["new"], [], [])


async def test_agent_middleware_has_no_place_in_a_client_or_a_provider(log: Log) -> None:
    from studio.agents import LayeredClient

    middleware = Middleware((around("m", log),))
    with pytest.raises(ValueError, match="agent middleware"):
        LayeredClient(LoggedClient([], log), middleware)
    bot = agent(LoggedClient(["x"], log), providers=(Noted("p", log, middleware=middleware),))
    with pytest.raises(ValueError, match="agent middleware"):
        await bot.run([user("q")])


async def test_middleware_sees_the_run(log: Log) -> None:
    seen: list[Any] = []

    async def look(context: Any, call_next: Any) -> None:
        seen.append((context.agent, [m.text for m in context.messages], context.session, context.streaming))
        context.metadata["n"] = 1
        await call_next()
        seen.append(context.result.text)

    bot = agent(LoggedClient(["x"], log), middleware=Middleware((look,), (look,)))
    session = bot.new_session()
    await bot.run([Message("user", (Text("q"),))], session=session)
    assert seen == [("bot", ["q"], session, False), ("bot", ["q"], session, False), "x", "x"]
