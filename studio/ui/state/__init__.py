"""What a run remembers: shared state with its history, differences between supersteps, state of nodes, watches."""

from studio.ui.state.panel import StatePanel
from studio.ui.state.watch import WatchList

__all__ = ["StatePanel", "WatchList"]
