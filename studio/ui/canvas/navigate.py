"""Where the keyboard focus goes on the canvas."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from PySide6.QtCore import QPointF

from studio.document.order import run_order
from studio.ui.canvas.area_items import FrameItem
from studio.ui.canvas.item import DrawnItem
from studio.ui.canvas.scene import CanvasScene

Direction = Literal["left", "right", "up", "down"]
_VECTOR = {"left": QPointF(-1, 0), "right": QPointF(1, 0), "up": QPointF(0, -1), "down": QPointF(0, 1)}


def first(scene: CanvasScene) -> str | None:
    """Where the focus begins: the start node, else the first one in run order."""
    return next((i for i in run_order(scene.workflow) if i in scene.items_by_id), None)


def along(scene: CanvasScene, here: str, step: int) -> str | None:
    """The next or previous one in run order, without going around."""
    workflow, items = scene.workflow, scene.items_by_id
    cards = (g.id for g in workflow.groups if g.id in items and not isinstance(items[g.id], FrameItem))
    order = [i for i in (*run_order(workflow), *cards, *(n.id for n in workflow.notes)) if i in items]
    if here not in order:
        return first(scene)
    at = order.index(here) + step
    return order[at] if 0 <= at < len(order) else None


def towards(scene: CanvasScene, here: str, direction: Direction) -> str | None:
    """The two directions that lines run in follow edges where there are any, the next one at this height (in a drawing
    that runs down: at this x) first; otherwise the nearest item in that direction."""
    items = scene.items_by_id
    if here not in items:
        return first(scene)
    layer = scene.line_layer
    down = scene.look.down
    back, forth = ("up", "down") if down else ("left", "right")
    if direction in (back, forth):
        lines = [layer.items[i].line for i in layer.at(here)]
        linked = [ln.target for ln in lines if ln.source == here] if direction == forth else []
        linked = linked or ([ln.source for ln in lines if ln.target == here] if direction == back else [])
        ahead = [i for i in linked if _cost(scene, here, i, direction) is not None] or linked
        if ahead:
            return min(ahead, key=lambda i: abs(_aside(items[i], down) - _aside(items[here], down)))
    costs = [(cost, i) for i in items if (cost := _cost(scene, here, i, direction)) is not None]
    return min(costs)[1] if costs else None


def _aside(item: DrawnItem, down: bool) -> float:
    """Where the middle of an item is across the way that lines run."""
    return item.rect.center().x() if down else item.rect.center().y()


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
    return _reached(item_id, lambda i: [line.target for line in scene.line_layer.lines.after(i)])


def upstream(scene: CanvasScene, item_id: str) -> list[str]:
    """Everything that leads to an item, itself first."""
    layer = scene.line_layer
    return _reached(item_id, lambda i: [s for n in layer.at(i) if (s := layer.items[n].line.source) != i])


def connected(scene: CanvasScene, item_id: str) -> list[str]:
    """Everything that edges join with an item, itself first."""
    layer = scene.line_layer
    return _reached(item_id, lambda i: [e for n in layer.at(i) for e in layer.items[n].ends if e != i])


def _reached(item_id: str, beside: Callable[[str], Iterable[str]]) -> list[str]:
    seen: dict[str, None] = {item_id: None}
    waiting = [item_id]
    while waiting:
        for other in beside(waiting.pop()):
            if other not in seen:
                seen[other] = None
                waiting.append(other)
    return list(seen)
