"""Long lanes: opened in portions, laid out anew in slices, with what is in sight staying where it is."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot
from studio.bridge.run_views import InvocationView, StreamPiece
from studio.ui.run import lane_text, lane_view
from studio.ui.run.lane_text import LaneText
from studio.ui.run.lane_view import LaneView
from studio.ui.run.portions import PORTION, limited
from studio.ui.theme import Theme

PARAGRAPH = "Prices for **four-hour** systems fell to `118` in the spring tenders, and revenue moved on.\n\n"
LONG = PARAGRAPH * 800


@pytest.fixture
def view(theme: Theme, qtbot: QtBot) -> LaneView:
    made = LaneView(theme)
    qtbot.addWidget(made)
    made.resize(300, 200)
    made.show()
    qtbot.waitExposed(made)
    return made


def at_once(theme: Theme, pieces: list[StreamPiece], width: int) -> LaneText:
    whole = LaneText(theme.font("text"), theme.font("code-small"))
    whole.set_width(width)
    whole.take(pieces, finished=True)
    return whole


def same(one: LaneText, other: LaneText) -> bool:
    return [(b.text, b.lines, b.top) for b in one.blocks] == [(b.text, b.lines, b.top) for b in other.blocks]


def test_portions_are_everything_in_order() -> None:
    pieces = [
        StreamPiece("text", "a" * (2 * PORTION + 5)),
        StreamPiece("tool", "{}", "search", "c"),
        StreamPiece("error", "e" * (PORTION + 1), "search", "c"),
        StreamPiece("print", "p" * 10),
    ]
    taken = characters = turns = 0
    more = True
    while more:
        given, more = limited(pieces, taken, characters)
        grown = sum(len(p.text) for p in given) - sum(len(p.text) for p in pieces[: max(0, taken - 1)]) - characters
        assert grown <= 2 * PORTION + 1
        taken, characters = len(given), len(given[-1].text)
        turns += 1
    assert (taken, characters) == (4, 10)
    assert given is pieces
    assert turns == 4


def test_a_long_answer_is_opened_in_portions(view: LaneView, theme: Theme, qtbot: QtBot) -> None:
    pieces = [StreamPiece("text", LONG), StreamPiece("tool", "{}", "read", "c"), StreamPiece("text", PARAGRAPH)]
    view.set_view(InvocationView("i", "n", 1, 0.0, 1.0, "done", pieces=pieces))
    assert view.text.taken == PORTION
    qtbot.waitUntil(lambda: not view._sync_timer.isActive(), timeout=60_000)
    assert same(view.text, at_once(theme, pieces, view.viewport().width() - 24))
    assert view.verticalScrollBar().value() == 0


def test_another_width_keeps_what_is_in_sight(
    view: LaneView, theme: Theme, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces = [StreamPiece("text", LONG)]
    view.set_view(InvocationView("i", "n", 1, 0.0, 1.0, "done", pieces=pieces))
    qtbot.waitUntil(lambda: not view._sync_timer.isActive(), timeout=60_000)
    block = view.text.blocks[600]
    view.verticalScrollBar().setValue(block.top + 3)
    monkeypatch.setattr(lane_view, "_SLICE", 0.0)
    made: list[int] = []
    real = LaneText._lay_out

    def counted(text: LaneText, one: lane_text.Block) -> None:
        made.append(1)
        real(text, one)

    monkeypatch.setattr(LaneText, "_lay_out", counted)
    view.resize(220, 200)
    assert 0 < len(made) < 200, "a part of the blocks in the turn of the resize"
    assert block.top + 3 == view.verticalScrollBar().value(), "what is in sight stays from the first turn on"
    qtbot.waitUntil(lambda: not view._layout_timer.isActive(), timeout=60_000)
    assert block.top + 3 == view.verticalScrollBar().value()
    assert same(view.text, at_once(theme, pieces, view.viewport().width() - 24))
    assert view._anchor is None


def test_text_that_arrives_while_it_is_laid_out_anew(view: LaneView, theme: Theme, qtbot: QtBot) -> None:
    piece = StreamPiece("text", LONG)
    shown = InvocationView("i", "n", 1, 0.0, status="running", pieces=[piece])
    view.set_view(shown)
    qtbot.waitUntil(lambda: not view._sync_timer.isActive(), timeout=60_000)
    view.resize(240, 200)
    piece.text += "More *text*"
    view.refresh()
    piece.text += " came.\n\nLast"
    view.refresh()
    qtbot.waitUntil(lambda: not view._layout_timer.isActive(), timeout=60_000)
    shown.status = "done"
    view.refresh()
    assert same(view.text, at_once(theme, [piece], view.viewport().width() - 24))
    assert view.verticalScrollBar().value() == view.verticalScrollBar().maximum()
