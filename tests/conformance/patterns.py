"""Orchestrations of the case files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from studio.agents.messages import AgentResponse, Message
from studio.engine import AgentHost, Workflow
from studio.engine.orchestrations import (
    AgentManager,
    Aggregator,
    Autonomy,
    ChatState,
    concurrent,
    group_chat,
    handoff,
    magentic,
    sequential,
)

if TYPE_CHECKING:
    from tests.conformance.build import CaseBuilder, Level

Form = Mapping[str, Any]


def build_pattern(builder: CaseBuilder, graph: Form, level: Level) -> Workflow:
    """The ready-made workflow of a case."""
    return _PATTERNS[graph["orchestration"]](builder, graph, level)


def _common(builder: CaseBuilder, graph: Form) -> dict[str, Any]:
    return {
        "name": builder.name,
        "outputs": graph.get("outputs"),
        "intermediate": graph.get("intermediate"),
        "max_supersteps": graph.get("max_iterations", 100),
        "order": builder.order,
    }


def _hosts(builder: CaseBuilder, graph: Form, level: Level, **options: Any) -> list[AgentHost]:
    """The participants as agent nodes; a reviewed one runs inside a workflow of its own."""
    reviewed = graph.get("request_info", ())
    hosts = []
    for p in graph["participants"]:
        inner = builder.level(p["id"]) if reviewed is True or p["id"] in (reviewed or ()) else level
        hosts.append(AgentHost(builder.agent(p, inner), p["id"], **options))
    return hosts


def _sequential(builder: CaseBuilder, graph: Form, level: Level) -> Workflow:
    context = "last_agent" if graph.get("chain_only_agent_responses") else "full"
    trailing = bool(graph.get("ensure_trailing_user_turn"))
    hosts = _hosts(builder, graph, level, context=context, trailing_user_turn=trailing)
    return sequential(hosts, review=graph.get("request_info", False), **_common(builder, graph))


def _concurrent(builder: CaseBuilder, graph: Form, level: Level) -> Workflow:
    aggregator = None
    if "aggregator" in graph:
        separator = graph["aggregator"]["join"]

        def join(responses: list[AgentResponse]) -> str:
            return str(separator.join(r.reply.text for r in responses))

        aggregator = Aggregator("joiner", join)
    hosts = _hosts(builder, graph, level)
    review = graph.get("request_info", False)
    return concurrent(hosts, aggregator=aggregator, review=review, **_common(builder, graph))


def _group_chat(builder: CaseBuilder, graph: Form, level: Level) -> Workflow:
    names = graph["select"]["round_robin"]

    def select(state: ChatState) -> str:
        return str(names[state.round % len(names)])

    hosts = _hosts(builder, graph, level)
    rounds, termination = graph.get("max_rounds"), _termination(graph)
    return group_chat(hosts, select, max_rounds=rounds, termination=termination, **_common(builder, graph))


def _handoff(builder: CaseBuilder, graph: Form, level: Level) -> Workflow:
    agents = [builder.agent(p, level) for p in graph["participants"]]
    autonomy = None
    if "autonomous" in graph:
        form = graph["autonomous"] if isinstance(graph["autonomous"], dict) else {}
        autonomy = Autonomy(form.get("agents") or (), form.get("turn_limits"))
    return handoff(
        agents,
        graph["start"],
        lambda agent, tools: agent.with_tools(tools),
        handoffs=graph.get("handoffs"),
        termination=_termination(graph),
        return_to_previous=graph.get("return_to_previous", True),
        autonomy=autonomy,
        **_common(builder, graph),
    )


def _magentic(builder: CaseBuilder, graph: Form, level: Level) -> Workflow:
    async def no_wait(seconds: float) -> None: ...

    manager = AgentManager(builder.agent(graph["manager"], level), wait=no_wait)
    agents = {p["id"]: builder.agent(p, level) for p in graph["participants"]}
    options = {key: graph[key] for key in ("max_stalls", "max_resets", "max_rounds", "plan_review") if key in graph}
    return magentic(agents, manager, **options, **_common(builder, graph))


def _termination(graph: Form) -> Callable[[list[Message]], bool] | None:
    form = graph.get("termination")
    if form is None:
        return None
    ((kind, wanted),) = form.items()

    def met(messages: list[Message]) -> bool:
        if kind == "any_text_contains":
            return any(wanted in m.text for m in messages)
        role = "user" if kind == "user_messages_at_least" else "assistant"
        return sum(m.role == role for m in messages) >= wanted

    return met


_PATTERNS: dict[str, Callable[[CaseBuilder, Form, Level], Workflow]] = {
    "sequential": _sequential,
    "concurrent": _concurrent,
    "group_chat": _group_chat,
    "handoff": _handoff,
    "magentic": _magentic,
}
