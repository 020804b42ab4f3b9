"""Positions of Qt in a text, which count UTF-16 units, and what differs between two texts."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QTextCursor, QTextDocument


def type_over(document: QTextDocument, now: str, text: str) -> tuple[int, int, int]:
    """Puts ``text`` in place of ``now``, which the document holds, as one step: only what differs is replaced. Returns
    in positions of the document where that began and ended, and how far what follows has moved."""
    start, end_now, end_text = changed_span(now, text)
    written, before = text[start:end_text], units(now[:start])
    end = before + units(now[start:end_now])
    cursor = QTextCursor(document)
    cursor.setPosition(before)
    cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
    cursor.insertText(written)
    return before, end, before + units(written) - end


def units(text: str) -> int:
    """The length that Qt's positions have: a character beyond the first 65 536 counts twice."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def until(text: str, at: int) -> str:
    """The text before a position of Qt."""
    return (
        text[:at]
        if text.isascii()
        else text.encode("utf-16-le", "surrogatepass")[: 2 * at].decode("utf-16-le", "surrogatepass")
    )


def changed_span(old: str, new: str) -> tuple[int, int, int]:
    """The part that differs: start, its end in ``old``, its end in ``new``."""
    most = min(len(old), len(new))
    start = _longest(most, lambda low, high: old[low:high] == new[low:high])
    at, to = len(old), len(new)
    tail = _longest(most - start, lambda low, high: old[at - high : at - low] == new[to - high : to - low])
    return start, at - tail, to - tail


def _longest(most: int, alike: Callable[[int, int], bool]) -> int:
    """How far two texts are alike, in halves: comparing slices is a hundred times faster than characters."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if alike(low, middle):
            low = middle
        else:
            high = middle - 1
    return low
