"""What reaches outside when a moment is gone on from: tools, MCP calls and functions that no restore takes back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from studio.debugger.traces import StepTrace
from studio.document.lines import pairs
from studio.document.model import AgentNode, FunctionNode, Workflow


@dataclass(frozen=True, slots=True)
class Effect:
    """A function node, or a tool of an agent (``tool`` is its name). ``recorded``: it ran after this moment already."""

    node: str
    name: str
    tool: str = ""
    recorded: bool = True

    @property
    def words(self) -> str:
        """ "publish", "send_mail of Writer"."""
        return f"{self.tool} of {self.name}" if self.tool else self.name


def outside_effects(document: Workflow, after: Iterable[StepTrace], queued: Iterable[str]) -> tuple[Effect, ...]:
    """What has run after a moment and would run again; if nothing is recorded, what may run. ``queued``: the nodes that
    messages wait for there."""
    steps = list(after)
    found: dict[tuple[str, str], Effect] = {}
    for node in (node for step in steps for node in step.nodes):
        for effect in _of_node(document, node.node, node.tools):
            found[effect.node, effect.tool] = effect
    if not any(step.nodes for step in steps):
        for node_id in _reachable(document, queued):
            for effect in _of_node(document, node_id, None):
                found[effect.node, effect.tool] = Effect(effect.node, effect.name, effect.tool, recorded=False)
    return tuple(found.values())


def sentence(effects: Iterable[Effect]) -> str:
    """In words: "1 step with outside effects would run again: publish."; "" without any."""
    found = list(effects)
    if not found:
        return ""
    names = ", ".join(effect.words for effect in found)
    steps = "1 step" if len(found) == 1 else f"{len(found)} steps"
    how = "would run again" if any(effect.recorded for effect in found) else "may run"
    return f"{steps} with outside effects {how}: {names}."


def _of_node(document: Workflow, node_id: str, called: Iterable[str] | None) -> list[Effect]:
    """The effects of a node; ``called`` are the tools that it called, None: those that it has."""
    node = document.node(node_id)
    name = str(getattr(node, "name", "") or node_id)
    if isinstance(node, FunctionNode):
        return [Effect(node_id, name)] if node.has_effects else []
    if not isinstance(node, AgentNode):
        return []
    declared = {tool.name: tool for tool in document.tools}
    if called is not None:
        outside = [t for t in dict.fromkeys(called) if t not in declared or declared[t].has_effects]
        return [Effect(node_id, name, tool) for tool in outside]
    tools = [t for t in node.tools if t in declared and declared[t].has_effects]
    return [Effect(node_id, name, tool) for tool in (*tools, *node.mcp_servers)]


def _reachable(document: Workflow, starts: Iterable[str]) -> list[str]:
    following: dict[str, list[str]] = {}
    for source, target, _ in pairs(document):
        following.setdefault(source, []).append(target)
    seen: dict[str, None] = {}
    waiting = list(starts)
    while waiting:
        node = waiting.pop(0)
        if node not in seen:
            seen[node] = None
            waiting += following.get(node, ())
    return list(seen)
