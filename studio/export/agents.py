"""``agents.py`` of an export: the model client, the tools, and a function per agent."""

from __future__ import annotations

from pydantic import JsonValue

from studio.document.model import AgentNode, ToolDecl, Workflow
from studio.document.tools import target_of
from studio.export.python_types import FRAMEWORK
from studio.export.source import Module, literal, long_string, one_line, region, string

_APPROVAL = {"never": "never_require", "always": "always_require", "caller": "never_require"}

_CLIENT = '''def default_client() -> OpenAIChatCompletionClient:
    """A client of any server that speaks Chat Completions; see ``.env.example`` for the variables."""
    missing = [name for name in VARIABLES if not os.environ.get(name)]
    if missing:
        raise SystemExit("Set these variables first: " + ", ".join(missing))
    return OpenAIChatCompletionClient()'''

VARIABLES = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_CHAT_COMPLETION_MODEL")


def agents_module(workflow: Workflow) -> str:
    """The source of ``agents.py``."""
    module = Module(f"Agents of {one_line(workflow.name)}.")
    module.need("os")
    module.need("agent_framework.openai", "OpenAIChatCompletionClient")
    module.blocks.append(f"VARIABLES = {literal(VARIABLES)}")
    module.blocks.append(_CLIENT)
    agents = [n for n in workflow.nodes if isinstance(n, AgentNode)]
    used = {name for agent in agents for name in agent.tools}
    tools = {tool.name: _variable(workflow, tool) for tool in workflow.tools if tool.name in used}
    for tool in workflow.tools:
        if tool.name in used:
            module.blocks.append(_tool(module, tool, tools[tool.name]))
    for agent in agents:
        if agent.context == "custom":
            module.blocks.append(_filter(module, agent))
        module.blocks.append(_agent(module, agent, [tools[t] for t in agent.tools if t in tools]))
    return module.text()


def _variable(workflow: Workflow, tool: ToolDecl) -> str:
    """A name that no agent function has."""
    taken = {node.id for node in workflow.nodes}
    name = "".join(c if c.isalnum() else "_" for c in tool.name)
    return f"{name}_tool" if name in taken or not name.isidentifier() else name


def _tool(module: Module, tool: ToolDecl, variable: str) -> str:
    module.need(FRAMEWORK, "FunctionTool")
    name, _, function = target_of(tool).partition(":")
    lines = [f"    name={string(tool.name)},", f"    description={long_string(tool.description, 1)},"]
    if tool.approval != "caller" and name:
        module.need(".", name)
        lines.append(f"    func={name}.{function},")
    lines.append(f"    input_model={literal(tool.parameters, 1)},")
    lines.append(f"    approval_mode={string(_APPROVAL[tool.approval])},")
    return f"# tool: {tool.name}\n{variable} = FunctionTool(\n" + "\n".join(lines) + "\n)"


def _filter(module: Module, agent: AgentNode) -> str:
    module.need("typing", "Any")
    module.need(FRAMEWORK, "Message")
    return (
        f"def {agent.id}_context(messages: list[Message]) -> list[Message]:\n"
        f'    """What {one_line(agent.name)} takes from the conversation it is handed."""\n'
        f"    result: Any = messages\n{region(agent.id, agent.context_filter or 'result = messages', 1)}\n"
        f"    return list(result)"
    )


def _agent(module: Module, agent: AgentNode, tools: list[str]) -> str:
    module.need(FRAMEWORK, "Agent", "SupportsChatGetResponse")
    module.need("typing", "Any")
    lines = [
        f"# node: {agent.id}",
        f"def {agent.id}(client: SupportsChatGetResponse[Any]) -> Agent:",
        f'    """{one_line(agent.name)}."""',
        "    return Agent(",
        "        client,",
        f"        {long_string(agent.instructions, 2)},",
        f"        name={string(agent.id)},",
    ]
    if agent.description:
        lines.append(f"        description={string(agent.description)},")
    if tools:
        lines.append(f"        tools=[{', '.join(tools)}],")
    options = _options(agent)
    if options:
        lines.append(f"        default_options={literal(options, 2)},")
    return "\n".join([*lines, "    )"])


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
