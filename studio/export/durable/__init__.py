"""A document as a Python project for workers on Durable Task: what one machine is too small for."""

from studio.export.durable.findings import Finding
from studio.export.durable.project import export_durable, findings

__all__ = ["Finding", "export_durable", "findings"]
