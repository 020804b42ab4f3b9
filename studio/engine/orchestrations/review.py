"""A participant whose replies a person reviews: the agent and a review node as a workflow of their own."""

from __future__ import annotations

from dataclasses import dataclass

from studio.agents.messages import AgentReply, AgentRequest, AgentResponse, Message
from studio.engine.builder import WorkflowBuilder
from studio.engine.context import Context
from studio.engine.executor import Executor, Handler, ResponseHandler
from studio.engine.hosts.agent import AgentHost
from studio.engine.hosts.subworkflow import SubWorkflowExecutor


@dataclass(frozen=True, slots=True)
class Review:
    """The answer to a reply: messages make the agent try again, none approve."""

    messages: tuple[Message, ...] = ()


class ReviewNode(Executor):
    """Asks about each response. ``last``: the end of the workflow, which yields the reply, not the response."""

    def __init__(self, id: str, *, last: bool) -> None:
        self._last = last
        yields = (AgentReply,) if last else (AgentResponse,)
        super().__init__(
            id,
            (Handler(AgentResponse, self._ask, (AgentRequest,), yields),),
            (ResponseHandler(AgentResponse, Review, self._answered, (AgentRequest,), yields),),
        )

    async def _ask(self, response: AgentResponse, ctx: Context) -> None:
        ctx.request(response, Review)

    async def _answered(self, response: AgentResponse, review: Review, ctx: Context) -> None:
        if review.messages:
            ctx.send(AgentRequest(review.messages), purpose="request")
        else:
            ctx.yield_output(response.reply if self._last else response)


def reviewed(host: AgentHost, *, last: bool) -> SubWorkflowExecutor:
    """The participant with its review; keeps the id of the host."""
    review = ReviewNode("agent_request_info_executor", last=last)
    inner = WorkflowBuilder(host, name=host.id, outputs=[review]).edge(host, review).edge(review, host).build()
    return SubWorkflowExecutor(inner, host.id, direct_output=last, propagate_requests=True)
