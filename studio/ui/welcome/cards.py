"""Template cards."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPainterPath, QPaintEvent, QPen, QTextLayout
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from studio.document.lines import counts
from studio.ui.text import tip, tr
from studio.ui.theme import Theme
from studio.ui.welcome.templates import Template
from studio.ui.welcome.thumbnail import paint_picture, picture
from studio.ui.widgets.sources import counted

_PICTURE = 112


class TemplateCard(QAbstractButton):
    """Picture, name, number of nodes, two lines of description. Without a template: the empty workflow."""

    def __init__(self, theme: Theme, template: Template | None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.template = template
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self._picture = picture(template.workflow) if template is not None else None
        title = template.workflow.name if template is not None else tr("Empty workflow")
        self.description = (
            template.workflow.description if template is not None
            else tr("A blank canvas. Press Shift+A to add the first node.")
        )  # fmt: skip
        self.setText(title)
        self.setAccessibleName(title)
        self.setAccessibleDescription(self.description)
        self.setToolTip(tip(self.description))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self._on_theme_changed)

    def matches(self, typed: str, shelf: object = "all") -> bool:
        """Whether the card is shown for a search on a shelf (``all`` or a :data:`Shelf`)."""
        if shelf != "all" and (self.template is None or self.template.shelf != shelf):
            return False
        return all(word in f"{self.text()} {self.description}".casefold() for word in typed.casefold().split())

    def sizeHint(self) -> QSize:
        title = QFontMetrics(self._theme.font("title")).height()
        return QSize(240, _PICTURE + 20 + title + 2 * self._theme.length(16))

    def minimumSizeHint(self) -> QSize:
        return QSize(200, self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        frame = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        outline = QPainterPath()
        outline.addRoundedRect(frame, 8, 8)
        area = QRectF(frame.left(), frame.top(), frame.width(), _PICTURE)
        if self._picture is not None:
            painter.fillPath(outline, self._theme.color("surface"))
            painter.setClipPath(outline)
            paint_picture(painter, self._theme, area, self._picture)
            painter.fillRect(QRectF(frame.left(), area.bottom(), frame.width(), 1), self._theme.color("line"))
            painter.setClipping(False)
        else:
            plus = self._theme.pixmap("plus", 24, "muted", self.devicePixelRatioF())
            painter.drawPixmap(QPoint(round(area.center().x() - 12), round(area.center().y() - 12)), plus)
        self._paint_frame(painter, outline)
        self._paint_texts(painter, frame)

    def _paint_frame(self, painter: QPainter, outline: QPainterPath) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if self.hasFocus() or self.isDown():
            painter.setPen(QPen(self._theme.color("accent"), 2))
        elif self._picture is None:
            pen = QPen(self._theme.color("accent" if self.underMouse() else "ctl"), 1)
            pen.setDashPattern([3, 3])
            painter.setPen(pen)
        else:
            painter.setPen(QPen(self._theme.color("ctl" if self.underMouse() else "border"), 1))
        painter.drawPath(outline)

    def _paint_texts(self, painter: QPainter, frame: QRectF) -> None:
        title = QFontMetrics(self._theme.font("title"))
        top = frame.top() + _PICTURE + 9
        right = frame.right() - 12
        if self.template is not None:
            right -= self._paint_tag(painter, right, top) + 8
        painter.setFont(self._theme.font("title"))
        painter.setPen(self._theme.color("text"))
        room = round(right - frame.left() - 12)
        shown = title.elidedText(self.text(), Qt.TextElideMode.ElideRight, room)
        painter.drawText(QPoint(round(frame.left() + 12), round(top + title.ascent())), shown)
        self._paint_description(painter, frame, top + title.height() + 2)

    def _paint_tag(self, painter: QPainter, right: float, top: float) -> float:
        assert self.template is not None
        text = _tag(self.template)
        metrics = QFontMetrics(self._theme.font("tiny"))
        width = metrics.horizontalAdvance(text) + 12
        tag = QRectF(right - width, top, width, metrics.height() + 3)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("sunken"))
        painter.drawRoundedRect(tag, 4, 4)
        painter.setFont(self._theme.font("tiny"))
        painter.setPen(self._theme.color("text2"))
        painter.drawText(tag, Qt.AlignmentFlag.AlignCenter, text)
        return width

    def _paint_description(self, painter: QPainter, frame: QRectF, top: float) -> None:
        font = self._theme.font("body")
        metrics = QFontMetrics(font)
        width = frame.width() - 24
        layout = QTextLayout(self.description, font)
        layout.beginLayout()
        lines: list[str] = []
        while len(lines) < 2:
            line = layout.createLine()
            if not line.isValid():
                break
            line.setLineWidth(width)
            start = line.textStart()
            lines.append(self.description[start : start + line.textLength()] if len(lines) == 0
                         else self.description[start:])  # fmt: skip
        layout.endLayout()
        painter.setFont(font)
        painter.setPen(self._theme.color("text2"))
        for number, text in enumerate(lines):
            shown = metrics.elidedText(text.strip(), Qt.TextElideMode.ElideRight, round(width) + 2)
            baseline = top + number * self._theme.length(16) + metrics.ascent()
            painter.drawText(QPoint(round(frame.left() + 12), round(baseline)), shown)

    def _on_theme_changed(self) -> None:
        self.updateGeometry()
        self.update()


def _tag(template: Template) -> str:
    if template.shelf == "patterns":
        return tr("pattern")
    if template.nested:
        return tr("sub-workflow")
    return counted(counts(template.workflow)[0], tr("1 node"), tr("{count} nodes"))
