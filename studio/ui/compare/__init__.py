"""Two branches or checkpoints side by side, in a tab of their own."""

from studio.ui.compare.page import ComparePage

__all__ = ["ComparePage"]
