"""One MCP server: one task owns the connection, everybody else calls through it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, suppress
from typing import Any, Literal

from studio.agents.mcp.settings import HttpServer, ServerSettings, StdioServer
from studio.agents.mcp.stdio import Recorder, StdioTransport
from studio.agents.redaction import SECRET

McpState = Literal["off", "starting", "ready", "failed", "closed"]

MAX_RESTARTS = 5
_LONGEST_WAIT = 30.0
_SLOW_PROBE = 3.0
"""Seconds of connecting after which a server counts as one that ignores the newer way to begin."""


class McpFailed(Exception):
    """The server cannot be used; the text is for people."""


class McpServer:
    """Starts at the first call, and again when it has failed: after 1, 2, 4 … 30 s, five times at most.

    ``changed`` hears every change of the state; :attr:`log` has what the server said beside the protocol. ``resolve``
    gives the settings with their secrets, anew for each start; without it they are ``settings`` as they are.
    """

    def __init__(
        self,
        settings: ServerSettings,
        *,
        changed: Callable[[McpServer], None] | None = None,
        record: Recorder | None = None,
        resolve: Callable[[], Awaitable[ServerSettings]] | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self.settings = settings
        self.state: McpState = "off"
        self.problem = ""
        """Why it failed."""
        self.log: deque[str] = deque(maxlen=1000)
        self.tools: list[Any] = []
        """What it offered when it was last asked."""
        self.legacy = False
        """Whether it is begun with in the older way at once."""
        self._changed = changed
        self._record = record
        self._resolve = resolve
        self._secrets: tuple[str, ...] = ()
        """Values that its settings only refer to; see :meth:`hide`."""
        self._sleep = sleep
        self._client: Any = None
        self._transport: StdioTransport | None = None
        self._owner: asyncio.Task[None] | None = None
        self._settled = asyncio.Event()
        self._stop = asyncio.Event()
        self._failures = 0

    @property
    def pid(self) -> int | None:
        """The process of a program that runs."""
        running = self.state in ("starting", "ready") and self._transport is not None
        return (self._transport.process.pid or None) if running and self._transport is not None else None

    # ------------------------------------------------------------------------------------------------------ using

    async def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        """The result of the ``mcp`` package. Raises :class:`McpFailed`; cancelling cancels the call, not the server."""
        client = await self.ready()
        try:
            result = await client.call_tool(tool, arguments, self.settings.call_timeout)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            raise McpFailed(self._words(error)) from error
        self._failures = 0
        return result

    async def list_tools(self) -> list[Any]:
        """All tools of the server, page by page. Raises :class:`McpFailed`."""
        client = await self.ready()
        found: list[Any] = []
        cursor: str | None = None
        try:
            for _ in range(100):
                page = await client.list_tools(cursor=cursor)
                found += page.tools
                cursor = page.next_cursor
                if cursor is None:
                    break
        except asyncio.CancelledError:
            raise
        except Exception as error:
            raise McpFailed(self._words(error)) from error
        self.tools = found
        return found

    async def ready(self) -> Any:
        """The connected client; starts the server if need be. Raises :class:`McpFailed`."""
        if self.state == "closed":
            raise McpFailed(f"The MCP server {self.settings.name} is closed")
        if self.state in ("off", "failed"):
            await self._start()
        await self._settled.wait()
        if self._client is None:
            raise McpFailed(f"The MCP server {self.settings.name} cannot be used: {self.problem}")
        return self._client

    async def _start(self) -> None:
        if self.state == "failed":
            if self._failures > MAX_RESTARTS:
                raise McpFailed(f"The MCP server {self.settings.name} failed {self._failures} times: {self.problem}")
            self._set("starting")  # others wait too
            self._settled.clear()
            try:
                await self._sleep(min(2.0 ** (self._failures - 1), _LONGEST_WAIT))
            except BaseException:
                self._fail(self.problem, count=False)
                raise
        if self.state == "closed":
            return
        self._set("starting")
        self._settled.clear()
        self._stop.clear()
        self._owner = asyncio.create_task(self._own(), name=f"mcp {self.settings.name}")

    def restart(self) -> None:
        """A person wants another try now: failures so far are forgotten."""
        if self.state == "failed":
            self._failures = 0
            self._set("off")

    # ----------------------------------------------------------------------------------------------------- owning

    async def _own(self) -> None:
        """Enters and leaves the connection in one task, which its cancel scopes want."""
        try:
            await asyncio.to_thread(_load)
            loop = asyncio.get_running_loop()
            begun = loop.time()
            async with AsyncExitStack() as stack:
                transport = await self._connection(stack)
                client = await stack.enter_async_context(_client(transport, "legacy" if self.legacy else "auto"))
                self.legacy = self.legacy or loop.time() - begun > _SLOW_PROBE
                self._client = client
                self._set("ready")
                self._settled.set()
                await self._stop.wait()
                self._client = None
        except asyncio.CancelledError:
            self._fail("it was stopped", count=False)
            raise
        except BaseException as error:
            self._client = None
            self._fail(self.problem if self._stop.is_set() and self.problem else self._words(error))
            return
        if self.problem:
            self._fail(self.problem)

    async def _connection(self, stack: AsyncExitStack) -> Any:
        self.problem = ""
        settings = self.settings if self._resolve is None else await self._resolve()
        self._secrets = _secrets(self.settings, settings)
        if isinstance(settings, StdioServer):
            self._transport = StdioTransport(settings, self._print, self._on_exit, self._record)
            return self._transport
        return await _http(settings, stack)

    def hide(self, text: str) -> str:
        """The text without the secrets that the server was given: servers print and return what they know."""
        for secret in self._secrets:
            text = text.replace(secret, SECRET)
        return text

    def _print(self, line: str) -> None:
        self.log.append(self.hide(line))

    def _on_exit(self, code: int) -> None:
        """The program has ended, whoever wanted it."""
        if not self._stop.is_set():
            how = f"signal {-code}" if code < 0 else f"code {code}"
            last = next((line for line in reversed(self.log) if line.strip()), "")
            self.problem = f"its program ended with {how}" + (f": {last[:200]}" if last else "")
            self._client = None
            self._stop.set()

    def _fail(self, problem: str, *, count: bool = True) -> None:
        self.problem = problem
        self._failures += count
        self._client = None
        if self.state != "closed":
            self._set("failed")
        self._settled.set()

    def _set(self, state: McpState) -> None:
        if state != self.state:
            self.state = state
            if self._changed is not None:
                self._changed(self)

    def _words(self, error: BaseException) -> str:
        """What went wrong, for people and for the model."""
        leaf = first_leaf(error)
        text = self.hide(str(leaf).strip()) or type(leaf).__name__
        if self.problem and "Connection closed" in text:
            return f"The MCP server {self.settings.name} failed: {self.problem}"
        return text

    # ---------------------------------------------------------------------------------------------------- closing

    async def close(self, patience: float = 5) -> None:
        """Ends the connection and the program; what it started ends too. It cannot be started again.

        After ``patience`` seconds it ends the hard way.
        """
        owner, self._owner = self._owner, None
        self._set("closed")
        self._settled.set()
        self._stop.set()
        self._client = None
        if owner is None:
            return
        await asyncio.wait({owner}, timeout=patience)
        if not owner.done():
            owner.cancel()
            if self._transport is not None:
                self._transport.process.kill()
            await asyncio.wait({owner}, timeout=patience)
        with suppress(BaseException):
            owner.result()


async def close_all(servers: Iterable[McpServer], patience: float = 5) -> None:
    """Closes all at once, for the end of the program."""
    await asyncio.gather(*(server.close(patience) for server in servers), return_exceptions=True)


def first_leaf(error: BaseException) -> BaseException:
    """The first plain exception of a group of groups."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return error


def _secrets(said: ServerSettings, resolved: ServerSettings) -> tuple[str, ...]:
    """The values behind references, longest first; shorter than six characters they are no secrets."""

    def values(settings: ServerSettings) -> Mapping[str, str]:
        return settings.environment if isinstance(settings, StdioServer) else settings.headers

    before = values(said)
    words = {
        word
        for name, value in values(resolved).items()
        if value != before.get(name)
        for word in {value, *value.split(" ")} - set(before.get(name, "").split(" "))
    }
    found = {word for word in words if len(word) >= 6}
    return tuple(sorted(found, key=len, reverse=True))


def _load() -> None:
    """Everything that connecting imports, off the loop."""
    import mcp.client
    import mcp.client.streamable_http  # noqa: F401


def _client(transport: Any, mode: Literal["legacy", "auto"]) -> Any:
    from mcp.client import Client

    return Client(transport, mode=mode)


async def _http(settings: HttpServer, stack: AsyncExitStack) -> Any:
    """The package's transport on an HTTP client that follows no redirect and leaves loopback without proxy."""
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    from studio.agents.connection import is_loopback

    http = httpx2.AsyncClient(
        headers=dict(settings.headers),
        follow_redirects=False,
        trust_env=not is_loopback(settings.url),
        timeout=httpx2.Timeout(30, read=300),
    )
    await stack.enter_async_context(http)
    return streamable_http_client(settings.url, http_client=http)
