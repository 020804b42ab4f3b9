"""Ready-made nodes: agents of both hosts, functions, workflows, and the nodes that keep turns together.

The conversation runner's node is in ``runner`` and loads when it is used.
"""

from studio.engine.hosts.agent import AgentHost
from studio.engine.hosts.function import FunctionExecutor
from studio.engine.hosts.subworkflow import SubWorkflowExecutor
from studio.engine.hosts.turn_routing import ChatStart, TurnCollector, TurnJoin, TurnRouter
from studio.engine.hosts.turn_token import TurnTokenHost, TurnTokenOptions
from studio.engine.values import ResetChat, ResetNode, TurnToken

__all__ = [
    "AgentHost",
    "ChatStart",
    "FunctionExecutor",
    "ResetChat",
    "ResetNode",
    "SubWorkflowExecutor",
    "TurnCollector",
    "TurnJoin",
    "TurnRouter",
    "TurnToken",
    "TurnTokenHost",
    "TurnTokenOptions",
]
