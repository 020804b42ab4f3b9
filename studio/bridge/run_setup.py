"""Breakpoints, pins, muted nodes, mocked tools and watches of one workflow: kept in its view state.

Several tabs and windows may show one workflow (its file in another window, the drawing of an earlier run): each writes
only what it changed, and the tabs of one window follow at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from PySide6.QtCore import QObject, Signal

from studio.bridge.view_state import ViewState
from studio.debugger.breakpoints import Breakpoint, Breakpoints, Kind, from_json, to_json
from studio.debugger.overrides import Mock, Overrides, Pin
from studio.settings import keeping

BREAKPOINTS = "breakpoints"
OVERRIDES = "run_setup"
WATCHES = "watches"


class _News(QObject):
    """Where the tabs of one window hear of each other's breakpoints."""

    told = Signal(str, object)
    """The workflow's id, and the :class:`RunSetup` that changed them."""


@cache
def _news() -> _News:
    return _News()


class RunSetup(QObject):
    """Every change is kept at once and holds for a run in progress. Nothing of it is in the document."""

    changed = Signal()
    opened = Signal()
    """What was kept for a workflow is there; before :attr:`changed`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.breakpoints = Breakpoints()
        self.overrides = Overrides()
        self.watches: tuple[str, ...] = ()
        """Expressions, in the order in which they are shown."""
        self._kept: ViewState | None = None
        self._of = ""
        self._texts = True
        _news().told.connect(self._on_news_told)

    def open(self, workflow_id: str, *, texts: bool = True) -> None:
        """Takes what was kept for a workflow. ``texts`` off: what nodes and tools give instead is not kept on disk, and
        what is there of it goes; opened again for the same workflow, nothing is lost in memory."""
        again, self._of, self._texts = self._of == workflow_id, workflow_id, texts
        self._kept = ViewState(workflow_id)
        self.breakpoints.replace(_read(self._kept.get(BREAKPOINTS)).values())
        on_disk = self._kept.get(OVERRIDES)
        if not again:
            self.overrides.take(on_disk)
        if (on_disk or self.overrides) and on_disk != self._overrides_to_keep():
            self._kept.set(OVERRIDES, self._overrides_to_keep())
        watches = self._kept.get(WATCHES, [])
        self.watches = tuple(w for w in (watches if isinstance(watches, list) else []) if isinstance(w, str))
        self.opened.emit()
        self.changed.emit()

    def _overrides_to_keep(self) -> dict[str, Any]:
        whole = self.overrides.to_json()
        return whole if self._texts else {"muted": whole["muted"]}

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

    def take_over(self, gone: Iterable[str], there: Iterable[Breakpoint]) -> None:
        """Takes several away, and adds or changes others, as one change."""

        def take() -> None:
            for id in gone:
                self.breakpoints.remove(id)
            for breakpoint in there:
                self.breakpoints.put(breakpoint)

        self._change(take)

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

    # -------------------------------------------------------------------------------------------------- watches

    def watch(self, expression: str, *, instead_of: str = "") -> None:
        """Adds an expression, or puts it in the place of another one; "" takes that one away."""
        kept = [w for w in self.watches if w != expression or w == instead_of]
        if instead_of in kept:
            at = kept.index(instead_of)
            kept[at : at + 1] = [expression] if expression else []
        elif expression:
            kept.append(expression)
        self.watches = tuple(kept)
        if self._kept is not None:
            self._kept.set(WATCHES, list(self.watches))
        self.changed.emit()

    def _change(self, change: Callable[[], object]) -> None:
        before, had = {b.id: b for b in self.breakpoints}, self._overrides_to_keep()
        change()
        after = {b.id: b for b in self.breakpoints}
        if self._kept is not None and after != before:
            stored = self._kept.change(
                BREAKPOINTS, lambda kept: [to_json(b) for b in keeping.merged(before, after, _read(kept)).values()]
            )
            self._follow(_read(stored))
            _news().told.emit(self._of, self)
        if self._kept is not None and self._overrides_to_keep() != had:
            self._kept.set(OVERRIDES, self._overrides_to_keep())
        self.changed.emit()

    def _follow(self, stored: Mapping[str, Breakpoint]) -> bool:
        """Takes what is kept; what was counted of breakpoints that stay is kept. Whether something changed."""
        mine = {b.id: b for b in self.breakpoints}
        for id in mine.keys() - stored.keys():
            self.breakpoints.remove(id)
        for breakpoint in stored.values():
            self.breakpoints.put(breakpoint)
        return mine != stored

    def _on_news_told(self, workflow_id: str, origin: object) -> None:
        if origin is self or workflow_id != self._of or self._kept is None:
            return
        if self._follow(_read(self._kept.get(BREAKPOINTS))):
            self.changed.emit()


def _read(kept: Any) -> dict[str, Breakpoint]:
    found = [from_json(item) for item in (kept if isinstance(kept, list) else [])]
    return {b.id: b for b in found if b is not None}
