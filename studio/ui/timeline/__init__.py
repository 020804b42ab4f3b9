"""Checkpoints as a strip or a tree."""

from studio.ui.timeline.panel import TimelinePanel

__all__ = ["TimelinePanel"]
