"""What the exported code is for: one process, or workers on Durable Task; and what differs there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from studio.document.model import Workflow
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import CheckBox
from studio.ui.widgets.field import Field
from studio.ui.widgets.labels import IconLabel, Prose
from studio.ui.widgets.segments import SegmentedControl

if TYPE_CHECKING:
    from studio.export import Client

ONE_PROCESS, DURABLE = "agent-framework", "durabletask"


class TargetChoice(QWidget):
    """The choice, and below it a sentence for each thing that is not as on the canvas."""

    changed = Signal()
    """Another target was chosen."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.target = ONE_PROCESS
        choices = ((ONE_PROCESS, tr("One process")), (DURABLE, tr("Durable Task")))
        self.choice = SegmentedControl(theme, choices)
        self.choice.setObjectName("export_target")
        self.choice.show_value(self.target)
        self.choice.edited.connect(self._on_choice_edited)
        hint = tr("Durable Task: workers on many machines take the nodes; a lost worker loses no run.")
        self._field = Field(theme, tr("Runs on"), self.choice, hint=hint, resettable=False)
        self.choice.setAccessibleName(tr("Runs on"))
        self.single = CheckBox(theme, tr("One file, not a project"))
        self.single.toggled.connect(self.changed)
        beside = QHBoxLayout()
        beside.setContentsMargins(12, 8, 12, 0)
        beside.addWidget(self.single)
        beside.addStretch(1)
        self._rows = QVBoxLayout()
        self._rows.setContentsMargins(12, 0, 12, 0)
        self._rows.setSpacing(0)
        self._told: tuple[str, ...] = ()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._field)
        column.addLayout(beside)
        column.addLayout(self._rows)

    @property
    def told(self) -> tuple[str, ...]:
        """The sentences that are shown."""
        return self._told

    @property
    def is_one_file(self) -> bool:
        """Whether the code is one file, not a project."""
        return self.target == ONE_PROCESS and self.single.isChecked()

    def files(
        self,
        workflow: Workflow,
        package: str | None,
        folder: Path | None,
        layout: bool,
        *,
        client: Client = "chat_completions",
        smoke_test: bool = True,
    ) -> dict[str, str]:
        """The project for the chosen target. Raises :class:`studio.export.ExportProblem`; nothing is told then."""
        self._tell(())
        if self.target == ONE_PROCESS:
            from studio.export import export_project, export_single_file, left_out, sentence_of

            if self.is_one_file:
                files = export_single_file(workflow, package, folder, client=client)
            else:
                files = export_project(workflow, package, folder, layout=layout, client=client, smoke_test=smoke_test)
            self._tell([sentence_of(found) for found in left_out(workflow)])
            return files
        from studio.export.durable import export_durable, findings

        files = export_durable(workflow, package, folder, layout=layout, client=client, smoke_test=smoke_test)
        checked = tr("The check runs the code in one process; tests/test_scale_out.py runs it on two workers.")
        self._tell([checked, *(finding.message for finding in findings(workflow, folder))])
        return files

    def refused(self, workflow: Workflow, folder: Path | None) -> list[tuple[str, str]]:
        """Why the chosen target cannot have this workflow: id of an item, sentence. Empty for one process."""
        if self.target == ONE_PROCESS:
            return []
        from studio.export import ExportProblem
        from studio.export.durable import findings

        try:
            return [(finding.item, finding.message) for finding in findings(workflow, folder) if finding.refused]
        except ExportProblem:
            return []

    def _tell(self, sentences: Sequence[str]) -> None:
        if tuple(sentences) == self._told:
            return
        self._told = tuple(sentences)
        while (item := self._rows.takeAt(0)) is not None:
            if (row := item.widget()) is not None:
                row.hide()
                row.deleteLater()
        for sentence in sentences:
            self._rows.addWidget(_Told(self._theme, sentence, self))

    def _on_choice_edited(self, target: object) -> None:
        self.target = str(target)
        self.single.setVisible(self.target == ONE_PROCESS)
        self.changed.emit()


class _Told(QWidget):
    """One sentence behind a sign."""

    def __init__(self, theme: Theme, sentence: str, parent: QWidget) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 8, 0, 0)
        row.setSpacing(7)
        row.addWidget(IconLabel(theme, "info", 14, "accent"), 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(Prose(theme, sentence, "small", "muted", 15), 1)
