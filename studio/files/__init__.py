"""Workflow files: reading, writing, migrating; autosave journal; kept versions; exported projects."""

from __future__ import annotations

from studio.files.format import dumps, loads
from studio.files.journal import Journal, Recovery, recoverable
from studio.files.problems import FileProblem
from studio.files.project import write_project
from studio.files.schema import json_schema
from studio.files.stamp import Stamp
from studio.files.versions import Version, kept_versions
from studio.files.workflow_file import read_stamped, read_workflow, write_workflow

__all__ = [
    "FileProblem",
    "Journal",
    "Recovery",
    "Stamp",
    "Version",
    "dumps",
    "json_schema",
    "kept_versions",
    "loads",
    "read_stamped",
    "read_workflow",
    "recoverable",
    "write_project",
    "write_workflow",
]
