"""Gives a lane a long text in portions, so that opening it is no long piece of work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from studio.bridge.run_views import StreamPiece

_GROW = frozenset({"text", "reasoning", "print", "tool", "result"})
"""Kinds whose text may be shown in part; others are short, and whole."""
PORTION = 2000
"""Characters that are taken in one turn of the loop."""


def limited(pieces: Sequence[StreamPiece], taken: int, characters: int) -> tuple[Sequence[StreamPiece], bool]:
    """The pieces up to one portion more than what is shown already (``taken`` pieces, of the last one so many
    ``characters``), and whether there are more."""
    room = PORTION
    for at in range(max(0, taken - 1), len(pieces)):
        known = characters if at == taken - 1 else 0
        new = len(pieces[at].text) - known
        if new > room and pieces[at].kind in _GROW:
            return [*pieces[:at], replace(pieces[at], text=pieces[at].text[: known + room])], True
        room -= max(0, new)
        if room <= 0 and at + 1 < len(pieces):
            return pieces[: at + 1], True
    return pieces, False
