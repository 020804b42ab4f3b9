"""Where agents keep histories outside of sessions: files of rows, opened once for a program."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from studio.document.agent_options import ContextProvider
from studio.document.model import Workflow
from studio.settings import places

if TYPE_CHECKING:
    from studio.agents.stored_history import HistoryRows
    from studio.files.histories import SqliteHistoryRows


class NoFolder(LookupError):
    """The history is in the folder of a workflow that has none yet."""


def history_path(workflow: Workflow, provider: ContextProvider, folder: Path | None) -> Path:
    """The folder of line files, or the database. Without a path of its own it is among the user's data, by workflow.
    Raises :class:`NoFolder` if the path is relative to a workflow that was never saved."""
    if not provider.path.strip():
        return places.data_dir() / "histories" / (workflow.id if provider.store == "file" else f"{workflow.id}.db")
    if folder is None:
        raise NoFolder(f"The history is kept in {provider.path}, next to the workflow: save the workflow first.")
    return folder / provider.path


class HistoryFiles:
    """The files in use; :meth:`close` gives them back."""

    def __init__(self) -> None:
        self._open: dict[Path, SqliteHistoryRows] = {}

    def rows(self, store: str, path: Path) -> HistoryRows:
        """The rows of a history. Nothing is opened before the first turn."""
        from studio.files.histories import FileHistoryRows, SqliteHistoryRows

        if store == "file":
            return FileHistoryRows(path)
        return self._open.setdefault(path, SqliteHistoryRows(path))

    async def close(self) -> None:
        """Closes the databases; the next use opens them again."""
        await asyncio.gather(*(rows.close() for rows in self._open.values()))
