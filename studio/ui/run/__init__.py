"""What a run shows: supersteps and lanes, messages, shared state, events."""

from studio.ui.run.events import EventsPanel
from studio.ui.run.messages import MessagesPanel
from studio.ui.run.panel import RunPanel
from studio.ui.run.state import StatePanel

__all__ = ["EventsPanel", "MessagesPanel", "RunPanel", "StatePanel"]
