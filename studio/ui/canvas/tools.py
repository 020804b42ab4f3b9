"""What floats over the canvas: zoom tools, minimap, summary of the run, and lines that say why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFontMetrics,
    QHideEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPixmap,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QHBoxLayout, QToolButton, QWidget

from studio.ui.paint import Ink, draw_glyph, draw_shadow, ink
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.sources import counted

MARGIN = 14


class FloatingBox(QWidget):
    """A raised box with border and shadow, painted with a margin for the shadow."""

    SHADOW = 4
    wheel_turned = Signal(QWheelEvent)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.theme = theme
        theme.changed.connect(self.update)

    @property
    def box(self) -> QRectF:
        """The box without its shadow."""
        edge = self.SHADOW
        return QRectF(self.rect()).adjusted(edge, edge, -edge, -edge)

    @property
    def opacity(self) -> float:
        """Of all of it, 0 to 1."""
        return 1.0

    def paintEvent(self, event: QPaintEvent) -> None:
        tools = ink(self.theme)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setOpacity(self.opacity)
        draw_shadow(painter, self.box, dark=tools.dark)
        painter.setPen(tools.pen("border", 1.0))
        painter.setBrush(tools.brush("raised"))
        painter.drawRoundedRect(self.box.adjusted(0.5, 0.5, -0.5, -0.5), 5.5, 5.5)
        self.paint_inside(painter)
        painter.end()

    def paint_inside(self, painter: QPainter) -> None:
        """What is in the box."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        """The wheel turns what is below the box: Qt would lose it here."""
        self.wheel_turned.emit(event)
        event.accept()


class ZoomBar(FloatingBox):
    """− 88 % + | fit | Arrange | minimap."""

    zoom_in_requested = Signal()
    zoom_out_requested = Signal()
    actual_requested = Signal()
    fit_requested = Signal()
    arrange_requested = Signal()
    minimap_toggled = Signal(bool)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        layout = QHBoxLayout(self)
        edge = self.SHADOW
        layout.setContentsMargins(edge + 4, edge + 1, edge + 4, edge + 1)
        layout.setSpacing(2)
        self.out = self._button("own:minus", tr("Zoom out (Ctrl+-)"))
        self.percent = self._button("", tr("Zoom to 100 % (Ctrl+0)"))
        self.percent.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        self.percent.setFixedWidth(theme.length(48))
        self.percent.setFont(theme.font("body", tabular=True))
        self.into = self._button("own:plus", tr("Zoom in (Ctrl++)"))
        line = QFrame(self)
        line.setProperty("line", True)
        line.setFixedSize(1, 20)
        self.fit = self._button("own:fit", tr("Fit all (Home)"))
        self.arrange = self._button("own:arrange", tr("Arrange in layers (Ctrl+Shift+L)"), " " + tr("Arrange"))
        self.map = self._button("own:minimap", tr("Minimap (Ctrl+Shift+M)"))
        self.map.setCheckable(True)
        for widget in (self.out, self.percent, self.into, line, self.fit, self.arrange, self.map):
            layout.addWidget(widget)
        self.out.clicked.connect(self.zoom_out_requested)
        self.into.clicked.connect(self.zoom_in_requested)
        self.percent.clicked.connect(self.actual_requested)
        self.fit.clicked.connect(self.fit_requested)
        self.arrange.clicked.connect(self.arrange_requested)
        self.map.toggled.connect(self._on_map_toggled)
        self.show_zoom(1.0)

    def _button(self, icon: str, tip: str, text: str = "") -> QToolButton:
        button = QToolButton(self)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        button.setText(text)
        button.setFixedHeight(26)
        button.setFont(self.theme.font("strong"))
        if icon:
            button.setIcon(self.theme.icon(icon, "text"))
            button.setIconSize(QSize(15, 15))
        if text:
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        elif icon:
            button.setFixedWidth(28)
        return button

    def _on_map_toggled(self, shown: bool) -> None:
        self.map.setIcon(self.theme.icon("own:minimap", "accent" if shown else "text"))
        self.minimap_toggled.emit(shown)

    def show_zoom(self, zoom: float) -> None:
        self.percent.setText(f"{zoom * 100:.0f} %")


ROUNDED_UP_TO = 200
"""More rectangles than these are painted in one call, with square corners."""


def _united(rects: Iterable[QRectF]) -> QRectF:
    around = QRectF()
    for rect in rects:
        around = around.united(rect)
    return around


class Minimap(FloatingBox):
    """Rectangles of everything and the visible part; press or drag moves the view. Smaller in a small view; where it
    lies over something it lets that shine through, unless the pointer is on it."""

    SIZE, LEAST = (176, 96), 112
    PART = 0.19
    """Of the width of the view."""
    FAINT = 0.3
    FEW = 300
    """So many rectangles are put together in a fraction of a millisecond."""

    moved = Signal(float, float)
    """A point of the scene that should be in the middle."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self.setAccessibleName(tr("Minimap"))
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self._faint = False
        self.fit_into(0)
        self._rects: dict[str, QRectF] = {}
        self._grown: dict[str, QRectF] = {}
        """The same as they are painted, none smaller than :attr:`_least`."""
        self._least = 0.0
        self._chosen: tuple[str, ...] = ()
        self._plain = "border"
        self._around = QRectF()
        self._world = QRectF()
        self._seen = QRectF()
        self._grabbed: QPointF | None = None
        """While the view is dragged: from the pointer to the middle of the view, in scene coordinates."""
        self._picture: QPixmap | None = None
        """The rectangles as they are painted; None: to be painted again. The canvas below changes more often."""
        self._look: tuple[object, ...] = ()
        """What the picture was painted with."""

    def fit_into(self, width: int) -> None:
        """Its size in a view of this width."""
        across = min(self.SIZE[0], max(self.LEAST, round(width * self.PART)))
        self.setFixedSize(across + 2 * self.SHADOW, across * self.SIZE[1] // self.SIZE[0] + 2 * self.SHADOW)

    def set_faint(self, faint: bool) -> None:
        """Whether something lies under it that can be edited."""
        if faint != self._faint:
            self._faint = faint
            self.update()

    @property
    def opacity(self) -> float:
        return self.FAINT if self._faint and not self.underMouse() else 1.0

    def show_world(self, rects: Mapping[str, QRectF]) -> None:
        """Where everything is, by id, in scene coordinates."""
        self._rects, self._around = dict(rects), _united(rects.values())
        self._grown, self._picture = {}, None
        self.show_seen(self._seen)

    def follow(self, rects: Mapping[str, QRectF | None]) -> None:
        """Where some things are now; None: it is gone. What is around more than a few hundred only grows until all is
        shown again."""
        for item_id, rect in rects.items():
            if self._rects.get(item_id) == rect:
                continue
            self._picture = None
            self._grown.pop(item_id, None)
            if rect is None:
                self._rects.pop(item_id, None)
            else:
                self._rects[item_id] = rect
                self._around = self._around.united(rect)
        if self._picture is None and len(self._rects) <= self.FEW:
            self._around = _united(self._rects.values())
        self.show_seen(self._seen)

    def show_chosen(self, chosen: Iterable[str], plain: str) -> None:
        """What of it is selected, and the colour token of the rest."""
        shown = (self._chosen, self._plain)
        self._chosen, self._plain = tuple(chosen), plain
        if shown != (self._chosen, self._plain):
            self._picture = None
            self.update()

    def show_seen(self, seen: QRectF) -> None:
        """What the view shows, in scene coordinates."""
        # Under a pressed pointer the map keeps still, or the view would run away from it.
        world = self._world if self._grabbed is not None else seen.united(self._around)
        if self._picture is None or (seen, world) != (self._seen, self._world):
            self._seen, self._world = seen, world
            self.update()

    def _scale(self) -> tuple[float, float, float]:
        inner = self.box.adjusted(7, 7, -7, -7)
        if self._world.isNull():
            return 1.0, inner.x(), inner.y()
        scale = min(inner.width() / self._world.width(), inner.height() / self._world.height())
        x = inner.center().x() - self._world.center().x() * scale
        y = inner.center().y() - self._world.center().y() * scale
        return scale, x, y

    def paint_inside(self, painter: QPainter) -> None:
        tools = ink(self.theme)
        scale, x, y = self._scale()
        look = (scale, x, y, tools, self.devicePixelRatioF())
        if self._picture is None or self._look != look:
            self._picture, self._look = self._painted(tools, scale, x, y), look
        painter.drawPixmap(0, 0, self._picture)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(tools.pen("accent", 1.25))
        seen = self._seen
        view = QRectF(seen.x() * scale + x, seen.y() * scale + y, seen.width() * scale, seen.height() * scale)
        painter.drawRoundedRect(view.intersected(self.box.adjusted(4, 4, -4, -4)), 2, 2)

    def _painted(self, tools: Ink, scale: float, x: float, y: float) -> QPixmap:
        """The rectangles alone: scene coordinates times ``scale``, moved by ``x`` and ``y``."""
        ratio = self.devicePixelRatioF()
        picture = QPixmap(self.size() * ratio)
        picture.setDevicePixelRatio(ratio)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.translate(x, y)
        painter.scale(scale, scale)
        shown = self._visible(2 / scale)
        chosen = [rect for i in self._chosen if (rect := shown.get(i)) is not None]
        for token, rects in ((self._plain, list(shown.values())), ("accent", chosen)):
            painter.setBrush(tools.brush(token))
            if len(rects) > ROUNDED_UP_TO:
                painter.drawRects(rects)
                continue
            for rect in rects:
                painter.drawRoundedRect(rect, 2 / scale, 2 / scale)
        painter.end()
        return picture

    def _visible(self, least: float) -> dict[str, QRectF]:
        """The rectangles, none smaller than ``least``: in a large drawing they would be too small to be seen."""
        if self._least != least:
            self._least, self._grown = least, {}
        if len(self._grown) != len(self._rects):
            for i, r in self._rects.items():
                if i not in self._grown:
                    self._grown[i] = QRectF(r.x(), r.y(), max(least, r.width()), max(least, r.height()))
        return self._grown

    def mousePressEvent(self, event: QMouseEvent) -> None:
        at = self._at(event)
        # What is seen is taken where it is pressed; elsewhere its middle jumps to the pointer.
        self._grabbed = self._seen.center() - at if self._seen.contains(at) else QPointF()
        self._go(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton and self._grabbed is not None:
            self._go(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._grabbed = None
        self.show_seen(self._seen)
        event.accept()

    def hideEvent(self, event: QHideEvent) -> None:
        self._grabbed = None
        super().hideEvent(event)

    def _at(self, event: QMouseEvent) -> QPointF:
        scale, x, y = self._scale()
        return QPointF((event.position().x() - x) / scale, (event.position().y() - y) / scale)

    def _go(self, event: QMouseEvent) -> None:
        to = self._at(event) + (self._grabbed or QPointF())
        self.moved.emit(to.x(), to.y())
        event.accept()


class RunSummary(FloatingBox):
    """What waits while a run is paused: "3 messages queued · 1 node runs next"."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self._queued = self._next = ""
        self.hide()

    def show_counts(self, queued: int, following: int) -> None:
        """Hidden while nothing is queued."""
        self._queued = counted(queued, tr("1 message queued"), tr("{count} messages queued"))
        self._next = counted(following, tr("1 node runs next"), tr("{count} nodes run next"))
        metrics = QFontMetrics(self.theme.font("small"))
        width = 8 + 16 + metrics.horizontalAdvance(self._queued) + 24 + metrics.horizontalAdvance(self._next) + 10
        self.setFixedSize(width + 2 * self.SHADOW, 28 + 2 * self.SHADOW)
        self.setAccessibleName(f"{self._queued}, {self._next}")
        self.setVisible(queued > 0)
        self.update()

    def paint_inside(self, painter: QPainter) -> None:
        tools, box = ink(self.theme), self.box
        metrics = QFontMetrics(self.theme.font("small"))
        painter.setFont(self.theme.font("small"))
        x, middle = box.x() + 9, box.center().y()
        draw_glyph(painter, tools, "message", x, middle - 6, 12, "run_t")
        baseline = middle + (metrics.ascent() - metrics.descent()) / 2
        x += 16
        for text, token in ((self._queued, "run_t"), ("·", "muted"), (self._next, "text2")):
            painter.setPen(tools.color(token))
            painter.drawText(round(x), round(baseline), text)
            x += metrics.horizontalAdvance(text) + 8
