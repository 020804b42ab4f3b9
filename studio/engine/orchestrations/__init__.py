"""Ready-made workflows: sequential, concurrent, group chat, handoff (workflow semantics, section 12)."""

from studio.engine.orchestrations.handoff import HandoffUserRequest

__all__ = ["HandoffUserRequest"]
