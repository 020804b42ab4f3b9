"""A side of the window: panels behind tabs. The tab strip is the dock's title bar."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import (
    QApplication,
    QDockWidget,
    QHBoxLayout,
    QLabel,
    QStackedWidget,
    QTabBar,
    QTextEdit,
    QWidget,
)

from studio.ui.theme import Theme

_LEAST_WIDTH = 320
"""Of the bottom panels, which scroll where they need more."""


class TabStrip(QWidget):
    """A row of tabs, then room for small widgets at the right."""

    double_clicked = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setProperty("strip", "dock")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.bar = QTabBar()
        self.bar.setDrawBase(False)
        self.bar.setExpanding(False)
        self.bar.setUsesScrollButtons(False)
        self.bar.setElideMode(Qt.TextElideMode.ElideNone)
        self.bar.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(5, 0, 8, 0)
        self._row.setSpacing(6)
        self._row.addWidget(self.bar)
        self._row.addStretch(1)

    def add_corner(self, widget: QWidget) -> None:
        """Puts a small widget at the right end."""
        self._row.addWidget(widget)

    def minimumSizeHint(self) -> QSize:
        return QSize(60, self._theme.length(30))

    def sizeHint(self) -> QSize:
        return QSize(200, self._theme.length(30))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        # Qt would let the dock float; here a double-click on the header means default size.
        event.accept()
        self.double_clicked.emit()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.accept()


class PanelDock(QDockWidget):
    """Panels by key, one shown at a time."""

    current_changed = Signal(str)
    focus_left = Signal()
    """The panel that has the focus goes out of sight (without another place Qt would take the next text field), or Esc
    was pressed where nothing else takes it."""

    def __init__(self, theme: Theme, name: str, title: str, least: int, parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self._theme = theme
        self.setObjectName(f"dock.{name}")
        self.setFeatures(QDockWidget.DockWidgetFeature.DockWidgetClosable)
        self.strip = TabStrip(theme)
        self.strip.bar.setAccessibleName(title)
        self.setTitleBarWidget(self.strip)
        self._stack = QStackedWidget()
        self.setWidget(self._stack)
        if name == "bottom":
            # The width, too: else the widest panel would push the dock over the right side of a narrow window.
            self._stack.setMinimumSize(_LEAST_WIDTH, least - 30)
        else:
            self._stack.setMinimumWidth(least)
        self._keys: list[str] = []
        self._counts: dict[str, tuple[QWidget, str]] = {}
        """Widget and text behind the title, by panel."""
        self.strip.bar.currentChanged.connect(self._on_bar_current_changed)

    @property
    def current(self) -> str:
        """Key of the panel that is shown."""
        index = self.strip.bar.currentIndex()
        return self._keys[index] if 0 <= index < len(self._keys) else ""

    def has(self, key: str) -> bool:
        """Whether a panel is in this dock."""
        return key in self._keys

    def add(self, key: str, title: str, panel: QWidget) -> None:
        """Adds a panel as the last tab."""
        self._keys.append(key)
        self._stack.addWidget(panel)
        self.strip.bar.addTab(title)

    def panel(self, key: str) -> QWidget:
        """A panel by key. Raises ``KeyError``."""
        found = self._stack.widget(self._keys.index(key)) if key in self._keys else None
        if found is None:
            raise KeyError(key)
        return found

    def show_panel(self, key: str) -> None:
        """Brings a panel to the front; the dock must be visible for it to be seen."""
        self.strip.bar.setCurrentIndex(self._keys.index(key))

    def set_count(self, key: str, count: int) -> None:
        """A number behind a tab's title; none for zero."""
        shown = str(count) if count else ""
        old = self._counts.get(key)
        if (old[1] if old is not None else "") == shown:
            return
        # A tab keeps the width that its button had when it was set, so the button is made anew.
        bar, index = self.strip.bar, self._keys.index(key)
        bar.setTabButton(index, QTabBar.ButtonPosition.RightSide, None)
        self._counts.pop(key, None)
        if old is not None:
            old[0].deleteLater()
        if count:
            holder = QWidget(bar)
            row = QHBoxLayout(holder)
            row.setContentsMargins(0, 0, 9, 0)
            label = QLabel(shown)
            label.setProperty("count", "true")
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            row.addWidget(label)
            holder.adjustSize()
            self._counts[key] = holder, shown
            bar.setTabButton(index, QTabBar.ButtonPosition.RightSide, holder)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        # In a text of several lines Esc makes the next Tab leave it.
        if event.key() == Qt.Key.Key_Escape and not isinstance(QApplication.focusWidget(), QTextEdit):
            self.focus_left.emit()
        else:
            super().keyPressEvent(event)

    def _on_bar_current_changed(self, index: int) -> None:
        if 0 <= index < len(self._keys):
            before, focus = self._stack.currentWidget(), QApplication.focusWidget()
            if focus is not None and before is not None and (focus is before or before.isAncestorOf(focus)):
                self.focus_left.emit()
            self._stack.setCurrentIndex(index)
            self.current_changed.emit(self._keys[index])
