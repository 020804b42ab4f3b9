"""The table of a report: severity, item, what became of it, line."""

from __future__ import annotations

from PySide6.QtWidgets import QHeaderView, QTableView

from studio.ui.importing.entries import ReportRows
from studio.ui.text import tr


def report_table(rows: ReportRows) -> QTableView:
    """A table of whole rows whose texts are never cut off."""
    table = QTableView()
    table.setModel(rows)
    table.setAccessibleName(tr("Report of the import"))
    table.verticalHeader().hide()
    table.setShowGrid(False)
    table.setWordWrap(True)
    table.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
    header = table.horizontalHeader()
    header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    header.setSectionResizeMode(2, QHeaderView.ResizeMode.Stretch)
    table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    return table
