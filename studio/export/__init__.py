"""A document as Python code for Microsoft Agent Framework."""

from studio.export.project import ExportProblem, export_project

__all__ = ["ExportProblem", "export_project"]
