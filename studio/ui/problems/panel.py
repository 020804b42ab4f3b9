"""The problems of the open workflow: a click goes to the place, the fix is one click more."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QHeaderView,
    QStackedLayout,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from studio.bridge.workspace import Workspace
from studio.document.problems import Problem
from studio.ui.problems.rows import ICONS, ProblemRows
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.labels import Label

_Index = QModelIndex | QPersistentModelIndex


class ProblemsPanel(QWidget):
    """Follows :class:`ProblemModel`; keeps the chosen row where it can."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._workspace: Workspace | None = None
        self._rows = ProblemRows(self)
        self._table = QTableView()
        self._table.setObjectName("problems")
        self._table.setAccessibleName(tr("Problems"))
        self._table.setModel(self._rows)
        self._table.setItemDelegate(_Delegate(theme, self._table))
        self._table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self._table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self._table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self._table.setShowGrid(False)
        self._table.setWordWrap(False)
        self._table.setMouseTracking(True)
        self._table.setTabKeyNavigation(False)
        self._table.verticalHeader().hide()
        header = self._table.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        header.setMinimumSectionSize(24)
        self._table.clicked.connect(self._on_table_clicked)
        self._table.viewport().installEventFilter(self)
        self._table.installEventFilter(self)
        self._empty = Label(theme, tr("No problems."), "body", "muted")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._pages = QStackedLayout(self)
        self._pages.addWidget(self._table)
        self._pages.addWidget(self._empty)
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        self._show()

    def set_workspace(self, workspace: Workspace | None) -> None:
        """Shows the problems of another workflow."""
        if self._workspace is not None:
            self._workspace.problems.changed.disconnect(self._show)
        self._workspace = workspace
        if workspace is not None:
            workspace.problems.changed.connect(self._show)
        self._show()

    def step(self, by: int) -> None:
        """Goes to the next (1) or previous (-1) problem."""
        count = self._rows.rowCount()
        if count:
            index = self._table.currentIndex()
            row = (index.row() + by) % count if index.isValid() else (0 if by > 0 else count - 1)
            self._table.selectRow(row)
            self._go(row)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._table and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            row = self._table.currentIndex().row()
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and row >= 0:
                if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
                    self._fix(row)
                else:
                    self._go(row)
                return True
        if watched is self._table.viewport() and isinstance(event, QMouseEvent):
            index = self._table.indexAt(event.position().toPoint())
            hand = index.column() == 3 and bool(index.data())
            self._table.viewport().setCursor(Qt.CursorShape.PointingHandCursor if hand else Qt.CursorShape.ArrowCursor)
        return super().eventFilter(watched, event)

    def _show(self) -> None:
        workspace = self._workspace
        kept = self._rows.problem(self._table.currentIndex().row())
        problems = workspace.problems.problems if workspace is not None else ()
        self._rows.show(problems, workspace.document.workflow if workspace is not None else None)
        if kept in problems:
            self._table.selectRow(problems.index(kept))
        self._pages.setCurrentWidget(self._table if problems else self._empty)

    def _on_table_clicked(self, index: QModelIndex) -> None:
        if index.column() == 3 and index.data():
            self._fix(index.row())
        else:
            self._go(index.row())

    def _go(self, row: int) -> None:
        problem = self._rows.problem(row)
        if self._workspace is None or problem is None or not problem.place:
            return
        self._workspace.selection.reveal(problem.place)
        if problem.field:
            self._workspace.selection.field_requested.emit(problem.place, problem.field)

    def _fix(self, row: int) -> None:
        problem = self._rows.problem(row)
        if self._workspace is not None and problem is not None and problem.fix is not None:
            self._workspace.document.execute(problem.fix.edit, problem.fix.text.removesuffix("…"))

    def _on_theme_changed(self) -> None:
        self._table.verticalHeader().setDefaultSectionSize(self._theme.length(26))
        self._table.setColumnWidth(0, 34)
        self._table.setColumnWidth(2, self._theme.length(220))
        self._table.setColumnWidth(3, self._theme.length(280))
        self._table.viewport().update()


class _Delegate(QStyledItemDelegate):
    """Icon, message, muted place, fix as a link."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        return QSize(100, self._theme.length(26))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        chosen = bool(state & QStyle.StateFlag.State_Selected)
        if chosen:
            painter.fillRect(rect, self._theme.color("sel"))
            focused = bool(QApplication.focusWidget() is self.parent())
            if focused and index.column() == 0:
                painter.fillRect(QRect(rect.left(), rect.top(), 2, rect.height()), self._theme.color("accent"))
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, self._theme.color("hover"))
        painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), self._theme.color("line"))
        problem = index.data(Qt.ItemDataRole.UserRole)
        if not isinstance(problem, Problem):
            return
        if index.column() == 0:
            icon, token = ICONS[problem.severity]
            ratio = painter.device().devicePixelRatio()
            place = QPoint(rect.left() + 10, rect.top() + (rect.height() - 15) // 2)
            painter.drawPixmap(place, self._theme.pixmap(icon, 15, token, ratio))
            return
        token = ("", "text", "muted", "accent")[index.column()]
        font = self._theme.font("strong" if index.column() == 3 else "body")
        metrics = QFontMetrics(font)
        painter.setFont(font)
        painter.setPen(self._theme.color(token))
        text = metrics.elidedText(str(index.data()), Qt.TextElideMode.ElideRight, rect.width() - 18)
        baseline = rect.top() + (rect.height() + metrics.ascent() - metrics.descent()) // 2
        painter.drawText(QPoint(rect.left() + 10, baseline), text)
