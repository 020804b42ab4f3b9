"""Ready-made workflows: sequential, concurrent, group chat, handoff, Magentic (workflow semantics, section 12)."""

from studio.engine.orchestrations.concurrent import Aggregator, concurrent
from studio.engine.orchestrations.group_chat import ChatState, group_chat
from studio.engine.orchestrations.handoff import Autonomy, HandoffUserRequest, handoff
from studio.engine.orchestrations.magentic import magentic
from studio.engine.orchestrations.magentic_manager import AgentManager, Manager
from studio.engine.orchestrations.review import Review
from studio.engine.orchestrations.sequential import sequential

__all__ = [
    "AgentManager",
    "Aggregator",
    "Autonomy",
    "ChatState",
    "HandoffUserRequest",
    "Manager",
    "Review",
    "concurrent",
    "group_chat",
    "handoff",
    "magentic",
    "sequential",
]
