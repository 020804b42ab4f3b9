"""Open requests: questions, approvals, calls that wait for a person."""

from studio.ui.requests.panel import RequestsPanel

__all__ = ["RequestsPanel"]
