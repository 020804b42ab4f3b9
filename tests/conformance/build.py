"""Builds the workflow of a case, and keeps what lives for the whole case: replies, failures, recorded calls."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from studio.agents.agent import Agent
from studio.agents.client import ChatRequest, ChunkSink, RunHooks
from studio.agents.messages import AgentReply, Message
from studio.agents.session import Session
from studio.agents.tools import Tool
from studio.engine import AgentHost, Case, Executor, SubWorkflowExecutor, Workflow, WorkflowBuilder
from studio.engine.workflow import Order

from tests.conformance.forms import form
from tests.conformance.nodes import OpsNode, condition, selection, wait
from tests.conformance.patterns import build_pattern
from tests.fakes.scripted_client import ScriptedClient

Form = Mapping[str, Any]


class Level:
    """One workflow of the case and the sub-workflow node around it."""

    def __init__(self, inside: str | None = None) -> None:
        self.inside = inside
        self.workflow: Workflow | None = None

    def stamp(self, agent: str) -> dict[str, Any]:
        superstep = self.workflow.superstep + 1 if self.workflow else 1
        shown = {"agent": agent, "superstep": superstep}
        return {**shown, "inside": self.inside} if self.inside else shown


class RecordedAgent:
    """An agent that notes what its node hands to it."""

    def __init__(self, agent: Agent, level: Level, calls: list[dict[str, Any]]) -> None:
        self._agent = agent
        self._level = level
        self._calls = calls

    @property
    def name(self) -> str:
        return self._agent.name

    @property
    def description(self) -> str:
        return self._agent.description

    @property
    def tools(self) -> Sequence[Tool]:
        return self._agent.tools

    def with_tools(self, tools: Sequence[Tool]) -> Agent:
        """The bare agent: orchestrations copy agents, and copies are not recorded."""
        return replace(self._agent, tools=(*self._agent.tools, *tools))

    def new_session(self) -> Session:
        return self._agent.new_session()

    async def run(
        self, messages: Sequence[Message], *, session: Session, updates: Any = None, hooks: RunHooks | None = None
    ) -> AgentReply:
        call = {**self._level.stamp(self.name), "streaming": updates is not None, "messages": form(list(messages))}
        self._calls.append(call)
        return await self._agent.run(messages, session=session, updates=updates, hooks=hooks)


class RecordedClient:
    """A scripted client that notes what reaches the model."""

    def __init__(self, client: ScriptedClient, agent: str, level: Level, calls: list[dict[str, Any]]) -> None:
        self._client = client
        self._agent = agent
        self._level = level
        self._calls = calls

    @property
    def model(self) -> str:
        return self._client.model

    async def complete(self, request: ChatRequest, *, chunk: ChunkSink | None, hooks: RunHooks) -> AgentReply:
        self._calls.append({**self._level.stamp(self._agent), "messages": form(list(request.messages))})
        return await self._client.complete(request, chunk=chunk, hooks=hooks)

    async def close(self) -> None:
        await self._client.close()


class CaseBuilder:
    """Makes instances of the graphs of one case."""

    def __init__(self, name: str, order: Order) -> None:
        self.name = name
        self.agent_calls: list[dict[str, Any]] = []
        self.model_calls: list[dict[str, Any]] = []
        self.order: Order = order
        self._failures: Counter[str] = Counter()
        self._clients: dict[str, ScriptedClient] = {}
        self._reviewed: dict[str, Level] = {}

    def rewind(self, calls: Mapping[str, int]) -> None:
        """Every agent goes on with the reply after so many calls."""
        for node, client in self._clients.items():
            client.requests[:] = [None] * calls.get(node, 0)  # type: ignore[list-item]

    def skip(self, node: str, calls: int) -> None:
        """The agent of a node has answered so many calls already."""
        self._clients[node].requests.extend([None] * calls)  # type: ignore[list-item]

    def level(self, inside: str) -> Level:
        """The inner workflow of a reviewed participant."""
        level = Level(inside)
        self._reviewed[inside] = level
        return level

    def build(self, graph: Form, inside: str | None = None) -> Workflow:
        level = Level(inside)
        workflow = self._pattern(graph, level) if "orchestration" in graph else self._graph(graph, level)
        level.workflow = workflow
        for id, inner in self._reviewed.items():
            node = workflow.executors.get(id)
            if isinstance(node, SubWorkflowExecutor):
                inner.workflow = node.workflow
        return workflow

    def _graph(self, graph: Form, level: Level) -> Workflow:
        sessions: dict[str, Session] = {}
        nodes = {n.get("key", n["id"]): self._node(n, level, sessions) for n in graph["nodes"]}
        builder = WorkflowBuilder(
            nodes[graph["start"]],
            name=self.name,
            max_supersteps=graph.get("max_iterations", 100),
            outputs=_designation(graph.get("outputs"), nodes),
            intermediate=_designation(graph.get("intermediate"), nodes),
            order=self.order,
        )
        for edge in graph["edges"]:
            _add(builder, edge, nodes)
        return builder.build()

    def _node(self, node: Form, level: Level, sessions: dict[str, Session]) -> Executor:
        if node["kind"] == "function":
            return OpsNode(node, self._failures)
        if node["kind"] == "agent":
            return self._host(node, level, sessions)
        return SubWorkflowExecutor(
            self.build(node["graph"], node["id"]),
            node["id"],
            direct_output=node.get("direct_output", False),
            propagate_requests=node.get("propagate_requests", False),
        )

    def _host(self, node: Form, level: Level, sessions: dict[str, Session]) -> AgentHost:
        context, keep = node.get("context", "full"), None
        if isinstance(context, dict):
            keep, context = context, "custom"
        session = sessions.setdefault(node["session"], Session()) if "session" in node else None
        return AgentHost(
            self.agent(node, level),
            node["id"],
            context=context,
            context_filter=_filter(keep) if keep else None,
            trailing_user_turn=node.get("ensure_trailing_user_turn", False),
            session=session,
        )

    def agent(self, node: Form, level: Level) -> RecordedAgent:
        """The agent of a node; its replies go on where the last instance stopped."""
        name = node.get("name", node["id"])
        client = self._clients.get(node["id"])
        if client is None:
            client = ScriptedClient(node["replies"], then=node.get("then"), wait=_virtual)
            self._clients[node["id"]] = client
        recorded = RecordedClient(client, name, level, self.model_calls)
        tools = tuple(_tool(t) for t in node.get("tools", ()))
        agent = Agent(name, recorded, tools=tools, node=node["id"], description=node.get("description", ""))
        return RecordedAgent(agent, level, self.agent_calls)

    def _pattern(self, graph: Form, level: Level) -> Workflow:
        return build_pattern(self, graph, level)


async def _virtual(seconds: float) -> None:
    await wait(seconds * 1000)


def _tool(form: Form) -> Tool:
    async def run(arguments: dict[str, Any]) -> str:
        if "error" in form:
            raise RuntimeError(form["error"])
        return str(form.get("returns", "")).replace("{q}", str(arguments.get("q", "")))

    approval = form.get("approval", "never")
    caller = approval == "caller_executes"
    parameters = {"type": "object", "properties": {"q": {"type": "string"}}}
    return Tool(form["name"], "", parameters, None if caller else run, "caller" if caller else approval)


def _filter(keep: Form) -> Any:
    def kept(messages: list[Message]) -> list[Message]:
        if "keep_last" in keep:
            return messages[-keep["keep_last"] :] if keep["keep_last"] else []
        return [m for m in messages if m.role in keep["keep_roles"]]

    return kept


def _designation(form: Any, nodes: Mapping[str, Executor]) -> Any:
    return [nodes[key].id if key in nodes else key for key in form] if isinstance(form, list) else form


def _add(builder: WorkflowBuilder, edge: Form, nodes: Mapping[str, Executor]) -> None:
    kind = edge["kind"]
    if kind == "direct":
        when = condition(edge["when"]) if "when" in edge else None
        builder.edge(nodes[edge["from"]], nodes[edge["to"]], when, name=edge.get("name", "condition"))
    elif kind == "chain":
        builder.chain([nodes[key] for key in edge["nodes"]])
    elif kind == "fan_out":
        select = selection(edge["select"]) if "select" in edge else None
        targets = [nodes[key] for key in edge["to"]]
        builder.fan_out(nodes[edge["from"]], targets, select, name=edge.get("name", "selection"))
    elif kind == "fan_in":
        builder.fan_in([nodes[key] for key in edge["from"]], nodes[edge["to"]])
    elif kind == "switch":
        cases = [
            Case(condition(c["when"]) if "when" in c else None, nodes[c["to"]], c.get("name", "condition"))
            for c in edge["cases"]
        ]
        builder.switch(nodes[edge["from"]], cases)
    else:
        raise NotImplementedError(json.dumps(edge))
