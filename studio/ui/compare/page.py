"""A tab that compares two branches or checkpoints: path, messages, state, prompts."""

from __future__ import annotations

import json
from pathlib import Path

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QDialog, QFileDialog, QHBoxLayout, QMenu, QSplitter, QVBoxLayout, QWidget

from studio.bridge.workspace import Workspace
from studio.debugger.run_comparison import Row, RunComparison
from studio.ui.compare.lines import counts
from studio.ui.compare.totals import Totals
from studio.ui.compare.view import CompareView
from studio.ui.dialogs.messages import Choice, show_problem
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button, CheckBox
from studio.ui.widgets.empty import EmptyText
from studio.ui.widgets.labels import Label
from studio.ui.widgets.segments import SegmentedControl
from studio.ui.widgets.text_fields import TextBox
from studio.ui.window.document_tabs import DocumentPage


class ComparePage(DocumentPage):
    """Asks the run model for the comparison of two ids; *Choose…* puts another in place of the second."""

    kind = "compare"

    node_chosen = Signal(str)
    """A node whose row was picked."""
    title_changed = Signal()

    def __init__(self, theme: Theme, workspace: Workspace, a: str, b: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme, self.workspace = theme, workspace
        self.keys = (a, b)
        self.comparison: RunComparison | None = None
        self._totals = Totals(theme)
        self.tabs = SegmentedControl(
            theme,
            [("path", tr("Path")), ("messages", tr("Messages")), ("state", tr("State")), ("prompts", tr("Prompts"))],
        )
        self.tabs.setAccessibleName(tr("What is compared"))
        self.tabs.show_value("path")
        self.tabs.edited.connect(self._on_tabs_edited)
        self.only = CheckBox(theme, tr("Only differences"))
        self.only.toggled.connect(self._on_only_toggled)
        self.count = Label(theme, "", "body", "muted")
        self.previous_button = Button(theme, tr("Previous"), "arrow-up", small=True)
        self.next_button = Button(theme, tr("Next"), "arrow-down", small=True)
        self.choose_button = Button(theme, tr("Choose…"), "git-branch", small=True)
        self.previous_button.setToolTip(tr("Previous difference (Shift+F8)"))
        self.next_button.setToolTip(tr("Next difference (F8)"))
        self.choose_button.setToolTip(tr("Compare with another branch"))
        self.export_button = Button(theme, tr("Export…"), "download", small=True)
        self.export_button.setToolTip(tr("Export as an HTML page or as JSON"))
        self.export_button.setEnabled(False)
        self.view = CompareView(theme)
        self.empty = EmptyText(theme, tr("Comparing…"))
        self._lay_out()
        self._connect(workspace)
        workspace.run.compare(a, b)

    @property
    def title(self) -> str:
        """The text of the tab."""
        run = self.workspace.run if self.workspace is not None else None
        names = run.titles_of(*self.keys) if run is not None else self.keys
        return tr("Compare {a} and {b}").format(a=names[0], b=names[1])

    def compare(self, a: str, b: str) -> None:
        """Shows two others."""
        self.keys = (a, b)
        if self.workspace is not None:
            self.workspace.run.compare(a, b)
        self.title_changed.emit()

    def rows(self) -> tuple[Row, ...]:
        """The rows of the tab that is chosen."""
        if self.comparison is None:
            return ()
        found: dict[str, tuple[Row, ...]] = {
            "path": self.comparison.path,
            "messages": self.comparison.messages,
            "state": self.comparison.state,
            "prompts": self.comparison.prompts,
        }
        return found[str(self.tabs.value)]

    def paintEvent(self, _event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), self.theme.color("window"))

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._totals)
        bar = QWidget()
        row = QHBoxLayout(bar)
        row.setContentsMargins(10, 6, 10, 6)
        row.setSpacing(8)
        row.addWidget(self.tabs)
        row.addWidget(self.only)
        row.addStretch(1)
        row.addWidget(self.count)
        for button in (self.previous_button, self.next_button, self.choose_button, self.export_button):
            row.addWidget(button)
        column.addWidget(bar)
        column.addWidget(self.view, 1)
        column.addWidget(self.empty, 1)
        self.view.hide()

    def _connect(self, workspace: Workspace) -> None:
        workspace.run.compared.connect(self._on_run_compared)
        self.previous_button.clicked.connect(lambda: self.view.step(-1))
        self.next_button.clicked.connect(lambda: self.view.step(1))
        self.choose_button.clicked.connect(self._offer_others)
        self.export_button.clicked.connect(self._ask_target)
        self.view.picked.connect(self.node_chosen)
        self.view.read_requested.connect(self._on_view_read_requested)

    def _on_run_compared(self, a: str, b: str, found: object) -> None:
        if (a, b) != self.keys:
            return
        if not isinstance(found, RunComparison):
            self.empty.label.setText(str(found))
            return
        self.comparison = found
        self.export_button.setEnabled(True)
        self._totals.show_comparison(found)
        self._show()
        self.title_changed.emit()

    def _show(self) -> None:
        assert self.comparison is not None
        rows = self.rows()
        kinds = {}
        if self.workspace is not None:
            kinds = {node.id: node.kind for node in self.workspace.document.workflow.nodes}
        self.view.only_different = self.only.isChecked()
        titles = (self.comparison.a.title, self.comparison.b.title)
        self.view.show_rows(rows, titles, kinds, figures=self.tabs.value == "path")
        different, all_rows = counts(rows)
        text = tr("{count} of {all} rows differ").format(count=different, all=all_rows)
        self.count.setText(text if different else tr("nothing differs"))
        empty = not self.view.lines
        self.view.setVisible(not empty)
        self.empty.setVisible(empty)
        self.empty.label.setText(tr("Nothing differs here.") if rows else tr("There is nothing of this kind."))
        for button in (self.previous_button, self.next_button):
            button.setEnabled(bool(different))

    def _on_tabs_edited(self, _value: object) -> None:
        if self.comparison is not None:
            self._show()

    def _on_only_toggled(self, _on: bool) -> None:
        if self.comparison is not None:
            self._show()

    def _offer_others(self) -> None:
        """A menu of the other branches, to stand at the right."""
        if self.workspace is None:
            return
        menu = QMenu(self)
        for branch in self.workspace.run.branches:
            text = tr("Run {number}, {name}").format(number=branch.number, name=branch.name)
            action = menu.addAction(text)
            action.triggered.connect(lambda _checked=False, key=branch.branch: self.compare(self.keys[0], key))
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.choose_button.mapToGlobal(QPoint(0, self.choose_button.height())))

    def _ask_target(self) -> None:
        if self.comparison is None:
            return
        name = f"{self.comparison.a.title} and {self.comparison.b.title}".replace("/", "-")
        dialog = QFileDialog(self, tr("Export comparison"), str(Path.home()))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setObjectName("file_dialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setFileMode(QFileDialog.FileMode.AnyFile)
        dialog.setNameFilters([tr("HTML page (*.html)"), tr("JSON (*.json)")])
        dialog.setDefaultSuffix("html")
        dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix("json" if "json" in chosen else "html"))
        dialog.selectFile(f"{name}.html")
        dialog.fileSelected.connect(lambda file: self.export(Path(file)))
        dialog.open()

    def export(self, path: Path) -> None:
        """Writes what is compared: JSON if the name ends so, else an HTML page."""
        from studio.debugger.comparison_export import to_html, to_json

        if self.comparison is None or self.workspace is None:
            return
        if path.suffix.lower() == ".json":
            text = json.dumps(to_json(self.comparison), ensure_ascii=False, indent=1) + "\n"
        else:
            text = to_html(self.comparison, self.workspace.document.workflow.name)
        try:
            path.write_text(self.workspace.run.without_keys(text), encoding="utf-8")
        except OSError as error:
            why = error.strerror or str(error)
            show_problem(
                self.theme,
                self,
                tr("The comparison was not exported."),
                tr("{path} cannot be written: {why}. Choose another place.").format(path=path, why=why),
                [Choice(tr("Close"), _nothing, default=True, cancels=True)],
            )

    def _on_view_read_requested(self, label: str, a: str, b: str) -> None:
        titles = ("A", "B") if self.comparison is None else (self.comparison.a.title, self.comparison.b.title)
        TextsDialog(self.theme, label, titles, (a, b), self).open()


def _nothing() -> None:
    return


class TextsDialog(QDialog):
    """Two long texts, whole and side by side."""

    def __init__(
        self, theme: Theme, label: str, titles: tuple[str, str], texts: tuple[str, str], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(label)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(900, 560)
        column = QVBoxLayout(self)
        split = QSplitter(Qt.Orientation.Horizontal)
        for title, text in zip(titles, texts, strict=True):
            part = QWidget()
            inner = QVBoxLayout(part)
            inner.setContentsMargins(0, 0, 0, 0)
            inner.addWidget(Label(theme, title, "section"))
            box = TextBox(theme, lines=8)
            box.show_value(text)
            box.setReadOnly(True)
            box.setAccessibleName(title)
            inner.addWidget(box, 1)
            split.addWidget(part)
        column.addWidget(split, 1)
        close = Button(theme, tr("Close"))
        close.clicked.connect(self.accept)
        column.addWidget(close, 0, Qt.AlignmentFlag.AlignRight)
