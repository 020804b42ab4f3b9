"""Where lines of a text may break."""

from __future__ import annotations

import re

from PySide6.QtGui import QTextOption

_LONGEST_WORD = re.compile(r"\S{2000}")


def wrap_mode(text: str) -> QTextOption.WrapMode:
    """Between words, and inside one that is wider than the line; anywhere in a text with a "word" of thousands of
    letters (base64, minified JSON): looking for the ends of such a one takes Qt time with the square of its length."""
    modes = QTextOption.WrapMode
    return modes.WrapAnywhere if _LONGEST_WORD.search(text) else modes.WrapAtWordBoundaryOrAnywhere
