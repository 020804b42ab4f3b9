"""The grid of results: a row per row of the table, failures first."""

from __future__ import annotations

import json

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from studio.debugger.batch import RowResult
from studio.ui.text import tip, tr
from studio.ui.theme import Theme

Index = QModelIndex | QPersistentModelIndex
COLUMNS = ("Row", "State", "Input", "Output", "Tokens", "Cost", "Seconds")
_NUMBERS = frozenset({4, 5, 6})
_TONES = {"failed": "fail_t", "completed": "done_t", "not run": "muted"}


def shown(value: object) -> str:
    """A value in one line."""
    text = value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
    return " ".join(text[:400].split())


class ResultsModel(QAbstractTableModel):
    """Shows what it is given; the whole text of a cell is its tool tip."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.results: list[RowResult] = []

    def show_results(self, results: list[RowResult]) -> None:
        """Other results."""
        if len(results) == len(self.results):
            self.results = results
            self.dataChanged.emit(self.index(0, 0), self.index(max(0, len(results) - 1), len(COLUMNS) - 1))
            return
        self.beginResetModel()
        self.results = results
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(self.results)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role == Qt.ItemDataRole.DisplayRole and orientation == Qt.Orientation.Horizontal:
            return tr(COLUMNS[section])
        if role == Qt.ItemDataRole.TextAlignmentRole and section in _NUMBERS:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        result, column = self.results[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(result, column)
        if role == Qt.ItemDataRole.ToolTipRole and column in (2, 3):
            value = result.input if column == 2 else result.failure or result.output
            return tip(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1))
        if role == Qt.ItemDataRole.ForegroundRole and column == 1:
            return self._theme.color(_TONES[result.state])
        if role == Qt.ItemDataRole.TextAlignmentRole and column in _NUMBERS:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return None

    @staticmethod
    def _text(result: RowResult, column: int) -> str:
        ran = result.state != "not run"
        cells = (
            f"{result.number}  {result.name}".strip(),
            tr(result.state),
            shown(result.input),
            shown(result.failure or result.output),
            f"{result.tokens:,}" if ran else "",
            f"{result.cost:.4f}" if result.cost else "",
            f"{result.seconds:.1f}" if ran else "",
        )
        return cells[column]
