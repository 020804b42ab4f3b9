"""Problems: what is wrong with a document, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from studio.document.edits import Edit


@dataclass(frozen=True, slots=True)
class Fix:
    """A quick fix: a verb for the button and the edit behind it."""

    text: str
    edit: Edit


@dataclass(frozen=True, slots=True)
class Problem:
    """``code`` is stable (``duplicate_edge``); ``place`` is the id of a node, edge, case or "" for the workflow;
    ``field`` the inspector field, if one; ``message`` a whole sentence."""

    code: str
    message: str
    place: str = ""
    field: str = ""
    severity: Literal["error", "warning", "info"] = "error"
    fix: Fix | None = None
