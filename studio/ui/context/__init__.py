"""The context inspector: what an invocation saw, gave back and kept, and what the rules say about it."""

from studio.ui.context.panel import ContextPanel

__all__ = ["ContextPanel"]
