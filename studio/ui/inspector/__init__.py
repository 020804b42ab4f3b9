"""The inspector: settings of what is selected."""

from studio.ui.inspector.panel import InspectorPanel

__all__ = ["InspectorPanel"]
