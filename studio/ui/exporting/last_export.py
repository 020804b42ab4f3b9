"""The folder that a workflow was last exported to, and what the next export would change in it.

Reading the folder, comparing and writing happen in threads: a folder may be large, or on another machine.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from studio.files import FileProblem
from studio.files.last_folders import keep_last_folder, last_folder
from studio.files.re_export import ExportRecord, PlannedFile, planned, write_planned
from studio.settings import places
from studio.ui.exporting.changed_lines import ChangedLines, changed_lines
from studio.ui.text import tr
from studio.ui.widgets.asking import Asking

Plan = tuple[PlannedFile, ...]


@dataclass(frozen=True, slots=True)
class _Looked:
    """What a thread found: ``lines`` are those of files that would not stay as they are."""

    folder: Path | None
    plan: Plan
    lines: Mapping[str, ChangedLines]


class LastExport(QObject):
    """``folder`` is None as long as the workflow was not exported, or if its folder is gone."""

    looked = Signal()
    """The folder was compared, or is being compared now."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.folder: Path | None = None
        self.files: dict[str, PlannedFile] = {}
        self._lines: Mapping[str, ChangedLines] = {}
        self._asking = Asking(self)
        self._turn = self._seen = 0

    @property
    def busy(self) -> bool:
        """Whether a thread is at work."""
        return self._asking.busy

    @property
    def looking(self) -> bool:
        """Whether the folder is being compared."""
        return self._seen != self._turn

    def look(self, workflow: str, files: Mapping[str, str]) -> None:
        """Compares the files with the folder of the workflow with this id; ``looked`` follows. What is still being
        compared for other files is not waited for."""
        self._turn += 1
        self._asking.ask(lambda: _look(workflow, files), partial(self._on_looked, self._turn))
        self.looked.emit()

    def plan(self, files: Mapping[str, str], folder: Path, then: Callable[[Plan], None]) -> None:
        """Hands on what writing the files to a folder would do."""
        self._asking.ask(lambda: _plan_of(files, folder), then)

    def write(
        self,
        plan: Plan,
        files: Mapping[str, str],
        folder: Path,
        workflow: str,
        left: Collection[str],
        then: Callable[[tuple[Path, ...] | Exception], None],
    ) -> None:
        """Writes a plan apart from the paths in ``left``, and remembers it; hands on what was written, or the
        :class:`FileProblem` or ``OSError``."""
        self._asking.ask(lambda: _write(plan, files, folder, workflow, left), then)

    def reasons(self) -> dict[str, str]:
        """Path -> what the next export does to it, for those that it does not leave as they are."""
        said = {
            "new": tr("is not in the folder yet"),
            "changed": tr("would be written anew"),
            "kept": tr("was changed by hand; that is kept"),
            "lost": tr("was changed by hand where the export changes it too"),
        }
        return {path: said[file.kind] for path, file in self.files.items() if path in self._lines}

    def lines(self, path: str) -> ChangedLines:
        """What the next export would change in a file, line by line."""
        file = self.files.get(path)
        unchanged = (file.now or "").removesuffix("\n") if file is not None else ""
        return self._lines.get(path, ChangedLines(unchanged, {}))

    def counts(self) -> dict[str, tuple[int, int]]:
        """Path -> how many lines come and go, for files in which some do."""
        return {path: lines.counts for path, lines in self._lines.items()}

    def file(self, path: str) -> Path | None:
        """The file in the folder, if it is there."""
        planned_file = self.files.get(path)
        there = self.folder is not None and planned_file is not None and planned_file.now is not None
        return Path(self.folder, path) if there and self.folder is not None else None

    def _on_looked(self, turn: int, found: _Looked) -> None:
        if turn != self._turn:
            return
        self._seen = turn
        self.folder = found.folder
        self.files = {file.path: file for file in found.plan}
        self._lines = found.lines
        self.looked.emit()


def _look(workflow: str, files: Mapping[str, str]) -> _Looked:
    folder = last_folder(places.state_dir(), workflow)
    plan = _plan_of(files, folder) if folder is not None else ()
    lines = {file.path: changed_lines(file.now or "", file.text) for file in plan if _changes(file)}
    return _Looked(folder, plan, lines)


def _plan_of(files: Mapping[str, str], folder: Path) -> Plan:
    return planned(files, folder, ExportRecord(places.state_dir(), folder))


def _write(
    plan: Plan, files: Mapping[str, str], folder: Path, workflow: str, left: Collection[str]
) -> tuple[Path, ...] | Exception:
    state = places.state_dir()
    try:
        written = write_planned(plan, files, folder, ExportRecord(state, folder), left)
    except (FileProblem, OSError) as problem:
        return problem
    keep_last_folder(state, workflow, folder)
    return written


def _changes(file: PlannedFile) -> bool:
    return file.kind != "same" and (file.kind != "kept" or file.now != file.text)
