"""The drawing as a tree."""

from studio.ui.outline.panel import OutlinePanel

__all__ = ["OutlinePanel"]
