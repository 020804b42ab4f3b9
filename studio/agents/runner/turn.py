"""One turn of a runner: model calls, tools and hand-offs until there is an answer. Works on a copy of the session."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal
from uuid import uuid4

from studio.agents.client import ChatClient, ChatRequest, RunHooks
from studio.agents.messages import AgentReply, AgentUpdate, Message, ToolCall, ToolResult, assistant
from studio.agents.model_calls import ModelCaller, tell
from studio.agents.runner.agents import Registry, RunnerAgent, check_tools, handoff_tool_name, handoff_tools
from studio.agents.runner.errors import UnknownAgentError
from studio.agents.runner.events import (
    EngineCalled,
    HandedOff,
    LimitReached,
    MessageAdded,
    RunnerEvent,
    RunnerToolFinished,
    RunnerToolStarted,
)
from studio.agents.runner.response import Handoff, TurnResponse
from studio.agents.runner.sessions import RunnerSession
from studio.agents.runner.window import windowed
from studio.agents.tools import (
    BAD_ARGUMENTS,
    ArgumentsError,
    EndTurn,
    Tool,
    ToolFailure,
    check_arguments,
    parse_arguments,
    result_text,
)

NOT_EXECUTED = "not executed"
LIMIT_TEXT = "The agents used up the model calls of this turn before they had an answer."
TOO_MANY_HANDOFFS = "Error: the limit of {limit} hand-offs in one turn is reached; answer yourself."
HANDED_OVER = "Error: the conversation was handed over already."


@dataclass(frozen=True, slots=True)
class TurnSettings:
    """Limits and manners of a runner's turns."""

    max_handoffs: int = 5
    max_iterations: int = 10
    tool_error: Literal["rollback", "report"] = "rollback"
    history_turns: int | None = 40
    """User turns that are kept, this one included; None: all."""


@dataclass(slots=True)
class Turn:
    """Made anew for each turn; throws away whatever it did to ``session`` by being dropped."""

    session: RunnerSession
    registry: Registry
    settings: TurnSettings
    engine: Callable[[RunnerAgent], ChatClient]
    emit: Callable[[RunnerEvent], None]
    hooks: RunHooks
    updates: Callable[[AgentUpdate], None] | None = None
    node: str = ""
    executed: list[str] = field(default_factory=list, init=False)
    """Names of the calls run so far."""
    added: list[Message] = field(default_factory=list, init=False)
    """Messages of this turn, the user's first."""
    _handoff: Handoff | None = field(default=None, init=False)
    _handoffs: int = field(default=0, init=False)
    _caller: ModelCaller | None = field(default=None, init=False)
    _found: dict[str, Sequence[Tool]] = field(default_factory=dict, init=False)

    async def run(self, given: Sequence[Message]) -> TurnResponse:
        """The whole turn. What a model, or a tool under "rollback", raises comes out."""
        for message in given:
            self._add(message)
        self.session.messages = windowed(self.session.messages, self.settings.history_turns)
        for number in range(1, self.settings.max_iterations + 1):
            agent = self.registry[self.session.active_agent]
            message = await self._ask(agent, number)
            self._add(message)
            calls = [part for part in message.parts if isinstance(part, ToolCall)]
            if not calls:
                return self._response(message.text, number)
            self._add(Message("tool", tuple(await self._run_batch(agent, calls))))
        self.emit(LimitReached(self.session.id, "tool_iterations"))
        self.hooks.limit_reached("max_tool_iterations", f"{self.settings.max_iterations} model calls")
        self._add(assistant(LIMIT_TEXT, self.session.active_agent))
        return self._response(LIMIT_TEXT, self.settings.max_iterations, limit_reached=True)

    def _add(self, message: Message) -> None:
        self.session.messages.append(message)
        self.added.append(message)
        self.emit(MessageAdded(self.session.id, message))

    def _response(self, content: str, iterations: int, *, limit_reached: bool = False) -> TurnResponse:
        own = next((n for n, message in enumerate(self.added) if message.role == "assistant"), len(self.added))
        return TurnResponse(
            content,
            self.session.active_agent,
            tuple(self.executed),
            self._handoff,
            iterations,
            self._handoffs,
            limit_reached,
            tuple(self.added[own:]),
            self._caller.usage if self._caller is not None else None,
        )

    # ----------------------------------------------------------------------------------------------------- model

    async def _ask(self, agent: RunnerAgent, number: int) -> Message:
        """The next message of the active agent, who sees everything that was said."""
        client = self.engine(agent)
        if self._caller is None:
            self._caller = ModelCaller(client, agent.name, self.hooks)
        self._caller.client = client
        own = await self._tools_of(agent)
        tools = (*own, *handoff_tools(agent, own).values())
        messages = tuple(self.session.messages)
        request = ChatRequest(messages, agent.instructions, tools, agent.options, agent.node or self.node or agent.name)
        self.emit(EngineCalled(self.session.id, agent.name, number))
        reply = await self._caller.ask(request, self._chunk(agent) if self.updates is not None else None)
        return self._signed(reply, agent)

    async def _tools_of(self, agent: RunnerAgent) -> Sequence[Tool]:
        """The tools of an agent; those of servers are asked for once a turn."""
        if agent.find_tools is None:
            return agent.tools
        if agent.name not in self._found:
            found = await agent.find_tools()
            check_tools(agent, found)
            self._found[agent.name] = (*agent.tools, *found)
        return self._found[agent.name]

    def _chunk(self, agent: RunnerAgent) -> Callable[[AgentUpdate], None]:
        def chunk(update: AgentUpdate) -> None:
            for part in update.parts:
                tell(self.hooks, part)
            if self.updates is not None:
                self.updates(replace(update, author=agent.name))

        return chunk

    def _signed(self, reply: AgentReply, agent: RunnerAgent) -> Message:
        message = reply.messages[-1] if reply.messages else Message("assistant")
        if self.updates is None:
            for part in message.parts:
                tell(self.hooks, part)
        return replace(message, author=agent.name)

    # ----------------------------------------------------------------------------------------------------- tools

    async def _run_batch(self, agent: RunnerAgent, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """One after the other; every call gets a result."""
        peers = {handoff_tool_name(peer.name): peer for peer in agent.handoffs}
        tools = {tool.name: tool for tool in await self._tools_of(agent)}
        results: list[ToolResult] = []
        handed_over = stopped = False
        for call in calls:
            if stopped:
                results.append(ToolResult(call.call_id, NOT_EXECUTED, "NotExecuted"))
                continue
            self._started(call)
            if call.name not in peers:
                result = await self._run_tool(call, tools.get(call.name))
            elif handed_over:
                result = ToolResult(call.call_id, HANDED_OVER, "HandedOver")
            elif self._handoffs >= self.settings.max_handoffs:
                result = self._too_many(call)
                stopped = True
            else:
                result = self._hand_over(agent, peers[call.name], call)
                handed_over = True
            self._finished(call, result.result, result.error or "")
            results.append(result)
        return results

    def _too_many(self, call: ToolCall) -> ToolResult:
        limit = self.settings.max_handoffs
        self.emit(LimitReached(self.session.id, "handoffs"))
        self.hooks.limit_reached("max_handoffs_per_turn", f"{limit} hand-offs")
        return ToolResult(call.call_id, TOO_MANY_HANDOFFS.format(limit=limit), "HandoffLimit")

    def _hand_over(self, agent: RunnerAgent, peer: RunnerAgent, call: ToolCall) -> ToolResult:
        target = self.registry[peer.name]
        if target is not peer:
            raise UnknownAgentError(f"The agent called {peer.name!r} that {agent.name!r} names is not registered")
        try:
            given = parse_arguments(call).get("reason")
        except ArgumentsError:
            given = None
        reason = given if isinstance(given, str) and given else None
        self.session.active_agent = target.name
        self._handoffs += 1
        self._handoff = Handoff(target.name, reason)
        self.emit(HandedOff(self.session.id, agent.name, target.name, reason or ""))
        told = {"status": "success", "target": target.name, "reason": reason}
        return ToolResult(call.call_id, json.dumps(told, ensure_ascii=False))

    async def _run_tool(self, call: ToolCall, tool: Tool | None) -> ToolResult:
        taken = await self.hooks.result_of_tool(call)
        if taken is not None:
            return replace(taken, call_id=call.call_id)
        if tool is None or tool.run is None:
            return ToolResult(call.call_id, f'Error: Requested function "{call.name}" not found.', "KeyError")
        try:
            arguments = parse_arguments(call)
            check_arguments(arguments, tool.schema)
        except ArgumentsError as problem:
            return ToolResult(call.call_id, f"{BAD_ARGUMENTS} Reason: {problem}.", "ArgumentsError")
        try:
            return ToolResult(call.call_id, result_text(await tool.run(arguments)))
        except EndTurn as end:
            return ToolResult(call.call_id, result_text(end.result))
        except Exception as error:
            if self.settings.tool_error == "rollback":
                self._finished(call, None, type(error).__name__)
                raise
            what = str(error) if isinstance(error, ToolFailure) else "Function failed"
            told = f"Error: {what} (trace {uuid4().hex[:12]})."
            return ToolResult(call.call_id, told, type(error).__name__)

    def _started(self, call: ToolCall) -> None:
        self.executed.append(call.name)
        self.emit(RunnerToolStarted(self.session.id, call))
        self.hooks.tool_started(call)

    def _finished(self, call: ToolCall, result: object, error: str) -> None:
        self.emit(RunnerToolFinished(self.session.id, call.call_id, result, error))
        self.hooks.tool_finished(call.call_id, result, error)
