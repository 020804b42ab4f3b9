"""Numbers of a run as the design writes them: one function for one fact."""

from __future__ import annotations

from studio.agents.messages import Usage
from studio.bridge.run_views import InvocationView
from studio.ui.text import tr


def grouped(number: float) -> str:
    """Thin space between thousands."""
    return f"{number:,.0f}".replace(",", "\u2009")


def tokens(number: int) -> str:
    """``k`` from 1 000 tokens up, one decimal."""
    return grouped(number) if number < 1000 else f"{number / 1000:.1f} k"


def seconds(value: float) -> str:
    """One decimal, minutes from 100 s up."""
    if value < 100:
        return f"{value:.1f} s"
    return f"{int(value // 60)} min {int(value % 60)} s"


def used(usage: Usage | None) -> int:
    """Input and output tokens together."""
    return (usage.input or 0) + (usage.output or 0) if usage is not None else 0


def lane_meta(view: InvocationView, now: float) -> str:
    """ "612 tok · 76/s · 8.1 s" for the header of a lane; ``now`` in seconds since the run started."""
    spent = max(0.0, (view.ended if view.ended is not None else now) - view.started)
    parts = []
    if view.tokens:
        parts.append(tr("{count} tok").format(count=grouped(view.tokens)))
        if spent > 0.2:
            parts.append(f"{view.tokens / spent:.0f}/s")
    parts.append(seconds(spent))
    return " · ".join(parts)
