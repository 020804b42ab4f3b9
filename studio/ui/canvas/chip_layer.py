"""The chips of a scene: which lines have one, where it stands, whether it is there at this level."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF

from studio.ui.canvas import routing
from studio.ui.canvas.chips import ChipSpec, chip_specs
from studio.ui.canvas.edge_item import ChipItem, EdgeItem
from studio.ui.canvas.junction_items import JunctionItem
from studio.ui.canvas.levels import WIDEST, Level

if TYPE_CHECKING:
    from studio.ui.canvas.line_layer import LineLayer
    from studio.ui.canvas.scene import CanvasScene

MANY_LABELS = 24
"""With more lines at one source there is no room beside them, and looking for it takes time."""
MANY_CHIPS = 200
"""Up to this many chips are put anew when anything moved: each looks for a place that nothing hides."""


class ChipLayer:
    """Labels and pills of queued messages, by line id and whether it is the pill."""

    def __init__(self, scene: CanvasScene, lines: LineLayer) -> None:
        self._scene = scene
        self._lines = lines
        self.chips: dict[tuple[str, bool], ChipItem] = {}
        self._specs: dict[tuple[str, bool], ChipSpec] = {}

    def reset(self) -> None:
        """The scene was cleared."""
        self.chips.clear()
        self._specs.clear()

    def refresh_look(self) -> None:
        """The theme changed."""
        for key in list(self.chips):
            self._scene.removeItem(self.chips.pop(key))
        self._specs.clear()
        self.sync(self._lines.drawn.keys())
        self.place()

    def shift(self, line_id: str, dx: float, dy: float) -> None:
        """Moves the chips of a line as they are."""
        for pill in (False, True):
            chip = self.chips.get((line_id, pill))
            if chip is not None:
                chip.moveBy(dx, dy)

    def sync(self, line_ids: Iterable[str]) -> None:
        """The chips of these lines, of which some may be gone."""
        ids = set(line_ids)
        wanted = chip_specs({i: self._lines.drawn[i] for i in ids if i in self._lines.drawn}, self._lines.cases)
        for line_id in ids:
            for key in ((line_id, False), (line_id, True)):
                if key in self.chips and key not in wanted:
                    self._scene.removeItem(self.chips.pop(key))
                    self._specs.pop(key, None)
        for key, spec in wanted.items():
            if self._specs.get(key) == spec:
                continue
            self._specs[key] = spec
            text, chip = spec.made(self._scene.look.theme), self.chips.get(key)
            if chip is None:
                chip = self.chips[key] = ChipItem(key[0], text, self._scene.look, pill=key[1])
                self._scene.addItem(chip)
            else:
                chip.show_chip(text)
            self.put(key[0])
        self.show(ids)

    def show(self, line_ids: Iterable[str] | None = None) -> None:
        """Which chips of these lines (None: of all) are there at this level."""
        level = self._scene.look.level
        if line_ids is None:
            keys: Iterable[tuple[str, bool]] = list(self.chips)
        else:
            keys = [key for i in line_ids for key in ((i, False), (i, True)) if key in self.chips]
        for line_id, pill in keys:
            edge = self._lines.drawn[line_id]
            told = edge.selected or edge.hovered or edge.state.delivered or bool(edge.state.refused or edge.state.fault)
            shown = level == Level.NEAR or (level == Level.MIDDLE and (pill or told))
            self.chips[line_id, pill].setVisible(shown)

    def place(self, line_ids: Iterable[str] | None = None) -> None:
        """Puts the chips of these lines (None: all chips) on their lines; all of them where there are few."""
        ids = {key[0] for key in self.chips}
        if line_ids is not None and len(ids) > MANY_CHIPS:
            ids &= set(line_ids)
        for line_id in ids:
            self.put(line_id)

    def put(self, line_id: str) -> None:
        """Puts the chips of a line on it."""
        edge = self._lines.drawn[line_id]
        pill, label = self.chips.get((line_id, True)), self.chips.get((line_id, False))
        taken = 0.0
        if pill is not None:
            x, y = routing.pill_spot(edge.points, pill.chip.width)
            first = abs(edge.points[1][0] - edge.points[0][0]) + abs(edge.points[1][1] - edge.points[0][1])
            if label is not None and first > pill.chip.width + label.chip.width + 16:
                (ax, ay), (bx, by) = edge.points[0], edge.points[1]
                part = (pill.chip.width / 2 + 6) / first
                x, y = ax + (bx - ax) * part, ay + (by - ay) * part
                taken = pill.chip.width + 12
            pill.setPos(x, y)
        if label is not None:
            self._put_label(edge, label, taken)

    def _put_label(self, edge: EdgeItem, label: ChipItem, taken: float) -> None:
        """Where it hides nothing; where there is no such place, on the line, as short as it may be."""
        spec = self._specs[edge.line.id, False]
        if spec.otherwise is not None:
            label.show_chip(spec.made(self._scene.look.theme))
        spot = routing.label_spot(edge.points, label.chip.width, taken)
        free = self._free_spot(edge, label, spot)
        if free is None and spec.otherwise is not None:
            label.show_chip(spec.otherwise.made(self._scene.look.theme))
            spot = routing.label_spot(edge.points, label.chip.width, taken)
            free = self._free_spot(edge, label, spot)
        label.setPos(QPointF(*(free or spot)))

    def _free_spot(self, edge: EdgeItem, label: ChipItem, spot: tuple[float, float]) -> tuple[float, float] | None:
        """This spot if a label there hides no card, end, or other label of the same source; else one on the line or
        beside it that is free, if there is one. One that another line of the source runs through would name both."""
        siblings = self._lines.at_now(edge.line.source)
        if len(siblings) > MANY_LABELS:
            return spot
        taken, width, height = self._taken(edge, label), label.chip.width, label.chip.height
        ways = [self._lines.drawn[i].points for i in siblings if i != edge.line.id and i in self._lines.drawn]
        on = (spot, *routing.spots_on(edge.points))
        beside = tuple(routing.spots_beside(edge.points, width * WIDEST, height * WIDEST))
        for spots, grown, alone in ((on, WIDEST, True), (on, 1.0, True), (beside, WIDEST, True), (on, WIDEST, False)):
            for x, y in spots:
                box = QRectF(x - width * grown / 2, y - height * grown / 2, width * grown, height * grown)
                if any(box.intersects(other) for other in taken) or self._lines.covered(box):
                    continue
                if not (alone and any(routing.crosses(way, *box.getCoords()) for way in ways)):  # type: ignore[misc]
                    return x, y
        return None

    def _taken(self, edge: EdgeItem, label: ChipItem) -> list[QRectF]:
        """What a label of this line must not hide, apart from cards."""
        (ax, ay), (bx, by) = edge.points[0], edge.points[-1]
        found = [c.rect for i in self._lines.at_now(edge.line.source) for c in self._chips_of(i) if c is not label]
        source = self._scene.items_by_id.get(edge.line.source)
        if isinstance(source, JunctionItem):
            found.append(source.chip_room)
        return [*found, QRectF(ax - 5, ay - 5, 10, 10), QRectF(bx - 12, by - 6, 16, 12)]

    def _chips_of(self, line_id: str) -> list[ChipItem]:
        return [self.chips[line_id, pill] for pill in (False, True) if (line_id, pill) in self.chips]
