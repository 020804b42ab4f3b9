"""Readers of other formats: a source becomes a document and a report that leaves nothing out.

No reader runs, imports or unpickles anything from the source; only ``mode="build"`` runs the program, in a process of
its own, and only on the user's word.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Literal

from studio.importers.finish import Imported, Refused
from studio.importers.problems import ImportProblem
from studio.importers.report import Counts, Entry, Folded, Report, in_words

__all__ = ["Counts", "Entry", "Folded", "ImportProblem", "Imported", "Refused", "Report", "in_words", "read"]


def read(
    source: Path | str,
    kind: str | None = None,
    mode: Literal["static", "build"] = "static",
    *,
    interpreter: str | None = None,
    timeout: float = 30.0,
    choice: str | None = None,
    stop: threading.Event | None = None,
) -> Imported:
    """The workflow in a file (or in a text), and the report about it.

    ``kind`` is a key of :data:`studio.importers.detection.NAMES`; None: found out by content. ``mode="build"`` runs the
    file with ``interpreter`` (default: the one of this program) for at most ``timeout`` seconds; ``stop``, set from
    another thread, ends it at once. ``choice`` is the name of one of several workflows in the file; in build mode the
    function to call if the import alone builds nothing.

    Raises :class:`ImportProblem`, and :class:`Refused` with its report for a file that is recognised but gives no
    workflow.
    """
    from studio.importers import reading, registry
    from studio.importers.detection import detect, parsed

    text = reading.text_of(source)
    path = source if isinstance(source, Path) else None
    detected = parsed(kind, text) if kind else detect(text)
    return registry.imported_from(replace(detected, choice=choice or ""), path, mode, interpreter, timeout, stop)
