"""Which chips stand on which line."""

from __future__ import annotations

from collections.abc import Mapping

from studio.ui.canvas.edge_item import EdgeItem
from studio.ui.paint import ChipLook, ChipText
from studio.ui.text import tr
from studio.ui.theme import Theme

_MOST = 99


def chip_texts(
    edges: Mapping[str, EdgeItem], cases: Mapping[str, int], theme: Theme
) -> dict[tuple[str, bool], ChipText]:
    """``(line id, is pill)`` -> the chip, for every line that has one."""
    found: dict[tuple[str, bool], ChipText] = {}
    for line_id, edge in edges.items():
        label = _label(edge, cases, theme)
        if label is not None:
            found[line_id, False] = label
        count = edge.state.carrying
        if count:
            text = str(count) if count <= _MOST else f"{_MOST}+"
            found[line_id, True] = ChipText(theme, text, icon="message", look="run")
    return found


def _label(edge: EdgeItem, cases: Mapping[str, int], theme: Theme) -> ChipText | None:
    line, state = edge.line, edge.state
    if state.refused:
        return ChipText(theme, state.refused, icon="muted", look="dim")
    if state.fault and not line.label:
        return ChipText(theme, "", icon="error", look="fail")
    strong = ""
    if line.kind == "case":
        strong = str(cases.get(line.id, 0) + 1)
    elif line.kind == "default":
        strong = tr("default")
    if not strong and not line.label:
        return None
    unreadable = line.condition is not None and line.condition.kind == "python"
    look: ChipLook = "dim" if unreadable else "outline"
    icon, token = ("error", "fail_t") if state.fault else ("", "")
    return ChipText(theme, line.label, strong, icon=icon, icon_token=token, look=look)
