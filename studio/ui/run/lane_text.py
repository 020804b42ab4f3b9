"""The text of a lane as lines: grows at the end without laying out again what stands above.

Line breaking is greedy, so appended text can only change the last line: that line alone is laid out again. A lane is a
list of blocks: paragraphs of answer, reasoning, prints, notes, errors, and boxes of tool calls.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from PySide6.QtGui import QFont, QTextLayout, QTextOption

from studio.bridge.run_views import StreamPiece

LINE, BOX = 18, 26
"""Height of a line, and of a folded tool box, at a text scale of 100 %."""
_GAP = 7
_ABOVE = 2
_INSET = 8

Kind = Literal["text", "reasoning", "tool", "result", "print", "error", "note"]


@dataclass(slots=True)
class Block:
    """One piece of a lane. ``lines`` are (start, end) offsets into ``text``, without the line break."""

    kind: Kind
    text: str = ""
    title: str = ""
    key: str = ""
    result: str | None = None
    """For a tool: what it gave."""
    failed: bool = False
    open: bool = False
    lines: list[tuple[int, int]] = field(default_factory=list)
    top: int = 0
    height: int = 0

    @property
    def boxed(self) -> bool:
        """Whether it is drawn as a box that can be opened."""
        return self.kind == "tool"

    @property
    def shown(self) -> str:
        """The text that lines refer to: of an open box, arguments and result."""
        if not self.boxed:
            return self.text
        return f"{self.text}\n→ {self.result}" if self.result is not None else self.text

    @property
    def copied(self) -> str:
        """The text that *Copy* takes."""
        if not self.boxed:
            return self.text
        return f"{self.title}({self.text})" + (f" → {self.result}" if self.result is not None else "")


class LaneText:
    """Blocks with their places for one width. ``fonts`` gives the font of a kind."""

    def __init__(self, text_font: QFont, code_font: QFont) -> None:
        self.blocks: list[Block] = []
        self.line, self.box = LINE, BOX
        self._fonts = {True: code_font, False: text_font}
        self._width = 0
        self._pieces = 0
        self._taken = 0
        self._tools: dict[str, Block] = {}
        self.laid_out = 0
        """Characters laid out so far; a test counts that growth does not lay out everything again."""

    @property
    def height(self) -> int:
        """Height of everything."""
        return self.blocks[-1].top + self.blocks[-1].height if self.blocks else 0

    def set_fonts(self, text_font: QFont, code_font: QFont, line: int = LINE, box: int = BOX) -> None:
        """Other fonts, heights of a line and a box: everything is laid out again."""
        self._fonts = {True: code_font, False: text_font}
        self.line, self.box = line, box
        self._again()

    def set_width(self, width: int) -> None:
        """Another width: everything is laid out again."""
        if width != self._width and width > 0:
            self._width = width
            self._again()

    def font_of(self, block: Block) -> QFont:
        """The font of a block's lines."""
        return self._fonts[block.kind in ("tool", "print")]

    def clear(self) -> None:
        """No blocks."""
        self.blocks.clear()
        self._tools.clear()
        self._pieces = self._taken = 0

    def take(self, pieces: Sequence[StreamPiece]) -> int | None:
        """Takes what is new in the pieces of an invocation. Returns the first y that changed, None if nothing did."""
        changed: int | None = None
        if self._pieces and len(pieces) >= self._pieces:
            changed = self._grow(pieces[self._pieces - 1])
        for piece in pieces[self._pieces :]:
            at = self._add(piece)
            changed = at if changed is None else min(changed, at)
        if pieces:
            self._pieces, self._taken = len(pieces), len(pieces[-1].text)
        return changed

    def toggle(self, block: Block) -> None:
        """Opens or folds a box."""
        block.open = not block.open
        self._lay_out(block)
        self._stack(self.blocks.index(block))

    def block_at(self, y: float) -> int:
        """Index of the block at or above a place; 0 for anything above the first."""
        return max(0, bisect_right(self.blocks, y, key=lambda b: b.top) - 1)

    def line_at(self, block: Block, y: float) -> int:
        """Index of the line of a block at a place, the nearest one."""
        return max(0, min(len(block.lines) - 1, int((y - block.top - self.text_top(block)) // self.line)))

    def text_top(self, block: Block) -> int:
        """Where the lines of a block begin, below its top."""
        return self.box if block.boxed else 0

    def _add(self, piece: StreamPiece) -> int:
        if piece.kind in ("result", "error") and piece.key in self._tools:
            block = self._tools[piece.key]
            block.result, block.failed = piece.text, piece.kind == "error"
            if block.open:
                self._lay_out(block)
                self._stack(self.blocks.index(block))
            return block.top
        block = Block(piece.kind, piece.text, piece.title, piece.key)
        if piece.kind == "result":
            block = Block("tool", "", piece.title, piece.key, piece.text)
        if block.boxed and piece.key:
            self._tools[piece.key] = block
        self.blocks.append(block)
        self._lay_out(block)
        self._stack(len(self.blocks) - 1)
        return block.top

    def _grow(self, piece: StreamPiece) -> int | None:
        if len(piece.text) <= self._taken:
            return None
        if piece.kind in ("tool", "result"):
            return self._grow_box(piece)
        block = self.blocks[-1]
        kept = max(0, len(block.lines) - 1)
        start = block.lines[kept][0] if block.lines else 0
        block.text = piece.text
        del block.lines[kept:]
        self._break(block, start)
        self._measure(block)
        return block.top + kept * self.line

    def _grow_box(self, piece: StreamPiece) -> int:
        block = self._tools.get(piece.key) or self.blocks[-1]
        if piece.kind == "tool":
            block.text = piece.text
        else:
            block.result = piece.text
        if block.open:
            self._lay_out(block)
            self._stack(self.blocks.index(block))
        return block.top

    def _again(self) -> None:
        for block in self.blocks:
            self._lay_out(block)
        self._stack(0)

    def _lay_out(self, block: Block) -> None:
        block.lines.clear()
        if not block.boxed or block.open:
            self._break(block, 0)
        self._measure(block)

    def _measure(self, block: Block) -> None:
        if block.boxed:
            block.height = self.box + (len(block.lines) * self.line + 4 if block.open else 0) + _GAP
        else:
            block.height = len(block.lines) * self.line + (_GAP if block.kind != "text" else 0)

    def _stack(self, index: int) -> None:
        y = self.blocks[index - 1].top + self.blocks[index - 1].height if index else 0
        if not index and self.blocks and self.blocks[0].boxed:
            y = _ABOVE
        for block in self.blocks[index:]:
            block.top = y
            y += block.height

    def _break(self, block: Block, start: int) -> None:
        """Breaks the text from ``start`` on into lines."""
        if self._width <= 0:
            return
        text = block.shown
        width = self._width - (2 * _INSET if block.kind in ("tool", "print", "error") else 0)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        font = self.font_of(block)
        self.laid_out += len(text) - start
        while True:
            end = text.find("\n", start)
            paragraph = text[start:] if end < 0 else text[start:end]
            before = len(block.lines)
            layout = QTextLayout(paragraph, font)
            layout.setTextOption(option)
            layout.beginLayout()
            while (line := layout.createLine()).isValid():
                line.setLineWidth(width)
                first, last = line.textStart(), line.textStart() + line.textLength()
                block.lines.append((start + from_utf16(paragraph, first), start + from_utf16(paragraph, last)))
            layout.endLayout()
            if len(block.lines) == before:
                block.lines.append((start, start))
            if end < 0:
                break
            start = end + 1


def from_utf16(text: str, position: int) -> int:
    """Qt counts UTF-16 units, Python counts characters: they differ after an emoji."""
    if text.isascii() or max(text, default="") <= "\uffff":
        return position
    return len(text.encode("utf-16-le")[: 2 * position].decode("utf-16-le", "ignore"))
