"""Earlier versions of a workflow, what differs from them, and bringing one back."""

from studio.ui.versions.bar import CompareBar
from studio.ui.versions.disk_bar import DiskBar
from studio.ui.versions.panel import VersionsPanel

__all__ = ["CompareBar", "DiskBar", "VersionsPanel"]
