"""What one can add: kinds in the order of the palette, with the letter that finds each in the search."""

from __future__ import annotations

from typing import NamedTuple


class NewKind(NamedTuple):
    """``words``: what else people may type to find it."""

    kind: str
    letter: str
    words: str
    group: str


NEW_KINDS: tuple[NewKind, ...] = (
    NewKind("agent", "A", "model llm assistant prompt", "Nodes"),
    NewKind("runner", "R", "conversation handoff hand-off chatflow agents session", "Nodes"),
    NewKind("function", "U", "python code executor", "Nodes"),
    NewKind("human_input", "H", "ask person question approval form", "Nodes"),
    NewKind("sub_workflow", "W", "nested workflow file", "Nodes"),
    NewKind("template", "T", "text fields", "Nodes"),
    NewKind("join", "", "fan-in barrier merge wait", "Flow"),
    NewKind("switch", "", "case condition branch route", "Flow"),
    NewKind("fan_out", "", "parallel split broadcast", "Flow"),
    NewKind("note", "N", "comment sticky text", "Flow"),
    NewKind("sequential", "", "pattern chain pipeline one after the other", "Patterns"),
    NewKind("concurrent", "", "pattern parallel at once merge", "Patterns"),
    NewKind("handoff", "", "pattern hand-off triage transfer", "Patterns"),
    NewKind("group_chat", "", "pattern conversation manager turns", "Patterns"),
)
