"""The report of an import as rows: severity, item, what became of it, line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Qt

from studio.document.difference import ItemChange, difference
from studio.document.model import ImportedItem, Workflow
from studio.importers import Entry, Folded
from studio.ui.text import tip, tr
from studio.ui.theme import Theme
from studio.ui.versions.words import change_name, change_words
from studio.ui.widgets.sources import short
from studio.ui.widgets.table_rows import Index, TableRows

_LOOKS = {
    "loss": ("circle-x", "fail_t", "Lost"),
    "warn": ("triangle-alert", "wait_t", "Warning"),
    "info": ("info", "run_t", "Note"),
}


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the report."""

    severity: str
    item: str
    text: str
    line: str = ""


def rows_of(entries: Sequence[Entry | ImportedItem], folded: Sequence[Folded] = ()) -> list[Row]:
    """Losses first, then warnings, notes, and what was folded into something else."""
    found = [
        Row(entry.severity, entry.item, entry.text, "" if entry.line is None else str(entry.line))
        for severity in ("loss", "warn", "info")
        for entry in entries
        if entry.severity == severity
    ]
    words = tr("Became a setting of {into}.")
    return found + [Row("info", item.item, words.format(into=item.into)) for item in folded]


def rows_of_changes(before: Workflow, after: Workflow) -> list[Row]:
    """What the code changed in a document since it was exported, one row an item."""
    return [Row("info", change_name(change), _sentence(change)) for change in difference(before, after).changes]


_SENTENCES = {
    "added": "Added in the code.",
    "removed": "Removed in the code.",
    "changed": "Changed in the code: {fields}.",
    "moved": "Moved in the code.",
}


def _sentence(change: ItemChange) -> str:
    if change.part == "workflow" and change.fields:
        (field,) = change.fields
        words = tr("Changed in the code from {before} to {after}.")
        return words.format(before=short(field.before), after=short(field.after))
    return tr(_SENTENCES[change.what]).format(fields=change_words(change))


class ReportRows(TableRows):
    """Columns: severity, item, text, line of the source."""

    titles = ("", "Item", "What became of it", "Line")

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._rows: Sequence[Row] = ()

    def show(self, rows: Sequence[Row]) -> None:
        """Replaces the rows."""
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def count(self) -> int:
        return len(self._rows)

    def item(self, row: int) -> str:
        """The id of the node, or the name in the source, that a row is about."""
        return self._rows[row].item

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self._rows[index.row()]
        icon, token, word = _LOOKS[row.severity]
        texts = ("", row.item, row.text, row.line)
        if role == Qt.ItemDataRole.DisplayRole:
            return texts[index.column()]
        if role == Qt.ItemDataRole.DecorationRole and index.column() == 0:
            return self._theme.icon(icon, token)
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            said = tr(word) if index.column() == 0 else texts[index.column()]
            return tip(said) if role == Qt.ItemDataRole.ToolTipRole else said
        return None
