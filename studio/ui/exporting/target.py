"""What the exported code is for: one process, or workers on Durable Task; and what differs there."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from studio.ui.exporting.written_code import DURABLE, ONE_PROCESS, ExportChoice, Target
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import CheckBox
from studio.ui.widgets.field import Field
from studio.ui.widgets.labels import IconLabel, Prose
from studio.ui.widgets.segments import SegmentedControl


class TargetChoice(QWidget):
    """The choice, and below it a sentence for each thing that is not as on the canvas."""

    changed = Signal()
    """Another target was chosen."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._target: Target = ONE_PROCESS
        choices = ((ONE_PROCESS, tr("One process")), (DURABLE, tr("Durable Task")))
        self.choice = SegmentedControl(theme, choices)
        self.choice.setObjectName("export_target")
        self.choice.show_value(self._target)
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
    def target(self) -> Target:
        """What the code is for."""
        return self._target

    @property
    def told(self) -> tuple[str, ...]:
        """The sentences that are shown."""
        return self._told

    def show_choice(self, choice: ExportChoice) -> None:
        """Shows what was chosen; nothing is asked for."""
        self._target = choice.target
        self.choice.show_value(choice.target)
        self.single.blockSignals(True)
        self.single.setChecked(choice.single)
        self.single.blockSignals(False)
        self.single.setVisible(choice.target == ONE_PROCESS)

    def tell(self, sentences: Sequence[str]) -> None:
        """Says what is not as on the canvas."""
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
        self._target = DURABLE if target == DURABLE else ONE_PROCESS
        self.single.setVisible(self._target == ONE_PROCESS)
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
