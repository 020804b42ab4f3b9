"""The order in which things run, for lists and the keyboard."""

from __future__ import annotations

from collections import deque

from studio.document.lines import lines
from studio.document.model import FanOutEdge, SwitchEdge, Workflow


def run_order(workflow: Workflow) -> tuple[str, ...]:
    """Ids of nodes, switches and fan-outs: from the start along the lines, then what cannot be reached, as drawn.

    A join comes after the last of its sources that can be reached before it.
    """
    after: dict[str, list[str]] = {}
    before: dict[str, set[str]] = {}
    for line in lines(workflow):
        after.setdefault(line.source, []).append(line.target)
        if line.kind == "fan_in":
            before.setdefault(line.target, set()).add(line.source)
    junctions = [e.id for e in workflow.edges if isinstance(e, SwitchEdge | FanOutEdge)]
    every = [n.id for n in workflow.nodes] + junctions
    order: dict[str, None] = {}
    known = set(every)
    for root in ([workflow.start] if workflow.start in known else []) + every:
        if root not in order:
            _walk(root, after, before, known, order)
    return tuple(order)


def _walk(
    root: str, after: dict[str, list[str]], before: dict[str, set[str]], known: set[str], order: dict[str, None]
) -> None:
    waiting: deque[str] = deque([root])
    held: list[str] = []
    while waiting or held:
        # Nothing else is left: a join whose other sources run later or never goes in now.
        item = waiting.popleft() if waiting else held.pop(0)
        if item in order:
            continue
        if waiting and before.get(item, set()) - order.keys() and item != root:
            if item not in held:
                held.append(item)
            continue
        order[item] = None
        waiting.extend(t for t in after.get(item, ()) if t in known and t not in order)
        ready = [h for h in held if not before[h] - order.keys()]
        held = [h for h in held if h not in ready]
        waiting.extend(ready)
