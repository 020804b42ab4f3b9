"""The text of a lane as lines: grows at the end without laying out again what stands above.

Line breaking is greedy, so appended text can only change the last line: that line alone is laid out again. A lane is a
list of blocks: paragraphs of answer, reasoning, prints, notes, errors, and boxes of tool calls. The paragraph that is
being written is plain; it is read as Markdown when it is finished.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import pairwise
from time import perf_counter

from PySide6.QtGui import QFont, QTextLayout, QTextOption

from studio.bridge.run_views import StreamPiece
from studio.ui.run.blocks import INSET_KINDS, Block
from studio.ui.run.lane_fonts import LaneFonts, from_utf16
from studio.ui.run.markdown import paragraph_blocks
from studio.ui.run.paragraphs import Paragraph, Paragraphs
from studio.ui.widgets.wrapping import wrap_mode

LINE, BOX = 18, 26
"""Height of a line, and of a folded tool box, at a text scale of 100 %."""
INSET = 8
_GAP = 7
_ABOVE = 2
_AT_LEAST = 40
"""Blocks that are laid out in one go whatever the time; four lines count as one more."""


class LaneText:
    """Blocks with their places for one width."""

    def __init__(self, text_font: QFont, code_font: QFont) -> None:
        self.blocks: list[Block] = []
        self.line, self.box = LINE, BOX
        self.fonts = LaneFonts(text_font, code_font)
        self._width = 0
        self._pieces = 0
        self._taken = 0
        self._tools: dict[str, Block] = {}
        self._answer = ""
        """The text piece that grows, or grew last."""
        self._paragraphs = Paragraphs()
        self._writing: Block | None = None
        """The paragraph that is not finished; always the last block."""
        self._stale: deque[Block] = deque()
        """Blocks whose lines are of another width."""
        self.laid_out = 0
        """Characters laid out so far; a test counts that growth does not lay out everything again."""
        self.first_changed = 0
        """Index of the first block that :meth:`take` changed last."""

    @property
    def pieces_taken(self) -> int:
        """How many pieces are shown, the last one maybe in part."""
        return self._pieces

    @property
    def taken(self) -> int:
        """Characters of the last piece that are shown, as they were written."""
        return self._taken

    @property
    def height(self) -> int:
        """Height of everything."""
        return self.blocks[-1].top + self.blocks[-1].height if self.blocks else 0

    @property
    def last_line(self) -> int:
        """Where the last line begins: there stands the caret. A gap may follow it."""
        if not self.blocks:
            return 0
        return self.blocks[-1].top + max(0, len(self.blocks[-1].lines) - 1) * self.line

    def set_fonts(self, text_font: QFont, code_font: QFont, line: int = LINE, box: int = BOX) -> None:
        """Other fonts, heights of a line and a box: everything is laid out again."""
        self.fonts = LaneFonts(text_font, code_font)
        self.line, self.box = line, box
        self._again()

    def set_width(self, width: int, first: int = 0) -> None:
        """Another width: everything is laid out again by :meth:`lay_out_some`, from block ``first`` on, then the rest.
        A lane without much text is done at once."""
        if width != self._width and width > 0:
            self._width = width
            self._stale = deque([*self.blocks[first:], *self.blocks[:first]])
            self.lay_out_some(0.0)

    def lay_out_some(self, seconds: float) -> bool:
        """Lays out blocks that have another width now: some, and more until the time is over. Whether any are left."""
        end = perf_counter() + seconds
        done = 0
        while self._stale and (done < _AT_LEAST or perf_counter() < end):
            block = self._stale.popleft()
            self._lay_out(block)
            done += 1 + len(block.lines) // 4
        if done:
            self._stack(0)
        return bool(self._stale)

    def clear(self) -> None:
        """No blocks."""
        self.blocks.clear()
        self._stale.clear()
        self._tools.clear()
        self._pieces = self._taken = 0
        self._answer, self._paragraphs, self._writing = "", Paragraphs(), None

    def take(self, pieces: Sequence[StreamPiece], *, finished: bool = False) -> int | None:
        """Takes what is new in the pieces of an invocation; ``finished``: nothing follows. Returns the first y that
        changed, None if nothing did."""
        changed: list[int] = []
        self.first_changed = len(self.blocks)
        if self._pieces and len(pieces) >= self._pieces:
            changed += self._grow(pieces[self._pieces - 1])
        for piece in pieces[self._pieces :]:
            changed += self._end_answer()
            changed.append(self._add(piece))
        if finished:
            changed += self._end_answer()
        if pieces:
            self._pieces, self._taken = len(pieces), len(pieces[-1].text)
        return min(changed, default=None)

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

    def left(self, block: Block) -> int:
        """Where the lines of a block begin, right of the edge."""
        return (INSET if block.kind in INSET_KINDS else 0) + (block.indent + block.quoted) * self.line

    def offset_at(self, block: Block, line: int, x: float) -> int:
        """The offset in the shown text that is nearest to a place in a line, ``x`` from where lines begin."""
        start, end = block.lines[line]
        shown = block.shown[start:end]
        layout = QTextLayout(shown, self.fonts.font(block))
        layout.setFormats(self.fonts.formats(block, start, end))
        layout.beginLayout()
        found = layout.createLine()
        if not found.isValid():
            return start
        found.setLineWidth(1e6)
        layout.endLayout()
        return start + from_utf16(shown, found.xToCursor(x))

    # ----------------------------------------------------------------------------------------------- new pieces

    def _add(self, piece: StreamPiece) -> int:
        if piece.kind in ("result", "error") and piece.key in self._tools:
            block = self._tools[piece.key]
            block.result, block.failed = piece.text, piece.kind == "error"
            return self._box_changed(block)
        if piece.kind == "text":
            at = self.height
            self._paragraphs = Paragraphs()
            return min(self._grow_answer(piece.text), default=at)
        block = Block(piece.kind, piece.text, piece.title, piece.key, gap=_GAP)
        if piece.kind == "result":
            block = Block("tool", "", piece.title, piece.key, piece.text)
        if block.boxed and piece.key:
            self._tools[piece.key] = block
        self._append((block,))
        return block.top

    def _grow(self, piece: StreamPiece) -> list[int]:
        if len(piece.text) <= self._taken:
            return []
        if piece.kind == "text":
            return self._grow_answer(piece.text)
        if piece.kind in ("tool", "result"):
            return [self._grow_box(piece)]
        return [self._grow_block(self.blocks[-1], piece.text)]

    def _grow_block(self, block: Block, text: str) -> int:
        self.first_changed = min(self.first_changed, len(self.blocks) - 1)
        while block.lines and block.lines[-1][0] > len(text):  # an empty last line that is not there any more
            block.lines.pop()
        kept = max(0, len(block.lines) - 1)
        start = block.lines[kept][0] if block.lines else 0
        block.text = text
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
        return self._box_changed(block)

    def _box_changed(self, block: Block) -> int:
        index = self.blocks.index(block)
        self.first_changed = min(self.first_changed, index)
        if block.open:
            self._lay_out(block)
            self._stack(index)
        return block.top

    # ------------------------------------------------------------------------------------------------ the answer

    def _grow_answer(self, text: str) -> list[int]:
        """Takes the whole answer so far: finished paragraphs are read as Markdown, the last one grows as it is."""
        self._answer = text
        changed = [self._finish(paragraph) for paragraph in self._paragraphs.feed(text)]
        rest = text[self._paragraphs.start :]
        if not rest.strip():
            return changed
        writing = self._writing
        if writing is None:
            self._writing = writing = Block("code" if self._paragraphs.code else "text", rest)
            self._append((writing,))
            return [*changed, writing.top]
        return [*changed, self._grow_block(writing, rest)]

    def _end_answer(self) -> list[int]:
        """Nothing follows in the answer: its last paragraph is finished, too."""
        if self._paragraphs.start == len(self._answer):
            return []
        return [self._finish(paragraph) for paragraph in self._paragraphs.end(self._answer)]

    def _finish(self, paragraph: Paragraph) -> int:
        """Puts a finished paragraph where it was written."""
        writing, self._writing = self._writing, None
        made = [Block("code", paragraph.text)] if paragraph.code else paragraph_blocks(paragraph.text)
        for block, after in pairwise(made):
            block.gap = _GAP if "code" in (block.kind, after.kind) else 0
        made[-1].gap = _GAP
        if writing is not None:
            if len(made) == 1 and made[0].kind == writing.kind and not _dressed(made[0]):
                writing.gap = _GAP
                return self._grow_block(writing, made[0].text)
            self.blocks.pop()
        self._append(made)
        return made[0].top

    def _append(self, blocks: Iterable[Block]) -> None:
        index = len(self.blocks)
        self.first_changed = min(self.first_changed, index)
        self.blocks.extend(blocks)
        for block in self.blocks[index:]:
            self._lay_out(block)
        self._stack(index)

    # ---------------------------------------------------------------------------------------------------- layout

    def _again(self) -> None:
        self._stale.clear()
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
            block.height = len(block.lines) * self.line + block.gap

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
        width = max(self.line, self._width - self.left(block) - (INSET if block.kind in INSET_KINDS else 0))
        option = QTextOption()
        option.setWrapMode(wrap_mode(text))
        font = self.fonts.font(block)
        self.laid_out += len(text) - start
        while True:
            end = text.find("\n", start)
            paragraph = text[start:] if end < 0 else text[start:end]
            before = len(block.lines)
            layout = QTextLayout(paragraph, font)
            layout.setTextOption(option)
            if block.spans:
                layout.setFormats(self.fonts.formats(block, start, start + len(paragraph)))
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


def _dressed(block: Block) -> bool:
    """Whether a paragraph looks other than it was written."""
    return bool(block.spans or block.marker or block.heading or block.quoted or block.indent)
