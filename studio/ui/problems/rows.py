"""Rows of the problems table, as a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QObject, Qt

from studio.document.model import FanOutEdge, SwitchEdge, Workflow
from studio.document.problems import Problem
from studio.ui.text import tip, tr
from studio.ui.widgets.table_rows import Index, TableRows

COLUMNS = ("", "Problem", "Where", "Fix")
ICONS = {"error": ("circle-x", "fail_t"), "warning": ("triangle-alert", "wait_t"), "info": ("info", "run_t")}
_WORDS = {"error": "Error", "warning": "Warning", "info": "Hint"}


class ProblemRows(TableRows):
    """Four columns: severity, message, place, fix. The problem itself is the ``UserRole``."""

    titles = COLUMNS

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._problems: tuple[Problem, ...] = ()
        self._workflow: Workflow | None = None
        self._places: dict[int, str] = {}
        """Names of the places of rows that were seen."""

    def show(self, problems: Sequence[Problem], workflow: Workflow | None) -> None:
        """Replaces the rows."""
        self.beginResetModel()
        self._problems = tuple(problems)
        self._workflow, self._places = workflow, {}
        self.endResetModel()

    def problem(self, row: int) -> Problem | None:
        """The problem of a row."""
        return self._problems[row] if 0 <= row < len(self._problems) else None

    def count(self) -> int:
        return len(self._problems)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        problem = self.problem(index.row())
        if problem is None:
            return None
        if role == Qt.ItemDataRole.UserRole:
            return problem
        fix = problem.fix.text if problem.fix else ""
        where = self._where(index.row()) if index.column() == 2 else ""
        texts = ("", problem.message, where, fix)
        if role == Qt.ItemDataRole.DisplayRole:
            return texts[index.column()]
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(texts[index.column()] or tr(_WORDS[problem.severity]))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return tr(_WORDS[problem.severity]) if index.column() == 0 else texts[index.column()]
        return None

    def _where(self, row: int) -> str:
        if row not in self._places and self._workflow is not None:
            self._places[row] = place_name(self._workflow, self._problems[row])
        return self._places.get(row, "")


def place_name(workflow: Workflow, problem: Problem) -> str:
    """What a person calls the place of a problem: "Writer · instructions", "Planner → Writer"."""
    name = _item_name(workflow, problem.place)
    field = problem.field.replace("_", " ")
    return f"{name} · {field}" if name and field else name or field


def _item_name(workflow: Workflow, place: str) -> str:
    if not place:
        return tr("Workflow")
    node = workflow.node(place)
    if node is not None:
        return node.name
    for edge in workflow.edges:
        if edge.id == place:
            if isinstance(edge, SwitchEdge | FanOutEdge):
                return edge.name
            source = _node_name(workflow, getattr(edge, "source", None))
            target = _node_name(workflow, getattr(edge, "target", None))
            return f"{source} → {target}" if source else target
        if isinstance(edge, SwitchEdge):
            for number, case in enumerate(edge.cases, start=1):
                if case.id == place:
                    return tr("{switch} · case {number}").format(switch=edge.name, number=number)
    return next((g.name for g in workflow.groups if g.id == place), "")


def _node_name(workflow: Workflow, node_id: str | None) -> str:
    node = workflow.node(node_id) if node_id else None
    return node.name if node is not None else ""
