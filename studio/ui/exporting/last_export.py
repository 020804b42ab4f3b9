"""The folder that a workflow was last exported to, and what the next export would change in it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from studio.files.last_folders import keep_last_folder, last_folder
from studio.files.re_export import ExportRecord, PlannedFile, planned, write_planned
from studio.settings import places
from studio.ui.text import tr


class LastExport:
    """``folder`` is None as long as the workflow was not exported, or if its folder is gone."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        self.files: dict[str, PlannedFile] = {}

    def look(self, workflow: str, files: Mapping[str, str]) -> None:
        """Compares the files with the folder of the workflow with this id."""
        self.folder = last_folder(places.state_dir(), workflow)
        self.files = {}
        if self.folder is not None:
            self.files = {file.path: file for file in plan_of(files, self.folder)}

    def reasons(self) -> dict[str, str]:
        """Path -> what the next export does to it, for those that it does not leave as they are."""
        said = {
            "new": tr("is not in the folder yet"),
            "changed": tr("would be written anew"),
            "kept": tr("was changed by hand; that is kept"),
            "lost": tr("was changed by hand where the export changes it too"),
        }
        return {path: said[file.kind] for path, file in self.files.items() if _changes(file)}

    def file(self, path: str) -> Path | None:
        """The file in the folder, if it is there."""
        planned_file = self.files.get(path)
        there = self.folder is not None and planned_file is not None and planned_file.now is not None
        return Path(self.folder, path) if there and self.folder is not None else None


def plan_of(files: Mapping[str, str], folder: Path) -> tuple[PlannedFile, ...]:
    """What writing the files to a folder would do."""
    return planned(files, folder, ExportRecord(places.state_dir(), folder))


def write(
    plan: tuple[PlannedFile, ...], files: Mapping[str, str], folder: Path, workflow: str, left: Collection[str] = ()
) -> tuple[Path, ...]:
    """Writes a plan apart from the paths in ``left``, and remembers it. Raises :class:`studio.files.FileProblem`."""
    state = places.state_dir()
    written = write_planned(plan, files, folder, ExportRecord(state, folder), left)
    keep_last_folder(state, workflow, folder)
    return written


def _changes(file: PlannedFile) -> bool:
    return file.kind != "same" and (file.kind != "kept" or file.now != file.text)
