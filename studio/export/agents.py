"""``agents.py`` of an export: the model client, the tools, and a function per agent."""

from __future__ import annotations

from pydantic import JsonValue

from studio.document.model import AgentNode, ToolDecl, Workflow
from studio.document.tools import target_of
from studio.export.agent_options import AgentOptions, tool_arguments
from studio.export.naming import Names
from studio.export.pretty import Bracket, Expression, Pair, signature, statement, string, value
from studio.export.pretty import plain as _plain
from studio.export.source import FRAMEWORK, Module, docstring, literal, one_line, region, sentence

_CLIENT = '''def default_client() -> OpenAIChatCompletionClient:
    """A client of any server that speaks Chat Completions; see ``.env.example`` for the variables."""
    missing = [name for name in VARIABLES if not os.environ.get(name)]
    if missing:
        raise SystemExit("Set these variables first: " + ", ".join(missing))
    return OpenAIChatCompletionClient()'''

VARIABLES = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_CHAT_COMPLETION_MODEL")


def agents_module(workflow: Workflow, names: Names, depth: int = 0) -> Module | None:
    """``agents.py``: tools and agents, and in the outermost package the model client. None for an inner workflow
    without agents."""
    agents = [n for n in workflow.nodes if isinstance(n, AgentNode)]
    if depth and not agents:
        return None
    module = Module(f"Agents of {workflow.name}." if agents else "The model client.", depth)
    if not depth:
        module.need("os")
        module.need("agent_framework.openai", "OpenAIChatCompletionClient")
        module.blocks.append(f"VARIABLES = {literal(VARIABLES)}")
        module.blocks.append(_CLIENT)
    used = {name for agent in agents for name in agent.tools}
    for tool in workflow.tools:
        if tool.name in used:
            module.blocks.append(_tool(module, tool, names.tools[tool.name]))
    for agent in agents:
        module.blocks.append(_agent(module, workflow, agent, names))
    return module


def _tool(module: Module, tool: ToolDecl, variable: str) -> str:
    module.need(FRAMEWORK, "FunctionTool")
    name, _, function = target_of(tool).partition(":")
    description, before = module.constant(f"{variable.upper()}_DESCRIPTION", tool.description, room=20)
    items: list[Expression] = [Pair("name=", string(tool.name)), Pair("description=", description)]
    if tool.approval != "caller" and name:
        where, _, last = name.rpartition(".")
        module.need(f".{where}", last)
        items.append(Pair("func=", f"{last}.{function}"))
    items.append(Pair("input_model=", _plain(value(tool.parameters))))
    if tool.approval == "always":
        items.append('approval_mode="always_require"')
    for limit in ("max_invocations", "max_invocation_exceptions"):
        if getattr(tool, limit) is not None:
            items.append(f"{limit}={getattr(tool, limit)}")
    return f"# tool: {tool.name}\n{before}" + statement(Bracket("FunctionTool(", items), 0, f"{variable} = ")


def _filter(module: Module, agent: AgentNode, name: str) -> str:
    module.need("typing", "Any")
    module.need(FRAMEWORK, "Message")
    head = signature(f"def {name}_context", ["messages: list[Message]"], "list[Message]")
    doc = docstring(f"What {one_line(agent.name)} takes from the conversation it is handed.", 1)
    return (
        f"{head}\n{doc}\n    result: Any = messages\n"
        f"{region(agent.id, agent.context_filter or 'result = messages', 1)}\n    return list(result)\n\n\n"
    )


def _agent(module: Module, workflow: Workflow, agent: AgentNode, names: Names) -> str:
    module.need(FRAMEWORK, "Agent", "SupportsChatGetResponse")
    module.need("typing", "Any")
    name = names.variables[agent.id]
    before = _filter(module, agent, name) if agent.context == "custom" else ""
    instructions, constant = module.constant(f"{name.upper()}_INSTRUCTIONS", agent.instructions, room=30)
    around = AgentOptions(module, workflow, agent, name)
    items: list[Expression] = [around.client(), instructions, Pair("name=", string(agent.id))]
    if agent.description:
        description, more = module.constant(f"{name.upper()}_DESCRIPTION", agent.description, room=30)
        items.append(Pair("description=", description))
        constant += more
    items += tool_arguments(around, [names.tools[t] for t in agent.tools if t in names.tools])
    chat = [Pair(f"{key}=", _plain(value(option))) for key, option in _options(agent).items()]
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
