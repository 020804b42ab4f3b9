"""The events panel: everything the run told, in order."""

from __future__ import annotations

from bisect import bisect_left

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QSize, Qt, QTimer
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QHBoxLayout,
    QListView,
    QStackedWidget,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from studio.bridge.run_views import RunUpdate
from studio.bridge.workspace import Workspace
from studio.document.lines import name_of
from studio.engine.events import TokensArrived
from studio.engine.values import FROM_OUTSIDE
from studio.ui.run.event_words import detail_of, kind_of, node_of
from studio.ui.run.message_model import Index
from studio.ui.text import tip, tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import CheckBox
from studio.ui.widgets.empty import EmptyText
from studio.ui.widgets.labels import Label
from studio.ui.widgets.panel import Panel
from studio.ui.widgets.search_field import SearchField

_DELAY = 50
_BAD = ("Run failed", "Node failed", "Checkpoint failed", "State conflict", "Run warned", "Model call retried")


class EventModel(QAbstractListModel):
    """Numbers of the events that pass the filter; new events are tested once, when they come, and rows go with the
    oldest events that the run model forgets."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._workspace: Workspace | None = None
        self._rows: list[int] = []
        self._seen = 0
        self._needle = ""
        self._tokens = False

    def set_workspace(self, workspace: Workspace | None) -> None:
        """Shows the events of another workspace."""
        self._workspace = workspace
        self.start_again()

    def set_filter(self, needle: str, tokens: bool) -> None:
        """Shows events that contain ``needle``; token events only with ``tokens``."""
        self._needle, self._tokens = needle.casefold().strip(), tokens
        self.start_again()

    def start_again(self) -> None:
        """Tests every event."""
        self.beginResetModel()
        self._rows, self._seen = [], 0
        self._rows = self._passing()
        self.endResetModel()

    def take_new(self) -> None:
        """Takes the events that came since."""
        run = self._workspace.run if self._workspace is not None else None
        if run is not None and run.events_gone + len(run.events) < self._seen:
            self.start_again()
            return
        if run is not None and (old := bisect_left(self._rows, run.events_gone)):
            self.beginRemoveRows(QModelIndex(), 0, old - 1)
            del self._rows[:old]
            self.endRemoveRows()
        fresh = self._passing()
        if fresh:
            first = len(self._rows)
            self.beginInsertRows(QModelIndex(), first, first + len(fresh) - 1)
            self._rows += fresh
            self.endInsertRows()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if self._workspace is None or not 0 <= index.row() < len(self._rows):
            return None
        run = self._workspace.run
        at = self._rows[index.row()] - run.events_gone
        if at < 0:
            return None
        event = run.events[at]
        if role == Qt.ItemDataRole.UserRole:
            return event
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return self._line(event) if role == Qt.ItemDataRole.DisplayRole else tip(self._line(event))
        return None

    def name(self, node: str) -> str:
        """What people call a node."""
        if self._workspace is None or not node:
            return ""
        return name_of(self._workspace.document.workflow, node.removeprefix(FROM_OUTSIDE))

    def _passing(self) -> list[int]:
        if self._workspace is None:
            return []
        run = self._workspace.run
        events, gone = run.events, run.events_gone
        found = [i + gone for i in range(max(0, self._seen - gone), len(events)) if self._passes(events[i])]
        self._seen = gone + len(events)
        return found

    def _passes(self, event: object) -> bool:
        if isinstance(event, TokensArrived) and not self._tokens:
            return False
        return not self._needle or self._needle in self._line(event).casefold()

    def _line(self, event: object) -> str:
        return (
            f"{getattr(event, 't', 0.0):.3f} {kind_of(event)} {self.name(node_of(event))} {detail_of(event, self.name)}"
        )


class EventDelegate(QStyledItemDelegate):
    """Time, what, who, details."""

    def __init__(self, theme: Theme, model: EventModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme, self._model = theme, model

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(200, self._theme.length(24))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, rect = self._theme, option.rect
        event = index.data(Qt.ItemDataRole.UserRole)
        if event is None:
            return
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, theme.color("sel"))
        kind = kind_of(event)
        columns = (
            (12, 64, f"{getattr(event, 't', 0.0):.3f} s", "code-small", "muted"),
            (86, 150, kind, "body", "fail_t" if kind in _BAD else "text"),
            (244, 140, self._model.name(node_of(event)), "body", "text2"),
            (392, rect.width() - 404, " ".join(detail_of(event, self._model.name)[:500].split()), "body", "muted"),
        )
        for x, width, text, font, token in columns:
            painter.setFont(theme.font(font))
            painter.setPen(theme.color(token))
            metrics = painter.fontMetrics()
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(20, width))
            painter.drawText(
                rect.left() + x, rect.top() + (rect.height() + metrics.ascent() - metrics.descent()) // 2, shown
            )
        painter.restore()


class EventsPanel(Panel):
    """Follows the end until one scrolls up."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        bar = QHBoxLayout()
        bar.setContentsMargins(11, 5, 11, 5)
        bar.setSpacing(10)
        self.search = SearchField(theme, tr("Filter events"))
        self.search.setFixedWidth(260)
        self.search.textChanged.connect(self._on_filter_changed)
        bar.addWidget(self.search)
        self.tokens = CheckBox(theme, tr("Token events"))
        self.tokens.toggled.connect(self._on_filter_changed)
        bar.addWidget(self.tokens)
        bar.addStretch(1)
        self._count = Label(theme, "", "small", "muted")
        bar.addWidget(self._count)
        column.addLayout(bar)
        self.model = EventModel(self)
        self.list = QListView()
        self.list.setAccessibleName(tr("Events"))
        self.list.setUniformItemSizes(True)
        self.list.setModel(self.model)
        self.list.setItemDelegate(EventDelegate(theme, self.model, self.list))
        self._stack = QStackedWidget()
        self._stack.addWidget(EmptyText(theme, tr("No events yet. Everything a run tells is listed here.")))
        self._stack.addWidget(self.list)
        self._stack.addWidget(EmptyText(theme, tr("No event has this text.")))
        column.addWidget(self._stack, 1)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_DELAY)
        self._timer.timeout.connect(self.refresh)

    def enter(self, workspace: Workspace) -> None:
        workspace.run.updated.connect(self._on_run_updated)

    def leave(self, workspace: Workspace) -> None:
        workspace.run.updated.disconnect(self._on_run_updated)
        self._timer.stop()

    def show_workspace(self) -> None:
        self.model.set_workspace(self.workspace)
        self._choose_page()

    def refresh(self) -> None:
        """Takes the new events; nothing while the panel cannot be seen."""
        if not self.isVisible():
            return
        bar = self.list.verticalScrollBar()
        at_end = bar.value() >= bar.maximum() - 2
        self.model.take_new()
        self._choose_page()
        if at_end:
            self.list.scrollToBottom()

    def showEvent(self, event: object) -> None:
        super().showEvent(event)  # type: ignore[arg-type]
        self.refresh()

    def _choose_page(self) -> None:
        run = self.workspace.run if self.workspace is not None else None
        events = run.events_gone + len(run.events) if run is not None else 0
        shown = self.model.rowCount()
        self._stack.setCurrentIndex(0 if not events else 1 if shown else 2)
        self._count.setText(tr("{shown} of {total}").format(shown=shown, total=events) if events else "")

    def _on_filter_changed(self, _value: object) -> None:
        self.model.set_filter(self.search.text(), self.tokens.isChecked())
        self._choose_page()

    def _on_run_updated(self, update: RunUpdate) -> None:
        if update.everything:
            self.model.start_again()
            self._choose_page()
        elif update.events and not self._timer.isActive():
            self._timer.start()
