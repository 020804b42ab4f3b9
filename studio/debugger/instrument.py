"""Puts the debugger around the nodes of a plan: pinned replies, muted nodes, mocked tools, tools that are held, replay.

Nothing of it is in the drawing. What is pinned, muted or mocked is looked up when a node runs, so that it can be
changed while the run is paused.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

from studio.agents.agent import Agent
from studio.agents.client import ChatClient, ChatRequest, ChunkSink, RunHooks
from studio.agents.messages import (
    AgentReply,
    AgentResponse,
    AgentUpdate,
    Message,
    Text,
    ToolCall,
    ToolResult,
    assistant,
)
from studio.agents.middleware import Middleware, ModelCall, Next, ToolRun
from studio.agents.tools import result_text
from studio.assembly.functions import UserFunction
from studio.assembly.texts import messages_of, value_text
from studio.debugger.holds import node_path
from studio.debugger.overrides import Overrides, Pin
from studio.debugger.recording import RecordedInvocation, Tape
from studio.engine import Workflow
from studio.engine.context import Context
from studio.engine.executor import Executor, Handler, Run
from studio.engine.hosts.function import FunctionExecutor
from studio.engine.hosts.runner import RunnerHost
from studio.engine.hosts.subworkflow import SubWorkflowExecutor

_PIECE = 12
"""Characters of a replayed answer that arrive together."""


class ToolGate(Protocol):
    """Who may hold a tool call."""

    async def after_tool_call(self, path: str, call: ToolCall, data: Any) -> None:
        """After it ran."""


@dataclass(frozen=True, slots=True)
class Instruments:
    """What is put around the nodes of one session."""

    overrides: Overrides
    gate: ToolGate
    tape: Tape | None = None


def instrument(workflow: Workflow, instruments: Instruments, inside: tuple[str, ...] = ()) -> None:
    """Puts the instruments around every node of the workflow and of those inside it. Once per plan."""
    sources = {source for edge in workflow.edges for source in edge.sources}
    for id, executor in workflow.executors.items():
        path = node_path(id, inside)
        agent = getattr(executor, "agent", None)
        is_agent = isinstance(agent, Agent)
        if isinstance(agent, Agent):
            executor.agent = _around(agent, path, instruments)  # type: ignore[attr-defined]
        executor.handlers = tuple(
            replace(handler, run=_run(executor, handler, path, instruments, is_agent=is_agent, ends=id not in sources))
            for handler in executor.handlers
        )
        executor._by_class.clear()
        if isinstance(executor, SubWorkflowExecutor):
            instrument(executor.workflow, instruments, (*inside, id))


def _run(
    executor: Executor, handler: Handler, path: str, instruments: Instruments, *, is_agent: bool, ends: bool
) -> Run:
    """``ends``: nothing follows the node, what it gives is a result of the workflow."""
    overrides, tape = instruments.overrides, instruments.tape
    of_code = isinstance(executor, FunctionExecutor)

    async def run(data: Any, ctx: Context) -> None:
        if path in overrides.muted:
            ctx.emit_named("muted")
            _pass(data, ctx, ends=ends)
            return
        pin = overrides.pins.get(path)
        if pin is not None:
            ctx.emit_named("pinned", {"origin": pin.origin, "value": pin.value})
            if not is_agent:
                _give(executor, pin, data, ctx, ends=ends)
                return
        elif tape is not None and of_code:
            made = tape.invocation(path, data)
            if made is not None:
                _repeat(made, ctx)
                return
        await handler.run(data, ctx)

    return run


def _pass(data: Any, ctx: Context, *, ends: bool) -> None:
    ctx.send(data)
    if ends:
        ctx.yield_output(data)


def _give(executor: Executor, pin: Pin, data: Any, ctx: Context, *, ends: bool) -> None:
    """What a pinned node that is no agent gives."""
    if isinstance(executor, UserFunction):
        executor.give(pin.value, ctx)
    elif isinstance(executor, RunnerHost):
        reply = AgentReply((assistant(value_text(pin.value), executor.id),))
        given = messages_of(data)
        ctx.send(AgentResponse(executor.id, reply, (*given, *reply.messages)), purpose="response")
        ctx.yield_output(reply)
    else:
        _pass(pin.value, ctx, ends=ends)


def _repeat(made: RecordedInvocation, ctx: Context) -> None:
    """Gives what an invocation gave."""
    for key, value in made.state:
        ctx.set_state(key, value)
    for data, target, purpose in made.sent:
        ctx.send(data, target, purpose=purpose)
    for data, intermediate in made.yielded:
        ctx.yield_output(data, intermediate=intermediate)


# ------------------------------------------------------------------------------------------------------ agents


def _around(agent: Agent, path: str, instruments: Instruments) -> Agent:
    overrides, gate, tape = instruments.overrides, instruments.gate, instruments.tape

    async def pinned(call: ModelCall, call_next: Next) -> None:
        pin = overrides.pins.get(path)
        if pin is None:
            await call_next()
        else:
            text = pin.value if isinstance(pin.value, str) else json.dumps(pin.value, ensure_ascii=False)
            call.result = AgentReply((assistant(text, agent.name),), finish_reason="stop")

    async def tool(run: ToolRun, call_next: Next) -> None:
        await call_next()
        await gate.after_tool_call(path, run.call, run.result)

    client = agent.client if tape is None else ReplayingClient(agent.client, path, tape)
    return replace(agent, client=client, middleware=Middleware(chat=(pinned,), function=(tool,)) + agent.middleware)


def known_result(overrides: Overrides, tape: Tape | None, path: str, call: ToolCall) -> ToolResult | None:
    """The result of a call that is mocked or recorded; None: the tool is to be run."""
    mock = overrides.mocks.get(call.name)
    if mock is not None:
        result = f"Error: {mock.error}" if mock.error else result_text(mock.result)
        return ToolResult(call.call_id, result, "ToolFailure" if mock.error else None)
    made = tape.tool(path, call.name, call.arguments) if tape is not None else None
    return ToolResult(call.call_id, made.result, made.error or None) if made is not None else None


class ReplayingClient:
    """Answers from a tape; what the tape does not have is asked of the client behind it."""

    def __init__(self, inner: ChatClient, path: str, tape: Tape) -> None:
        self._inner = inner
        self._path = path
        self._tape = tape

    @property
    def model(self) -> str:
        """The inner client's."""
        return self._inner.model

    def spoken_to(self) -> object:
        """The inner client's."""
        told = getattr(self._inner, "spoken_to", None)
        return told() if told is not None else None

    async def complete(self, request: ChatRequest, *, chunk: ChunkSink | None, hooks: RunHooks) -> AgentReply:
        """The recorded answer, streamed if the caller wants that."""
        made = self._tape.call(self._path, request.messages)
        if made is None:
            return await self._inner.complete(request, chunk=chunk, hooks=hooks)
        seconds = made.seconds / self._tape.speed if self._tape.speed > 0 else 0.0
        updates = list(_pieces(made.reply)) if chunk is not None else []
        for update in updates:
            await asyncio.sleep(seconds / len(updates))
            assert chunk is not None
            chunk(update)
        if not updates:
            await asyncio.sleep(seconds)
        return made.reply

    async def close(self) -> None:
        """The client behind it belongs to somebody else."""


def _pieces(reply: AgentReply) -> Iterator[AgentUpdate]:
    for message in reply.messages:
        for part in message.parts:
            if not isinstance(part, Text):
                yield _update(message, part)
                continue
            for at in range(0, len(part.text), _PIECE):
                yield _update(message, Text(part.text[at : at + _PIECE]))


def _update(message: Message, part: Any) -> AgentUpdate:
    return AgentUpdate((part,), message.role, message.author, message.id)
