"""Numbers of a run as the design writes them: one function for one fact."""

from __future__ import annotations

from studio.agents.messages import Usage
from studio.bridge.run_views import InvocationView
from studio.ui.paint.numbers import count_text, seconds_text
from studio.ui.text import tr
from studio.ui.widgets.costs import cost_words


def used(usage: Usage | None) -> int:
    """Input and output tokens together."""
    return (usage.input or 0) + (usage.output or 0) if usage is not None else 0


def lane_meta(view: InvocationView, now: float) -> str:
    """ "612 tok · 76/s · 8.1 s" for the header of a lane; ``now`` in seconds since the run started."""
    spent = max(0.0, (view.ended if view.ended is not None else now) - view.started)
    parts = []
    if view.tokens:
        parts.append(tr("{count} tok").format(count=count_text(view.tokens)))
        if spent > 0.2:
            parts.append(f"{view.tokens / spent:.0f}/s")
    if cost := cost_words(view.usage):
        parts.append(cost)
    parts.append(seconds_text(spent))
    return " · ".join(parts)
