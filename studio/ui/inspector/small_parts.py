"""Rows that several inspector pages have: facts, chip rows, messages of a conversation, type chips."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from studio.agents.messages import ApprovalResponse, Message, ToolCall, ToolResult
from studio.ui.paint.numbers import count_text
from studio.ui.text import tip, tr
from studio.ui.theme import Theme
from studio.ui.widgets.labels import Chip, IconLabel, Label, Prose

_WIDE = re.compile("[\u2e81-\U0010ffff]+")


def estimate(text: str) -> int:
    """Tokens of a text, roughly: four characters of Latin text each, one of a wide character."""
    wide = 0 if text.isascii() else len(text) - len(_WIDE.sub("", text))
    return math.ceil((len(text) - wide) / 4) + wide


class Facts(QWidget):
    """Names at the left, values at the right."""

    def __init__(self, theme: Theme, name_width: int = 84, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(12, 10, 12, 4)
        self._grid.setHorizontalSpacing(0)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnMinimumWidth(0, theme.length(name_width))
        self._grid.setColumnStretch(1, 1)

    def add(self, name: str, value: str | QWidget, tone: str = "text") -> None:
        """One row; a text wraps."""
        at = self._grid.rowCount()
        title = Prose(self._theme, name, "body", "muted", 18)
        top = Qt.AlignmentFlag.AlignTop
        self._grid.addWidget(title, at, 0, top)
        widget = Prose(self._theme, value, "body", tone, 18) if isinstance(value, str) else value
        if isinstance(widget, Prose):
            self._grid.addWidget(widget, at, 1, top)
        else:
            self._grid.addWidget(widget, at, 1, top | Qt.AlignmentFlag.AlignLeft)

    def clear(self) -> None:
        """Takes every row out."""
        while (item := self._grid.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()


class TypeRow(QWidget):
    """ "Accepts" and chips that wrap."""

    def __init__(self, theme: Theme, title: str, names: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 2, 12, 2)
        row.setSpacing(0)
        label = Label(theme, title, "body", "muted")
        label.setFixedWidth(theme.length(72))
        label.setMinimumHeight(20)
        row.addWidget(label, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(ChipRow(theme, names), 1)


class ChipRow(QWidget):
    """Square chips that wrap to the width."""

    def __init__(self, theme: Theme, texts: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._chips = [Chip(theme, t, square=True, parent=self) for t in texts]
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def sizeHint(self) -> QSize:
        return QSize(240, self.heightForWidth(self.width() if self.width() > 120 else 240))

    def minimumSizeHint(self) -> QSize:
        return QSize(60, 20)

    def heightForWidth(self, width: int) -> int:
        return self._place(width, move=False)

    def resizeEvent(self, event: object) -> None:
        self._place(self.width(), move=True)

    def _place(self, width: int, *, move: bool) -> int:
        x = y = 0
        for chip in self._chips:
            size = chip.sizeHint().boundedTo(QSize(max(width, 40), 1000))
            if x and x + size.width() > width:
                x, y = 0, y + 24
            if move:
                chip.setGeometry(x, y, size.width(), size.height())
            x += size.width() + 4
        return y + 20


class Check(QWidget):
    """An icon and a sentence: "Same nodes and edges as the open workflow."."""

    def __init__(self, theme: Theme, icon: str, tone: str, text: str, text_tone: str = "text2") -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 2, 12, 2)
        row.setSpacing(7)
        holder = QVBoxLayout()
        holder.setContentsMargins(0, 1, 0, 0)
        holder.addWidget(IconLabel(theme, icon, 15, tone))
        holder.addStretch(1)
        row.addLayout(holder)
        row.addWidget(Prose(theme, text, "body", text_tone, 17), 1)


class MessageRow(QWidget):
    """A message of a conversation in one line: role, author, text, tokens."""

    def __init__(self, theme: Theme, message: Message, *, line: bool, edge: int = 12) -> None:
        super().__init__()
        self._theme, self._line, self._edge = theme, line, edge
        self._role = message.role
        self._author = message.author or ""
        self._text = said(message).replace("\n", " ")
        self._tokens = count_text(estimate(said(message)))
        self.setFixedHeight(theme.length(23))
        self.setToolTip(tip(said(message)[:2000]))
        self.setAccessibleName(f"{message.role} {self._author} {self._text}")

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme, painter = self._theme, QPainter(self)
        paint_role(painter, theme, self._edge, (self.height() - 16) / 2, self._role)
        small, body = theme.font("small"), theme.font("body")
        metrics, narrow = QFontMetrics(body), QFontMetrics(small)
        baseline = (self.height() + metrics.ascent() - metrics.descent()) // 2
        right = self.width() - self._edge - narrow.horizontalAdvance(self._tokens)
        painter.setFont(small)
        painter.setPen(theme.color("muted"))
        painter.drawText(right, baseline, self._tokens)
        painter.setFont(body)
        x = self._edge + 68
        if self._author:
            author = f"{self._author} "
            painter.drawText(x, baseline, author)
            x += metrics.horizontalAdvance(author)
        painter.setPen(theme.color("text"))
        painter.drawText(x, baseline, metrics.elidedText(self._text, Qt.TextElideMode.ElideRight, right - 8 - x))
        if self._line:
            painter.fillRect(0, self.height() - 1, self.width(), 1, theme.color("line"))


def paint_role(painter: QPainter, theme: Theme, x: float, y: float, role: str) -> None:
    """The grey tag of a role."""
    font = theme.font("tiny")
    metrics = QFontMetrics(font)
    rect = QRectF(x, y, metrics.horizontalAdvance(role) + 10, 16)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.color("sunken"))
    painter.drawRoundedRect(rect, 3, 3)
    painter.setFont(font)
    painter.setPen(theme.color("text2"))
    painter.drawText(round(x + 5), round(y + (16 + metrics.ascent() - metrics.descent()) / 2), role)


class Card(QFrame):
    """A frame around rows; the rows' own lines divide them."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(1, 1, 1, 1)
        self.column.setSpacing(0)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._theme.color("line"), 1))
        painter.setBrush(self._theme.color("surface"))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)


def said(message: Message) -> str:
    """A message in words: its text, else its tool calls and results."""
    if message.text:
        return message.text
    parts = []
    for part in message.parts:
        if isinstance(part, ToolCall):
            parts.append(f"{part.name}({part.arguments})")
        elif isinstance(part, ToolResult):
            parts.append(str(part.result if part.error is None else part.error))
        elif isinstance(part, ApprovalResponse):
            changed = tr("changed the call of {tool}").format(tool=part.call.name)
            parts.append(tr("approved") if part.approved else tr("refused") if part.instead is None else changed)
    return ", ".join(parts) or "–"
