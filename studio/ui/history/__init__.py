"""The steps of the open document, to jump to."""

from studio.ui.history.panel import HistoryPanel

__all__ = ["HistoryPanel"]
