"""The options of an export: what the code is for, its package, the API of the model, what is written beside it."""

from __future__ import annotations

import re
from keyword import iskeyword

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from studio.ui.exporting.target import TargetChoice
from studio.ui.exporting.written_code import ONE_PROCESS, ExportChoice
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import CheckBox, ComboBox
from studio.ui.widgets.field import Field
from studio.ui.widgets.labels import Label, Prose
from studio.ui.widgets.text_fields import LineField

_CLIENT_HINTS = {
    "chat_completions": "Works with local servers. The history stays in the program, not on the server.",
    "responses": "The newer API of OpenAI and Azure; few local servers have it. The history stays in the program.",
}


class ExportOptions(QWidget):
    """``changed`` asks for the code anew, ``typed`` too, once the typing rests."""

    changed = Signal()
    typed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.target = TargetChoice(theme)
        self.package = LineField(theme)
        self.package_field = Field(theme, tr("Package name"), self.package, resettable=False)
        self.client = ComboBox(theme)
        self.client.setObjectName("export_client")
        self.client.addItem(tr("Chat completions"), "chat_completions")
        self.client.addItem(tr("Responses"), "responses")
        self._client_hint = Prose(theme, tr(_CLIENT_HINTS["chat_completions"]), "small", "muted", 15)
        self.smoke_test = CheckBox(theme, tr("Add the smoke test"))
        self.smoke_test.setChecked(True)
        self.positions = CheckBox(theme, tr("Add positions for re-import"))
        self._lay_out()
        self.package.textChanged.connect(self.typed)
        self.client.currentIndexChanged.connect(self._on_client_changed)
        self.target.changed.connect(self._on_target_changed)
        for box in (self.smoke_test, self.positions):
            box.toggled.connect(self.changed)

    def choice(self) -> ExportChoice | None:
        """What is chosen; None if the package name is none, which its field says then."""
        package = self.package.text().strip()
        fits = not package or (re.fullmatch(r"[A-Za-z]\w*", package, re.ASCII) and not iskeyword(package))
        said = "" if fits else tr("Use letters a to z, digits and _, a letter first, and no word of Python.")
        self.package_field.set_problem("error", said)
        if not fits:
            return None
        return ExportChoice(
            target=self.target.target,
            single=self.target.single.isChecked(),
            package=package,
            client="responses" if self.client.currentData() == "responses" else "chat_completions",
            smoke_test=self.smoke_test.isChecked(),
            positions=self.positions.isChecked(),
        )

    def show_choice(self, choice: ExportChoice) -> None:
        """Shows what was chosen; nothing is asked for."""
        self.target.show_choice(choice)
        for widget in (self.package, self.client, self.smoke_test, self.positions):
            widget.blockSignals(True)
        self.package.setText(choice.package)
        self.client.setCurrentIndex(self.client.findData(choice.client))
        self.smoke_test.setChecked(choice.smoke_test)
        self.positions.setChecked(choice.positions)
        for widget in (self.package, self.client, self.smoke_test, self.positions):
            widget.blockSignals(False)
        self._show_what_applies()

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        title = Label(self._theme, tr("Options"), "title")
        title.setContentsMargins(12, 11, 12, 4)
        column.addWidget(title)
        column.addWidget(self.target)
        column.addWidget(self.package_field)
        column.addWidget(Field(self._theme, tr("Model client"), self.client, resettable=False))
        self.client.setAccessibleName(tr("Model client"))
        self._client_hint.setContentsMargins(12, 0, 12, 0)
        column.addWidget(self._client_hint)
        smoke = tr("It runs the code once with the scripted replies, without a model.")
        column.addLayout(self._box_row(self.smoke_test, smoke))
        positions = tr("One file beside the code keeps the drawing, scripted replies too.")
        column.addLayout(self._box_row(self.positions, positions))
        needs = tr(
            "At run time: the code needs Python 3.11 and agent-framework 1.23. Keys and the address of the model are "
            "read from the environment."
        )
        hint = Prose(self._theme, needs, "small", "muted", 15)
        hint.setContentsMargins(12, 10, 12, 12)
        column.addWidget(hint)

    def _box_row(self, box: CheckBox, said: str) -> QVBoxLayout:
        """A box with a sentence below it."""
        row = QVBoxLayout()
        row.setContentsMargins(12, 8, 12, 0)
        row.setSpacing(0)
        beside = QHBoxLayout()
        beside.addWidget(box)
        beside.addStretch(1)
        row.addLayout(beside)
        hint = Prose(self._theme, said, "small", "muted", 15)
        hint.setContentsMargins(21, 0, 0, 0)
        row.addWidget(hint)
        return row

    def _on_client_changed(self, _index: int) -> None:
        self._show_what_applies()
        self.changed.emit()

    def _on_target_changed(self) -> None:
        self._show_what_applies()
        self.changed.emit()

    def _show_what_applies(self) -> None:
        """The words for the client; one file has neither a test nor a file beside it."""
        self._client_hint.set_text(tr(_CLIENT_HINTS[str(self.client.currentData())]))
        one_file = self.target.target == ONE_PROCESS and self.target.single.isChecked()
        for box in (self.smoke_test, self.positions):
            box.setEnabled(not one_file)
