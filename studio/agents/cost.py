"""What model calls cost: amounts by currency, with what is not known about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal

OLD = timedelta(days=180)
"""A price that is older is shown as old."""


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

    def since(self, before: Cost | None) -> Cost:
        """What came on top of an earlier sum."""
        if before is None:
            return self
        amounts = {c: a - before.amounts.get(c, Decimal(0)) for c, a in self.amounts.items()}
        left = {currency: amount for currency, amount in amounts.items() if amount}
        return Cost(left, self.as_of, self.partial, self.without_price - before.without_price)

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


def told_cost(amount: float | str, currency: str = "USD") -> Cost:
    """A cost that the provider itself told for a call; it wins over the table."""
    return Cost({currency: Decimal(str(amount))})
