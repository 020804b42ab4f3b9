"""Why no orchestration is exported as one of the framework's stock builders: none builds the graph that is drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from agent_framework import Agent, WorkflowBuilder
from agent_framework.openai import OpenAIChatCompletionClient
from agent_framework.orchestrations import ConcurrentBuilder, SequentialBuilder
from studio.assembly import compile_plan
from studio.document.model import AgentNode, Workflow
from studio.proof.expected import offline_source, shape_of
from studio.proof.model import Shape, shapes_differ

from tests.export.corpus import templates


def _sequential(agents: Sequence[Agent]) -> Any:
    return SequentialBuilder(participants=agents).build()


def _concurrent(agents: Sequence[Agent]) -> Any:
    return ConcurrentBuilder(participants=agents).build()


def _plain(agents: Sequence[Agent]) -> Any:
    return WorkflowBuilder(start_executor=agents[0]).add_chain(agents).build()


def _agents(flow: Workflow) -> list[Agent]:
    client = OpenAIChatCompletionClient(model="none", api_key="none", base_url="http://127.0.0.1:9")
    return [Agent(client, node.instructions, name=node.id) for node in flow.nodes if isinstance(node, AgentNode)]


def _shape(workflow: Any) -> Shape:
    groups = [group for group in workflow.edge_groups if type(group).__name__ != "InternalEdgeGroup"]
    edges = [
        (type(g).__name__, tuple(sorted(g.source_executor_ids)), tuple(sorted(g.target_executor_ids))) for g in groups
    ]
    return Shape(workflow.start_executor_id, tuple(sorted(workflow.executors)), tuple(sorted(edges)))


async def _drawn(flow: Workflow) -> Shape:
    source = offline_source()
    try:
        return shape_of(compile_plan(flow, source.services(flow, None)).engine)
    finally:
        await source.close()


@pytest.mark.parametrize(
    ("name", "build", "own", "start"),
    [
        ("template_sequential", _sequential, {"input-conversation"}, "input-conversation"),
        ("template_concurrent", _concurrent, {"dispatcher", "aggregator"}, "dispatcher"),
    ],
)
async def test_a_stock_builder_has_executors_of_its_own(
    name: str, build: Callable[[Sequence[Agent]], Any], own: set[str], start: str
) -> None:
    """They cost supersteps, emit events and are in checkpoints, so runs would not be those of the canvas."""
    flow = templates()[name]
    drawn, stock = await _drawn(flow), _shape(build(_agents(flow)))
    assert own <= set(stock.nodes)
    assert own.isdisjoint(drawn.nodes)
    assert stock.start == start != drawn.start
    assert shapes_differ(drawn, stock) is not None


async def test_the_same_agents_as_a_plain_chain_are_what_is_drawn() -> None:
    """The comparison can say that two graphs are equal."""
    flow = templates()["template_sequential"]
    assert shapes_differ(await _drawn(flow), _shape(_plain(_agents(flow)))) is None
