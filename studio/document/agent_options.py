"""What can be set about an agent besides its prompt: host, tool loop, context providers, compaction, middleware.

Defaults are those of the framework. An object whose fields all have their defaults is not written to the file.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from studio.document.frozen import Model

MiddlewareKind = Literal["agent", "chat", "function"]
Strategy = Literal[
    "none",
    "truncation",
    "sliding_window",
    "tool_calls",
    "tool_results",
    "summarizing",
    "token_budget",
    "context_window",
]
BudgetStep = Literal["tool_results", "tool_calls", "summarizing", "sliding_window", "truncation"]


class TurnTokenSettings(Model):
    """The six options of the C# host executor, by the names of ``AIAgentHostOptions``, and the token of a start."""

    emit_agent_update_events: bool | None = None
    """Only asked when the token leaves it open; None counts as off."""
    emit_agent_response_events: bool = False
    intercept_user_input_requests: bool = False
    intercept_unterminated_function_calls: bool = False
    reassign_other_agents_as_users: bool = True
    forward_incoming_messages: bool = True
    first_token: Literal["auto", "on", "off", "open"] = "auto"
    """Of the start of a workflow: whether the token of the first turn asks for updates; ``open`` leaves it to
    ``emit_agent_update_events``. See :func:`studio.document.turns.first_token`."""


class ToolLoop(Model):
    """Limits and manners of the tool loop; None is no limit."""

    enabled: bool = True
    max_iterations: int = 40
    max_function_calls: int | None = None
    max_duration_seconds: float | None = None
    max_consecutive_errors: int = 3
    terminate_on_unknown_calls: bool = False
    allow_concurrent_invocation: bool = True
    include_detailed_errors: bool = False
    additional_tools: tuple[str, ...] = ()
    """Names of tools of the workflow that are known but not shown to the model; a call of one waits for the caller."""
    max_repeats: int | None = 8
    """Equal batches with equal results in a row, after which the model is stopped (no setting of the framework)."""


class Compaction(Model):
    """How a conversation is made shorter before a model call. Which fields count depends on ``strategy``."""

    strategy: Strategy = "none"
    most: int = 40
    """truncation: above this many messages (or tokens) the oldest go ..."""
    target: int = 20
    """... down to this many; summarizing: this many messages stay as they are."""
    unit: Literal["messages", "tokens"] = "messages"
    keep_last: int = 20
    """sliding_window: groups that stay."""
    keep_tools: int = 1
    """tool_calls, tool_results, context_window: newest tool calls that stay as they are."""
    keep_system: bool = True
    keep_first_user: bool = False
    slack: int = 2
    """summarizing: messages over the target before it sums up."""
    prompt: str = ""
    """summarizing: empty is the built-in prompt."""
    input_tokens: int | None = 8000
    """summarizing: the longest request for a summary."""
    budget: int = 8000
    """token_budget: tokens of everything the model is shown."""
    steps: tuple[BudgetStep, ...] = ("tool_results",)
    """token_budget: strategies tried one after the other; then the oldest goes."""
    stop_early: bool = True
    window: int = 128_000
    """context_window: tokens of the model's window ..."""
    output: int = 4096
    """... of which these stay free for the answer."""
    tools_at: float = 0.5
    truncate_at: float = 0.8


class ContextProvider(Model):
    """What is put before a run of an agent and what is done after it; asked in order, after a run in reverse order.

    ``history`` gives stored messages and stores new ones; ``text`` adds a fixed text; ``code`` adds what a function
    gives for the messages of the run; ``compaction`` shortens what providers before it loaded, or what is remembered.
    """

    kind: Literal["history", "text", "code", "compaction"]
    name: str = ""
    """Its id in messages and sessions; empty: made from kind and place in the list."""
    store: Literal["session", "file", "sqlite"] = "session"
    """history: in the session (a checkpoint has it), or outside of every run."""
    path: str = ""
    """history in a file or database: relative to the folder of the workflow's file; empty: the user's data folder."""
    load: bool = True
    store_inputs: bool = True
    store_outputs: bool = True
    store_context: bool = False
    text: str = ""
    adds: Literal["instructions", "user", "system"] = "instructions"
    """text, code: what a text becomes."""
    body: str = ""
    """code: statements with ``messages`` and ``session_id`` that leave ``result``: a text, messages, or None."""
    call: str = ""
    """code: ``module:function`` in place of a body."""
    when: Literal["before", "after"] = "before"
    """compaction: of what was loaded for this run, or of what the session remembers for later ones."""
    compaction: Compaction = Compaction()


class MiddlewareDecl(Model):
    """Code around an agent's run, each model call or each tool call: a body with ``context`` and ``call_next``, or
    ``module:function``. The first in a list is the outermost of its kind."""

    kind: MiddlewareKind = "agent"
    name: str = ""
    body: str = ""
    call: str = ""


class RunnerAgent(Model):
    """One agent of a conversation runner. ``handoffs`` are ids of others in the same runner."""

    id: str
    name: str
    instructions: str = ""
    specialty: str = ""
    """What it is good at; the others read it when they choose whom to hand over to."""
    profile: str | None = None
    model: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    tools: tuple[str, ...] = ()
    mcp_servers: tuple[str, ...] = ()
    handoffs: tuple[str, ...] = ()


class RunnerSettings(Model):
    """Limits of a conversation runner's turns."""

    max_handoffs_per_turn: int = 5
    max_tool_iterations: int = 10
    tool_error: Literal["rollback", "report"] = "rollback"
    """Whether a tool that fails undoes the turn, or is told to the model."""
    history_turns: int | None = Field(default=40)
    """User turns that are kept, the running one included; None: all."""
