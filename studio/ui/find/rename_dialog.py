"""Renames something with everything that mentions it: what is sure is chosen, the rest is listed to choose from."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QHBoxLayout, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from studio.bridge.workspace import Workspace
from studio.document.problems import Problem
from studio.document.references import KINDS, Kind, Reference, names_of, references, renamed
from studio.ui.find.rows import place_name, where_words
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button, ComboBox
from studio.ui.widgets.field import Field
from studio.ui.widgets.labels import Prose
from studio.ui.widgets.style import sheet
from studio.ui.widgets.text_fields import LineField

_WORDS: dict[Kind, str] = {
    "node": "Node: name",
    "id": "Node: id",
    "state": "Key of shared state",
    "type": "Type",
    "tool": "Tool",
    "module": "Module",
}


class RenameDialog(QDialog):
    """``kind`` and ``name`` are what is chosen at first; a node is named by its id."""

    def __init__(
        self, theme: Theme, workspace: Workspace, kind: Kind = "node", name: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("rename")
        self.setWindowTitle(tr("Rename with references"))
        self.setStyleSheet(sheet(theme))
        self.resize(620, 520)
        self._theme, self._workspace = theme, workspace
        self._references: tuple[Reference, ...] = ()
        self.kind, self.name = ComboBox(theme), ComboBox(theme)
        workflow = workspace.document.workflow
        for one in KINDS:
            if names_of(workflow, one):
                self.kind.addItem(tr(_WORDS[one]), one)
        self.new = LineField(theme)
        self._new_field = Field(theme, tr("New name"), self.new, resettable=False)
        self.list = QListWidget()
        self.list.setObjectName("references")
        self.list.setAccessibleName(tr("Places that say the name"))
        self.list.setProperty("card", "true")
        self._said = Prose(theme, "", "small", "muted", 15)
        self.rename = Button(theme, tr("Rename"), kind="primary")
        self.rename.setDefault(True)
        self._lay_out()
        self._connect()
        index = self.kind.findData(kind)
        self.kind.setCurrentIndex(max(0, index))
        self._show_names(name if index >= 0 else "")

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(0)
        top.addWidget(Field(self._theme, tr("What"), self.kind, resettable=False), 1)
        top.addWidget(Field(self._theme, tr("Name"), self.name, resettable=False), 1)
        buttons = QDialogButtonBox()
        cancel = Button(self._theme, tr("Cancel"))
        cancel.clicked.connect(self.reject)
        buttons.addButton(self.rename, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.addButton(cancel, QDialogButtonBox.ButtonRole.RejectRole)
        below = QVBoxLayout()
        below.setContentsMargins(12, 12, 12, 12)
        below.setSpacing(8)
        below.addWidget(self.list, 1)
        below.addWidget(self._said)
        below.addWidget(buttons)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 6, 0, 0)
        column.setSpacing(0)
        column.addLayout(top)
        column.addWidget(self._new_field)
        column.addLayout(below, 1)

    def _connect(self) -> None:
        self.kind.activated.connect(lambda _index: self._show_names(""))
        self.name.activated.connect(lambda _index: self._show_references())
        self.new.edited.connect(self._on_new_edited)
        self.rename.clicked.connect(self._on_rename_clicked)
        self.list.itemChanged.connect(lambda _item: self._tell())

    @property
    def _kind(self) -> Kind:
        found: Kind = self.kind.currentData()
        return found

    def _show_names(self, chosen: str) -> None:
        self.name.clear()
        for name, shown in names_of(self._workspace.document.workflow, self._kind):
            self.name.addItem(shown, name)
        self.name.setCurrentIndex(max(0, self.name.findData(chosen)))
        self._show_references()

    def _show_references(self) -> None:
        workflow = self._workspace.document.workflow
        name = str(self.name.currentData())
        node = workflow.node(name)
        self.new.show_value(node.name if self._kind == "node" and node is not None else name)
        self.new.selectAll()
        self.new.setFocus()
        self._references = references(workflow, self._kind, name)
        blocked = self.list.blockSignals(True)
        self.list.clear()
        for reference in self._references:
            text, _, _ = reference.hit.excerpt()
            where = where_words(place_name(workflow, reference.hit.slot), reference.hit)
            item = QListWidgetItem(f"{where}\n{text}")
            item.setToolTip(tr("Means this for sure") if reference.sure else tr("May mean something else"))
            item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Checked if reference.sure else Qt.CheckState.Unchecked)
            self.list.addItem(item)
        self.list.blockSignals(blocked)
        self._new_field.set_problem("error", "")
        self._tell()

    def _chosen(self) -> list[Reference]:
        rows = range(self.list.count())
        return [self._references[row] for row in rows if self.list.item(row).checkState() == Qt.CheckState.Checked]

    def _tell(self) -> None:
        chosen, unsure = len(self._chosen()), sum(not r.sure for r in self._references)
        if not self._references:
            self._said.set_text(tr("Nothing else mentions it. Edges follow by themselves."))
            return
        words = tr("{count} of {all} places will be changed.").format(count=chosen, all=len(self._references))
        if unsure:
            words += " " + tr("Places that may mean something else are not ticked: look at them.")
        self._said.set_text(words)

    def _on_new_edited(self, _text: object) -> None:
        self._new_field.set_problem("error", "")

    def _on_rename_clicked(self) -> None:
        document = self._workspace.document
        kind, name, new = self._kind, str(self.name.currentData()), self.new.text().strip()
        node = document.workflow.node(name) if kind == "node" else None
        if new == (node.name if node is not None else name):
            self._new_field.set_problem("error", tr("Enter another name."))
            self.new.setFocus()
            return
        made = renamed(document.workflow, kind, name, new, self._chosen())
        if isinstance(made, Problem):
            self._new_field.set_problem("error", made.message)
            self.new.setFocus()
            return
        shown = self.name.currentText() if kind != "id" else name
        document.execute(made, tr("Rename {old} to {new}").format(old=shown, new=new))
        self.accept()
