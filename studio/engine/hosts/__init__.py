"""Ready-made nodes: agents, functions, workflows."""

from studio.engine.hosts.agent import AgentHost
from studio.engine.hosts.function import FunctionExecutor
from studio.engine.hosts.subworkflow import SubWorkflowExecutor

__all__ = ["AgentHost", "FunctionExecutor", "SubWorkflowExecutor"]
