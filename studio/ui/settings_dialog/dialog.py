"""The settings dialog: sections at the left, one page at the right. Everything takes effect at once."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFrame,
    QHBoxLayout,
    QListWidget,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from studio.bridge.provider_model import ProviderModel
from studio.settings.preferences import Preferences
from studio.ui.settings_dialog.general import AppearancePage, CanvasPage, RunPage, SessionPage
from studio.ui.settings_dialog.prices import PricesPage
from studio.ui.settings_dialog.providers import ProvidersPage
from studio.ui.settings_dialog.shortcuts import ShortcutsPage
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.page import scrolled

_SCROLL_BY_THEMSELVES = ("shortcuts", "providers", "prices")


class SettingsDialog(QDialog):
    """``section``: ``appearance``, ``session``, ``canvas``, ``shortcuts``, ``run``, ``providers``
    or ``prices``."""

    preferences_changed = Signal(object)
    """Preferences."""
    profiles_changed = Signal()

    def __init__(
        self,
        theme: Theme,
        preferences: Preferences,
        section: str = "appearance",
        parent: QWidget | None = None,
        *,
        provider_model: ProviderModel | None = None,
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("settings")
        self.setWindowTitle(tr("Settings"))
        self.resize(820, 600)
        self._preferences = preferences
        pages = self._pages(theme, preferences, provider_model)
        self._list = QListWidget()
        self._list.setObjectName("settings_sections")
        self._list.setAccessibleName(tr("Sections"))
        self._list.setFixedWidth(168)
        # Rows measured before the style sheet is applied would keep their height.
        self._list.ensurePolished()
        self._stack = QStackedWidget()
        for key, title, page in pages:
            self._list.addItem(title)
            self._stack.addWidget(page if key in _SCROLL_BY_THEMSELVES else scrolled(page))
            changed = getattr(page, "changed", None)
            if changed is not None:
                changed.connect(self._on_page_changed)
        self._list.currentRowChanged.connect(self._stack.setCurrentIndex)
        self._list.setCurrentRow(max(0, [key for key, _, _ in pages].index(section)))
        self._lay_out()

    def _pages(
        self, theme: Theme, preferences: Preferences, provider_model: ProviderModel | None
    ) -> tuple[tuple[str, str, QWidget], ...]:
        providers = ProvidersPage(theme, provider_model)
        providers.profiles_changed.connect(self.profiles_changed)
        return (
            ("appearance", tr("Appearance"), AppearancePage(theme, preferences)),
            ("session", tr("Session"), SessionPage(theme, preferences)),
            ("canvas", tr("Canvas"), CanvasPage(theme, preferences)),
            ("shortcuts", tr("Shortcuts"), ShortcutsPage(theme, preferences)),
            ("run", tr("Runs"), RunPage(theme, preferences)),
            ("providers", tr("Model providers"), providers),
            ("prices", tr("Prices"), PricesPage(theme)),
        )

    def _lay_out(self) -> None:
        line = QFrame()
        line.setProperty("line", "true")
        line.setFixedWidth(1)
        middle = QHBoxLayout()
        middle.setContentsMargins(0, 0, 0, 0)
        middle.setSpacing(0)
        left = QVBoxLayout()
        left.setContentsMargins(8, 10, 8, 10)
        left.addWidget(self._list)
        middle.addLayout(left)
        middle.addWidget(line)
        middle.addWidget(self._stack, 1)
        below = QFrame()
        below.setProperty("line", "true")
        below.setFixedHeight(1)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        close = buttons.button(QDialogButtonBox.StandardButton.Close)
        close.setText(tr("Close"))
        close.setIcon(close.icon().__class__())
        close.setAutoDefault(False)
        buttons.rejected.connect(self.reject)
        buttons.setContentsMargins(12, 10, 12, 10)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(middle, 1)
        column.addWidget(below)
        column.addWidget(buttons)

    def _on_page_changed(self, values: dict[str, object]) -> None:
        from dataclasses import replace

        layouts = values.pop("layouts", {})
        changed = replace(self._preferences, **values)  # type: ignore[arg-type]
        if isinstance(layouts, dict):
            for name, on in layouts.items():
                changed = changed.with_layout(str(name), bool(on))
        if changed != self._preferences:
            self._preferences = changed
            self.preferences_changed.emit(changed)
