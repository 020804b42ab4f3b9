"""What is set around an agent, as arguments of the framework's ``Agent`` and of its client."""

from __future__ import annotations

from pydantic import JsonValue

from studio.document import agent_options as options
from studio.document.checks_agents import provider_id
from studio.document.model import AgentNode, McpServerDecl, Workflow
from studio.export.naming import identifier
from studio.export.pretty import Bracket, Expression, Pair, call, listed, plain, signature, string, value
from studio.export.problems import ExportProblem
from studio.export.source import FRAMEWORK, Module, docstring, one_line, region

_REFERENCE = "env:"


_STRATEGIES = {
    "truncation": "TruncationStrategy",
    "sliding_window": "SlidingWindowStrategy",
    "tool_calls": "SelectiveToolCallCompactionStrategy",
    "tool_results": "ToolResultCompactionStrategy",
    "summarizing": "SummarizationStrategy",
    "token_budget": "TokenBudgetComposedStrategy",
    "context_window": "ContextWindowCompactionStrategy",
}
"""Strategy of the document -> class of the framework."""
_TOKENS = "tokenizer=CharacterEstimatorTokenizer()"


def _settings(name: str, given: options.Compaction) -> list[str]:
    """The arguments of a strategy."""
    match name:
        case "truncation":
            unit = [_TOKENS] if given.unit == "tokens" else []
            kept = [f"preserve_system={given.keep_system}", f"preserve_first_user_group={given.keep_first_user}"]
            return [f"max_n={given.most}", f"compact_to={given.target}", *unit, *kept]
        case "sliding_window":
            return [f"keep_last_groups={given.keep_last}", f"preserve_system={given.keep_system}"]
        case "tool_calls" | "tool_results":
            return [f"keep_last_tool_call_groups={given.keep_tools}"]
        case "summarizing":
            prompt = [f"prompt={string(given.prompt)}"] if given.prompt.strip() else []
            limits = [f"target_count={given.target}", f"threshold={given.slack}"]
            return ["client=client", *limits, *prompt, f"max_summary_input_tokens={given.input_tokens}"]
        case "token_budget":
            return [f"token_budget={given.budget}", _TOKENS]
    return [
        f"max_context_window_tokens={given.window}",
        f"max_output_tokens={given.output}",
        _TOKENS,
        f"tool_eviction_threshold={given.tools_at}",
        f"truncation_threshold={given.truncate_at}",
        f"keep_last_tool_call_groups={given.keep_tools}",
        f"preserve_first_user_group={given.keep_first_user}",
    ]


class AgentOptions:
    """Writes the options of one agent: definitions in front of its function, and arguments in it."""

    def __init__(self, module: Module, workflow: Workflow, agent: AgentNode, name: str) -> None:
        self._module = module
        self._workflow = workflow
        self._agent = agent
        self._name = name
        self.before = ""
        """Definitions in front of the function of the agent."""

    def client(self) -> Expression:
        """The client, with the settings of the tool loop if they are not the defaults."""
        loop = self._agent.tool_loop
        given = loop.model_dump(exclude_defaults=True, exclude={"additional_tools", "max_repeats"})
        if loop.additional_tools:
            raise ExportProblem(
                f"{self._agent.name} has additional tools of its tool loop, which exported code cannot have yet. "
                "Give them to the agent as tools whose caller answers."
            )
        if not given:
            return "client"
        renamed = {"max_consecutive_errors": "max_consecutive_errors_per_request"}
        self._module.need(".support", "with_tool_loop")
        return call("with_tool_loop", "client", **{renamed.get(k, k): repr(v) for k, v in given.items()})

    def chat(self) -> list[Expression]:
        """Arguments of ``ChatOptions``."""
        agent = self._agent
        found: dict[str, JsonValue] = {}
        if agent.tool_choice:
            plain_choice = agent.tool_choice in ("auto", "none", "required")
            named: JsonValue = {"mode": "required", "required_function_name": agent.tool_choice}
            found["tool_choice"] = agent.tool_choice if plain_choice else named
        if agent.parallel_tool_calls is not None:
            found["allow_multiple_tool_calls"] = agent.parallel_tool_calls
        return [Pair(f"{key}=", plain(value(option))) for key, option in found.items()]

    def arguments(self) -> list[Expression]:
        """Arguments of ``Agent`` besides tools and chat options."""
        agent = self._agent
        found: list[Expression] = []
        providers = [self._provider(given, number) for number, given in enumerate(agent.providers, 1)]
        if providers:
            found.append(Pair("context_providers=", listed(providers)))
        middleware = [self._middleware(given, number) for number, given in enumerate(agent.middleware, 1)]
        if middleware:
            found.append(Pair("middleware=", listed(middleware)))
        if agent.store_per_call:
            found.append("require_per_service_call_history_persistence=True")
        if agent.compaction.strategy != "none":
            found.append(
                Pair("compaction_strategy=", plain(self._strategy(agent.compaction.strategy, agent.compaction)))
            )
        return found

    # ------------------------------------------------------------------------------------------------ MCP servers

    def servers(self) -> list[Expression]:
        """The MCP servers of the agent, as tools."""
        declared = {server.name: server for server in self._workflow.mcp_servers}
        return [self._server(declared[name]) for name in self._agent.mcp_servers if name in declared]

    def _server(self, server: McpServerDecl) -> Expression:
        given: list[Expression] = [Pair("name=", string(server.name))]
        if server.transport == "stdio":
            kind = "MCPStdioTool"
            given.append(Pair("command=", string(server.command)))
            if server.arguments:
                given.append(Pair("args=", listed([string(argument) for argument in server.arguments])))
            if server.environment:
                given.append(Pair("env=", self._secrets(server.environment)))
        else:
            kind = "MCPStreamableHTTPTool"
            given.append(Pair("url=", string(server.url)))
            if server.headers:
                given.append(Pair("static_headers=", self._secrets(server.headers)))
        if server.tools is not None:
            given.append(Pair("allowed_tools=", listed([string(name) for name in server.tools])))
        if server.approval != "never":  # the framework cannot tell calls that only read
            given.append('approval_mode="always_require"')
        given.append(f"request_timeout={round(server.timeout)}")
        self._module.need(FRAMEWORK, kind)
        return Bracket(f"{kind}(", given)

    def _secrets(self, values: dict[str, str]) -> Bracket:
        """Values of variables or headers: secrets come from the environment when the program runs."""
        pairs: list[Expression] = []
        for name, text in values.items():
            reference = text.startswith((_REFERENCE, "keychain:"))
            if reference:
                self._module.need("os")
                variable = text.removeprefix(_REFERENCE) if text.startswith(_REFERENCE) else identifier(name).upper()
                text = f"os.environ[{string(variable)}]"
            pairs.append(Pair(f"{string(name)}: ", text if reference else string(text)))
        return Bracket("{", pairs, "}")

    # -------------------------------------------------------------------------------------------------- compaction

    def _strategy(self, name: str, given: options.Compaction) -> Bracket:
        need = self._module.need
        kind = _STRATEGIES[name]
        need(FRAMEWORK, kind)
        written: list[Expression] = [*_settings(name, given)]
        if any("CharacterEstimatorTokenizer" in str(setting) for setting in written):
            need(FRAMEWORK, "CharacterEstimatorTokenizer")
        if name == "token_budget":
            written.append(Pair("strategies=", listed([self._strategy(step, given) for step in given.steps])))
            written.append(f"early_stop={given.stop_early}")
        return Bracket(f"{kind}(", written)

    # --------------------------------------------------------------------------------------- providers, middleware

    def _provider(self, given: options.ContextProvider, number: int) -> Expression:
        source = provider_id(given, number)
        match given.kind:
            case "history":
                return self._history(given, source)
            case "text":
                self._module.need(".support", "FixedText")
                return call("FixedText", string(source), string(given.text), string(given.adds))
            case "compaction":
                self._module.need(FRAMEWORK, "CompactionProvider")
                strategy = self._strategy(given.compaction.strategy, given.compaction)
                return call("CompactionProvider", Pair(f"{given.when}_strategy=", strategy), source_id=string(source))
        raise ExportProblem(
            f"{self._agent.name} has a context provider written in Python, which exported code cannot have yet. "
            "Take it away for the export, or add the text by a function node."
        )

    def _history(self, given: options.ContextProvider, source: str) -> Expression:
        defaults = options.ContextProvider(kind="history")
        names = {"load": "load_messages", "store_context": "store_context_messages"}
        changed = {
            names.get(name, name): str(getattr(given, name))
            for name in ("load", "store_inputs", "store_outputs", "store_context")
            if getattr(given, name) != getattr(defaults, name)
        }
        if given.store == "session":
            self._module.need(FRAMEWORK, "InMemoryHistoryProvider")
            return call("InMemoryHistoryProvider", string(source), **changed)
        raise ExportProblem(
            f"{self._agent.name} keeps its history in a {given.store}, which exported code cannot do yet. "
            "Keep it in the session for the export."
        )

    def _middleware(self, given: options.MiddlewareDecl, number: int) -> Expression:
        """User code around a run, a model call or a tool call."""
        kinds = {"agent": "AgentContext", "chat": "ChatContext", "function": "FunctionInvocationContext"}
        module, context = self._module, kinds[given.kind]
        if given.call:
            name, _, function = given.call.partition(":")
            module.need(".", name)
            return f"{name}.{function}"
        name = f"{self._name}_middleware_{number}"
        module.need(FRAMEWORK, context, f"{given.kind}_middleware")
        module.need("collections.abc", "Awaitable", "Callable")
        parameters = [f"context: {context}", "call_next: Callable[[], Awaitable[None]]"]
        head = signature(f"async def {name}", parameters, "None")
        doc = docstring(f"{one_line(given.name or given.kind.title())}: around {self._agent.name}.", 1)
        code = region(f"{self._agent.id}.middleware_{number}", given.body, 1)
        self.before += f"@{given.kind}_middleware\n{head}\n{doc}\n{code}\n\n\n"
        return name


def tool_arguments(options_of: AgentOptions, tools: list[str]) -> list[Expression]:
    """The ``tools=`` of an agent; none without tools."""
    found: list[Expression] = [*tools, *options_of.servers()]
    return [Pair("tools=", listed(found))] if found else []
