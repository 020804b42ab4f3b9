"""The head of a comparison: which two, and what they took in all."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from studio.debugger.run_comparison import RunComparison
from studio.ui.paint.numbers import money_text, seconds_text, tokens_text
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.labels import chip_width, paint_chip

_HEIGHT = 58
_NAMES = 300


class Totals(QWidget):
    """Supersteps, tokens, cost and time of both, with the difference."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._comparison: RunComparison | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def show_comparison(self, comparison: RunComparison) -> None:
        """Shows other totals."""
        self._comparison = comparison
        parts = [f"{label} {a} → {b} {delta}" for label, a, b, delta, _ in figures(comparison)]
        self.setAccessibleName("; ".join(parts))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(600, self._theme.length(_HEIGHT))

    def minimumSizeHint(self) -> QSize:
        return QSize(200, self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        theme = self._theme
        painter.fillRect(self.rect(), theme.color("window"))
        painter.fillRect(0, self.height() - 1, self.width(), 1, theme.color("line"))
        if self._comparison is None:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        names = min(_NAMES, self.width() // 3)
        for row, side in enumerate((self._comparison.a, self._comparison.b)):
            self._name(painter, row, side.title, side.subtitle, names)
        x = names
        for label, a, b, delta, better in figures(self._comparison):
            x = self._figure(painter, x, label, f"{a} → {b}", delta, better)
            if x > self.width() - 90:
                break

    def _name(self, painter: QPainter, row: int, title: str, subtitle: str, room: int) -> None:
        theme, y = self._theme, self.height() * (0.34 if row == 0 else 0.68)
        painter.setPen(QPen(theme.color("accent" if row else "text2"), 1.75))
        painter.setBrush(theme.color("surface"))
        painter.drawLine(QPointF(14, y), QPointF(36, y))
        painter.drawEllipse(QPointF(25, y), 4.5, 4.5)
        x = 46
        for text, font, token in ((title, "section", "text"), (subtitle, "body", "muted")):
            painter.setFont(theme.font(font))
            painter.setPen(theme.color(token))
            metrics = QFontMetrics(painter.font())
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(0, room - x - 10))
            painter.drawText(QPointF(x, y + (metrics.ascent() - metrics.descent()) / 2), shown)
            x += metrics.horizontalAdvance(shown) + 10

    def _figure(self, painter: QPainter, x: int, label: str, text: str, delta: str, better: bool | None) -> int:
        theme = self._theme
        painter.fillRect(x, 0, 1, self.height(), theme.color("line"))
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("muted"))
        painter.drawText(QRect(x + 14, 8, 160, 16), Qt.AlignmentFlag.AlignVCenter, label)
        painter.setFont(theme.font("section", tabular=True))
        painter.setPen(theme.color("text"))
        width = QFontMetrics(painter.font()).horizontalAdvance(text)
        middle = self.height() - 22
        painter.drawText(QRect(x + 14, middle - 11, width + 4, 22), Qt.AlignmentFlag.AlignVCenter, text)
        chip = 0
        if delta:
            chip = chip_width(theme, delta) + 8
            tone = "" if better is None else "done" if better else "wait"
            paint_chip(painter, theme, QRectF(x + 20 + width, middle - 9, chip - 8, 18), delta, "", tone)
        return x + max(28 + width + chip, 28 + QFontMetrics(theme.font("small")).horizontalAdvance(label))


def figures(comparison: RunComparison) -> list[tuple[str, str, str, str, bool | None]]:
    """Label, both values, the difference, and whether the second is better; None: neither."""
    a, b = comparison.a, comparison.b
    found: list[tuple[str, str, str, str, bool | None]] = []
    steps = b.supersteps - a.supersteps
    delta = f"{'+' if steps > 0 else '−'}{abs(steps)}" if steps else ""
    found.append((tr("Supersteps"), str(a.supersteps), str(b.supersteps), delta, steps < 0 if steps else None))
    found.append((tr("Tokens"), tokens_text(a.tokens), tokens_text(b.tokens), *_percent(a.tokens, b.tokens)))
    found.append((tr("Cost"), _cost(a.cost), _cost(b.cost), *_percent(a.cost, b.cost)))
    found.append((tr("Time"), seconds_text(a.seconds), seconds_text(b.seconds), *_percent(a.seconds, b.seconds)))
    return found


def _cost(cost: float | None) -> str:
    if cost is None:
        return tr("unknown")
    return money_text(cost) if cost else tr("free")


def _percent(a: float | None, b: float | None) -> tuple[str, bool | None]:
    if not a or b is None:
        return "", None
    change = round((b - a) / a * 100)
    return (f"{'+' if change > 0 else '−'}{abs(change)} %", change < 0) if change else ("", None)
