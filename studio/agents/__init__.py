"""Agents: messages, sessions, tools, the tool loop and chat clients. Imports neither ``openai`` nor Qt.

Public surface; the built-in model is in :mod:`studio.agents.offline`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from studio.agents.agent import Agent
    from studio.agents.client import ChatClient, ChatOptions, ChatRequest, ChunkSink, NoHooks, RunHooks
    from studio.agents.connection import ClientSettings, Timeouts
    from studio.agents.context_providers import ContextProvider, HistoryProvider, InMemoryHistory, RunContext
    from studio.agents.errors import ErrorKind, ProviderError
    from studio.agents.layers import LayeredClient
    from studio.agents.loop_settings import LoopSettings
    from studio.agents.messages import (
        AgentReply,
        AgentRequest,
        AgentResponse,
        AgentUpdate,
        ApprovalRequest,
        ApprovalResponse,
        Data,
        ErrorPart,
        Message,
        Part,
        Reasoning,
        Role,
        Text,
        ToolCall,
        ToolResult,
        Usage,
        UsagePart,
        assistant,
        user,
    )
    from studio.agents.middleware import AgentRun, Middleware, MiddlewareFailure, ModelCall, Termination, ToolRun
    from studio.agents.openai_client import OpenAIChatClient
    from studio.agents.session import Session
    from studio.agents.tools import EndTurn, Tool, ToolFailure

__all__ = [
    "Agent",
    "AgentReply",
    "AgentRequest",
    "AgentResponse",
    "AgentRun",
    "AgentUpdate",
    "ApprovalRequest",
    "ApprovalResponse",
    "ChatClient",
    "ChatOptions",
    "ChatRequest",
    "ChunkSink",
    "ClientSettings",
    "ContextProvider",
    "Data",
    "EndTurn",
    "ErrorKind",
    "ErrorPart",
    "HistoryProvider",
    "InMemoryHistory",
    "LayeredClient",
    "LoopSettings",
    "Message",
    "Middleware",
    "MiddlewareFailure",
    "ModelCall",
    "NoHooks",
    "OpenAIChatClient",
    "Part",
    "ProviderError",
    "Reasoning",
    "Role",
    "RunContext",
    "RunHooks",
    "Session",
    "Termination",
    "Text",
    "Timeouts",
    "Tool",
    "ToolCall",
    "ToolFailure",
    "ToolResult",
    "ToolRun",
    "Usage",
    "UsagePart",
    "assistant",
    "user",
]

_LATER = {
    "Agent": "agent",
    "AgentReply": "messages",
    "AgentRequest": "messages",
    "AgentResponse": "messages",
    "AgentRun": "middleware",
    "AgentUpdate": "messages",
    "ApprovalRequest": "messages",
    "ApprovalResponse": "messages",
    "ChatClient": "client",
    "ChatOptions": "client",
    "ChatRequest": "client",
    "ChunkSink": "client",
    "ClientSettings": "connection",
    "ContextProvider": "context_providers",
    "Data": "messages",
    "EndTurn": "tools",
    "ErrorKind": "errors",
    "ErrorPart": "messages",
    "HistoryProvider": "context_providers",
    "InMemoryHistory": "context_providers",
    "LayeredClient": "layers",
    "LoopSettings": "loop_settings",
    "Message": "messages",
    "Middleware": "middleware",
    "MiddlewareFailure": "middleware",
    "ModelCall": "middleware",
    "NoHooks": "client",
    "OpenAIChatClient": "openai_client",
    "Part": "messages",
    "ProviderError": "errors",
    "Reasoning": "messages",
    "Role": "messages",
    "RunContext": "context_providers",
    "RunHooks": "client",
    "Session": "session",
    "Termination": "middleware",
    "Text": "messages",
    "Timeouts": "connection",
    "Tool": "tools",
    "ToolCall": "messages",
    "ToolFailure": "tools",
    "ToolResult": "messages",
    "ToolRun": "middleware",
    "Usage": "messages",
    "UsagePart": "messages",
    "assistant": "messages",
    "user": "messages",
}
"""Where a name comes from: whoever only needs messages does not wait for the tool loop, nor for a client."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    return value
