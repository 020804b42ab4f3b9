"""Rows of the left column: actions and recent files."""

from __future__ import annotations

import time
from pathlib import Path

from PySide6.QtCore import QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from studio.settings.recent import RecentFile
from studio.ui.text import one_line, tip, tr
from studio.ui.theme import Theme


class _Row(QAbstractButton):
    """A flat button as wide as its column, with hover and focus."""

    def __init__(self, theme: Theme, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setText(text)
        self.setAccessibleName(text)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        theme.changed.connect(self._on_theme_changed)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground = "sel" if self.isDown() else "hover" if self.underMouse() else None
        if ground is not None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self.theme.color(ground))
            painter.drawRoundedRect(QRectF(self.rect()), 6, 6)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(self.theme.color("accent"), 2))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 6, 6)
        self.paint_row(painter)

    def paint_row(self, painter: QPainter) -> None:
        """Paints the content."""
        raise NotImplementedError

    def write(self, painter: QPainter, x: int, baseline: int, text: str, role: str, token: str, room: int) -> None:
        """One elided text."""
        metrics = QFontMetrics(self.theme.font(role))
        painter.setFont(self.theme.font(role))
        painter.setPen(self.theme.color(token))
        painter.drawText(QPoint(x, baseline), metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, room))

    def _on_theme_changed(self) -> None:
        self.updateGeometry()
        self.update()


class ActionRow(_Row):
    """Icon, verb, key."""

    def __init__(self, theme: Theme, icon: str, text: str, keys: str, parent: QWidget | None = None) -> None:
        super().__init__(theme, text, parent)
        self._icon, self._keys = icon, keys

    def sizeHint(self) -> QSize:
        return QSize(200, self.theme.length(32))

    def paint_row(self, painter: QPainter) -> None:
        middle = self.height() // 2
        pixmap = self.theme.pixmap(self._icon, 16, "accent", self.devicePixelRatioF())
        painter.drawPixmap(QPoint(10, middle - 8), pixmap)
        metrics = QFontMetrics(self.theme.font("strong"))
        baseline = (self.height() + metrics.ascent() - metrics.descent()) // 2
        keys = QFontMetrics(self.theme.font("small")).horizontalAdvance(self._keys)
        self.write(painter, 36, baseline, self.text(), "strong", "text", self.width() - 56 - keys)
        self.write(painter, self.width() - 10 - keys, baseline, self._keys, "small", "muted", keys + 2)


class GuideRow(_Row):
    """Icon, verb, and a line about it, under a thin line."""

    def __init__(self, theme: Theme, icon: str, text: str, about: str, parent: QWidget | None = None) -> None:
        super().__init__(theme, text, parent)
        self._icon, self._about = icon, about
        self.setAccessibleDescription(about)

    def sizeHint(self) -> QSize:
        return QSize(220, self.theme.length(54))

    def paint_row(self, painter: QPainter) -> None:
        painter.fillRect(0, 0, self.width(), 1, self.theme.color("line"))
        pixmap = self.theme.pixmap(self._icon, 18, "accent", self.devicePixelRatioF())
        painter.drawPixmap(QPoint(12, self.theme.length(14)), pixmap)
        self.write(painter, 42, self.theme.length(26), self.text(), "strong", "text", self.width() - 50)
        self.write(painter, 42, self.theme.length(43), self._about, "body", "text2", self.width() - 50)


class RecentRow(_Row):
    """Name and folder, time of the last opening; a file that is gone says so."""

    def __init__(self, theme: Theme, file: RecentFile, parent: QWidget | None = None) -> None:
        super().__init__(theme, one_line(file.name) or Path(file.path).name, parent)
        self.file = file
        self._there = file.exists
        self.setToolTip(tip(str(file.path)))

    def sizeHint(self) -> QSize:
        return QSize(200, self.theme.length(44))

    def paint_row(self, painter: QPainter) -> None:
        height = self.height()
        tile = QRectF(10, height / 2 - 11, 22, 22)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.theme.color("sunken"))
        painter.drawRoundedRect(tile, 5, 5)
        pixmap = self.theme.pixmap("own:layout", 14, "text2" if self._there else "off", self.devicePixelRatioF())
        painter.drawPixmap(QPoint(14, round(height / 2 - 7)), pixmap)
        when = when_text(self.file.opened, time.time()) if self._there else tr("not found")
        side = QFontMetrics(self.theme.font("small")).horizontalAdvance(when)
        line = self.theme.length(16)
        upper = height // 2 - line + QFontMetrics(self.theme.font("strong")).ascent() + 1
        room = self.width() - 62 - side
        token = "text" if self._there else "muted"
        self.write(painter, 42, upper, self.text(), "strong", token, room)
        self.write(painter, 42, upper + line, shown_path(self.file.path), "small", "muted", room)
        self.write(painter, self.width() - 10 - side, upper + line, when, "small", "muted", side + 2)


def shown_path(path: str) -> str:
    """A path as people know it: under their home folder without the home folder."""
    try:
        return str(Path(path).relative_to(Path.home()))
    except ValueError:
        return path


def when_text(moment: float, now: float) -> str:
    """``14:35`` today, ``yesterday``, else ``27 Nov``, with the year if it is another one."""
    then, today = time.localtime(moment), time.localtime(now)
    if then[:3] == today[:3]:
        return time.strftime("%H:%M", then)
    if time.localtime(now - 86_400)[:3] == then[:3]:
        return tr("yesterday")
    text = f"{then.tm_mday} {time.strftime('%b', then)}"
    return text if then.tm_year == today.tm_year else f"{text} {then.tm_year}"
