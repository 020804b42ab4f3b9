"""The invocations of a run along the time: one row a node, sub-workflows above their inner nodes."""

from studio.ui.invocations.panel import InvocationsPanel

__all__ = ["InvocationsPanel"]
