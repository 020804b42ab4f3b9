"""Tokens, cost and time of the run that is shown, as chips."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QHBoxLayout, QWidget

from studio.bridge.workspace import Workspace
from studio.debugger.states import RunState
from studio.ui.paint.numbers import seconds_text
from studio.ui.text import tip
from studio.ui.theme import Theme
from studio.ui.widgets.costs import cost_details, cost_words
from studio.ui.widgets.labels import Chip
from studio.ui.widgets.sources import usage_words

_TICK = 250
"""Milliseconds between two times that are shown while a run works."""
_WORKS = frozenset({RunState.RUNNING, RunState.STEPPING, RunState.PAUSING, RunState.STOPPING})


class RunTotals(QWidget):
    """Nothing before the first run."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workspace: Workspace | None = None
        self._tokens = Chip(theme, "", "own:tokens")
        self._cost = Chip(theme, "", "own:cost")
        self._cost.setObjectName("run_cost")
        self._time = Chip(theme, "", "clock")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(self._tokens)
        row.addWidget(self._cost)
        row.addWidget(self._time)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_TICK)
        self._timer.timeout.connect(self._show)
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
        run = self._workspace.run if self._workspace is not None else None
        tokens = usage_words(run.usage) if run is not None else ""
        seconds = run.seconds if run is not None else 0.0
        cost = cost_words(run.usage) if run is not None else ""
        self._tokens.setVisible(bool(tokens))
        self._cost.setVisible(bool(cost))
        self._cost.setToolTip(tip(cost_details(run.usage)) if run is not None else "")
        self._time.setVisible(seconds > 0)
        for chip, text in ((self._tokens, tokens), (self._cost, cost), (self._time, seconds_text(seconds))):
            if chip.text != text:
                chip.set_text(text)
        if run is not None and run.state in _WORKS:  # a node may say nothing for long
            self._timer.start()
        else:
            self._timer.stop()
