"""Agents one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from studio.agents.messages import Message
from studio.engine.builder import WorkflowBuilder
from studio.engine.context import Context
from studio.engine.errors import BuildArgumentError
from studio.engine.executor import Executor
from studio.engine.hosts.agent import AgentHost
from studio.engine.orchestrations.conversation import (
    Intermediate,
    Outputs,
    Participants,
    designation,
    input_handlers,
)
from studio.engine.orchestrations.review import reviewed
from studio.engine.types import ListOf
from studio.engine.workflow import Order, Workflow


class InputConversation(Executor):
    """Turns the input into a list of messages."""

    def __init__(self) -> None:
        super().__init__("input-conversation", input_handlers(self._on_messages, (ListOf(Message),)))

    async def _on_messages(self, messages: tuple[Message, ...], ctx: Context) -> None:
        ctx.send(list(messages))


def chosen(participants: Participants, ids: bool | Sequence[str]) -> set[str]:
    """Ids of the agents that are reviewed. Raises for a name that is none of them."""
    agents = [p.id for p in participants if isinstance(p, AgentHost)]
    wanted = agents if ids is True else list(ids or ())
    foreign = [id for id in wanted if id not in agents]
    if foreign:
        raise BuildArgumentError(f"Review is wanted of {', '.join(foreign)}, but the agents are {', '.join(agents)}")
    return set(wanted)


def sequential(
    participants: Participants,
    *,
    name: str,
    review: bool | Sequence[str] = False,
    outputs: Outputs = None,
    intermediate: Intermediate = None,
    max_supersteps: int = 100,
    order: Order = "delivery",
) -> Workflow:
    """``input-conversation``, then the participants in a chain; the last one's reply is the output.

    ``review``: True or ids of agents whose replies a person reviews. How much of the conversation an agent sees
    is a setting of its host.
    """
    if not participants:
        raise BuildArgumentError("A sequence needs participants")
    wanted = chosen(participants, review)
    last = participants[-1]
    nodes = [reviewed(p, last=p is last) if isinstance(p, AgentHost) and p.id in wanted else p for p in participants]
    out, between = designation(nodes, outputs, intermediate, [nodes[-1].id])
    start = InputConversation()
    builder = WorkflowBuilder(
        start, name=name, max_supersteps=max_supersteps, outputs=out or None, intermediate=between, order=order
    )
    return builder.chain([start, *nodes]).build()
