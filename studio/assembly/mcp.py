"""MCP servers of documents: started when they are needed, shared by the runs of a document, ended with it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from studio.agents.context_providers import ContextProvider, RunContext
from studio.agents.mcp import Chosen, HttpServer, McpServer, StdioServer, ToolServer, agent_tools
from studio.agents.mcp.settings import ServerSettings
from studio.agents.session import Session
from studio.agents.tools import Tool
from studio.document.model import McpServerDecl
from studio.settings.secrets import Secrets

Key = tuple[str, ...]
"""The workflow's id, then the ids of the nodes around it: documents may name different servers alike."""


class McpServers:
    """The servers of a program. Everything must be used on one loop; :meth:`close` leaves no process behind.

    ``changed`` hears the workflow's id and the name of a server whose state is new.
    """

    def __init__(self, secrets: Secrets, changed: Callable[[str, str], None] | None = None) -> None:
        self._secrets = secrets
        self.changed = changed
        self._servers: dict[tuple[Key, str, str, str], McpServer] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def get(self, key: Key, declared: McpServerDecl, folder: Path | None) -> McpServer:
        """The server of a declaration; not started yet. One of the same name that is set up otherwise is ended, and
        starts again should a run that began with it still need it. Call it for accepted servers only."""
        content = declared.model_dump_json(exclude={"tools", "approval"})
        place = (key, declared.name, content, str(folder or ""))
        server = self._servers.get(place)
        if server is None or server.state == "closed":
            for other in [p for p in self._servers if p[:2] == place[:2]]:
                self._end(self._servers.pop(other))
            server = self._servers[place] = self._made(key, declared, folder)
        return server

    def known(self, key: Key, declared: McpServerDecl, folder: Path | None) -> McpServer | None:
        """The server of a declaration if somebody has needed it already."""
        content = declared.model_dump_json(exclude={"tools", "approval"})
        return self._servers.get((key, declared.name, content, str(folder or "")))

    async def forget(self, workflow_id: str) -> None:
        """Ends the servers of one document."""
        gone = [place for place in self._servers if place[0][0] == workflow_id]
        await asyncio.gather(*(self._servers.pop(place).close() for place in gone), return_exceptions=True)

    async def close(self) -> None:
        """Ends all servers."""
        servers, self._servers = list(self._servers.values()), {}
        closing = [server.close() for server in servers]
        await asyncio.gather(*closing, *self._closing, return_exceptions=True)

    def _made(self, key: Key, declared: McpServerDecl, folder: Path | None) -> McpServer:
        def tell(_server: McpServer) -> None:
            if self.changed is not None:
                self.changed(key[0], declared.name)

        async def resolved() -> ServerSettings:
            return await resolved_settings(declared, folder, self._secrets)

        return McpServer(plain_settings(declared, folder), changed=tell, resolve=resolved)

    def _end(self, server: McpServer) -> None:
        if server.state == "off":
            return
        task = asyncio.get_running_loop().create_task(server.close(), name=f"end mcp {server.settings.name}")
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)


def plain_settings(declared: McpServerDecl, folder: Path | None) -> ServerSettings:
    """The settings of a declaration, with references instead of secrets."""
    return _settings(declared, folder, declared.environment, declared.headers)


async def resolved_settings(declared: McpServerDecl, folder: Path | None, secrets: Secrets) -> ServerSettings:
    """The settings with the values behind the references. Raises ``SecretProblem``."""
    owner = f"MCP server {declared.name}"

    async def values(given: Mapping[str, str], *, key: bool) -> dict[str, str]:
        return {name: await secrets.fill(value, owner, key=key) for name, value in given.items()}

    # What a program gets may be a folder or a name as well as a token.
    environment = await values(declared.environment, key=False)
    return _settings(declared, folder, environment, await values(declared.headers, key=True))


def _settings(
    declared: McpServerDecl, folder: Path | None, environment: Mapping[str, str], headers: Mapping[str, str]
) -> ServerSettings:
    if declared.transport == "http":
        return HttpServer(declared.name, declared.url, headers, declared.timeout, declared.approval)
    where = (folder / declared.folder if folder is not None else Path(declared.folder)) if declared.folder else folder
    return StdioServer(
        declared.name,
        declared.command,
        declared.arguments,
        str(where) if where is not None else None,
        environment,
        declared.timeout,
        declared.approval,
    )


class McpTools(ContextProvider):
    """Gives an agent the tools of its servers, as they are when its turn begins. A server that cannot be used fails
    the turn: an agent without its tools would make something up."""

    def __init__(self, servers: Sequence[tuple[McpServerDecl, Callable[[], ToolServer]]]) -> None:
        super().__init__("mcp")
        self._servers = servers

    async def before_run(self, context: RunContext, session: Session, state: dict[str, Any]) -> None:
        context.extend_tools(await self.tools())

    async def tools(self) -> list[Tool]:
        """The tools as they are now. Raises ``McpFailed``."""
        chosen = [Chosen(get(), declared.tools, declared.approval) for declared, get in self._servers]
        return await agent_tools(chosen)


def mcp_provider(
    declared: Iterable[McpServerDecl], names: Iterable[str], get: Callable[[McpServerDecl], ToolServer]
) -> McpTools | None:
    """The provider for an agent that uses the servers with these names; None if it uses none."""
    by_name = {server.name: server for server in declared}
    used = [by_name[name] for name in names if name in by_name]
    return McpTools([(d, partial(get, d)) for d in used]) if used else None
