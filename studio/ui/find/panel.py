"""The find panel: what is looked for, what takes its place, and every hit."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QTimer
from PySide6.QtGui import QKeyEvent, Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QStackedWidget,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from studio.bridge.workspace import Workspace
from studio.document.patterns import PatternError
from studio.document.searching import MOST, Hit, Query, replaced
from studio.document.text_slots import SCOPES, CannotHold
from studio.ui.find.rows import HitDelegate, HitRows
from studio.ui.find.searcher import Searcher
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button, ComboBox
from studio.ui.widgets.empty import EmptyText
from studio.ui.widgets.labels import Label
from studio.ui.widgets.panel import Panel
from studio.ui.widgets.search_field import SearchField

_DELAY = 120
"""Milliseconds after the last key or edit until the search begins again."""
_SCOPES = {
    "names": "Names",
    "prompts": "Prompts and questions",
    "code": "Code",
    "conditions": "Conditions",
    "texts": "Other texts",
}


class FindPanel(Panel):
    """Hits follow the document. Up and Down show a hit on canvas and in the inspector; Enter goes into its field."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.needle = SearchField(theme, tr("Find in this workflow"))
        self.instead = SearchField(theme, tr("Replace with"))
        self.case = self._toggle("Aa", tr("Match case"))
        self.words = self._toggle("“ab”", tr("Whole words only"))
        self.pattern = self._toggle(".*", tr("Regular expression"))
        self.scope = ComboBox(theme, small=True)
        self.scope.addItem(tr("Everywhere"), frozenset(SCOPES))
        for scope in SCOPES:
            self.scope.addItem(tr(_SCOPES[scope]), frozenset((scope,)))
        self.scope.setAccessibleName(tr("Where to look"))
        self.replace = Button(theme, tr("Replace"), small=True)
        self.replace.setToolTip(tr("Replace the selected hits and go to the next"))
        self.replace_all = Button(theme, tr("Replace all"), small=True)
        self.said = Label(theme, "", "small", "muted")
        self.rows = HitRows(self)
        self.table = _Table(self)
        self._empty = EmptyText(theme, "")
        self._pages = QStackedWidget()
        self._searcher = Searcher(self)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_DELAY)
        self._kept, self._goes_on = -1, False
        """Row to come back to when a search is done (-1: none), and whether its hit is shown then."""
        self._dress_table()
        self._lay_out()
        self._connect()
        self._tell("")

    # ---- what others call
    def begin(self, text: str = "", *, replacing: bool = False) -> None:
        """Puts the focus into the field; ``text`` is looked for if it is not empty."""
        if text:
            self.needle.setText(text)
        field = self.instead if replacing and self.needle.text() else self.needle
        field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        field.selectAll()

    def step(self, by: int) -> None:
        """The next (1) or previous (-1) hit."""
        count = self.rows.rowCount()
        if count == 0:
            self.begin()
            return
        now = self.table.currentIndex().row()
        row = (now + by) % count if now >= 0 else (0 if by > 0 else count - 1)
        self.table.selectRow(row)

    def query(self) -> Query:
        """What the fields ask for."""
        return Query(
            self.needle.text(),
            case=self.case.isChecked(),
            words=self.words.isChecked(),
            pattern=self.pattern.isChecked(),
            scopes=self.scope.currentData(),
        )

    # ---- workspace
    def enter(self, workspace: Workspace) -> None:
        workspace.document.changed.connect(self._on_document_changed)

    def leave(self, workspace: Workspace) -> None:
        workspace.document.changed.disconnect(self._on_document_changed)

    def show_workspace(self) -> None:
        self._kept = -1
        self._search()

    def restyle(self) -> None:
        self.table.verticalHeader().setDefaultSectionSize(self.theme.length(26))

    # ---- parts
    def _toggle(self, text: str, name: str) -> Button:
        button = Button(self.theme, text, small=True)
        button.setCheckable(True)
        button.setToolTip(name)
        button.setAccessibleName(name)
        return button

    def _dress_table(self) -> None:
        table = self.table
        table.setObjectName("hits")
        table.setAccessibleName(tr("Hits"))
        table.setModel(self.rows)
        table.setItemDelegate(HitDelegate(self.theme, table))
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setShowGrid(False)
        table.setWordWrap(False)
        table.setMouseTracking(True)
        table.setTabKeyNavigation(False)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(self.theme.length(26))
        header = table.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Interactive)
        header.resizeSection(1, self.theme.length(280))

    def _lay_out(self) -> None:
        find = QHBoxLayout()
        find.setSpacing(6)
        self.needle.setMinimumWidth(160)
        self.instead.setMinimumWidth(140)
        find.addWidget(self.needle, 3)
        for toggle in (self.case, self.words, self.pattern):
            find.addWidget(toggle)
        find.addWidget(self.scope)
        find.addSpacing(6)
        find.addWidget(self.instead, 2)
        find.addWidget(self.replace)
        find.addWidget(self.replace_all)
        self.said.setMinimumWidth(self.theme.length(90))
        find.addWidget(self.said)
        find.setContentsMargins(10, 6, 10, 6)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(find)
        self._pages.addWidget(self.table)
        self._pages.addWidget(self._empty)
        column.addWidget(self._pages, 1)

    def _connect(self) -> None:
        self.needle.textChanged.connect(self._on_query_changed)
        for toggle in (self.case, self.words, self.pattern):
            toggle.toggled.connect(self._on_query_changed)
        self.scope.currentIndexChanged.connect(self._on_query_changed)
        self.needle.returnPressed.connect(self._on_needle_return_pressed)
        self.instead.returnPressed.connect(self._on_replace_clicked)
        self.replace.clicked.connect(self._on_replace_clicked)
        self.replace_all.clicked.connect(self._on_replace_all_clicked)
        self._timer.timeout.connect(self._search)
        self._searcher.found.connect(self.rows.add)
        self._searcher.finished.connect(self._on_searcher_finished)
        selection = self.table.selectionModel()
        selection.currentRowChanged.connect(self._on_current_row_changed)

    def _search(self) -> None:
        self._timer.stop()
        workspace = self.workspace
        self.rows.start(workspace.document.workflow if workspace is not None else None)
        if workspace is None or not self.needle.text():
            self._searcher.stop()
            self._tell("")
            return
        self._searcher.start(workspace.document.workflow, self.query())

    def _tell(self, problem: str) -> None:
        count = self.rows.rowCount()
        asked = bool(self.needle.text()) and self.workspace is not None
        found = tr("1 hit") if count == 1 else tr("{count} hits").format(count=count)
        self.said.setText(problem or (found + ("+" if count == MOST else "") if asked else ""))
        self.said.set_tone("fail_t" if problem else "muted")
        self.replace.setEnabled(count > 0)
        self.replace_all.setEnabled(count > 0)
        nothing = tr("Nothing in this workflow has this text.")
        before = tr("Looks through names, prompts, code, conditions and all other texts of this workflow.")
        self._empty.label.setText(nothing if asked else before)
        self._pages.setCurrentWidget(self.table if count else self._empty)

    def show_hit(self, hit: Hit, *, focus: bool) -> None:
        """Shows a hit on the canvas and in the inspector; ``focus``: the cursor goes there."""
        if self.workspace is None:
            return
        selection = self.workspace.selection
        if hit.slot.place:
            selection.reveal(hit.slot.place)
        else:
            selection.select(())
        if hit.slot.field:
            selection.text_requested.emit(hit.slot.place, hit.slot.field, hit.slot.text, hit.start, hit.end, focus)

    def _replace(self, hits: Sequence[Hit]) -> bool:
        if self.workspace is None or not hits:
            return False
        document = self.workspace.document
        try:
            edit = replaced(document.workflow, self.query(), hits, self.instead.text())
        except (PatternError, CannotHold) as problem:
            self._tell(str(problem))
            return False
        if edit is None:
            return False
        count = tr("1 hit") if len(hits) == 1 else tr("{count} hits").format(count=len(hits))
        document.execute(edit, tr("Replace {count} of “{text}”").format(count=count, text=self.needle.text()[:30]))
        return True

    # ---- slots
    def _on_query_changed(self, _changed: object = None) -> None:
        self._kept = -1
        self._timer.start()

    def _on_document_changed(self, _changes: object) -> None:
        if self.needle.text():
            self._kept = self.table.currentIndex().row()
            self._timer.start()

    def _on_searcher_finished(self, problem: str) -> None:
        self._tell(problem)
        kept, goes_on = self._kept, self._goes_on
        self._kept, self._goes_on = -1, False
        if kept < 0 or not self.rows.rowCount():
            return
        row = min(kept, self.rows.rowCount() - 1)
        if goes_on:
            self.table.selectRow(row)
            return
        flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
        blocked = self.table.selectionModel().blockSignals(True)
        self.table.selectionModel().setCurrentIndex(self.rows.index(row, 0), flags)
        self.table.selectionModel().blockSignals(blocked)
        self.table.viewport().update()

    def _on_needle_return_pressed(self) -> None:
        if self._timer.isActive():
            self._search()
        self.step(1)

    def _on_current_row_changed(self, index: QModelIndex) -> None:
        hit = self.rows.hit(index.row())
        if hit is None:
            return
        if not self.table.selectionModel().isRowSelected(index.row()):  # Qt chooses a first one with the focus
            self.table.selectRow(index.row())
        self.show_hit(hit, focus=False)

    def open_current(self) -> None:
        """Puts the cursor where the chosen hit is."""
        hit = self.rows.hit(self.table.currentIndex().row())
        if hit is not None:
            self.show_hit(hit, focus=True)

    def _on_replace_clicked(self) -> None:
        rows = sorted({index.row() for index in self.table.selectionModel().selectedRows()})
        if not rows:
            self.step(1)
            return
        if self._replace([hit for row in rows if (hit := self.rows.hit(row)) is not None]):
            self._kept, self._goes_on = rows[0], True
            self._search()

    def _on_replace_all_clicked(self) -> None:
        if self._timer.isActive() or self._searcher.working:
            return
        if self._replace(self.rows.hits):
            self._search()


class _Table(QTableView):
    """Enter and a double-click open the hit."""

    def __init__(self, panel: FindPanel) -> None:
        super().__init__(panel)
        self._panel = panel
        self.doubleClicked.connect(self._on_double_clicked)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._panel.open_current()
        else:
            super().keyPressEvent(event)

    def _on_double_clicked(self, _index: object) -> None:
        self._panel.open_current()
