"""A document as Python code for Microsoft Agent Framework."""

from studio.export.left_out import LeftOut, left_out, sentence_of
from studio.export.problems import ExportProblem
from studio.export.project import export_project

__all__ = ["ExportProblem", "LeftOut", "export_project", "left_out", "sentence_of"]
