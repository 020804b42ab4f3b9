"""Checks of what is set around an agent, and of conversation runners."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import PurePosixPath, PureWindowsPath

from studio.document import runners
from studio.document.agent_options import Compaction, ContextProvider, MiddlewareDecl, RunnerAgent
from studio.document.checks_tools import call_problems
from studio.document.code import body_problem
from studio.document.edits import SetFields
from studio.document.facts import Facts
from studio.document.model import AgentNode, RunnerNode
from studio.document.problems import Fix, Problem

_WORDS = {"agent": "around the run", "chat": "around model calls", "function": "around tool calls"}
_AT_LEAST_ONE = (
    ("max_iterations", "The limit of model calls"),
    ("max_function_calls", "The limit of tool calls"),
    ("max_duration_seconds", "The time limit"),
    ("max_consecutive_errors", "The limit of failing batches"),
    ("max_repeats", "The limit of equal batches"),
)


def agent_problems(facts: Facts) -> Iterator[Problem]:
    """Tool loop, context providers, compaction, middleware; runners."""
    for node in facts.workflow.nodes:
        if isinstance(node, AgentNode):
            yield from facts.each_node("around", node, partial(_around, facts, node))
        elif isinstance(node, RunnerNode):
            yield from facts.each_node("runner", node, partial(_runner, facts, node))


def _around(facts: Facts, node: AgentNode) -> Iterator[Problem]:
    yield from _loop(facts, node)
    yield from _providers(facts, node)
    yield from _compaction(node.id, node.compaction, "compaction", facts.name(node.id))
    yield from _middleware(facts, node)


# ------------------------------------------------------------------------------------------------- tool loop


def _loop(facts: Facts, node: AgentNode) -> Iterator[Problem]:
    for name, what in _AT_LEAST_ONE:
        value = getattr(node.tool_loop, name)
        if value is not None and not value > 0:
            message = f"{what} of {facts.name(node.id)} has to be greater than 0."
            yield Problem("tool_loop", message, node.id, f"tool_loop.{name}")
    declared = {t.name for t in facts.workflow.tools}
    for tool in node.tool_loop.additional_tools:
        if tool not in declared:
            message = f"{facts.name(node.id)} knows the hidden tool {tool}, which this workflow does not have."
            yield Problem("unknown_tool", message, node.id, "tool_loop.additional_tools")
    if node.tool_choice not in ("", "auto", "none", "required") and node.tool_choice not in node.tools:
        message = f"{facts.name(node.id)} has to call {node.tool_choice}, which is none of its tools."
        fix = Fix("Leave the choice to the model", SetFields("nodes", node.id, {"tool_choice": ""}))
        yield Problem("tool_choice", message, node.id, "tool_choice", fix=fix)


# --------------------------------------------------------------------------------------------------- providers


def provider_id(provider: ContextProvider, number: int) -> str:
    """The id of a provider in messages and sessions; ``number`` counts from 1."""
    return provider.name or f"{provider.kind}_{number}"


def _providers(facts: Facts, node: AgentNode) -> Iterator[Problem]:
    name = facts.name(node.id)
    counted = Counter(provider_id(p, n) for n, p in enumerate(node.providers, 1))
    for source, count in counted.items():
        if count > 1:
            message = f"{name} has two context providers called {source}: their memories would be one."
            yield Problem("provider_twice", message, node.id, "providers")
    loading = [p for p in node.providers if p.kind == "history" and p.load]
    if len(loading) > 1:
        message = f"{name} has two histories that load: the model sees the conversation twice."
        yield Problem("history_twice", message, node.id, "providers", "warning")
    if node.store_per_call and not any(p.kind == "history" for p in node.providers):
        message = f"{name} stores its history for each model call, but has no history of its own: add one."
        yield Problem("no_history", message, node.id, "store_per_call", "warning")
    for number, provider in enumerate(node.providers, 1):
        place = f"providers.{number - 1}"
        what = f"The context provider {provider_id(provider, number)} of {name}"
        match provider.kind:
            case "history":
                yield from _history(node, provider, what, place)
            case "text" if not provider.text.strip():
                yield Problem("provider_empty", f"{what} adds an empty text.", node.id, place, "warning")
            case "code":
                yield from _code(facts, node, provider, what, place)
            case "compaction":
                yield from _compaction(node.id, provider.compaction, place, what)
                if provider.compaction.strategy == "none":
                    yield Problem("provider_empty", f"{what} has no strategy.", node.id, place, "warning")


def _history(node: AgentNode, provider: ContextProvider, what: str, place: str) -> Iterator[Problem]:
    path = provider.path
    outside = PurePosixPath(path).is_absolute() or PureWindowsPath(path).is_absolute() or ".." in path.split("/")
    if provider.store != "session" and (outside or "\\" in path):
        message = f"{what} is kept in {path}: name a file or folder inside the folder of the workflow, with /."
        yield Problem("history_path", message, node.id, place)


def _code(
    facts: Facts, node: AgentNode, piece: ContextProvider | MiddlewareDecl, what: str, field: str
) -> Iterator[Problem]:
    if piece.call and piece.body.strip():
        yield Problem("function_twice", f"{what} has both code and a call: remove one.", node.id, field)
    elif piece.call:
        for problem in call_problems(facts, node.id, piece.call, what):
            yield Problem(problem.code, problem.message, node.id, field)
    elif not piece.body.strip():
        yield Problem("no_code", f"{what} has no code yet.", node.id, field)
    else:
        found = body_problem(piece.body)
        if found is not None:
            message = f"{what} cannot be read: {found.message}, line {found.line}."
            yield Problem("syntax", message, node.id, field)


def _middleware(facts: Facts, node: AgentNode) -> Iterator[Problem]:
    for number, piece in enumerate(node.middleware, 1):
        title = piece.name or f"number {number}"
        what = f"The middleware {title} of {facts.name(node.id)}, {_WORDS[piece.kind]},"
        yield from _code(facts, node, piece, what, f"middleware.{number - 1}")
        if piece.kind != "function" and _looks_at_the_answer(piece.body):
            message = (
                f"{what} looks at the answer after call_next: in a streaming run there is none yet. Add what it does "
            )
            message += "to context.stream_result_hooks, too."
            yield Problem("middleware_streams", message, node.id, f"middleware.{number - 1}", "info")


def _looks_at_the_answer(body: str) -> bool:
    """Whether the code uses the result behind ``call_next`` and has no hook for a streamed one."""
    behind = body.partition("call_next()")[2]
    return "context.result" in behind and "stream_result_hooks" not in body


# -------------------------------------------------------------------------------------------------- compaction


def _compaction(place: str, found: Compaction, field: str, what: str) -> Iterator[Problem]:
    wrong = ""
    match found.strategy:
        case "truncation" if not 0 < found.target <= found.most:
            wrong = "leaves as much as it allows or less: its target has to be between 1 and the limit"
        case "sliding_window" if found.keep_last < 1:
            wrong = "has to keep at least one group"
        case "tool_calls" | "tool_results" if found.keep_tools < 0:
            wrong = "cannot keep fewer than 0 tool calls"
        case "summarizing" if found.target < 1 or found.slack < 0 or (found.input_tokens or 1) < 1:
            wrong = "has to keep at least one message, and a slack of 0 or more"
        case "token_budget" if found.budget < 1:
            wrong = "needs a budget of at least 1 token"
        case "context_window" if not (
            0 <= found.output < found.window and 0 < found.tools_at <= found.truncate_at <= 1
        ):
            wrong = "needs an answer smaller than the window, and shares between 0 and 1 in this order"
    if wrong:
        name = f"{field}.strategy" if field == "compaction" else field
        yield Problem("compaction", f"{what}: the compaction {wrong}.", place, name)


# ----------------------------------------------------------------------------------------------------- runners


def _runner(facts: Facts, node: RunnerNode) -> Iterator[Problem]:
    name = facts.name(node.id)
    if not node.agents:
        yield Problem("runner_empty", f"The conversation runner {name} has no agent yet: add one.", node.id, "agents")
        return
    for field, value in (
        ("max_handoffs_per_turn", node.settings.max_handoffs_per_turn + 1),
        ("max_tool_iterations", node.settings.max_tool_iterations),
        ("history_turns", node.settings.history_turns),
    ):
        if value is not None and value < 1:
            yield Problem("runner_limit", f"A limit of {name} is too small.", node.id, f"settings.{field}")
    for ids, what in ((Counter(a.id for a in node.agents), "id"), (Counter(a.name for a in node.agents), "name")):
        for found, count in ids.items():
            if count > 1:
                message = (
                    f"Two agents of {name} have the {what} {found or '(empty)'}: hand-offs could not tell them apart."
                )
                yield Problem("runner_agent_twice", message, node.id, "agents")
    for number, agent in enumerate(node.agents):
        yield from _runner_agent(facts, node, agent, f"agents.{number}")
    for agent in runners.unreached(node):
        message = f"No hand-off leads to {agent.name or agent.id} in {name}: it never speaks."
        yield Problem("runner_unreached", message, node.id, "agents", "warning")


def _runner_agent(facts: Facts, node: RunnerNode, agent: RunnerAgent, field: str) -> Iterator[Problem]:
    who = f"{agent.name or agent.id} in {facts.name(node.id)}"
    if not agent.name.strip():
        yield Problem("no_name", f"An agent of {facts.name(node.id)} has no name.", node.id, field)
    if not agent.instructions.strip():
        yield Problem("no_instructions", f"The agent {who} has no instructions.", node.id, field, "info")
    by_id = {a.id: a for a in node.agents}
    for other in agent.handoffs:
        if other == agent.id:
            yield Problem("runner_handoff", f"{who} hands over to itself.", node.id, field)
        elif other not in by_id:
            yield Problem("runner_handoff", f"{who} hands over to {other}, which is not there.", node.id, field)
    names = [*agent.tools, *(runners.transfer_tool(by_id[h].name) for h in agent.handoffs if h in by_id)]
    for name, count in Counter(names).items():
        if count > 1:
            yield Problem("runner_tool_twice", f"{who} has two tools called {name}.", node.id, field)
    servers = {m.name: m for m in facts.workflow.mcp_servers}
    for server in agent.mcp_servers:
        if server not in servers:
            message = f"{who} uses the MCP server {server}, which this workflow does not have."
            yield Problem("unknown_server", message, node.id, field)
        elif servers[server].approval != "never":
            message = f"{who} uses the MCP server {server}, whose tools may ask somebody: inside a runner tools run "
            message += "without asking. Set its approval to never, or choose tools that only read."
            yield Problem("runner_tool_asks", message, node.id, field, "warning")
    declared = {t.name: t for t in facts.workflow.tools}
    for tool in agent.tools:
        if tool not in declared:
            message = f"{who} uses the tool {tool}, which this workflow does not have."
            yield Problem("unknown_tool", message, node.id, field)
        elif declared[tool].approval != "never":
            message = f"{who} uses the tool {tool}, which asks somebody: inside a runner tools run without asking."
            yield Problem("runner_tool_asks", message, node.id, field)
