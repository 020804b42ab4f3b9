"""The order of an agent's layers: the reference sequence, whole and streamed, and the same on the real framework."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import agent_framework as af
import pytest
from studio.agents import LayeredClient, Message, Middleware, Text, Tool, ToolResult, user
from studio.agents.context_providers import attribution
from tests.agents.pipeline import Log, LoggedClient, Noted, NotedHistory, add_tool, agent, around, call, shapes

WHOLE = """
am1> am2> p1.before history.load(0) p2.before
cm_c> cm_a> cm_r> cm_p> model#1(3) cm_p< cm_r< cm_a< cm_c<
fm1> fm_r> TOOL fm1> fm_r> TOOL fm_r< fm1< fm_r< fm1<
cm_c> cm_a> cm_r> cm_p> model#2(5) cm_p< cm_r< cm_a< cm_c<
p2.after history.save[user, assistant, tool, assistant] p1.after
am2< am1<
"""
STREAMED = """
am1> am2> p1.before history.load(0) p2.before am2< am1<
cm_c> cm_a> cm_r> cm_p> cm_p< cm_r< cm_a< cm_c< model#1(3)
fm1> fm_r> TOOL fm1> fm_r> TOOL fm_r< fm1< fm_r< fm1<
cm_c> cm_a> cm_r> cm_p> cm_p< cm_r< cm_a< cm_c< model#2(5)
p2.after history.save[user, assistant, tool, assistant] p1.after
"""


def steps(text: str) -> list[str]:
    """The entries of a sequence; entries of the two concurrent calls are compared by their number."""
    line = " ".join(text.split())
    return line.replace("save[user, assistant, tool, assistant]", "save[u,a,t,a]").split(" ")


def ours(log: Log, replies: list[Any]) -> tuple[Any, Any]:
    async def tool(arguments: dict[str, Any]) -> int:
        log.append("TOOL")
        await asyncio.sleep(0)
        return int(arguments["a"]) + 1

    p1 = Noted("p1", log, messages=[user("from p1")], instructions="p1 says")
    history = NotedHistory(log)
    p2 = Noted("p2", log, messages=[user("from p2")], middleware=Middleware(chat=(around("cm_p", log),)))
    client = LoggedClient(replies, log)
    bot = agent(
        LayeredClient(client, Middleware(chat=(around("cm_c", log),))),
        instructions="be kind",
        tools=(Tool("add", "", None, tool),),
        providers=(p1, history, p2),
        middleware=Middleware((around("am1", log), around("am2", log)), (around("cm_a", log),), (around("fm1", log),)),
    )
    return bot, (client, history)


@pytest.mark.parametrize("stream", [False, True], ids=["A-SEQ-1", "A-SEQ-2"])
async def test_reference_sequence(stream: bool) -> None:
    log: Log = []
    bot, (client, history) = ours(log, [call(1, 2), "done"])
    updates: list[Any] = []
    session = bot.new_session()
    reply = await bot.run(
        [user("go")],
        session=session,
        updates=updates.append if stream else None,
        middleware=Middleware(chat=(around("cm_r", log),), function=(around("fm_r", log),)),
    )
    assert " ".join(log_steps(log)) == " ".join(steps(STREAMED if stream else WHOLE))
    assert [m.role for m in reply.messages] == ["assistant", "tool", "assistant"]
    assert {m.author for m in reply.messages} == {"bot"}
    results = [p.result for p in reply.messages[1].parts if isinstance(p, ToolResult)]
    assert results == ["2", "3"]
    first = client.requests[0]
    assert shapes(first.messages) == [("user", "from p1"), ("user", "from p2"), ("user", "go")]
    assert [a and a["source_id"] for a in map(attribution, first.messages)] == ["p1", "p2", None]
    assert first.instructions == "be kind\np1 says"
    assert shapes(history.stored)[0] == ("user", "go")
    assert session.messages == []


def log_steps(log: Log) -> list[str]:
    return [entry.replace("save[user, assistant, tool, assistant]", "save[u,a,t,a]") for entry in log]


# ------------------------------------------------------------------------------------------ the real framework


class _Inner(af.BaseChatClient):
    def __init__(self, *, replies: list[Any], log: Log, **options: Any) -> None:
        super().__init__(**options)
        self.replies, self.log, self.number = replies, log, 0

    def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **kwargs: Any) -> Any:
        def contents() -> list[af.Content]:
            self.log.append(f"model#{self.number + 1}({len(messages)})")
            reply = self.replies[self.number]
            self.number += 1
            if isinstance(reply, str):
                return [af.Content.from_text(reply)]
            return [
                af.Content.from_function_call(call_id=c["id"], name=c["tool"], arguments=json.dumps(c["arguments"]))
                for c in reply["calls"]
            ]

        if stream:

            async def updates() -> AsyncIterator[af.ChatResponseUpdate]:
                yield af.ChatResponseUpdate(role="assistant", contents=contents())

            return self._build_response_stream(updates())

        async def whole() -> af.ChatResponse:
            return af.ChatResponse(messages=[af.Message(role="assistant", contents=contents())])

        return whole()


class _Client(af.FunctionInvocationLayer, af.ChatMiddlewareLayer, _Inner):
    pass


def theirs(log: Log, name: str, kind: Any) -> Any:
    class Around(kind):  # type: ignore[misc]
        async def process(self, context: Any, call_next: Any) -> None:
            log.append(f"{name}>")
            await call_next()
            log.append(f"{name}<")

    return Around()


class _Provider(af.ContextProvider):
    def __init__(self, name: str, log: Log, middleware: Any = None) -> None:
        super().__init__(name)
        self.log, self.middleware = log, middleware

    async def before_run(self, *, agent: Any, session: Any, context: Any, state: Any) -> None:
        self.log.append(f"{self.source_id}.before")
        context.extend_messages(self.source_id, [af.Message(role="user", contents=[f"from {self.source_id}"])])
        if self.middleware is not None:
            context.extend_middleware(self.source_id, [self.middleware])

    async def after_run(self, *, agent: Any, session: Any, context: Any, state: Any) -> None:
        self.log.append(f"{self.source_id}.after")


class _History(af.HistoryProvider):
    def __init__(self, log: Log) -> None:
        super().__init__("history")
        self.log = log
        self.stored: list[af.Message] = []

    async def get_messages(self, session_id: Any, **kwargs: Any) -> list[af.Message]:
        self.log.append(f"history.load({len(self.stored)})")
        return list(self.stored)

    async def save_messages(self, session_id: Any, messages: Any, **kwargs: Any) -> None:
        self.log.append(f"history.save[{', '.join(str(m.role) for m in messages)}]")
        self.stored.extend(messages)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.filterwarnings("ignore::FutureWarning")
async def test_framework_has_the_same_sequence(stream: bool) -> None:
    log: Log = []

    async def add(a: int) -> int:
        log.append("TOOL")
        await asyncio.sleep(0)
        return a + 1

    client = _Client(replies=[call(1, 2), "done"], log=log, middleware=[theirs(log, "cm_c", af.ChatMiddleware)])
    bot = af.Agent(
        client,
        name="bot",
        tools=[af.FunctionTool(name="add", description="", func=add)],
        context_providers=[
            _Provider("p1", log),
            _History(log),
            _Provider("p2", log, theirs(log, "cm_p", af.ChatMiddleware)),
        ],
        middleware=[
            theirs(log, "am1", af.AgentMiddleware),
            theirs(log, "am2", af.AgentMiddleware),
            theirs(log, "cm_a", af.ChatMiddleware),
            theirs(log, "fm1", af.FunctionMiddleware),
        ],
    )
    run_level = [theirs(log, "cm_r", af.ChatMiddleware), theirs(log, "fm_r", af.FunctionMiddleware)]
    session = bot.create_session()
    if stream:
        running = bot.run("go", stream=True, session=session, middleware=run_level)
        async for _ in running:
            pass
        await running.get_final_response()
    else:
        await bot.run("go", session=session, middleware=run_level)
    assert " ".join(log_steps(log)) == " ".join(steps(STREAMED if stream else WHOLE))


# ------------------------------------------------------------------------------------------------- streaming


async def test_hooks_of_a_streamed_answer_in_their_order() -> None:
    """after-continue, model, transform, update to the caller, result hook, close."""
    log: Log = []

    async def post(context: Any, call_next: Any) -> None:
        def transform(update: Any) -> Any:
            log.append("transform")
            return type(update)((Text(update.text.upper()),), author=update.author)

        async def result(reply: Any) -> Any:
            log.append(f"result {reply.text}")
            return None

        context.on_update(transform)
        context.on_result(result)
        context.on_close(lambda: log.append("close"))
        await call_next()
        log.append("after-continue")

    def caller(update: Any) -> None:
        log.append(f"update {update.text}")

    bot = agent(LoggedClient(["hi"], log), middleware=Middleware((post,)))
    await bot.run([user("q")], updates=caller)
    assert log == ["after-continue", "model#1(1)", "transform", "update HI", "result hi", "close"]


@pytest.mark.parametrize("kind", ["agent", "chat"])
async def test_hooks_of_inner_middleware_come_first(kind: str) -> None:
    log: Log = []

    def marked(mark: str) -> Any:
        async def middleware(context: Any, call_next: Any) -> None:
            context.on_update(lambda u: type(u)((Text(u.text + mark),), author=u.author))
            context.on_result(lambda r: log.append(mark))
            context.on_close(lambda: log.append(f"close {mark}"))
            await call_next()

        return middleware

    chain = (marked("1"), marked("2"))
    bot = agent(LoggedClient(["x"], []), middleware=Middleware(**{kind: chain}))
    updates: list[Any] = []
    await bot.run([user("q")], updates=updates.append)
    assert [u.text for u in updates] == ["x21"]
    assert log == ["2", "1", "close 1", "close 2"]


async def test_hook_that_gives_none_drops_the_update_and_a_result_hook_changes_the_answer() -> None:
    async def quiet(context: Any, call_next: Any) -> None:
        context.on_update(lambda update: None)
        context.on_result(lambda reply: type(reply)((Message("assistant", (Text("other"),)),)))
        await call_next()

    updates: list[Any] = []
    bot = agent(LoggedClient(["x"], []), middleware=Middleware((quiet,)))
    session = bot.new_session()
    reply = await bot.run([user("q")], session=session, updates=updates.append)
    assert (updates, reply.text) == ([], "other")
    assert shapes(session.messages) == [("user", "q"), ("assistant", "x")]


async def test_a_slow_hook_keeps_the_order_and_gets_what_came_meanwhile_at_once() -> None:
    batches: list[list[str]] = []
    log: Log = []

    async def slow(context: Any, call_next: Any) -> None:
        async def transform(updates: Any) -> Any:
            batches.append([u.text for u in updates])
            await asyncio.sleep(0)
            return [type(u)((Text(u.text + "!"),), author=u.author) for u in updates if u.text]

        context.on_updates(transform)
        context.on_update(lambda u: type(u)((Text(u.text.upper()),), author=u.author))
        context.on_result(lambda reply: log.append("result"))
        await call_next()

    bot = agent(LoggedClient(["a b c"], []), middleware=Middleware((slow,)))
    await bot.run([user("q")], updates=lambda u: log.append(u.text))
    assert [text for batch in batches for text in batch if text] == [t.removesuffix("!") for t in log[:-1]]
    assert ("".join(log[:-1]).replace("!", ""), log[-1]) == ("A B C", "result")


async def test_a_slow_hook_that_fails_or_is_cancelled_leaves_nothing_behind() -> None:
    begun, waiting = asyncio.Event(), asyncio.Event()

    def hooked(transform: Any) -> Any:
        async def middleware(context: Any, call_next: Any) -> None:
            context.on_updates(transform)
            await call_next()

        return agent(LoggedClient(["x"], []), middleware=Middleware((middleware,)))

    async def fails(updates: Any) -> Any:
        raise ValueError("no")

    async def waits(updates: Any) -> Any:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            waiting.set()

    bot = hooked(fails)
    session = bot.new_session()
    with pytest.raises(ValueError, match="no"):
        await bot.run([user("q")], session=session, updates=lambda u: None)
    assert session.messages == []
    running = asyncio.ensure_future(hooked(waits).run([user("q")], updates=lambda u: None))
    await begun.wait()
    running.cancel()
    await asyncio.wait([running])
    assert (running.cancelled(), waiting.is_set()) == (True, True)


async def test_error_in_the_stream_stores_nothing_and_closes() -> None:
    log: Log = []

    async def watch(context: Any, call_next: Any) -> None:
        context.on_close(lambda: log.append("close"))
        await call_next()

    tool = add_tool(log)
    client = LoggedClient([call(1), {"error": "cut"}], log)
    bot = agent(client, tools=(tool,), middleware=Middleware((watch,)))
    session = bot.new_session()
    updates: list[Any] = []
    with pytest.raises(Exception, match="cut"):
        await bot.run([user("q")], session=session, updates=updates.append)
    assert [type(p).__name__ for u in updates for p in u.parts] == ["ToolCall", "ToolResult"]
    assert log[-1] == "close"
    assert session.messages == []
