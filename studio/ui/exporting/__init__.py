"""The code that a workflow becomes."""

from studio.ui.exporting.page import ExportPage

__all__ = ["ExportPage"]
