"""``agents.py`` of an export: the model client, the tools, and a function per agent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from studio.document.model import AgentNode, RunnerNode, Workflow
from studio.export.agent_options import AgentOptions, tool_arguments
from studio.export.naming import Names
from studio.export.pretty import Bracket, Expression, Pair, signature, statement, string, value
from studio.export.pretty import plain as _plain
from studio.export.runners import runner_block
from studio.export.source import FRAMEWORK, Module, docstring, literal, one_line, region, sentence
from studio.export.tools import tool_block, used_tools
from studio.export.user_code import result_line, written_in

Client = Literal["chat_completions", "responses"]
"""The API that the code speaks to the model."""


@dataclass(frozen=True, slots=True)
class _ModelClient:
    """A client class of the framework: what it is for, and the variables that it reads."""

    name: str
    about: str
    variables: tuple[str, ...]


_CLIENTS: dict[Client, _ModelClient] = {
    "chat_completions": _ModelClient(
        "OpenAIChatCompletionClient",
        "A client of any server that speaks Chat Completions; see ``.env.example`` for the variables.",
        ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_CHAT_COMPLETION_MODEL"),
    ),
    "responses": _ModelClient(
        "OpenAIChatClient",
        "A client of a server that speaks Responses; see ``.env.example`` for the variables.",
        ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_CHAT_MODEL"),
    ),
}

_OWN_LINE = 9
"""Columns beside an argument that has a line of its own: two indents and a comma."""

_DEFAULT_CLIENT = '''def default_client() -> {name}:
    """{about}"""
    missing = [name for name in VARIABLES if not os.environ.get(name)]
    if missing:
        raise SystemExit("Set these variables first: " + ", ".join(missing))
    return {name}()'''


def variables(client: Client) -> tuple[str, ...]:
    """The environment variables that the code reads."""
    return _CLIENTS[client].variables


def stored(client: Client) -> dict[str, JsonValue]:
    """The chat options that keep the conversation in the program: a Responses server keeps it otherwise, and gets
    the last message only."""
    return {"store": False} if client == "responses" else {}


def agents_module(workflow: Workflow, names: Names, depth: int, client: Client) -> Module | None:
    """``agents.py``: tools and agents, and in the outermost package the model client. None for an inner workflow
    without agents."""
    agents = [n for n in workflow.nodes if isinstance(n, AgentNode)]
    runners = [n for n in workflow.nodes if isinstance(n, RunnerNode)]
    if depth and not agents and not runners:
        return None
    module = Module(f"Agents of {workflow.name}." if agents or runners else "The model client.", depth)
    if not depth:
        spoken = _CLIENTS[client]
        module.need("os")
        module.need("agent_framework.openai", spoken.name)
        module.blocks.append(f"VARIABLES = {literal(spoken.variables)}")
        module.blocks.append(_DEFAULT_CLIENT.format(name=spoken.name, about=spoken.about))
    module.blocks += [tool_block(module, workflow, tool, names.tools[tool.name]) for tool in used_tools(workflow)]
    for agent in agents:
        module.blocks.append(_agent(module, workflow, agent, names, client))
    module.blocks += [runner_block(module, workflow, node, names, stored(client)) for node in runners]
    return module


def _filter(module: Module, workflow: Workflow, agent: AgentNode, name: str) -> str:
    module.need(FRAMEWORK, "Message")
    head = signature(f"def {name}", ["messages: list[Message]"], "list[Message]")
    doc = docstring(f"What {one_line(agent.name)} takes from the conversation it is handed.", 1)
    code = written_in(module, workflow, agent.context_filter or "result = messages")
    body = f"{result_line(code, 'messages')}{region(agent.id, code, 1)}\n    return list(result)"
    return f"{head}\n{doc}\n{body}\n\n\n"


def _agent(module: Module, workflow: Workflow, agent: AgentNode, names: Names, client: Client) -> str:
    module.need(FRAMEWORK, "Agent", "SupportsChatGetResponse")
    module.need("typing", "Any")
    name = names.variables[agent.id]
    named = names.around[f"{agent.id}.context"]
    before = _filter(module, workflow, agent, named) if agent.context == "custom" else ""
    instructions, constant = module.constant(f"{name.upper()}_INSTRUCTIONS", agent.instructions, room=_OWN_LINE)
    around = AgentOptions(module, workflow, agent, names)
    items: list[Expression] = [around.client(), instructions, Pair("name=", string(agent.id))]
    if agent.description:
        description, more = module.constant(
            f"{name.upper()}_DESCRIPTION", agent.description, room=_OWN_LINE + len("description=")
        )
        items.append(Pair("description=", description))
        constant += more
    items += tool_arguments(around, [names.tools[t] for t in agent.tools if t in names.tools])
    chat = [Pair(f"{key}=", _plain(value(option))) for key, option in (_options(agent) | stored(client)).items()]
    chat += [pair for pair in around.chat() if isinstance(pair, Pair)]
    if chat:
        module.need(FRAMEWORK, "ChatOptions")
        items.append(Pair("default_options=", Bracket("ChatOptions(", chat)))
    items += around.arguments()
    before += around.before
    head = signature(f"def {name}", ["client: SupportsChatGetResponse[Any]"], "Agent")
    doc = docstring(sentence(agent.name), 1)
    made = statement(Bracket("Agent(", items), 1, "return ")
    return f"# node: {agent.id}\n{before}{constant}{head}\n{doc}\n{made}"


def _options(agent: AgentNode) -> dict[str, JsonValue]:
    options: dict[str, JsonValue] = {}
    if agent.model:
        options["model"] = agent.model
    if agent.temperature is not None:
        options["temperature"] = agent.temperature
    if agent.max_tokens is not None:
        options["max_tokens"] = agent.max_tokens
    if agent.output_schema is not None:
        schema: dict[str, JsonValue] = {"name": "answer", "schema": agent.output_schema, "strict": True}
        options["response_format"] = {"type": "json_schema", "json_schema": schema}
    return options
