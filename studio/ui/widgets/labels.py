"""Labels with a role, wrapped prose with the design's line height, elided one-liners, chips and icons."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from studio.ui.text import tip
from studio.ui.theme import Theme
from studio.ui.widgets.polish import repolish


class Label(QLabel):
    """A one-line label: a type role of the theme and a colour token; plain text."""

    def __init__(
        self, theme: Theme, text: str = "", font: str = "body", tone: str = "text", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme, self._role = theme, font
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)
        self.setProperty("tone", tone)
        self._take_font()
        theme.changed.connect(self._take_font)

    def set_tone(self, tone: str) -> None:
        """Another colour."""
        repolish(self, "tone", tone)

    def _take_font(self) -> None:
        self.setFont(self._theme.font(self._role))


class Prose(Label):
    """Wrapped text with a fixed line height, selectable with the mouse."""

    _body = ""

    def __init__(
        self,
        theme: Theme,
        text: str = "",
        font: str = "body",
        tone: str = "text",
        line_height: int = 16,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(theme, "", font, tone, parent)
        self._line_height = line_height
        self._plain = ""
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.set_text(text)

    @property
    def plain(self) -> str:
        """The text as given."""
        return self._plain

    def set_text(self, text: str) -> None:
        """Shows plain text; line breaks are kept."""
        body = escape(text).replace("\n", "<br>")
        self.set_html(text, body)

    def set_html(self, plain: str, body: str) -> None:
        """Shows marked-up text; ``plain`` is what a screen reader says."""
        self._plain, self._body = plain, body
        self.setAccessibleName(plain)
        height = self._theme.length(self._line_height)
        self.setText(f'<p style="margin:0;line-height:{height}px">{body}</p>')

    def _take_font(self) -> None:
        super()._take_font()
        if self._body:
            self.set_html(self._plain, self._body)


class Elided(QWidget):
    """One line that ends in … when there is no room; the tooltip has the whole text."""

    def __init__(
        self, theme: Theme, text: str = "", role: str = "body", token: str = "text", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme, self._text, self._role, self._token = theme, text, role, token
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def text(self) -> str:
        """The whole text."""
        return self._text

    def set_text(self, text: str, token: str | None = None) -> None:
        """Another text, and another colour if given."""
        self._text = text
        if token is not None:
            self._token = token
        self.setAccessibleName(text)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self._font())
        return QSize(metrics.horizontalAdvance(self._text) + 2, max(metrics.height(), 16))

    def minimumSizeHint(self) -> QSize:
        return QSize(12, self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        font = self._font()
        metrics = QFontMetrics(font)
        painter.setFont(font)
        painter.setPen(self._theme.color(self._token))
        shown = metrics.elidedText(self._text.replace("\n", " "), Qt.TextElideMode.ElideRight, self.width())
        self.setToolTip(tip(self._text) if shown != self._text else "")
        painter.drawText(QPoint(0, (self.height() + metrics.ascent() - metrics.descent()) // 2), shown)

    def _font(self) -> QFont:
        return self._theme.font(self._role)


class Chip(QWidget):
    """A small rounded label: ``tone`` is "" (neutral), run, done, fail, wait, bp or accent; ``square`` for types;
    ``elided`` for words of any length: it takes what room there is, and its tooltip says all."""

    def __init__(
        self,
        theme: Theme,
        text: str,
        icon: str = "",
        tone: str = "",
        *,
        square: bool = False,
        height: int = 20,
        elided: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme, self._text, self._icon, self._tone, self._square = theme, text, icon, tone, square
        self._height = height
        self._elided = elided
        across = QSizePolicy.Policy.Maximum if elided else QSizePolicy.Policy.Fixed
        self.setSizePolicy(across, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(text)

    @property
    def text(self) -> str:
        """What it says."""
        return self._text

    def set_text(self, text: str) -> None:
        """Another text."""
        self._text = text
        self.setAccessibleName(text)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(chip_width(self._theme, self._text, self._icon), self._theme.length(self._height))

    def minimumSizeHint(self) -> QSize:
        wanted = self.sizeHint()
        return QSize(min(wanted.width(), 40), wanted.height()) if self._elided else wanted

    def resizeEvent(self, _event: QResizeEvent) -> None:
        self.setToolTip(tip(self._text) if self.width() < self.sizeHint().width() else "")

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        paint_chip(painter, self._theme, QRectF(self.rect()), self._text, self._icon, self._tone, square=self._square)


def chip_font(theme: Theme, text: str = "") -> QFont:
    """The type of a chip; numbers keep their places while they count."""
    return theme.font("small-strong", tabular=text[:1].isdigit() and "-" not in text)


def chip_width(theme: Theme, text: str, icon: str = "") -> int:
    """The width that :func:`paint_chip` needs."""
    return (
        15 + QFontMetrics(chip_font(theme, text)).horizontalAdvance(text) + (17 if icon and text else 12 if icon else 0)
    )


def paint_chip(
    painter: QPainter,
    theme: Theme,
    rect: QRectF,
    text: str,
    icon: str = "",
    tone: str = "",
    *,
    square: bool = False,
) -> None:
    """Paints a chip; used by delegates and by :class:`Chip`."""
    ground, ink = {"": ("sunken", "text2"), "accent": ("soft", "accent")}.get(tone, (f"{tone}_s", f"{tone}_t"))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.color(ground))
    radius = 4 if square else rect.height() / 2
    painter.drawRoundedRect(rect, radius, radius)
    x = rect.left() + 7
    if icon:
        ratio = painter.device().devicePixelRatio()
        painter.drawPixmap(QPoint(round(x), round(rect.center().y() - 6)), theme.pixmap(icon, 12, ink, ratio))
        x += 17
    font = chip_font(theme, text)
    metrics = QFontMetrics(font)
    painter.setFont(font)
    painter.setPen(QPen(theme.color(ink)))
    baseline = rect.top() + (rect.height() + metrics.ascent() - metrics.descent()) / 2
    room = round(rect.right() - 6 - x)
    painter.drawText(QPoint(round(x), round(baseline)), metrics.elidedText(text, Qt.TextElideMode.ElideRight, room))


class IconLabel(QWidget):
    """An icon of the theme in a token's colour; follows theme and screen."""

    def __init__(
        self, theme: Theme, icon: str, size: int = 16, token: str = "text2", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme, self._icon, self._size, self._token = theme, icon, size, token
        self.setFixedSize(size, size)

    def set_icon(self, icon: str, token: str | None = None) -> None:
        """Another icon or colour."""
        self._icon = icon
        self._token = token or self._token
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        pixmap = self._theme.pixmap(self._icon, self._size, self._token, self.devicePixelRatioF())
        painter.drawPixmap(0, 0, pixmap)
