"""Tools of MCP servers as tools of an agent. What servers say about them is text of strangers: limited, plain."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from studio.agents.mcp.server import McpFailed
from studio.agents.mcp.settings import Approvals, ServerSettings
from studio.agents.tools import Approval, Tool, ToolFailure

_NAME = 64
_DESCRIPTION = 4000


class ToolServer(Protocol):
    """What tools need of a server; ``McpServer`` is one."""

    @property
    def settings(self) -> ServerSettings:
        """Name, time and size limits."""

    async def list_tools(self) -> list[Any]:
        """Everything it offers. Raises :class:`McpFailed`."""

    async def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        """One call. Raises :class:`McpFailed`."""

    def hide(self, text: str) -> str:
        """The text without the secrets that the server was given."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A server and what is taken of it: ``tools`` by name, None for all; ``approvals`` None: as its settings say."""

    server: ToolServer
    tools: Sequence[str] | None = None
    approvals: Approvals | None = None


async def agent_tools(servers: Iterable[ToolServer | Chosen]) -> list[Tool]:
    """The tools of all servers, under names that differ. Raises :class:`McpFailed` if one cannot be asked."""
    found: list[tuple[Chosen, Any]] = []
    for given in servers:
        chosen = given if isinstance(given, Chosen) else Chosen(given)
        offered = await chosen.server.list_tools()
        found += [(chosen, tool) for tool in offered if chosen.tools is None or tool.name in chosen.tools]
    names = unique_names([(chosen.server.settings.name, tool.name) for chosen, tool in found])
    return [_tool(chosen, tool, name) for (chosen, tool), name in zip(found, names, strict=True)]


def unique_names(tools: Sequence[tuple[str, str]]) -> list[str]:
    """``server_tool`` for each, as the framework names them with a prefix, of letters that every provider takes, at
    most 64 long, no two alike."""
    names: list[str] = []
    for server, tool in tools:
        first, last = (re.sub(r"[^A-Za-z0-9_-]+", "_", part) for part in (server, tool))
        base = ("_".join(filter(None, (first.rstrip("_-"), last.lstrip("_-")))) or "tool")[:_NAME]
        name, number = base, 2
        while name in names:
            name = f"{base[: _NAME - len(str(number)) - 1]}_{number}"
            number += 1
        names.append(name)
    return names


def _tool(chosen: Chosen, tool: Any, name: str) -> Tool:
    description = (tool.description or tool.title or tool.name)[:_DESCRIPTION]
    approvals = chosen.approvals or chosen.server.settings.approvals
    return Tool(name, description, tool.input_schema, _caller(chosen.server, tool), approval_of(approvals, tool))


def approval_of(approvals: Approvals, tool: Any) -> Approval:
    """Whether a person is asked about a tool of a server."""
    reads = tool.annotations is not None and tool.annotations.read_only_hint is True
    return "never" if approvals == "never" or (approvals == "unless_read_only" and reads) else "always"


def _caller(server: ToolServer, tool: Any) -> Callable[[dict[str, Any]], Awaitable[Any]]:
    async def run(arguments: dict[str, Any]) -> Any:
        try:
            result = await server.call(tool.name, arguments)
        except McpFailed as error:
            raise ToolFailure(str(error)) from error
        words = server.hide(result_words(result, structured=tool.output_schema is not None))
        text = shortened(words, server.settings.result_limit)
        if result.is_error:
            raise ToolFailure(text)
        return text

    return run


def result_words(result: Any, *, structured: bool) -> str:
    """What the model sees of a result: the structured value of a tool that declares one, else its contents."""
    if structured and result.structured_content is not None and not result.is_error:
        return json.dumps(result.structured_content, ensure_ascii=False)
    return "\n".join(_words(block) for block in result.content)


def _words(block: Any) -> str:
    if block.type == "text":
        return str(block.text)
    if block.type == "resource":
        text = getattr(block.resource, "text", None)
        return str(text) if text is not None else f"[resource {block.resource.uri}]"
    if block.type == "resource_link":
        return f"[resource {block.uri}]"
    return f"[{block.type} {getattr(block, 'mime_type', '')}, {len(getattr(block, 'data', '')) * 3 // 4} bytes]"


def shortened(text: str, limit: int) -> str:
    """At most ``limit`` characters, with a note of what is missing."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n[{len(text) - limit} characters left out]"
