"""Writing a project to a folder: compared first, asked where lines by hand would go, told what was written."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from studio.ui.dialogs.messages import show_problem
from studio.ui.exporting.last_export import LastExport, Plan
from studio.ui.exporting.replace_sheet import ReplaceSheet
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.sources import counted


class FolderWriting(QObject):
    """``planned``: the folder was compared; ``ended``: the project was written, as far as it was wanted."""

    said = Signal(str)
    planned = Signal()
    ended = Signal()

    def __init__(self, theme: Theme, page: QWidget, last: LastExport) -> None:
        super().__init__(page)
        self._theme = theme
        self._page = page
        self._last = last

    def write(self, files: Mapping[str, str], folder: Path, workflow: str) -> None:
        """Writes the files of the workflow with this id."""
        self.said.emit(tr("Comparing with {folder} …").format(folder=folder))
        self._last.plan(files, folder, partial(self._on_planned, files, folder, workflow))

    def _on_planned(self, files: Mapping[str, str], folder: Path, workflow: str, plan: Plan) -> None:
        self.planned.emit()
        write = partial(self._write, files, folder, workflow, plan)
        lost = [file for file in plan if file.kind == "lost"]
        if not lost:
            write(())
            return
        ReplaceSheet(
            self._theme, folder.name, lost, self._page,
            keep=partial(write, tuple(file.path for file in lost)),
            replace=partial(write, ()),
        ).open()  # fmt: skip

    def _write(self, files: Mapping[str, str], folder: Path, workflow: str, plan: Plan, left: tuple[str, ...]) -> None:
        self._last.write(plan, files, folder, workflow, left, partial(self._on_written, folder, plan, left))

    def _on_written(
        self, folder: Path, plan: Plan, left: tuple[str, ...], written: tuple[Path, ...] | Exception
    ) -> None:
        if isinstance(written, Exception):
            detail = f"{written.strerror}." if isinstance(written, OSError) else str(written)
            show_problem(self._theme, self._page, tr("The project could not be written."), detail)
            return
        self.ended.emit()
        count = counted(len(written), tr("1 file"), tr("{count} files"))
        kept = sum(file.kind == "kept" for file in plan) + len(left)
        by_hand = counted(kept, tr("1 file keeps what was changed by hand."),
                          tr("{count} files keep what was changed by hand.")) if kept else ""  # fmt: skip
        self.said.emit(f"{tr('Wrote {count} to {folder}.').format(count=count, folder=folder)} {by_hand}".strip())
