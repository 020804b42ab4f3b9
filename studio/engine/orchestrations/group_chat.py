"""A group chat: an orchestrator chooses who speaks, everybody hears everything."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any

from studio.agents.messages import AgentReply, AgentRequest, AgentResponse, AgentUpdate, Message, assistant
from studio.engine.builder import WorkflowBuilder
from studio.engine.context import Context
from studio.engine.errors import BuildArgumentError, RoutingError
from studio.engine.executor import Executor, Handler
from studio.engine.orchestrations.conversation import (
    Intermediate,
    Outputs,
    Participants,
    Termination,
    designation,
    input_handlers,
    without_tool_parts,
)
from studio.engine.workflow import Order, Workflow

TERMINATED = "The group chat has reached its termination condition."
ROUNDS_USED_UP = "The group chat has reached the maximum number of rounds."
ORCHESTRATOR = "group_chat_orchestrator"


@dataclass(frozen=True, slots=True)
class ChatState:
    """What a choice of the next speaker is made on. ``round`` counts from 0."""

    round: int
    participants: tuple[str, ...]
    conversation: tuple[Message, ...]


NextSpeaker = Callable[[ChatState], str | Awaitable[str]]


class Orchestrator(Executor):
    """Shares what is said, tests whether to end, asks the next speaker. A round is participant and orchestrator."""

    def __init__(
        self,
        participants: tuple[str, ...],
        select: NextSpeaker,
        *,
        max_rounds: int | None = None,
        termination: Termination | None = None,
        id: str = ORCHESTRATOR,
    ) -> None:
        self._participants = participants
        self._select = select
        self._max_rounds = None if max_rounds is None else max(1, max_rounds)
        self._termination = termination
        self._round = 0
        self._conversation: tuple[Message, ...] = ()
        sends, yields = (AgentRequest,), (AgentReply, AgentUpdate)
        super().__init__(
            id,
            [
                *input_handlers(self._on_input, sends, yields),
                Handler(AgentResponse, self._on_response, sends, yields),
            ],
        )

    async def _on_input(self, messages: tuple[Message, ...], ctx: Context) -> None:
        if not messages:
            raise ValueError("A group chat needs at least one message to begin with")
        self._conversation += messages
        if not await self._ended(ctx):
            await self._go_on(messages, self._participants, ctx)

    async def _on_response(self, response: AgentResponse, ctx: Context) -> None:
        speaker = ctx.sources[0]
        data = {"round_index": self._round, "participant_name": speaker}
        ctx.emit_named("group_chat_response_received", data)
        messages = without_tool_parts(response.reply.messages)
        self._conversation += messages
        if await self._ended(ctx):
            return
        if self._max_rounds is not None and self._round >= self._max_rounds:
            self._close(ROUNDS_USED_UP, ctx)
            return
        await self._go_on(messages, tuple(p for p in self._participants if p != speaker), ctx)

    async def _ended(self, ctx: Context) -> bool:
        if self._termination is None:
            return False
        met = self._termination(list(self._conversation))
        if isawaitable(met):
            met = await met
        if met:
            self._close(TERMINATED, ctx)
        return bool(met)

    def _close(self, text: str, ctx: Context) -> None:
        """The chat ends with a fixed message, not with the conversation."""
        message = assistant(text, self.id)
        self._conversation += (message,)
        ctx.yield_output(AgentUpdate(message.parts, "assistant", self.id) if ctx.streaming else AgentReply((message,)))

    async def _go_on(self, messages: tuple[Message, ...], listeners: tuple[str, ...], ctx: Context) -> None:
        chosen = self._select(ChatState(self._round, self._participants, self._conversation))
        speaker = await chosen if isawaitable(chosen) else chosen
        if speaker not in self._participants:
            raise RoutingError(f"The choice of the next speaker gave {speaker!r}, who does not take part", [self.id])
        for listener in listeners:
            ctx.send(AgentRequest(messages, should_respond=False), listener, purpose="forward")
        ctx.send(AgentRequest(()), speaker, purpose="request")
        ctx.emit_named("group_chat_request_sent", {"round_index": self._round, "participant_name": speaker})
        self._round += 1

    async def save(self) -> dict[str, Any]:
        """Conversation and round."""
        return {"conversation": self._conversation, "round": self._round}

    async def restore(self, state: Mapping[str, Any]) -> None:
        """Conversation and round as they were; both empty if nothing was saved."""
        self._conversation = tuple(state.get("conversation", ()))
        self._round = state.get("round", 0)


def group_chat(
    participants: Participants,
    select: NextSpeaker,
    *,
    name: str,
    max_rounds: int | None = None,
    termination: Termination | None = None,
    outputs: Outputs = None,
    intermediate: Intermediate = None,
    max_supersteps: int = 100,
    order: Order = "delivery",
) -> Workflow:
    """``group_chat_orchestrator`` with a direct edge to and from everybody; its closing message is the output."""
    if not participants:
        raise BuildArgumentError("A group chat needs participants")
    ids = tuple(p.id for p in participants)
    hub = Orchestrator(ids, select, max_rounds=max_rounds, termination=termination)
    out, between = designation(participants, outputs, intermediate, [])
    builder = WorkflowBuilder(
        hub, name=name, max_supersteps=max_supersteps, outputs=[hub.id, *out], intermediate=between, order=order
    )
    for participant in participants:
        builder.edge(hub, participant).edge(participant, hub)
    return builder.build()
