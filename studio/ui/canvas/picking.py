"""What is under the pointer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QPointF, QRectF, Qt

from studio.ui.canvas.area_items import FrameItem, NoteItem
from studio.ui.canvas.edge_item import ChipItem, EdgeItem
from studio.ui.canvas.far import FarPicture
from studio.ui.canvas.group_card import GroupCard
from studio.ui.canvas.item import DrawnItem
from studio.ui.canvas.junction_items import JunctionItem
from studio.ui.canvas.levels import Level
from studio.ui.canvas.node_item import OCTAGON_HIT, PORT_HIT, NodeItem
from studio.ui.canvas.scene import CanvasScene

HitKind = Literal[
    "",
    "pill",
    "chip",
    "port_in",
    "port_out",
    "octagon",
    "resize",
    "card",
    "line",
    "line_start",
    "line_end",
    "bend",
    "note_corner",
    "note",
    "frame",
]
EDGE_REACH = 6.0
END_REACH = 14.0
START_REACH = 28.0
"""Further than at the arrow head: the first of it belongs to the port, where new edges begin."""
BEND_REACH = 9.0
HEAD_FROM = 5.0
"""How far before a port its arrow heads begin."""


@dataclass(frozen=True, slots=True)
class Hit:
    """``id`` of an item, or of a line for ``pill``, ``chip``, ``bend`` and the parts of a line itself."""

    kind: HitKind = ""
    id: str = ""

    @property
    def on_line(self) -> bool:
        return self.kind in ("pill", "chip", "line", "line_start", "line_end", "bend")


NOTHING = Hit()


def pick(scene: CanvasScene, far: FarPicture, at: QPointF) -> Hit:
    """The topmost thing at a point of the scene."""
    level = scene.look.level
    if level == Level.FAR:
        found = far.pick(at)
        return Hit(_area_kind(scene.items_by_id[found]), found) if found in scene.items_by_id else NOTHING
    reach = max(14.0, 8.0 / scene.look.zoom)
    area = QRectF(at.x() - reach, at.y() - reach, 2 * reach, 2 * reach)
    lines: list[EdgeItem] = []
    below = NOTHING
    for item in scene.items(area, Qt.ItemSelectionMode.IntersectsItemBoundingRect, Qt.SortOrder.DescendingOrder):
        if isinstance(item, ChipItem):
            if item.isVisible() and item.rect.contains(at):
                return Hit("pill" if item.pill else "chip", item.line_id)
        elif isinstance(item, EdgeItem):
            lines.append(item)
        elif isinstance(item, DrawnItem):
            hit = _hit(item, at, level)
            if hit.kind in ("note", "frame"):
                below = below if below.kind else hit
            elif hit.kind == "port_in" and _before(item, at) > HEAD_FROM:
                # The head stands inside the port's area; on the head the edge is meant.
                return _on_ends(scene, item.item_id, at) or hit
            elif hit.kind:
                return hit
    return _on_lines(lines, at, scene.look.zoom) or below


def _on_ends(scene: CanvasScene, target: str, at: QPointF) -> Hit | None:
    for line_id in scene.line_layer.at(target):
        edge = scene.line_layer.items[line_id]
        if edge.line.target == target and edge.near(at, EDGE_REACH):
            return Hit("line_end", line_id)
    return None


def _on_lines(lines: list[EdgeItem], at: QPointF, zoom: float) -> Hit | None:
    reach = max(EDGE_REACH, EDGE_REACH / zoom)
    for edge in lines:
        if edge.bends and edge.bend_at(at, max(BEND_REACH, BEND_REACH / zoom)) is not None:
            return Hit("bend", edge.line.id)
        end = edge.points[-1]
        if math.hypot(at.x() - end[0], at.y() - end[1]) <= END_REACH and edge.near(at, reach):
            return Hit("line_end", edge.line.id)
    near = [edge for edge in lines if edge.near(at, reach)]
    if not near:
        return None
    edge = next((e for e in near if e.selected), near[0])  # where several lines begin as one, the selected one is meant
    return Hit("line_start" if _at_start(edge, at) else "line", edge.line.id)


def _at_start(edge: EdgeItem, at: QPointF) -> bool:
    """Whether a point of a line is where it begins, and not nearer to its end."""
    (x, y), (end_x, end_y) = edge.points[0], edge.points[-1]
    distance = math.hypot(at.x() - x, at.y() - y)
    return distance <= START_REACH and distance < math.hypot(at.x() - end_x, at.y() - end_y)


def _area_kind(item: DrawnItem) -> HitKind:
    return "frame" if isinstance(item, FrameItem) else "note" if isinstance(item, NoteItem) else "card"


def _hit(item: DrawnItem, at: QPointF, level: Level) -> Hit:
    local = at - item.pos()
    if isinstance(item, NodeItem):
        return _on_card(item, local, level)
    if isinstance(item, JunctionItem):
        return _on_junction(item, local, level)
    if isinstance(item, NoteItem):
        if not item.box.contains(local):
            return NOTHING
        corner = local - item.box.bottomRight()
        return Hit("note_corner" if corner.x() > -14 and corner.y() > -14 else "note", item.item_id)
    if isinstance(item, FrameItem):
        inner = item.box.adjusted(5, 5, -5, -5)
        if item.title_rect.contains(at) or (
            item.box.adjusted(-3, -3, 3, 3).contains(local) and not inner.contains(local)
        ):
            return Hit("frame", item.item_id)
    return NOTHING


def _on_card(item: NodeItem, local: QPointF, level: Level) -> Hit:
    if level >= Level.MIDDLE:
        if item.card.port_out and _close(local, item.out_port, PORT_HIT):
            return Hit("port_out", item.item_id)
        if item.card.port_in and _close(local, item.in_port, PORT_HIT):
            return Hit("port_in", item.item_id)
        if isinstance(item, GroupCard):
            return Hit("card", item.item_id) if item.box.contains(local) else NOTHING
        if OCTAGON_HIT.contains(local):
            return Hit("octagon", item.item_id)
        if abs(local.x() - item.width) <= 4 and 8 <= local.y() <= item.box.height():
            return Hit("resize", item.item_id)
    return Hit("card", item.item_id) if item.box.contains(local) else NOTHING


def _on_junction(item: JunctionItem, local: QPointF, level: Level) -> Hit:
    if level >= Level.MIDDLE:
        if item.card.octagon is not None and item.octagon_rect.contains(local):
            return Hit("octagon", item.item_id)
        if any(_on_tip(item, tip, local) for tip in item.tips):
            return Hit("port_out", item.item_id)
        if item.chip_rect.contains(local):
            return Hit("card", item.item_id)
    return Hit("card", item.item_id) if item.box.adjusted(-5, -5, 5, 5).contains(local) else NOTHING


def _before(item: DrawnItem, at: QPointF) -> float:
    """How far a point is before an item, in the direction that lines run."""
    return item.y() - at.y() if item.look.down else item.x() - at.x()


def _on_tip(item: JunctionItem, tip: QPointF, local: QPointF) -> bool:
    """Whether a point is at the outer side of where lines leave."""
    at_right = tip.x() == item.box.right()
    outside = local.x() >= tip.x() - 5 if at_right else local.y() >= tip.y() - 5
    return outside and _close(local, tip, 9)


def _close(a: QPointF, b: QPointF, reach: float) -> bool:
    return math.hypot(a.x() - b.x(), a.y() - b.y()) <= reach
