"""What can be added to a drawing."""

from studio.ui.palette.panel import NodeTarget, PalettePanel

__all__ = ["NodeTarget", "PalettePanel"]
