"""Agents: messages, sessions, tools, the tool loop and chat clients. Imports neither ``openai`` nor Qt.

Public surface; the built-in model is in :mod:`studio.agents.offline`.
"""

from __future__ import annotations

from studio.agents.agent import Agent
from studio.agents.client import ChatClient, ChatOptions, ChatRequest, ChunkSink, NoHooks, RunHooks
from studio.agents.connection import ClientSettings, Timeouts
from studio.agents.errors import ErrorKind, ProviderError
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
from studio.agents.openai_client import OpenAIChatClient
from studio.agents.session import Session
from studio.agents.tools import EndTurn, Tool

__all__ = [
    "Agent",
    "AgentReply",
    "AgentRequest",
    "AgentResponse",
    "AgentUpdate",
    "ApprovalRequest",
    "ApprovalResponse",
    "ChatClient",
    "ChatOptions",
    "ChatRequest",
    "ChunkSink",
    "ClientSettings",
    "Data",
    "EndTurn",
    "ErrorKind",
    "ErrorPart",
    "Message",
    "NoHooks",
    "OpenAIChatClient",
    "Part",
    "ProviderError",
    "Reasoning",
    "Role",
    "RunHooks",
    "Session",
    "Text",
    "Timeouts",
    "Tool",
    "ToolCall",
    "ToolResult",
    "Usage",
    "UsagePart",
    "assistant",
    "user",
]
