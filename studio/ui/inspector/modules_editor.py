"""Edits the modules of user code: a name and its source each."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from studio.bridge.workspace import Workspace
from studio.document.edits import SetWorkflow
from studio.document.model import ModuleDecl
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.code import CodeEditor
from studio.ui.widgets.text_fields import LineField


class _ModuleCard(QWidget):
    def __init__(self, theme: Theme, owner: ModulesEditor, index: int) -> None:
        super().__init__()
        self._owner, self._index = owner, index
        column = QVBoxLayout(self)
        column.setContentsMargins(11, 8, 11, 0)
        column.setSpacing(2)
        top = QHBoxLayout()
        top.setSpacing(2)
        self.name = LineField(theme, "module_name", mono=True)
        self.name.setAccessibleName(tr("Module name"))
        self.name.edited.connect(self._on_name_edited)
        top.addWidget(self.name, 1)
        remove = Button(theme, "", "trash-2", "plain", small=True)
        remove.setToolTip(tr("Remove this module"))
        remove.setAccessibleName(tr("Remove this module"))
        remove.clicked.connect(self._on_remove_clicked)
        top.addWidget(remove)
        column.addLayout(top)
        self.source = CodeEditor(theme, "python", "def publish(draft: str) -> str:\n    return draft", lines=8)
        self.source.setAccessibleName(tr("Source"))
        self.source.edited.connect(self._on_source_edited)
        column.addWidget(self.source)
        stack = owner.workspace.document.undo_stack
        for field in (self.name, self.source):
            field.undo_requested.connect(stack.undo)
            field.redo_requested.connect(stack.redo)

    def show_module(self, module: ModuleDecl) -> None:
        self.name.show_value(module.name)
        self.source.show_value(module.source)

    def _on_name_edited(self, text: object) -> None:
        self._owner.change(self._index, "name", str(text))

    def _on_source_edited(self, text: object) -> None:
        self._owner.change(self._index, "source", str(text))

    def _on_remove_clicked(self) -> None:
        self._owner.remove(self._index)


class ModulesEditor(QWidget):
    """One card a module, and *Add module*."""

    def __init__(self, theme: Theme, workspace: Workspace) -> None:
        super().__init__()
        self._theme, self.workspace = theme, workspace
        self.cards: list[_ModuleCard] = []
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        self._list = QVBoxLayout()
        self._list.setSpacing(0)
        outer.addLayout(self._list)
        row = QHBoxLayout()
        row.setContentsMargins(12, 8, 12, 0)
        add = Button(theme, tr("Add module"), "own:plus", small=True)
        add.clicked.connect(self.add)
        row.addWidget(add)
        row.addStretch(1)
        outer.addLayout(row)

    def refresh(self) -> None:
        """Shows the modules of the document."""
        modules = self.workspace.document.workflow.modules
        while len(self.cards) > len(modules):
            card = self.cards.pop()
            card.hide()
            card.deleteLater()
        while len(self.cards) < len(modules):
            card = _ModuleCard(self._theme, self, len(self.cards))
            self.cards.append(card)
            self._list.addWidget(card)
        for card, module in zip(self.cards, modules, strict=True):
            card.show_module(module)

    def add(self) -> None:
        """A new module with a free name."""
        modules = self.workspace.document.workflow.modules
        taken = {m.name for m in modules}
        name = next(n for n in ("tools", *(f"tools_{i}" for i in range(2, 1000))) if n not in taken)
        self._write((*modules, ModuleDecl(name=name, source="")), tr("Add module {name}").format(name=name), None)

    def remove(self, index: int) -> None:
        """Takes a module out."""
        modules = self.workspace.document.workflow.modules
        text = tr("Remove module {name}").format(name=modules[index].name)
        self._write((*modules[:index], *modules[index + 1 :]), text, None)

    def change(self, index: int, field: str, value: str) -> None:
        """Changes name or source of a module."""
        modules = list(self.workspace.document.workflow.modules)
        if getattr(modules[index], field) == value:
            return
        modules[index] = modules[index].model_copy(update={field: value})
        text = tr("Change module {name}").format(name=modules[index].name)
        self._write(tuple(modules), text, f"modules.{index}.{field}")

    def _write(self, modules: tuple[ModuleDecl, ...], text: str, merge_key: str | None) -> None:
        self.workspace.document.execute(SetWorkflow({"modules": modules}), text, merge_key)
