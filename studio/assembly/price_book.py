"""Prices for the calls of a program: the user's table, read again when its file has changed."""

from __future__ import annotations

from dataclasses import replace

from studio.agents.cost import Cost
from studio.agents.messages import Usage
from studio.agents.prices import PriceProblem, PriceTable
from studio.settings import prices


class PriceBook:
    """One per program. A table that cannot be used is none; :attr:`problem` says why."""

    def __init__(self) -> None:
        self.problem = ""
        self._table = PriceTable()
        self._stamp: tuple[int, int] | None = None

    @property
    def table(self) -> PriceTable:
        """The prices as they are now."""
        stamp = prices.stamp()
        if stamp != self._stamp:
            self._stamp = stamp
            text, self.problem = prices.read_prices()
            try:
                self._table = PriceTable.from_toml(text)
            except PriceProblem as problem:
                self._table, self.problem = PriceTable(), str(problem)
        return self._table

    def priced(self, provider: str, model: str, usage: Usage | None) -> Usage:
        """The usage of a call with its cost. What the provider itself told stays; without a price, or without counts,
        the cost is that of one call nobody knows: never nothing."""
        usage = usage if usage is not None else Usage()
        if usage.cost is not None:
            return usage
        cost = self.table.cost(provider, model, usage)
        return replace(usage, cost=cost if cost is not None else Cost(partial=True, without_price=1))
