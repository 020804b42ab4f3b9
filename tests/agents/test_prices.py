"""Prices, sums that say what they do not know, estimates, budgets."""

from __future__ import annotations

import asyncio
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from studio.agents import Agent, ChatOptions, ChatRequest, Data, Message, Middleware, NoHooks, Tool, Usage, user
from studio.agents.budget import Budget, BudgetedClient, BudgetReached
from studio.agents.prices import Cost, PriceProblem, PriceTable, told_cost, total
from studio.agents.tokens import Calibration, request_tokens, text_tokens
from tests.fakes.scripted_client import ScriptedClient, ScriptedError

TOML = """
[[model]]
match = "big-mini*"
provider = "openai"
input = 0.25
cached_input = 0.025
output = 2.0
as_of = 2026-01-31

[[model]]
match = "big*"
currency = "EUR"
per = 1_000
input = 1
output = 3
as_of = 2025-06-01
"""
TABLE = PriceTable.from_toml(TOML)


def test_first_entry_that_fits_counts() -> None:
    mini = TABLE.price("openai", "Big-Mini-2026")
    assert mini is not None
    assert (mini.currency, mini.per) == ("USD", 1_000_000)
    other = TABLE.price("groq", "big-mini")
    assert other is not None
    assert other.currency == "EUR"
    assert TABLE.price("openai", "unknown") is None


def test_cached_input_is_part_of_input_and_reasoning_of_output() -> None:
    cost = TABLE.cost("openai", "big-mini", Usage(1_000_000, 500_000, cached=400_000, reasoning=300_000))
    assert cost == Cost(
        {"USD": Decimal("0.6") * Decimal("0.25") + Decimal("0.4") * Decimal("0.025") + 1}, date(2026, 1, 31)
    )


def test_unknown_is_never_nothing() -> None:
    assert TABLE.cost("openai", "unknown", Usage(1, 1)) is None
    assert TABLE.cost("openai", "big", None) is None
    assert TABLE.cost("openai", "big", Usage()) is None
    half = TABLE.cost("openai", "big", Usage(1000, None))
    assert half is not None
    assert half.partial
    assert PriceTable.from_toml("").prices == ()


def test_sums_say_what_is_missing_and_how_old_they_are() -> None:
    usd = TABLE.cost("openai", "big-mini", Usage(1_000_000, 0))
    eur = TABLE.cost("openai", "big", Usage(1000, 1000))
    found = total([usd, eur, None, usd])
    assert found is not None
    assert found.amounts == {"USD": Decimal("0.50"), "EUR": Decimal(4)}
    assert (found.as_of, found.partial, found.without_price) == (date(2025, 6, 1), True, 1)
    assert found.is_old(date(2026, 2, 1))
    assert usd is not None
    assert not usd.is_old(date(2026, 2, 1))
    assert total([None, None]) is None
    assert total([]) is None
    told = told_cost(0.1)
    assert (told.amounts, told.is_old(date(2100, 1, 1))) == ({"USD": Decimal("0.1")}, False)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[model", "no TOML"),
        ("model = 3", "no list"),
        ("[[model]]\ninput = 1\noutput = 1\nas_of = 2026-01-01", "match"),
        ('[[model]]\nmatch = "x"\ninput = 1\noutput = 1', "no date"),
        ('[[model]]\nmatch = "x"\noutput = 1\nas_of = 2026-01-01', "price for input"),
        ('[[model]]\nmatch = "x"\ninput = -1\noutput = 1\nas_of = 2026-01-01', "price for input"),
        ('[[model]]\nmatch = "x"\ninput = 1\noutput = 1\nas_of = 2026-01-01\nper = 0', "per"),
    ],
)
def test_tables_that_cannot_be_used(text: str, words: str) -> None:
    with pytest.raises(PriceProblem, match=words):
        PriceTable.from_toml(text)


@given(st.text(), st.text(min_size=1))
def test_more_text_is_never_less(a: str, b: str) -> None:
    assert text_tokens(a + b) > text_tokens(a) >= 0


def test_estimates() -> None:
    assert text_tokens("abcd" * 10) == 10
    assert text_tokens("漢字") == pytest.approx(1.6)
    assert text_tokens("é") == 0.5
    assert text_tokens("😀") == 2
    plain = request_tokens(ChatRequest((user("hello"),)))
    tools = request_tokens(ChatRequest((user("hello"),), "be kind", (Tool("look", "x" * 100),)))
    assert tools.tokens > plain.tokens + 25
    image = request_tokens(ChatRequest((Message("user", (Data("data:,x"),)),)))
    assert image.images == 1


def test_calibration_follows_the_last_calls() -> None:
    calibration = Calibration()
    assert calibration.corrected(100) == 100
    calibration.learn(100, 150)
    assert calibration.corrected(100) == 150
    for _ in range(20):
        calibration.learn(100, 200)
    assert calibration.corrected(100) == 200
    calibration.learn(0, 5)
    assert calibration.corrected(100) == 200


def run_with(budget: Budget, client: ScriptedClient, node: str = "Writer") -> Agent:
    def priced(usage: Usage) -> Cost | None:
        return TABLE.cost("openai", "big", usage)

    middleware = Middleware(chat=(budget.middleware(node, priced),))
    return Agent("bot", client, middleware=middleware, options=ChatOptions(max_tokens=100))


async def test_budget_of_tokens_stops_between_calls() -> None:
    client = ScriptedClient(["a", "b", "c"], usage=Usage(50, 50))
    budget = Budget(tokens=300)
    agent = run_with(budget, client)
    await agent.run([user("q")])
    await agent.run([user("q")])
    assert budget.used_tokens == 200
    with pytest.raises(BudgetReached, match="Call 1 of Writer would bring the run to about 304 tokens"):
        await agent.run([user("q" * 1)])
    assert len(client.requests) == 2


async def test_budget_of_money_and_calls_without_usage() -> None:
    client = ScriptedClient(["a", "b"])
    budget = Budget(money=Decimal("0.5"), currency="EUR")
    agent = run_with(budget, client)
    updates: list[Any] = []
    await agent.run([user("q")], updates=updates.append)
    assert budget.used_money == Decimal("0.304")
    with pytest.raises(BudgetReached, match=r"0\.6080 EUR; its budget is 0\.5 EUR"):
        await agent.run([user("q")])


async def test_calls_side_by_side_know_of_each_other() -> None:
    """Two calls that fit alone and not together: the second is not made; when the first failed, there is room again."""
    asked, go = asyncio.Event(), asyncio.Event()

    async def wait(_seconds: float) -> None:
        asked.set()
        await go.wait()

    client = ScriptedClient([{"wait_ms": 1, "error": "broken"}, "b"], usage=Usage(50, 50), wait=wait)
    budget = Budget(tokens=150)
    budgeted = BudgetedClient(client, budget, "Writer")
    request = ChatRequest((user("q"),), options=ChatOptions(max_tokens=100))
    first = asyncio.ensure_future(budgeted.complete(request, chunk=None, hooks=NoHooks()))
    await asked.wait()
    with pytest.raises(BudgetReached, match="Call 2 of Writer"):
        await budgeted.complete(request, chunk=None, hooks=NoHooks())
    go.set()
    with pytest.raises(ScriptedError):
        await first
    assert (budget.used_tokens, len(client.requests)) == (0, 1)
    await budgeted.complete(request, chunk=None, hooks=NoHooks())
    assert budget.used_tokens == 100
    await budgeted.close()
    assert client.closed
