"""Something new under the pointer: dragged from the palette."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF

from studio.document.commands import insert_on_edge
from studio.document.geometry import CARD, NOTE, snapped
from studio.document.ready_groups import PATTERNS
from studio.ui.canvas.area_items import FrameItem, NoteItem
from studio.ui.canvas.cards import Card
from studio.ui.canvas.gestures.gesture import Gesture, Pointer
from studio.ui.canvas.gestures.guides import Guides, on_line
from studio.ui.canvas.gestures.onto import Onto
from studio.ui.canvas.item import DrawnItem
from studio.ui.canvas.junction_items import FanOutItem, JoinItem, SwitchItem
from studio.ui.canvas.levels import Level
from studio.ui.canvas.node_item import NodeItem
from studio.ui.canvas.ready import room_for
from studio.ui.paint import kind_name

if TYPE_CHECKING:
    from studio.ui.canvas.view import CanvasView

LAYER = 20.0


class PlaceGesture(Gesture):
    """A preview follows the pointer; on release it becomes a node, on the edge under it if there is one."""

    def __init__(self, view: CanvasView, kind: str) -> None:
        super().__init__(view)
        self.kind = kind
        self._size = room_for(kind, self.scene.workflow.flow)
        self._onto = Onto(view, lambda line: insert_on_edge(view.workflow, line, kind))
        self._item = self._preview()
        self._guides: Guides | None = None

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
        """The top left corner for a pointer in the middle: in line with a neighbour, else on the grid."""
        corner = at - QPointF(self._size[0] / 2, self._size[1] / 2)
        grid = QPointF(snapped(corner.x()), snapped(corner.y())) if self.view.snap else corner
        return grid if self._guides is None else self._guides.line_up(self._item, corner, grid)

    def start(self, at: Pointer) -> None:
        self.scene.addItem(self._item)
        if self.view.level != Level.FAR and not isinstance(self._item, FrameItem):
            self._guides = Guides(self.view)
        self.move(at)

    def move(self, at: Pointer) -> None:
        self._item.setPos(self.place(at.scene))
        if isinstance(self._item, NodeItem):
            self._onto.look(at.scene, 20.0, at)

    def finish(self, at: Pointer) -> None:
        self.move(at)
        corner, edge = self.place(at.scene), self._onto.edge
        if edge is not None:
            corner = on_line(self._item, corner, edge)
        self.cancel()
        self.view.add_node(self.kind, corner, on_line=edge.line if edge is not None else None)

    def cancel(self) -> None:
        if self._guides is not None:
            self._guides.hide()
        self._onto.clear()
        if self._item.scene() is not None:
            self.scene.removeItem(self._item)
