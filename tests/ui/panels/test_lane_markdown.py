"""Markdown in lanes: paragraph by paragraph, as text alone."""

from __future__ import annotations

import random

import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot
from studio.bridge.run_views import InvocationView, StreamPiece
from studio.ui.run.blocks import Block, Face
from studio.ui.run.lane_text import LaneText
from studio.ui.run.lane_view import LaneView
from studio.ui.run.markdown import paragraph_blocks
from studio.ui.run.paragraphs import Paragraph, Paragraphs
from studio.ui.run.selection import Selection
from studio.ui.theme import Theme

ANSWER = (
    "# Prices\n\nFell to **118 €/kWh** in `spring`.\nRevenue moved.\n\n- one\n- two\n\n```python\nx = 1\n\ny = 2\n```\n"
    "The *end*, see [T1](https://example.org/t1)."
)


@pytest.fixture
def text(theme: Theme) -> LaneText:
    made = LaneText(theme.font("text"), theme.font("code-small"))
    made.set_width(300)
    return made


def faces(block: Block) -> list[tuple[str, Face]]:
    return [(block.text[s.start : s.end], s.face) for s in block.spans]


def look(block: Block) -> tuple[str, str, str, int, int, int]:
    return block.kind, block.text, block.marker, block.indent, block.quoted, block.heading


def test_paragraphs_are_the_same_however_the_text_arrives() -> None:
    whole = Paragraphs()
    expected = [*whole.feed(ANSWER), *whole.end(ANSWER)]
    assert [p.text for p in expected] == [
        "# Prices",
        "Fell to **118 €/kWh** in `spring`.\nRevenue moved.",
        "- one\n- two",
        "x = 1\n\ny = 2",
        "The *end*, see [T1](https://example.org/t1).",
    ]
    assert [p.code for p in expected] == [False, False, False, True, False]
    for size in (1, 2, 3, 7, 20):
        parts = Paragraphs()
        found = [p for end in range(size, len(ANSWER) + size, size) for p in parts.feed(ANSWER[:end])]
        assert [*found, *parts.end(ANSWER)] == expected, size


def test_a_fence_that_is_cut_off_is_code_all_the_same() -> None:
    parts = Paragraphs()
    assert parts.feed("~~~\na\n") == []
    assert parts.code
    assert parts.end("~~~\na\n") == [Paragraph("a", code=True)]
    assert not parts.code


def test_a_paragraph_without_end_is_cut_at_a_line() -> None:
    parts = Paragraphs()
    text = "a line of some words\n" * 1000
    cut = parts.feed(text)
    assert len(cut) > 3
    assert max(len(p.text) for p in cut) < 4100
    assert "\n".join(p.text for p in [*cut, *parts.end(text)]) == text.rstrip()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("no markup", [("text", "no markup", "", 0, 0, 0)]),
        ("## Title", [("text", "Title", "", 0, 0, 2)]),
        ("- a\n  b\n- c", [("text", "a\nb", "•", 1, 0, 0), ("text", "c", "•", 1, 0, 0)]),
        ("3. x\n    - y", [("text", "x", "3.", 1, 0, 0), ("text", "y", "•", 2, 0, 0)]),
        ("- [x] done", [("text", "done", "☑", 1, 0, 0)]),
        ("> q\n> r", [("text", "q\nr", "", 0, 1, 0)]),
        ("<b>x</b> <script>y</script>", [("text", "<b>x</b> <script>y</script>", "", 0, 0, 0)]),
        ("before\n| a | b |\n|--|--|\n| 1 | *2* |",
         [("text", "before", "", 0, 0, 0), ("code", "a  b\n─  ─\n1  2", "", 0, 0, 0)]),
        ("[x]: https://example.org", [("text", "[x]: https://example.org", "", 0, 0, 0)]),
        ("a < b && c_d_e", [("text", "a < b && c_d_e", "", 0, 0, 0)]),
    ],
)  # fmt: skip
def test_blocks_of_a_paragraph(theme: Theme, source: str, expected: list[tuple[str, str, str, int, int, int]]) -> None:
    assert [look(block) for block in paragraph_blocks(source)] == expected


def test_faces_and_addresses(theme: Theme) -> None:
    (block,) = paragraph_blocks("😀 **b** _i_ `c` ~~s~~ [t](https://x.org) ![p](file:///etc/passwd)\nnext *z*")
    assert block.text == "😀 b i c s t (https://x.org) [p] (file:///etc/passwd)\nnext z"
    assert faces(block) == [
        ("b", Face(bold=True)),
        ("i", Face(italic=True)),
        ("c", Face(code=True)),
        ("s", Face(struck=True)),
        ("t", Face(link=True)),
        ("z", Face(italic=True)),
    ]


def test_the_open_paragraph_is_plain_and_read_when_it_is_finished(text: LaneText) -> None:
    piece = StreamPiece("text", "Fell to **118")
    text.take([piece])
    piece.text += "** now"
    text.take([piece])
    assert [(b.text, b.spans) for b in text.blocks] == [("Fell to **118** now", ())]
    piece.text += ".\n\nNext *one*"
    changed = text.take([piece])
    assert changed == 0
    assert [b.text for b in text.blocks] == ["Fell to 118 now.", "Next *one*"]
    assert faces(text.blocks[0]) == [("118", Face(bold=True))]
    assert text.blocks[1].top == 18 + 7
    text.take([piece], finished=True)
    assert faces(text.blocks[1]) == [("one", Face(italic=True))]


def test_a_tool_call_finishes_the_paragraph_before_it(text: LaneText) -> None:
    pieces = [
        StreamPiece("text", "I *look*."),
        StreamPiece("tool", "{}", "search", "c"),
        StreamPiece("text", "**Found**"),
    ]
    text.take(pieces)
    assert [(b.kind, b.text) for b in text.blocks] == [("text", "I look."), ("tool", "{}"), ("text", "**Found**")]
    pieces[2].text += " it"
    text.take(pieces, finished=True)
    assert text.blocks[2].text == "Found it"


def test_any_way_of_arriving_gives_the_same_blocks(text: LaneText, theme: Theme) -> None:
    piece = StreamPiece("text", "")
    for letter in ANSWER:
        piece.text += letter
        text.take([piece])
    text.take([piece], finished=True)
    whole = LaneText(theme.font("text"), theme.font("code-small"))
    whole.set_width(300)
    whole.take([StreamPiece("text", ANSWER)], finished=True)
    assert [(look(b), b.lines, b.top, b.height) for b in text.blocks] == [
        (look(b), b.lines, b.top, b.height) for b in whole.blocks
    ]
    assert [b.kind for b in whole.blocks] == ["text", "text", "text", "text", "code", "text"]


def test_markdown_is_never_laid_out_as_a_whole(text: LaneText) -> None:
    piece = StreamPiece("text", "")
    words = ["**storage**", "tender", "`capacity`", "market", "- permit", "\n", "\n\n"]
    chance = random.Random(3)
    for _ in range(1200):
        piece.text += chance.choice(words) + " "
        text.take([piece])
    assert len(piece.text) > 6000
    assert text.laid_out < 30 * len(piece.text), "a line per chunk and each paragraph once more"


def test_hostile_text_is_only_text(theme: Theme) -> None:
    chance = random.Random(5)
    marks = ["*", "_", "`", "```", "\n", "- ", "1. ", "> ", "|", "---", "    ", "[", "](", "!", ")", "<img src=", ">",
             "&#0;", "#", "~", "a", "b ", "\\", "|---|\n", "\x00", "\u2028", "😀", ":"]  # fmt: skip
    for _ in range(1200):
        source = "".join(chance.choice(marks) for _ in range(chance.randrange(1, 60)))
        for block in paragraph_blocks(source):
            ends = [0, *(at for span in block.spans for at in (span.start, span.end))]
            assert ends == sorted(ends)
            assert ends[-1] <= len(block.text)
            assert "\ufffc" not in block.text or "\ufffc" in source


def test_quotes_and_lists_without_end_leave_room(theme: Theme) -> None:
    for source in (">" * 4000, "1. " * 1500, "\n".join("  " * level + "- x" for level in range(60))):
        for block in paragraph_blocks(source):
            assert block.indent + block.quoted <= 9


def test_a_long_line_of_marks_is_read_in_no_time(theme: Theme) -> None:
    """Nothing looks at a line more often than once per character; a pattern that goes back would never end here."""
    for source in ("-|" * 2400 + "x", "*" * 4800 + "\nx", "| " * 1200 + "\n" + "-" * 2400 + "|x"):
        assert paragraph_blocks(source)


def test_selection_and_copy(theme: Theme, qtbot: QtBot) -> None:
    view = LaneView(theme)
    qtbot.addWidget(view)
    view.resize(320, 200)
    shown = InvocationView("i", "n", 1, 0.0, 1.0, "done", pieces=[StreamPiece("text", "- one **two**\n- three")])
    view.set_view(shown)
    view.show()
    qtbot.waitExposed(view)
    view.select_all()
    assert view.selected_text() == "• one two\n• three"
    block = view.text.blocks[0]
    left = 12 + view.text.left(block)
    end = left + view.text.fonts.width(block, 0, len(block.text))
    assert view.spot_at(QPointF(end - 1, block.top + 9)) == (0, len("one two"))
    view.selection = Selection()
    view.copy()
    assert QGuiApplication.clipboard().text() == "- one **two**\n- three"
