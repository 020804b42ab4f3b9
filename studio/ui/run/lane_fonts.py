"""The fonts of a lane, made once: text, code, and their bold and italic faces."""

from __future__ import annotations

from PySide6.QtGui import QFont, QFontMetricsF, QTextCharFormat, QTextLayout

from studio.ui.run.blocks import MONO, PLAIN, Block, Face

_HEAD = 2
"""Headings up to this level are a size larger."""
_LARGER = 13 / 12


class LaneFonts:
    """Made anew with every theme and text size."""

    def __init__(self, text_font: QFont, code_font: QFont) -> None:
        self._text, self._code = text_font, code_font
        self._made: dict[tuple[bool, bool, bool, bool], tuple[QFont, QFontMetricsF]] = {}

    def font(self, block: Block, face: Face = PLAIN) -> QFont:
        """The font of a stretch of a block."""
        return self._face(block, face)[0]

    def metrics(self, block: Block, face: Face = PLAIN) -> QFontMetricsF:
        """The measures of that font."""
        return self._face(block, face)[1]

    def formats(self, block: Block, start: int, end: int) -> list[QTextLayout.FormatRange]:
        """For a layout of the text from ``start`` to ``end`` that is set in the block's own font."""
        made: list[QTextLayout.FormatRange] = []
        if not block.spans:
            return made
        text = block.shown[start:end]
        for span in block.stretches(start, end):
            if span.face == PLAIN:
                continue
            form = QTextLayout.FormatRange()
            form.start = utf16_length(text[: span.start - start])
            form.length = utf16_length(text[span.start - start : span.end - start])
            look = QTextCharFormat()
            look.setFont(self.font(block, span.face))
            form.format = look
            made.append(form)
        return made

    def width(self, block: Block, start: int, end: int) -> float:
        """How wide a part of one line is."""
        shown = block.shown
        return sum(self.metrics(block, s.face).horizontalAdvance(shown[s.start : s.end])
                   for s in block.stretches(start, end))  # fmt: skip

    def _face(self, block: Block, face: Face) -> tuple[QFont, QFontMetricsF]:
        code = face.code or block.kind in MONO
        bold = face.bold or block.heading > 0
        italic = face.italic or block.kind == "reasoning"
        key = code, bold, italic, 0 < block.heading <= _HEAD
        made = self._made.get(key)
        if made is None:
            font = QFont(self._code if code else self._text)
            if bold:
                font.setWeight(QFont.Weight.DemiBold)
            font.setItalic(italic)
            if key[3]:
                font.setPixelSize(round(font.pixelSize() * _LARGER))
            made = self._made[key] = font, QFontMetricsF(font)
        return made


def utf16_length(text: str) -> int:
    """How many UTF-16 units a text has, which is what Qt counts."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


def from_utf16(text: str, position: int) -> int:
    """Qt counts UTF-16 units, Python counts characters: they differ after an emoji."""
    if text.isascii() or max(text, default="") <= "\uffff":
        return position
    return len(text.encode("utf-16-le")[: 2 * position].decode("utf-16-le", "ignore"))
