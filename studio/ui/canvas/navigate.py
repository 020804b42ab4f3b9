"""Where the keyboard focus goes on the canvas."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QPointF

from studio.document.order import run_order
from studio.ui.canvas.area_items import FrameItem
from studio.ui.canvas.scene import CanvasScene

Direction = Literal["left", "right", "up", "down"]
_VECTOR = {"left": QPointF(-1, 0), "right": QPointF(1, 0), "up": QPointF(0, -1), "down": QPointF(0, 1)}


def first(scene: CanvasScene) -> str | None:
    """Where the focus begins: the start node, else the first one in run order."""
    return next((i for i in run_order(scene.workflow) if i in scene.items_by_id), None)


def along(scene: CanvasScene, here: str, step: int) -> str | None:
    """The next or previous one in run order, without going around."""
    order = [i for i in (*run_order(scene.workflow), *(n.id for n in scene.workflow.notes)) if i in scene.items_by_id]
    if here not in order:
        return first(scene)
    at = order.index(here) + step
    return order[at] if 0 <= at < len(order) else None


def towards(scene: CanvasScene, here: str, direction: Direction) -> str | None:
    """Left and right follow edges where there are any; otherwise the nearest item in that direction."""
    items = scene.items_by_id
    if here not in items:
        return first(scene)
    layer = scene.line_layer
    if direction in ("left", "right"):
        lines = [layer.items[i].line for i in layer.at(here)]
        linked = [ln.target for ln in lines if ln.source == here] if direction == "right" else []
        linked = linked or ([ln.source for ln in lines if ln.target == here] if direction == "left" else [])
        ahead = [i for i in linked if _cost(scene, here, i, direction) is not None] or linked
        if ahead:
            center = items[here].rect.center()
            return min(ahead, key=lambda i: abs(items[i].rect.center().y() - center.y()))
    costs = [(cost, i) for i in items if (cost := _cost(scene, here, i, direction)) is not None]
    return min(costs)[1] if costs else None


def _cost(scene: CanvasScene, here: str, there: str, direction: Direction) -> float | None:
    """How far an item is in a direction; None if it is not in that direction at all."""
    if here == there or isinstance(scene.items_by_id[there], FrameItem):
        return None
    way = scene.items_by_id[there].rect.center() - scene.items_by_id[here].rect.center()
    vector = _VECTOR[direction]
    ahead = way.x() * vector.x() + way.y() * vector.y()
    aside = abs(way.x() * vector.y()) + abs(way.y() * vector.x())
    if ahead <= 8:
        return None
    return ahead + 2.5 * aside


def downstream(scene: CanvasScene, item_id: str) -> list[str]:
    """Everything that an item leads to, itself first."""
    seen: dict[str, None] = {item_id: None}
    waiting = [item_id]
    while waiting:
        for line in scene.line_layer.lines.after(waiting.pop()):
            if line.target not in seen:
                seen[line.target] = None
                waiting.append(line.target)
    return list(seen)
