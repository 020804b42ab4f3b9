"""User-visible texts."""

from __future__ import annotations

import re
from html import escape

from PySide6.QtCore import QCoreApplication

_BREAKS = re.compile(r"\s*[\n\r\t\v\f\x85\u2028\u2029]\s*")


def tr(text: str) -> str:
    """The text in the user's language. Whole sentences; ``{name}`` fields are filled by the caller with ``format``."""
    return QCoreApplication.translate("studio", text)


def one_line(text: str) -> str:
    """A name as it stands in a row: it may have line breaks and tabs in it."""
    return _BREAKS.sub(" ", text) if _BREAKS.search(text) else text


def tip(text: str) -> str:
    """A tooltip that shows what people and models wrote letter by letter: Qt takes for HTML what looks like it."""
    return f'<p style="white-space:pre-wrap">{escape(text)}</p>' if "<" in text or "&lt;" in text else text
