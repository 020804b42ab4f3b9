"""Lanes: text grows at the end without laying out again, selection and scrolling stay, tools join their results."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPointF, QRect, Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot
from studio.bridge.run_views import InvocationView, StreamPiece
from studio.ui.run.lane_text import LaneText
from studio.ui.run.lane_view import LaneView
from studio.ui.run.numbers import lane_meta
from studio.ui.run.selection import Selection
from studio.ui.theme import Theme

WORDS = ["storage", "tender", "capacity", "market", "permit", "supplier", "guarantee", "cycle", "price", "region"]


@pytest.fixture
def text(theme: Theme) -> LaneText:
    made = LaneText(theme.font("text"), theme.font("code-small"))
    made.set_width(240)
    return made


def lines_of(text: LaneText) -> list[str]:
    return [block.shown[a:b] for block in text.blocks for a, b in block.lines]


def test_growing_gives_the_same_lines_as_laying_out_at_once(text: LaneText, theme: Theme) -> None:
    piece = StreamPiece("text", "")
    for i in range(120):
        piece.text += WORDS[i % len(WORDS)] + ("\n" if i % 17 == 0 else " ")
        text.take([piece])
    whole = LaneText(theme.font("text"), theme.font("code-small"))
    whole.set_width(240)
    whole.take([StreamPiece("text", piece.text)])
    assert lines_of(text) == lines_of(whole)
    assert len(lines_of(text)) > 10


def test_growing_lays_out_only_the_last_line(text: LaneText) -> None:
    piece = StreamPiece("text", "")
    for i in range(2000):
        piece.text += WORDS[i % len(WORDS)] + " "
        text.take([piece])
    assert len(piece.text) > 15_000
    assert text.laid_out < 2000 * 80, "a line is laid out again per chunk, never the text above it"


def test_what_changed_begins_at_the_last_line(text: LaneText) -> None:
    piece = StreamPiece("text", "one\ntwo\nthree")
    assert text.take([piece]) == 0
    assert text.take([piece]) is None
    piece.text += " four"
    assert text.take([piece]) == 2 * 18


def test_a_result_joins_its_call(text: LaneText) -> None:
    pieces = [StreamPiece("tool", '{"q": 1}', "search", "c1"), StreamPiece("tool", "{}", "read", "c2")]
    text.take(pieces)
    pieces.append(StreamPiece("result", "9 hits", "search", "c1"))
    pieces.append(StreamPiece("error", "Timeout", "read", "c2"))
    text.take(pieces)
    assert [(b.title, b.result, b.failed) for b in text.blocks] == [
        ("search", "9 hits", False),
        ("read", "Timeout", True),
    ]
    assert text.blocks[0].copied == 'search({"q": 1}) → 9 hits'


def test_opening_a_box_moves_what_is_below(text: LaneText) -> None:
    text.take(
        [StreamPiece("tool", "{}", "read", "c"), StreamPiece("result", "a\nb", "read", "c"), StreamPiece("text", "x")]
    )
    before = text.blocks[1].top
    text.toggle(text.blocks[0])
    assert text.blocks[1].top == before + 3 * 18 + 4
    text.toggle(text.blocks[0])
    assert text.blocks[1].top == before


def test_offsets_are_right_after_an_emoji(text: LaneText) -> None:
    text.take([StreamPiece("text", "🙂🙂 " + "storage tender capacity " * 6)])
    assert "".join(lines_of(text)).replace(" ", "") == ("🙂🙂" + "storage tender capacity " * 6).replace(" ", "")


@pytest.fixture
def view() -> InvocationView:
    return InvocationView("i1", "writer", 1, 0.0, pieces=[StreamPiece("text", "")])


@pytest.fixture
def lane(qtbot: QtBot, theme: Theme, view: InvocationView) -> LaneView:
    made = LaneView(theme)
    qtbot.addWidget(made)
    made.resize(260, 120)
    made.show()
    qtbot.waitExposed(made)
    made.set_view(view)
    return made


def stream(lane: LaneView, view: InvocationView, words: int) -> None:
    for i in range(words):
        view.pieces[-1].text += WORDS[i % len(WORDS)] + " "
    lane.refresh()


def test_nothing_is_left_of_the_caret_when_an_invocation_ends(lane: LaneView, view: InvocationView) -> None:
    """A gap may follow the last line: what is painted again begins at the line where the caret stood."""
    view.pieces += [StreamPiece("error", "cancelled")]
    lane.refresh()
    where = lane.text.last_line
    assert where == lane.text.blocks[-1].top < lane.text.height - lane.text.line
    view.status = "cancelled"
    repainted: list[QRect] = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(lane.viewport(), "update", repainted.append)
        lane.refresh()
    assert len(repainted) == 1
    assert repainted[0].top() <= where


def test_follows_the_end_until_one_scrolls_up(lane: LaneView, view: InvocationView, qtbot: QtBot) -> None:
    bar = lane.verticalScrollBar()
    stream(lane, view, 200)
    assert bar.value() == bar.maximum() > 0
    bar.setValue(10)
    assert not lane.following
    assert lane._follow.isVisible()
    stream(lane, view, 200)
    assert bar.value() == 10, "the text that one reads stays where it is"
    qtbot.keyClick(lane, Qt.Key.Key_End)
    assert lane.following
    assert bar.value() == bar.maximum()
    assert not lane._follow.isVisible()


def test_a_finished_lane_begins_at_its_top(lane: LaneView, view: InvocationView) -> None:
    stream(lane, view, 200)
    lane.verticalScrollBar().setValue(5)
    view.status = "done"
    lane.refresh()
    assert not lane._follow.isVisible()
    lane.set_view(view)
    assert lane.verticalScrollBar().value() == 0
    assert not lane.following


def test_scrolling_back_to_the_end_follows_again(lane: LaneView, view: InvocationView) -> None:
    bar = lane.verticalScrollBar()
    stream(lane, view, 200)
    bar.setValue(0)
    bar.setValue(bar.maximum())
    assert lane.following


def test_appending_keeps_the_selection(lane: LaneView, view: InvocationView) -> None:
    stream(lane, view, 10)
    lane.selection = Selection((0, 0), (0, 14))
    stream(lane, view, 300)
    assert lane.selected_text() == "storage tender"
    lane.copy()
    assert QGuiApplication.clipboard().text() == "storage tender"


def test_the_mouse_selects(lane: LaneView, view: InvocationView, qtbot: QtBot) -> None:
    view.pieces[-1].text = "one two three\nfour five"
    lane.refresh()
    qtbot.mouseDClick(lane.viewport(), Qt.MouseButton.LeftButton, pos=QPointF(16, 8).toPoint())
    assert lane.selected_text() == "one"
    qtbot.keyClick(lane, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert lane.selected_text() == "one two three\nfour five"


def test_a_hidden_lane_only_collects(lane: LaneView, view: InvocationView, qtbot: QtBot) -> None:
    stream(lane, view, 5)
    lane.hide()
    laid_out = lane.text.laid_out
    stream(lane, view, 500)
    assert lane.text.laid_out == laid_out
    lane.show()
    qtbot.waitUntil(lambda: lane.text.blocks[0].text == view.pieces[0].text)


def test_another_width_breaks_again(lane: LaneView, view: InvocationView) -> None:
    stream(lane, view, 100)
    before = len(lane.text.blocks[0].lines)
    lane.resize(600, 120)
    assert len(lane.text.blocks[0].lines) < before


def test_numbers() -> None:
    done = InvocationView("i", "n", 1, 1.0, 9.1, "done", tokens=612)
    assert lane_meta(done, 0.0) == "612 tok · 76/s · 8.1 s"


def test_the_line_that_had_the_caret_is_painted_again(
    lane: LaneView, view: InvocationView, monkeypatch: pytest.MonkeyPatch
) -> None:
    view.pieces[:] = [StreamPiece("text", "line\n" * 60)]
    lane.refresh()
    painted: list[QRect] = []
    monkeypatch.setattr(lane.viewport(), "update", painted.append)
    for number in range(5):
        before = lane.text.height - lane.text.line
        view.pieces[-1].text += f"{number}\nmore"
        lane.refresh()
        scrolled = lane.verticalScrollBar().value()
        assert painted[-1].top() <= max(0, before - scrolled)
