"""A document as Python code for Microsoft Agent Framework."""

from studio.export.agents import Client
from studio.export.left_out import LeftOut, left_out, sentence_of
from studio.export.problems import ExportProblem
from studio.export.project import export_project
from studio.export.single_file import export_single_file

__all__ = ["Client", "ExportProblem", "LeftOut", "export_project", "export_single_file", "left_out", "sentence_of"]
