"""*Import report…*: what became of the items of the source, kept with the workflow; an entry leads to its node."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from studio.bridge.workspace import Workspace
from studio.document.model import ImportRecord
from studio.ui.importing.entries import ReportRows, rows_of
from studio.ui.importing.table import report_table
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import Label, Prose


class ImportReportWindow(QDialog):
    """Stands beside the drawing while the steps that were not taken over are drawn."""

    mapping_requested = Signal()

    def __init__(
        self, theme: Theme, workspace: Workspace, record: ImportRecord, maps: bool, parent: QWidget | None = None
    ) -> None:
        """``maps``: the workflow names providers, models or tools that can be mapped."""
        super().__init__(parent)
        self._workspace = workspace
        self.setObjectName("import_report")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Import report of {name}").format(name=workspace.document.workflow.name))
        self.resize(720, 460)
        self.rows = ReportRows(theme, self)
        self.rows.show(rows_of(record.entries))
        self.table = report_table(self.rows)
        self.table.activated.connect(self._on_table_activated)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        column.setSpacing(8)
        came = tr("{format}, from {source}").format(format=record.format, source=record.source or tr("a text"))
        column.addWidget(Label(theme, came, "small", "muted"))
        words = " ".join(part for part in (record.summary, record.preface) if part)
        column.addWidget(Prose(theme, words, "body", "text2", 17))
        column.addWidget(self.table, 1)
        column.addWidget(Prose(theme, tr("Enter or a double click on an entry shows its node."), "small", "muted", 15))
        column.addLayout(self._buttons(theme, maps))

    def _buttons(self, theme: Theme, maps: bool) -> QHBoxLayout:
        row = QHBoxLayout()
        if maps:
            mapping = Button(theme, tr("Map providers and tools…"), kind="link")
            mapping.clicked.connect(self.mapping_requested)
            row.addWidget(mapping)
        row.addStretch(1)
        close = Button(theme, tr("Close"))
        close.clicked.connect(self.accept)
        row.addWidget(close)
        return row

    def _on_table_activated(self, index: QModelIndex) -> None:
        item = self.rows.item(index.row())
        if self._workspace.document.workflow.node(item) is not None:
            self._workspace.selection.reveal(item)
