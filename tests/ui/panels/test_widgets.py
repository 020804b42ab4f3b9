"""The small widgets that panels share."""

from __future__ import annotations

from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QTextCursor, QTextOption
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot
from studio.ui.inspector.small_parts import Facts
from studio.ui.paint.chips import LONGEST, ChipText
from studio.ui.status.status_bar import StatusBar
from studio.ui.text import one_line, tip
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button, ComboBox
from studio.ui.widgets.chips_field import ChipsField
from studio.ui.widgets.code import CodeEditor
from studio.ui.widgets.highlight import lines_of
from studio.ui.widgets.labels import Prose
from studio.ui.widgets.long_text import LongText
from studio.ui.widgets.positions import changed_span, until
from studio.ui.widgets.section import Section
from studio.ui.widgets.segments import SegmentedControl
from studio.ui.widgets.sources import counted, short, tokens_words
from studio.ui.widgets.style import sheet
from studio.ui.widgets.text_fields import EXCERPT, LONG, TextBox


def test_the_sheet_has_no_marks_left(theme: Theme) -> None:
    assert "@" not in sheet(theme)


def test_what_differs() -> None:
    assert changed_span("one two", "one new two") == (4, 4, 8)
    assert changed_span("aaa", "aa") == (2, 3, 2)
    assert changed_span("", "x") == (0, 0, 1)


def test_what_follows_an_emoji_is_replaced_where_it_stands(theme: Theme, qtbot: QtBot) -> None:
    box = TextBox(theme)
    qtbot.addWidget(box)
    box.show_value("\U0001f600\U0001f600 one two")
    box.moveCursor(QTextCursor.MoveOperation.End)
    box.show_value("\U0001f600\U0001f600 one new two")
    assert box.value == "\U0001f600\U0001f600 one new two"
    assert box.textCursor().atEnd()
    assert until("\U0001f600ab", 3) == "\U0001f600a"


def test_of_a_long_text_the_beginning_is_laid_out_and_all_of_it_is_kept(theme: Theme, qtbot: QtBot) -> None:
    box = TextBox(theme)
    qtbot.addWidget(box)
    box.excerpts = True
    told: list[object] = []
    box.edited.connect(told.append)
    text = "one line of words\n" * (LONG // 10)
    box.show_value(text)
    assert box.document().characterCount() < EXCERPT + 10
    assert box.value == box.toPlainText() == text
    qtbot.keyClicks(box, "x")
    assert box.value == text, "nothing can be typed into a part of a text"
    box.selectAll()
    assert box.createMimeDataFromSelection().text() == text
    box.show_value("short")
    qtbot.keyClicks(box, "x")
    assert box.value == "xshort"
    pasted = QMimeData()
    pasted.setText(text)
    box.moveCursor(QTextCursor.MoveOperation.End)
    box.insertFromMimeData(pasted)
    assert box.value == "xshort" + text
    assert told == ["xshort", "xshort" + text]


def test_a_text_box_grows_and_then_scrolls(theme: Theme, qtbot: QtBot) -> None:
    box = TextBox(theme, lines=3)
    qtbot.addWidget(box)
    box.resize(300, 60)
    box.show()
    low = box.height()
    box.setPlainText("\n".join("abcdefgh"))
    grown = box.height()
    assert grown > low
    box.setPlainText("\n".join(str(i) for i in range(50)))
    assert box.height() - 16 == 12 * 17


def test_showing_a_value_tells_nobody(theme: Theme, qtbot: QtBot) -> None:
    box = TextBox(theme)
    qtbot.addWidget(box)
    told: list[object] = []
    box.edited.connect(told.append)
    box.show_value("hello")
    assert told == []
    assert not box.document().isUndoAvailable()


def test_a_button_without_room_ends_in_dots_and_keeps_an_ampersand(theme: Theme, qtbot: QtBot) -> None:
    link = Button(theme, "Planner: R&&D of cells above eight hours and so on", "arrow-right", "plain", small=True)
    qtbot.addWidget(link)
    link.at_left = True
    link.resize(150, 24)
    image = link.grab().toImage()
    at_end = {image.pixel(image.width() - 3, y) for y in range(image.height())}
    assert len(at_end) == 1, "the text stops before the edge"
    whole, without = (Button(theme, text, "", "plain") for text in ("R&&D", "R&D"))
    for one in (whole, without):
        qtbot.addWidget(one)
    assert whole.sizeHint().width() > without.sizeHint().width()


def test_a_fact_that_is_written_later_has_the_whole_width(theme: Theme, qtbot: QtBot) -> None:
    facts, size = Facts(theme), Prose(theme, "")
    facts.add("Size", size)
    qtbot.addWidget(facts)
    facts.resize(300, 60)
    facts.show()
    size.set_text("78 tokens · 4 messages")
    assert size.width() > 160


def test_code_indents(theme: Theme, qtbot: QtBot) -> None:
    editor = CodeEditor(theme)
    qtbot.addWidget(editor)
    qtbot.keyClicks(editor, "if data:")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.keyClicks(editor, "result = 1")
    assert editor.value == "if data:\n    result = 1"
    qtbot.keyClick(editor, Qt.Key.Key_Backtab, Qt.KeyboardModifier.ShiftModifier)
    assert editor.value == "if data:\nresult = 1"


def test_highlighting_by_line() -> None:
    from pygments.lexers.python import PythonLexer

    lines = lines_of(PythonLexer(stripnl=False), 'def f():\n    """a\n    b"""\n    return str(1)', calls=True)
    assert (0, 3, "s_kw") in lines[0].spans
    assert lines[1].goes_on
    assert lines[2].spans == [(0, 8, "s_str")]
    assert (11, 3, "s_cls") in lines[3].spans


def test_segments_move_with_the_arrows(theme: Theme, qtbot: QtBot) -> None:
    control = SegmentedControl(theme, (("a", "A"), ("b", "B")))
    qtbot.addWidget(control)
    control.show_value("a")
    with qtbot.waitSignal(control.edited) as told:
        qtbot.keyClick(control, Qt.Key.Key_Right)
    assert told.args == ["b"]
    control.show()
    with qtbot.waitSignal(control.edited) as told:
        qtbot.mouseClick(control, Qt.MouseButton.LeftButton, pos=control.rect().topLeft())
    assert told.args == ["a"]


def test_segments_come_closer_where_room_is_short(theme: Theme, qtbot: QtBot) -> None:
    control = SegmentedControl(theme, (("a", "Function body"), ("b", "Module")))
    qtbot.addWidget(control)
    control.resize(control.sizeHint())
    assert sum(control._widths()) + 2 == control.width()
    assert control.toolTip() == ""
    control.resize(control.minimumSizeHint())
    assert control.width() < control.sizeHint().width()
    assert control._rects()[-1].right() <= control.width() - 1
    assert control._at(control.width() - 3) == 1
    control.show()
    assert control.toolTip() == "Function body · Module"


def test_what_people_write_is_shown_letter_by_letter_and_cut(theme: Theme, qtbot: QtBot) -> None:
    assert tip("a <b>x</b> & y") == '<p style="white-space:pre-wrap">a &lt;b&gt;x&lt;/b&gt; &amp; y</p>'
    assert tip("R&D") == "R&D"
    assert one_line("a \r\n b\tc  d") == "a b c  d"
    assert one_line("\u202eabc\u2067 é") == "abc é"
    assert short("line\n" * 20, 12) == "line line l…"
    long, edge = ChipText(theme, "x" * 300), ChipText(theme, "x" * LONGEST)
    assert long.width < edge.width * 1.05
    bar = StatusBar(theme)
    qtbot.addWidget(bar)
    bar.show_selection("a<br>b")
    bar.state.show_text("a<br>b")
    plain = [label for label in bar.findChildren(QLabel) if label.text() == "a<br>b"]
    assert [label.textFormat() for label in plain] == [Qt.TextFormat.PlainText] * 2


def test_chips_move_and_go(theme: Theme, qtbot: QtBot) -> None:
    field = ChipsField(theme, lambda: [("c", "C")], "Add")
    qtbot.addWidget(field)
    field.show_value(("a", "b"))
    qtbot.keyClick(field, Qt.Key.Key_Right)
    qtbot.keyClick(field, Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier)
    assert field.values == ("b", "a")
    qtbot.keyClick(field, Qt.Key.Key_Delete)
    assert field.values == ("b",)


def test_sections_fold(theme: Theme, qtbot: QtBot) -> None:
    section = Section(theme, "Host options")
    qtbot.addWidget(section)
    section.show()
    assert section.content.isVisible()
    section.set_open(False)
    assert not section.content.isVisible()


def test_counted_words_have_a_singular() -> None:
    assert [tokens_words(n) for n in (1, 2, 1204)] == ["1 token", "2 tokens", "1\u2009204 tokens"]
    assert [counted(n, "1 key", "{count} keys") for n in (0, 1, 2)] == ["0 keys", "1 key", "2 keys"]


def test_a_field_to_type_in_stays_beside_the_dot_in_another_theme(qtbot: QtBot, theme: Theme) -> None:
    box = ComboBox(theme)
    qtbot.addWidget(box)
    box.dot = "done"
    box.make_editable("model of the profile")
    box.resize(180, 30)
    box.show()
    line = box.lineEdit()
    assert line is not None
    assert line.x() == 26
    box.setStyleSheet("QComboBox { color: red }")
    QApplication.processEvents()
    assert line.x() == 26


def test_a_message_from_before_the_window_is_seen_takes_the_place_of_the_words(qtbot: QtBot, theme: Theme) -> None:
    """Qt hides the words only when a message comes while they are seen: here it comes before."""
    bar = StatusBar(theme)
    qtbot.addWidget(bar)
    bar.show_counts("6 nodes")
    bar.showMessage("Unsaved work was found")
    bar.resize(600, 24)
    bar.show()
    qtbot.waitExposed(bar)
    assert not bar.counts.isVisible()
    bar.clearMessage()
    assert bar.counts.isVisible()
    bar.showMessage("Saved")
    assert not bar.counts.isVisible()
    bar.clearMessage()
    assert bar.counts.isVisible()


def test_a_word_of_thousands_of_letters_breaks_anywhere(theme: Theme, qtbot: QtBot) -> None:
    at_words, anywhere = QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere, QTextOption.WrapMode.WrapAnywhere
    for box in (TextBox(theme), LongText(theme)):
        qtbot.addWidget(box)
        box.show_value("some words " * 500)
        assert box.wordWrapMode() is at_words
        pasted = QMimeData()
        pasted.setText("QUJD" * 500)
        box.insertFromMimeData(pasted)
        assert box.wordWrapMode() is anywhere
        pasted.setText("a word")
        box.insertFromMimeData(pasted)
        assert box.wordWrapMode() is anywhere
        box.show_value("a word")
        assert box.wordWrapMode() is at_words
