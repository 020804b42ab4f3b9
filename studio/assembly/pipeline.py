"""What is set around an agent -> the layers of the pipeline: tool loop, compaction, context providers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from studio.agents.client import ChatClient
from studio.agents.compaction.groups import Compaction, estimated_tokens
from studio.agents.context_providers import ContextProvider, HistoryProvider, InMemoryHistory, RunContext
from studio.agents.loop_settings import LoopSettings
from studio.agents.messages import Message, user
from studio.agents.session import Session
from studio.agents.stored_history import HistoryRows
from studio.agents.tools import Tool
from studio.assembly.code import UserCode
from studio.assembly.invocation import running
from studio.assembly.wire import read_messages
from studio.document import agent_options as options
from studio.document.checks_agents import provider_id
from studio.document.model import AgentNode

Histories = Callable[[options.ContextProvider], HistoryRows]
"""The rows of a history outside the session."""


def loop_settings(node: AgentNode, hidden: Sequence[Tool]) -> LoopSettings | None:
    """The settings of the tool loop; None if all have their defaults. ``hidden``: the additional tools."""
    if node.tool_loop == options.ToolLoop():
        return None
    names = set(options.ToolLoop.model_fields) - {"additional_tools"}
    given: dict[str, Any] = {name: getattr(node.tool_loop, name) for name in names}
    return LoopSettings(**given, additional_tools=tuple(hidden))


# -------------------------------------------------------------------------------------------------- compaction


def compaction(given: options.Compaction, client: ChatClient) -> Compaction | None:
    """The strategy; ``client`` writes the summaries. None for none."""
    return None if given.strategy == "none" else _strategy(given.strategy, given, client)


def _strategy(name: str, given: options.Compaction, client: ChatClient) -> Compaction:
    from studio.agents.compaction import strategies
    from studio.agents.compaction.summarizing import PROMPT, Summarizing

    match name:
        case "truncation":
            count = estimated_tokens if given.unit == "tokens" else None
            return strategies.Truncation(given.most, given.target, count, given.keep_system, given.keep_first_user)
        case "sliding_window":
            return strategies.SlidingWindow(given.keep_last, given.keep_system)
        case "tool_calls":
            return strategies.SelectiveToolCalls(given.keep_tools)
        case "tool_results":
            return strategies.ToolResults(given.keep_tools)
        case "summarizing":
            prompt = given.prompt if given.prompt.strip() else PROMPT
            return Summarizing(client, given.target, given.slack, prompt, given.input_tokens)
        case "token_budget":
            steps = tuple(_strategy(step, given, client) for step in given.steps)
            return strategies.TokenBudget(given.budget, steps, stop_early=given.stop_early)
    return strategies.ContextWindow(
        given.window,
        given.output,
        given.tools_at,
        given.truncate_at,
        given.keep_tools,
        given.keep_first_user,
    )


# --------------------------------------------------------------------------------------------------- providers


def context_providers(
    node: AgentNode, code: UserCode, client: ChatClient, histories: Histories
) -> tuple[ContextProvider, ...]:
    """The providers of an agent, in their order."""
    made: list[ContextProvider] = []
    for number, given in enumerate(node.providers, 1):
        source = provider_id(given, number)
        match given.kind:
            case "history":
                made.append(_history(given, source, histories))
            case "text":
                made.append(FixedText(source, given.text, given.adds))
            case "code":
                target = given.call or code.add(f"{node.id} context provider {number}", given.body, "provider")
                made.append(CodeProvider(source, target, given.adds, code))
            case "compaction":
                made.append(_compacting(given, source, client))
    return tuple(made)


def _history(given: options.ContextProvider, source: str, histories: Histories) -> HistoryProvider:
    manner: dict[str, Any] = {
        "load": given.load,
        "store_inputs": given.store_inputs,
        "store_outputs": given.store_outputs,
        "store_context": given.store_context,
    }
    if given.store == "session":
        return InMemoryHistory(source, **manner)
    from studio.agents.stored_history import StoredHistory

    return StoredHistory(histories(given), source, **manner)


def _compacting(given: options.ContextProvider, source: str, client: ChatClient) -> ContextProvider:
    from studio.agents.compaction.provider import CompactionProvider

    strategy = compaction(given.compaction, client)
    before, after = (strategy, None) if given.when == "before" else (None, strategy)
    return CompactionProvider(before=before, after=after, source_id=source)


class FixedText(ContextProvider):
    """Adds one text to every run: a line of the instructions, or a message in front."""

    def __init__(self, source_id: str, text: str, adds: str) -> None:
        super().__init__(source_id)
        self._text = text
        self._adds = adds

    async def before_run(self, context: RunContext, session: Session, state: dict[str, Any]) -> None:
        add_text(context, self, self._text, self._adds)


def add_text(context: RunContext, source: ContextProvider, text: str, adds: str) -> None:
    """A text as the setting says: instructions, or a message of the user or the system."""
    if not text.strip():
        return
    if adds == "instructions":
        context.extend_instructions(text)
    else:
        context.extend_messages(source, [user(text) if adds == "user" else Message("system", user(text).parts)])


class CodeProvider(ContextProvider):
    """Asks user code in the worker what to add: a text, messages, an object with ``instructions`` and ``messages``, or
    nothing."""

    def __init__(self, source_id: str, target: str, adds: str, code: UserCode) -> None:
        super().__init__(source_id)
        self._target = target
        self._adds = adds
        self._code = code

    async def before_run(self, context: RunContext, session: Session, state: dict[str, Any]) -> None:
        given = {"messages": list(context.input), "session_id": session.id}
        self._add(context, await self._code.bare(self._target, given, running.get()))

    def _add(self, context: RunContext, found: Any) -> None:
        if found is None:
            return
        if isinstance(found, str):
            add_text(context, self, found, self._adds)
        elif isinstance(found, Mapping) and found.get("$") == "message":
            self._add(context, [found])
        elif isinstance(found, Mapping) and "$" not in found and set(found) <= {"instructions", "messages"}:
            add_text(context, self, str(found.get("instructions") or ""), "instructions")
            self._add(context, found.get("messages"))
        elif isinstance(found, list) and all(isinstance(m, Mapping) and m.get("$") == "message" for m in found):
            context.extend_messages(self, read_messages(found))
        else:
            raise TypeError(
                "A context provider must leave a text, messages, or an object with instructions and messages"
            )
