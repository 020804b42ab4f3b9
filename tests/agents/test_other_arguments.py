"""A person who changes a call's arguments refuses what was asked for and makes a call: the model hears of both."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from studio.agents import (
    Agent,
    ApprovalRequest,
    ApprovalResponse,
    Message,
    Session,
    ToolCall,
    ToolResult,
    user,
)
from studio.agents.middleware import Middleware, ToolRun
from studio.agents.pending import with_other_arguments
from studio.agents.plain import message_from_plain, message_to_plain
from studio.assembly.wire import read_messages, to_worker
from studio.engine.codec import decode, encode
from tests.agents.test_agent import DELETE, approval, tool
from tests.fakes.scripted_client import ScriptedClient


def parts_of(messages: Sequence[Message]) -> list[tuple[str, list[object]]]:
    """Roles, and calls as arguments, results as their value."""

    def word(part: object) -> object:
        return part.arguments if isinstance(part, ToolCall) else getattr(part, "result", getattr(part, "text", part))

    return [(m.role, [word(p) for p in m.parts]) for m in messages]


async def test_other_arguments_are_a_refusal_and_a_new_call() -> None:
    delete, ran = tool("delete", asks=True)
    client = ScriptedClient([DELETE, "done", "more"])
    agent = Agent("bot", client, tools=(delete,))
    session = agent.new_session()
    (request,) = (await agent.run([user("go")], session=session)).requests
    assert isinstance(request, ApprovalRequest)
    answer = with_other_arguments(request, '{"q": "y"}')
    assert (answer.approved, answer.call) == (False, request.call)
    reply = await agent.run([Message("user", (answer,))], session=session)
    assert (ran, reply.text) == ([{"q": "y"}], "done")
    seen = parts_of(client.requests[1].messages)
    rejected = "Error: Tool call invocation was rejected by user."
    asked, refused, made, result = seen[1:]
    assert (asked, refused, made) == (
        ("assistant", ['{"q": "x"}']), ("tool", [rejected]), ("assistant", ['{"q": "y"}'])
    )  # fmt: skip
    assert result[0] == "tool"
    call, given = client.requests[1].messages[3].parts[0], client.requests[1].messages[4].parts[0]
    assert isinstance(call, ToolCall)
    assert isinstance(given, ToolResult)
    assert call.call_id == given.call_id != "c1"
    await agent.run([user("and?")], session=session)
    assert parts_of(client.requests[2].messages)[:5] == seen, "the next turn remembers both calls"
    assert session.state == {}


async def test_other_arguments_beside_a_sibling_and_across_a_saved_session() -> None:
    delete, ran = tool("delete", asks=True)
    look, looked = tool("look")
    names = ("delete", "look", "delete")
    three = {"calls": [{"id": f"c{n}", "tool": name, "arguments": {"q": n}} for n, name in enumerate(names)]}
    client = ScriptedClient([three, "done"])
    agent = Agent("bot", client, tools=(delete, look))
    session = agent.new_session()
    first, second = (await agent.run([user("go")], session=session)).requests
    assert isinstance(first, ApprovalRequest)
    half = await agent.run([Message("user", (with_other_arguments(first, '{"q": 7}'),))], session=session)
    assert (half.requests, ran) == ((second,), [])
    restored = Session.from_dict(json.loads(json.dumps({**session.to_dict(), "messages": []})))
    restored.messages = session.messages
    await agent.run([approval(second)], session=restored)
    assert (looked, sorted(str(r) for r in ran)) == ([{"q": 1}], ["{'q': 2}", "{'q': 7}"])
    roles = [(m.role, len(m.parts)) for m in client.requests[1].messages]
    assert roles == [("user", 1), ("assistant", 3), ("tool", 3), ("assistant", 1), ("tool", 1)]


async def test_a_turn_between_hides_the_open_calls_although_one_is_changed() -> None:
    delete, _ = tool("delete", asks=True)
    two = {"calls": [{"id": i, "tool": "delete", "arguments": {"q": i}} for i in ("a", "b")]}
    client = ScriptedClient([two, "later"])
    agent = Agent("bot", client, tools=(delete,))
    session = agent.new_session()
    first, _second = (await agent.run([user("go")], session=session)).requests
    assert isinstance(first, ApprovalRequest)
    await agent.run([Message("user", (with_other_arguments(first, "{}"),))], session=session)
    await agent.run([user("never mind")], session=session)
    assert [m.text for m in client.requests[1].messages] == ["go", "never mind"]


def test_the_call_of_a_person_has_an_id_that_providers_take_and_that_is_the_same_in_every_run() -> None:
    asked = ApprovalRequest("a", ToolCall("call_AbCdEfGhIjKlMnOpQrStUvWx", "delete", '{"q": "x"}', {"signature": "s"}))
    one, again = with_other_arguments(asked, '{"q": "y"}').instead, with_other_arguments(asked, '{"q": "y"}').instead
    assert one == again
    assert one is not None
    assert (len(one.call_id), one.extra) == (len(asked.call.call_id), {"signature": "s"})
    assert with_other_arguments(asked, '{ "q" : "x" }') == ApprovalResponse("a", True, asked.call)


async def test_middleware_that_changes_what_the_person_wrote_asks_again() -> None:
    async def repair(run: ToolRun, call_next: Any) -> None:
        if run.arguments.get("q") == "y":
            run.arguments["q"] = "z"
        await call_next()

    delete, ran = tool("delete", asks=True)
    client = ScriptedClient([DELETE, "done"])
    agent = Agent("bot", client, tools=(delete,), middleware=Middleware(function=(repair,)))
    session = agent.new_session()
    (request,) = (await agent.run([user("go")], session=session)).requests
    assert isinstance(request, ApprovalRequest)
    answer = with_other_arguments(request, '{"q": "y"}')
    (again,) = (await agent.run([Message("user", (answer,))], session=session)).requests
    assert isinstance(again, ApprovalRequest)
    assert (json.loads(again.call.arguments), ran, len(client.requests)) == ({"q": "z"}, [], 1)
    await agent.run([approval(again)], session=session)
    assert ran == [{"q": "z"}]
    assert [m.role for m in client.requests[1].messages] == ["user", "assistant", "tool", "assistant", "tool"]


async def test_streamed_calls_of_people_are_told_with_their_roles() -> None:
    delete, _ = tool("delete", asks=True)
    agent = Agent("bot", ScriptedClient([DELETE, "done"]), tools=(delete,))
    session = agent.new_session()
    (request,) = (await agent.run([user("go")], session=session)).requests
    assert isinstance(request, ApprovalRequest)
    told: list[tuple[str, str]] = []
    answer = with_other_arguments(request, '{"q": "y"}')
    await agent.run(
        [Message("user", (answer,))],
        session=session,
        updates=lambda u: told.extend((u.role, p.type) for p in u.parts),
    )
    made = [("tool", "function_result"), ("assistant", "function_call"), ("tool", "function_result")]
    assert told[:3] == made


def test_the_answer_keeps_its_call_when_it_is_written() -> None:
    asked = ApprovalRequest("a", ToolCall("c1", "delete", '{"q": "x"}'))
    message = Message("user", (with_other_arguments(asked, '{"q": "y"}'),))
    assert message_from_plain(json.loads(json.dumps(message_to_plain(message)))) == message
    assert decode(json.loads(json.dumps(encode(message)))) == message
    (worked,) = read_messages([json.loads(json.dumps(to_worker(message)))])
    assert worked == message
