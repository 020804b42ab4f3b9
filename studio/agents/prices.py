"""What calls cost, by a table that the user keeps. Nothing is guessed: no entry is no price."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import Any

from studio.agents.messages import Usage

OLD = timedelta(days=180)
"""A price that is older is shown as old."""


class PriceProblem(Exception):
    """A table that cannot be used; the text names the entry."""


@dataclass(frozen=True, slots=True)
class Price:
    """Money for ``per`` tokens of models whose name fits ``match`` (with ``*`` and ``?``)."""

    match: str
    input: Decimal
    output: Decimal
    as_of: date
    currency: str = "USD"
    per: int = 1_000_000
    cached_input: Decimal | None = None
    """None: as :attr:`input`."""
    provider: str = ""
    """The profile's kind; empty: every one."""
    source: str = ""

    def fits(self, provider: str, model: str) -> bool:
        """Whether the price is for this model there."""
        return self.provider in ("", provider) and fnmatchcase(model.lower(), self.match.lower())

    def of(self, usage: Usage) -> Cost | None:
        """The cost of a call; None if its tokens are not known. Reasoning is part of output, cached part of input."""
        if usage.input is None and usage.output is None:
            return None
        cached = min(usage.cached or 0, usage.input or 0)
        fresh = (usage.input or 0) - cached
        cached_price = self.input if self.cached_input is None else self.cached_input
        amount = (fresh * self.input + cached * cached_price + (usage.output or 0) * self.output) / self.per
        unknown = usage.partial or usage.input is None or usage.output is None
        return Cost({self.currency: amount}, self.as_of, partial=unknown)


@dataclass(frozen=True, slots=True)
class Cost:
    """Money by currency; currencies are not added up. ``partial``: at least so much ("≥")."""

    amounts: Mapping[str, Decimal] = field(default_factory=dict)
    as_of: date | None = None
    """Date of the oldest price in it; None: told by the provider itself."""
    partial: bool = False
    without_price: int = 0
    """Calls in the sum that have no price."""

    def __add__(self, other: Cost) -> Cost:
        amounts = dict(self.amounts)
        for currency, amount in other.amounts.items():
            amounts[currency] = amounts.get(currency, Decimal(0)) + amount
        dates = [d for d in (self.as_of, other.as_of) if d is not None]
        return Cost(
            amounts,
            min(dates) if dates else None,
            self.partial or other.partial,
            self.without_price + other.without_price,
        )

    def is_old(self, today: date) -> bool:
        """Whether a price in it should be looked up again."""
        return self.as_of is not None and today - self.as_of > OLD


def total(costs: Iterable[Cost | None]) -> Cost | None:
    """The sum; a None is a call without price and makes it "at least". None: no call has a price."""
    found = Cost()
    known = False
    for cost in costs:
        known = known or cost is not None
        found = found + (Cost(partial=True, without_price=1) if cost is None else cost)
    return found if known else None


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Prices in the order of the file; the first that fits counts."""

    prices: tuple[Price, ...] = ()

    @staticmethod
    def from_toml(text: str) -> PriceTable:
        """The table of a ``prices.toml``. Raises :class:`PriceProblem`."""
        try:
            entries = tomllib.loads(text).get("model", [])
        except tomllib.TOMLDecodeError as error:
            raise PriceProblem(f"The price table is no TOML: {error}") from error
        if not isinstance(entries, list):
            raise PriceProblem("The price table has no list of [[model]] entries")
        return PriceTable(tuple(_price(entry, number) for number, entry in enumerate(entries, 1)))

    def price(self, provider: str, model: str) -> Price | None:
        """The price of a model; None: none is known."""
        return next((price for price in self.prices if price.fits(provider, model)), None)

    def cost(self, provider: str, model: str, usage: Usage | None) -> Cost | None:
        """The cost of one call; None: no price, or nothing is known of its tokens."""
        price = self.price(provider, model)
        return None if price is None or usage is None else price.of(usage)


def told_cost(amount: float | str, currency: str = "USD") -> Cost:
    """A cost that the provider itself told for a call; it wins over the table."""
    return Cost({currency: Decimal(str(amount))})


def _price(entry: Mapping[str, Any], number: int) -> Price:
    where = f"Entry {number} of the price table"
    if not isinstance(entry, Mapping) or not isinstance(entry.get("match"), str) or not entry["match"]:
        raise PriceProblem(f"{where} does not say which model it is for (match)")
    as_of = entry.get("as_of")
    if not isinstance(as_of, date):
        raise PriceProblem(f"{where} has no date (as_of = 2026-01-31)")
    per = entry.get("per", 1_000_000)
    if not isinstance(per, int) or isinstance(per, bool) or per <= 0:
        raise PriceProblem(f"{where}: per must be a whole number of tokens")
    cached = None if entry.get("cached_input") is None else _amount(entry, "cached_input", where)
    return Price(
        entry["match"],
        _amount(entry, "input", where),
        _amount(entry, "output", where),
        as_of,
        str(entry.get("currency", "USD")),
        per,
        cached,
        str(entry.get("provider", "")),
        str(entry.get("source", "")),
    )


def _amount(entry: Mapping[str, Any], name: str, where: str) -> Decimal:
    value = entry.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise PriceProblem(f"{where} has no price for {name}")
    return Decimal(str(value))
