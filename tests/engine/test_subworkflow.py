"""Workflows as nodes: outputs, requests, nested checkpoints, what is visible outside."""

from __future__ import annotations

from typing import Any

import pytest
from studio.engine import (
    Codec,
    Context,
    Executor,
    FunctionExecutor,
    Handler,
    MemoryStore,
    ResponseHandler,
    SubRequest,
    SubResponse,
    SubWorkflowExecutor,
    Workflow,
    WorkflowBuilder,
)
from studio.engine import events as e

from tests.engine.nodes import ending, failing, host, node, passing, seen


class Asking(Executor):
    """Asks what it gets, yields question and answer."""

    def __init__(self, id: str = "q") -> None:
        super().__init__(
            id, [Handler(str, self._ask, (str,), (str,))], [ResponseHandler(str, str, self._answer, (str,), (str,))]
        )

    async def _ask(self, data: str, ctx: Context) -> None:
        ctx.request(data, str)

    async def _answer(self, question: str, answer: str, ctx: Context) -> None:
        ctx.yield_output(f"{question}={answer}")


def inner() -> Workflow:
    a, b = passing("in1", "i:"), ending("in2")
    return WorkflowBuilder(a, name="inner").edge(a, b).build()


async def test_outputs_become_messages_or_outputs() -> None:
    sub, post = SubWorkflowExecutor(inner(), "sub"), ending("post")
    assert (await WorkflowBuilder(sub, name="w").edge(sub, post).build().run("x")).outputs == ("i:x",)
    direct = SubWorkflowExecutor(inner(), "sub", direct_output=True)
    workflow = WorkflowBuilder(direct, name="w").build()
    assert ((await workflow.run("x")).outputs, workflow.superstep) == (("i:x",), 1)


async def test_inner_events_are_marked_and_only_the_node_is_visible_without_mark() -> None:
    sub, post = SubWorkflowExecutor(inner(), "sub"), ending("post")
    events: list[Any] = []
    await WorkflowBuilder(sub, name="w").edge(sub, post).build().run("x", events=events, stream=True)
    nodes = [(v.node, v.inside) for v in events if isinstance(v, e.NodeStarted)]
    assert nodes == [("sub", ()), ("in1", ("sub",)), ("in2", ("sub",)), ("post", ())]
    assert [v.node for v in events if isinstance(v, e.OutputYielded)] == ["post"]
    assert len([v for v in events if isinstance(v, e.RunStarted)]) == 1
    ids = [v.invocation for v in events if isinstance(v, e.NodeStarted)]
    assert len(set(ids)) == 4


async def test_intermediate_outputs_come_out_as_such() -> None:
    a, b = node("a", _both), ending("b")
    nested = WorkflowBuilder(a, name="inner", outputs=[b], intermediate=[a]).edge(a, b).build()
    sub = SubWorkflowExecutor(nested, "sub")
    result = await WorkflowBuilder(sub, name="w", outputs="all").build().run("x")
    assert (result.intermediate, result.outputs) == (("between",), ())


async def _both(data: str, ctx: Context) -> None:
    ctx.yield_output("between")
    ctx.send(data)


async def test_a_propagated_request_keeps_its_id_and_survives_a_checkpoint() -> None:
    def graph() -> Workflow:
        nested = WorkflowBuilder(Asking(), name="inner").build()
        sub, post = SubWorkflowExecutor(nested, "sub", propagate_requests=True), ending("post")
        return WorkflowBuilder(sub, name="w").edge(sub, post).build()

    kept = MemoryStore(Codec())
    workflow = graph()
    (request,) = (await workflow.run("x", store=kept)).requests
    assert (request.node, request.data, request.response_type) == ("sub", "x", "str")
    last = (await kept.infos())[-1].id
    assert (await graph().run(checkpoint=last, answers={request.id: "fresh"}, store=kept)).outputs == ("x=fresh",)
    assert (await workflow.run(answers={request.id: "same"})).outputs == ("x=same",)


async def test_a_node_of_the_parent_answers() -> None:
    asked: list[SubRequest] = []

    async def boss(request: SubRequest, ctx: Context) -> None:
        asked.append(request)
        ctx.send(request.answer("boss"), request.executor)
        ctx.send(request.answer("too late"), request.executor)

    sub = SubWorkflowExecutor(WorkflowBuilder(Asking(), name="inner").build(), "sub", propagate_requests=False)
    answers = FunctionExecutor("boss", boss, accepts=SubRequest, sends=[SubResponse])
    post = ending("post")
    workflow = WorkflowBuilder(sub, name="w").edge(sub, answers).edge(answers, sub).edge(sub, post).build()
    result = await workflow.run("x")
    assert (result.outputs, result.requests) == (("x=boss",), ())
    assert [(r.executor, r.inner_executor, r.data) for r in asked] == [("sub", "q", "x")]


async def test_an_inner_error_is_the_nodes_error() -> None:
    sub = SubWorkflowExecutor(WorkflowBuilder(failing("bad"), name="inner").build(), "sub")
    workflow = WorkflowBuilder(sub, name="w").build()
    events: list[Any] = []
    with pytest.raises(ValueError, match="boom"):
        await workflow.run("x", events=events)
    failed = [(v.node, v.inside) for v in events if isinstance(v, e.NodeFailed)]
    assert failed == [("bad", ("sub",)), ("sub", ())]
    assert workflow.state == "FAILED"


async def test_the_inner_instance_is_kept_and_restored_with_the_parent() -> None:
    def graph(*replies: str) -> tuple[Workflow, Any]:
        agent = host("bot", *replies)
        sub = SubWorkflowExecutor(WorkflowBuilder(agent, name="inner").build(), "sub")
        return WorkflowBuilder(sub, name="w").build(), agent

    kept = MemoryStore(Codec())
    workflow, agent = graph("1", "2")
    await workflow.run("one", store=kept)
    await workflow.run("two", store=kept)
    assert seen(agent)[1] == [("user", "one"), ("assistant", "1"), ("user", "two")]
    second = [i for i in await kept.infos() if i.kind == "input"][1]
    fresh, again = graph("2")
    await fresh.run(checkpoint=second.id, store=kept)
    assert seen(again) == [seen(agent)[1]]


async def test_the_inner_graph_is_part_of_the_signature() -> None:
    other = WorkflowBuilder(ending("in1"), name="inner").build()
    one, two = (
        WorkflowBuilder(SubWorkflowExecutor(nested, "sub"), name="w").build().signature for nested in (inner(), other)
    )
    assert one != two


async def test_a_workflow_in_a_workflow_in_a_workflow() -> None:
    middle = WorkflowBuilder(SubWorkflowExecutor(inner(), "deep", direct_output=True), name="middle").build()
    top = WorkflowBuilder(SubWorkflowExecutor(middle, "sub", direct_output=True), name="w").build()
    events: list[Any] = []
    assert (await top.run("x", events=events)).outputs == ("i:x",)
    assert {v.inside for v in events if isinstance(v, e.NodeStarted)} == {(), ("sub",), ("sub", "deep")}
