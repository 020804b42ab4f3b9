"""Middleware of a drawing runs in the worker: around runs, model calls and tool calls, in its order, with its rules."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, Literal

import pytest
from studio.agents.errors import ProviderError
from studio.agents.messages import AgentUpdate
from studio.agents.middleware import MiddlewareFailure
from studio.assembly import compile_plan
from studio.document.agent_options import ContextProvider, MiddlewareDecl
from studio.document.model import ModuleDecl, ToolDecl, Workflow
from studio.engine import events as ev
from studio.workers import UserCodeError

from tests.assembly.running import Bench, Ran, script
from tests.assembly.test_kinds import agent, workflow
from tests.waiting import until

Kind = Literal["agent", "chat", "function"]


def around(kind: Kind, body: str) -> MiddlewareDecl:
    return MiddlewareDecl(kind=kind, body=body)


LIB = ModuleDecl(name="lib", source="def look(what):\n    print('looked at ' + what)\n    return 'saw ' + what")
LOOK = ToolDecl(
    name="look",
    call="lib:look",
    parameters={"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]},
)
CALL = {"calls": [{"id": "c1", "tool": "look", "arguments": {"what": "it"}}]}


def flow(*middleware: MiddlewareDecl, replies: tuple[Any, ...] = ("answer",), **fields: Any) -> Workflow:
    node = agent("a", middleware=middleware, tools=("look",), **fields)
    return workflow([node], modules=(LIB,), tools=(LOOK,), offline=script(a=list(replies)))


def seen(ran: Ran) -> list[list[str]]:
    return [[m.text for m in e.messages] for e in ran.events if isinstance(e, ev.ModelCallStarted)]


def says(kind: Kind, name: str) -> MiddlewareDecl:
    return around(kind, f"print('{name}>')\nawait call_next()\nprint('{name}<')")


async def test_all_kinds_in_their_order(bench: Bench) -> None:
    kinds: list[MiddlewareDecl] = [
        says("agent", "a1"), says("function", "f1"), says("chat", "c1"), says("agent", "a2"), says("chat", "c2"),
    ]  # fmt: skip
    ran = await bench.run(flow(*kinds, replies=(CALL, "done")))
    assert " ".join(text for _, text in ran.printed) == (
        "a1> a2> c1> c2> c2< c1< f1> looked at it f1< c1> c2> c2< c1< a2< a1<"
    )
    assert ran.outputs[-1][1].text.endswith("done")


async def test_what_it_changes_before_is_what_happens(bench: Bench) -> None:
    body = "context.messages.append(Message('user', ['and be kind']))\nawait call_next()"
    assert seen(await bench.run(flow(around("agent", body)), "hi")) == [["hi", "and be kind"]]
    body = "context.messages = [m for m in context.messages if m.text != 'hi'] + [Message('user', ['ho'])]"
    assert seen(await bench.run(flow(around("chat", body + "\nawait call_next()")), "hi")) == [["ho"]]


async def test_options_of_a_call(bench: Bench) -> None:
    options: list[Any] = []
    body = "context.options['temperature'] = 0.5\ncontext.options['instructions'] += ' Short.'\nawait call_next()"
    document = flow(around("chat", body))
    services = bench.source.services(document)
    inner = services.client_for(document.nodes[0])  # type: ignore[arg-type]

    class Watched:
        model = "offline"

        async def complete(self, request: Any, **more: Any) -> Any:
            options.append((request.options.temperature, request.instructions))
            return await inner.complete(request, **more)

    from dataclasses import replace

    plan = compile_plan(document, replace(services, client_for=lambda _: Watched()))  # type: ignore[arg-type,return-value]
    await plan.engine.run("in")
    assert options == [(0.5, "You are a. Short.")]


@pytest.mark.parametrize(
    "answer",
    [
        "'no'",
        "Message('assistant', ['no'])",
        "[Message('assistant', ['no'])]",
        "AgentResponse(messages=[Message('assistant', ['no'])])",
    ],
)
@pytest.mark.parametrize("kind", ["agent", "chat"])
@pytest.mark.parametrize("stream", [False, True])
async def test_a_result_without_call_next_answers(bench: Bench, kind: Kind, answer: str, stream: bool) -> None:
    ran = await bench.run(flow(around(kind, f"context.result = {answer}")), "hi", stream=stream)
    assert seen(ran) == []
    assert "".join(d.text for _, d in ran.outputs) == "no"


async def test_a_result_after_call_next_replaces_the_answer_and_keeps_the_usage(bench: Bench) -> None:
    body = "await call_next()\ncontext.result = context.result.text.upper()"
    ran = await bench.run(flow(around("agent", body)), "hi")
    assert ran.outputs[-1][1].text == "ANSWER"
    assert ran.outputs[-1][1].usage is not None
    assert ran.outputs[-1][1].usage.input > 0


async def test_termination_skips_what_outer_middleware_would_do(bench: Bench) -> None:
    outer = around("agent", "await call_next()\nprint('after')")
    ran = await bench.run(flow(outer, around("agent", "raise MiddlewareTermination(result='stop')")), "hi")
    assert ran.outputs[-1][1].text == "stop"
    assert ran.printed == []


async def test_a_tool_call_may_be_changed_skipped_or_ended(bench: Bench) -> None:
    other = around("function", "context.arguments['what'] = context.function.name\nawait call_next()")
    ran = await bench.run(flow(other, replies=(CALL, {"echo": "got "})))
    assert ran.outputs[-1][1].text == "got saw look"
    skipped = await bench.run(
        flow(around("function", "context.result = {'cached': 1}"), replies=(CALL, {"echo": "got "}))
    )
    assert skipped.outputs[-1][1].text == 'got {"cached": 1}'
    assert skipped.printed == []
    ended = await bench.run(flow(around("function", "raise MiddlewareTermination('enough')"), replies=(CALL, "never")))
    assert len(seen(ended)) == 1


async def test_a_failure_around_a_tool_fails_the_run(bench: Bench) -> None:
    with pytest.raises(MiddlewareFailure, match="policy"):
        await bench.run(flow(around("function", "raise MiddlewareFailure('policy')"), replies=(CALL, "x")))


async def test_an_error_of_the_code_says_where(bench: Bench) -> None:
    with pytest.raises(UserCodeError, match="ZeroDivisionError") as caught:
        await bench.run(flow(around("agent", "await call_next()\n1 / 0")))
    assert [(f.unit, f.line) for f in caught.value.where] == [("a middleware 1", 2)]


FAILING = ({"error": "down", "status": 400},)


async def test_an_error_of_the_model_passes_through_as_it_was(bench: Bench) -> None:
    with pytest.raises(ProviderError, match="down"):
        await bench.run(flow(says("agent", "a"), says("chat", "c"), replies=FAILING))


async def test_an_error_of_the_model_may_be_caught(bench: Bench) -> None:
    body = "try:\n    await call_next()\nexcept Exception as error:\n    context.result = 'sorry: ' + str(error)[:20]"
    ran = await bench.run(flow(around("agent", body), replies=FAILING))
    assert ran.outputs[-1][1].text.startswith("sorry: The provider")


async def test_metadata_is_shared_along_the_chain(bench: Bench) -> None:
    outer = around("agent", "context.metadata['n'] = 1\nawait call_next()\nprint(context.metadata)")
    inner = around("agent", "context.metadata['n'] += 1\nawait call_next()")
    ran = await bench.run(flow(outer, inner))
    assert ran.printed == [("a", "{'n': 2}")]


async def test_a_function_of_a_module_with_the_decorator_of_the_framework(bench: Bench) -> None:
    source = (
        "from agent_framework import AgentContext, agent_middleware\n\n"
        "@agent_middleware\n"
        "async def log(context: AgentContext, call_next):\n"
        "    print(context.agent.name, context.stream, context.session.session_id != '')\n"
        "    await call_next()"
    )
    document = flow(MiddlewareDecl(kind="agent", call="guards:log"))
    document = document.model_copy(update={"modules": (LIB, ModuleDecl(name="guards", source=source))})
    assert (await bench.run(document)).printed == [("a", "a False True")]


async def test_a_plain_function_is_refused(bench: Bench) -> None:
    document = flow(MiddlewareDecl(kind="agent", call="guards:log"))
    module = ModuleDecl(name="guards", source="def log(context, call_next): ...")
    document = document.model_copy(update={"modules": (LIB, module)})
    with pytest.raises(UserCodeError, match="has to be an async function"):
        await bench.run(document)


async def test_in_a_streaming_run_the_answer_comes_after_the_code_and_hooks_see_it(bench: Bench) -> None:
    body = (
        "await call_next()\nprint('built', context.result)\n"
        "context.stream_result_hooks.append(lambda r: print('whole', r.text))\n"
        "context.stream_result_hooks.append(lambda r: AgentResponse(messages=[Message('assistant', [r.text + '!'])]))\n"
        "context.stream_cleanup_hooks.append(lambda: print('closed'))"
    )
    ran = await bench.run(flow(around("agent", body)), stream=True)
    assert [text for _, text in ran.printed] == ["built None", "whole answer", "closed"]
    assert "".join(d.text for _, d in ran.outputs if isinstance(d, AgentUpdate)) == "answer"
    sent = next(e.data for e in ran.events if isinstance(e, ev.MessageQueued) and e.purpose == "response")
    assert sent.reply.text == "answer!"


@pytest.mark.parametrize("kind", ["agent", "chat"])
async def test_hooks_on_updates_change_what_a_caller_sees_in_its_order(bench: Bench, kind: Kind) -> None:
    made = "AgentResponseUpdate" if kind == "agent" else "ChatResponseUpdate"
    louder = (
        "async def louder(update):\n    import asyncio\n    await asyncio.sleep(0)\n"
        f"    return {made}(contents=[Content.from_text(update.text.upper())], role=update.role)\n"
        "def kept(update):\n    return None\n"
        "context.stream_transform_hooks.extend([louder, kept])\nawait call_next()"
    )
    changed = (
        "def marked(update):\n    for part in update.contents:\n        if part.type == 'text':\n"
        "            update.contents = [Content.from_text('<' + part.text + '>')]\n    return update\n"
        "await call_next()\ncontext.stream_transform_hooks.append(marked)\n"
        "context.stream_result_hooks.append(lambda r: print('whole', r.messages[-1].text))"
    )
    document = flow(around(kind, louder), around(kind, changed), replies=("one two three",))
    ran = await bench.run(document, stream=True)
    shown = [d.text for _, d in ran.outputs if isinstance(d, AgentUpdate) and d.text]
    assert "".join(shown).replace("><", "") == "<ONE TWO THREE>"
    assert all(text.startswith("<") and text.endswith(">") for text in shown)
    assert [text for _, text in ran.printed] == ["whole one two three"]


async def test_an_error_in_a_hook_on_updates_fails_the_run(bench: Bench) -> None:
    body = "def bad(update):\n    raise ValueError('no such word')\ncontext.stream_transform_hooks.append(bad)\n"
    with pytest.raises(UserCodeError, match="no such word"):
        await bench.run(flow(around("agent", body + "await call_next()")), stream=True)
    wrong = "context.stream_transform_hooks.append(lambda u: u.text)\nawait call_next()"
    with pytest.raises(UserCodeError, match="has to give an AgentResponseUpdate"):
        await bench.run(flow(around("agent", wrong)), stream=True)


async def test_code_that_does_not_go_on_is_stopped_in_time() -> None:
    from studio.settings.preferences import Preferences

    hasty = Bench(preferences=lambda: Preferences(call_seconds=0.3))
    try:
        with pytest.raises(UserCodeError, match=r"did not go on within 0\.3 seconds"):
            await hasty.run(flow(around("agent", "import asyncio\nawait asyncio.sleep(1000)")))
    finally:
        await hasty.source.close()


async def test_a_cancelled_run_ends_the_code_around_it(bench: Bench) -> None:
    body = "try:\n    await call_next()\nfinally:\n    print('left')"
    document = flow(around("agent", body), replies=({"text": "slow", "wait_ms": 60_000},))
    plan = compile_plan(document, bench.source.services(document))
    events: deque[Any] = deque()
    task = asyncio.ensure_future(plan.engine.run("in", events=events))
    await until(lambda: any(isinstance(e, ev.ModelCallStarted) for e in events))
    task.cancel()
    await asyncio.wait([task])
    assert (await bench.run(flow(says("agent", "a")))).outputs[-1][1].text == "answer"


async def test_messages_that_nobody_changed_are_stored_once(bench: Bench) -> None:
    history = ContextProvider(kind="history")
    document = flow(
        says("agent", "a"), says("chat", "c"), replies=(CALL, "done"), store_per_call=True, providers=(history,)
    )
    assert seen(await bench.run(document, "hi")) == [["hi"], ["hi", "", ""]]
