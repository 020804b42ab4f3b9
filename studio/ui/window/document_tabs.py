"""The tabs of the centre: workflows, exports, the welcome page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QStackedWidget, QTabBar, QToolButton, QVBoxLayout, QWidget

from studio.bridge.workspace import Workspace
from studio.ui.actions import Page
from studio.ui.text import tip as plain_tip
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.sources import short


class DocumentPage(QWidget):
    """A page of the centre. ``kind`` decides which actions and docks there are."""

    kind: Page = "workflow"
    workspace: Workspace | None = None


@dataclass(slots=True)
class _Tab:
    page: DocumentPage
    dirty: QLabel


class DocumentTabs(QWidget):
    """The tab bar hides while the welcome page is alone."""

    current_changed = Signal()
    close_requested = Signal(object)
    """DocumentPage."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._tabs: dict[str, _Tab] = {}
        self._keys = 0
        self._bar = QTabBar()
        self._bar.setObjectName("document_tabs")
        self._bar.setProperty("kind", "document")
        self._bar.setMovable(True)
        self._bar.setDocumentMode(True)
        self._bar.setExpanding(False)
        self._bar.setIconSize(QSize(14, 14))
        self._bar.setElideMode(Qt.TextElideMode.ElideMiddle)
        self._bar.setUsesScrollButtons(True)
        self._bar.setSelectionBehaviorOnRemove(QTabBar.SelectionBehavior.SelectPreviousTab)
        self._bar.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._bar.installEventFilter(self)
        self._strip = QWidget()
        self._strip.setProperty("strip", "document")
        self._strip.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        row = QHBoxLayout(self._strip)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._bar, 1)
        self._stack = QStackedWidget()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._strip)
        column.addWidget(self._stack, 1)
        self._bar.currentChanged.connect(self._on_bar_current_changed)
        self._show_strip()

    @property
    def current(self) -> DocumentPage | None:
        """The page that is shown."""
        tab = self._tabs.get(str(self._bar.tabData(self._bar.currentIndex())))
        return tab.page if tab else None

    def pages(self) -> list[DocumentPage]:
        """All pages, in the order of the tabs."""
        keys = [str(self._bar.tabData(i)) for i in range(self._bar.count())]
        return [self._tabs[k].page for k in keys if k in self._tabs]

    def add(self, page: DocumentPage, title: str, icon: str, tip: str = "") -> None:
        """Opens a page in a new tab beside the current one and shows it."""
        self._keys += 1
        key = str(self._keys)
        end, dirty = self._tab_end(page)
        self._tabs[key] = _Tab(page, dirty)
        self._stack.addWidget(page)
        blocked = self._bar.blockSignals(True)
        index = self._bar.insertTab(self._bar.currentIndex() + 1, self._theme.icon(icon, "muted"), _plain(title))
        self._bar.setTabData(index, key)
        self._bar.setTabButton(index, QTabBar.ButtonPosition.RightSide, end)
        self._bar.setTabToolTip(index, plain_tip(tip))
        self._bar.blockSignals(blocked)
        self._bar.setCurrentIndex(index)
        self._on_bar_current_changed()
        self._show_strip()

    def remove(self, page: DocumentPage) -> None:
        """Closes a page's tab and deletes the page."""
        index = self._index(page)
        if index < 0:
            return
        key = str(self._bar.tabData(index))
        del self._tabs[key]
        self._bar.removeTab(index)
        self._stack.removeWidget(page)
        page.hide()
        page.deleteLater()
        self._show_strip()
        self._on_bar_current_changed()

    def show_page(self, page: DocumentPage) -> None:
        """Brings a page to the front."""
        self._bar.setCurrentIndex(self._index(page))

    def step(self, by: int) -> None:
        """The next (1) or previous (-1) tab, around the end."""
        if self._bar.count():
            self._bar.setCurrentIndex((self._bar.currentIndex() + by) % self._bar.count())

    def describe(self, page: DocumentPage, title: str, dirty: bool, tip: str) -> None:
        """Title, dirty mark and tooltip of a page's tab."""
        index = self._index(page)
        if index < 0:
            return
        if self._bar.tabText(index) != _plain(title):
            self._bar.setTabText(index, _plain(title))
        self._bar.setTabToolTip(index, plain_tip(tip))
        tab = self._tabs[str(self._bar.tabData(index))]
        tab.dirty.setText("•" if dirty else "")
        tab.dirty.setAccessibleName(tr("has changes that are not saved") if dirty else "")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        middle = isinstance(event, QMouseEvent) and event.button() == Qt.MouseButton.MiddleButton
        if watched is self._bar and middle and event.type() == QEvent.Type.MouseButtonRelease:
            assert isinstance(event, QMouseEvent)
            tab = self._tabs.get(str(self._bar.tabData(self._bar.tabAt(event.position().toPoint()))))
            if tab is not None:
                self.close_requested.emit(tab.page)
            return True
        return super().eventFilter(watched, event)

    def _tab_end(self, page: DocumentPage) -> tuple[QWidget, QLabel]:
        holder = QWidget()
        row = QHBoxLayout(holder)
        row.setContentsMargins(0, 0, 7, 0)
        row.setSpacing(1)
        dirty = QLabel()
        dirty.setProperty("role", "dirty")
        dirty.setFixedWidth(9)
        dirty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        close = QToolButton()
        close.setProperty("variant", "tab-close")
        close.setIcon(self._theme.icon("x", "muted"))
        close.setFixedSize(16, 16)
        close.setIconSize(QSize(12, 12))
        close.setToolTip(tr("Close tab (Ctrl+W)"))
        close.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        close.clicked.connect(self._asks_to_close(page))
        row.addWidget(dirty)
        row.addWidget(close)
        return holder, dirty

    def _asks_to_close(self, page: DocumentPage) -> Callable[[], None]:
        def run() -> None:
            self.close_requested.emit(page)

        return run

    def _index(self, page: DocumentPage) -> int:
        for i in range(self._bar.count()):
            tab = self._tabs.get(str(self._bar.tabData(i)))
            if tab is not None and tab.page is page:
                return i
        return -1

    def _show_strip(self) -> None:
        self._strip.setVisible(any(tab.page.kind != "welcome" for tab in self._tabs.values()))

    def _on_bar_current_changed(self) -> None:
        page = self.current
        if page is not None:
            self._stack.setCurrentWidget(page)
        self.current_changed.emit()
        if page is not None and not self._bar.hasFocus():
            # Else it goes on to whatever comes next to what was hidden. A page knows what had it there last.
            self.focus_page()

    def focus_page(self) -> None:
        """Puts the focus where it was last in the page that is shown."""
        page = self.current
        if page is not None:
            (page.focusWidget() or page).setFocus()


def _plain(title: str) -> str:
    """A title as a tab shows it: one line, cut where it would hide the other tabs, ``&`` is not a mnemonic."""
    return short(" ".join(title.split())).replace("&", "&&") or tr("Untitled")
