"""The octagon of a breakpoint, by what it does."""

from __future__ import annotations

from collections.abc import Iterable

from studio.debugger.breakpoints import BUDGETS, Breakpoint
from studio.ui.paint.marks import OctagonVariant

_AT_NODES = ("node", "model", "request", "error")


def look_of(breakpoint: Breakpoint) -> OctagonVariant:
    """How an enabled breakpoint looks."""
    if breakpoint.log:
        return "log"
    if breakpoint.kind in BUDGETS or breakpoint.kind == "repeats":
        return "budget"
    if breakpoint.kind == "state":
        return "state"
    if breakpoint.kind in ("edge", "request"):
        return "message"
    return "condition" if breakpoint.condition is not None or breakpoint.from_hit > 1 else "on"


def look_at_node(breakpoints: Iterable[Breakpoint], node: str) -> OctagonVariant | None:
    """The mark of a node: of its first enabled breakpoint, else that of a disabled one; None without any."""
    there = [b for b in breakpoints if b.place == node and b.kind in _AT_NODES]
    enabled = next((b for b in there if b.enabled), None)
    return look_of(enabled) if enabled is not None else "off" if there else None
