"""A profile's client: what its options and switches do to calls, what is learned, and what calls cost."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from studio.agents.cost import Cost
from studio.agents.messages import Usage
from studio.agents.prices import Price, PriceTable
from studio.agents.switches import Switches
from studio.assembly import ServiceSource, compile_plan
from studio.assembly.price_book import PriceBook
from studio.assembly.profile_client import client_settings, switches_of, switches_table
from studio.document.model import AgentNode, DirectEdge, Workflow
from studio.engine import Codec
from studio.engine.codec import decode, encode
from studio.engine.events import ModelCallFinished
from studio.settings.prices import write_prices
from studio.settings.profile_options import ProfileOptions
from studio.settings.profiles import Profile, Profiles, read_profiles, write_profiles
from studio.settings.secrets import Secrets

from tests.fakes.provider_server import ProviderServer

PRICE = Price("small-*", Decimal(2), Decimal(8), date(2026, 1, 31))


def profile(server: ProviderServer, **fields: Any) -> Profile:
    return Profile("Here", "other", server.url, "env:HERE_KEY", "small-1", **fields)


def two_agents() -> Workflow:
    nodes = tuple(AgentNode(id=i, name=i, instructions=f"You are {i}.", profile="Here") for i in ("a", "b"))
    return Workflow(start="a", nodes=nodes, edges=(DirectEdge(id="a_b", source="a", target="b"),))


async def used(server: ProviderServer, **fields: Any) -> list[Usage | None]:
    """A run of two agents; the usage of each call."""
    write_profiles(Profiles().with_profile(profile(server, **fields)))
    source = ServiceSource(lambda: read_profiles()[0], Secrets())
    document = two_agents()
    events: deque[Any] = deque()
    try:
        await compile_plan(document, source.services(document)).engine.run("in", events=events)
    finally:
        await source.close()
    return [e.usage for e in events if isinstance(e, ModelCallFinished)]


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERE_KEY", "sk-of-this-test")


async def test_calls_are_priced_by_the_users_table() -> None:
    write_prices(PriceTable((PRICE,)).to_toml())
    with ProviderServer() as server:
        calls = await used(server)
    # 100 tokens in at 2 and 20 out at 8 for a million
    assert calls == [Usage(100, 20, cost=Cost({"USD": Decimal("0.00036")}, date(2026, 1, 31)))] * 2
    first, second = calls
    assert first is not None
    assert second is not None
    assert (first + second).cost == Cost({"USD": Decimal("0.00072")}, date(2026, 1, 31))


async def test_without_a_price_or_counts_the_cost_is_unknown_not_nothing() -> None:
    nobody_knows = Cost(partial=True, without_price=1)
    with ProviderServer() as server:
        assert await used(server) == [Usage(100, 20, cost=nobody_knows)] * 2
    write_prices(PriceTable((PRICE,)).to_toml())
    with ProviderServer("no_usage") as server:
        assert await used(server) == [Usage(cost=nobody_knows)] * 2


def test_a_book_follows_its_file_and_says_what_is_wrong() -> None:
    book = PriceBook()
    assert book.priced("openai", "small-1", Usage(1, 1)).cost == Cost(partial=True, without_price=1)
    write_prices(PriceTable((PRICE,)).to_toml())
    assert book.priced("openai", "small-1", Usage(1_000_000, 0)).cost == Cost({"USD": Decimal(2)}, date(2026, 1, 31))
    told = Usage(5, 5, cost=Cost({"USD": Decimal("0.5")}))
    assert book.priced("openai", "small-1", told) == told
    write_prices("[[model]]\nmatch = 3\n")
    assert book.table == PriceTable()
    assert "Entry 1" in book.problem


def test_a_table_survives_being_written() -> None:
    other = replace(
        PRICE, match="x", currency="EUR", per=1000, cached_input=Decimal("0.25"), provider="openai", source="page"
    )
    table = PriceTable((PRICE, other))
    assert PriceTable.from_toml(table.to_toml()) == table


def test_costs_are_saved_exactly() -> None:
    usage = Usage(1, 2, cost=Cost({"USD": Decimal("0.1"), "EUR": Decimal(3)}, date(2026, 1, 31), True, 2))
    assert decode(encode(usage)) == usage
    codec = Codec()
    for value in (Decimal("0.10"), date(2026, 1, 31)):
        tag, fields = codec.flat(value)
        assert codec.maker(tag)[0](*fields) == value


async def test_what_a_refusal_taught_stays_with_the_profile() -> None:
    with ProviderServer("new_limit") as server:
        write_profiles(Profiles().with_profile(profile(server)))
        source = ServiceSource(lambda: read_profiles()[0], Secrets())
        document = two_agents()
        limited = document.model_copy(
            update={"nodes": tuple(n.model_copy(update={"max_tokens": 50}) for n in document.nodes)}
        )
        await compile_plan(limited, source.services(limited)).engine.run("in", stream=True)
        await source.close()
        kept = read_profiles()[0].find("Here")
        assert kept is not None
        assert kept.switches == {"limit_name": "max_completion_tokens"}
        before = len(server.requests)
        source = ServiceSource(lambda: read_profiles()[0], Secrets())
        await compile_plan(limited, source.services(limited)).engine.run("in", stream=True)
        await source.close()
        assert len(server.requests) == before + 2


async def test_options_reach_the_client() -> None:
    options = ProfileOptions(tries=5, first_byte=12, stall=7, max_parallel=3, proxy="none", ca_file="/ca.pem")
    made = await client_settings(Profile("x", "openai", "https://api.example/v1", options=options), Secrets())
    assert (made.tries, made.timeouts.first_byte, made.timeouts.stall, made.max_parallel) == (5, 12, 7, 3)
    assert (made.trust_environment, made.ca_file) == (False, "/ca.pem")
    assert made.first_switches().limit_name == "max_completion_tokens"
    local = await client_settings(Profile("x", "ollama", "http://127.0.0.1:11434/v1"), Secrets())
    assert local.timeouts.first_byte == 900
    assert local.first_switches().limit_name == "max_tokens"


async def test_a_dated_azure_address_gets_its_key_and_version() -> None:
    with ProviderServer() as server:
        calls = await used(server, options=ProfileOptions(api_version="2024-10-21"))
        assert calls
        assert server.requests[0][0] == "/v1/chat/completions?api-version=2024-10-21"
        assert server.headers[0]["authorization"] == "Bearer sk-of-this-test"
        azure = replace(profile(server), kind="azure_dated", options=ProfileOptions(api_version="2024-10-21"))
        write_profiles(Profiles().with_profile(azure))
        source = ServiceSource(lambda: read_profiles()[0], Secrets())
        document = two_agents()
        await compile_plan(document, source.services(document)).engine.run("in")
        await source.close()
        assert server.headers[-1]["api-key"] == "sk-of-this-test"
        assert "authorization" not in server.headers[-1]


def test_switches_are_kept_as_what_differs() -> None:
    changed = Switches(limit_name="max_tokens", left_out=frozenset({"top_p", "temperature"}), strict=False)
    table = switches_table("openai", changed)
    assert table == {"limit_name": "max_tokens", "left_out": ["temperature", "top_p"], "strict": False}
    assert switches_of(Profile("x", "openai", switches=table)) == changed
    assert switches_of(Profile("x", "other", switches={"strict": "no", "unknown": 1})) == Switches()
