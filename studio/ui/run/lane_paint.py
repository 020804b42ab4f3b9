"""Paints what is visible of a lane."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen

from studio.bridge.run_views import STOPPED
from studio.ui.run.blocks import Block, Face, Span
from studio.ui.run.hits import Hits
from studio.ui.run.lane_fonts import LaneFonts
from studio.ui.run.lane_text import BOX, INSET, LINE, LaneText
from studio.ui.run.selection import Selection
from studio.ui.text import tr
from studio.ui.theme import Theme

_TOKENS = {"text": "text", "reasoning": "muted", "print": "text2", "error": "fail_t", "note": "muted", "tool": "text2"}
EDGE = 12
"""Room at both sides."""
_GROUND = frozenset({"code", "print", "error"})


class LanePainter:
    """Fonts and metrics, made once per theme."""

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        self.text_font = theme.font("text")
        self.code_font = theme.font("code-small")
        self.line, self.box = theme.length(LINE), theme.length(BOX)
        self._small = theme.font("small")
        self._small_metrics = QFontMetricsF(self._small)
        self.fonts = LaneFonts(self.text_font, self.code_font)

    def paint(
        self,
        painter: QPainter,
        text: LaneText,
        clip: QRect,
        scrolled: int,
        width: int,
        selection: Selection,
        hits: Hits,
        caret: bool,
    ) -> None:
        """Paints the lines inside ``clip`` of a viewport ``width`` wide."""
        if not text.blocks:
            return
        first = text.block_at(clip.top() + scrolled)
        for index in range(first, len(text.blocks)):
            block = text.blocks[index]
            top = block.top - scrolled
            if top > clip.bottom():
                return
            if block.boxed:
                marked = "accent" if selection.covers_block(index) else "wait" if hits.in_block(index) else "border"
                self._paint_box(painter, block, top, width - 2 * EDGE, marked)
            elif block.kind in _GROUND:
                self._paint_ground(painter, block, EDGE + text.left(block) - INSET, top, width)
            if block.quoted:
                self._paint_quote(painter, block, top)
            self._paint_lines(painter, text, index, clip, top, selection, hits)
        if caret:
            self._paint_caret(painter, text, scrolled)

    def _paint_lines(
        self, painter: QPainter, text: LaneText, index: int, clip: QRect, top: int, selection: Selection, hits: Hits
    ) -> None:
        block = text.blocks[index]
        lines_top = top + text.text_top(block)
        from_line = max(0, (clip.top() - lines_top) // self.line)
        to_line = min(len(block.lines), (clip.bottom() - lines_top) // self.line + 1)
        if from_line >= to_line:
            return
        metrics = self.fonts.metrics(block)
        x = EDGE + text.left(block)
        baseline = (self.line + metrics.ascent() - metrics.descent()) / 2
        pen = self.theme.color("text2" if block.quoted else _TOKENS.get(block.kind, "text"))
        if block.marker and not from_line:
            painter.setFont(self.fonts.font(block))
            painter.setPen(self.theme.color("muted"))
            left = x - max(self.line - 6.0, metrics.horizontalAdvance(block.marker) + 4)
            painter.drawText(QPointF(left, round(lines_top + baseline)), block.marker)
        painter.setPen(pen)
        for number in range(from_line, to_line):
            start, end = block.lines[number]
            y = lines_top + number * self.line
            self._paint_grounds(painter, block, index, (start, end), x, y, selection, hits)
            at = float(x)
            for part in block.stretches(start, end):
                at = self._paint_part(painter, block, part, at, y, round(y + baseline))

    def _paint_grounds(
        self,
        painter: QPainter,
        block: Block,
        index: int,
        line: tuple[int, int],
        x: int,
        y: int,
        selection: Selection,
        hits: Hits,
    ) -> None:
        """What lies behind a line: code, hits, the selection."""
        start, end = line
        for part in block.stretches(start, end) if block.spans else ():
            if part.face.code:
                ground = self._stretch(block, start, part.start, part.end, x, y).adjusted(-1, 1, 1, -1)
                painter.fillRect(ground, self.theme.color("sunken"))
        for left, right, current in hits.within(index, start, end):
            painter.fillRect(self._stretch(block, start, left, right, x, y), self.theme.color("wait_s"))
            if current:
                painter.fillRect(self._stretch(block, start, left, right, x, y + self.line - 2).adjusted(
                    0, 0, 0, 2 - self.line), self.theme.color("wait"))  # fmt: skip
        marked = selection.within(index, start, end) if not block.boxed or block.open else None
        if marked is not None:
            rect = self._stretch(block, start, marked[0], marked[1], x, y)
            painter.fillRect(rect.adjusted(0, 0, 4 if marked[2] else 0, 0), self.theme.color("sel_line"))

    def _paint_part(self, painter: QPainter, block: Block, part: Span, x: float, y: int, baseline: int) -> float:
        """Paints a stretch of one face; returns where it ends."""
        words, face = block.shown[part.start : part.end], part.face
        painter.setFont(self.fonts.font(block, face))
        if face == Face():
            painter.drawText(QPointF(x, baseline), words)
            return x + (self.fonts.metrics(block).horizontalAdvance(words) if block.spans else 0)
        width = self.fonts.metrics(block, face).horizontalAdvance(words)
        pen = painter.pen()
        if face.link:
            painter.setPen(self.theme.color("accent"))
        painter.drawText(QPointF(x, baseline), words)
        if face.struck:
            painter.fillRect(QRectF(x, y + self.line // 2, width, 1), painter.pen().color())
        painter.setPen(pen)
        return x + width

    def _stretch(self, block: Block, start: int, left: int, right: int, x: int, y: int) -> QRectF:
        """The rectangle of a part of the line that begins at ``start``."""
        before = self.fonts.width(block, start, left)
        return QRectF(x + before, y, self.fonts.width(block, left, right), self.line)

    def _paint_quote(self, painter: QPainter, block: Block, top: int) -> None:
        for level in range(block.quoted):
            x = EDGE + (block.indent + level) * self.line + 4
            painter.fillRect(x, top, 2, len(block.lines) * self.line, self.theme.color("border"))

    def _paint_ground(self, painter: QPainter, block: Block, left: int, top: int, width: int) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.theme.color("fail_s" if block.kind == "error" else "sunken"))
        painter.drawRoundedRect(QRectF(left, top, width - EDGE - left, len(block.lines) * self.line), 4, 4)

    def _paint_box(self, painter: QPainter, block: Block, top: int, width: int, border: str) -> None:
        edge = EDGE
        theme = self.theme
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        height = block.height - 7
        painter.setPen(QPen(theme.color(border), 1))
        painter.setBrush(theme.color("surface"))
        painter.drawRoundedRect(QRectF(edge + 0.5, top + 0.5, width - 1, height - 1), 5, 5)
        ratio = painter.device().devicePixelRatio()
        painter.drawPixmap(QPoint(edge + 8, top + (self.box - 13) // 2), theme.pixmap("wrench", 13, "muted", ratio))
        metrics = self.fonts.metrics(block)
        baseline = top + round((self.box + metrics.ascent() - metrics.descent()) / 2)
        result, tone = self._result_words(block)
        right = edge + width - 9 - self._small_metrics.horizontalAdvance(result)
        if result:
            painter.setFont(self._small)
            painter.setPen(theme.color(tone))
            painter.drawText(QPointF(right, baseline), result)
        x = edge + 28.0
        painter.setFont(self.code_font)
        painter.setPen(theme.color("text"))
        title = metrics.elidedText(block.title, Qt.TextElideMode.ElideRight, max(20.0, right - x - 8))
        painter.drawText(QPointF(x, baseline), title)
        x += metrics.horizontalAdvance(title) + 8
        if right - x > 16:
            painter.setPen(theme.color("muted"))
            shown = metrics.elidedText(" ".join(block.text.split()), Qt.TextElideMode.ElideRight, right - x - 8)
            painter.drawText(QPointF(x, baseline), shown)

    def _result_words(self, block: Block) -> tuple[str, str]:
        """The short word at the right of a box: a short result itself, else its size."""
        if block.result is None:
            return "…", "run_t"
        if block.failed:
            return (tr("stopped"), "text2") if block.result == STOPPED else (tr("failed"), "fail_t")
        if len(block.result) <= 16 and "\n" not in block.result:
            return block.result, "done_t"
        size = len(block.result.encode())
        return (f"{size} B" if size < 1000 else f"{size / 1000:.1f} kB"), "done_t"

    def _paint_caret(self, painter: QPainter, text: LaneText, scrolled: int) -> None:
        block = text.blocks[-1]
        if block.boxed or not block.lines:
            return
        start, end = block.lines[-1]
        x = EDGE + text.left(block) + self.fonts.width(block, start, end) + 2
        y = block.top - scrolled + (len(block.lines) - 1) * self.line + 2
        painter.fillRect(QRectF(x, y, 7, 13), self.theme.color("run"))
