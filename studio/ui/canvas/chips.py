"""Which chips stand on which line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from studio.ui.canvas.edge_item import EdgeItem
from studio.ui.paint import ChipLook, ChipText
from studio.ui.paint.chips import LONGEST
from studio.ui.text import tr
from studio.ui.theme import Theme

_MOST = 99
_REASON = 30
"""Letters of why a line was not taken: all of it stands in the card beside the pointer."""


@dataclass(frozen=True, slots=True)
class ChipSpec:
    """What a chip shows; laid out only when it is new."""

    text: str
    strong: str = ""
    icon: str = ""
    icon_token: str = ""
    look: ChipLook = "outline"
    longest: int = LONGEST
    otherwise: ChipSpec | None = None
    """Shown where there is no room for this one."""

    def made(self, theme: Theme) -> ChipText:
        """The chip, laid out."""
        return ChipText(
            theme,
            self.text,
            self.strong,
            icon=self.icon,
            icon_token=self.icon_token,
            look=self.look,
            longest=self.longest,
        )


def chip_specs(edges: Mapping[str, EdgeItem], cases: Mapping[str, int]) -> dict[tuple[str, bool], ChipSpec]:
    """``(line id, is pill)`` -> the chip, for every line that has one."""
    found: dict[tuple[str, bool], ChipSpec] = {}
    for line_id, edge in edges.items():
        label = _label(edge, cases)
        if label is not None:
            found[line_id, False] = label
        count = edge.state.carrying
        if count:
            text = str(count) if count <= _MOST else f"{_MOST}+"
            if edge.state.token:
                text = tr("token") if count == 1 else tr("{n} · token").format(n=text)
            found[line_id, True] = ChipSpec(text, icon="turn-token" if edge.state.token else "message", look="run")
    return found


def _label(edge: EdgeItem, cases: Mapping[str, int]) -> ChipSpec | None:
    line, state = edge.line, edge.state
    named = _named(edge, cases)
    if state.refused:
        short = (
            replace(named, icon="muted", icon_token="", look="dim") if named else ChipSpec("", icon="muted", look="dim")
        )
        return ChipSpec(state.refused, icon="muted", look="dim", longest=_REASON, otherwise=short)
    if state.fault and not line.label:
        return ChipSpec("", icon="error", look="fail")
    return named


def _named(edge: EdgeItem, cases: Mapping[str, int]) -> ChipSpec | None:
    """What the line is called; None if it has no name."""
    line = edge.line
    strong = ""
    if line.kind == "case":
        strong = str(cases.get(line.id, 0) + 1)
    elif line.kind == "default":
        strong = tr("default")
    if not strong and not line.label:
        return None
    unreadable = line.condition is not None and line.condition.kind == "python"
    icon, token = ("error", "fail_t") if edge.state.fault else ("", "")
    return ChipSpec(line.label, strong, icon, token, "dim" if unreadable else "outline")
