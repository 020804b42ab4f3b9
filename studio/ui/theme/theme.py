"""One object that widgets are given: colours, fonts, icons, and a signal when they change."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QGuiApplication, QIcon, QPixmap
from PySide6.QtWidgets import QApplication

from studio.ui.theme import fonts, icons, style
from studio.ui.theme.tokens import Tokens, high_contrast, tokens

Choice = Literal["system", "light", "dark"]

_SCHEMES = {"light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark}


class Theme(QObject):
    """The look. Give it to widgets; nobody fetches it from a global place."""

    changed = Signal()

    def __init__(self, choice: Choice = "system", scale: float = 1.0, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._choice: Choice = choice
        self._scale = scale
        self._contrast = False
        self._fonts: dict[tuple[str, bool], QFont] = {}
        self._colors: dict[str, QColor] = {}
        self._tokens: Tokens | None = None
        self._application: QApplication | None = None
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._on_style_hints_color_scheme_changed)

    @property
    def choice(self) -> Choice:
        return self._choice

    @property
    def scale(self) -> float:
        """Text scale, 0.9 to 1.5."""
        return self._scale

    @property
    def scheme(self) -> Literal["light", "dark"]:
        """The scheme that is shown."""
        if self._choice != "system":
            return self._choice
        return "dark" if QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark else "light"

    @property
    def tokens(self) -> Tokens:
        if self._tokens is None:
            base = tokens(self.scheme)
            self._tokens = high_contrast(base) if self._contrast or _more_contrast() else base
        return self._tokens

    def color(self, token: str) -> QColor:
        """A token's colour by attribute name (``"run_t"``); kept, do not change it."""
        found = self._colors.get(token)
        if found is None:
            found = self._colors[token] = QColor(getattr(self.tokens, token))
        return found

    def font(self, role: str, *, tabular: bool = False) -> QFont:
        """The font of a role of :data:`studio.ui.theme.fonts.ROLES`; ``tabular`` for numbers."""
        found = self._fonts.get((role, tabular))
        if found is None:
            found = self._fonts[role, tabular] = fonts.font(role, self._scale, tabular=tabular)
        return found

    def length(self, pixels: float) -> int:
        """A height or width of the design at the chosen text scale, at least the unscaled one below 100 %."""
        return round(pixels * max(1.0, self._scale))

    def pixmap(self, icon: str, size: int = 16, token: str = "text2", ratio: float = 1.0) -> QPixmap:
        """An icon (Lucide name, or ``own:NAME``) in a token's colour."""
        return icons.pixmap(icon, size, getattr(self.tokens, token), ratio)

    def icon(self, icon: str, token: str = "text2") -> QIcon:
        """A QIcon that renders at any size and ratio and follows the theme; disabled it has the colour ``off``.
        Raises ``KeyError`` for an unknown name."""
        icons.svg(icon)

        def color_of(mode: QIcon.Mode) -> str:
            return str(getattr(self.tokens, "off" if mode == QIcon.Mode.Disabled else token))

        return QIcon(icons.IconEngine(icon, color_of))

    def apply(self, application: QApplication) -> None:
        """Gives the application style, font, palette and style sheet, now and whenever the theme changes."""
        self._application = application
        application.setStyle("Fusion")
        self._dress()

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

    def set_contrast(self, more: bool) -> None:
        """More contrast, even if the system asks for none."""
        if more != self._contrast:
            self._contrast = more
            self._refresh()

    def _on_style_hints_color_scheme_changed(self, _scheme: Qt.ColorScheme) -> None:
        if self._choice == "system":
            self._refresh()

    def _refresh(self) -> None:
        self._fonts.clear()
        self._colors.clear()
        self._tokens = None
        self._dress()
        self.changed.emit()

    def _dress(self) -> None:
        if self._application is None:
            return
        hints = QGuiApplication.styleHints()
        wanted = _SCHEMES.get(self._choice, Qt.ColorScheme.Unknown)
        if hints.colorScheme() != wanted:
            hints.setColorScheme(wanted)
        self._application.setFont(self.font("body"))
        self._application.setPalette(style.palette(self.tokens))
        self._application.setStyleSheet(style.style_sheet(self.tokens, self._scale))


def _more_contrast() -> bool:
    hints = QGuiApplication.styleHints()
    return hints.accessibility().contrastPreference() == Qt.ContrastPreference.HighContrast
