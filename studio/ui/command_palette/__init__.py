"""Search over commands and nodes."""

from studio.ui.command_palette.palette import CommandPalette
from studio.ui.command_palette.search import Entry, ranked

__all__ = ["CommandPalette", "Entry", "ranked"]
