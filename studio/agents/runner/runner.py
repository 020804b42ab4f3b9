"""The conversation runner: one object for all sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from studio.agents.client import ChatClient, NoHooks, RunHooks
from studio.agents.messages import AgentUpdate, Message, user
from studio.agents.runner.agents import Registry, RunnerAgent
from studio.agents.runner.errors import (
    ReentrantTurnError,
    RunnerClosedError,
    RunnerError,
    RunningLoopError,
)
from studio.agents.runner.events import RolledBack, RunnerEvent, TurnFinished, TurnStarted
from studio.agents.runner.locks import SessionLines
from studio.agents.runner.response import TurnResponse
from studio.agents.runner.sessions import MemorySessions, Record, RunnerSession, SessionRecords
from studio.agents.runner.turn import Turn, TurnSettings

if TYPE_CHECKING:
    from studio.agents.connection import ClientSettings

OPENAI = "https://api.openai.com/v1"


@dataclass(slots=True, eq=False)
class _Marker:
    """Travels with the tasks and threads of a turn; no longer counts when the turn is over."""

    runner: object
    session: str
    active: bool = True


_TURNS: ContextVar[tuple[_Marker, ...]] = ContextVar("superstep_runner_turns", default=())


def _connected(settings: ClientSettings) -> ChatClient:
    from studio.agents.openai_client import OpenAIChatClient

    return OpenAIChatClient(settings)


class ConversationRunner:
    """Runs turns of conversations. A turn that fails, or is cancelled, leaves its session exactly as it was.

    Turns of one session come one after the other, in the order they were asked for; sessions do not wait for others.
    """

    def __init__(
        self,
        agent: RunnerAgent,
        sessions: SessionRecords | None = None,
        engine: ChatClient | None = None,
        api_key: str = "",
        *,
        max_handoffs_per_turn: int = 5,
        max_tool_iterations: int = 10,
        tool_error: Literal["rollback", "report"] = "rollback",
        history_turns: int | None = 40,
        connect: Callable[[ClientSettings], ChatClient] = _connected,
        node: str = "",
    ) -> None:
        """``agent`` starts new conversations; whoever it can reach by hand-offs is known too.

        ``engine`` answers for agents without an engine of their own; without it OpenAI with ``api_key``.
        ``tool_error``: whether a tool that raises undoes the turn, or is told to the model. ``history_turns``: user
        turns that are kept; None: all. Raises :class:`studio.agents.runner.errors.RunnerSetupError`.
        """
        self._registry = Registry(agent)
        self._start = agent.name
        self._sessions: SessionRecords = MemorySessions() if sessions is None else sessions
        self._engine = engine
        self._api_key = api_key
        self._settings = TurnSettings(max_handoffs_per_turn, max_tool_iterations, tool_error, history_turns)
        self._connect = connect
        self._node = node
        self._lines = SessionLines()
        self._opened: dict[str, ChatClient] = {}
        self._closed = False

    # ---------------------------------------------------------------------------------------------------- agents

    @property
    def agents(self) -> tuple[str, ...]:
        """Names of all agents."""
        return self._registry.names

    def register_agent(self, agent: RunnerAgent) -> None:
        """A later agent, with everyone it can reach. Raises ``RunnerSetupError``."""
        self._registry.add(agent)

    def _client_for(self, agent: RunnerAgent) -> ChatClient:
        """The agent's own engine, else the runner's."""
        if agent.client is not None:
            return agent.client
        if agent.connection is not None:
            return self._open(f"agent {agent.name}", agent.connection)
        if self._engine is not None:
            return self._engine
        if not self._api_key:
            raise RunnerError(f"Agent {agent.name!r} has no engine, and the runner has none for it")
        from studio.agents.connection import ClientSettings

        return self._open("runner", ClientSettings(OPENAI, self._api_key))

    def _open(self, key: str, settings: ClientSettings) -> ChatClient:
        if key not in self._opened:
            self._opened[key] = self._connect(settings)
        return self._opened[key]

    # ----------------------------------------------------------------------------------------------------- turns

    def run(self, message: str, session: str = "default", *, metadata: Mapping[str, Any] | None = None) -> TurnResponse:
        """One turn, blocking. Raises :class:`RunningLoopError` inside an event loop."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass
        else:
            raise RunningLoopError("run() blocks the event loop it is called in; await run_async() instead")
        self._check(session)
        return asyncio.run(self._run_alone(message, session, metadata))

    async def _run_alone(self, message: str, session: str, metadata: Mapping[str, Any] | None) -> TurnResponse:
        """A turn in a loop of its own, which must not leave connections behind."""
        try:
            return await self.run_async(message, session, metadata=metadata)
        finally:
            await self._close_connections()

    async def run_async(
        self,
        message: str | Message | Sequence[Message],
        session: str = "default",
        *,
        metadata: Mapping[str, Any] | None = None,
        updates: Callable[[AgentUpdate], None] | None = None,
        events: Callable[[RunnerEvent], None] | None = None,
        hooks: RunHooks | None = None,
    ) -> TurnResponse:
        """One turn. ``metadata`` is merged into the session's; ``updates`` streams the models' answers.

        Raises what the model raised, or a tool under "rollback"; the session is then as before, and so it is
        after cancelling.
        """
        self._check(session)
        given = _as_messages(message)
        emit = events if events is not None else _ignored
        async with self._lines.turn(session):
            with self._marked(session):
                old = await self._sessions.load(session)
                kept = self._session(session, old)
                kept.metadata.update(metadata or {})
                engine = self._client_for
                turn = Turn(kept, self._registry, self._settings, engine, emit, hooks or NoHooks(), updates, self._node)
                return await self._transaction(turn, given, old)

    async def _transaction(self, turn: Turn, given: Sequence[Message], old: Record | None) -> TurnResponse:
        """The turn on its copy of the session, which replaces the old record or is dropped."""
        session = turn.session
        turn.emit(TurnStarted(session.id, len(session.messages)))
        try:
            response = await turn.run(given)
            await self._store(session.id, session.to_record(), old)
        except BaseException as error:
            self._failed(turn, error)
            raise
        turn.emit(TurnFinished(session.id, response))
        return response

    def _session(self, id: str, record: Record | None) -> RunnerSession:
        if record is None:
            return RunnerSession(id, self._start)
        return RunnerSession.from_record(id, record)

    async def _store(self, session: str, record: Record, old: Record | None) -> None:
        """Stores the turn. Cancelled meanwhile, it waits for the store and puts the old record back."""
        saving = asyncio.ensure_future(self._sessions.save(session, record))
        try:
            await asyncio.shield(saving)
        except asyncio.CancelledError:
            await _whatever_happens(saving)
            if not saving.cancelled() and saving.exception() is None:
                undo = self._sessions.delete(session) if old is None else self._sessions.save(session, old)
                await _whatever_happens(asyncio.ensure_future(undo))
            raise

    def _failed(self, turn: Turn, error: BaseException) -> None:
        cause = "cancelled" if isinstance(error, asyncio.CancelledError) else type(error).__name__
        if turn.executed and isinstance(error, Exception):
            done = ", ".join(turn.executed)
            error.add_note(f"The turn was undone; what these tools did outside was not: {done}")
        turn.emit(RolledBack(turn.session.id, len(turn.added), cause, tuple(turn.executed)))

    @contextmanager
    def _marked(self, session: str) -> Iterator[None]:
        marker = _Marker(self, session)
        token = _TURNS.set((*_TURNS.get(), marker))
        try:
            yield
        finally:
            marker.active = False
            _TURNS.reset(token)

    def _check(self, session: str) -> None:
        if self._closed:
            raise RunnerClosedError("This runner is closed")
        if any(m.active and m.runner is self and m.session == session for m in _TURNS.get()):
            raise ReentrantTurnError(
                f"The turn of session {session!r} cannot wait for another turn of the same session"
            )

    # ---------------------------------------------------------------------------------------------------- closing

    async def close(self) -> None:
        """Closes the connections that the runner opened; it cannot be used afterwards."""
        self._closed = True
        await self._close_connections()

    async def _close_connections(self) -> None:
        opened, self._opened = self._opened, {}
        for client in opened.values():
            await client.close()

    async def __aenter__(self) -> ConversationRunner:
        if self._closed:
            raise RunnerClosedError("This runner is closed")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _as_messages(message: str | Message | Sequence[Message]) -> list[Message]:
    if isinstance(message, str):
        return [user(message)]
    return [message] if isinstance(message, Message) else list(message)


def _ignored(event: RunnerEvent) -> None:
    """Nobody listens."""


async def _whatever_happens(task: asyncio.Future[Any]) -> None:
    """Waits for the task however often the waiting is cancelled; its error stays in it."""
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            continue
