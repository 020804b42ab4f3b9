"""What calls cost, by a table that the user keeps. Nothing is guessed: no entry is no price."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import Any

import tomli_w

from studio.agents.cost import OLD, Cost, told_cost, total
from studio.agents.messages import Usage

__all__ = ["OLD", "Cost", "Price", "PriceProblem", "PriceTable", "told_cost", "total"]


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

    def to_toml(self) -> str:
        """The text of a ``prices.toml`` with these prices."""
        return tomli_w.dumps({"model": [_entry(price) for price in self.prices]})

    def price(self, provider: str, model: str) -> Price | None:
        """The price of a model; None: none is known."""
        return next((price for price in self.prices if price.fits(provider, model)), None)

    def cost(self, provider: str, model: str, usage: Usage | None) -> Cost | None:
        """The cost of one call; None: no price, or nothing is known of its tokens."""
        price = self.price(provider, model)
        return None if price is None or usage is None else price.of(usage)


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


def _entry(price: Price) -> dict[str, Any]:
    found: dict[str, Any] = {"match": price.match, "as_of": price.as_of, "currency": price.currency, "per": price.per}
    for name in ("input", "cached_input", "output"):
        amount: Decimal | None = getattr(price, name)
        if amount is not None:
            found[name] = int(amount) if amount == int(amount) else float(amount)
    return found | {name: text for name in ("provider", "source") if (text := getattr(price, name))}
