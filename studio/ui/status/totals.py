"""Tokens and time of the run that is shown, as chips."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QWidget

from studio.bridge.run_model import RunModel
from studio.bridge.workspace import Workspace
from studio.ui.paint.numbers import tokens_text
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.labels import Chip


class RunTotals(QWidget):
    """Nothing before the first run."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workspace: Workspace | None = None
        self._tokens = Chip(theme, "", "own:tokens")
        self._time = Chip(theme, "", "clock")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(self._tokens)
        row.addWidget(self._time)
        self._show()

    def set_workspace(self, workspace: Workspace | None) -> None:
        """Shows the run of another workflow."""
        if self._workspace is not None:
            self._workspace.run.updated.disconnect(self._on_run_updated)
        self._workspace = workspace
        if workspace is not None:
            workspace.run.updated.connect(self._on_run_updated)
        self._show()

    def _on_run_updated(self, _update: object) -> None:
        self._show()

    def _show(self) -> None:
        tokens, seconds = totals(self._workspace.run) if self._workspace is not None else (0, 0.0)
        self._tokens.setVisible(tokens > 0)
        self._time.setVisible(seconds > 0)
        for chip, text in (
            (self._tokens, tr("{n} tokens").format(n=tokens_text(tokens))),
            (self._time, f"{seconds:.1f} s"),
        ):
            if chip.text != text:
                chip.set_text(text)


def totals(run: RunModel) -> tuple[int, float]:
    """Tokens of all model calls, seconds of all finished supersteps of the shown branch."""
    usages = [view.usage for view in run.nodes.values() if view.usage is not None]
    tokens = sum((usage.input or 0) + (usage.output or 0) for usage in usages)
    return tokens, sum(step.ended - step.started for step in run.supersteps if step.ended is not None)
