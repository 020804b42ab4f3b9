"""The question before hand-written lines would be replaced: file by file, with what would go and what would come."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QDialog, QFrame, QHBoxLayout, QListWidget, QSplitter, QVBoxLayout, QWidget

from studio.files.re_export import PlannedFile
from studio.ui.exporting.changed_lines import changed_lines
from studio.ui.exporting.code_view import CodeView
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import Label, Prose
from studio.ui.widgets.sources import counted


class ReplaceSheet(QDialog):
    """Opened, never executed. ``keep`` writes all other files, ``replace`` these too; *Cancel* writes nothing."""

    def __init__(
        self, theme: Theme, folder: str, files: Sequence[PlannedFile], parent: QWidget,
        *, keep: Callable[[], None], replace: Callable[[], None],
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self._theme, self._files = theme, tuple(files)
        self._keep, self._replace = keep, replace
        self.setObjectName("replace_sheet")
        self.setWindowTitle(tr("Files changed by hand"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(980, 640)
        count = counted(len(files), tr("1 file"), tr("{count} files"))
        self.title = Label(theme, tr("Replace {count} in {folder}?").format(count=count, folder=folder), "title")
        self.names = QListWidget()
        self.names.setObjectName("replaced_files")
        self.names.setAccessibleName(tr("Files changed by hand"))
        self.names.addItems([file.path for file in files])
        for row in range(self.names.count()):
            self.names.item(row).setSizeHint(QSize(0, theme.length(26)))
        self.names.currentRowChanged.connect(self._on_row_changed)
        self.view = CodeView(theme)
        self.view.setAccessibleName(tr("What would go and what would come"))
        self.keep_button = Button(theme, tr("Keep these files"), kind="primary")
        self.replace_button = Button(theme, tr("Replace"))
        self.cancel_button = Button(theme, tr("Cancel"))
        self.keep_button.clicked.connect(self._on_keep_clicked)
        self.replace_button.clicked.connect(self._on_replace_clicked)
        self.cancel_button.clicked.connect(self.reject)
        self._lay_out()
        self.names.setCurrentRow(0)
        self.keep_button.setFocus()

    def _lay_out(self) -> None:
        said = tr(
            "They were changed in the folder where the export changes them too, or this program does not know what it "
            "wrote there. Lines with − would go, lines with + would come."
        )
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setHandleWidth(1)
        split.setChildrenCollapsible(False)
        split.addWidget(self.names)
        split.addWidget(self.view)
        split.setStretchFactor(1, 1)
        split.setSizes([220, 760])
        self.names.setFrameShape(QFrame.Shape.NoFrame)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch(1)
        for button in (self.cancel_button, self.replace_button, self.keep_button):
            row.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 12)
        column.setSpacing(8)
        column.addWidget(self.title)
        column.addWidget(Prose(self._theme, said, "body", "text2", 17))
        column.addWidget(split, 1)
        column.addLayout(row)

    def _on_row_changed(self, row: int) -> None:
        if not 0 <= row < len(self._files):
            return
        file = self._files[row]
        found = changed_lines(file.now or "", file.text)
        self.view.show_code(file.path, found.text, {}, found.marks)
        self.view.show_line(0)
        self.view.bring_into_view(found.first)

    def _on_keep_clicked(self) -> None:
        self.accept()
        self._keep()

    def _on_replace_clicked(self) -> None:
        self.accept()
        self._replace()
