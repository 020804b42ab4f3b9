"""Conversation runners: their agents in ``agents.py``, the node in ``workflow.py``."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from studio.document.agent_options import RunnerAgent, RunnerSettings
from studio.document.model import AgentNode, RunnerNode, Workflow
from studio.document.runners import inner_agents
from studio.export.agent_options import AgentOptions
from studio.export.naming import Names, identifier
from studio.export.pretty import Bracket, Expression, Pair, listed, plain, signature, statement, string, value
from studio.export.source import FRAMEWORK, RUNNER, Module, docstring, sentence


def runner_block(
    module: Module, workflow: Workflow, node: RunnerNode, names: Names, more_options: Mapping[str, JsonValue]
) -> str:
    """The function that makes the agents of a runner, behind its mark. ``more_options``: chat options of each."""
    module.need(RUNNER, "RunnerAgent")
    name = names.variables[node.id]
    constants = ""
    agents: list[Expression] = []
    for declared, agent in zip(node.agents, inner_agents(node), strict=True):
        spoken = {other.id: other.name or other.id for other in node.agents}
        made, before = _agent(module, workflow, declared, agent, names, f"{name}_{identifier(declared.id, 'agent')}")
        constants += before
        made += _options(module, declared, more_options)
        handed = [string(spoken[other]) for other in declared.handoffs if other in spoken]
        if handed:
            made.append(Pair("handoffs=", listed(handed)))
        if declared.specialty:
            made.append(Pair("specialty=", string(declared.specialty)))
        agents.append(Bracket("RunnerAgent(", made))
    head = signature(f"def {name}", [], "list[RunnerAgent]")
    doc = docstring(sentence(node.description or node.name), 1)
    return f"# node: {node.id}\n{constants}{head}\n{doc}\n{statement(listed(agents), 1, 'return ')}"


def _agent(
    module: Module, workflow: Workflow, declared: RunnerAgent, agent: AgentNode, names: Names, constant: str
) -> tuple[list[Expression], str]:
    """The arguments of one agent, and the definition of its instructions if they are long."""
    instructions, before = module.constant(f"{constant.upper()}_INSTRUCTIONS", declared.instructions, room=13)
    made: list[Expression] = [string(declared.name or declared.id), instructions]
    tools = [names.tools[tool] for tool in declared.tools if tool in names.tools]
    if tools:
        made.append(Pair("tools=", listed(tools)))
    servers = AgentOptions(module, workflow, agent, names).servers()
    if servers:
        made.append(Pair("servers=", listed(servers)))
    return made, before


def _options(module: Module, declared: RunnerAgent, more: Mapping[str, JsonValue]) -> list[Expression]:
    options: dict[str, JsonValue] = {
        name: given
        for name in ("model", "temperature", "max_tokens")
        if (given := getattr(declared, name)) not in (None, "")
    }
    options |= more
    if not options:
        return []
    module.need(FRAMEWORK, "ChatOptions")
    pairs = [Pair(f"{name}=", plain(value(given))) for name, given in options.items()]
    return [Pair("options=", Bracket("ChatOptions(", pairs))]


def runner_executor(module: Module, node: RunnerNode, names: Names) -> Bracket:
    """The node; settings that have their defaults are not written."""
    module.need(".", "agents")
    module.need(RUNNER, "ConversationRunner")
    given: list[Expression] = ["client", f"agents.{names.variables[node.id]}()"]
    defaults = RunnerSettings()
    changed = {
        name: setting for name, setting in node.settings.model_dump().items() if setting != getattr(defaults, name)
    }
    if changed:
        module.need(RUNNER, "RunnerSettings")
        pairs = [Pair(f"{name}=", plain(value(setting))) for name, setting in changed.items()]
        given.append(Bracket("RunnerSettings(", pairs))
    return Bracket("ConversationRunner(", [*given, Pair("id=", string(node.id))])
