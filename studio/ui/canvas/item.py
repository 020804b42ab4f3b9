"""What every drawn thing except edges is: one graphics item, painted from fields, without children and hooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from studio.ui.canvas.levels import READABLE, Level
from studio.ui.paint import Ink, ink
from studio.ui.theme import Theme

if TYPE_CHECKING:
    from studio.ui.canvas.routing import End

NO_PEN, NO_BRUSH = Qt.PenStyle.NoPen, Qt.BrushStyle.NoBrush
FOCUS_GAP = 6.0
PORT_GAP = 6.0
"""Between the border of a card and where its lines begin and end: room for half a port."""


class Look:
    """What all items of a scene share: the theme, and the level of now. One object, so that switching is one write."""

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        self.level = Level.NEAR
        self.zoom = 1.0
        self.down = False
        """Whether lines run from top to bottom: ports are at the top and the bottom."""
        self.phase = 0.0
        """Turn of the running arcs, 0 to 1."""
        self.titles = True
        """Whether flat cards have titles."""
        self.shadows = True
        """Shadows are stretched images: an SVG has none."""

    @property
    def chip_scale(self) -> float:
        """How much larger than in the scene chips are painted, so that their text can be read."""
        return max(1.0, READABLE / 10.5 / self.zoom)

    @property
    def small_scale(self) -> float:
        """How much larger than in the scene text of 11 is painted on cards, so that it can be read."""
        return max(1.0, READABLE / 11.0 / self.zoom)

    @property
    def small_text(self) -> bool:
        """Whether text of 11 can be read."""
        return self.zoom * 11.0 >= READABLE

    @property
    def ink(self) -> Ink:
        return ink(self.theme)


class DrawnItem(QGraphicsItem):
    """A node, junction, note or frame. ``box`` is what counts for edges and picking, in the item's coordinates."""

    layer = 4.0

    def __init__(self, item_id: str, look: Look) -> None:
        super().__init__()
        self.item_id = item_id
        self.look = look
        self.box = QRectF()
        self.selected = False
        self.focused = False
        self.hovered = False
        self.lifted = False
        self.faded = False
        """An illegal target while an edge is drawn."""
        self.lit = False
        """The target under the pointer while an edge is drawn."""
        self.setZValue(self.layer)
        self.setCacheMode(QGraphicsItem.CacheMode.DeviceCoordinateCache)

    # ---- geometry

    @property
    def rect(self) -> QRectF:
        """The box in scene coordinates."""
        return self.box.translated(self.pos())

    def out_end(self, case: int = 0) -> End:
        """Where an edge leaves; ``case`` counts the lines of a switch."""
        raise NotImplementedError

    def in_end(self, across: float) -> End:
        """Where an edge arrives that leaves at this height (in a drawing that runs down: at this x)."""
        raise NotImplementedError

    @property
    def lane(self) -> float | None:
        """How far below the top of the box (in a drawing that runs down: right of its left side) lines pass through
        it; None: none do."""
        return None

    def boundingRect(self) -> QRectF:
        return self.box.adjusted(-20, -22, 20, 26)

    def shape(self) -> QPainterPath:
        path = QPainterPath()
        path.addRect(self.box)
        return path

    # ---- state

    def mark(self, name: str, value: bool) -> None:
        """Sets ``selected``, ``focused``, ``hovered``, ``lifted``, ``faded`` or ``lit``, and repaints if it is new."""
        if getattr(self, name) != value:
            setattr(self, name, value)
            if name == "faded":
                self.setOpacity(0.4 if value else 1.0)
            elif name == "lifted":
                self.setZValue(self.layer + (4 if value else 0))
            self.update()

    def revive(self) -> None:
        """Shows an item that was taken out of the scene once more, as if it were new."""
        for name in ("selected", "focused", "hovered", "lifted", "faded", "lit"):
            self.mark(name, False)
        self.refresh_look()

    def refresh_look(self) -> None:
        """The theme or its fonts changed."""
        self.update()

    # ---- painting

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        level = self.look.level
        if level <= Level.FLAT:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            self.paint_flat(painter, self.look.ink)
        elif level == Level.MIDDLE:
            self.paint_middle(painter, self.look.ink)
        else:
            self.paint_near(painter, self.look.ink)

    def paint_near(self, painter: QPainter, tools: Ink) -> None:
        raise NotImplementedError

    def paint_middle(self, painter: QPainter, tools: Ink) -> None:
        self.paint_near(painter, tools)

    def paint_flat(self, painter: QPainter, tools: Ink) -> None:
        self.paint_middle(painter, tools)

    def paint_focus(self, painter: QPainter, tools: Ink) -> None:
        """The dashed outline of the keyboard focus."""
        if self.focused:
            gap = FOCUS_GAP
            painter.setBrush(NO_BRUSH)
            painter.setPen(tools.pen("accent", 1.0, (3.0, 3.0), cosmetic=True))
            painter.drawRoundedRect(self.box.adjusted(-gap, -gap, gap, gap), 12, 12)

    def paint_port(self, painter: QPainter, tools: Ink, center: QPointF, look: str, *, filled: bool = False) -> None:
        """One port: circle, double circle or square."""
        radius = 6.0 if self.hovered or self.lit else 5.0
        painter.setPen(tools.pen("accent" if filled else "edge", 1.75))
        painter.setBrush(tools.brush("surface"))
        radius -= 0.875
        if look == "square":
            painter.drawRoundedRect(QRectF(center.x() - radius, center.y() - radius, 2 * radius, 2 * radius), 1.5, 1.5)
            return
        painter.drawEllipse(center, radius, radius)
        if look == "double":
            painter.drawEllipse(center, radius - 2.25, radius - 2.25)
