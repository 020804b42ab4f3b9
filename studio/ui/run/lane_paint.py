"""Paints what is visible of a lane."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPen

from studio.ui.run.lane_text import BOX, LINE, Block, LaneText
from studio.ui.run.selection import Selection
from studio.ui.theme import Theme

_TOKENS = {"text": "text", "reasoning": "muted", "print": "text2", "error": "fail_t", "note": "muted", "tool": "text2"}
EDGE = 12
"""Room at both sides."""
_INSET = 8


class LanePainter:
    """Fonts and metrics, made once per theme."""

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        self.text_font = theme.font("text")
        self.code_font = theme.font("code-small")
        self.line, self.box = theme.length(LINE), theme.length(BOX)
        self._small = theme.font("small")
        self._metrics = {False: QFontMetricsF(self.text_font), True: QFontMetricsF(self.code_font)}
        self._small_metrics = QFontMetricsF(self._small)
        self._italic = QFont(self.text_font)
        self._italic.setItalic(True)

    def metrics(self, block: Block) -> QFontMetricsF:
        """The metrics of a block's lines."""
        return self._metrics[block.kind in ("tool", "print")]

    def paint(
        self,
        painter: QPainter,
        text: LaneText,
        clip: QRect,
        scrolled: int,
        width: int,
        selection: Selection,
        caret: bool,
    ) -> None:
        """Paints the lines inside ``clip`` of a viewport ``width`` wide."""
        if not text.blocks:
            return
        edge = EDGE
        first = text.block_at(clip.top() + scrolled)
        for index in range(first, len(text.blocks)):
            block = text.blocks[index]
            top = block.top - scrolled
            if top > clip.bottom():
                return
            if block.boxed:
                self._paint_box(painter, block, edge, top, width - 2 * edge, selection.covers_block(index))
            elif block.kind in ("print", "error"):
                self._paint_ground(painter, block, edge, top, width - 2 * edge)
            self._paint_lines(painter, block, index, clip, edge, top, selection)
        if caret:
            self._paint_caret(painter, text, edge, scrolled)

    def _paint_lines(
        self, painter: QPainter, block: Block, index: int, clip: QRect, edge: int, top: int, selection: Selection
    ) -> None:
        lines_top = top + (self.box if block.boxed else 0)
        from_line = max(0, (clip.top() - lines_top) // self.line)
        to_line = min(len(block.lines), (clip.bottom() - lines_top) // self.line + 1)
        if from_line >= to_line:
            return
        metrics = self.metrics(block)
        shown = block.shown
        x = edge + (_INSET if block.kind in ("tool", "print", "error") else 0)
        font = (
            self._italic if block.kind == "reasoning" else self.code_font if block.kind in ("tool", "print") else None
        )
        painter.setFont(font or self.text_font)
        pen = self.theme.color(_TOKENS.get(block.kind, "text"))
        baseline = (self.line + metrics.ascent() - metrics.descent()) / 2
        for number in range(from_line, to_line):
            start, end = block.lines[number]
            y = lines_top + number * self.line
            marked = selection.within(index, start, end) if not block.boxed or block.open else None
            if marked is not None:
                left = metrics.horizontalAdvance(shown[start : marked[0]])
                right = metrics.horizontalAdvance(shown[start : marked[1]])
                tail = 4 if marked[2] else 0
                painter.fillRect(QRectF(x + left, y, right - left + tail, self.line), self.theme.color("sel_line"))
            painter.setPen(pen)
            painter.drawText(QPointF(x, round(y + baseline)), shown[start:end])

    def _paint_ground(self, painter: QPainter, block: Block, edge: int, top: int, width: int) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.theme.color("fail_s" if block.kind == "error" else "sunken"))
        painter.drawRoundedRect(QRectF(edge, top, width, len(block.lines) * self.line), 4, 4)

    def _paint_box(self, painter: QPainter, block: Block, edge: int, top: int, width: int, marked: bool) -> None:
        theme = self.theme
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        height = block.height - 7
        painter.setPen(QPen(theme.color("accent" if marked else "border"), 1))
        painter.setBrush(theme.color("surface"))
        painter.drawRoundedRect(QRectF(edge + 0.5, top + 0.5, width - 1, height - 1), 5, 5)
        ratio = painter.device().devicePixelRatio()
        painter.drawPixmap(QPoint(edge + 8, top + (self.box - 13) // 2), theme.pixmap("wrench", 13, "muted", ratio))
        metrics = self._metrics[True]
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
            return "failed", "fail_t"
        if len(block.result) <= 16 and "\n" not in block.result:
            return block.result, "done_t"
        size = len(block.result.encode())
        return (f"{size} B" if size < 1000 else f"{size / 1000:.1f} kB"), "done_t"

    def _paint_caret(self, painter: QPainter, text: LaneText, edge: int, scrolled: int) -> None:
        block = text.blocks[-1]
        if block.boxed or not block.lines:
            return
        start, end = block.lines[-1]
        x = edge + self.metrics(block).horizontalAdvance(block.shown[start:end]) + 2
        y = block.top - scrolled + (len(block.lines) - 1) * self.line + 2
        painter.fillRect(QRectF(x, y, 7, 13), self.theme.color("run"))
