"""A workflow as one node of another (workflow semantics, section 10)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from studio.checkpoints import PendingRequest
from studio.engine.context import Context
from studio.engine.executor import Executor, Handler, ResponseHandler
from studio.engine.types import ANY, Type
from studio.engine.values import SubRequest, SubResponse
from studio.engine.workflow import RunResult, Workflow


class SubWorkflowExecutor(Executor):
    """Each message is an input run of the inner workflow, to its end inside the parent's superstep.

    Inner outputs are sent on (``direct_output``: yielded). Inner requests become requests of this node
    (``propagate_requests``), or else messages to the parent's nodes, which answer with ``request.answer(value)``.
    """

    def __init__(
        self, workflow: Workflow, id: str, *, direct_output: bool = False, propagate_requests: bool = True
    ) -> None:
        self.workflow = workflow
        self._direct = direct_output
        self._propagate = propagate_requests
        asks = any(inner.responses for inner in workflow.executors.values())
        sends: tuple[Type, ...] = (*workflow.yields, *((SubRequest,) if asks else ()))
        super().__init__(
            id,
            (
                Handler(SubResponse, self._on_response, sends, (ANY,)),
                *(Handler(kind, self._on_input, sends, (ANY,)) for kind in workflow.accepts),
            ),
            (ResponseHandler(ANY, ANY, self._on_answer, sends, (ANY,)),),
        )

    @property
    def signature(self) -> Any:
        """The inner graph is part of the outer one."""
        return {"kind": self.kind, "workflow": self.workflow.signature}

    async def _on_input(self, data: Any, ctx: Context) -> None:
        self._forward(await self.workflow.run(data, inside=ctx), ctx)

    async def _on_response(self, response: SubResponse, ctx: Context) -> None:
        await self._answer(response.request, response.data, ctx)

    async def _on_answer(self, question: Any, answer: Any, ctx: Context) -> None:
        await self._answer(ctx.request_id or "", answer, ctx)

    async def _answer(self, request: str, answer: Any, ctx: Context) -> None:
        """Continues the inner run; an unknown or already answered request is ignored."""
        if any(pending.id == request for pending in self.workflow.pending_requests):
            self._forward(await self.workflow.run(answers={request: answer}, inside=ctx), ctx)

    async def cancel_request(self, request: PendingRequest, ctx: Context) -> None:
        """The inner node hears of it too."""
        self._forward(await self.workflow.run(cancel=[request.id], inside=ctx), ctx)

    def _forward(self, result: RunResult, ctx: Context) -> None:
        """Outputs, then intermediate outputs, then requests."""
        for output in result.outputs:
            if self._direct:
                ctx.yield_output(output)
            else:
                ctx.send(output, purpose="output")
        for output in result.intermediate:
            ctx.pass_on(output)
        for request in result.raised:
            if self._propagate:
                if ctx.gate is not None:  # who asks inside is told to debuggers alone: the framework has no such event
                    ctx.emit_named("request_from", {"request": request.id, "node": request.node})
                ctx.request(request.data, self.workflow.response_type(request), request.id)
            else:
                sent = SubRequest(self.id, request.node, request.id, request.data, request.response_type)
                ctx.send(sent, purpose="request")

    async def save(self) -> dict[str, Any]:
        """A complete checkpoint of the inner workflow, which is at rest between the parent's supersteps."""
        return {"sub_workflow": await self.workflow.capture()}

    async def restore(self, state: Mapping[str, Any]) -> None:
        """The inner workflow becomes what it was; without a saved state it keeps what it has."""
        checkpoint = state.get("sub_workflow")
        if checkpoint is not None:
            await self.workflow.restore(checkpoint)
