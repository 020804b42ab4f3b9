"""Names of files from titles of workflows, and the other way round."""

from __future__ import annotations

import re
from pathlib import Path

from studio.ui.dialogs.file_dialogs import SUFFIX
from studio.ui.text import tr


def first_name(name: str, path: Path) -> str:
    """What a workflow is called after its first save: as its file, if nobody has given it a name."""
    stem = path.name.removesuffix(SUFFIX)
    unnamed = re.fullmatch(rf"\s*|{re.escape(tr('Untitled'))}( \d+)?", name) is not None
    return stem if unnamed and stem and stem != file_name(name) else name


def file_name(title: str) -> str:
    """A file name made from a title: words with hyphens, without characters that some system refuses."""
    kept = "".join(c if c.isalnum() or c in "-_" else " " for c in title.lower())
    return "-".join(kept.split())[:80] or "workflow"
