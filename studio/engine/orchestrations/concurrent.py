"""Agents at the same time, and one result of all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from inspect import isawaitable
from typing import Any

from studio.agents.messages import AgentReply, AgentRequest, AgentResponse, Message
from studio.engine.builder import WorkflowBuilder
from studio.engine.context import Context
from studio.engine.errors import BuildArgumentError
from studio.engine.executor import Executor, Handler
from studio.engine.hosts.agent import AgentHost
from studio.engine.orchestrations.conversation import (
    Intermediate,
    Outputs,
    Participants,
    designation,
    input_handlers,
)
from studio.engine.orchestrations.review import reviewed
from studio.engine.orchestrations.sequential import chosen
from studio.engine.types import ANY, ListOf
from studio.engine.workflow import Order, Workflow

Aggregate = Callable[[list[AgentResponse]], Any | Awaitable[Any]]


class Dispatcher(Executor):
    """Gives the input to every participant."""

    def __init__(self) -> None:
        handlers = [
            Handler(AgentRequest, self._on_request, (AgentRequest,)),
            *input_handlers(self._on_messages, (AgentRequest,)),
        ]
        super().__init__("dispatcher", handlers)

    async def _on_request(self, request: AgentRequest, ctx: Context) -> None:
        ctx.send(request, purpose="request")

    async def _on_messages(self, messages: tuple[Message, ...], ctx: Context) -> None:
        ctx.send(AgentRequest(messages), purpose="request")


class Aggregator(Executor):
    """Yields the last assistant message of each participant, or what ``aggregate`` makes of the responses."""

    def __init__(self, id: str = "aggregator", aggregate: Aggregate | None = None) -> None:
        self._aggregate = aggregate
        yields = (AgentReply,) if aggregate is None else (ANY,)
        super().__init__(id, (Handler(ListOf(AgentResponse), self._on_responses, None, yields),))

    async def _on_responses(self, responses: list[AgentResponse], ctx: Context) -> None:
        if self._aggregate is None:
            ctx.yield_output(AgentReply(_last_messages(responses)))
            return
        result = self._aggregate(responses)
        if isawaitable(result):
            result = await result
        if result is not None:
            ctx.yield_output(result)


def _last_messages(responses: Sequence[AgentResponse]) -> tuple[Message, ...]:
    """One message per response. Raises RuntimeError if nobody said anything."""
    found = []
    for response in responses:
        for messages in (response.reply.messages, response.conversation):
            said = next((m for m in reversed(messages) if m.role == "assistant"), None)
            if said is not None:
                found.append(said)
                break
    if not found:
        raise RuntimeError("No participant gave an assistant message")
    return tuple(found)


def concurrent(
    participants: Participants,
    *,
    name: str,
    aggregator: Aggregator | None = None,
    review: bool | Sequence[str] = False,
    outputs: Outputs = None,
    intermediate: Intermediate = None,
    max_supersteps: int = 100,
    order: Order = "delivery",
) -> Workflow:
    """``dispatcher`` -> fan-out -> participants -> fan-in -> ``aggregator``, whose yield is the output."""
    if len(participants) < 2:
        raise BuildArgumentError("Working at the same time needs at least two participants")
    wanted = chosen(participants, review)
    nodes = [reviewed(p, last=False) if isinstance(p, AgentHost) and p.id in wanted else p for p in participants]
    end = aggregator or Aggregator()
    out, between = designation(nodes, outputs, intermediate, [])
    start = Dispatcher()
    builder = WorkflowBuilder(
        start, name=name, max_supersteps=max_supersteps, outputs=[end.id, *out], intermediate=between, order=order
    )
    return builder.fan_out(start, nodes).fan_in(nodes, end).build()
