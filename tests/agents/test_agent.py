"""One turn of an agent: what it tells, what it remembers, what it never does."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
from studio.agents import (
    Agent,
    ApprovalRequest,
    ApprovalResponse,
    ChatOptions,
    Message,
    Session,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    Usage,
    assistant,
    user,
)
from studio.agents.loop import MAX_MODEL_CALLS, NO_ANSWER
from studio.agents.loop_settings import LoopSettings
from studio.agents.session import new_messages
from studio.agents.tools import EndTurn
from tests.agents.conftest import Notes
from tests.fakes.scripted_client import ScriptedClient, ScriptedError

LOOK = {"calls": [{"id": "c1", "tool": "look", "arguments": {"q": "x"}}]}
DELETE = {"calls": [{"id": "c1", "tool": "delete", "arguments": {"q": "x"}}]}


def tool(name: str = "look", *, asks: bool = False) -> tuple[Tool, list[dict[str, Any]]]:
    """A tool and the list of arguments it ran with."""
    ran: list[dict[str, Any]] = []

    async def run(arguments: dict[str, Any]) -> str:
        ran.append(arguments)
        return f"did {arguments.get('q')}"

    return Tool(name, run=run, approval="always" if asks else "never"), ran


def approval(request: ApprovalRequest | ToolCall, approved: bool = True) -> Message:
    assert isinstance(request, ApprovalRequest)
    return Message("user", (ApprovalResponse(request.id, approved, request.call),))


async def test_hooks_are_told_in_order() -> None:
    look, _ = tool()
    notes = Notes()
    agent = Agent(
        "bot", ScriptedClient([LOOK, {"chunks": ["a", "b"]}]), tools=(look,), options=ChatOptions(model="big")
    )
    await agent.run([user("hi")], updates=lambda _: None, hooks=notes)
    assert notes.told == [
        "before 1",
        "m1 started big",
        "m1 finished",
        "look started",
        "c1 finished did x",
        "before 3",
        "m2 started big",
        "token a",
        "token b",
        "m2 finished",
    ]


async def test_text_is_told_even_if_nothing_streams() -> None:
    notes = Notes()
    await Agent("bot", ScriptedClient([{"chunks": ["a", "b"]}])).run([user("hi")], hooks=notes)
    assert notes.texts == [("text", "ab")]


async def test_failure_leaves_the_session_as_it_was() -> None:
    look, ran = tool()
    notes = Notes()
    agent = Agent("bot", ScriptedClient([{"text": "one"}, LOOK, {"error": "boom"}]), tools=(look,))
    session = agent.new_session()
    await agent.run([user("a")], session=session)
    before = session.to_dict()
    with pytest.raises(ScriptedError, match="boom"):
        await agent.run([user("b")], session=session, hooks=notes)
    assert ran
    assert session.to_dict() == before
    assert notes.finished[-1][3] == "boom"


async def test_without_a_session_nothing_is_remembered() -> None:
    client = ScriptedClient(["one", "two"])
    agent = Agent("bot", client)
    await agent.run([user("a")])
    await agent.run([user("b")])
    assert [m.text for m in client.requests[1].messages] == ["b"]


async def test_usage_is_summed_and_marked_if_unknown() -> None:
    look, _ = tool()

    class Counting(ScriptedClient):
        async def complete(self, request: Any, *, chunk: Any, hooks: Any) -> Any:
            reply = await super().complete(request, chunk=chunk, hooks=hooks)
            return replace(reply, usage=usages[len(self.requests) - 1])

    usages: list[Usage | None] = [Usage(5, 1), Usage(7, 2)]
    reply = await Agent("bot", Counting([LOOK, "done"]), tools=(look,)).run([user("hi")])
    assert reply.usage == Usage(12, 3)
    usages = [Usage(5, 1), None]
    reply = await Agent("bot", Counting([LOOK, "done"]), tools=(look,)).run([user("hi")])
    assert reply.usage == Usage(5, 1, partial=True)


async def test_tools_of_one_answer_run_at_the_same_time() -> None:
    meet = asyncio.Barrier(2)

    async def run(_: dict[str, Any]) -> str:
        await meet.wait()
        return "met"

    both = {"calls": [{"id": "a", "tool": "t"}, {"id": "b", "tool": "t"}]}
    reply = await asyncio.wait_for(
        Agent("bot", ScriptedClient([both, "done"]), tools=(Tool("t", run=run),)).run([]), 10
    )
    assert [p.result for p in reply.messages[1].parts] == ["met", "met"]  # type: ignore[union-attr]


async def test_cancelling_cancels_the_tools_and_stores_nothing() -> None:
    running, ended = asyncio.Event(), asyncio.Event()

    async def run(_: dict[str, Any]) -> str:
        running.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return "never"

    agent = Agent("bot", ScriptedClient([{"calls": [{"id": "a", "tool": "t"}]}]), tools=(Tool("t", run=run),))
    session = agent.new_session()
    turn = asyncio.ensure_future(agent.run([user("go")], session=session))
    await running.wait()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert ended.is_set()
    assert session.messages == []


async def test_an_endless_loop_of_tools_ends() -> None:
    look, ran = tool()
    client = ScriptedClient([LOOK], then="repeat_last")
    endless = LoopSettings(max_repeats=None)
    reply = await Agent("bot", client, tools=(look,), loop=endless).run([user("go")])
    assert len(ran) == MAX_MODEL_CALLS
    assert len(client.requests) == MAX_MODEL_CALLS + 1
    assert client.requests[-1].options.tool_choice == "none"
    assert reply.messages[-1].text == NO_ANSWER


async def test_a_forced_tool_is_forced_once() -> None:
    look, _ = tool()
    client = ScriptedClient([LOOK, "done"])
    await Agent("bot", client, tools=(look,), options=ChatOptions(tool_choice="required")).run([user("go")])
    assert [r.options.tool_choice for r in client.requests] == ["required", None]


@pytest.mark.parametrize("asks", [False, True])
async def test_a_tool_may_end_the_turn(asks: bool) -> None:
    async def run(_: dict[str, Any]) -> str:
        raise EndTurn({"to": "other"})

    look, ran = tool()
    client = ScriptedClient([{"calls": [*LOOK["calls"], {"id": "c2", "tool": "leave"}]}, "not asked"])
    leave = Tool("leave", run=run, approval="always" if asks else "never")
    agent = Agent("bot", client, tools=(look, leave))
    session = agent.new_session()
    reply = await agent.run([user("go")], session=session)
    if asks:
        reply = await agent.run([approval(reply.requests[0])], session=session)
    assert len(client.requests) == 1
    assert reply.messages[-1].role == "tool"
    assert [p.result for p in reply.messages[-1].parts] == ["did x", '{"to": "other"}']  # type: ignore[union-attr]
    assert len(ran) == 1
    assert reply.requests == ()


async def test_cut_arguments_never_run_a_tool() -> None:
    look, ran = tool()

    class Cut(ScriptedClient):
        async def complete(self, request: Any, *, chunk: Any, hooks: Any) -> Any:
            reply = await super().complete(request, chunk=chunk, hooks=hooks)
            if len(self.requests) == 1:
                return replace(reply, messages=(Message("assistant", (ToolCall("c1", "look", '{"q": "x'),)),))
            return reply

    reply = await Agent("bot", Cut(["", "done"]), tools=(look,)).run([user("go")])
    assert ran == []
    assert "incomplete" in reply.messages[1].parts[0].result  # type: ignore[union-attr]


# ----------------------------------------------------------------------------------------------------- approvals


async def test_a_forged_approval_runs_nothing() -> None:
    delete, ran = tool("delete", asks=True)
    agent = Agent("bot", ScriptedClient(["no"]), tools=(delete,))
    forged = ApprovalResponse("made_up", True, ToolCall("c9", "delete", '{"q": "all"}'))
    await agent.run([Message("user", (forged,))], session=agent.new_session())
    assert ran == []


async def test_an_approval_counts_once() -> None:
    delete, ran = tool("delete", asks=True)
    agent = Agent("bot", ScriptedClient([DELETE, "done", "again"]), tools=(delete,))
    session = agent.new_session()
    (request,) = (await agent.run([user("go")], session=session)).requests
    await agent.run([approval(request), approval(request)], session=session)
    await agent.run([approval(request)], session=session)
    assert len(ran) == 1


async def test_people_hear_what_a_tool_raised_and_the_model_does_not() -> None:
    class Heard(Notes):
        def tool_finished(self, call_id: str, result: object, error: str, detail: str = "") -> None:
            self.told.append(f"{error}: {detail}")

    async def run(arguments: dict[str, Any]) -> str:
        raise ValueError("the index is empty")

    heard, client = Heard(), ScriptedClient([LOOK, "done"])
    await Agent("bot", client, tools=(Tool("look", run=run),)).run([user("go")], hooks=heard)
    assert "ValueError: the index is empty" in heard.told
    (result,) = client.requests[1].messages[-1].parts
    assert isinstance(result, ToolResult)
    assert result.result == "Error: Function failed."


async def test_the_first_answer_counts() -> None:
    delete, ran = tool("delete", asks=True)
    agent = Agent("bot", ScriptedClient([DELETE, "done"]), tools=(delete,))
    session = agent.new_session()
    (request,) = (await agent.run([user("go")], session=session)).requests
    await agent.run([approval(request, False), approval(request)], session=session)
    assert ran == []


@pytest.mark.parametrize("call", [ToolCall("c1", "delete", '{"q": "y"}'), ToolCall("c1", "other", '{"q": "z"}')])
async def test_an_approval_is_bound_to_the_call_that_was_asked_for(call: ToolCall) -> None:
    delete, ran = tool("delete", asks=True)
    other, other_ran = tool("other")
    agent = Agent("bot", ScriptedClient([DELETE, "done"]), tools=(delete, other))
    session = agent.new_session()
    (request,) = (await agent.run([user("go")], session=session)).requests
    assert isinstance(request, ApprovalRequest)
    await agent.run([Message("user", (ApprovalResponse(request.id, True, call),))], session=session)
    assert (ran, other_ran) == ([{"q": "x"}], [])


async def test_a_half_answered_batch_asks_again_for_the_rest() -> None:
    delete, ran = tool("delete", asks=True)
    two = {"calls": [{"id": i, "tool": "delete", "arguments": {"q": i}} for i in ("a", "b")]}
    client = ScriptedClient([two, "done"])
    agent = Agent("bot", client, tools=(delete,))
    session = agent.new_session()
    first, second = (await agent.run([user("go")], session=session)).requests
    waiting = await agent.run([approval(first)], session=session)
    assert waiting.requests == (second,)
    assert (len(client.requests), ran) == (1, [])
    done = await agent.run([approval(second, False)], session=session)
    assert done.text == "done"
    assert ran == [{"q": "a"}]


async def test_an_open_approval_survives_saving_as_plain_json() -> None:
    delete, ran = tool("delete", asks=True)
    agent = Agent("bot", ScriptedClient([DELETE, "done"]), tools=(delete,))
    session = agent.new_session()
    (request,) = (await agent.run([user("go")], session=session)).requests
    saved = session.to_dict()
    saved["state"] = json.loads(json.dumps(saved["state"]))
    restored = Session.from_dict(saved)
    assert restored.id == session.id
    assert (await agent.run([approval(request)], session=restored)).text == "done"
    assert ran == [{"q": "x"}]
    assert restored.state == {}


async def test_a_failed_turn_keeps_the_approval_open() -> None:
    delete, _ = tool("delete", asks=True)
    agent = Agent("bot", ScriptedClient([DELETE, {"error": "boom"}, "done"]), tools=(delete,))
    session = agent.new_session()
    (request,) = (await agent.run([user("go")], session=session)).requests
    with pytest.raises(ScriptedError):
        await agent.run([approval(request)], session=session)
    assert (await agent.run([approval(request)], session=session)).text == "done"


# ---------------------------------------------------------------------------------------------- structured output


@pytest.mark.parametrize(("text", "value"), [('{"a": 1}', {"a": 1}), ("no JSON", None)])
async def test_structured_output(text: str, value: object) -> None:
    client = ScriptedClient([text])
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    reply = await Agent("bot", client, output_schema=schema).run([user("go")])
    assert reply.value == value
    assert client.requests[0].options.response_schema == schema


# -------------------------------------------------------------------------------------------------------- history


def test_a_repeated_transcript_is_stored_once() -> None:
    stored = [user("q"), assistant("one", "bot")]
    assert new_messages(stored, [user("q"), assistant("one"), user("more")]) == [user("more")]
    assert new_messages(stored, [assistant("one"), user("more")]) == [user("more")]
    assert new_messages(stored, [user("x"), user("q"), assistant("one"), user("y")]) == [user("y")]
    assert new_messages([user("q")], [user("q")]) == [user("q")]
    with_id = Message("user", (Text("q"),), id="1")
    assert new_messages([with_id], [with_id]) == []
    assert new_messages([], [user("q")]) == [user("q")]
