"""Changing the width of a card, the size of a note or the height of a bar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, Qt

from studio.document.edits import SetPlaces
from studio.document.geometry import snapped
from studio.document.model import Place
from studio.ui.canvas.area_items import NoteItem
from studio.ui.canvas.gestures.gesture import Gesture, Pointer
from studio.ui.canvas.node_item import NodeItem
from studio.ui.text import tr

if TYPE_CHECKING:
    from studio.ui.canvas.view import CanvasView

LEAST, MOST = 160.0, 320.0
NOTE_LEAST = (120.0, 48.0)


class ResizeGesture(Gesture):
    """Width of a card from 160 to 320 in steps of 8; notes freely on the grid. In a drawing that runs down a card grows
    on both sides, in steps of 8 each, so that its ports stay where they are."""

    cursor = Qt.CursorShape.SizeHorCursor

    def __init__(self, view: CanvasView, item_id: str) -> None:
        super().__init__(view)
        self._item = self.scene.items_by_id[item_id]
        if isinstance(self._item, NoteItem):
            self.cursor = Qt.CursorShape.SizeFDiagCursor

    def start(self, at: Pointer) -> None:
        self._from = QPointF(at.scene)
        self._before = (self._item.box.width(), self._item.box.height())
        self._left = self._item.x()
        self._both = self.scene.look.down and isinstance(self._item, NodeItem)
        self._size = self._before

    def move(self, at: Pointer) -> None:
        shift = at.scene - self._from
        width, height = self._before[0] + shift.x(), self._before[1] + shift.y()
        if self._both:
            grown = 2 * snapped(shift.x())
            least, most = LEAST - self._before[0], MOST - self._before[0]
            self._show(self._before[0] + min(most - most % 16, max(least + -least % 16, grown)), self._before[1])
        elif isinstance(self._item, NodeItem):
            self._show(min(MOST, max(LEAST, snapped(width))), self._before[1])
        else:
            self._show(max(NOTE_LEAST[0], snapped(width)), max(NOTE_LEAST[1], snapped(height)))

    def _show(self, width: float, height: float) -> None:
        self._size = (width, height)
        if isinstance(self._item, NodeItem):
            self._item.show_card(self._item.card, width)
            if self._both:
                self._item.setX(self._left + (self._before[0] - width) / 2)
            self.scene.line_layer.drag(frozenset((self._item.item_id,)), 0.0, 0.0)
        elif isinstance(self._item, NoteItem):
            self._item.show_note(self._item.text, width, height)

    def finish(self, at: Pointer) -> None:
        self.move(at)
        if self._size == self._before:
            return
        item_id = self._item.item_id
        old = self.scene.workflow.places.get(item_id) or Place(x=self._item.x(), y=self._item.y())
        values: dict[str, float] = {"width": self._size[0]}
        if self._both:
            values["x"] = old.x + (self._before[0] - self._size[0]) / 2
        if isinstance(self._item, NoteItem):
            values["height"] = self._size[1]
        text = tr("Resize {name}").format(name=self.view.name_of(item_id))
        self.view.execute(SetPlaces({item_id: old.model_copy(update=values)}), text)

    def cancel(self) -> None:
        self._show(*self._before)
        self.scene.line_layer.follow((self._item.item_id,))
