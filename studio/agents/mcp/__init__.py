"""Tools of MCP servers. The ``mcp`` package takes half a second to load; it loads when the first server starts."""

from __future__ import annotations

from studio.agents.mcp.server import McpFailed, McpServer, McpState, close_all
from studio.agents.mcp.settings import Approvals, HttpServer, StdioServer, child_environment
from studio.agents.mcp.tools import Chosen, ToolServer, agent_tools, approval_of, unique_names

__all__ = [
    "Approvals",
    "Chosen",
    "HttpServer",
    "McpFailed",
    "McpServer",
    "McpState",
    "StdioServer",
    "ToolServer",
    "agent_tools",
    "approval_of",
    "child_environment",
    "close_all",
    "unique_names",
]
