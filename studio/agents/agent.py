"""An agent: instructions, tools, a chat client and the layers around them; one run is one turn with its tool loop.

The layers, outermost first: agent middleware, context providers (before), tool loop, chat middleware, compaction and
the model call; function middleware around each tool; context providers (after, only if all went well).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

from studio.agents import pending
from studio.agents.client import NO_OPTIONS, ChatClient, ChatOptions, ChatRequest, NoHooks, RunHooks
from studio.agents.compaction.groups import Compaction, Compactor
from studio.agents.context_providers import (
    ContextProvider,
    HistoryProvider,
    ImplicitHistory,
    InMemoryHistory,
    RunContext,
)
from studio.agents.layers import LayeredClient
from studio.agents.loop import ToolLoop, TurnEnd
from studio.agents.loop_settings import DEFAULT_LOOP, LoopSettings
from studio.agents.messages import AgentReply, Message
from studio.agents.middleware import NO_MIDDLEWARE, AgentRun, Answering, Middleware, answered
from studio.agents.model_calls import ModelCaller
from studio.agents.per_call_history import PerCallHistory
from studio.agents.session import Session
from studio.agents.tool_runs import COUNTS_KEY, ToolRunner
from studio.agents.tools import Tool
from studio.agents.update_hooks import UpdateSink

STARTED_KEY = "turn_started"
"""In a session's state: when a turn that waits for answers began."""


@dataclass(frozen=True, slots=True)
class Agent:
    """What does not change from turn to turn; the memory is in the :class:`Session`."""

    name: str
    client: ChatClient
    instructions: str = ""
    tools: Sequence[Tool] = ()
    options: ChatOptions = NO_OPTIONS
    output_schema: Mapping[str, Any] | None = None
    """JSON Schema of the answer; the reply then has a ``value`` if the answer is valid JSON."""
    description: str = ""
    node: str = ""
    """The node the agent runs in; the name if empty."""
    providers: Sequence[ContextProvider] = ()
    """Histories among them; without one that loads, the session itself is the history."""
    middleware: Middleware = NO_MIDDLEWARE
    compaction: Compaction | None = None
    loop: LoopSettings | None = None
    store_per_call: bool = False
    """Histories load and store around each model call instead of around the run."""
    session_id: str = ""
    """Of new sessions, so that a history outside of them goes on in the next run; a random one if empty."""

    def new_session(self) -> Session:
        """An empty memory."""
        return Session(self.session_id) if self.session_id else Session()

    async def run(
        self,
        messages: Sequence[Message],
        *,
        session: Session | None = None,
        updates: UpdateSink | None = None,
        hooks: RunHooks | None = None,
        middleware: Middleware = NO_MIDDLEWARE,
        tools: Sequence[Tool] = (),
        options: ChatOptions | None = None,
        compaction: Compaction | None = None,
    ) -> AgentReply:
        """One turn: history in front, model and tools until there is an answer or somebody must be asked.

        With ``updates`` the model is streamed and every chunk given as it comes. The session gets input and reply
        only if the turn goes well; an error or a cancelled task leaves it as it was. Without a session
        nothing is remembered. ``AgentReply.requests`` says what the run waits for. ``middleware``, ``tools``,
        ``options`` and ``compaction`` are for this run: inside of, beside, or instead of the agent's own.
        """
        layers = self.middleware + middleware
        run = AgentRun(
            streaming=updates is not None,
            agent=self.name,
            messages=list(messages),
            session=session,
            options=self._options(self.options if options is None else options),
            tools=(*self.tools, *tools),
        )

        async def prepare() -> Answering:
            return await self._prepared(run, hooks or NoHooks(), layers, compaction)

        reply = await answered(layers.agent, run, prepare, updates)
        return AgentReply() if reply is None else reply

    async def _prepared(
        self, run: AgentRun, hooks: RunHooks, layers: Middleware, compaction: Compaction | None
    ) -> Answering:
        """The before phase of the providers; what it gives is the rest of the turn."""
        memory = run.session if run.session is not None else Session()
        providers = self._providers(run)
        states = {p.source_id: deepcopy(memory.state.get(p.source_id, {})) for p in providers}
        around = [p for p in providers if not (self.store_per_call and isinstance(p, HistoryProvider))]
        context = RunContext(self.name, memory.id, list(run.messages), run.options)
        for provider in around:
            if not isinstance(provider, HistoryProvider) or provider.load:
                await provider.before_run(context, memory, states[provider.source_id])
        batch = pending.load(memory.state)
        per_call = self._per_call(providers, memory, batch)
        loop = self._loop(run, context, layers, memory, hooks, compaction, per_call)
        known = len(memory.messages)

        async def answer(sink: UpdateSink | None) -> AgentReply:
            loop.updates = sink
            end = await loop.run(context.messages(), run.messages, batch)
            await run.delivered()  # nothing is remembered of an answer that a hook refused
            reply = replace(end.reply, value=self._value(end.reply))
            context.response = reply
            for provider in reversed(around):
                await provider.after_run(context, memory, states[provider.source_id])
            memory.state.update({p.source_id: state for p in around if (state := states[p.source_id])})
            self._remember(memory, loop, end)
            kept = memory.messages[known:] if run.session is not None else ()
            _tell_written(hooks, context, providers, kept)
            return reply

        return answer

    def _providers(self, run: AgentRun) -> list[ContextProvider]:
        loads = any(isinstance(p, HistoryProvider) and p.load for p in self.providers)
        return [*self.providers] if loads or run.session is None else [*self.providers, ImplicitHistory()]

    def _per_call(
        self, providers: Sequence[ContextProvider], memory: Session, batch: pending.Batch | None
    ) -> tuple[PerCallHistory, ...]:
        histories = [p for p in providers if isinstance(p, HistoryProvider)]
        if not self.store_per_call or not histories:
            return ()
        return (PerCallHistory(histories, memory, self.name, batch),)

    def _loop(
        self,
        run: AgentRun,
        context: RunContext,
        layers: Middleware,
        memory: Session,
        hooks: RunHooks,
        compaction: Compaction | None,
        per_call: tuple[PerCallHistory, ...],
    ) -> ToolLoop:
        client = self.client
        of_client = client if isinstance(client, LayeredClient) else LayeredClient(client)
        chain = of_client.middleware + layers + context.middleware
        settings = self.loop or of_client.loop or DEFAULT_LOOP
        strategy = compaction or self.compaction or of_client.compaction
        tools = (*run.tools, *context.tools)
        caller = ModelCaller(
            client,
            self.name,
            hooks,
            (*chain.chat, *per_call),
            None if strategy is None else Compactor(strategy),
            run.session,
        )
        hidden = {tool.name: replace(tool, run=None) for tool in settings.additional_tools}
        counts = {name: list(count) for name, count in memory.state.get(COUNTS_KEY, {}).items()}
        runner = ToolRunner(
            {**hidden, **{tool.name: tool for tool in tools}}, settings, chain.function, hooks, run.session, counts
        )
        instructions = "\n".join(text for text in (self.instructions, *context.instructions) if text)
        request = ChatRequest((), instructions, tools, run.options, self.node or self.name)
        started = memory.state.get(STARTED_KEY, settings.clock())
        return ToolLoop(request, caller, runner, self.name, hooks, settings, started)

    def _remember(self, memory: Session, loop: ToolLoop, end: TurnEnd) -> None:
        """What the session keeps for the loop; nothing that is as at the start."""
        state = memory.state
        if end.batch is None:
            state.pop(pending.STATE_KEY, None)
            state.pop(STARTED_KEY, None)
        else:
            state[pending.STATE_KEY] = pending.dump(end.batch)
            if loop.settings.max_duration_seconds is not None:
                state[STARTED_KEY] = loop.started
        if loop.runner.counts:
            state[COUNTS_KEY] = loop.runner.counts

    def _options(self, options: ChatOptions) -> ChatOptions:
        return options if self.output_schema is None else replace(options, response_schema=self.output_schema)

    def _value(self, reply: AgentReply) -> Any:
        if self.output_schema is None or not reply.messages or reply.requests:
            return None
        text = reply.messages[-1].text.strip()
        if text.startswith("```"):  # models that were asked in words fence what they answer
            text = text.partition("\n")[2].removesuffix("```")
        try:
            return json.loads(text)
        except ValueError:
            return None


def _tell_written(
    hooks: RunHooks, context: RunContext, providers: Sequence[ContextProvider], kept: Sequence[Message]
) -> None:
    """Tells what the turn left in its histories; ``kept`` is what is new in the session itself."""
    if kept:
        hooks.history_written("session", kept)
    outside = {p.source_id for p in providers if isinstance(p, HistoryProvider) and not isinstance(p, InMemoryHistory)}
    for source, messages in context.written.items():
        if source in outside:
            hooks.history_written(source, messages)
