"""One object that widgets are given: colours, fonts, icons, and a signal when they change."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QGuiApplication, QIcon, QPixmap

from studio.ui.theme import fonts, icons
from studio.ui.theme.tokens import Tokens, tokens

Choice = Literal["system", "light", "dark"]


class Theme(QObject):
    """The look. Give it to widgets; nobody fetches it from a global place."""

    changed = Signal()

    def __init__(self, choice: Choice = "system", scale: float = 1.0, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._choice: Choice = choice
        self._scale = scale
        self._fonts: dict[str, QFont] = {}
        self._colors: dict[str, QColor] = {}
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._on_style_hints_color_scheme_changed)

    @property
    def choice(self) -> Choice:
        return self._choice

    @property
    def scheme(self) -> Literal["light", "dark"]:
        """The scheme that is shown."""
        if self._choice != "system":
            return self._choice
        return "dark" if QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark else "light"

    @property
    def tokens(self) -> Tokens:
        return tokens(self.scheme)

    def color(self, token: str) -> QColor:
        """A token's colour by attribute name (``"run_t"``); kept, do not change it."""
        found = self._colors.get(token)
        if found is None:
            found = self._colors[token] = QColor(getattr(self.tokens, token))
        return found

    def font(self, role: str) -> QFont:
        """The font of a role of :data:`studio.ui.theme.fonts.ROLES`."""
        found = self._fonts.get(role)
        if found is None:
            found = self._fonts[role] = fonts.font(role, self._scale)
        return found

    def pixmap(self, icon: str, size: int = 16, token: str = "text2", ratio: float = 1.0) -> QPixmap:
        """An icon (Lucide name, or ``own:NAME``) in a token's colour."""
        return icons.pixmap(icon, size, getattr(self.tokens, token), ratio)

    def icon(self, icon: str, token: str = "text2", size: int = 16) -> QIcon:
        """A QIcon with normal and disabled states, at ratios 1 and 2."""
        made = QIcon()
        for ratio in (1.0, 1.25, 1.5, 2.0):
            made.addPixmap(self.pixmap(icon, size, token, ratio), QIcon.Mode.Normal)
            made.addPixmap(self.pixmap(icon, size, "off", ratio), QIcon.Mode.Disabled)
        return made

    def set_choice(self, choice: Choice) -> None:
        """System, light or dark."""
        if choice != self._choice:
            self._choice = choice
            self._refresh()

    def set_scale(self, scale: float) -> None:
        """Text scale, 0.9 to 1.5."""
        if scale != self._scale:
            self._scale = scale
            self._refresh()

    def _on_style_hints_color_scheme_changed(self, _scheme: Qt.ColorScheme) -> None:
        if self._choice == "system":
            self._refresh()

    def _refresh(self) -> None:
        self._fonts.clear()
        self._colors.clear()
        self.changed.emit()
