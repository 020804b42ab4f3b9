"""Breakpoints, pins, muted nodes and mocked tools of one workflow: kept in its view state, shared with what runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from studio.bridge.view_state import ViewState
from studio.debugger.breakpoints import Breakpoint, Breakpoints, Kind, from_json, to_json
from studio.debugger.overrides import Mock, Overrides, Pin

BREAKPOINTS = "breakpoints"
OVERRIDES = "run_setup"


class RunSetup(QObject):
    """Every change is kept at once and holds for a run in progress. Nothing of it is in the document."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.breakpoints = Breakpoints()
        self.overrides = Overrides()
        self._kept: ViewState | None = None

    def open(self, workflow_id: str) -> None:
        """Takes what was kept for a workflow."""
        self._kept = ViewState(workflow_id)
        kept = self._kept.get(BREAKPOINTS, [])
        found = [from_json(item) for item in (kept if isinstance(kept, list) else [])]
        self.breakpoints.replace(b for b in found if b is not None)
        self.overrides.take(self._kept.get(OVERRIDES))
        self.changed.emit()

    # --------------------------------------------------------------------------------------------- breakpoints

    def toggle(self, kind: Kind, place: str) -> None:
        """Sets a plain breakpoint, or takes away those that are there."""
        self._change(lambda: self.breakpoints.toggle(kind, place))

    def put(self, breakpoint: Breakpoint) -> None:
        """Adds a breakpoint, or changes the one with its id."""
        self._change(lambda: self.breakpoints.put(breakpoint))

    def remove(self, id: str) -> None:
        """Takes a breakpoint away."""
        self._change(lambda: self.breakpoints.remove(id))

    def remove_all(self) -> None:
        """Takes all breakpoints away."""
        self._change(lambda: self.breakpoints.replace(()))

    def switch(self, id: str, *, on: bool) -> None:
        """Enables or disables a breakpoint."""
        self._change(lambda: self.breakpoints.switch(id, on=on))

    def switch_all(self, *, on: bool) -> None:
        """Enables or disables all."""

        def switch() -> None:
            for breakpoint in self.breakpoints:
                self.breakpoints.put(replace(breakpoint, enabled=on))

        self._change(switch)

    # ------------------------------------------------------------------------------------- pins, mutes and mocks

    def pin(self, path: str, value: Any, origin: str = "") -> None:
        """The node gives this instead of being called."""
        self._change(lambda: self.overrides.pins.__setitem__(path, Pin(value, origin)))

    def unpin(self, path: str) -> None:
        """The node is called again."""
        self._change(lambda: self.overrides.pins.pop(path, None))

    def mute(self, path: str, *, on: bool) -> None:
        """The node passes its input on instead of being called."""
        muted = self.overrides.muted
        self._change(lambda: muted.add(path) if on else muted.discard(path))

    def mock(self, tool: str, mock: Mock | None) -> None:
        """The tool gives this instead of being run; None: it is run again."""
        mocks = self.overrides.mocks
        self._change(lambda: mocks.pop(tool, None) if mock is None else mocks.__setitem__(tool, mock))

    def _change(self, change: Callable[[], object]) -> None:
        change()
        if self._kept is not None:
            self._kept.set(BREAKPOINTS, [to_json(b) for b in self.breakpoints])
            self._kept.set(OVERRIDES, self.overrides.to_json())
        self.changed.emit()
