"""Pages to read beside the work."""

from studio.ui.help.window import HelpWindow

__all__ = ["HelpWindow"]
