"""Paints lines of a comparison: two sides, a sign between them, numbers at the right of each side."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QPainter

from studio.debugger.run_comparison import Cell
from studio.ui.compare.lines import ShownLine
from studio.ui.paint.marks import draw_kind
from studio.ui.paint.numbers import money_text, seconds_text, tokens_text
from studio.ui.text import tr
from studio.ui.theme import Theme

ROW = 27
_SIGN = 44
"""Width of the gutter between the sides."""
_NUMBER = 48
_FIGURES = (62, 62, 62)
_WIDE = 360
"""Width of a side from which it has room for figures."""


@dataclass(frozen=True, slots=True)
class Sides:
    """Where the two sides are."""

    left: QRect
    right: QRect

    @staticmethod
    def of(width: int, height: int) -> Sides:
        """Both halves of a line of this size."""
        half = (width - _SIGN) // 2
        return Sides(QRect(0, 0, half, height), QRect(half + _SIGN, 0, width - half - _SIGN, height))

    def text_width(self) -> int:
        """The room for texts of a side, below the names."""
        return max(80, min(self.left.width(), self.right.width()) - _NUMBER - 14)


class LinePainter:
    """Paints the lines of one view."""

    def __init__(self, theme: Theme, kind_of: dict[str, str]) -> None:
        self._theme = theme
        self.kind_of = kind_of
        """Kinds of nodes by id."""

    def head(self, painter: QPainter, sides: Sides, titles: tuple[str, str], *, figures: bool) -> None:
        """The line above all."""
        painter.setFont(self._theme.font("small"))
        painter.setPen(self._theme.color("muted"))
        for side, title in zip((sides.left, sides.right), titles, strict=True):
            painter.drawText(side.adjusted(_NUMBER, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, title)
            if figures and side.width() >= _WIDE:
                for x, width, text in self._figures(side, (tr("tokens"), tr("cost"), tr("time"))):
                    painter.drawText(QRect(x, side.top(), width, side.height()), _RIGHT, text)

    def row(self, painter: QPainter, line: ShownLine, area: QRect, *, selected: bool, figures: bool) -> None:
        """A row of the comparison."""
        theme, row = self._theme, line.row
        if selected:
            painter.fillRect(area, theme.color("sel"))
        painter.fillRect(area.left(), area.bottom(), area.width(), 1, theme.color("line"))
        sides = Sides.of(area.width(), area.height())
        quiet = row.kind in ("shared", "same")
        for cell, side in ((row.a, sides.left), (row.b, sides.right)):
            place = side.translated(area.topLeft())
            if cell is None:
                self._hatch(painter, place)
            else:
                self._cell(painter, line, cell, place, quiet=quiet, figures=figures)
        self._sign(painter, line, QRect(sides.left.right() + 1, area.top(), _SIGN, area.height()))

    def _cell(
        self, painter: QPainter, line: ShownLine, cell: Cell, place: QRect, *, quiet: bool, figures: bool
    ) -> None:
        theme = self._theme
        painter.setFont(theme.font("section", tabular=True))
        painter.setPen(theme.color("muted" if quiet else "text"))
        number = QRect(place.left() + 12, place.top(), _NUMBER - 12, place.height())
        painter.drawText(number, Qt.AlignmentFlag.AlignVCenter, cell.number)
        x = place.left() + _NUMBER + 14 * line.depth
        end = place.right() - (sum(_FIGURES) if figures and place.width() >= _WIDE else 8)
        kind = self.kind_of.get(cell.node, "")
        if line.row.children:
            arrow = "chevron-down" if line.open else "chevron-right"
            painter.drawPixmap(QPoint(x, place.center().y() - 6), theme.pixmap(arrow, 13, "muted", 1.0))
            x += 18
        elif kind:
            draw_kind(painter, theme, QRectF(x, place.center().y() - 9, 18, 18), kind)
            x += 25
        for text, font, token in (
            (cell.name, "body", "muted" if quiet else "text"),
            (cell.note, "body", "muted"),
        ):
            painter.setFont(theme.font(font))
            painter.setPen(theme.color(token))
            metrics = QFontMetrics(painter.font())
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(0, end - x))
            painter.drawText(QRect(x, place.top(), max(0, end - x), place.height()), _LEFT, shown)
            x += metrics.horizontalAdvance(shown) + 10
        if figures and place.width() >= _WIDE and line.row.kind != "route":
            self._paint_figures(painter, cell, place)

    def _paint_figures(self, painter: QPainter, cell: Cell, place: QRect) -> None:
        painter.setFont(self._theme.font("body", tabular=True))
        painter.setPen(self._theme.color("text2"))
        cost = "?" if cell.cost is None and cell.tokens else money_text(cell.cost) if cell.cost else "–"
        texts = (
            tokens_text(cell.tokens) if cell.tokens else "–",
            cost,
            seconds_text(cell.seconds) if cell.seconds else "–",
        )
        for x, width, text in self._figures(place, texts):
            painter.drawText(QRect(x, place.top(), width, place.height()), _RIGHT, text)

    @staticmethod
    def _figures(side: QRect, texts: tuple[str, str, str]) -> list[tuple[int, int, str]]:
        x = side.right() - sum(_FIGURES)
        found = []
        for width, text in zip(_FIGURES, texts, strict=True):
            found.append((x, width - 8, text))
            x += width
        return found

    def _sign(self, painter: QPainter, line: ShownLine, place: QRect) -> None:
        kind = line.row.kind
        if kind == "route":
            at = QPoint(place.center().x() - 7, place.center().y() - 7)
            painter.drawPixmap(at, self._theme.pixmap("git-branch", 14, "wait_t", 1.0))
            return
        texts = {"same": "=", "shared": "=", "different": "≠", "only_a": tr("only A"), "only_b": tr("only B")}
        word = kind in ("only_a", "only_b")
        painter.setFont(self._theme.font("small" if word else "section"))
        painter.setPen(self._theme.color("wait_t" if kind == "different" else "muted"))
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, texts[kind])

    def _hatch(self, painter: QPainter, place: QRect) -> None:
        """Nothing is here."""
        painter.save()
        area = place.adjusted(_NUMBER, 6, -min(160, place.width() // 4), -6)
        painter.setClipRect(area)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(self._theme.color("border"))
        for x in range(area.left() - area.height(), area.right(), 8):
            painter.drawLine(x, area.bottom(), x + area.height(), area.top())
        painter.restore()


_LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
_RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
NUMBER = _NUMBER
