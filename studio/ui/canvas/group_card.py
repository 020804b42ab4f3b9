"""A collapsed group: one card instead of its members."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from PySide6.QtGui import QPainter

from studio.bridge.run_model import RunModel
from studio.document.model import Group, Workflow
from studio.document.problems import Problem
from studio.ui.canvas.cards import Badge, Card, problem_badge
from studio.ui.canvas.node_item import NodeItem
from studio.ui.paint import Ink
from studio.ui.text import one_line, tr

_ORDER = ("failed", "waiting", "running", "queued", "stopped", "done")


class GroupCard(NodeItem):
    """Looks like a node, without ports and breakpoint; edges of its members end at it."""

    def _paint_octagon(self, painter: QPainter) -> None:
        """A group runs nothing itself."""

    def _paint_ports(self, painter: QPainter, tools: Ink) -> None:
        """Edges are drawn from and to members, not to the card."""


def hidden_members(workflow: Workflow) -> dict[str, str]:
    """What is not drawn because a group is collapsed: id -> id of the outermost collapsed group."""
    closed = {g.id: g for g in workflow.groups if (p := workflow.places.get(g.id)) is not None and p.collapsed}
    hidden: dict[str, str] = {}
    for group in closed.values():
        waiting = list(group.members)
        groups = {g.id: g for g in workflow.groups}
        while waiting:
            member = waiting.pop()
            if member not in hidden and member != group.id:
                hidden[member] = group.id
                waiting += groups[member].members if member in groups else ()
    return {i: _outermost(i, hidden) for i in hidden if _outermost(i, hidden) != i}


def _outermost(item_id: str, hidden: Mapping[str, str]) -> str:
    seen = {item_id}
    while (outer := hidden.get(item_id)) is not None and outer not in seen:
        seen.add(outer)
        item_id = outer
    return item_id


def group_card(
    group: Group, members: Iterable[str], workflow: Workflow, run: RunModel, problems: Mapping[str, Iterable[Problem]]
) -> Card:
    """The card of a collapsed group: the worst state and all problems of what is inside."""
    inside = set(members)
    nodes = [n for n in workflow.nodes if n.id in inside]
    views = [run.nodes[n.id].status for n in nodes if n.id in run.nodes]
    found = [p for m in (*sorted(inside), group.id) for p in problems.get(m, ())]
    badges = [problem_badge(found)]
    if workflow.start in inside:
        badges.append(Badge(tr("Start"), "flag", token="accent"))
    return Card(
        kind=group.kind,
        title=one_line(group.name),
        subtitle=tr("1 node") if len(nodes) == 1 else tr("{n} nodes").format(n=len(nodes)),
        status=next((s for s in _ORDER if s in views), "idle"),
        badges=tuple(b for b in badges if b is not None),
        port_in="",
        port_out="",
    )
