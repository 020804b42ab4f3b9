"""Checks of turns: tokens that never come, that come twice, and turns that fall into pieces."""

from __future__ import annotations

from collections.abc import Iterator

from studio.document import turns, types
from studio.document.edits import SetFields
from studio.document.facts import Facts
from studio.document.lines import leg_id
from studio.document.model import AgentNode, DirectEdge, FanInEdge, FanOutEdge, FunctionNode, JoinNode, Node
from studio.document.problems import Fix, Problem


def turn_problems(facts: Facts) -> Iterator[Problem]:
    """Everything about agents with the turn-token host."""
    agents = [n for n in facts.workflow.nodes if isinstance(n, AgentNode) and turns.takes_turns(n)]
    if not agents:
        return
    tokens = turns.token_sources(facts.workflow)
    before: dict[str, list[str]] = {}
    for source, target, _ in facts.pairs:
        if source in facts.reached and source in facts.nodes:
            before.setdefault(target, []).append(source)
    for node in agents:
        if node.id in facts.reached:
            yield from _starved(facts, node, before.get(node.id, []), tokens)
            yield from _overruled(facts, node, before.get(node.id, []))
            yield from _unhandled(facts, node)
    yield from _doubled(facts, agents, before, tokens)
    yield from _in_pieces(facts)


def _starved(facts: Facts, node: AgentNode, sources: list[str], tokens: frozenset[str]) -> Iterator[Problem]:
    if node.id == facts.workflow.start or any(s in tokens or _may_send_token(facts.nodes.get(s)) for s in sources):
        return
    names = " and ".join(facts.name(s) for s in dict.fromkeys(sources))
    sends = "sends" if len(set(sources)) == 1 else "send"
    message = f"{facts.name(node.id)} never takes a turn: {names} {sends} it messages, but no turn token."
    fix = Fix("Give it the Python host", SetFields("nodes", node.id, {"host": "python"}))
    yield Problem("turn_starved", message, node.id, "host", "warning", fix)


def _may_send_token(node: Node | None) -> bool:
    """A function that sends anything, or whose code sends by itself, may send a token too."""
    return isinstance(node, FunctionNode) and ("any" in types.split(node.sends) or "TurnToken" in node.body)


def _overruled(facts: Facts, node: AgentNode, sources: list[str]) -> Iterator[Problem]:
    """An option that no token ever leaves to this agent (warning W15 of a run)."""
    if node.turn_token.emit_agent_update_events is None:
        return
    is_start = node.id == facts.workflow.start
    if is_start and node.turn_token.first_token in ("auto", "open"):
        return
    if not is_start and not (sources and all(turns.takes_turns(facts.nodes[s]) for s in sources)):
        return
    why = "its first token says it" if is_start else "the agent before decides for all that follow"
    message = f"Whether {facts.name(node.id)} gives updates is not its own choice: {why}."
    changed = node.turn_token.model_copy(update={"emit_agent_update_events": None})
    fix = Fix("Leave it to the token", SetFields("nodes", node.id, {"turn_token": changed}))
    yield Problem("emit_overruled", message, node.id, "turn_token.emit_agent_update_events", "info", fix)


def _unhandled(facts: Facts, node: AgentNode) -> Iterator[Problem]:
    options = node.turn_token
    for name, on, what in (
        ("intercept_user_input_requests", options.intercept_user_input_requests, "approvals"),
        ("intercept_unterminated_function_calls", options.intercept_unterminated_function_calls, "open tool calls"),
    ):
        targets = [facts.nodes[t] for t in facts.following.get(node.id, ()) if t in facts.nodes]
        if on and not any(_takes_content(t) for t in targets):
            message = (
                f"{facts.name(node.id)} sends {what} on, but no node behind it takes them: such a turn never ends."
            )
            fix = Fix("Ask outside instead", _with_option(node, name, False))
            yield Problem("intercepted_unhandled", message, node.id, f"turn_token.{name}", "warning", fix)


def _takes_content(node: Node) -> bool:
    taken = types.accepts(node)
    return isinstance(node, FunctionNode) and (not taken or "any" in taken or "content" in taken)


def _with_option(node: AgentNode, name: str, value: object) -> SetFields:
    return SetFields("nodes", node.id, {"turn_token": node.turn_token.model_copy(update={name: value})})


# ------------------------------------------------------------------------------------------------ two tokens


_PATIENCE = 3_000_000
"""Steps that the search for meeting ways may take: a drawing of thousands of such agents goes without it."""


def _doubled(
    facts: Facts, agents: list[AgentNode], before: dict[str, list[str]], tokens: frozenset[str]
) -> Iterator[Problem]:
    """Agents that get two tokens because the ways from one fork meet again at them."""
    always = _always(facts)
    forks = {f: hops for f, hops in always.items() if len(hops) > 1}
    found_entries = {node.id: frozenset(before.get(node.id, ())) & tokens for node in agents}
    meeting = [node for node in agents if len(found_entries[node.id]) > 1]
    if len(meeting) * len(forks) * len(facts.pairs) > _PATIENCE:
        return
    for node in meeting:
        found = _meeting(facts, node.id, found_entries[node.id], forks)
        if found is not None:
            first, second = (facts.name(s) for s in found)
            message = f"{facts.name(node.id)} takes two turns: one for the token of {first}, one for that of {second}. "
            message += "Let a join bar that merges messages wait for both."
            yield Problem("turn_doubled", message, node.id, severity="warning")


def _always(facts: Facts) -> dict[str, list[str]]:
    """By node, where its messages always go: at once, not one or the other."""
    found: dict[str, list[str]] = {}
    for edge in facts.workflow.edges:
        match edge:
            case DirectEdge(condition=None) if edge.source in facts.reached:
                found.setdefault(edge.source, []).append(edge.target)
            case FanOutEdge(source=str() as source) if source in facts.reached:
                targets = [t for t in edge.targets if t not in (edge.selection or {})]
                found.setdefault(source, []).extend(targets)
            case FanInEdge():
                for source in facts.reached.intersection(edge.sources):
                    found.setdefault(source, []).append(edge.target)
    return found


def _meeting(
    facts: Facts, node_id: str, sources: frozenset[str], forks: dict[str, list[str]]
) -> tuple[str, str] | None:
    """Two sources of a node that both run after one fork, on different ways."""
    for fork, hops in forks.items():
        if fork == node_id:
            continue
        behind = [_reached_sources(facts, fork, hop, node_id, sources) for hop in dict.fromkeys(hops)]
        for n, ones in enumerate(behind):
            for others in behind[n + 1 :]:
                for one in sorted(ones):
                    rest = sorted(others - {one})
                    if rest:
                        return one, rest[0]
    return None


def _reached_sources(facts: Facts, fork: str, hop: str, node_id: str, sources: frozenset[str]) -> frozenset[str]:
    """The sources that a way from the fork over ``hop`` leads through before it comes to the node."""
    if hop == node_id:
        return frozenset({fork}) & sources
    seen, waiting = {hop}, [hop]
    while waiting:
        for target in facts.following.get(waiting.pop(), ()):
            if target not in seen and target not in (fork, node_id):
                seen.add(target)
                waiting.append(target)
    return sources & seen


# ------------------------------------------------------------------------------------------------ turns in pieces


def _in_pieces(facts: Facts) -> Iterator[Problem]:
    """Nodes that know no turns behind an agent that sends one: they run for each message of it."""
    for source, target, line in facts.pairs:
        agent, node = facts.nodes.get(source), facts.nodes.get(target)
        if not isinstance(agent, AgentNode) or not turns.takes_turns(agent) or source not in facts.reached:
            continue
        if node is None or turns.takes_turns(node) or isinstance(node, JoinNode) or node.kind == "pass":
            continue
        if not agent.turn_token.forward_incoming_messages:
            continue
        message = f"{facts.name(target)} runs twice for each turn of {facts.name(source)}: for the messages that came "
        message += "in, and for the answer."
        fix = Fix("Send the answer only", _with_option(agent, "forward_incoming_messages", False))
        yield Problem("turn_in_pieces", message, line or leg_id(source, target), severity="warning", fix=fix)
