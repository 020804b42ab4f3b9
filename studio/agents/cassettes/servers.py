"""MCP servers on a cassette: what they offered is kept with the calls, so that a replay starts none."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from studio.agents.cassettes.cassette import Cassette, ToolEntry
from studio.agents.cassettes.tools import NotRecorded
from studio.agents.mcp.server import McpServer
from studio.agents.mcp.settings import ServerSettings

LISTED = "tools/list"
"""Name of the entry that holds what a server offered."""


class RecordingServer:
    """The real server; what it offers goes onto the cassette when it is asked."""

    def __init__(self, server: McpServer, cassette: Cassette) -> None:
        self._server = server
        self._cassette = cassette

    @property
    def settings(self) -> ServerSettings:
        """Those of the server."""
        return self._server.settings

    async def list_tools(self) -> list[Any]:
        """All tools of the server."""
        tools = await self._server.list_tools()
        entry = ToolEntry(_owner(self.settings), LISTED, {}, [_plain(tool) for tool in tools])
        if entry not in self._cassette.tools:
            self._cassette.tools.append(entry)
        return tools

    async def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        """A call of the real server."""
        return await self._server.call(tool, arguments)

    def hide(self, text: str) -> str:
        """The text without the server's secrets."""
        return self._server.hide(text)


class ReplayedServer:
    """Offers what was recorded and runs nothing: results come from the cassette before it is asked."""

    def __init__(self, settings: ServerSettings, cassette: Cassette) -> None:
        self.settings = settings
        self._cassette = cassette

    async def list_tools(self) -> list[Any]:
        """What the server offered. Raises :class:`NotRecorded`."""
        owner = _owner(self.settings)
        found = [e.result for e in self._cassette.tools if (e.node, e.name) == (owner, LISTED)]
        if not found:
            raise NotRecorded(f"What the MCP server {self.settings.name} offers was never recorded")
        return [_tool(row) for row in found[-1]]

    async def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        """Nothing is called in a replay. Raises :class:`NotRecorded`."""
        raise NotRecorded(f"The call of {tool} of the MCP server {self.settings.name} was never recorded")

    def hide(self, text: str) -> str:
        """The text: a recording has no secrets."""
        return text


def _owner(settings: ServerSettings) -> str:
    return f"mcp:{settings.name}"


def _plain(tool: Any) -> dict[str, Any]:
    reads = tool.annotations is not None and tool.annotations.read_only_hint is True
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "input_schema": tool.input_schema,
        "output_schema": tool.output_schema,
        "reads_only": reads,
    }


def _tool(row: dict[str, Any]) -> Any:
    annotations = SimpleNamespace(read_only_hint=bool(row.get("reads_only")))
    fields = {name: row.get(name) for name in ("title", "description", "output_schema")}
    return SimpleNamespace(
        name=str(row["name"]), input_schema=row.get("input_schema") or {}, annotations=annotations, **fields
    )
