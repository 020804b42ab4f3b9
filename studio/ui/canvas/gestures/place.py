"""Something new under the pointer: dragged from the palette."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF

from studio.document.commands import insert_on_edge
from studio.document.geometry import CARD, FAN_OUT, JOIN, NOTE, SWITCH, snapped
from studio.document.ready_groups import PATTERNS
from studio.ui.canvas.area_items import FrameItem, NoteItem
from studio.ui.canvas.cards import Card
from studio.ui.canvas.gestures.gesture import Gesture, Pointer
from studio.ui.canvas.gestures.onto import Onto
from studio.ui.canvas.item import DrawnItem
from studio.ui.canvas.junction_items import FanOutItem, JoinItem, SwitchItem
from studio.ui.canvas.node_item import NodeItem
from studio.ui.canvas.ready import room_for
from studio.ui.paint import kind_name

if TYPE_CHECKING:
    from studio.ui.canvas.view import CanvasView

SIZES = {"join": JOIN, "fan_out": FAN_OUT, "switch": SWITCH, "note": NOTE}
LAYER = 20.0


class PlaceGesture(Gesture):
    """A preview follows the pointer; on release it becomes a node, on the edge under it if there is one."""

    def __init__(self, view: CanvasView, kind: str) -> None:
        super().__init__(view)
        self.kind = kind
        self._size = room_for(kind) or SIZES.get(kind, CARD)
        self._onto = Onto(view, lambda line: insert_on_edge(view.workflow, line, kind))
        self._item = self._preview()

    def _preview(self) -> DrawnItem:
        look, name = self.scene.look, kind_name(self.kind)
        item: DrawnItem
        if self.kind == "note":
            item = NoteItem("", look)
            item.show_note("", *NOTE)
        elif self.kind in PATTERNS:
            item = FrameItem("", look)
            item.show_frame(name, self.kind, "", (), QRectF(0, 0, *self._size))
        elif self.kind in ("join", "fan_out", "switch"):
            made = {"join": JoinItem, "fan_out": FanOutItem, "switch": SwitchItem}[self.kind]("", look)
            made.show_card(Card(self.kind, name), *self._size)
            item = made
        else:
            card = NodeItem("", look)
            card.show_card(Card(self.kind, name), CARD[0])
            item = card
        item.lifted = True
        item.setOpacity(0.85)
        item.setZValue(LAYER)
        return item

    def place(self, at: QPointF) -> QPointF:
        """The top left corner for a pointer in the middle, on the grid."""
        corner = at - QPointF(self._size[0] / 2, self._size[1] / 2)
        return QPointF(snapped(corner.x()), snapped(corner.y())) if self.view.snap else corner

    def start(self, at: Pointer) -> None:
        self.scene.addItem(self._item)
        self.move(at)

    def move(self, at: Pointer) -> None:
        self._item.setPos(self.place(at.scene))
        if isinstance(self._item, NodeItem):
            self._onto.look(at.scene, 20.0, at)

    def finish(self, at: Pointer) -> None:
        self.move(at)
        edge = self._onto.edge
        corner, line = self.place(at.scene), edge.line if edge is not None else None
        self.cancel()
        self.view.add_node(self.kind, corner, on_line=line)

    def cancel(self) -> None:
        self._onto.clear()
        if self._item.scene() is not None:
            self.scene.removeItem(self._item)
