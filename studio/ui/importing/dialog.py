"""*Import…*: the file is read in a process of its own; its report is shown; *Open* makes a document of it."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from studio.document.model import Workflow
from studio.importers import Imported, ImportProblem, Refused, in_words, read
from studio.importers.apart import read_apart
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
BUILD_SECONDS = 30
MOST_SECONDS = 3600
_WARNING = (
    "“Run it” runs this program with all your rights: {path}. Its workflows and agents are not started, keys in its "
    "environment are replaced and its proxies closed. That limits damage; it is no isolation. Run only what you trust."
)


class ImportDialog(QDialog):
    """Reading never runs code; *Run it* does, in a process of its own, and is not offered at first."""

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
        self.build = CheckBox(theme, tr("Run the program to see what it builds"))
        self.run = Button(theme, tr("Run it"))
        self.interpreter = LineField(theme, tr("the program's own Python"), mono=True)
        self.interpreter.setText(interpreter)
        self.seconds = LineField(theme)
        self.seconds.setText(f"{BUILD_SECONDS:g}")
        self.seconds.setMaximumWidth(80)
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
        self._begin("static")

    def _begin(self, mode: Literal["static", "build"]) -> None:
        words = tr("Running {name}…") if mode == "build" else tr("Reading {name}…")
        self.said.setText(words.format(name=self._file.name))
        self._stop = threading.Event()
        self._task = asyncio.get_running_loop().create_task(self._look(mode, self._stop), name="import")
        self._progress.setVisible(True)

    def done(self, result: int) -> None:
        self._halt()
        super().done(result)

    # ---- reading

    async def _look(self, mode: Literal["static", "build"], stop: threading.Event) -> None:
        kind, choice = self.kind.currentData(), self.choice.currentData()
        try:
            if mode == "static":
                found = await asyncio.to_thread(read_apart, self._file, kind, choice, stop)
            else:
                interpreter, seconds = self.interpreter.text().strip(), float(self.seconds.text())
                given = (self._file, kind, interpreter or None, seconds, choice, stop)
                found = await asyncio.to_thread(_built_to_open, *given)
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
        if problem.may_run:
            self.build.setVisible(True)
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
        self.build.setVisible(report.detected in BUILDERS)
        self._running.setVisible(report.detected in BUILDERS and self.build.isChecked())
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
        }
        self._running = self._run_form()
        row = QHBoxLayout()
        row.setSpacing(16)
        row.addWidget(self._fields["kind"])
        row.addWidget(self._fields["choice"])
        column.addLayout(row)
        column.addWidget(self.build)
        column.addWidget(self._running)
        for widget in (self._fields["choice"], self.build, self._running):
            widget.setVisible(False)
        column.addWidget(self._progress)
        column.addWidget(self.said)
        column.addWidget(self._preview)
        column.addWidget(report_table(self.rows), 1)
        column.addLayout(self._buttons())

    def _run_form(self) -> QWidget:
        """What to know and to choose before the program is run."""
        form = QWidget()
        column = QVBoxLayout(form)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(Prose(self._theme, tr(_WARNING).format(path=self._file), "body", "wait_t", 17))
        row = QHBoxLayout()
        row.setSpacing(16)
        interpreter, seconds = tr("Interpreter"), tr("Seconds, at most")
        row.addWidget(Field(self._theme, interpreter, self.interpreter, resettable=False, margins=_MARGINS), 1)
        row.addWidget(Field(self._theme, seconds, self.seconds, resettable=False, margins=_MARGINS))
        row.addWidget(self.run, 0, Qt.AlignmentFlag.AlignBottom)
        column.addLayout(row)
        return form

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
        self.choice.activated.connect(self._on_choice_activated)
        self.build.toggled.connect(self._on_build_toggled)
        self.seconds.textChanged.connect(self._on_seconds_changed)
        self.run.clicked.connect(self._on_run_clicked)

    def _on_kind_activated(self, _index: int) -> None:
        self.choice.clear()
        self.look()

    def _on_choice_activated(self, _index: int) -> None:
        if not self.build.isChecked():
            self.look()

    def _on_build_toggled(self, wanted: bool) -> None:
        self._running.setVisible(wanted)
        if not wanted:
            self.look()

    def _on_seconds_changed(self, text: str) -> None:
        good = text.strip().isdecimal() and 0 < int(text) <= MOST_SECONDS
        self.seconds.set_bad(not good)
        self.run.setEnabled(good)

    def _on_run_clicked(self) -> None:
        self._halt()
        self._show(None)
        self._begin("build")

    def _on_open_clicked(self) -> None:
        if (found := self._found) is not None:
            self.accept()  # first: what is opened may ask in a dialog of its own
            self.taken.emit(found)


def _built_to_open(
    file: Path, kind: str | None, interpreter: str | None, seconds: float, choice: str | None, stop: threading.Event
) -> Imported:
    found = read(file, kind, "build", interpreter=interpreter, timeout=seconds, choice=choice, stop=stop)
    return opened(found, file.name)


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
