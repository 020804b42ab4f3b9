"""Taking over a workflow of another program: what is in the file, what becomes of it, then a new document."""

from studio.ui.importing.dialog import ImportDialog
from studio.ui.importing.report_window import ImportReportWindow

__all__ = ["ImportDialog", "ImportReportWindow"]
