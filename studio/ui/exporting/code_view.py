"""A read-only view of one file: line numbers, glyphs of the drawing, highlighting by pygments."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QSyntaxHighlighter,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QFrame, QTextEdit, QWidget

from studio.ui.exporting.changed_lines import Mark
from studio.ui.exporting.coloured import coloured
from studio.ui.exporting.places import user_lines
from studio.ui.theme import Theme
from studio.ui.widgets.highlight import Line

GLYPHS = {
    "agent": ("own:agent", "k_agent_i"),
    "runner": ("own:runner", "k_agent_i"),
    "function": ("own:function", "k_fn_i"),
    "human_input": ("own:human-input", "k_human_i"),
    "sub_workflow": ("own:sub-workflow", "k_sub_i"),
    "template": ("own:template", "k_tpl_i"),
    "join": ("own:join", "muted"),
    "fan_out": ("own:fan-out", "muted"),
    "switch": ("own:switch", "muted"),
}
"""Kind -> icon, colour token."""


_MOST_MARKED = 2_000

_LINE = 18
"""Height of a line of code at 100 %."""


class CodeView(QTextEdit):
    """``line_clicked`` gives the line (from 1) whose glyph was clicked.

    Not a QPlainTextEdit: that one has no line height, and code is read at 18 px to the line.
    """

    line_clicked = Signal(int)
    hits_changed = Signal()
    """What is looked for is found in other places, or another one is the current one."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._glyphs: Mapping[int, str] = {}
        self._marks: Mapping[int, Mark] = {}
        self._yours: frozenset[int] = frozenset()
        self._line = 0
        self._file = self._code = self._query = ""
        self._hits: list[tuple[int, int]] = []
        """From where to where what is looked for stands, as Qt counts."""
        self._hit = -1
        self.setObjectName("code_view")
        self.setProperty("flat", "true")
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setLineWrapMode(QTextEdit.LineWrapMode.NoWrap)
        self.setAcceptRichText(False)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.document().setDocumentMargin(8)
        self._gutter = _Gutter(self)
        self._highlighter = _Highlighter(self.document(), theme)
        self.verticalScrollBar().valueChanged.connect(self._gutter.update)
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    @property
    def theme(self) -> Theme:
        return self._theme

    @property
    def shown_line(self) -> int:
        """The line that is marked, else the first one that can be seen."""
        return self._line or self.cursorForPosition(QPoint(0, 0)).blockNumber() + 1

    @property
    def marks(self) -> Mapping[int, Mark]:
        """Lines that are shown as coming or going."""
        return self._marks

    @property
    def yours(self) -> frozenset[int]:
        """Lines that are shaded: those of the user, which the next export keeps."""
        return self._yours

    def show_code(
        self, path: str, code: str, glyphs: Mapping[int, str], marks: Mapping[int, Mark] | None = None
    ) -> None:
        """Shows a file; the place in it is kept if it is the same file, changed. ``marks``: lines that come or go."""
        place = self.verticalScrollBar().value() if path == self._file else 0
        self._glyphs, self._marks = glyphs, marks or {}
        if (path, code) != (self._file, self._code):
            self._file, self._code = path, code
            self._yours = user_lines(code) if path.endswith(".py") else frozenset()
            self._highlighter.set_file(path, code, self._marks)
            self.setPlainText(code)
            self._set_line_height()
            self.setViewportMargins(self.gutter_width(), 0, 0, 0)
            self.verticalScrollBar().setValue(place)
            self.look_for(self._query)
        self._gutter.update()
        self.viewport().update()

    def show_line(self, line: int) -> None:
        """Marks a line and brings it into view; 0 marks none."""
        self._line = line
        self._gutter.update()
        self.viewport().update()
        if not line:
            return
        self.setTextCursor(QTextCursor(self.document().findBlockByNumber(line - 1)))
        self.bring_into_view(line)

    @property
    def hit_place(self) -> tuple[int, int]:
        """The number of the current hit (from 1, 0 if none is), and of all."""
        return self._hit + 1, len(self._hits)

    def look_for(self, text: str) -> None:
        """Marks all places of a text, in whatever case; "" ends it."""
        self._query, self._hit = text, -1
        self._hits = list(_places(text, self._code)) if text else []
        self._mark_hits()

    def step_hit(self, by: int) -> None:
        """Goes to the next place, or the previous one: at first from the cursor, from the end to the beginning."""
        if not self._hits:
            return
        self._hit = (self._hit + by if self._hit >= 0 else self._next_hit() + min(by, 0)) % len(self._hits)
        cursor = QTextCursor(self.document())
        cursor.setPosition(self._hits[self._hit][0])
        self.setTextCursor(cursor)
        self.ensureCursorVisible()
        self._mark_hits()

    def show_next_hit(self) -> None:
        """Brings the place that the next step goes to into view."""
        if self._hits:
            position = self._hits[self._next_hit() % len(self._hits)][0]
            self.bring_into_view(self.document().findBlock(position).blockNumber() + 1)

    def _next_hit(self) -> int:
        """The first hit from the cursor on."""
        return bisect_left(self._hits, (self.textCursor().selectionStart(), 0))

    def _mark_hits(self) -> None:
        """Only so many as can be told apart: a letter is found tens of thousands of times."""
        marked = []
        for number, place in enumerate(self._hits[:_MOST_MARKED]):
            marked.append(self._marked(place, "sel_line" if number == self._hit else "wait_s"))
        if self._hit >= _MOST_MARKED:
            marked.append(self._marked(self._hits[self._hit], "sel_line"))
        self.setExtraSelections(marked)
        self.hits_changed.emit()

    def _marked(self, place: tuple[int, int], token: str) -> QTextEdit.ExtraSelection:
        selection = QTextEdit.ExtraSelection()
        cursor = QTextCursor(self.document())
        cursor.setPosition(place[0])
        cursor.setPosition(place[1], QTextCursor.MoveMode.KeepAnchor)
        selection.cursor = cursor
        selection.format.setBackground(self._theme.color(token))
        return selection

    def bring_into_view(self, line: int) -> None:
        """Scrolls so that a line (from 1) stands in the upper half; 0 scrolls nowhere."""
        if line:
            block = self.document().findBlockByNumber(line - 1)
            box = self.document().documentLayout().blockBoundingRect(block)
            self.verticalScrollBar().setValue(round(box.top() - self.viewport().height() * 0.4))

    def gutter_width(self) -> int:
        """Room for a glyph and the largest number."""
        digits = max(3, len(str(self.document().blockCount())))
        return 40 + QFontMetrics(self._theme.font("code")).horizontalAdvance("9") * digits

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        area = self.contentsRect()
        self._gutter.setGeometry(QRect(area.left(), area.top(), self.gutter_width(), area.height()))

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._marks or self._yours:
            self._paint_marks(event.rect())
        block = self.document().findBlockByNumber(self._line - 1) if self._line else None
        if block is not None and block.isValid():
            box = self.document().documentLayout().blockBoundingRect(block)
            top = round(box.top()) - self.verticalScrollBar().value()
            painter = QPainter(self.viewport())
            painter.fillRect(0, top + 2, self.viewport().width(), round(box.height()), self._theme.color("soft"))
            painter.end()
        super().paintEvent(event)

    def _paint_marks(self, area: QRect) -> None:
        painter = QPainter(self.viewport())
        layout, offset = self.document().documentLayout(), self.verticalScrollBar().value()
        block = self.cursorForPosition(QPoint(0, area.top())).block()
        while block.isValid():
            box = layout.blockBoundingRect(block).translated(0, -offset)
            if box.top() > area.bottom():
                break
            ground = self._ground(block.blockNumber() + 1)
            if ground is not None:
                height = self._theme.length(_LINE)
                painter.fillRect(0, round(box.top()) + 2, self.viewport().width(), height, ground)
            block = block.next()
        painter.end()

    def _ground(self, line: int) -> QColor | None:
        """The colour behind a line that comes, goes, or is the user's."""
        mark = self._marks.get(line)
        if mark is None:
            return self._shade if line in self._yours else None
        return self._theme.color("inserted" if mark == "in" else "deleted")

    def paint_gutter(self, painter: QPainter, area: QRect) -> None:
        """Paints numbers and glyphs of the visible lines."""
        painter.fillRect(area, self._theme.color("canvas"))
        font = self._theme.font("code")
        metrics = QFontMetrics(font)
        painter.setFont(font)
        layout = self.document().documentLayout()
        offset = self.verticalScrollBar().value()
        block = self.cursorForPosition(QPoint(0, 0)).block()
        right = self._gutter.width() - 14
        ratio = self.devicePixelRatioF()
        while block.isValid():
            box = layout.blockBoundingRect(block).translated(0, -offset)
            if box.top() > area.bottom():
                return
            number = block.blockNumber() + 1
            if number == self._line:
                painter.fillRect(QRect(0, round(box.top()) + 2, self._gutter.width(), round(box.height())),
                                 self._theme.color("soft"))  # fmt: skip
            painter.setPen(self._theme.color("muted"))
            text = str(number)
            baseline = round(box.top() + (box.height() + metrics.ascent() - metrics.descent()) / 2) + 2
            painter.drawText(QPoint(right - metrics.horizontalAdvance(text), baseline), text)
            if number in self._marks:
                painter.drawText(QPoint(11, baseline), "+" if self._marks[number] == "in" else "\u2212")
            kind = self._glyphs.get(number)
            if kind in GLYPHS:
                icon, token = GLYPHS[kind]
                top = round(box.top() + (box.height() - 13) / 2) + 2
                painter.drawPixmap(QPoint(8, top), self._theme.pixmap(icon, 13, token, ratio))
            block = block.next()

    def line_at(self, y: int) -> int:
        """The line at a height of the gutter, 0 if there is none."""
        cursor = self.cursorForPosition(QPoint(2, y))
        return cursor.blockNumber() + 1

    def _set_line_height(self) -> None:
        form = QTextBlockFormat()
        form.setLineHeight(self._theme.length(_LINE), QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        cursor = QTextCursor(self.document())
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.mergeBlockFormat(form)

    def _on_theme_changed(self) -> None:
        self.setFont(self._theme.font("code"))
        self.document().setDefaultFont(self._theme.font("code"))
        self._shade = QColor(self._theme.color("wait_s"))
        self._shade.setAlphaF(0.5)
        self._set_line_height()
        self.setViewportMargins(self.gutter_width(), 0, 0, 0)
        self._gutter.update()


def _places(text: str, code: str) -> Iterator[tuple[int, int]]:
    """From where to where a text stands, in Qt's units: signs outside of the basic plane count twice."""
    done = more = 0
    for match in re.finditer(re.escape(text), code, re.IGNORECASE):
        more += sum(sign > "\uffff" for sign in code[done : match.start()])
        inside = sum(sign > "\uffff" for sign in match[0])
        yield match.start() + more, match.end() + more + inside
        done, more = match.end(), more + inside


class _Gutter(QWidget):
    def __init__(self, view: CodeView) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self) -> QSize:
        return QSize(self._view.gutter_width(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        self._view.paint_gutter(QPainter(self), event.rect())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._view.line_clicked.emit(self._view.line_at(round(event.position().y())))


class _Highlighter(QSyntaxHighlighter):
    """Chooses the lexer by the file's name; the whole text is lexed at once."""

    def __init__(self, document: QTextDocument, theme: Theme) -> None:
        super().__init__(document)
        self._theme = theme
        self._lines: list[Line | None] = []
        theme.changed.connect(self.rehighlight)

    def set_file(self, path: str, code: str, marks: Mapping[int, Mark]) -> None:
        """The file whose text comes next. Lines that go stand between those of the new text and get no colours."""
        gone = {line for line, mark in marks.items() if mark == "out"}
        lines = code.split("\n")
        stays = "\n".join(line for number, line in enumerate(lines, 1) if number not in gone)
        shown = iter(coloured(path, stays))
        self._lines = [None if number in gone else next(shown, None) for number in range(1, len(lines) + 1)]

    def highlightBlock(self, text: str) -> None:
        number = self.currentBlock().blockNumber()
        line = self._lines[number] if number < len(self._lines) else None
        for start, length, token in line.spans if line is not None else ():
            form = QTextCharFormat()
            form.setForeground(self._theme.color(token))
            self.setFormat(start, length, form)
