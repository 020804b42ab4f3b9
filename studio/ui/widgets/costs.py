"""What calls cost, in words: unknown is said, never shown as nothing."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from studio.agents.cost import Cost
from studio.agents.messages import Usage
from studio.ui.text import tr
from studio.ui.widgets.sources import counted

_SIGNS = {"USD": "$", "EUR": "€", "GBP": "£"}


def money(amount: Decimal, currency: str) -> str:
    """ "$0.0124", "€3.50", "12.00 CHF": two places, and three figures where the amount is small."""
    places = 2 if not amount else max(2, 2 - amount.adjusted())
    whole, _, rest = f"{amount:.{places}f}".partition(".")
    text = f"{whole}.{rest.rstrip('0').ljust(2, '0')}"
    sign = _SIGNS.get(currency)
    return f"{sign}{text}" if sign else f"{text} {currency}"


def cost_words(usage: Usage | None) -> str:
    """ "$0.0124", "≥ $0.0124" where a call has no price, "no price" where none has; "" where nothing is paid for."""
    cost = usage.cost if usage is not None else None
    if cost is None:
        return ""
    if not cost.amounts:
        return tr("no price")
    sign = "≥ " if cost.partial else ""
    return sign + " + ".join(money(amount, currency) for currency, amount in sorted(cost.amounts.items()))


def cost_details(usage: Usage | None, today: date | None = None) -> str:
    """Where a cost comes from, as sentences; "" where there is none."""
    cost: Cost | None = usage.cost if usage is not None else None
    if cost is None:
        return ""
    said: list[str] = []
    if cost.without_price:
        said.append(
            counted(
                cost.without_price,
                tr("1 call has no price, or told no tokens: see the prices in the settings."),
                tr("{count} calls have no price, or told no tokens: see the prices in the settings."),
            )
        )
    elif cost.partial:
        said.append(tr("At least so much: not every count of tokens is known."))
    if cost.as_of is not None:
        said.append(tr("By prices of {date}.").format(date=cost.as_of.isoformat()))
        if cost.is_old(today or date.today()):
            said.append(tr("They are older than half a year: look them up again."))
    elif cost.amounts:
        said.append(tr("As the provider told it."))
    return " ".join(said)
