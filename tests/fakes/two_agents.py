"""Runs one script of turns on the real framework's agent and on ours, and tells both in the same words."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import agent_framework as af
from studio.agents import (
    Agent,
    ApprovalRequest,
    ApprovalResponse,
    Message,
    Part,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    user,
)

from tests.fakes.scripted_client import ScriptedClient

Json = dict[str, Any]
PARAMETERS = {"type": "object", "properties": {"q": {"type": "string"}}}


@dataclass
class Told:
    """What one turn showed."""

    model_calls: list[list[Json]] = field(default_factory=list)
    reply: list[Json] = field(default_factory=list)
    updates: list[Json] = field(default_factory=list)
    requests: list[Json] = field(default_factory=list)
    history: list[Json] = field(default_factory=list)


@dataclass(frozen=True)
class Say:
    """A turn with a user message."""

    text: str


@dataclass(frozen=True)
class Answer:
    """A turn that answers requests of the turn before by tool: True, False, or the text of a caller's result.

    Arguments: an approval that carries them instead of those that were asked for.
    """

    answers: Mapping[str, bool | str | Json]


@dataclass(frozen=True)
class Give:
    """A turn with a whole transcript, given as (role, author, text)."""

    messages: tuple[tuple[str, str | None, str], ...]


Turn = Say | Answer | Give


def result_of(tool: Mapping[str, Any], q: str) -> str:
    """What a scripted tool gives."""
    if "error" in tool:
        raise RuntimeError(tool["error"])
    return str(tool["returns"]).replace("{q}", q)


# ------------------------------------------------------------------------------------------------- the framework


class _Inner(af.BaseChatClient):
    def __init__(self, *, replies: Sequence[Json], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.replies = list(replies)
        self.calls: list[list[Json]] = []

    def _contents(self, messages: Sequence[af.Message]) -> list[list[af.Content]]:
        reply = self.replies[len(self.calls)]
        self.calls.append([framework_message(m) for m in messages])
        chunks = reply.get("chunks") or ([reply["text"]] if "text" in reply else [])
        pieces = [[af.Content.from_text(c)] for c in chunks]
        calls = [
            af.Content.from_function_call(call_id=c["id"], name=c["tool"], arguments=json.dumps(c["arguments"]))
            for c in reply.get("calls", ())
        ]
        return [*pieces, calls] if calls else pieces

    def _inner_get_response(
        self, *, messages: Sequence[af.Message], stream: bool, options: Mapping[str, Any], **kwargs: Any
    ) -> Any:
        pieces = self._contents(messages)
        if stream:

            async def updates() -> AsyncIterator[af.ChatResponseUpdate]:
                for piece in pieces:
                    yield af.ChatResponseUpdate(role="assistant", contents=piece)

            return self._build_response_stream(updates())

        async def whole() -> af.ChatResponse:
            texts = [c.text or "" for piece in pieces for c in piece if c.type == "text"]
            calls = [c for piece in pieces for c in piece if c.type != "text"]
            contents = [*([af.Content.from_text("".join(texts))] if texts else []), *calls]
            return af.ChatResponse(messages=[af.Message(role="assistant", contents=contents)])

        return whole()


class _Client(af.FunctionInvocationLayer, _Inner):
    """The framework's tool loop over the script."""


def framework_message(message: af.Message) -> Json:
    return {
        "role": str(message.role),
        "author": message.author_name,
        "parts": [p for c in message.contents if (p := _framework_part(c)) is not None],
    }


def _framework_part(content: af.Content) -> Json | None:
    match content.type:
        case "text":
            return {"text": content.text}
        case "function_call":
            return {"call": content.name, "id": content.call_id, "arguments": content.parse_arguments()}
        case "function_result":
            return {"result": content.result, "id": content.call_id}
        case "function_approval_request":
            return {"asks": content.function_call.name}  # type: ignore[union-attr]
        case "function_approval_response":
            return {"approved": content.approved, "name": content.function_call.name}  # type: ignore[union-attr]
    return None


async def on_framework(
    tools: Sequence[Json], replies: Sequence[Json], turns: Sequence[Turn], stream: bool
) -> list[Told]:
    """The turns on the real agent."""
    client = _Client(replies=replies)
    agent = af.Agent(client, name="bot", tools=[_framework_tool(t) for t in tools])
    session = agent.create_session()
    told: list[Told] = []
    open_requests: list[af.Content] = []
    for turn in turns:
        before = len(client.calls)
        now = Told()
        messages = _framework_input(turn, open_requests)
        if stream:
            running = agent.run(messages, stream=True, session=session)
            async for update in running:
                contents = [c for c in update.contents if not (c.type == "function_call" and c.user_input_request)]
                parts = [p for c in contents if (p := _framework_part(c)) is not None]
                if parts:
                    now.updates.append({"role": str(update.role), "author": update.author_name, "parts": parts})
            reply = await running.get_final_response()
        else:
            reply = await agent.run(messages, session=session)
        open_requests = list(reply.user_input_requests)
        now.requests = [p for c in open_requests if (p := _framework_part(c)) is not None]
        now.reply = [framework_message(m) for m in reply.messages]
        now.model_calls = client.calls[before:]
        stored = session.state.get("in_memory", {}).get("messages", [])
        now.history = [framework_message(m) for m in stored]
        told.append(now)
    return told


def _framework_tool(tool: Json) -> af.FunctionTool:
    approval = tool.get("approval", "never")
    run: Callable[..., Any] | None = None if approval == "caller_executes" else lambda q="": result_of(tool, q)
    return af.FunctionTool(
        name=tool["name"],
        description=tool["name"],
        func=run,
        input_model=PARAMETERS,
        approval_mode="always_require" if approval == "always" else "never_require",
    )


def _framework_input(turn: Turn, requests: Sequence[af.Content]) -> list[af.Message]:
    if isinstance(turn, Say):
        return [af.Message(role="user", contents=[turn.text])]
    if isinstance(turn, Give):
        return [af.Message(role=r, contents=[t], author_name=a) for r, a, t in turn.messages]
    messages: list[af.Message] = []
    for request in requests:
        if request.type == "function_approval_request":
            answer = turn.answers.get(request.function_call.name or "")  # type: ignore[union-attr]
            if answer is not None:
                response = request.to_function_approval_response(bool(answer))
                if isinstance(answer, dict):
                    response.function_call = copy(response.function_call)
                    response.function_call.arguments = json.dumps(answer)  # type: ignore[union-attr]
                messages.append(af.Message(role="user", contents=[response]))
        elif (text := turn.answers.get(request.name or "")) is not None:
            result = af.Content.from_function_result(call_id=request.call_id or "", result=text, id=request.id)
            messages.append(af.Message(role="tool", contents=[result]))
    return messages


# ----------------------------------------------------------------------------------------------------------- ours


def our_message(message: Message) -> Json:
    return {"role": message.role, "author": message.author, "parts": [_our_part(p) for p in message.parts]}


def _our_part(part: Part) -> Json:
    match part:
        case Text():
            return {"text": part.text}
        case ToolCall():
            return {"call": part.name, "id": part.call_id, "arguments": json.loads(part.arguments)}
        case ToolResult():
            return {"result": part.result, "id": part.call_id}
        case ApprovalRequest():
            return {"asks": part.call.name}
        case ApprovalResponse():
            return {"approved": part.approved, "name": part.call.name}
    raise AssertionError(part)


async def on_ours(tools: Sequence[Json], replies: Sequence[Json], turns: Sequence[Turn], stream: bool) -> list[Told]:
    """The turns on our agent."""
    client = ScriptedClient(replies)
    agent = Agent("bot", client, tools=tuple(_our_tool(t) for t in tools))
    session = agent.new_session()
    told: list[Told] = []
    requests: tuple[ApprovalRequest | ToolCall, ...] = ()
    for turn in turns:
        before = len(client.requests)
        now = Told()

        def keep(update: Any, now: Told = now) -> None:
            parts = [_our_part(p) for p in update.parts]
            now.updates.append({"role": update.role, "author": update.author, "parts": parts})

        reply = await agent.run(_our_input(turn, requests), session=session, updates=keep if stream else None)
        requests = reply.requests
        now.requests = [_our_part(p) for p in requests]
        now.reply = [our_message(m) for m in reply.messages]
        now.model_calls = [[our_message(m) for m in r.messages] for r in client.requests[before:]]
        now.history = [our_message(m) for m in session.messages]
        told.append(now)
    return told


def _our_tool(tool: Json) -> Tool:
    approval = tool.get("approval", "never")

    async def run(arguments: dict[str, Any]) -> str:
        return result_of(tool, arguments.get("q", ""))

    if approval == "caller_executes":
        return Tool(tool["name"], tool["name"], PARAMETERS, None, "caller")
    return Tool(tool["name"], tool["name"], PARAMETERS, run, "always" if approval == "always" else "never")


def _our_input(turn: Turn, requests: Sequence[ApprovalRequest | ToolCall]) -> list[Message]:
    if isinstance(turn, Say):
        return [user(turn.text)]
    if isinstance(turn, Give):
        return [Message(r, (Text(t),), a) for r, a, t in turn.messages]  # type: ignore[arg-type]
    messages: list[Message] = []
    for request in requests:
        name = request.call.name if isinstance(request, ApprovalRequest) else request.name
        if name not in turn.answers:
            continue
        answer = turn.answers[name]
        if isinstance(request, ApprovalRequest):
            call = replace(request.call, arguments=json.dumps(answer)) if isinstance(answer, dict) else request.call
            messages.append(Message("user", (ApprovalResponse(request.id, bool(answer), call),)))
        else:
            messages.append(Message("tool", (ToolResult(request.call_id, answer),)))
    return messages
