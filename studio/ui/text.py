"""User-visible texts."""

from __future__ import annotations

import re
from html import escape

from PySide6.QtCore import QCoreApplication

_BREAKS = re.compile(r"\s*[\n\r\t\v\f\x85\u2028\u2029]\s*")


def tr(text: str) -> str:
    """The text in the user's language. Whole sentences; ``{name}`` fields are filled by the caller with ``format``."""
    return QCoreApplication.translate("studio", text)


_TURNING = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)])
"""Marks that turn the direction of what follows them, the rest of a sentence too."""


def one_line(text: str) -> str:
    """A name as it stands in a row or sentence: it may have line breaks, tabs and marks of direction in it."""
    if text.isascii() and text.isprintable():
        return text
    return _BREAKS.sub(" ", text.translate(_TURNING))


def tip(text: str) -> str:
    """A tooltip that shows what people and models wrote letter by letter: Qt takes for HTML what looks like it."""
    return f'<p style="white-space:pre-wrap">{escape(text)}</p>' if "<" in text or "&lt;" in text else text
