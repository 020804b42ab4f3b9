"""The budget of a document: one for all agents of a run, workflows inside included."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from studio.agents.budget import BudgetReached
from studio.debugger.wording import failure_sentences
from studio.document import validate
from studio.document.model import AgentNode, DirectEdge, SubWorkflowNode, Workflow
from studio.engine.events import ModelCallFinished, ModelCallStarted
from studio.settings import prices
from studio.settings.profiles import Profile, Profiles

from tests.assembly.running import Bench, script
from tests.fakes.provider_server import ProviderServer

PRICES = """
[[model]]
match = "small-1"
per = 100
input = 1
output = 5
as_of = 2026-01-31
"""


def two(**fields: Any) -> Workflow:
    """Two agents one after the other; the second is inside another workflow."""
    inner = Workflow(id="i", start="b", nodes=(AgentNode(id="b", name="Inner", instructions="Answer shortly."),))
    outer = AgentNode(id="a", name="Outer", instructions="Write.")
    return Workflow(
        id="w",
        start="a",
        nodes=(outer, SubWorkflowNode(id="s", name="S", embedded=inner)),
        edges=(DirectEdge(id="e", source="a", target="s"),),
        offline=script(a=["one two three"], **{"s/b": ["four five"]}),
        **fields,
    )


def calls(events: Any) -> tuple[int, list[str]]:
    """How many calls were begun, and the errors of those that ended."""
    begun = sum(isinstance(e, ModelCallStarted) for e in events)
    return begun, [e.error for e in events if isinstance(e, ModelCallFinished) and e.error]


async def test_without_a_limit_nothing_is_stopped_and_a_wide_one_is_kept(bench: Bench) -> None:
    for fields in ({}, {"budget_tokens": 100_000, "budget_cost": 1000.0}):
        ran = await bench.run(two(**fields))
        assert calls(ran.events) == (2, [])


async def test_the_call_that_would_cross_it_is_not_made_and_named(bench: Bench) -> None:
    free = await bench.run(two())
    usages = [e.usage for e in free.events if isinstance(e, ModelCallFinished) and e.usage is not None]
    took = [(usage.input or 0) + (usage.output or 0) for usage in usages]
    limit = took[0] + 2  # enough for the first, not for another one
    assert min(took) > 4
    workflow = two(budget_tokens=limit)
    with pytest.raises(BudgetReached) as reached:
        await bench.run(workflow, stream=True)
    said = str(reached.value)
    assert said.startswith("Call 1 of “Inner” would bring the run to about ")
    assert said.endswith(f" tokens; its budget is {limit}.")
    told = failure_sentences(reached.value, "b", {"b": "Inner"}.__getitem__)
    assert told.startswith(f"Inner failed: {said} Raise the budget in the workflow's settings, then retry ")
    again = await bench.run(two(budget_tokens=sum(took) * 2))  # every run has its own
    assert calls(again.events) == (2, [])
    assert calls((await bench.run(two(budget_tokens=sum(took) * 2))).events) == (2, [])


async def test_money_is_counted_by_the_prices_of_the_program() -> None:
    prices.write_prices(PRICES)
    with ProviderServer() as server:  # every call: 100 tokens in, 20 out = 2 USD
        profile = Profile("Here", "other", server.url, "", "small-1")
        bench = Bench()
        bench.source._profiles = lambda: Profiles((profile,))
        nodes = tuple(AgentNode(id=id, name=id.upper(), profile="Here") for id in "abc")
        edges = (DirectEdge(id="e", source="a", target="b"), DirectEdge(id="f", source="b", target="c"))
        flow = Workflow(id="m", start="a", nodes=nodes, edges=edges, budget_cost=3.9)
        with pytest.raises(BudgetReached, match=r"Call 1 of “C” would bring the run to about 4\.\d+ USD"):
            await bench.run(flow)
        assert len(server.requests) == 2
        await bench.run(flow.model_copy(update={"budget_cost": 7.0}))
        await bench.run(flow.model_copy(update={"budget_currency": "EUR"}))  # nothing has a price in it
        assert len(server.requests) == 8
        await bench.source.close()


def test_a_budget_of_nothing_is_a_fault_with_a_fix() -> None:
    for field in ("budget_tokens", "budget_cost"):
        flow = two(**{field: 0})
        [problem] = [p for p in validate.problems(flow) if p.code == "budget"]
        assert (problem.field, problem.severity) == (field, "error")
        assert problem.fix is not None
        fixed = problem.fix.edit.apply(flow).workflow
        assert getattr(fixed, field) is None
        assert "budget" not in [p.code for p in validate.problems(fixed)]
    assert Decimal(str(two(budget_cost=0.1).budget_cost)) == Decimal("0.1")
