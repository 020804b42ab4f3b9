"""The lines of a comparison, scrolled: rows fold and unfold, texts show word by word what differs."""

from __future__ import annotations

import time
from collections.abc import Sequence

from PySide6.QtCore import QRect, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from studio.debugger.run_comparison import Row
from studio.debugger.text_diff import word_diff
from studio.ui.compare.diff_text import DiffText
from studio.ui.compare.lines import ShownLine, shortened, shown_lines
from studio.ui.compare.painting import NUMBER, ROW, LinePainter, Sides
from studio.ui.text import tr
from studio.ui.theme import Theme

_PIECE = 0.005
"""Seconds of laying out in one go; the rest of the lines has a height that is guessed until then."""
_Texts = tuple[DiffText, DiffText]


class CompareView(QAbstractScrollArea):
    """Up, Down move; Left, Right or Enter fold; F8 and Shift+F8 go to the next difference."""

    picked = Signal(str)
    """The user selected the row of this node."""
    read_requested = Signal(str, str, str)
    """A label and two long texts that the user wants to read whole."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._painter = LinePainter(theme, {})
        self._rows: Sequence[Row] = ()
        self._titles = ("", "")
        self._opened: set[tuple[int, ...]] = set()
        self._texts: dict[int, _Texts] = {}
        self._tops: list[int] = [0]
        self.lines: list[ShownLine] = []
        """What is shown now."""
        self.current = -1
        """Place of the selected line."""
        self.only_different = False
        self.figures = True
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Comparison"))
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._lay_out_some)
        theme.changed.connect(self._relay)

    def show_rows(self, rows: Sequence[Row], titles: tuple[str, str], kinds: dict[str, str], *, figures: bool) -> None:
        """Shows other rows, from the top."""
        self._rows, self._titles, self.figures = rows, titles, figures
        self._painter.kind_of = kinds
        self._opened.clear()
        self.current = -1
        self.verticalScrollBar().setValue(0)
        self.refresh()

    def refresh(self) -> None:
        """Makes the lines anew: a filter or a fold changed."""
        kept = self.lines[self.current].path if 0 <= self.current < len(self.lines) else None
        self.lines = shown_lines(self._rows, only_different=self.only_different, opened=self._opened)
        self.current = next((i for i, line in enumerate(self.lines) if line.path == kept), -1)
        self._relay()

    def step(self, by: int) -> bool:
        """Goes to the next (1) or previous (-1) row that differs; False if there is none."""
        places = [i for i, line in enumerate(self.lines) if line.detail is None and line.row.differs]
        found = [i for i in places if (i - self.current) * by > 0]
        if found:
            self.select(found[0] if by > 0 else found[-1])
        return bool(found)

    def select(self, at: int) -> None:
        """Selects a line and brings it into view."""
        self.current = at
        self._reveal(at)
        self.viewport().update()
        line = self.lines[at]
        cell = line.row.b or line.row.a
        self.setAccessibleDescription(words(line))
        if cell is not None and cell.node:
            self.picked.emit(cell.node)

    def toggle(self, at: int) -> None:
        """Folds a row or unfolds it."""
        self._opened ^= {self.lines[at].path}
        self.refresh()

    # ------------------------------------------------------------------------------------------------- laying out

    def _relay(self) -> None:
        self._texts.clear()
        self._place()
        if any(line.detail is not None for line in self.lines):
            self._timer.start()

    def _row_height(self) -> int:
        return self._theme.length(ROW)

    def _place(self) -> None:
        """Tops of all lines, from the heights that are known or guessed."""
        width = self._sides().text_width()
        tops = [0]
        for at, line in enumerate(self.lines):
            texts = self._texts.get(at)
            if line.detail is None:
                height = self._row_height()
            elif texts is not None:
                height = round(max(t.height for t in texts)) + 10
            else:
                longest = max(len(shortened(line.detail.a)), len(shortened(line.detail.b)))
                height = 10 + 17 * (1 + longest * 7 // width)
            tops.append(tops[-1] + height)
        self._tops = tops
        room = self.viewport().height() - self._row_height()
        self.verticalScrollBar().setRange(0, max(0, tops[-1] - room))
        self.verticalScrollBar().setPageStep(max(1, room))
        self.verticalScrollBar().setSingleStep(self._row_height())
        self.viewport().update()

    def _lay_out_some(self) -> None:
        end = time.perf_counter() + _PIECE
        missing = [i for i, line in enumerate(self.lines) if line.detail is not None and i not in self._texts]
        shown = self._first_shown()
        for at in sorted(missing, key=lambda i: (i < shown, i)):
            self._texts[at] = self._make(self.lines[at])
            if time.perf_counter() > end:
                break
        if all(i in self._texts for i in missing):
            self._timer.stop()
        self._place()

    def _make(self, line: ShownLine) -> _Texts:
        assert line.detail is not None
        theme, detail = self._theme, line.detail
        a, b = word_diff(shortened(detail.a), shortened(detail.b))
        font, muted = theme.font("body"), theme.color("muted")
        one = line.row.kind in ("only_a", "only_b")  # all of it is new: marks would say nothing
        plain = theme.color("canvas")
        made = (
            DiffText(detail.label if detail.a else "", a, font, muted, plain if one else theme.color("deleted"),
                     left=not one),
            DiffText(detail.label if detail.b else "", b, font, muted, plain if one else theme.color("inserted"),
                     left=False),
        )  # fmt: skip
        for text in made:
            text.fit(self._sides().text_width())
        return made

    def _sides(self) -> Sides:
        return Sides.of(self.viewport().width(), self._row_height())

    def _first_shown(self) -> int:
        top = self.verticalScrollBar().value()
        return next((i for i in range(len(self.lines)) if self._tops[i + 1] > top), 0)

    def _reveal(self, at: int) -> None:
        bar, room = self.verticalScrollBar(), self.viewport().height() - self._row_height()
        if self._tops[at] < bar.value():
            bar.setValue(self._tops[at])
        elif self._tops[at + 1] > bar.value() + room:
            bar.setValue(self._tops[at + 1] - room)

    # ------------------------------------------------------------------------------------------------------ events

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), self._theme.color("canvas"))
        head, width = self._row_height(), self.viewport().width()
        sides = self._sides()
        at = self._first_shown() if self.lines else len(self.lines)
        while at < len(self.lines):
            top = head + self._tops[at] - self.verticalScrollBar().value()
            if top > self.viewport().height():
                break
            self._paint_line(painter, at, QRect(0, top, width, self._tops[at + 1] - self._tops[at]), sides)
            at += 1
        painter.fillRect(0, 0, width, head, self._theme.color("window"))
        painter.fillRect(0, head - 1, width, 1, self._theme.color("line"))
        self._painter.head(painter, sides, self._titles, figures=self.figures)

    def _paint_line(self, painter: QPainter, at: int, area: QRect, sides: Sides) -> None:
        line = self.lines[at]
        selected = at == self.current and self.hasFocus()
        if line.detail is None:
            self._painter.row(painter, line, area, selected=selected, figures=self.figures)
            return
        painter.fillRect(area, self._theme.color("sel" if selected else "alt"))
        texts = self._texts.get(at)
        if texts is not None:
            painter.setPen(self._theme.color("text"))
            for text, side in zip(texts, (sides.left, sides.right), strict=True):
                text.paint(painter, side.left() + NUMBER, area.top() + 5)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._relay()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        self.viewport().update()

    def _line_at(self, y: float) -> int:
        inside = y - self._row_height() + self.verticalScrollBar().value()
        if y < self._row_height():
            return -1
        return next((i for i in range(len(self.lines)) if self._tops[i] <= inside < self._tops[i + 1]), -1)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        at = self._line_at(event.position().y())
        if at < 0 or event.button() != Qt.MouseButton.LeftButton:
            return
        self.select(at)
        if self.lines[at].detail is None and (self.lines[at].row.children or self.lines[at].row.details):
            self.toggle(at)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        at = self._line_at(event.position().y())
        if at >= 0:
            self._read(at)

    def _read(self, at: int) -> None:
        detail = self.lines[at].detail
        if detail is not None:
            self.read_requested.emit(detail.label, detail.a, detail.b)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if key in (Qt.Key.Key_Up, Qt.Key.Key_Down) and self.lines:
            by = 1 if key == Qt.Key.Key_Down else -1
            self.select(max(0, min(len(self.lines) - 1, self.current + by)))
        elif key == Qt.Key.Key_F8:
            self.step(-1 if back else 1)
        elif self.current >= 0 and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Left, Qt.Key.Key_Right):
            line = self.lines[self.current]
            if line.detail is not None:
                self._read(self.current)
            elif line.open != (key == Qt.Key.Key_Right) or key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.toggle(self.current)
        else:
            super().keyPressEvent(event)


def words(line: ShownLine) -> str:
    """A line as a screen reader says it."""
    row = line.row
    kinds = {
        "shared": tr("shared"), "same": tr("same"), "different": tr("different"), "route": tr("another way"),
        "only_a": tr("only A"), "only_b": tr("only B"),
    }  # fmt: skip
    if line.detail is not None:
        return f"{line.detail.label}: {shortened(line.detail.a)} | {shortened(line.detail.b)}"
    names = [f"{cell.number} {cell.name} {cell.note}".strip() if cell else "–" for cell in (row.a, row.b)]
    return f"{kinds[row.kind]}: {names[0]} | {names[1]}"
