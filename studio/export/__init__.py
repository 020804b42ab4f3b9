"""A document as Python code for Microsoft Agent Framework."""

from studio.export.problems import ExportProblem
from studio.export.project import export_project

__all__ = ["ExportProblem", "export_project"]
