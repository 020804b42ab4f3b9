"""Notes, and frames around nodes."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QPainter,
    QPalette,
    QStaticText,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFragment,
    QTextLine,
    QTextOption,
)

from studio.document.geometry import NOTE
from studio.ui.canvas.item import NO_PEN, DrawnItem, Look
from studio.ui.canvas.levels import READABLE
from studio.ui.canvas.routing import End
from studio.ui.paint import Ink, draw_glyph, scene_font
from studio.ui.text import one_line

FRAME_PADDING = (20.0, 36.0, 20.0, 28.0)
"""Left, top, right, bottom of a frame around its members."""
FRAME_TITLE = 28.0
NOTE_TEXT = 11.5
"""Pixels of a note's text at 100 %."""
ELLIPSIS = 10.0
"""Room for an ellipsis at the end of a line of a note."""
_GLYPHS = {
    "concurrent": "concurrent",
    "sequential": "sequential",
    "handoff": "handoff",
    "group_chat": "group-chat",
}


class NoteItem(DrawnItem):
    """A sticky note with Markdown text. No border, no ports."""

    layer = 1.0

    def __init__(self, item_id: str, look: Look) -> None:
        super().__init__(item_id, look)
        self.text = ""
        self.box = QRectF(0, 0, *NOTE)
        self._document = QTextDocument()
        self._document.setDocumentMargin(0)

    def show_note(self, text: str, width: float, height: float | None) -> None:
        """Shows this text; without a height the note is as high as its text."""
        self.prepareGeometryChange()
        self.text = text
        self._lay_out(width)
        needed = self._document.size().height() + 16
        self.box = QRectF(0, 0, width, max(32.0, height if height is not None else needed))
        self.update()

    def refresh_look(self) -> None:
        self._lay_out(self.box.width())
        self.update()

    def _lay_out(self, width: float) -> None:
        font, metrics = scene_font(self.look.theme, "small", pixels=NOTE_TEXT)
        self._document.setDefaultFont(font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WordWrap)
        self._document.setDefaultTextOption(option)
        self._document.setMarkdown(self.text.replace("\n", "  \n"), QTextDocument.MarkdownFeature.MarkdownNoHTML)
        self._document.setTextWidth(width - 20)
        cursor = QTextCursor(self._document)
        cursor.select(QTextCursor.SelectionType.Document)
        lines = QTextBlockFormat()
        lines.setLineHeight(max(16.0, metrics.height() + 2), QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        lines.setTopMargin(0)
        lines.setBottomMargin(0)
        cursor.mergeBlockFormat(lines)
        self._embolden()

    def _embolden(self) -> None:
        """Bold words get the semibold font: a variable font is not made heavier by a text format's weight."""
        strong = QTextCharFormat()
        strong.setFont(scene_font(self.look.theme, "small", pixels=NOTE_TEXT, weight=600)[0])
        block = self._document.begin()
        while block.isValid():
            for part in _fragments(block):
                if part.charFormat().fontWeight() > 500:
                    cursor = QTextCursor(self._document)
                    cursor.setPosition(part.position())
                    cursor.setPosition(part.position() + part.length(), QTextCursor.MoveMode.KeepAnchor)
                    cursor.mergeCharFormat(strong)
            block = block.next()

    def out_end(self, case: int = 0) -> End:
        return End(self.x() + self.box.width(), self.y(), "right", 0.0)

    def in_end(self, across: float) -> End:
        return End(self.x(), self.y(), "left", 0.0)

    def paint_near(self, painter: QPainter, tools: Ink) -> None:
        self._paint_paper(painter, tools)
        self.paint_focus(painter, tools)
        # Below 70 % the text keeps the size that can be read, on fewer words a line.
        grown = max(1.0, READABLE / (self.look.zoom * NOTE_TEXT))
        width = (self.box.width() - 20) / grown
        if abs(self._document.textWidth() - width) > 0.5:
            self._document.setTextWidth(width)
        context = QAbstractTextDocumentLayout.PaintContext()
        context.palette.setColor(QPalette.ColorRole.Text, tools.color("text2"))
        painter.save()
        painter.translate(10, 8)
        painter.scale(grown, grown)
        end, cut = self._whole_lines((self.box.height() - 12) / grown, width)
        painter.setClipRect(QRectF(0, 0, width + 4, end))
        self._document.documentLayout().draw(painter, context)
        if cut is not None:
            painter.setClipping(False)
            painter.fillRect(QRectF(cut.topLeft(), QPointF(width + 5, end)), tools.brush("wait_s"))
            painter.setFont(scene_font(self.look.theme, "small", pixels=NOTE_TEXT)[0])
            painter.setPen(tools.color("text2"))
            painter.drawText(cut.bottomLeft(), "…")
        painter.restore()

    def _whole_lines(self, room: float, width: float) -> tuple[float, QRectF | None]:
        """How far down the text goes in lines that fit, and where an ellipsis stands in the last of them: from its top
        to its baseline; None: all of them fit."""
        end, cut, block = 0.0, QRectF(), self._document.begin()
        layout = self._document.documentLayout()
        while block.isValid():
            top = layout.blockBoundingRect(block).top()
            for number in range(block.layout().lineCount()):
                line = block.layout().lineAt(number)
                bottom = top + line.y() + line.height()
                if bottom > room:
                    return end, cut
                behind = line.textStart() + line.textLength()
                while behind > line.textStart() and _x(line, behind) > width - ELLIPSIS:
                    behind -= 1
                end, cut = bottom, QRectF(_x(line, behind), top + line.y(), 0, line.ascent())
            block = block.next()
        return max(end, room), None

    def paint_flat(self, painter: QPainter, tools: Ink) -> None:
        self._paint_paper(painter, tools)

    def _paint_paper(self, painter: QPainter, tools: Ink) -> None:
        painter.setBrush(tools.brush("wait_s"))
        painter.setPen(tools.pen("accent", 2.0, cosmetic=True) if self.selected else NO_PEN)
        painter.drawRoundedRect(self.box, 6, 6)


def _x(line: QTextLine, at: int) -> float:
    """Where the letter at a place of a block begins."""
    found = line.cursorToX(at)
    return float(found[0] if isinstance(found, tuple) else found)  # type: ignore[arg-type]


def _fragments(block: QTextBlock) -> list[QTextFragment]:
    found, at = [], block.begin()
    while not at.atEnd():
        found.append(at.fragment())
        at += 1
    return found


_TITLE_LEFT, _GLYPH = 13.0, 19
"""Beside the title of a frame, and what its glyph takes."""


class FrameItem(DrawnItem):
    """A frame around its members, or the group of a pattern."""

    layer = 0.0

    def __init__(self, item_id: str, look: Look) -> None:
        super().__init__(item_id, look)
        self.name = ""
        self.kind = "frame"
        self.detail = ""
        self.members: tuple[str, ...] = ()
        self._title = QStaticText()
        self._detail = QStaticText()
        self._title_width = 0.0

    def show_frame(self, name: str, kind: str, detail: str, members: tuple[str, ...], rect: QRectF) -> None:
        """Shows this around ``rect`` (scene coordinates)."""
        if (name, kind, detail, members, rect) == (self.name, self.kind, self.detail, self.members, self.rect):
            return
        self.prepareGeometryChange()
        self.name, self.kind, self.detail, self.members = name, kind, detail, members
        self.setPos(rect.topLeft())
        self.box = QRectF(0, 0, rect.width(), rect.height())
        self.refresh_look()

    def refresh_look(self) -> None:
        font, metrics = scene_font(self.look.theme, "small", weight=600)
        room = self.box.width() - 2 * _TITLE_LEFT - (_GLYPH if self.kind in _GLYPHS else 0)
        title = metrics.elidedText(one_line(self.name), Qt.TextElideMode.ElideRight, room)
        self._title_width = metrics.horizontalAdvance(title)
        rest = f"· {self.detail}" if self.detail and title == self.name else ""
        self._title, self._detail = QStaticText(title), QStaticText(rest)
        for text in (self._title, self._detail):
            text.setTextFormat(Qt.TextFormat.PlainText)
        self._title.prepare(font=font)
        self._detail.prepare(font=scene_font(self.look.theme, "small")[0])
        self.update()

    def out_end(self, case: int = 0) -> End:
        return End(self.x() + self.box.width(), self.rect.center().y(), "right", 0.0)

    def in_end(self, across: float) -> End:
        return End(self.x(), self.rect.center().y(), "left", 0.0)

    @property
    def title_rect(self) -> QRectF:
        """Where the frame is taken hold of, in scene coordinates."""
        return QRectF(self.x(), self.y(), self.box.width(), FRAME_TITLE)

    def paint_near(self, painter: QPainter, tools: Ink) -> None:
        self._paint_area(painter, tools)
        fixed = not self.look.small_text
        painter.save()
        if fixed:
            painter.scale(0.8 / self.look.zoom, 0.8 / self.look.zoom)
        x, top = _TITLE_LEFT, 3.0 if fixed else 8.0
        glyph = _GLYPHS.get(self.kind)
        if glyph is not None:
            draw_glyph(painter, tools, glyph, x, top + 1, 13, "text2")
            x += _GLYPH
        font, metrics = scene_font(self.look.theme, "small", weight=600)
        painter.setFont(font)
        painter.setPen(tools.color("text2"))
        y = top + 7.5 - metrics.height() / 2
        painter.drawStaticText(QPointF(x, y), self._title)
        if self.detail and not fixed:
            painter.setFont(scene_font(self.look.theme, "small")[0])
            painter.setPen(tools.color("muted"))
            painter.drawStaticText(QPointF(x + self._title_width + 6, y), self._detail)
        painter.restore()
        self.paint_focus(painter, tools)

    def _paint_area(self, painter: QPainter, tools: Ink) -> None:
        painter.setBrush(tools.brush("sunken", 0.45))
        pen = tools.pen("accent", 2.0, cosmetic=True) if self.selected else tools.pen("border", 1.0)
        painter.setPen(pen)
        painter.drawRoundedRect(self.box.adjusted(0.5, 0.5, -0.5, -0.5), 12, 12)
