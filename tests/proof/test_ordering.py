"""The order of outputs is compared where it is promised, and nowhere else."""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest
from studio.assembly import compile_plan
from studio.document.model import FanOutEdge, SubWorkflowNode, Workflow
from studio.engine.events import Event
from studio.proof.expected import Sample, offline_source, outcome_of
from studio.proof.model import Outcome, outcomes_differ
from studio.proof.ordering import unordered

from tests.assembly.test_kinds import direct, function, show, workflow
from tests.proof.test_same import FUNCTION_BESIDE_AGENTS, random_document

_TWICE = "await ctx.send_message(data + '1')\nresult = data + '2'"


def _spread(*last: Any) -> Workflow:
    """``start`` to ``a`` and ``b``, both to ``show``."""
    nodes = [function("start", "result = data"), function("a", _TWICE), function("b", "result = 'b'"), show(), *last]
    edges = [
        FanOutEdge(id="fan", source="start", targets=("a", "b")),
        direct("a", "show"),
        direct("b", "show"),
    ]
    return workflow(nodes, [*edges, *(direct("show", node.id) for node in last)])


def _chain() -> Workflow:
    return workflow([function("a", _TWICE), function("b", "result = data"), show()])


def _around(inner: Workflow) -> Workflow:
    return workflow([SubWorkflowNode(id="sub", name="Sub", embedded=inner, direct_output=True)])


async def _events(flow: Workflow) -> deque[Event]:
    source = offline_source()
    events: deque[Event] = deque()
    try:
        plan = compile_plan(flow, source.services(flow, None))
        await plan.prepare()
        await plan.engine.run("in", stream=True, events=events)
    finally:
        await source.close()
    return events


@pytest.mark.parametrize(
    ("flow", "expected"),
    [
        (_chain(), set()),
        (_spread(), {(3, "show")}),
        (_spread(function("after", "result = data", sends="nothing", yields="text")), {(3, "show")}),
        (_around(_chain()), set()),
        (_around(_spread()), {(1, "sub")}),
    ],
    ids=["messages of one node", "of two nodes", "nothing is sent on", "a chain inside", "nodes at once inside"],
)
async def test_which_outputs_have_no_promised_order(flow: Workflow, expected: set[tuple[int, str]]) -> None:
    assert unordered(await _events(flow)) == expected


async def test_what_follows_from_them_has_none_either() -> None:
    flow = _spread()
    passing = function("show", "result = data")
    flow = flow.model_copy(
        update={
            "nodes": (*flow.nodes[:3], passing, show("end")),
            "edges": (*flow.edges, direct("show", "end")),
        }
    )
    assert unordered(await _events(flow)) == {(3, "show"), (4, "end")}


async def test_outputs_of_one_superstep_may_be_turned_only_there() -> None:
    _, canvas, _ = await outcome_of(_spread(), Sample("x"))
    assert [value for _, value in canvas.outputs] == ["x1", "b", "x2"]

    def code(*values: str) -> Outcome:
        return Outcome(canvas.supersteps, tuple(("show", value) for value in values))

    assert outcomes_differ(canvas, code("b", "x1", "x2")) is None
    found = outcomes_differ(canvas, code("b", "x1", "x1"))
    assert found is not None
    assert found.node == "show"
    _, chain, _ = await outcome_of(_chain(), Sample("x"))
    turned = outcomes_differ(chain, Outcome(chain.supersteps, (("show", "x2"), ("show", "x1"))))
    assert turned is not None
    assert turned.text == "show gave 'x1', 'x2' on the canvas and 'x2', 'x1' in the code."


async def test_a_sub_workflow_with_nodes_at_once_gives_its_outputs_in_any_order() -> None:
    flow = random_document(FUNCTION_BESIDE_AGENTS)
    _, canvas, _ = await outcome_of(flow, Sample(flow.sample_input or ""))
    assert {node for _, node in canvas.unordered} == {"n4"}
