"""A text with what only it has marked: struck through at the left, underlined at the right, so colour never speaks
alone."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QFont, QPainter, QTextCharFormat, QTextLayout, QTextOption

from studio.debugger.text_diff import Span
from studio.ui.widgets.wrapping import wrap_mode

_SEPARATOR = "\u2028"
"""A line break inside one layout."""


class DiffText:
    """A laid out text. ``left``: marked as deleted, else as inserted."""

    def __init__(
        self, label: str, spans: Sequence[Span], font: QFont, label_color: QColor, mark: QColor, *, left: bool
    ) -> None:
        text = f"{label} " if label else ""
        formats: list[QTextLayout.FormatRange] = []
        if label:
            formats.append(_range(0, len(label), _label(label_color)))
        for span in spans:
            if span.only:
                formats.append(_range(len(text), len(span.text), _marked(mark, left=left)))
            text += span.text.replace("\r\n", "\n").replace("\n", _SEPARATOR)
        self._layout = QTextLayout(text, font)
        self._layout.setFormats(formats)
        option = QTextOption()
        option.setWrapMode(wrap_mode(text))
        self._layout.setTextOption(option)
        self.height = 0.0

    def fit(self, width: float) -> float:
        """Breaks the lines; gives the height."""
        y = 0.0
        self._layout.beginLayout()
        while (line := self._layout.createLine()).isValid():
            line.setLineWidth(width)
            line.setPosition(QPointF(0, y))
            y += round(line.height() * 1.12)
        self._layout.endLayout()
        self.height = y
        return y

    def paint(self, painter: QPainter, x: float, y: float) -> None:
        """Draws it with its top left corner there, in the pen of the painter."""
        self._layout.draw(painter, QPointF(x, y))


def _range(start: int, length: int, how: QTextCharFormat) -> QTextLayout.FormatRange:
    made = QTextLayout.FormatRange()
    made.start, made.length, made.format = start, length, how
    return made


def _label(color: QColor) -> QTextCharFormat:
    made = QTextCharFormat()
    made.setForeground(color)
    return made


def _marked(color: QColor, *, left: bool) -> QTextCharFormat:
    made = QTextCharFormat()
    made.setBackground(color)
    made.setFontStrikeOut(left)
    made.setFontUnderline(not left)
    return made
