"""What a card says: plain data made from the document, the run and the problems; painted by the items."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from studio.bridge.run_model import RunModel
from studio.bridge.run_views import NodeView
from studio.document.lines import counts
from studio.document.model import (
    AgentNode,
    FanInEdge,
    FunctionNode,
    GenericNode,
    HumanInputNode,
    JoinNode,
    Node,
    RunnerNode,
    SubWorkflowNode,
    TemplateNode,
    UnknownNode,
    Workflow,
)
from studio.document.problems import Problem
from studio.document.turns import collector_id
from studio.document.types import split, yields
from studio.ui.paint import ChipLook, OctagonVariant
from studio.ui.paint.breakpoint_look import look_at_node
from studio.ui.paint.numbers import seconds_text
from studio.ui.text import one_line, tr
from studio.ui.widgets.costs import cost_words
from studio.ui.widgets.sources import counted, tokens_short

PortLook = Literal["", "circle", "double", "square"]


@dataclass(frozen=True, slots=True)
class Badge:
    """One badge on the upper border of a card."""

    text: str
    icon: str = ""
    look: ChipLook = "badge"
    token: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """Everything a card shows. ``badges`` run from right to left."""

    kind: str
    title: str
    subtitle: str = ""
    status: str = "idle"
    badges: tuple[Badge, ...] = ()
    footer: tuple[tuple[str, str], ...] = ()
    octagon: OctagonVariant | None = None
    requests: int = 0
    note: str = ""
    """The wait chip above the left corner ("next: superstep 4")."""
    port_in: PortLook = "circle"
    port_out: PortLook = "circle"
    missing: bool = False
    """A kind of a newer version."""
    chip: str = ""
    """The label of a junction."""
    chip_icon: str = ""
    severity: str = ""
    """The worst problem of a junction."""


def subtitle_of(workflow: Workflow, node: Node) -> str:
    """The second line of a card."""
    match node:
        case AgentNode():
            words = [node.model or node.profile or tr("default model")]
            if node.tools:
                words.append(counted(len(node.tools), tr("1 tool"), tr("{count} tools")))
            if node.mcp_servers:
                words.append(counted(len(node.mcp_servers), tr("1 MCP server"), tr("{count} MCP servers")))
            if node.host == "turn_token":
                words.append(tr("turn token"))
            return " · ".join(words)
        case RunnerNode():
            return " · ".join(a.name or a.id for a in node.agents) or tr("no agent yet")
        case FunctionNode():
            return _signature(workflow, node)
        case HumanInputNode():
            return _first_line(node.question)
        case TemplateNode():
            return _first_line(node.text)
        case SubWorkflowNode():
            if node.embedded is not None:
                return tr("embedded") + " · " + counted(counts(node.embedded)[0], tr("1 node"), tr("{count} nodes"))
            return (node.path or tr("no file yet")).rsplit("/", 1)[-1]
        case UnknownNode():
            return tr("from a newer version")
    return _first_line(node.description)


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _signature(workflow: Workflow, node: FunctionNode) -> str:
    gives = " | ".join(split(node.sends) or yields(node))
    arrow = f" → {gives}" if gives else ""
    if not node.call:
        return f"{node.accepts}{arrow}"
    module_name, _, name = node.call.partition(":")
    argument = node.accepts
    module = next((m for m in workflow.modules if m.name == module_name), None)
    if module is not None:
        found = re.search(rf"^\s*(?:async\s+)?def\s+{re.escape(name)}\s*\(\s*(\w+)", module.source, re.MULTILINE)
        argument = found[1] if found else argument
    return f"{name or module_name}({argument}){arrow}"


def is_output(workflow: Workflow, node: Node) -> bool:
    """Whether the card has the badge Output: it can yield something and is designated, or, with nothing designated, at
    the end of a path."""
    if not yields(node):
        return False
    if isinstance(workflow.outputs, tuple):
        return node.id in workflow.outputs
    return node.id not in _sources(workflow)


_sources_of: tuple[tuple[object, ...], frozenset[str]] | None = None


def _sources(workflow: Workflow) -> frozenset[str]:
    """Ids of nodes with something after them; kept for the edges of the last workflow asked about."""
    global _sources_of
    if _sources_of is None or _sources_of[0] is not workflow.edges:
        found: set[str] = set()
        for edge in workflow.edges:
            if isinstance(edge, FanInEdge):
                found.update(edge.sources)
            elif source := getattr(edge, "source", None):
                found.add(source)
        _sources_of = (workflow.edges, frozenset(found))
    return _sources_of[1]


def card_of(
    workflow: Workflow, node: Node, run: RunModel, problems: Sequence[Problem], next_step: Mapping[str, str]
) -> Card:
    """The card of a node that is not a join."""
    view = run.nodes.get(node.id)
    kind = node.kind
    human = isinstance(node, HumanInputNode)
    generic_end = isinstance(node, GenericNode) and node.kind == "end"
    generic_input = isinstance(node, GenericNode) and node.kind == "input"
    return Card(
        kind=kind,
        title=one_line(node.name) or node.id,
        subtitle=subtitle_of(workflow, node),
        status=view.status if view else "idle",
        badges=(*_badges(workflow, node, view, problems), *_overrides(run, node.id)),
        footer=_footer(view),
        octagon=octagon_of(run, node.id),
        requests=view.open_requests if view else 0,
        note=next_step.get(node.id, ""),
        port_in="" if generic_input else "circle",
        port_out="" if generic_end else "square" if human else "circle",
        missing=isinstance(node, UnknownNode),
    )


def octagon_of(run: RunModel, node: str) -> OctagonVariant | None:
    """The breakpoint mark of a node."""
    if run.paused_at == node:
        return "hit"
    return look_at_node(run.setup.breakpoints, node) or ("on" if node in run.breakpoints else None)


def worst(problems: Sequence[Problem]) -> str:
    """``error``, ``warning``, ``info`` or nothing."""
    return next((s for s in ("error", "warning", "info") if any(p.severity == s for p in problems)), "")


def problem_badge(problems: Sequence[Problem]) -> Badge | None:
    """Icon and count of errors and warnings; the worst decides the look. Hints are in the card beside the pointer."""
    count = str(sum(p.severity != "info" for p in problems))
    match worst(problems):
        case "error":
            return Badge(count, "error", "fail")
        case "warning":
            return Badge(count, "problem", "wait")
    return None


def _badges(workflow: Workflow, node: Node, view: NodeView | None, problems: Sequence[Problem]) -> list[Badge]:
    found = [problem_badge(problems)]
    if is_output(workflow, node):
        found.append(Badge(tr("Output"), "output"))
    if workflow.start == node.id:
        found.append(Badge(tr("Start"), "flag", token="accent"))
    if view is not None and view.open_requests:
        found.append(Badge(str(view.open_requests), "hand", "wait"))
    if view is not None and view.invocations > 1:
        times = tr("ran twice") if view.invocations == 2 else tr("ran {n} times").format(n=view.invocations)
        found.append(Badge(times))
    return [badge for badge in found if badge is not None]


def _overrides(run: RunModel, node: str) -> list[Badge]:
    """What a run does instead of calling the node."""
    overrides = run.setup.overrides
    if node in overrides.muted:
        return [Badge(tr("Muted"), "muted")]
    return [Badge(tr("Pinned"), "pin", token="accent")] if node in overrides.pins else []


def _footer(view: NodeView | None) -> tuple[tuple[str, str], ...]:
    if view is None or not view.invocations or view.status in ("idle", "queued"):
        return ()
    parts: list[tuple[str, str]] = []
    paid = view.usage is not None and view.usage.cost is not None and bool(view.usage.cost.amounts)
    if view.invocations > 1 and not paid:  # the badge says it too, and a card has room for three
        parts.append(("", f"×{view.invocations}"))
    if tokens := tokens_short(view.usage):
        parts.append(("tokens", tokens))
    if paid:
        parts.append(("cost", cost_words(view.usage)))
    if view.seconds or view.status not in ("running", "stopped"):
        parts.append(("clock", seconds_text(view.seconds)))
    return tuple(parts)


# ------------------------------------------------------------------------------------------------ junctions


def join_card(
    workflow: Workflow, node: JoinNode, run: RunModel, problems: Sequence[Problem], next_step: Mapping[str, str]
) -> Card:
    """The label and state of a join bar."""
    fan_in = next((e for e in workflow.edges if isinstance(e, FanInEdge) and e.target == node.id), None)
    count = len(fan_in.sources) if fan_in else 0
    view = run.nodes.get(node.id)
    return Card(
        kind="join",
        title=one_line(node.name),
        status=view.status if view else "idle",
        chip=_join_progress(run, fan_in) or _join_label(node, count),
        chip_icon="join",
        octagon=octagon_of(run, node.id),
        note=next_step.get(node.id, ""),
        severity=worst(problems),
    )


def _join_label(node: JoinNode, count: int) -> str:
    how = tr("merged by code") if node.merge == "code" else tr("merged")
    return tr("nothing to join yet") if not count else tr("all {n}, {how}").format(n=count, how=how)


def _join_progress(run: RunModel, fan_in: FanInEdge | None) -> str:
    """ "2 of 3 in" while something waits at the bar or is on its way to it."""
    if fan_in is None or run.state in ("idle", "completed", "cancelled", "failed"):
        return ""
    ran = max((run.invocations[i].superstep for s in run.supersteps for i in s.invocations
               if i in run.invocations and run.invocations[i].node == fan_in.target), default=0)  # fmt: skip
    behind = {collector_id(fan_in, source): source for source in fan_in.sources}
    waiting = {
        behind.get(m.source, m.source)
        for m in run.messages
        if m.superstep >= max(ran, 1)
        and any(edge == fan_in.id and (taken or why == "buffered") for edge, _, taken, why in m.routes)
    }
    coming = {behind.get(q.source, q.source) for q in run.queued if fan_in.id in q.edges or q.target == fan_in.target}
    waiting -= coming
    if not waiting and not coming:
        return ""
    text = tr("{n} of {all} in").format(n=len(waiting), all=len(fan_in.sources))
    return f"{text} · {tr('fires next')}" if coming and waiting | coming >= set(fan_in.sources) else text
