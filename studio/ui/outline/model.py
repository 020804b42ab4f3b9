"""The rows of the outline as a Qt model: a flat list of entries; marks are asked for when a row is painted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import (
    QAbstractItemModel,
    QItemSelection,
    QItemSelectionRange,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
)

from studio.ui.outline.delegate import BREAKPOINT_ROLE, ROW_ROLE, SEVERITY_ROLE, STATUS_ROLE
from studio.ui.outline.tree import Row
from studio.ui.paint import kind_name
from studio.ui.text import tr

Index = QModelIndex | QPersistentModelIndex
_NONE = QModelIndex()
_FLAGS = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable


@dataclass(frozen=True, slots=True)
class Marks:
    """What run, problems and breakpoints say about a row."""

    status: str = ""
    severity: str = ""
    problem: str = ""
    """What is the matter, the worst of it."""
    breakpoint: bool = False


@dataclass(slots=True)
class _Entry:
    """A row: its place among the rows of its parent, and the numbers of the rows under it."""

    row: Row
    at: int
    parent: int
    children: list[int]


class Table:
    """Rows as the model looks them up. Of thousands it is made in a thread."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.entries: list[_Entry] = []
        self.top = [self._add(row, at, -1) for at, row in enumerate(rows)]
        self.number = {entry.row.id: number for number, entry in enumerate(self.entries)}
        self.shape = tuple((entry.row.id, entry.parent) for entry in self.entries)
        """What tells whether there are other rows, or only other words in them."""

    def _add(self, row: Row, at: int, parent: int) -> int:
        number = len(self.entries)
        entry = _Entry(row, at, parent, [])
        self.entries.append(entry)
        for child in row.rows:
            entry.children.append(self._add(child, len(entry.children), number))
        return number


class OutlineModel(QAbstractItemModel):
    """Numbers of entries are the internal ids of indexes: nothing that a view keeps can point at freed memory."""

    def __init__(self, marks: Callable[[str], Marks], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._marks = marks
        self._entries: list[_Entry] = []
        self._top: list[int] = []
        self._number: dict[str, int] = {}
        self._shape: tuple[tuple[str, int], ...] = ()

    def show_rows(self, rows: Sequence[Row]) -> bool:
        """Takes other rows; returns whether there are others than before, not only other words in them."""
        return self.show_table(Table(rows))

    def show_table(self, table: Table) -> bool:
        """The same with rows that were made ready elsewhere."""
        if self._shape == table.shape:
            self._entries, self._top = table.entries, table.top
            self.touch()
            return False
        self.beginResetModel()
        self._entries, self._top, self._number, self._shape = table.entries, table.top, table.number, table.shape
        self.endResetModel()
        return True

    def touch(self) -> None:
        """Marks or words changed: what is seen is painted again."""
        if self._top:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._top) - 1, 0))
        for number in self.parents():
            under = self._entries[number].children
            self.dataChanged.emit(self._index(under[0]), self._index(under[-1]))

    def touch_items(self, ids: Iterable[str]) -> None:
        """The marks of these changed."""
        for index in map(self.index_of, ids):
            if index.isValid():
                self.dataChanged.emit(index, index)

    def parents(self) -> Iterator[int]:
        """Numbers of the rows that have rows under them."""
        return (number for number, entry in enumerate(self._entries) if entry.children)

    def branches(self) -> Iterator[tuple[str, QModelIndex]]:
        """Ids and indexes of the rows that have rows under them."""
        return ((self._entries[number].row.id, self._index(number)) for number in self.parents())

    def index_of(self, item_id: str) -> QModelIndex:
        """Where an item is; not valid if it has no row."""
        number = self._number.get(item_id)
        return self._index(number) if number is not None else QModelIndex()

    def selection_of(self, ids: Iterable[str]) -> QItemSelection:
        """The rows of these items, neighbours in one range."""
        numbers = [n for n in (self._number.get(i) for i in ids) if n is not None]
        numbers.sort(key=lambda n: (self._entries[n].parent, self._entries[n].at))
        found = QItemSelection()
        first = numbers[0] if numbers else 0
        for number, following in pairwise([*numbers, -1]):
            here = self._entries[number]
            there = self._entries[following] if following >= 0 else None
            if there is None or there.parent != here.parent or there.at != here.at + 1:
                found.append(QItemSelectionRange(self._index(first), self._index(number)))
                first = following
        return found

    def _index(self, number: int) -> QModelIndex:
        return self.createIndex(self._entries[number].at, 0, number)

    # ---- what a view asks

    def index(self, row: int, column: int, parent: Index = _NONE) -> QModelIndex:
        rows = self._entries[parent.internalId()].children if parent.isValid() else self._top
        return self.createIndex(row, 0, rows[row]) if 0 <= row < len(rows) and column == 0 else QModelIndex()

    def parent(self, index: Index = _NONE) -> QModelIndex:  # type: ignore[override]
        if not index.isValid():
            return QModelIndex()
        number = self._entries[index.internalId()].parent
        return self._index(number) if number >= 0 else QModelIndex()

    def rowCount(self, parent: Index = _NONE) -> int:
        return len(self._entries[parent.internalId()].children if parent.isValid() else self._top)

    def hasChildren(self, parent: Index = _NONE) -> bool:
        return bool(self._entries[parent.internalId()].children if parent.isValid() else self._top)

    def columnCount(self, _parent: Index = _NONE) -> int:
        return 1

    def flags(self, _index: Index) -> Qt.ItemFlag:
        return _FLAGS

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        row = self._entries[index.internalId()].row
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return row.name
            case Qt.ItemDataRole.AccessibleTextRole:
                return _words(row, self._marks(row.id))
            case _ if role == ROW_ROLE:
                return row
            case _ if role == STATUS_ROLE:
                return self._marks(row.id).status
            case _ if role == SEVERITY_ROLE:
                return self._marks(row.id).severity
            case _ if role == BREAKPOINT_ROLE:
                return self._marks(row.id).breakpoint
        return None


def _words(row: Row, marks: Marks) -> str:
    """What a screen reader says: "Agent Writer, output, 1 in, 2 out, done, error: no model, breakpoint"."""
    kind = kind_name(row.kind) if row.ends is not None else ""
    said = row.name if row.name.casefold().startswith(kind.casefold()) else f"{kind} {row.name}"
    words = [row.mark, said, row.detail, tr("start") if row.start else "", tr("output") if row.output else ""]
    if row.ends is not None:
        words.append(tr("{ins} in, {outs} out").format(ins=row.ends[0], outs=row.ends[1]))
    words += [marks.status, f"{marks.severity}: {marks.problem}" if marks.severity else ""]
    words.append(tr("breakpoint") if marks.breakpoint else "")
    return ", ".join(w for w in words if w and w != "idle")
