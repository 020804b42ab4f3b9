"""*Import…*: the file is read beside the loop; its report is shown; *Open* makes a document of it."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from studio.document.model import Workflow
from studio.importers import Imported, ImportProblem, Refused, in_words, read
from studio.importers.detection import NAMES
from studio.importers.opening import opened
from studio.importers.registry import BUILDERS
from studio.ui.importing.entries import ReportRows, rows_of, rows_of_changes
from studio.ui.importing.table import report_table
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.welcome.thumbnail import Picture, paint_picture, picture
from studio.ui.widgets.buttons import Button, CheckBox, ComboBox
from studio.ui.widgets.field import Field
from studio.ui.widgets.labels import Label, Prose
from studio.ui.widgets.sources import counted
from studio.ui.widgets.text_fields import LineField

_MARGINS = (0, 4, 0, 0)
BUILD_SECONDS = 30.0


class ImportDialog(QDialog):
    """Reading never runs code; *Run the program* does, in a process of its own, and is off at first."""

    taken = Signal(object)
    """The :class:`studio.importers.Imported` that should become a document."""

    def __init__(self, theme: Theme, file: Path, interpreter: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._file = theme, file
        self._found: Imported | None = None
        self._task: asyncio.Task[None] | None = None
        self._stop = threading.Event()
        self.setObjectName("import_dialog")
        self.setWindowTitle(tr("Import {name}").format(name=file.name))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(760, 620)
        self.kind = ComboBox(theme)
        self.kind.addItem(tr("Found out by content"), None)
        for key, name in NAMES.items():
            self.kind.addItem(name, key)
        self.choice = ComboBox(theme)
        self.build = CheckBox(theme, tr("Run the program to see what it builds (only if you trust it)"))
        self.interpreter = LineField(theme, tr("the program's own Python"), mono=True)
        self.interpreter.setText(interpreter)
        self.said = Prose(theme, "", "body", "text2", 17)
        self.rows = ReportRows(theme, self)
        self._preview = _Preview(theme)
        self._progress = QProgressBar()
        self._progress.setRange(0, 0)
        self._progress.setTextVisible(False)
        self._open = Button(theme, tr("Open"), kind="primary")
        self._fill()
        self._connect()
        self.look()

    @property
    def found(self) -> Imported | None:
        """What was read; None while it is read and if it cannot be."""
        return self._found

    @property
    def busy(self) -> bool:
        """Whether the file is being read."""
        return self._task is not None

    def look(self, _changed: object = None) -> None:
        """Reads the file as it is chosen now; what was being read is dropped."""
        self._halt()
        self._show(None)
        self.said.setText(tr("Running {name}…") if self.build.isChecked() else tr("Reading {name}…"))
        self.said.setText(self.said.text().format(name=self._file.name))
        self._stop = threading.Event()
        self._task = asyncio.get_running_loop().create_task(self._look(self._stop), name="import")
        self._progress.setVisible(True)

    def done(self, result: int) -> None:
        self._halt()
        super().done(result)

    # ---- reading

    async def _look(self, stop: threading.Event) -> None:
        mode = "build" if self.build.isChecked() else "static"
        try:
            found = await asyncio.to_thread(
                _read_to_open,
                self._file,
                self.kind.currentData(),
                mode,
                interpreter=self.interpreter.text().strip() or None,
                timeout=BUILD_SECONDS,
                choice=self.choice.currentData(),
                stop=stop,
            )
        except ImportProblem as problem:
            self._refuse(problem)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            self._refuse(ImportProblem(f"{self._file.name} cannot be read: {reason}.", "Choose another file."))
        else:
            self._show(found)
        self._task = None
        self._progress.setVisible(False)

    def _halt(self) -> None:
        self._stop.set()
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def _refuse(self, problem: ImportProblem) -> None:
        self._show(None)
        self.said.setText(str(problem))
        self._offer(problem.choices)
        if isinstance(problem, Refused):
            self.rows.show(rows_of(problem.report.entries, problem.report.folded))

    def _show(self, found: Imported | None) -> None:
        self._found = found
        self._open.setEnabled(found is not None)
        self._preview.show_workflow(found.workflow if found is not None else None)
        if found is None:
            self.rows.show(())
            return
        changes = rows_of_changes(found.before, found.workflow) if found.before is not None else []
        self.rows.show([*rows_of(found.report.entries, found.report.folded), *changes])
        report = found.report
        one, several = tr("1 change was made"), tr("{count} changes were made")
        edits = tr("{changes} in the code since it was exported.").format(
            changes=counted(len(found.edits), one, several)
        )
        parts = [NAMES.get(report.detected, report.detected) + ".", in_words(report), edits if found.edits else ""]
        self.said.setText(" ".join(part for part in (*parts, report.preface) if part))
        self._fields["build"].setVisible(report.detected in BUILDERS)
        self._fields["interpreter"].setVisible(report.detected in BUILDERS and self.build.isChecked())
        self._offer(report.choices)

    def _offer(self, names: tuple[str, ...]) -> None:
        """Other workflows of the same file; once known, they stay to be chosen."""
        if names and self.choice.count() == 0:
            self.choice.addItem(tr("The first one"), None)
            for name in names:
                self.choice.addItem(name, name)
        self._fields["choice"].setVisible(self.choice.count() > 0)

    # ---- building

    def _fill(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        column.setSpacing(8)
        column.addWidget(Label(self._theme, str(self._file), "small", "muted"))
        self._fields: dict[str, QWidget] = {
            "kind": Field(self._theme, tr("Format"), self.kind, resettable=False, margins=_MARGINS),
            "choice": Field(self._theme, tr("Workflow"), self.choice, resettable=False, margins=_MARGINS),
            "build": self.build,
            "interpreter": Field(
                self._theme, tr("Interpreter"), self.interpreter, resettable=False, margins=_MARGINS,
                hint=tr("The Python of the environment that the program runs in. It has {n} seconds.").format(
                    n=round(BUILD_SECONDS)
                ),
            ),
        }  # fmt: skip
        row = QHBoxLayout()
        row.setSpacing(16)
        row.addWidget(self._fields["kind"])
        row.addWidget(self._fields["choice"])
        column.addLayout(row)
        column.addWidget(self.build)
        column.addWidget(self._fields["interpreter"])
        for name in ("choice", "build", "interpreter"):
            self._fields[name].setVisible(False)
        column.addWidget(self._progress)
        column.addWidget(self.said)
        column.addWidget(self._preview)
        column.addWidget(report_table(self.rows), 1)
        column.addLayout(self._buttons())

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.addStretch(1)
        cancel = Button(self._theme, tr("Cancel"))
        cancel.clicked.connect(self.reject)
        self._open.setDefault(True)
        self._open.clicked.connect(self._on_open_clicked)
        row.addWidget(cancel)
        row.addWidget(self._open)
        return row

    def _connect(self) -> None:
        self.kind.activated.connect(self._on_kind_activated)
        self.choice.activated.connect(self.look)
        self.build.toggled.connect(self.look)
        self.interpreter.left.connect(self._on_interpreter_left)

    def _on_kind_activated(self, _index: int) -> None:
        self.choice.clear()
        self.look()

    def _on_interpreter_left(self) -> None:
        if self.build.isChecked():
            self.look()

    def _on_open_clicked(self) -> None:
        if (found := self._found) is not None:
            self.accept()  # first: what is opened may ask in a dialog of its own
            self.taken.emit(found)


def _read_to_open(file: Path, *given: Any, **options: Any) -> Imported:
    return opened(read(file, *given, **options), file.name)


class _Preview(QWidget):
    """The drawing that would be opened, small."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._picture: Picture | None = None
        self.setFixedHeight(150)
        self.setAccessibleName(tr("Preview"))

    def show_workflow(self, workflow: Workflow | None) -> None:
        """Shows a drawing, or nothing."""
        self._picture = picture(workflow) if workflow is not None else None
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self._picture is None:
            painter.fillRect(self.rect(), self._theme.color("canvas"))
        else:
            paint_picture(painter, self._theme, QRectF(self.rect()), self._picture)
