"""What is set around an agent, as arguments of the framework's ``Agent`` and of its client."""

from __future__ import annotations

import math

from pydantic import JsonValue

from studio.document import agent_options as options
from studio.document.checks_agents import provider_id
from studio.document.model import AgentNode, McpServerDecl, Workflow
from studio.export.naming import Names, identifier
from studio.export.pretty import Bracket, Expression, Pair, call, listed, plain, signature, string, value
from studio.export.source import AGENT_SUPPORT, FRAMEWORK, Module, docstring, is_async, one_line, region
from studio.export.user_code import changes_context, result_line, sets_result, written_in

_REFERENCE = "env:"
_LOOP_NAMES = {"max_consecutive_errors": "max_consecutive_errors_per_request"}
_NOT_OF_THE_FRAMEWORK = {"additional_tools", "max_repeats"}

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

    def __init__(self, module: Module, workflow: Workflow, agent: AgentNode, names: Names) -> None:
        self._module = module
        self._workflow = workflow
        self._agent = agent
        self._names = names
        self.before = ""
        """Definitions in front of the function of the agent."""

    def client(self) -> Expression:
        """The client, with the settings of the tool loop if they are not the defaults."""
        loop = self._agent.tool_loop
        given: dict[str, Expression] = {
            _LOOP_NAMES.get(name, name): repr(value)
            for name, value in loop.model_dump(exclude_defaults=True, exclude=_NOT_OF_THE_FRAMEWORK).items()
        }
        hidden = [self._names.tools[name] for name in loop.additional_tools if name in self._names.tools]
        if hidden:
            given["additional_tools"] = listed(hidden)
        if not given:
            return "client"
        self._module.need(AGENT_SUPPORT, "with_tool_loop")
        return call("with_tool_loop", "client", **given)

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
        given: list[Expression] = [Pair("name=", string(server.name)), Pair("tool_name_prefix=", string(server.name))]
        if server.transport == "stdio":
            kind = "MCPStdioTool"
            given.append(Pair("command=", string(server.command)))
            if server.arguments:
                given.append(Pair("args=", listed([string(argument) for argument in server.arguments])))
            if server.folder:
                given.append(Pair("cwd=", string(server.folder)))
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
        given.append(f"request_timeout={math.ceil(server.timeout)}")
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
                self._module.need(AGENT_SUPPORT, "FixedText")
                return call("FixedText", string(source), string(given.text), string(given.adds))
            case "compaction":
                self._module.need(FRAMEWORK, "CompactionProvider")
                strategy = self._strategy(given.compaction.strategy, given.compaction)
                return call("CompactionProvider", Pair(f"{given.when}_strategy=", strategy), source_id=string(source))
        self._module.need(AGENT_SUPPORT, "ComputedContext")
        function = self._imported(given.call) if given.call else self._computed(given, number)
        return call("ComputedContext", string(source), function, string(given.adds))

    def _imported(self, target: str) -> str:
        """A function of a module of the document."""
        name, _, function = target.partition(":")
        where, _, last = name.rpartition(".")
        self._module.need(f".{where}", last)
        return f"{last}.{function}"

    def _computed(self, given: options.ContextProvider, number: int) -> str:
        """The function of a context provider that is written in Python."""
        name = self._names.around[f"{self._agent.id}.provider_{number}"]
        self._module.need("typing", "Any")
        self._module.need(FRAMEWORK, "Message")
        body = written_in(self._module, self._workflow, given.body or "result = None")
        head = f"{'async ' if is_async(body) else ''}def {name}"
        shown = one_line(given.name or "Context")
        self.before += "\n".join(
            [
                signature(head, ["messages: list[Message]", "session_id: str | None"], "Any"),
                docstring(f"{shown}: what {one_line(self._agent.name)} is told besides its messages.", 1),
                result_line(body) + region(f"{self._agent.id}.provider_{number}", body, 1),
                "    return result\n\n\n",
            ]
        )
        return name

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
        if given.store == "file":
            self._module.need(FRAMEWORK, "FileHistoryProvider")
            path = given.path.strip() or "histories"
            return call("FileHistoryProvider", string(path), source_id=string(source), **changed)
        self._module.need(AGENT_SUPPORT, "SqliteHistory")
        return call("SqliteHistory", string(given.path.strip() or "histories.db"), string(source), **changed)

    def _middleware(self, given: options.MiddlewareDecl, number: int) -> Expression:
        """User code around a run, a model call or a tool call."""
        module, mark = self._module, f"{given.kind}_middleware"
        code = self._source_of(given.call) if given.call else given.body
        adapted = given.kind != "function" and sets_result(code)
        module.need(FRAMEWORK, mark)
        if adapted:
            module.need(AGENT_SUPPORT, "plain_results")
        if given.call:
            function = self._imported(given.call)
            return call(mark, call("plain_results", function) if adapted else function)
        loose = adapted or changes_context(code)
        context = "Any" if loose else _CONTEXTS[given.kind]
        module.need(*(("typing", "Any") if loose else (FRAMEWORK, context)))
        name = self._names.around[f"{self._agent.id}.middleware_{number}"]
        module.need("collections.abc", "Awaitable", "Callable")
        parameters = [f"context: {context}", "call_next: Callable[[], Awaitable[None]]"]
        head = signature(f"async def {name}", parameters, "None")
        doc = docstring(f"{one_line(given.name or given.kind.title())}: around {one_line(self._agent.name)}.", 1)
        body = written_in(module, self._workflow, given.body or "await call_next()")
        marks = f"@{mark}\n" + "@plain_results\n" * adapted
        written = region(f"{self._agent.id}.middleware_{number}", body, 1)
        self.before += f"{marks}{head}\n{doc}\n{written}\n\n\n"
        return name

    def _source_of(self, target: str) -> str:
        """The module of the document that a function is in."""
        name = target.partition(":")[0]
        return next((m.source for m in self._workflow.modules if m.name == name), "")


_CONTEXTS = {"agent": "AgentContext", "chat": "ChatContext", "function": "FunctionInvocationContext"}


def lasting_session(workflow: Workflow, agent: AgentNode) -> str:
    """The id of an agent's session if a history outside of it has to be found again by the next run; "" if none has."""
    outside = any(given.kind == "history" and given.store != "session" for given in agent.providers)
    return f"{identifier(workflow.name)}-{agent.id}".replace("_", "-") if outside else ""


def tool_arguments(options_of: AgentOptions, tools: list[str]) -> list[Expression]:
    """The ``tools=`` of an agent; none without tools."""
    found: list[Expression] = [*tools, *options_of.servers()]
    return [Pair("tools=", listed(found))] if found else []
