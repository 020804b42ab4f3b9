"""The messages of a run as a table; rows are appended, never rebuilt while a run goes on."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, QSortFilterProxyModel, Qt

from studio.bridge.run_views import MessageView
from studio.bridge.workspace import Workspace
from studio.document.lines import lines, name_of
from studio.document.model import Workflow
from studio.ui.text import tip, tr
from studio.ui.widgets.sources import source_name

Index = QModelIndex | QPersistentModelIndex
Status = Literal["queued", "delivered", "dropped"]
COLUMNS = ("superstep", "source", "target", "type", "text", "status")

STATUS_ROLE = Qt.ItemDataRole.UserRole + 1
"""Gives the :data:`Status`."""


def why(workspace: Workspace, view: MessageView) -> list[tuple[bool, str, str]]:
    """Per route: delivered, target, and the reason in words."""
    workflow = workspace.document.workflow
    reasons = {
        "condition": tr("the condition was false"),
        "type": tr("the type does not fit"),
        "target": tr("it is for {name}").format(name=name_of(workflow, view.target))
        if view.target
        else tr("it is for another node"),
        "selection": tr("the selection left it out"),
        "no_edge": tr("no edge leads on"),
        "buffered": tr("the join waits for the other sources"),
    }
    made = []
    held = _held(workspace, view)
    for edge, target, delivered, reason in view.routes:
        name = name_of(workflow, target) if target else ""
        way = _way(workflow, edge, target) if delivered else ""
        if target in held:
            made.append((True, name, tr("waits, as the run is held before it")))
        else:
            taken = tr("delivered over “{edge}”").format(edge=way) if way else tr("delivered")
            made.append((delivered, name, taken if delivered else reasons.get(reason, reason)))
    return made


def _way(workflow: Workflow, edge: str, target: str) -> str:
    """What is written on the line to a target: "Review: score ≥ 8"; "" where nothing is."""
    found = next((one for one in lines(workflow) if edge in (one.id, one.edge) and one.target == target), None)
    if found is None:
        return ""
    words = found.label or (tr("default") if found.kind == "default" else "")
    group = str(getattr(workflow.edge(found.edge), "name", "")) if found.edge != found.id else ""
    return ": ".join(part for part in (group, words) if part)


def _held(workspace: Workspace, view: MessageView) -> frozenset[str]:
    """The nodes before which the run is held with this message: it was sent there, and nobody has taken it."""
    run = workspace.run
    waits = any(queued.message == view.message for queued in run.queued)
    return frozenset(run.held_nodes) & {target for _, target, _, _ in view.routes} if waits else frozenset()


def status_of(workspace: Workspace, view: MessageView) -> Status:
    """How far a message has come; one that is held before every node it goes to still waits."""
    held = _held(workspace, view)
    taken = {target for _, target, delivered, _ in view.routes if delivered} - held
    return "queued" if held and not taken else view.status


class MessageModel(QAbstractTableModel):
    """Columns are :data:`COLUMNS`; ``UserRole`` gives the :class:`MessageView`."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._workspace: Workspace | None = None
        self._rows: list[MessageView] = []

    def set_workspace(self, workspace: Workspace | None) -> None:
        """Shows the messages of another workspace."""
        self.beginResetModel()
        self._workspace = workspace
        self._rows = list(workspace.run.messages) if workspace is not None else []
        self.endResetModel()

    def refresh(self, *, everything: bool) -> None:
        """Takes what is new."""
        messages = self._workspace.run.messages if self._workspace is not None else []
        known = len(self._rows)
        if everything or len(messages) < known or (known and messages[known - 1] is not self._rows[-1]):
            self.set_workspace(self._workspace)
            return
        if len(messages) > known:
            self.beginInsertRows(QModelIndex(), known, len(messages) - 1)
            self._rows += messages[known:]
            self.endInsertRows()
        if known:
            self.dataChanged.emit(self.index(0, 5), self.index(known - 1, 5))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation != Qt.Orientation.Horizontal or role != Qt.ItemDataRole.DisplayRole:
            return None
        return (tr("Superstep"), tr("From"), tr("To"), tr("Type"), tr("Text"), tr("State"))[section]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        view = self._rows[index.row()]
        if role == Qt.ItemDataRole.UserRole:
            return view
        if role == STATUS_ROLE:
            return self.status(view)
        if role == Qt.ItemDataRole.DisplayRole:
            return self.text(view, index.column())
        if role == Qt.ItemDataRole.ToolTipRole and index.column() == 4:
            return tip(view.text[:2000])
        if role == Qt.ItemDataRole.ToolTipRole and index.column() == 5 and self._workspace is not None:
            return tip("\n".join(f"{name}: {told}" if name else told for _, name, told in why(self._workspace, view)))
        return None

    def text(self, view: MessageView, column: int) -> str:
        """What a column says."""
        assert self._workspace is not None
        workflow = self._workspace.document.workflow
        match COLUMNS[column]:
            case "superstep":
                return str(view.superstep) if view.superstep else tr("input")
            case "source":
                return source_name(workflow, view.source, view.purpose)
            case "target":
                return self.targets(view)
            case "type":
                return view.type_name
            case "text":
                return " ".join(view.text[:400].split())
        words = {"queued": tr("queued"), "delivered": tr("delivered"), "dropped": tr("dropped")}
        return words[self.status(view)]

    def status(self, view: MessageView) -> Status:
        """How far a message has come."""
        assert self._workspace is not None
        return status_of(self._workspace, view)

    def targets(self, view: MessageView) -> str:
        """Where it went: the nodes that took it, else those it was for."""
        assert self._workspace is not None
        workflow = self._workspace.document.workflow
        taken = [name_of(workflow, target) for _, target, delivered, _ in view.routes if delivered]
        if taken:
            return ", ".join(dict.fromkeys(taken))
        tried = [name_of(workflow, target) for _, target, _, _ in view.routes if target]
        if tried:
            return ", ".join(dict.fromkeys(tried))
        return name_of(workflow, view.target) if view.target else "–"


class MessageFilter(QSortFilterProxyModel):
    """Rows whose source, target, type or whole text contains a text."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._needle = ""

    def set_needle(self, text: str) -> None:
        """Another text to look for."""
        self._needle = text.casefold().strip()
        self.invalidate()

    def filterAcceptsRow(self, row: int, parent: Index) -> bool:
        if not self._needle:
            return True
        model = self.sourceModel()
        assert isinstance(model, MessageModel)
        view: MessageView = model.data(model.index(row, 0), Qt.ItemDataRole.UserRole)  # type: ignore[assignment]
        words = (model.text(view, 1), model.text(view, 2), view.type_name, view.text)
        return any(self._needle in word.casefold() for word in words)
