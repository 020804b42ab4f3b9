"""Breakpoints and queued messages."""

from studio.ui.debug.panel import DebugPanel

__all__ = ["DebugPanel"]
