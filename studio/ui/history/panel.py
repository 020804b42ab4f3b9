"""The history panel: every step since the document was opened; a click brings the document there."""

from __future__ import annotations

from time import perf_counter

from PySide6.QtCore import QModelIndex, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QListView, QVBoxLayout, QWidget
from shiboken6 import isValid

from studio.bridge.workspace import Workspace
from studio.ui.history.rows import StepDelegate, StepRows
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.labels import Prose
from studio.ui.widgets.panel import Panel

PIECE = 0.006
"""Seconds of undoing in one piece, on a way of many steps."""


class HistoryPanel(Panel):
    """Follows the undo stack. Up and Down choose, Enter goes there."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.rows = StepRows(self)
        self.list = _List(self)
        self.list.setObjectName("steps")
        self.list.setAccessibleName(tr("Steps"))
        self.list.setModel(self.rows)
        self.list.setItemDelegate(StepDelegate(theme, self.list))
        self.list.setUniformItemSizes(True)
        self.list.setMouseTracking(True)
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.clicked.connect(self._on_list_clicked)
        words = tr("Click a step to go there. A new step takes the place of undone ones.")
        hint = Prose(theme, words, "small", "muted", 15)
        hint.setContentsMargins(12, 6, 12, 8)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 4, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.list, 1)
        column.addWidget(hint)
        self._wanted = -1
        """Where the document is being brought; -1: nowhere."""
        self._expected = -1
        """Where the stack must be when the next piece begins; elsewhere somebody else has acted."""
        self._going = QTimer(self)
        self._going.setSingleShot(True)
        self._going.setInterval(0)
        self._going.timeout.connect(self._go_on)

    def enter(self, workspace: Workspace) -> None:
        stack = workspace.document.undo_stack
        stack.indexChanged.connect(self._on_stack_changed)
        stack.cleanChanged.connect(self._on_stack_changed)

    def leave(self, workspace: Workspace) -> None:
        self._going.stop()
        self.rows.show(None)  # the stack may go before the panel is seen again
        stack = workspace.document.undo_stack
        stack.indexChanged.disconnect(self._on_stack_changed)
        stack.cleanChanged.disconnect(self._on_stack_changed)

    def show_workspace(self) -> None:
        if self.workspace is not None and not self.isVisible():
            return  # shown from scratch when it is seen
        self.rows.show(self.workspace.document.undo_stack if self.workspace is not None else None)
        self._show_now()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.show_workspace()

    def restyle(self) -> None:
        self.list.doItemsLayout()

    def go(self, row: int) -> None:
        """Brings the document to a row: in one piece if that is quick, else in several."""
        if self.workspace is None or not 0 <= row < self.rows.rowCount():
            return
        self._wanted = row
        self._expected = self.workspace.document.undo_stack.index()
        self._go_on()

    def _go_on(self) -> None:
        if self.workspace is None:
            return
        stack = self.workspace.document.undo_stack
        end = perf_counter() + PIECE
        if stack.index() != self._expected:
            return
        while stack.index() != self._wanted and perf_counter() < end:
            before = stack.index()
            if before > self._wanted:
                stack.undo()
            else:
                stack.redo()
            if stack.index() == before:
                return
        self._expected = stack.index()
        if self._expected != self._wanted:
            self._going.start()

    def _show_now(self) -> None:
        now = self.rows.index(self.rows.now, 0)
        if now.isValid():
            self.list.setCurrentIndex(now)
            self.list.scrollTo(now)

    def _on_stack_changed(self, _changed: object) -> None:
        stack = self.workspace.document.undo_stack if self.workspace is not None else None
        # A stack that is deleted tells once more, when nobody can ask it any longer.
        if not self._going.isActive() and stack is not None and isValid(stack):
            self.show_workspace()

    def _on_list_clicked(self, index: QModelIndex) -> None:
        self.go(index.row())


class _List(QListView):
    """Enter goes to the chosen step."""

    def __init__(self, panel: HistoryPanel) -> None:
        super().__init__(panel)
        self._panel = panel

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._panel.go(self.currentIndex().row())
        else:
            super().keyPressEvent(event)
