"""Chips and count pills, measured once and painted alike on the canvas and in lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QStaticText

from studio.ui.paint.glyphs import draw_glyph
from studio.ui.paint.ink import ink, scene_font
from studio.ui.text import one_line
from studio.ui.theme import Theme
from studio.ui.theme.fonts import ROLES

ChipLook = Literal["plain", "outline", "run", "done", "fail", "wait", "accent", "bp", "badge", "dim"]

_COLORS: Mapping[str, tuple[str, str, str]] = {
    # look: fill, border, text
    "plain": ("sunken", "", "text2"),
    "outline": ("surface", "border", "text2"),
    "dim": ("surface", "border", "muted"),
    "run": ("run_s", "run", "run_t"),
    "done": ("done_s", "", "done_t"),
    "fail": ("fail_s", "fail", "fail_t"),
    "wait": ("wait_s", "wait", "wait_t"),
    "accent": ("soft", "", "accent"),
    "bp": ("bp_s", "", "bp_t"),
    "badge": ("surface", "border", "text2"),
}


def _font(theme: Theme, text: str, *, small: bool, strong: bool) -> tuple[QFont, QFontMetricsF]:
    tabular = text.isdigit()
    if small:
        pixels = ROLES["tiny"][0] * theme.font("small").pixelSize() / ROLES["small"][0]
        return scene_font(theme, "tiny", pixels=pixels, weight=600 if strong else 500, tabular=tabular)
    return scene_font(theme, "small", weight=600 if strong else 500, tabular=tabular)


LONGEST = 48
"""Letters on a chip. What people call a switch or a case may be of any length."""


@dataclass(slots=True)
class ChipText:
    """One chip, laid out: ``strong`` is set in semibold accent before ``text``. Make it once, paint it often. Long
    labels and names are cut."""

    theme: Theme
    text: str
    strong: str = ""
    icon: str = ""
    look: ChipLook = "outline"
    icon_token: str = ""
    text_token: str = ""
    small: bool = False
    """A badge: 18 high, tiny type, padding 5."""
    longest: int = LONGEST
    width: float = field(init=False, compare=False)
    height: float = field(init=False, compare=False)
    _parts: list[tuple[QPointF, QStaticText, QFont, str]] = field(init=False, compare=False, default_factory=list)

    def __post_init__(self) -> None:
        self.height = 18.0 if self.small else 20.0
        padding, gap = (5.0, 3.0) if self.small else (7.0 if self.look == "run" else 8.0, 5.0)
        x = padding + 1
        if self.icon:
            x += self._icon_size + (gap if self.text or self.strong else 0)
        token = self.text_token or _COLORS[self.look][2]
        for whole, strong in ((self.strong, True), (self.text, False)):
            if not whole:
                continue
            text = one_line(whole[: 4 * LONGEST])
            text = text if len(text) <= self.longest else f"{text[: self.longest - 1].rstrip()}…"
            font, metrics = _font(
                self.theme, text, small=self.small, strong=strong or self.look not in ("outline", "dim", "plain")
            )
            laid = QStaticText(text)
            laid.setTextFormat(Qt.TextFormat.PlainText)
            laid.prepare(font=font)
            top = (self.height - metrics.height()) / 2
            self._parts.append((QPointF(x, top), laid, font, "accent" if strong else token))
            x += metrics.horizontalAdvance(text) + gap
        self.width = max(x - (gap if self._parts else 0) + padding + 1, self.height)

    @property
    def _icon_size(self) -> float:
        return 11.0 if self.small else 12.0

    def paint(self, painter: QPainter, x: float, y: float, *, selected: bool = False) -> None:
        """Paints with the top left corner at ``x``, ``y``."""
        tools = ink(self.theme)
        fill, border, text = _COLORS[self.look]
        rect = QRectF(x, y, self.width, self.height)
        radius = self.height / 2
        painter.setBrush(tools.brush(fill))
        if selected:
            painter.setPen(tools.pen("accent", 2.0))
            painter.drawRoundedRect(rect, radius, radius)
        elif border:
            painter.setPen(tools.pen(border, 1.0, (1.0, 2.0) if self.look == "dim" else ()))
            painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), radius - 0.5, radius - 0.5)
        else:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.drawRoundedRect(rect, radius, radius)
        if self.icon:
            size = self._icon_size
            left = x + (6.0 if self.small else 8.0 if self.look == "run" else 9.0)
            if not self._parts:
                left = x + (self.width - size) / 2
            draw_glyph(
                painter,
                tools,
                self.icon,
                left,
                y + (self.height - size) / 2,
                size,
                self.icon_token or self.text_token or text,
            )
        for at, laid, font, token in self._parts:
            painter.setFont(font)
            painter.setPen(tools.color(token))
            painter.drawStaticText(QPointF(x + at.x(), y + at.y()), laid)
