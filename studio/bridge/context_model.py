"""Context records and findings of the run that is shown, made from its events a little at a time."""

from __future__ import annotations

import time
from collections.abc import Iterator

from PySide6.QtCore import QObject, QTimer, Signal

from studio.bridge.run_views import RunUpdate
from studio.bridge.view_state import ViewState
from studio.bridge.workspace import Workspace
from studio.debugger.context.inspection import Inspection
from studio.debugger.context.items import Finding
from studio.debugger.states import ENDED, HALTED, RunState

_BUDGET = 0.005
"""Seconds of one piece of work."""
_DELAY = 120
"""Milliseconds between the looks at a run that goes on."""
_LOOKED_AT = ENDED | HALTED | {RunState.IDLE}
MUTED = "muted_context_rules"


class ContextModel(QObject):
    """Follows a run while somebody looks (``wanted``), else only where it halts."""

    changed = Signal()
    """Records or findings are others."""

    def __init__(self, workspace: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self.wanted = False
        self.findings: list[Finding] = []
        """What the rules found, without what is muted."""
        self.muted: set[tuple[str, str]] = {(rule, node) for rule, node in self._view_state().get(MUTED, [])}
        self._begin()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._work)
        workspace.run.updated.connect(self._on_run_updated)
        workspace.run.state_changed.connect(self._on_run_state_changed)

    def close(self) -> None:
        """Stops following."""
        self._timer.stop()
        self._workspace.run.updated.disconnect(self._on_run_updated)
        self._workspace.run.state_changed.disconnect(self._on_run_state_changed)

    def look(self) -> None:
        """Takes what is new, soon."""
        if not self._timer.isActive():
            self._timer.start(0)

    def mute(self, rule: str, node: str) -> None:
        """The rule says nothing about this node any more."""
        self._set_muted(self.muted | {(rule, node)})

    def unmute_all(self) -> None:
        """All rules speak again."""
        self._set_muted(set())

    @property
    def partial(self) -> int:
        """How many of the oldest events are no longer kept: records of that time are missing."""
        return self._missing

    def _set_muted(self, muted: set[tuple[str, str]]) -> None:
        self.muted = muted
        self._view_state().set(MUTED, sorted(list(one) for one in muted))
        self._seen_findings = -1
        self.look()

    def _view_state(self) -> ViewState:
        return ViewState(self._workspace.document.workflow.id)

    def _begin(self) -> None:
        self.inspection = Inspection(self._workspace.document.workflow)
        self.findings = []
        self._fed = 0
        self._missing = 0
        self._seen_findings = -1
        self._steps: Iterator[Finding | None] | None = None
        self._found: list[Finding] = []

    def _work(self) -> None:
        """One piece: events first, then the rules."""
        until = time.perf_counter() + _BUDGET
        if not self._feed(until):
            self._timer.start(0)
            return
        rules = self._workspace.run.state in _LOOKED_AT and self._seen_findings != self._fed
        if rules and not self._apply_rules(until):
            self._timer.start(0)
            return
        self.changed.emit()

    def _feed(self, until: float) -> bool:
        """Takes events while there is time; whether all are taken."""
        run = self._workspace.run
        if self._fed < run.events_gone:
            self._missing, self._fed = run.events_gone, run.events_gone
        if self._fed < run.events_gone + len(run.events):
            self._steps = None
        while self._fed - run.events_gone < len(run.events):
            self.inspection.fold(run.events[self._fed - run.events_gone])
            self._fed += 1
            if self._fed % 8 == 0 and time.perf_counter() > until:
                return False
        return True

    def _apply_rules(self, until: float) -> bool:
        if self._steps is None:
            self._steps, self._found = self.inspection.look(), []
        for found in self._steps:
            if found is not None and (found.rule, found.node) not in self.muted:
                self._found.append(found)
            if time.perf_counter() > until:
                return False
        self.findings, self._steps, self._seen_findings = self._found, None, self._fed
        return True

    def _on_run_updated(self, update: RunUpdate) -> None:
        if update.everything:
            self._begin()
            self.changed.emit()
            self.look()
        elif self.wanted and update.events and not self._timer.isActive():
            self._timer.start(_DELAY)

    def _on_run_state_changed(self) -> None:
        if self._workspace.run.state in _LOOKED_AT:
            self.look()
