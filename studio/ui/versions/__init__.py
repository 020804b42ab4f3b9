"""Earlier versions of a workflow, what differs from them, and bringing one back. The panel is in ``panel``: it is made
when it is first seen."""

from studio.ui.versions.bar import CompareBar
from studio.ui.versions.disk_bar import DiskBar
from studio.ui.versions.kept_bar import KeptBar

__all__ = ["CompareBar", "DiskBar", "KeptBar"]
