"""Finding texts in a workflow, replacing them, and renaming with everything that mentions a name."""

from studio.ui.find.panel import FindPanel

__all__ = ["FindPanel"]
