"""Money in words, and where it stands."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from pytestqt.qtbot import QtBot
from studio.agents.cost import Cost
from studio.agents.messages import Usage
from studio.ui.run.rows import Row
from studio.ui.run.superstep_list import SuperstepList
from studio.ui.theme import Theme
from studio.ui.widgets.costs import cost_details, cost_words, money
from studio.ui.widgets.sources import tokens_short, usage_words


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [
        ("0", "USD", "$0.00"),
        ("0.00036", "USD", "$0.00036"),
        ("0.012421", "USD", "$0.0124"),
        ("0.5", "EUR", "€0.50"),
        ("1234.567", "USD", "$1234.57"),
        ("12", "CHF", "12.00 CHF"),
    ],
)
def test_amounts(amount: str, currency: str, text: str) -> None:
    assert money(Decimal(amount), currency) == text


def test_what_is_not_known_is_said() -> None:
    day = date(2026, 1, 31)
    known = Usage(1, 1, cost=Cost({"USD": Decimal("0.5"), "EUR": Decimal(1)}, day))
    unknown = Usage(1, 1, cost=Cost(partial=True, without_price=1))
    assert (cost_words(None), cost_words(Usage(1, 1))) == ("", "")
    assert cost_words(unknown) == "no price"
    assert cost_words(known) == "€1.00 + $0.50"
    assert cost_words(known + unknown) == "≥ €1.00 + $0.50"
    assert cost_details(known, date(2026, 2, 1)) == "By prices of 2026-01-31."
    assert cost_details(known, date(2027, 1, 1)).endswith("look them up again.")
    assert cost_details(known + unknown, day).startswith("1 call has no price")
    assert cost_details(Usage(1, 1, cost=Cost({"USD": Decimal(1)}))) == "As the provider told it."
    assert (usage_words(Usage()), tokens_short(Usage())) == ("", "")
    assert tokens_short(Usage(1000, 200) + Usage()) == "≥ 1.2 k"


def test_the_cost_of_a_superstep_has_room_beside_its_bars(theme: Theme, qtbot: QtBot) -> None:
    made = SuperstepList(theme)
    qtbot.addWidget(made)
    made.resize(300, 120)
    seen = []
    for cost in ("$0.0048", "$0.0051"):
        usage = f"1.5 k tokens · {cost}"
        made.show_rows([Row("superstep", 1, "First", "done", ((0.0, 1.0, "done"),), "2.3 s", usage)], 0)
        seen.append(made.grab().toImage())
    assert seen[0] != seen[1], "the cost is painted, not left out"
