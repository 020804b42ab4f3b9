"""The card of a node."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QStaticText

from studio.document.geometry import CARD, PORT_Y
from studio.ui.canvas.cards import Card
from studio.ui.canvas.item import NO_BRUSH, NO_PEN, PORT_GAP, DrawnItem, Look
from studio.ui.canvas.levels import READABLE, SHADOW_FROM, WIDEST
from studio.ui.canvas.routing import End
from studio.ui.paint import (
    STATUS_TINTS,
    STATUS_TOKENS,
    ChipText,
    Ink,
    draw_badge,
    draw_glyph,
    draw_kind,
    draw_octagon,
    draw_ring,
    draw_shadow,
    scene_font,
)

FOOTER = 24.0
HEADER = 63.0
RADIUS = 8.0
PORT_HIT = 11.0
PORT_ROOM = 9.0
"""What badges leave free on both sides of the middle of a port."""
TITLE_X, TITLE_Y, SUBTITLE_Y = 59.0, 15.4, 33.9
TITLE_MIDDLE = 18.0
"""Height of titles at the middle level, in scene units."""
TITLE_SMALLER = (17.0, 16.0)
"""The same for titles that fit then, where they can be read."""
TITLE_FLAT = 9.0
"""Height of titles at the flat level, on the screen."""
DISC = QRectF(16, 17, 30, 30)
RING = QRectF(12, 13, 38, 38)
BADGE = QRectF(36, 36, 16, 16)
OCTAGON = QRectF(-8, -8, 18, 18)
OCTAGON_HIT = QRectF(-12, -12, 24, 24)


class NodeItem(DrawnItem):
    """Card, disc, ring, badge, title, subtitle, ports, badges, footer: painted, not child items."""

    def __init__(self, item_id: str, look: Look) -> None:
        super().__init__(item_id, look)
        self.width = CARD[0]
        self.card = Card("", "")
        self.box = QRectF(0, 0, *CARD)
        self._stale = True
        self._down = False
        """What :attr:`Look.down` was when the badges were laid out."""
        self._fitted = 0.0
        self._small_scale = 1.0
        self._title = self._subtitle = self._middle = self._flat = QStaticText()
        self._smaller: tuple[float, QStaticText] | None = None
        self._badges: list[tuple[float, ChipText]] = []
        self._footer: list[tuple[float, str, QStaticText]] = []
        self._note: ChipText | None = None

    def show_card(self, card: Card, width: float) -> bool:
        """Shows this; returns whether the box changed, so that edges must follow."""
        if card == self.card and width == self.width:
            return False
        if bool(card.note) != bool(self.card.note):
            self.prepareGeometryChange()
        self.card, self.width = card, width
        box = QRectF(0, 0, width, CARD[1] + (FOOTER if card.footer else 0.0))
        changed = box != self.box
        if changed:
            self.prepareGeometryChange()
            self.box = box
        self._stale, self._fitted = True, 0.0
        self.update()
        return changed

    def refresh_look(self) -> None:
        self._stale, self._fitted = True, 0.0
        self.update()

    # ---- geometry

    @property
    def in_port(self) -> QPointF:
        return QPointF(self.width / 2, 0) if self.look.down else QPointF(0, PORT_Y)

    @property
    def out_port(self) -> QPointF:
        return QPointF(self.width / 2, self.box.height()) if self.look.down else QPointF(self.width, PORT_Y)

    @property
    def lane(self) -> float:
        return self.in_port.x() if self.look.down else self.in_port.y()

    def out_end(self, case: int = 0) -> End:
        at = self.pos() + self.out_port
        return End(at.x(), at.y(), "bottom" if self.look.down else "right", PORT_GAP)

    def in_end(self, across: float) -> End:
        at = self.pos() + self.in_port
        return End(at.x(), at.y(), "top" if self.look.down else "left", PORT_GAP)

    # ---- text

    def _lay_out(self) -> None:
        """Elides and lays out all texts, once per content and width, when the card is first painted with text."""
        self._stale, self._down = False, self.look.down
        card, theme = self.card, self.look.theme
        room = self.width - TITLE_X - 9
        self._title = _laid(card.title, *scene_font(theme, "title"), room)
        self._fit_subtitle(self.look.small_scale)
        self._middle = _laid(card.title, *scene_font(theme, "title", pixels=TITLE_MIDDLE), room)
        self._smaller = self._laid_smaller(room)
        self._badges = []
        right = self.width - 9
        for badge in card.badges:
            chip = ChipText(theme, badge.text, icon=badge.icon, look=badge.look, text_token=badge.token, small=True)
            right = self._beside_port(right - chip.width, chip.width)
            self._badges.append((right, chip))
            right -= 4
        self._note = None
        if card.note:
            self._note = ChipText(theme, card.note, icon="play", text_token="wait_t")
        self._footer = []
        font, metrics = scene_font(theme, "small")
        x = 13.0
        for icon, text in card.footer:
            laid = _laid(text, font, metrics, self.width)
            self._footer.append((x, icon, laid))
            x += (16 if icon else 0) + metrics.horizontalAdvance(text) + 10

    def _beside_port(self, left: float, width: float) -> float:
        """Where a badge of this width begins: in a drawing that runs down, left of the port if it would cover it."""
        if not self.look.down:
            return left
        middle, anchor = self.width / 2, self.width - 9
        covers = anchor - (anchor - left) * WIDEST < middle + PORT_ROOM
        return min(left, middle - PORT_ROOM - width) if covers else left

    def _laid_smaller(self, room: float) -> tuple[float, QStaticText] | None:
        """The title of the middle level a little smaller, if it fits then and does not otherwise."""
        for pixels in (TITLE_MIDDLE, *TITLE_SMALLER):
            font, metrics = scene_font(self.look.theme, "title", pixels=pixels)
            if metrics.horizontalAdvance(self.card.title) <= room:
                return None if pixels == TITLE_MIDDLE else (pixels, _laid(self.card.title, font, metrics, room))
        return None

    def _fit_subtitle(self, scale: float) -> None:
        self._small_scale = scale
        room = (self.width - TITLE_X - 5) / scale
        font = scene_font(self.look.theme, "small")
        self._subtitle = _laid(self.card.subtitle, *font, room, Qt.TextElideMode.ElideRight)

    def _fit_title(self, zoom: float) -> None:
        """Lays out the title of the flat level, which has a fixed height on the screen, for a zoom."""
        self._fitted = zoom
        font, metrics = scene_font(self.look.theme, "tiny", pixels=TITLE_FLAT, weight=500)
        self._flat = _laid(
            self.card.title, font, metrics, self.width * zoom - (22 if self.card.status != "idle" else 8)
        )

    # ---- painting

    def paint_near(self, painter: QPainter, tools: Ink) -> None:
        if self._stale or self._down != self.look.down:
            self._lay_out()
        self._paint_card(painter, tools, shadow=self.look.shadows and (self.look.zoom >= SHADOW_FROM or self.lifted))
        self._paint_disc(painter)
        theme = self.look.theme
        painter.setFont(scene_font(theme, "title")[0])
        painter.setPen(tools.color("text"))
        painter.drawStaticText(QPointF(TITLE_X, TITLE_Y), self._title)
        self._paint_small(painter, tools)
        self._paint_ports(painter, tools)
        self._paint_badges(painter, self._badges)
        if self._note is not None:
            place = self.note_rect
            painter.save()
            painter.translate(place.topLeft())
            painter.scale(self.look.chip_scale, self.look.chip_scale)
            self._note.paint(painter, 0, 0)
            painter.restore()
        self._paint_octagon(painter)
        self.paint_focus(painter, tools)

    def paint_middle(self, painter: QPainter, tools: Ink) -> None:
        if self._stale or self._down != self.look.down:
            self._lay_out()
        self._paint_card(painter, tools, shadow=False)
        self._paint_disc(painter)
        pixels, title = TITLE_MIDDLE, self._middle
        if self._smaller is not None and self._smaller[0] * self.look.zoom >= READABLE:
            pixels, title = self._smaller
        painter.setFont(scene_font(self.look.theme, "title", pixels=pixels)[0])
        painter.setPen(tools.color("text"))
        painter.drawStaticText(QPointF(TITLE_X, PORT_Y - title.size().height() / 2), title)
        self._paint_ports(painter, tools)
        self._paint_badges(painter, [(self.width - 9 - c.width, c) for _, c in self._badges if c.icon == "hand"])
        self._paint_octagon(painter)
        self.paint_focus(painter, tools)

    def paint_flat(self, painter: QPainter, tools: Ink) -> None:
        status = self.card.status
        token = STATUS_TOKENS.get(status)
        painter.setPen(tools.pen("accent" if self.selected else token or "border", 2.0 if self.selected else 1.0,
                                 cosmetic=True))  # fmt: skip
        painter.setBrush(tools.brush(STATUS_TINTS.get(status, "surface")))
        painter.drawRoundedRect(self.box, RADIUS, RADIUS)
        self._paint_flat_marks(painter, tools, status if token else "")
        self.paint_focus(painter, tools)

    def _paint_flat_marks(self, painter: QPainter, tools: Ink, status: str) -> None:
        """State shape, title and octagon, all at a fixed size on the screen."""
        scale = 1.0 / self.look.zoom
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(self.box.center())
        painter.scale(scale, scale)
        half = self.box.width() / 2 / scale
        if self.look.titles:
            step = int(self.look.zoom * 20) / 20
            if step != self._fitted:
                self._fit_title(step)
            shift = 9.0 if status else 0.0
            painter.setFont(scene_font(self.look.theme, "tiny", pixels=TITLE_FLAT, weight=500)[0])
            painter.setPen(tools.color("text"))
            size = self._flat.size()
            painter.drawStaticText(QPointF(max(shift - size.width() / 2, -half + 3 + 2 * shift), -size.height() / 2),
                                   self._flat)  # fmt: skip
            if status:
                draw_badge(painter, self.look.theme, QRectF(-half + 4, -7, 14, 14), status)
        elif status:
            draw_badge(painter, self.look.theme, QRectF(-7, -7, 14, 14), status)
        if self.card.octagon:
            top = -self.box.height() / 2 / scale
            draw_octagon(painter, self.look.theme, QRectF(-half - 3, top - 3, 6, 6), "on")
        painter.restore()

    def _paint_card(self, painter: QPainter, tools: Ink, *, shadow: bool) -> None:
        box = self.box
        if shadow:
            draw_shadow(painter, box, dark=tools.dark, elevation=2 if self.lifted else 1)
        if self.card.kind == "sub_workflow":
            painter.setPen(tools.pen("border", 1.0))
            painter.setBrush(tools.brush("surface"))
            painter.drawRoundedRect(box.adjusted(3.5, 3.5, 2.5, 2.5), RADIUS, RADIUS)
        painter.setBrush(tools.brush("surface"))
        if self.lit or self.selected:
            painter.setPen(NO_PEN)
            painter.drawRoundedRect(box, RADIUS, RADIUS)
            painter.setBrush(NO_BRUSH)
            painter.setPen(tools.pen("run" if self.lit else "accent", 2.0, cosmetic=True))
            painter.drawRoundedRect(box, RADIUS, RADIUS)
        else:
            dash = (4.0, 3.0) if self.card.missing else ()
            painter.setPen(tools.pen("ctl" if self.hovered else "border", 1.0, dash))
            painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), RADIUS - 0.5, RADIUS - 0.5)
        if self.lit:
            draw_glyph(painter, tools, "plus", self.width - 24, PORT_Y - 8, 16, "run")

    def boundingRect(self) -> QRectF:
        usual = super().boundingRect()
        return usual.adjusted(-48, 0, 0, 0) if self.card.note else usual

    @property
    def note_rect(self) -> QRectF:
        """The wait chip, in the item's coordinates; it begins further left where badges leave too little room."""
        if self._note is None:
            return QRectF()
        scale = self.look.chip_scale
        width, height = self._note.width * scale, self._note.height * scale
        room = self.badges_left - 4 - width
        return QRectF(min(17.0, room), -10 * scale, width, height)

    @property
    def badges_left(self) -> float:
        """Where the badges begin, in the item's coordinates."""
        right = self.width - 9
        return right + ((self._badges[-1][0] - right) * self.look.chip_scale if self._badges else 0.0)

    def _paint_badges(self, painter: QPainter, badges: list[tuple[float, ChipText]]) -> None:
        scale, right = self.look.chip_scale, self.width - 9
        painter.save()
        painter.translate(right, 1)
        painter.scale(scale, scale)
        for x, chip in badges:
            chip.paint(painter, x - right, -9)
        painter.restore()

    def _paint_disc(self, painter: QPainter) -> None:
        theme, status = self.look.theme, self.card.status
        draw_kind(painter, theme, DISC, self.card.kind, disc=True)
        draw_ring(painter, theme, RING, status, self.look.phase if status == "running" else 0.0)
        draw_badge(painter, theme, BADGE, status)

    def _paint_ports(self, painter: QPainter, tools: Ink) -> None:
        if self.card.port_in:
            self.paint_port(painter, tools, self.in_port, self.card.port_in)
        if self.card.port_out:
            self.paint_port(painter, tools, self.out_port, self.card.port_out)

    def _paint_small(self, painter: QPainter, tools: Ink) -> None:
        """Subtitle and footer; larger than in the scene where they could not be read."""
        scale = self.look.small_scale
        if scale != self._small_scale:
            self._fit_subtitle(scale)
        if self._footer:
            painter.setPen(tools.pen("line", 1.0))
            painter.drawLine(QPointF(1, HEADER + 0.5), QPointF(self.width - 1, HEADER + 0.5))
        painter.save()
        painter.setFont(scene_font(self.look.theme, "small")[0])
        painter.setPen(tools.color("muted"))
        painter.translate(TITLE_X, SUBTITLE_Y)
        painter.scale(scale, scale)
        painter.drawStaticText(QPointF(0, 0), self._subtitle)
        painter.restore()
        if self._footer:
            painter.save()
            painter.translate(0, HEADER + 12.5)
            painter.scale(scale, scale)
            self._paint_footer(painter, tools)
            painter.restore()

    def _paint_footer(self, painter: QPainter, tools: Ink) -> None:
        painter.setFont(scene_font(self.look.theme, "small")[0])
        for x, icon, text in self._footer:
            if icon:
                draw_glyph(painter, tools, icon, x, -6, 12, "muted")
                x += 16
            painter.setPen(tools.color("text2"))
            painter.drawStaticText(QPointF(x, -text.size().height() / 2), text)

    def _paint_octagon(self, painter: QPainter) -> None:
        if self.card.octagon is not None:
            draw_octagon(painter, self.look.theme, OCTAGON, self.card.octagon)
        elif self.hovered:
            painter.setOpacity(0.55)
            draw_octagon(painter, self.look.theme, OCTAGON, "off")
            painter.setOpacity(1.0)


def _laid(
    text: str, font: QFont, metrics: QFontMetricsF, room: float, cut: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle
) -> QStaticText:
    """Text elided to its room, laid out once: names in the middle, since what tells them apart is often their end."""
    laid = QStaticText(metrics.elidedText(text, cut, room))
    laid.setTextFormat(Qt.TextFormat.PlainText)
    laid.setPerformanceHint(QStaticText.PerformanceHint.AggressiveCaching)
    laid.prepare(font=font)
    return laid
