"""Prices of models: a table that the user keeps. Without an entry a cost is unknown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QHBoxLayout, QHeaderView, QTableView, QVBoxLayout, QWidget

from studio.agents.prices import Price, PriceProblem, PriceTable
from studio.settings.prices import prices_file, read_prices, write_prices
from studio.settings.profiles import presets
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import Label, Prose

Index = QModelIndex | QPersistentModelIndex
_COLUMNS = ("match", "provider", "input", "cached_input", "output", "currency", "as_of", "source")
_TITLES = ("Model", "Kind", "In", "Cached in", "Out", "Currency", "Looked up", "Where")
_AMOUNTS = ("input", "cached_input", "output")


class PriceModel(QAbstractTableModel):
    """The rows of the table; every change that can be is kept at once."""

    refused = Signal(str)
    kept = Signal()

    def __init__(self, table: PriceTable, parent: QWidget) -> None:
        super().__init__(parent)
        self.prices: list[Price] = list(table.prices)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(self.prices)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(_COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return tr(_TITLES[section])
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        price, name = self.prices[index.row()], _COLUMNS[index.column()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            value = getattr(price, name)
            return "" if value is None else f"{value:f}" if isinstance(value, Decimal) else str(value)
        if role == Qt.ItemDataRole.TextAlignmentRole and name in _AMOUNTS:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if role == Qt.ItemDataRole.ToolTipRole and name == "as_of" and (date.today() - price.as_of).days > 180:
            return tr("Older than half a year: look it up again.")
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEditable

    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        name, text = _COLUMNS[index.column()], str(value).strip()
        try:
            changed = replace(self.prices[index.row()], **{name: _typed(name, text)})
        except ValueError as problem:
            self.refused.emit(str(problem))
            return False
        self.prices[index.row()] = changed
        self.dataChanged.emit(index, index)
        self.kept.emit()
        return True

    def add(self) -> None:
        """A new row at the end, for today."""
        self.beginInsertRows(QModelIndex(), len(self.prices), len(self.prices))
        self.prices.append(Price(tr("model-name*"), Decimal(0), Decimal(0), date.today()))
        self.endInsertRows()
        self.kept.emit()

    def remove(self, row: int) -> None:
        """Takes a row out."""
        self.beginRemoveRows(QModelIndex(), row, row)
        del self.prices[row]
        self.endRemoveRows()
        self.kept.emit()

    def move_up(self, row: int) -> None:
        """Puts a row before the one above it: the first that fits counts."""
        if row > 0:
            self.beginMoveRows(QModelIndex(), row, row, QModelIndex(), row - 1)
            self.prices[row - 1], self.prices[row] = self.prices[row], self.prices[row - 1]
            self.endMoveRows()
            self.kept.emit()


def _typed(name: str, text: str) -> Any:
    """The value of a cell. Raises ``ValueError`` with a sentence."""
    if name == "match" and not text:
        raise ValueError(tr("Enter the name of a model; * stands for any letters."))
    if name in _AMOUNTS:
        if name == "cached_input" and not text:
            return None
        try:
            amount = Decimal(text.replace(",", "."))
        except InvalidOperation as error:
            raise ValueError(tr("Enter the price of a million tokens as a number.")) from error
        if not amount.is_finite() or amount < 0:
            raise ValueError(tr("A price is not less than 0."))
        return amount
    if name == "as_of":
        try:
            return date.fromisoformat(text)
        except ValueError as error:
            raise ValueError(tr("Enter a day as year-month-day: 2026-01-31.")) from error
    if name == "currency":
        if not (text.isalpha() and len(text) == 3):
            raise ValueError(tr("Enter a currency of three letters: USD."))
        return text.upper()
    if name == "provider" and text and text not in presets():
        raise ValueError(tr("Enter a kind of provider ({kinds}), or nothing for every kind.").format(
            kinds=", ".join(presets())))  # fmt: skip
    return text


class PricesPage(QWidget):
    """The table; what is typed is kept at once."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        text, problem = read_prices()
        try:
            table = PriceTable.from_toml(text)
        except PriceProblem as error:
            table, problem = PriceTable(), tr("{reason}. Correct {file}, or what you enter here replaces it.").format(
                reason=error, file=prices_file())  # fmt: skip
        self.model = PriceModel(table, self)
        self._view = QTableView()
        self._view.setObjectName("prices")
        self._view.setAccessibleName(tr("Prices"))
        self._view.setModel(self.model)
        self._view.verticalHeader().hide()
        self._view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self._view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self._view.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self._view.horizontalHeader().setStretchLastSection(True)
        self._said = Prose(theme, problem, "small", "fail_t", 15)
        self._said.setVisible(bool(problem))
        self._lay_out()
        self.model.refused.connect(self._say)
        self.model.kept.connect(self._on_model_kept)

    def _lay_out(self) -> None:
        title = Label(self._theme, tr("Prices"), "figure")
        hint = tr("Of a million tokens. The first row that fits a model counts; * stands for any letters. A model "
                  "without a row has no price: costs then say so.")  # fmt: skip
        add = Button(self._theme, tr("Add"), "plus", small=True)
        up = Button(self._theme, tr("Up"), kind="plain", small=True)
        remove = Button(self._theme, tr("Remove"), kind="plain", small=True)
        add.clicked.connect(self._on_add_clicked)
        up.clicked.connect(self._on_up_clicked)
        remove.clicked.connect(self._on_remove_clicked)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        for button in (add, up, remove):
            buttons.addWidget(button)
        buttons.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 14, 24, 12)
        column.setSpacing(8)
        column.addWidget(title)
        column.addWidget(Prose(self._theme, hint, "small", "muted", 15))
        column.addWidget(self._view, 1)
        column.addWidget(self._said)
        column.addLayout(buttons)

    def _say(self, text: str) -> None:
        self._said.set_text(text)
        self._said.setVisible(bool(text))

    def _rows(self) -> Sequence[int]:
        return [index.row() for index in self._view.selectionModel().selectedRows()]

    def _on_add_clicked(self) -> None:
        self.model.add()
        row = self.model.rowCount() - 1
        self._view.selectRow(row)
        self._view.edit(self.model.index(row, 0))

    def _on_up_clicked(self) -> None:
        for row in self._rows():
            self.model.move_up(row)

    def _on_remove_clicked(self) -> None:
        for row in self._rows():
            self.model.remove(row)

    def _on_model_kept(self) -> None:
        try:
            write_prices(PriceTable(tuple(self.model.prices)).to_toml())
            self._say("")
        except OSError as error:
            self._say(tr("The prices could not be saved: {reason}").format(reason=error.strerror or error))
