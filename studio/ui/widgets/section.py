"""A folding section: header with a chevron, content below; no animation."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from studio.ui.theme import Theme
from studio.ui.widgets.buttons import focus_ring

_DIRECT = Qt.FindChildOption.FindDirectChildrenOnly


class _Header(QAbstractButton):
    def __init__(self, theme: Theme, title: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.summary = ""
        self.line = True
        self.setText(title)
        self.setCheckable(True)
        self.setChecked(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName(title)

    def sizeHint(self) -> QSize:
        return QSize(120, self._theme.length(28) + 1)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        if self.line:
            painter.fillRect(0, 0, self.width(), 1, self._theme.color("line"))
        top = 1
        if self.underMouse():
            painter.fillRect(0, top, self.width(), self.height() - top, self._theme.color("hover"))
        ratio = self.devicePixelRatioF()
        icon = "chevron-down" if self.isChecked() else "chevron-right"
        height = self.height() - top
        painter.drawPixmap(QPoint(10, top + (height - 12) // 2), self._theme.pixmap(icon, 12, "text", ratio))
        font = self._theme.font("section")
        metrics = QFontMetrics(font)
        baseline = top + (height + metrics.ascent() - metrics.descent()) // 2
        painter.setFont(font)
        painter.setPen(self._theme.color("text"))
        painter.drawText(QPoint(28, baseline), self.text())
        if self.summary:
            plain = QFontMetrics(self._theme.font("body"))
            painter.setFont(self._theme.font("body"))
            painter.setPen(self._theme.color("muted"))
            room = self.width() - 40 - metrics.horizontalAdvance(self.text()) - 10
            shown = plain.elidedText(self.summary, Qt.TextElideMode.ElideRight, room)
            painter.drawText(QPoint(self.width() - 12 - plain.horizontalAdvance(shown), baseline), shown)
        if self.hasFocus():
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            focus_ring(painter, self._theme, QRectF(self.rect()).adjusted(3, 3, -3, -2), 4)


class Section(QWidget):
    """Header and content. ``summary`` stands at the right of the header ("2 changed", "all default")."""

    toggled = Signal(bool)

    def __init__(
        self, theme: Theme, title: str, *, open_: bool = True, gap: int = 11, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, gap, 0, 0)
        layout.setSpacing(0)
        self._header = _Header(theme, title, self)
        self._row = QHBoxLayout()
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.addWidget(self._header)
        layout.addLayout(self._row)
        self.content = QWidget(self)
        self.body = QVBoxLayout(self.content)
        self.body.setContentsMargins(0, 0, 0, 0)
        self.body.setSpacing(0)
        layout.addWidget(self.content)
        self._header.toggled.connect(self._on_header_toggled)
        if not open_:
            self._header.setChecked(False)

    def add(self, widget: QWidget) -> None:
        """Puts a widget at the end; the first field stands close to the header."""
        if self.body.count() == 0:
            for layout in (widget.layout(), *(w.layout() for w in widget.findChildren(QWidget, "", _DIRECT))):
                if layout is not None and layout.contentsMargins().top() >= 8:
                    margins = layout.contentsMargins()
                    layout.setContentsMargins(margins.left(), 1, margins.right(), margins.bottom())
        self.body.addWidget(widget)

    @property
    def is_open(self) -> bool:
        """Whether the content is shown."""
        return self._header.isChecked()

    def set_open(self, shown: bool) -> None:
        """Folds or unfolds."""
        self._header.setChecked(shown)

    def set_title(self, title: str) -> None:
        """Another title."""
        self._header.setText(title)
        self._header.update()

    def set_summary(self, text: str) -> None:
        """The muted text at the right of the header."""
        if text != self._header.summary:
            self._header.summary = text
            self._header.update()

    def _on_header_toggled(self, shown: bool) -> None:
        self.content.setVisible(shown)
        self.toggled.emit(shown)
