"""Turns of agents behind the turn-token host: who passes tokens on, and which nodes a run adds to keep a turn whole.

A turn is two or three messages: what came in, the answer, the token. A run (and exported code) therefore adds

* a **start** in front of a start node that waits for a token: it makes messages and a token of the input
  (id :func:`start_id`);
* a **router** for each conditional edge, switch and conditional fan-out behind such an agent (the id of the edge
  group): it waits for the token, decides once on all messages of the turn, and sends the whole turn that way;
* a **collector** for each such agent in front of a join bar (the id of its line, :func:`collector_id`): the bar gets
  one list of the whole turn.

A join bar that merges messages and leads to such an agent sends one list and a token (:func:`joins_turns`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Literal

from studio.document import types
from studio.document.ids import taken_ids
from studio.document.lines import leg_id, name_of, pairs
from studio.document.model import (
    AgentNode,
    DirectEdge,
    Edge,
    FanInEdge,
    FanOutEdge,
    FunctionNode,
    JoinNode,
    Node,
    SwitchEdge,
    Workflow,
)

TOKEN = "turn_token"
_START = "chat_start"
FirstToken = bool | Literal["run"] | None
"""What the first token says about updates; ``run``: True if the run does not stream, else None."""


def takes_turns(node: object) -> bool:
    """Whether a node collects messages and works when a token comes."""
    return isinstance(node, AgentNode) and node.host == "turn_token"


def start_id(workflow: Workflow) -> str | None:
    """The id of the node that a run puts in front of the start; None if the start needs no token."""
    start = workflow.node(workflow.start) if workflow.start else None
    if not takes_turns(start):
        return None
    taken = {i.casefold() for i in taken_ids(workflow)}
    names = (_START, *(f"{_START}_{n}" for n in range(2, len(taken) + 3)))
    return next(name for name in names if name not in taken)


def is_start(workflow: Workflow, item_id: str) -> bool:
    """Whether this is the id of the node in front of the start."""
    return item_id.startswith(_START) and item_id == start_id(workflow)


def first_token(node: AgentNode) -> FirstToken:
    """What the token of the first turn says. A run that does not stream always asks for updates, as the framework
    does; a streaming one leaves it to the agent's own option and asks for them if that is not set."""
    match node.turn_token.first_token:
        case "on":
            return True
        case "off":
            return False
        case "open":
            return None
    return True if node.turn_token.emit_agent_update_events is None else "run"


def turn_sources(workflow: Workflow) -> frozenset[str]:
    """The nodes that send whole turns, token included: agents that take turns, and what only passes them on."""
    found = {n.id for n in workflow.nodes if takes_turns(n)}
    passing = {n.id for n in workflow.nodes if n.kind == "pass"}
    following: dict[str, list[str]] = {}
    if passing and found:
        for source, target, _ in pairs(workflow):
            following.setdefault(source, []).append(target)
        waiting = list(found)
        while waiting:
            for target in following.get(waiting.pop(), ()):
                if target in passing and target not in found:
                    found.add(target)
                    waiting.append(target)
    return frozenset(found)


def token_sources(workflow: Workflow) -> frozenset[str]:
    """Every node that may send a token: the ones above, joins of turns, and functions that say so."""
    own = {n.id for n in workflow.nodes if isinstance(n, FunctionNode) and TOKEN in types.split(n.sends)}
    taking = {n.id for n in workflow.nodes if takes_turns(n)}
    before = {source for source, target, _ in pairs(workflow) if target in taking}
    joins = {n.id for n in workflow.nodes if isinstance(n, JoinNode) and n.merge == "messages" and n.id in before}
    return turn_sources(workflow) | own | joins


def joins_turns(workflow: Workflow, node: Node) -> bool:
    """Whether a join bar sends one list and a token: it merges messages, and a node behind it takes turns."""
    if not isinstance(node, JoinNode) or node.merge != "messages":
        return False
    return any(takes_turns(workflow.node(target)) for source, target, _ in pairs(workflow) if source == node.id)


def joined_token(workflow: Workflow, join_id: str) -> bool | None:
    """What the token of a join bar says: it asks for updates, unless an agent behind has an option of its own."""
    behind = [workflow.node(target) for source, target, _ in pairs(workflow) if source == join_id]
    options = [n.turn_token for n in behind if isinstance(n, AgentNode) and takes_turns(n)]
    return None if any(o.emit_agent_update_events is not None for o in options) else True


def is_routed(edge: Edge, sources: Collection[str | None]) -> bool:
    """Whether a router decides for this edge group, given the nodes that send whole turns."""
    match edge:
        case DirectEdge():
            return edge.condition is not None and edge.source in sources
        case SwitchEdge():
            return edge.source in sources
        case FanOutEdge():
            return bool(edge.selection) and edge.source in sources
    return False


def collector_id(edge: FanInEdge, source: str) -> str:
    """The id of the collector between a source and a join bar: that of the line."""
    return leg_id(edge.id, source)


def added_name(workflow: Workflow, item_id: str) -> str | None:
    """What people call a node that a run adds; None if it adds no such node, or one with the name of a group."""
    if is_start(workflow, item_id):
        return "Chat start"
    edge_id, leg, source = item_id.partition(":to:")
    edge = workflow.edge(edge_id)
    if isinstance(edge, DirectEdge) and is_routed(edge, turn_sources(workflow)):
        return f"{name_of(workflow, edge.source)} → {name_of(workflow, edge.target)}"
    if leg and isinstance(edge, FanInEdge) and source in turn_sources(workflow):
        return f"Turn of {name_of(workflow, source)}"
    return None


def added_nodes(workflow: Workflow) -> Iterator[str]:
    """The ids of all nodes that a run adds."""
    start = start_id(workflow)
    if start is not None:
        yield start
    sources = turn_sources(workflow)
    for edge in workflow.edges:
        if is_routed(edge, sources):
            yield edge.id
        elif isinstance(edge, FanInEdge):
            yield from (collector_id(edge, source) for source in edge.sources if source in sources)
