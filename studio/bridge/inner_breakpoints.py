"""Breakpoints in an embedded workflow: one list for its own tab and for the runs of the workflow around it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from PySide6.QtCore import QObject

from studio.bridge.run_setup import RunSetup
from studio.debugger.breakpoints import Breakpoint

_AT_ITEMS = ("node", "edge", "model", "request", "error")


class InnerBreakpoints(QObject):
    """Keeps both lists the same: ``x`` inside is ``node/x`` around. What was kept for the outer one counts at first.

    Breakpoints of other kinds, and those at every item, stay where they were made.
    """

    def __init__(self, outer: RunSetup, inner: RunSetup, node_id: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._outer, self._inner, self._prefix = outer, inner, f"{node_id}/"
        self._busy = False
        outer.changed.connect(self._on_outer_changed)
        inner.opened.connect(self._on_outer_changed)
        inner.changed.connect(self._on_inner_changed)
        self._on_outer_changed()

    def _on_outer_changed(self) -> None:
        cut = len(self._prefix)
        wanted = {b.id: replace(b, place=b.place[cut:]) for b in self._outer.breakpoints if self._is_within(b)}
        self._make_same(self._inner, wanted, _at_item)

    def _on_inner_changed(self) -> None:
        wanted = {
            b.id: replace(b, place=f"{self._prefix}{b.place}") for b in self._inner.breakpoints if _at_item(b)
        }  # fmt: skip
        self._make_same(self._outer, wanted, self._is_within)

    def _is_within(self, breakpoint: Breakpoint) -> bool:
        return _at_item(breakpoint) and breakpoint.place.startswith(self._prefix)

    def _make_same(self, setup: RunSetup, wanted: Mapping[str, Breakpoint], ours: Callable[[Breakpoint], bool]) -> None:
        there = {b.id: b for b in setup.breakpoints if ours(b)}
        if self._busy or there == wanted:
            return
        self._busy = True
        try:
            setup.take_over([id for id in there if id not in wanted], wanted.values())
        finally:
            self._busy = False


def _at_item(breakpoint: Breakpoint) -> bool:
    return breakpoint.kind in _AT_ITEMS and bool(breakpoint.place)
