"""Join bar, fan-out bar and switch rhombus."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter, QPolygonF

from studio.document.geometry import FAN_OUT, JOIN, SWITCH
from studio.ui.canvas.cards import Card
from studio.ui.canvas.item import NO_BRUSH, NO_PEN, DrawnItem, Look
from studio.ui.canvas.levels import WIDEST, Level
from studio.ui.canvas.routing import End
from studio.ui.paint import STATUS_TOKENS, ChipLook, ChipText, Ink, draw_octagon
from studio.ui.paint.svgpath import parse

_FORK = parse("M14 20h5M19 20l5-5M19 20l5 5")
_SEVERITY: dict[str, tuple[str, str]] = {
    "error": ("error", "fail_t"),
    "warning": ("problem", "wait_t"),
    "info": ("info", ""),
}


CHIP_BESIDE = 8.0
"""Between a junction and the label left of it."""
CHIP_ABOVE = 12.0
"""Between a rhombus and the label above it: the label of its first line has room below."""


class JunctionItem(DrawnItem):
    """A bar or rhombus with its label, octagon and wait chip."""

    layer = 3.0
    size: tuple[float, float] = (8.0, 64.0)

    def __init__(self, item_id: str, look: Look) -> None:
        super().__init__(item_id, look)
        self.card = Card("", "")
        self.carrying = False
        """Whether queued messages will run it next."""
        self.box = QRectF(0, 0, *self.size)
        self._chip: ChipText | None = None
        self._note: ChipText | None = None

    def show_card(self, card: Card, width: float, height: float, *, carrying: bool = False) -> bool:
        """Shows this; returns whether the box changed."""
        box = QRectF(0, 0, width, height)
        if card == self.card and box == self.box and carrying == self.carrying:
            return False
        changed = box != self.box
        self.prepareGeometryChange()
        self.box, self.card, self.carrying = box, card, carrying
        self._lay_out()
        self.update()
        return changed

    def refresh_look(self) -> None:
        self.prepareGeometryChange()
        self._lay_out()
        self.update()

    def _lay_out(self) -> None:
        theme, card = self.look.theme, self.card
        icon, token = _SEVERITY.get(card.severity, (card.chip_icon, ""))
        look: ChipLook = "outline"
        self._chip = ChipText(theme, card.chip, icon=icon, icon_token=token, look=look) if card.chip else None
        self._note = ChipText(theme, card.note, icon="play", text_token="wait_t") if card.note else None

    # ---- geometry

    def boundingRect(self) -> QRectF:
        widest = max(self._chip.width / 2 if self._chip else 0.0, (self._note.width + 16) if self._note else 0.0, 24.0)
        if self.look.down and self._chip is not None:
            widest = max(widest, self._chip.width + CHIP_BESIDE)
        # Chips grow to 1.7 times their size at the lowest zoom that shows them.
        return self.box.adjusted(-widest * 1.75, -44, widest * 1.75, 44)

    @property
    def out_port(self) -> QPointF:
        middle = self.box.center()
        return QPointF(middle.x(), self.box.bottom()) if self.look.down else QPointF(self.box.right(), middle.y())

    @property
    def in_port(self) -> QPointF:
        middle = self.box.center()
        return QPointF(middle.x(), self.box.top()) if self.look.down else QPointF(self.box.left(), middle.y())

    @property
    def lane(self) -> float:
        return self.in_port.x() if self.look.down else self.in_port.y()

    @property
    def tips(self) -> tuple[QPointF, ...]:
        """Where edges can be drawn from."""
        return (self.out_port,)

    def out_end(self, case: int = 0) -> End:
        at = self.pos() + self.out_port
        return End(at.x(), at.y(), "bottom" if self.look.down else "right", 0.0)

    def in_end(self, across: float) -> End:
        at = self.pos() + self.in_port
        return End(at.x(), at.y(), "top" if self.look.down else "left", 0.0)

    @property
    def chip_center(self) -> QPointF:
        """The middle of the label, in the item's coordinates."""
        return self.center_at(self.look.chip_scale)

    def center_at(self, scale: float) -> QPointF:
        """The same where the label is so much larger than in the scene."""
        if self.look.down:
            return self._beside(scale)
        return QPointF(self.box.center().x(), self.box.bottom() + 22)

    def _beside(self, scale: float) -> QPointF:
        """The middle of the label in a drawing that runs down: left of it, where no line is."""
        width = self._chip.width * scale if self._chip is not None else 0.0
        return QPointF(self.box.left() - CHIP_BESIDE - width / 2, self.box.center().y())

    @property
    def chip_rect(self) -> QRectF:
        """The label, in the item's coordinates."""
        if self._chip is None or self.look.level < Level.NEAR:
            return QRectF()
        center = self.chip_center
        return QRectF(
            center.x() - self._chip.width / 2, center.y() - self._chip.height / 2, self._chip.width, self._chip.height
        )

    @property
    def chip_room(self) -> QRectF:
        """What the label covers of the scene at the lowest zoom that shows it; null: there is none."""
        if self._chip is None:
            return QRectF()
        width, height = self._chip.width * WIDEST, self._chip.height * WIDEST
        center = self.pos() + self.center_at(WIDEST)
        return QRectF(center.x() - width / 2, center.y() - height / 2, width, height)

    @property
    def octagon_rect(self) -> QRectF:
        if self.look.down:
            return QRectF(self.box.left() - 9, self.box.top() - 22, 18, 18)
        return QRectF(self.box.center().x() - 9, self.box.top() - 22, 18, 18)

    # ---- painting

    def paint_near(self, painter: QPainter, tools: Ink) -> None:
        self.paint_body(painter, tools)
        if self.hovered or self.lit:
            self.paint_port(painter, tools, self.out_port, "circle")
        if self._chip is not None and (self.look.level == Level.NEAR or self.selected or self.hovered):
            self._paint_chip(painter, self._chip, self.chip_center, -self._chip.width / 2)
        if self._note is not None:
            beside = QPointF(self.box.center().x() + 13, self.box.top() - 13)
            self._paint_chip(painter, self._note, beside, 0.0)
        if self.card.octagon is not None:
            draw_octagon(painter, self.look.theme, self.octagon_rect, self.card.octagon)
        if self.focused:
            self.paint_focus(painter, tools)

    def _paint_chip(self, painter: QPainter, chip: ChipText, at: QPointF, left: float) -> None:
        scale = self.look.chip_scale
        painter.save()
        painter.translate(at)
        painter.scale(scale, scale)
        chip.paint(painter, left, -chip.height / 2)
        painter.restore()

    def paint_flat(self, painter: QPainter, tools: Ink) -> None:
        self.paint_body(painter, tools)

    def paint_body(self, painter: QPainter, tools: Ink) -> None:
        raise NotImplementedError

    def state_token(self) -> str:
        """Token of the shape: what will run next is blue, then the state, then the selection."""
        if self.lit or self.carrying:
            return "run"
        return STATUS_TOKENS.get(self.card.status, "edge")


class JoinItem(JunctionItem):
    """The fan-in bar: edges arrive at the height of their source, one leaves from the middle."""

    size = JOIN

    def in_end(self, across: float) -> End:
        if self.look.down:
            left, right = self.x() + 8, self.x() + self.box.width() - 8
            return End(min(max(across, left), right), self.y(), "top", 0.0)
        top, bottom = self.y() + 8, self.y() + self.box.height() - 8
        return End(self.x(), min(max(across, top), bottom), "left", 0.0)

    def paint_body(self, painter: QPainter, tools: Ink) -> None:
        painter.setPen(NO_PEN)
        painter.setBrush(tools.brush(self.state_token()))
        painter.drawRoundedRect(self.box, 2, 2)
        if self.selected:
            painter.setBrush(NO_BRUSH)
            painter.setPen(tools.pen("accent", 2.0, cosmetic=True))
            painter.drawRoundedRect(self.box.adjusted(-2, -2, 2, 2), 4, 4)


class FanOutItem(JunctionItem):
    """The hollow bar behind one source."""

    size = FAN_OUT

    def paint_body(self, painter: QPainter, tools: Ink) -> None:
        token = self.state_token()
        painter.setPen(tools.pen("accent" if self.selected else token, 2.0 if self.selected else 1.5))
        painter.setBrush(tools.brush("surface"))
        painter.drawRoundedRect(self.box, 4, 4)


class SwitchItem(JunctionItem):
    """The rhombus: the first case leaves on the right, all others at the bottom; in a drawing that runs down the other
    way round."""

    size = SWITCH

    def out_end(self, case: int = 0) -> End:
        at = self.pos() + self.tips[min(case, 1)]
        return End(at.x(), at.y(), "bottom" if (case == 0) == self.look.down else "right", 0.0)

    @property
    def tips(self) -> tuple[QPointF, ...]:
        right, bottom = (
            QPointF(self.box.right(), self.box.center().y()),
            QPointF(self.box.center().x(), self.box.bottom()),
        )
        return (bottom, right) if self.look.down else (right, bottom)

    def center_at(self, scale: float) -> QPointF:
        if self.look.down:
            return self._beside(scale)
        height = self._chip.height * scale if self._chip is not None else 0.0
        return QPointF(self.box.center().x(), self.box.top() - CHIP_ABOVE - height / 2)

    @property
    def octagon_rect(self) -> QRectF:
        return QRectF(self.box.left() - 9, self.box.top() - 6, 18, 18)

    def paint_body(self, painter: QPainter, tools: Ink) -> None:
        box = self.box
        token = self.state_token()
        painter.setPen(tools.pen("accent" if self.selected else token, 2.0 if self.selected else 1.75))
        painter.setBrush(tools.brush("surface"))
        painter.drawPolygon(
            QPolygonF(
                [
                    QPointF(box.left(), box.center().y()),
                    QPointF(box.center().x(), box.top()),
                    QPointF(box.right(), box.center().y()),
                    QPointF(box.center().x(), box.bottom()),
                ]
            )
        )
        painter.setBrush(NO_BRUSH)
        painter.setPen(tools.pen("text2", 1.5))
        painter.drawPath(_FORK)
