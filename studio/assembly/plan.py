"""A document becomes a plan: what a run needs, pinned when it starts."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Literal

from studio.agents.budget import Budget, BudgetedClient
from studio.agents.client import ChatClient, Impatient
from studio.agents.layers import LayeredClient
from studio.agents.mcp import McpFailed, ToolServer
from studio.agents.runner import RunnerSetupError
from studio.agents.stored_history import HistoryRows
from studio.assembly.agents import Agents
from studio.assembly.code import UserCode
from studio.assembly.functions import FilledText, Join, PassOn, UserFunction
from studio.assembly.histories import HistoryFiles, NoFolder, history_path
from studio.assembly.people import HumanInput
from studio.assembly.routes import Routes, Tests
from studio.assembly.turns import JoinedTurns, chat_start
from studio.document import turns, validate
from studio.document.agent_options import ContextProvider
from studio.document.facts import edge_ends
from studio.document.fingerprint import document_fingerprint, node_fingerprints
from studio.document.lines import into_id
from studio.document.model import (
    AgentNode,
    Edge,
    FunctionNode,
    GenericNode,
    HumanInputNode,
    JoinNode,
    McpServerDecl,
    Node,
    RunnerNode,
    SubWorkflowNode,
    TemplateNode,
    Workflow,
)
from studio.document.problems import Problem
from studio.document.runners import inner_agents
from studio.engine import workflow as engine
from studio.engine.builder import WorkflowBuilder
from studio.engine.errors import WorkflowValidationError
from studio.engine.executor import Executor
from studio.engine.hosts import SubWorkflowExecutor
from studio.files import FileProblem, read_workflow
from studio.settings import trust
from studio.workers import Worker

Designated = tuple[str, ...] | Literal["all", "all_other"] | None


class PlanError(Exception):
    """The document cannot run; ``problems`` say why."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(" ".join(p.message for p in problems))
        self.problems = tuple(problems)


class NoClientError(LookupError):
    """There is no client for an agent node; the message is a sentence with the way out."""


def _no_server(declared: McpServerDecl) -> ToolServer:
    raise McpFailed(f"Nothing can start the MCP server {declared.name} here")


@dataclass(frozen=True, slots=True)
class Services:
    """What a plan needs from outside. ``worker`` None: no code can run. ``trusted``: the code of the document may run.
    ``folder``: where linked workflows are looked for. ``inner``: services for a workflow inside, by the workflow,
    its folder and the ids of the nodes around it; without it the same services are used, with own trust for linked
    files."""

    client_for: Callable[[AgentNode], ChatClient]
    worker: Worker | None = None
    trusted: bool = False
    folder: Path | None = None
    call_seconds: float = 60.0
    inner: Callable[[Workflow, Path | None, tuple[str, ...]], Services] | None = None
    mcp_server: Callable[[McpServerDecl], ToolServer] = _no_server
    """The server of a declaration; asked only for accepted documents, when an agent's turn begins."""
    histories: HistoryFiles = field(default_factory=HistoryFiles)
    """Keeps what agents remember outside of sessions."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A runnable workflow with what it was made from. ``linked``: the workflows of linked files as they were read."""

    document: Workflow
    engine: engine.Workflow
    fingerprint: str
    node_fingerprints: Mapping[str, str]
    linked: Mapping[str, Workflow]
    codes: tuple[UserCode, ...] = ()
    clients: tuple[ChatClient, ...] = ()
    """Whatever its agents ask, without layers around."""

    def try_now(self) -> None:
        """Ends all waits for a further try of a refused model call."""
        for client in self.clients:
            if isinstance(client, Impatient):
                client.retry_now()

    async def prepare(self) -> None:
        """Starts workers and loads code ahead of the first call. Raises ``UserCodeError``."""
        for code in self.codes:
            await code.prepare()


def compile_plan(workflow: Workflow, services: Services) -> Plan:
    """Makes a plan. Nothing of the document's code runs here. Raises :class:`PlanError`."""
    making = _Making(_budget(workflow))
    made = making.workflow(workflow, services, ())
    if making.problems:
        raise PlanError(making.problems)
    assert made is not None
    prints = dict(node_fingerprints(workflow))
    for node in workflow.nodes:
        linked = making.linked.get(node.id)
        if linked is not None:
            prints[node.id] = _joined(prints[node.id], document_fingerprint(linked))
    contents = [document_fingerprint(w) for _, w in sorted(making.linked.items())]
    fingerprint = document_fingerprint(workflow)
    return Plan(
        workflow,
        made,
        _joined(fingerprint, *contents) if contents else fingerprint,
        prints,
        making.linked,
        tuple(making.codes),
        tuple(making.clients),
    )


def _joined(*prints: str) -> str:
    return hashlib.sha256("\n".join(prints).encode()).hexdigest()


class _Making:
    """Collects problems, linked files and code over a document and everything inside it."""

    def __init__(self, budget: Budget | None) -> None:
        """``budget``: that of the outermost workflow, which counts for everything inside."""
        self._budget = budget
        self.problems: list[Problem] = []
        self.linked: dict[str, Workflow] = {}
        self.codes: list[UserCode] = []
        self.clients: list[ChatClient] = []
        self._files: list[Path] = []

    def workflow(self, document: Workflow, services: Services, inside: tuple[str, ...]) -> engine.Workflow | None:
        errors = [p for p in validate.problems(document) if p.severity == "error"]
        self._report(errors, inside)
        if errors:
            return None
        code = self._code(document, services, inside)
        reached = validate.reachable(document)
        edges = [e for e in document.edges if any(s in reached for s in _sources(e))]
        executors = dict(self._executors(document, services, code, inside, _used(document, edges)))
        if self.problems:
            return None
        try:
            made = _build(document, executors, edges, code)
        except WorkflowValidationError as error:
            place = error.nodes[0] if error.nodes else ""
            self._report([Problem("build", str(error), place)], inside)
            return None
        made.seed_state({s.key: s.initial for s in document.state if s.initial is not None})
        if code.program.units:
            self.codes.append(code)
        return made

    def _code(self, document: Workflow, services: Services, inside: tuple[str, ...]) -> UserCode:
        parts = list(trust.parts(document))
        if parts and not services.trusted:
            message = (
                "The workflow has code that nobody has accepted. Read it with Show code, then choose Trust this code."
            )
            if "/".join(inside) in self.linked:  # it is trusted in its own tab
                message = "This file has code that nobody has accepted. Open it from its node, read its code, then "
                message += "choose Trust this code there."
            self._report([Problem("untrusted_code", message, parts[0].place)], inside)
        elif parts and services.worker is None:
            message = "The workflow has code, and no worker process to run it in."
            self._report([Problem("no_worker", message, parts[0].place)], inside)
        return UserCode(services.worker, document, services.call_seconds)

    def _executors(
        self, document: Workflow, services: Services, code: UserCode, inside: tuple[str, ...], used: set[str]
    ) -> Iterator[tuple[str, Executor]]:
        def rows(provider: ContextProvider) -> HistoryRows:
            path = history_path(document, provider, services.folder)
            return services.histories.rows(provider.store, path)

        agents = Agents(document, code, services.mcp_server, rows)
        for node in document.nodes:
            if node.id in used:
                if isinstance(node, JoinNode) and turns.joins_turns(document, node):
                    yield node.id, JoinedTurns(node, turns.joined_token(document, node.id))
                    continue
                made = self._executor(node, services, code, agents, inside)
                if made is not None:
                    yield node.id, made

    def _executor(
        self, node: Node, services: Services, code: UserCode, agents: Agents, inside: tuple[str, ...]
    ) -> Executor | None:
        match node:
            case AgentNode() | RunnerNode():
                try:
                    return _agent(node, lambda agent: self._client(agent, services), agents)
                except NoClientError as error:
                    self._report([Problem("no_profile", str(error), node.id, "profile")], inside)
                    return None
                except RunnerSetupError as error:
                    self._report([Problem("runner_agents", str(error), node.id, "agents")], inside)
                    return None
                except NoFolder as error:
                    self._report([Problem("history_path", str(error), node.id, "providers")], inside)
                    return None
            case FunctionNode():
                return UserFunction(node, code)
            case TemplateNode():
                return FilledText(node)
            case JoinNode():
                return Join(node, code)
            case HumanInputNode():
                return HumanInput(node)
            case SubWorkflowNode():
                return self._sub_workflow(node, services, inside)
            case GenericNode(kind="pass"):
                return PassOn(node.id)
        message = f"“{node.name or node.id}” is of a kind that this version cannot run."
        self._report([Problem("cannot_run", message, node.id)], inside)
        return None

    def _client(self, agent: AgentNode, services: Services) -> ChatClient:
        client = services.client_for(agent)
        bare = client.inner if isinstance(client, LayeredClient) else client
        if bare not in self.clients:
            self.clients.append(bare)
        return client if self._budget is None else _budgeted(self._budget, client, agent)

    def _sub_workflow(self, node: SubWorkflowNode, services: Services, inside: tuple[str, ...]) -> Executor | None:
        deeper = (*inside, node.id)
        found = self._content(node, services, inside)
        if found is None:
            return None
        document, file = found
        folder = file.parent if file is not None else services.folder
        if services.inner is not None:
            inner = services.inner(document, folder, deeper)
        else:
            trusted = services.trusted if file is None else trust.is_trusted(document, folder)
            inner = replace(services, folder=folder, trusted=trusted)
        if file is not None:
            self._files.append(file)
        made = self.workflow(document, inner, deeper)
        if file is not None:
            self._files.pop()
        if made is None:
            return None
        return SubWorkflowExecutor(
            made, node.id, direct_output=node.direct_output, propagate_requests=node.propagate_requests
        )

    def _content(
        self, node: SubWorkflowNode, services: Services, inside: tuple[str, ...]
    ) -> tuple[Workflow, Path | None] | None:
        """The workflow of the node, and the file it was read from if it is linked."""
        if node.path is None:
            if node.embedded is not None:
                return node.embedded, None
            self._refuse(node, inside, "names no workflow. Choose a file in the inspector.")
            return None
        if services.folder is None:
            self._refuse(node, inside, "is linked to a file; save this workflow first, next to it.")
            return None
        file = (services.folder / node.path).resolve()
        if file in self._files:
            self._refuse(node, inside, f"contains itself through {node.path}.")
            return None
        try:
            document = read_workflow(file)
        except FileProblem as problem:
            self._refuse(node, inside, f"cannot be read: {problem}")
            return None
        self.linked["/".join((*inside, node.id))] = document
        return document, file

    def _refuse(self, node: SubWorkflowNode, inside: tuple[str, ...], why: str) -> None:
        message = f"The sub-workflow “{node.name or node.id}” {why}"
        self._report([Problem("sub_workflow", message, node.id, "path")], inside)

    def _report(self, found: Sequence[Problem], inside: tuple[str, ...]) -> None:
        """Problems of a workflow inside are shown at the outermost node that holds it."""
        for problem in found:
            if inside:
                problem = replace(problem, place=inside[0], message=f"{'/'.join(inside)}: {problem.message}", fix=None)
            self.problems.append(problem)


def _agent(node: AgentNode | RunnerNode, client_for: Callable[[AgentNode], ChatClient], agents: Agents) -> Executor:
    if isinstance(node, AgentNode):
        return agents.host(node, client_for(node))
    return agents.runner(node, {inner.id: client_for(inner) for inner in inner_agents(node)})


def _budget(document: Workflow) -> Budget | None:
    if document.budget_tokens is None and document.budget_cost is None:
        return None
    money = None if document.budget_cost is None else Decimal(str(document.budget_cost))
    return Budget(document.budget_tokens, money, document.budget_currency)


def _budgeted(budget: Budget, client: ChatClient, node: AgentNode) -> ChatClient:
    price = getattr(client.inner if isinstance(client, LayeredClient) else client, "cost_of", None)
    priced = None if price is None else partial(price, node.model or "")
    name = f"“{node.name or node.id}”"
    if isinstance(client, LayeredClient):  # its layers are the agent's, around the loop
        return replace(client, inner=BudgetedClient(client.inner, budget, name, priced))
    return BudgetedClient(client, budget, name, priced)


def _sources(edge: Edge) -> tuple[str, ...]:
    sources = getattr(edge, "sources", None)
    return sources if sources is not None else (getattr(edge, "source", None) or "",)


def _used(document: Workflow, edges: Sequence[Edge]) -> set[str]:
    return {document.start or "", *(end for edge in edges for end in edge_ends(edge))}


def _build(
    document: Workflow, executors: Mapping[str, Executor], edges: Sequence[Edge], code: UserCode
) -> engine.Workflow:
    start = executors[document.start or ""]
    first, first_id = document.node(document.start or ""), turns.start_id(document)
    if isinstance(first, AgentNode) and first_id is not None:
        start = chat_start(first_id, first)
    builder = WorkflowBuilder(
        start,
        name=document.id,
        max_supersteps=document.max_supersteps,
        outputs=_designated(document.outputs, executors),
        intermediate=_designated(document.intermediate, executors),
    )
    if start.id == first_id:
        builder.edge(start, executors[document.start or ""], edge_id=into_id(start.id))
    state_keys = [s.key for s in document.state]
    routes = Routes(builder, executors, Tests(code), state_keys, turns.turn_sources(document))
    for edge in edges:
        routes.add(edge)
    return builder.build()


def _designated(names: Designated, executors: Mapping[str, Executor]) -> Designated:
    """Without nodes that take no part in a run."""
    if names is None or isinstance(names, str):
        return names
    return tuple(n for n in names if n in executors) or None
