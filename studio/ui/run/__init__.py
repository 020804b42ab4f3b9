"""What a run shows: supersteps and lanes, messages, events."""

from studio.ui.run.events import EventsPanel
from studio.ui.run.messages import MessagesPanel
from studio.ui.run.panel import RunPanel

__all__ = ["EventsPanel", "MessagesPanel", "RunPanel"]
