"""Pens and brushes of one scheme, made once and kept: a ``paint()`` only looks them up."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QGuiApplication, QPen

from studio.ui.theme import Theme
from studio.ui.theme.tokens import Tokens


class Ink:
    """Drawing tools by token (attribute name of ``Tokens``, ``"run_t"``). What it returns is kept: do not change it."""

    def __init__(self, shown: Tokens, *, dark: bool) -> None:
        self._tokens = shown
        self.dark = dark
        self._colors: dict[tuple[str, float], QColor] = {}
        self._brushes: dict[tuple[str, float], QBrush] = {}
        self._pens: dict[tuple[str, float, tuple[float, ...], bool], QPen] = {}

    def color(self, token: str, alpha: float = 1.0) -> QColor:
        """A token's colour, at ``alpha`` (0 to 1)."""
        found = self._colors.get((token, alpha))
        if found is None:
            found = QColor(getattr(self._tokens, token))
            found.setAlphaF(alpha)
            self._colors[token, alpha] = found
        return found

    def brush(self, token: str, alpha: float = 1.0) -> QBrush:
        """A solid brush."""
        found = self._brushes.get((token, alpha))
        if found is None:
            found = self._brushes[token, alpha] = QBrush(self.color(token, alpha))
        return found

    def pen(self, token: str, width: float = 1.0, dash: tuple[float, ...] = (), *, cosmetic: bool = False) -> QPen:
        """A round pen; ``dash`` in scene units (not in pen widths). ``cosmetic``: the same width at any zoom."""
        key = (token, width, dash, cosmetic)
        found = self._pens.get(key)
        if found is None:
            found = QPen(self.color(token), width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)
            found.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
            if dash:
                found.setDashPattern([d / width for d in dash])
            found.setCosmetic(cosmetic)
            self._pens[key] = found
        return found


_inks: dict[int, Ink] = {}
"""By identity of the tokens, which each :class:`Ink` keeps alive: hashing sixty colours per look-up is not free."""


def ink(theme: Theme) -> Ink:
    """The drawing tools of what the theme shows now."""
    shown = theme.tokens
    found = _inks.get(id(shown))
    if found is None:
        found = _inks[id(shown)] = Ink(shown, dark=theme.scheme == "dark")
    return found


_fonts: dict[tuple[str, float, int], tuple[QFont, QFontMetricsF]] = {}


def scene_font(
    theme: Theme, role: str, *, pixels: float = 0.0, weight: int = 0, tabular: bool = False
) -> tuple[QFont, QFontMetricsF]:
    """A role's font for painted text, with its metrics: unhinted, so that widths scale with the zoom.

    ``pixels`` and ``weight`` replace those of the role; fractions of a pixel are kept.
    """
    source = theme.font(role, tabular=tabular)
    key = (source.key(), pixels, weight)
    found = _fonts.get(key)
    if found is None:
        made = QFont(source)
        made.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
        if pixels:
            # Only point sizes may be fractions; Qt measures them in the logical resolution of the screen.
            made.setPointSizeF(pixels * 72.0 / QGuiApplication.primaryScreen().logicalDotsPerInchY())
        if weight:
            made.setWeight(QFont.Weight(weight))
            made.setVariableAxis(QFont.Tag("wght"), weight)
        found = _fonts[key] = (made, QFontMetricsF(made))
    return found
