"""The files of an exported project as a tree, and the list of where the drawing is in the code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from studio.ui.exporting.code_view import GLYPHS
from studio.ui.exporting.places import CodePlace
from studio.ui.paint import KIND_NAMES, draw_kind
from studio.ui.text import tip, tr
from studio.ui.theme import Theme

_PATH = Qt.ItemDataRole.UserRole
_COUNTS = Qt.ItemDataRole.UserRole + 1
_Index = QModelIndex | QPersistentModelIndex


class FileTree(QTreeView):
    """Folders first, all open."""

    file_chosen = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._model = QStandardItemModel(self)
        self._paths: tuple[str, ...] = ()
        self.setObjectName("export_files")
        self.setAccessibleName(tr("Files"))
        self.setModel(self._model)
        self.setItemDelegate(_Counts(theme, self))
        self.setHeaderHidden(True)
        self.setIndentation(16)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setUniformRowHeights(True)
        self.selectionModel().currentChanged.connect(self._on_current_changed)

    def show_files(self, paths: Sequence[str], chosen: str | None) -> None:
        """Shows paths and chooses one."""
        if tuple(paths) != self._paths:
            self._paths = tuple(paths)
            self._model.clear()
            folders: dict[str, QStandardItem] = {"": self._model.invisibleRootItem()}
            for path in sorted(paths, key=lambda p: (_folders_first(p), p)):
                folder, _, name = path.rpartition("/")
                item = QStandardItem(self._theme.icon("file", "muted"), name)
                item.setData(path, _PATH)
                self._folder(folders, folder).appendRow(item)
            self.expandAll()
        if chosen is not None:
            self._choose(chosen)

    def mark(self, changed: Mapping[str, str], counts: Mapping[str, tuple[int, int]]) -> None:
        """Files that are told apart, with the reason and how many lines come and go."""
        for path in self._paths:
            index = self._index(path)
            item = self._model.itemFromIndex(index) if index is not None else None
            if item is None:
                continue
            name = path.rpartition("/")[2]
            why = changed.get(path, "")
            item.setData(counts.get(path, (0, 0)) if why else None, _COUNTS)
            item.setToolTip(tip(why))
            item.setAccessibleText(f"{name}, {why}" if why else name)

    def _folder(self, folders: dict[str, QStandardItem], path: str) -> QStandardItem:
        if path not in folders:
            above, _, name = path.rpartition("/")
            item = QStandardItem(self._theme.icon("folder", "muted"), name)
            item.setSelectable(False)
            self._folder(folders, above).appendRow(item)
            folders[path] = item
        return folders[path]

    def _choose(self, path: str) -> None:
        index = self._index(path)
        if index is not None:
            self.setCurrentIndex(index)

    def _index(self, path: str) -> QModelIndex | None:
        found = self._model.match(self._model.index(0, 0), _PATH, path, 1,
                                  Qt.MatchFlag.MatchExactly | Qt.MatchFlag.MatchRecursive)  # fmt: skip
        return found[0] if found else None

    def _on_current_changed(self, current: QModelIndex, _before: QModelIndex) -> None:
        path = current.data(_PATH)
        if isinstance(path, str):
            self.file_chosen.emit(path)


class _Counts(QStyledItemDelegate):
    """Behind the name: how many lines the next export adds and takes away."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        super().paint(painter, option, index)
        counts = index.data(_COUNTS)
        if counts is None:
            return
        rect: QRect = option.rect
        metrics = QFontMetrics(self._theme.font("small"))
        baseline = rect.top() + (rect.height() + metrics.ascent() - metrics.descent()) // 2
        right = rect.right() - 8
        painter.setFont(self._theme.font("small"))
        for number, sign, token in ((counts[1], "\u2212", "fail_t"), (counts[0], "+", "done_t")):
            if number:
                text = f"{sign}{number}"
                right -= metrics.horizontalAdvance(text)
                painter.setPen(self._theme.color(token))
                painter.drawText(QPoint(right, baseline), text)
                right -= 5


class PlaceList(QListView):
    """Nodes, bars and switches with their lines."""

    place_chosen = Signal(object)
    """CodePlace."""
    opened = Signal(str)
    """Item id, on a double-click: show it on the canvas."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = QStandardItemModel(self)
        self.setObjectName("export_places")
        self.setAccessibleName(tr("Where is it in the code?"))
        self.setModel(self._model)
        self.setItemDelegate(_Delegate(theme, self))
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.clicked.connect(self._on_clicked)
        self.activated.connect(self._on_clicked)
        self.doubleClicked.connect(self._on_double_clicked)

    def show_places(self, places: Sequence[CodePlace]) -> None:
        """Replaces the list."""
        self._model.clear()
        for place in places:
            item = QStandardItem(place.name)
            item.setData(place, _PATH)
            item.setToolTip(KIND_NAMES.get(place.kind, ""))
            self._model.appendRow(item)

    def choose(self, item: str) -> None:
        """Marks the row of an item."""
        for row in range(self._model.rowCount()):
            place = self._model.index(row, 0).data(_PATH)
            if isinstance(place, CodePlace) and place.item == item:
                self.setCurrentIndex(self._model.index(row, 0))

    def _on_clicked(self, index: QModelIndex) -> None:
        place = index.data(_PATH)
        if isinstance(place, CodePlace):
            self.place_chosen.emit(place)

    def _on_double_clicked(self, index: QModelIndex) -> None:
        place = index.data(_PATH)
        if isinstance(place, CodePlace):
            self.opened.emit(place.item)


class _Delegate(QStyledItemDelegate):
    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        return QSize(100, self._theme.length(26))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        place = index.data(_PATH)
        if not isinstance(place, CodePlace):
            return
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, self._theme.color("sel"))
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, self._theme.color("hover"))
        tile = QRectF(rect.left() + 12, rect.center().y() - 8, 18, 18)
        icon, token = GLYPHS.get(place.kind, ("own:layout", "muted"))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if place.kind in ("join", "fan_out", "switch"):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color("sunken"))
            painter.drawRoundedRect(tile, 4, 4)
            ratio = painter.device().devicePixelRatio()
            corner = QPoint(round(tile.left()) + 3, round(tile.top()) + 3)
            painter.drawPixmap(corner, self._theme.pixmap(icon, 12, token, ratio))
        else:
            draw_kind(painter, self._theme, tile, place.kind)
        lines = ", ".join(str(line) for line in place.lines)
        small = QFontMetrics(self._theme.font("small"))
        metrics = QFontMetrics(self._theme.font("body"))
        baseline = rect.top() + (rect.height() + metrics.ascent() - metrics.descent()) // 2
        painter.setFont(self._theme.font("small"))
        painter.setPen(self._theme.color("muted"))
        side = small.horizontalAdvance(lines)
        painter.drawText(QPoint(rect.right() - 12 - side, baseline), lines)
        painter.setFont(self._theme.font("body"))
        painter.setPen(self._theme.color("text"))
        room = rect.width() - 60 - side
        painter.drawText(QPoint(rect.left() + 38, baseline),
                         metrics.elidedText(place.name, Qt.TextElideMode.ElideRight, room))  # fmt: skip


def _folders_first(path: str) -> int:
    return 0 if "/" in path else 1
