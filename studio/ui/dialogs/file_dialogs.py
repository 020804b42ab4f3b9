"""Choosing files and folders; opened without blocking, the choice comes by a call."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget

from studio.ui.text import tr

SUFFIX = ".workflow.json"
_RUNS = ".superstep-runs"


def is_bundle(file: Path) -> bool:
    """Whether a file is called as files of runs are."""
    return file.suffix.lower() == _RUNS


def choose_workflows(parent: QWidget, folder: Path, chosen: Callable[[list[Path]], None]) -> QFileDialog:
    """Asks for files to open."""
    dialog = _dialog(parent, tr("Open workflow"), folder)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
    filters = [
        tr("Workflows (*.workflow.json)"),
        tr("JSON files (*.json)"),
        tr("Pictures of workflows (*.svg *.png)"),
        tr("Runs (*.superstep-runs)"),
    ]
    dialog.setNameFilters([*filters, tr("All files (*)")])
    dialog.filesSelected.connect(lambda files: chosen([Path(f) for f in files]))
    dialog.open()
    return dialog


def choose_import(parent: QWidget, folder: Path, chosen: Callable[[Path], None]) -> QFileDialog:
    """Asks for a file of another program; an exported project is chosen by its ``workflow.py``."""
    return _choose(parent, tr("Import a workflow"), folder, tr("Code and workflows (*.py *.yaml *.yml *.json)"), chosen)


def choose_target(parent: QWidget, suggestion: Path, chosen: Callable[[Path], None]) -> QFileDialog:
    """Asks where to save a workflow; adds the suffix if it was left out."""

    def complete(file: Path) -> None:
        chosen(with_suffix(file))

    return choose_new(parent, tr("Save workflow as"), suggestion, complete, tr("Workflows (*.workflow.json)"))


def choose_test(parent: QWidget, suggestion: Path, chosen: Callable[[Path], None]) -> QFileDialog:
    """Asks where to write a test of a workflow."""
    return choose_new(parent, tr("Save test as"), suggestion, chosen, tr("Tests of workflows (*.test.json)"))


class _NewFolderDialog(QFileDialog):
    """A folder that is typed and not there yet is made: Qt's own dialog would only say that it is not found."""

    def accept(self) -> None:
        for path in map(Path, self.selectedFiles()):
            if not path.exists() and path.parent.is_dir():
                with suppress(OSError):  # then the dialog says that there is no such folder
                    path.mkdir()
        super().accept()


def choose_new_folder(parent: QWidget, title: str, folder: Path, chosen: Callable[[Path], None]) -> QFileDialog:
    """Asks for a folder to write to; one that is not there yet is made, if the one around it is there."""
    dialog = _prepared(_NewFolderDialog(parent, title, str(folder)))
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    return _opened(dialog, chosen)


def choose_bundle(parent: QWidget, folder: Path, chosen: Callable[[Path], None]) -> QFileDialog:
    """Asks for a file of runs to import."""
    return _choose(parent, tr("Import runs"), folder, tr("Runs (*.superstep-runs)"), chosen)


def choose_bundle_target(parent: QWidget, suggestion: Path, chosen: Callable[[Path], None]) -> QFileDialog:
    """Asks where to write runs; adds the suffix if it was left out."""
    kinds = tr("Runs (*.superstep-runs)")
    return choose_new(parent, tr("Export runs"), suggestion, chosen, kinds, suffix="superstep-runs")


def choose_new(
    parent: QWidget,
    title: str,
    suggestion: Path,
    chosen: Callable[[Path], None],
    kinds: str = "",
    *,
    suffix: str = "",
) -> QFileDialog:
    """Asks where to write a file. ``kinds`` is a filter of names, ``suffix`` what is added if there is none."""
    dialog = _dialog(parent, title, suggestion.parent)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setFileMode(QFileDialog.FileMode.AnyFile)
    dialog.setDefaultSuffix(suffix)
    dialog.setNameFilters([kinds, tr("All files (*)")] if kinds else [tr("All files (*)")])
    dialog.selectFile(suggestion.name)
    return _opened(dialog, chosen)


def with_suffix(path: Path) -> Path:
    """``x`` and ``x.json`` become ``x.workflow.json``; any other suffix is the user's will."""
    if path.name.lower().endswith(SUFFIX):
        return path
    if path.suffix.lower() in ("", ".json"):
        return path.with_name(path.name.removesuffix(path.suffix) + SUFFIX)
    return path


def _dialog(parent: QWidget, title: str, folder: Path) -> QFileDialog:
    return _prepared(QFileDialog(parent, title, str(folder)))


def _prepared(dialog: QFileDialog) -> QFileDialog:
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setObjectName("file_dialog")
    return dialog


def _choose(parent: QWidget, title: str, folder: Path, kinds: str, chosen: Callable[[Path], None]) -> QFileDialog:
    dialog = _dialog(parent, title, folder)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    dialog.setNameFilters([kinds, tr("All files (*)")])
    return _opened(dialog, chosen)


def _opened(dialog: QFileDialog, chosen: Callable[[Path], None]) -> QFileDialog:
    dialog.fileSelected.connect(lambda file: chosen(Path(file)))
    dialog.open()
    return dialog
