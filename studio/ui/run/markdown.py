"""A finished paragraph of Markdown as blocks of a lane.

Qt's reader takes it apart; nothing of it is ever laid out or shown by Qt, so no picture, style or address is loaded.
HTML stays text. A link is its text with the address behind it, never something to click.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from PySide6.QtGui import QTextBlock, QTextCursor, QTextDocument, QTextFormat, QTextList, QTextTable

from studio.ui.run.blocks import PLAIN, Block, Face, Span

_MARKUP = re.compile(r"[*_`#>~\[|&\\]|^\s*(?:[-+]|\d+[.)])\s|^\s*(?:-{3,}|={2,})\s*$|https?:", re.MULTILINE)
_FEATURES = QTextDocument.MarkdownFeature.MarkdownDialectGitHub | QTextDocument.MarkdownFeature.MarkdownNoHTML
_RULE = QTextFormat.Property.BlockTrailingHorizontalRulerWidth
_QUOTE = QTextFormat.Property.BlockQuoteLevel
_MARK = " \u2028"
_BROKEN = re.compile(" ?\u2028[ \xa0]?")
_LONGEST = 5_000
"""Characters of a paragraph that is shown as it was written: one without any line break."""
_DEEPEST = 8
"""Lists and quotes inside each other that are set in; more would leave no room."""
_BULLET = "•"
_BOLD = 600


def paragraph_blocks(text: str) -> list[Block]:
    """The blocks of one paragraph, heading, list, quote or table; a single plain one if there is no markup in it."""
    if len(text) > _LONGEST or _MARKUP.search(text) is None:
        return [Block("text", text)]
    outer = 1 if len(text) - len(text.lstrip(" ")) >= 2 else 0
    lines = text.split("\n")
    head = _table_head(lines)
    before = _read(_joined(lines[:head]), outer) if head else []
    table = _read("\n".join(lines[head:]), outer) if head < len(lines) else []
    return before + table or [Block("text", text)]  # a definition of links alone gives nothing


def _table_head(lines: Sequence[str]) -> int:
    """Where a table begins, which then goes on to the end; behind the last line if there is none."""
    for at in range(1, len(lines)):
        line = lines[at].strip()
        if "|" in line and "-" in line and not line.strip("|-: ") and "|" in lines[at - 1]:
            return at - 1
    return len(lines)


def _joined(lines: Sequence[str]) -> str:
    """Lines as they stand, each but rules with a mark behind it: a line of the source stays a line, as people who write
    to each other expect it. A hard break would do that, too, but Qt makes items of their own of an item's lines."""
    return "\n".join(line.rstrip() + _MARK if line.strip(" \t|=*_-") else line for line in lines)


def _read(text: str, outer: int) -> list[Block]:
    document = QTextDocument()
    document.setUndoRedoEnabled(False)
    document.setMarkdown(text, _FEATURES)
    return list(_blocks(document, outer))


def _blocks(document: QTextDocument, outer: int) -> Iterator[Block]:
    block = document.begin()
    tables: set[int] = set()
    while block.isValid():
        table: object = QTextCursor(block).currentTable()
        if isinstance(table, QTextTable):
            if table.firstPosition() not in tables:
                tables.add(table.firstPosition())
                yield Block("code", _table(table))
        elif block.blockFormat().hasProperty(_RULE):
            yield Block("text", "―" * 12)
        elif block.text():
            made = _block(block)
            made.indent += outer
            yield made
        block = block.next()


def _block(block: QTextBlock) -> Block:
    text, spans = _inline(block)
    made = Block("text", text, spans=spans)
    form = block.blockFormat()
    made.heading = form.headingLevel()
    level = form.property(_QUOTE)
    made.quoted = min(level, _DEEPEST) if isinstance(level, int) else 0
    listed: object = block.textList()
    if isinstance(listed, QTextList):
        word = listed.itemText(block)
        made.marker = word if word[:1].isalnum() else _BULLET
        made.indent = min(_DEEPEST, max(1, listed.format().indent()))
        if form.marker() is not form.MarkerType.NoMarker:
            made.marker = "☑" if form.marker() is form.MarkerType.Checked else "☐"
    elif form.hasProperty(QTextFormat.Property.BlockCodeFence):
        made.kind = "code"
    return made


def _inline(block: QTextBlock) -> tuple[str, tuple[Span, ...]]:
    """The text of a block and its stretches that are not plain."""
    units = block.text().encode("utf-16-le")
    heading = block.blockFormat().headingLevel() > 0
    text, spans = "", []
    for part in block.textFormats():
        piece = units[2 * part.start : 2 * (part.start + part.length)].decode("utf-16-le", "replace")
        piece = _BROKEN.sub("\n", piece)
        form = part.format
        if form.isImageFormat():
            image = form.toImageFormat()
            named = image.property(QTextFormat.Property.ImageAltText)
            piece = " ".join(filter(None, (f"[{named or 'image'}]", f"({image.name()})")))
        face = Face(
            bold=not heading and form.fontWeight() >= _BOLD,
            italic=form.fontItalic() or (form.fontUnderline() and not form.isAnchor()),  # Qt reads _x_ as underlined
            code=form.fontFixedPitch(),
            struck=form.fontStrikeOut(),
            link=form.isAnchor(),
        )
        if face != PLAIN:
            spans.append(Span(len(text), len(text) + len(piece), face))
        text += piece
        address = form.anchorHref() if form.isAnchor() else ""
        if address and address.removeprefix("mailto:") != piece:
            text += f" ({address})"
    shown = text.rstrip("\n ")
    most = len(shown)
    return shown, tuple(Span(s.start, min(s.end, most), s.face) for s in spans if s.start < most)


def _table(table: QTextTable) -> str:
    """A table as columns of text."""
    cells = [
        [table.cellAt(row, column).firstCursorPosition().block().text() for column in range(table.columns())]
        for row in range(table.rows())
    ]
    widths = [max(len(row[column]) for row in cells) for column in range(table.columns())]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    lines.insert(1, "  ".join("─" * width for width in widths))
    return "\n".join(lines)
