"""How much the runs of a workflow take on disk, and how much of it compacting gives back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from studio.ui.paint.numbers import size_text
from studio.ui.text import tr
from studio.ui.theme import Theme

if TYPE_CHECKING:
    from studio.checkpoints.upkeep import Sizes

_BAR = 70


class SizeBar(QWidget):
    """A bar of what is used, and the words."""

    def __init__(self, theme: Theme, *, words: bool = True, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._words = theme, words
        self._sizes: Sizes | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding if words else QSizePolicy.Policy.Fixed,
                           QSizePolicy.Policy.Fixed)  # fmt: skip

    @property
    def text(self) -> str:
        """The sizes in words; "" while they are not known."""
        if self._sizes is None:
            return ""
        text = tr("{size} on disk").format(size=size_text(self._sizes.file))
        free = self._sizes.free
        return text + (", " + tr("about {size} can be freed").format(size=size_text(free)) if free > 1000 else "")

    def show_sizes(self, sizes: Sizes | None) -> None:
        """Shows other sizes."""
        self._sizes = sizes
        self.setAccessibleName(self.text)
        self.setToolTip(self.text)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(260 if self._words else _BAR, self._theme.length(18))

    def minimumSizeHint(self) -> QSize:
        return QSize(_BAR, self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self._sizes is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(self._theme.color("border"))
        middle = self.height() / 2
        whole = QRectF(0.5, middle - 3, _BAR - 1, 6)
        painter.setBrush(self._theme.color("sunken"))
        painter.drawRoundedRect(whole, 3, 3)
        total = max(self._sizes.file, 1)
        used = max(0.0, min(1.0, (total - self._sizes.free) / total))
        painter.setBrush(self._theme.color("accent"))
        painter.drawRoundedRect(QRectF(whole.left(), whole.top(), max(6.0, whole.width() * used), 6), 3, 3)
        if self._words:
            painter.setFont(self._theme.font("body"))
            painter.setPen(self._theme.color("text2"))
            metrics = QFontMetrics(painter.font())
            y = (self.height() + metrics.ascent() - metrics.descent()) // 2
            painter.drawText(_BAR + 10, y, self.text)
