"""Why a document cannot be exported."""

from __future__ import annotations


class ExportProblem(Exception):
    """The document cannot be exported; the message is a sentence with the way out."""
