"""PR-4: cancelling at any moment ends a call whose answer never ends, the server sees it, nothing is left behind.

How quick that is: ``packaging/bench stop``.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable

import httpx2
import pytest
from studio.agents import Agent, AgentUpdate, ChatRequest, NoHooks, OpenAIChatClient, ProviderError, Timeouts, user
from studio.agents.answer import Answer
from studio.agents.reading import StallWatch
from tests.agents.conftest import MakeClient, Notes
from tests.fakes.scripted_server import DONE, HOLD, Given, ScriptedServer, delta

WAITS = {
    "headers": Given(hold_head=True),
    "first chunk": Given((HOLD,)),
    "between chunks": Given((delta(content="Hel"), HOLD)),
    "whole answer": Given((b'{"choices": ', HOLD), type="application/json"),
}


def others() -> set[asyncio.Task[object]]:
    return {t for t in asyncio.all_tasks() if t is not asyncio.current_task()}


async def cancelled(running: asyncio.Task[object]) -> None:
    """Cancels the task and waits until it is over."""
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(running, 60)


def started(client: OpenAIChatClient, request: ChatRequest, chunk: Callable[[AgentUpdate], None] | None):  # type: ignore[no-untyped-def]
    return asyncio.ensure_future(client.complete(request, chunk=chunk, hooks=NoHooks()))


@pytest.mark.parametrize("wait", WAITS)
async def test_cancelled_while_waiting_for(wait: str, make_client: MakeClient, request_hello: ChatRequest) -> None:
    async with ScriptedServer(WAITS[wait]) as server:
        client = make_client(server.url)
        running = started(client, request_hello, None if wait == "whole answer" else lambda _: None)
        await asyncio.wait_for(server.arrived.wait(), 60)
        await cancelled(running)
        await asyncio.wait_for(server.hang_up.wait(), 60)


async def test_cancelled_after_the_first_chunk_was_shown(make_client: MakeClient, request_hello: ChatRequest) -> None:
    shown = asyncio.Event()
    async with ScriptedServer(WAITS["between chunks"]) as server:
        running = started(make_client(server.url), request_hello, lambda _: shown.set())
        await asyncio.wait_for(shown.wait(), 60)
        await cancelled(running)
        await asyncio.wait_for(server.hang_up.wait(), 60)


async def test_cancelled_while_waiting_for_a_further_try(make_client: MakeClient, request_hello: ChatRequest) -> None:
    notes = Notes()
    async with ScriptedServer(Given(status=429, headers={"retry-after": "60"})) as server:
        client = make_client(server.url, tries=3)
        running = asyncio.ensure_future(client.complete(request_hello, chunk=None, hooks=notes))
        await asyncio.wait_for(notes.retried.wait(), 60)
        await cancelled(running)
        assert len(server.received) == 1


async def test_eight_streams_at_once_leave_nothing(make_client: MakeClient, request_hello: ChatRequest) -> None:
    before = others()
    async with ScriptedServer(WAITS["between chunks"]) as server:
        client = make_client(server.url)
        shown = 0
        all_shown = asyncio.Event()

        def show(_: AgentUpdate) -> None:
            nonlocal shown
            shown += 1
            if shown == 8:
                all_shown.set()

        running = [started(client, request_hello, show) for _ in range(8)]
        await asyncio.wait_for(all_shown.wait(), 60)
        for task in running:
            task.cancel()
        await asyncio.wait_for(asyncio.gather(*running, return_exceptions=True), 60)
        while server.hung_up < 8:
            await asyncio.wait_for(server.hang_up.wait(), 60)
            server.hang_up.clear()
        await client.close()
    gc.collect()
    assert others() == before


async def test_closing_the_client_ends_a_running_call(make_client: MakeClient, request_hello: ChatRequest) -> None:
    async with ScriptedServer(WAITS["between chunks"]) as server:
        client = make_client(server.url)
        running = started(client, request_hello, lambda _: None)
        await asyncio.wait_for(server.arrived.wait(), 60)
        await client.close()
        with pytest.raises(ProviderError):
            await asyncio.wait_for(running, 60)


async def test_silence_inside_an_answer_is_an_error(make_client: MakeClient, request_hello: ChatRequest) -> None:
    async with ScriptedServer(WAITS["between chunks"]) as server:
        client = make_client(server.url, timeouts=Timeouts(stall=0.05))
        with pytest.raises(ProviderError) as caught:
            await client.complete(request_hello, chunk=lambda _: None, hooks=NoHooks())
        assert (caught.value.kind, caught.value.partial) == ("stalled", "Hel")
        await asyncio.wait_for(server.hang_up.wait(), 60)


async def test_every_sign_of_life_moves_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()
    now = loop.time()
    async with StallWatch(60, Answer()) as watch:
        for later in (30, 70, 120):
            monkeypatch.setattr(loop, "time", lambda later=later: now + later)
            watch.alive()
            assert watch.deadline == now + later + 60
        monkeypatch.undo()


async def test_no_answer_at_all_is_an_error(make_client: MakeClient, request_hello: ChatRequest) -> None:
    async with ScriptedServer(WAITS["headers"]) as server:
        client = make_client(server.url, timeouts=Timeouts(first_byte=0.05))
        with pytest.raises(ProviderError) as caught:
            await client.complete(request_hello, chunk=lambda _: None, hooks=NoHooks())
    assert caught.value.kind == "timeout"


async def test_the_loop_gets_its_turn_while_a_full_buffer_is_parsed(
    make_client: MakeClient, request_hello: ChatRequest
) -> None:
    """The whole answer is there at once: nothing in the read path waits by itself."""

    def transport() -> object:
        def answer(_: httpx2.Request) -> httpx2.Response:
            data = delta(content="word ") * 20_000 + delta("stop") + DONE
            return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=data)

        return httpx2.MockTransport(answer)

    client = make_client("http://offline.invalid/v1", transport=transport)
    turns, over = 0, False
    seen: list[int] = []

    async def beat() -> None:
        nonlocal turns
        while not over:
            turns += 1
            await asyncio.sleep(0)

    beating = asyncio.ensure_future(beat())
    await client.complete(request_hello, chunk=lambda _: seen.append(turns), hooks=NoHooks())
    over = True
    await beating
    assert len(seen) == 20_000
    assert len(set(seen)) >= 5


async def test_hooks_are_told_of_a_cancelled_call(make_client: MakeClient) -> None:
    notes = Notes()
    async with ScriptedServer(WAITS["headers"]) as server:
        agent = Agent("a", make_client(server.url))
        session = agent.new_session()
        running = asyncio.ensure_future(agent.run([user("hi")], session=session, hooks=notes))
        await asyncio.wait_for(server.arrived.wait(), 60)
        await cancelled(running)
    assert [f[3] for f in notes.finished] == ["cancelled"]
    assert session.messages == []
