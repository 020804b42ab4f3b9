"""The tools of a workflow in the inspector: a card for each, written here, of a module, or left to the caller."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QWidget

from studio.bridge.workspace import Workspace
from studio.document import tool_edits, tools
from studio.document.model import ToolDecl
from studio.document.problems import Problem
from studio.ui.inspector import builder
from studio.ui.inspector.agent_fields import schema_shown, schema_typed
from studio.ui.inspector.declared import Card, Cards, Declared
from studio.ui.inspector.form import Refused
from studio.ui.inspector.schema_editor import SchemaEditor
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.field import Field
from studio.ui.widgets.labels import Prose
from studio.ui.widgets.segments import SegmentedControl
from studio.ui.widgets.text_fields import LineField

_LARGEST = 1_000_000
"""Bytes of a Python file that is imported."""


class NameField(LineField):
    """A name that changes when the field is left: half a name is nobody's name."""

    renamed = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, mono=True)
        self.left.connect(lambda: self.renamed.emit(self.text().strip()))


class ToolCard(Card):
    """One tool."""

    def __init__(self, theme: Theme, target: Declared, remove: Callable[[int], None]) -> None:
        super().__init__(theme, target, remove)
        target.check = self._problems
        self._name = NameField(theme)
        self._name.renamed.connect(self._on_name_renamed)
        self._name_field = Field(theme, tr("Name"), self._name, resettable=False)
        self.add(self._name_field)
        choices = (("written", tr("Written here")), ("module", tr("From a module")), ("caller", tr("Caller answers")))
        self._where = SegmentedControl(theme, choices)
        self._where.edited.connect(self._on_where_edited)
        self._where_field = Field(theme, tr("Code"), self._where, resettable=False)
        self.add(self._where_field)
        self._add_code()
        hint = tr("The model reads it to know when to call the tool.")
        self.add(builder.text(self.form, "description", tr("Description"), lines=2, hint=hint, marked=False))
        self._add_parameters()
        self._add_run()

    def _add_code(self) -> None:
        hint = tr("Runs in the worker process. Its typed parameters become the parameters of the tool.")
        self._source = builder.code(self.form, "source", tr("Function"), hint=hint, lines=7)
        self.add(self._source)
        self._call = builder.choice(
            self.form, "call", tr("Function of a module"), (), free="module:function", marked=False
        )
        self.add(self._call)
        self._said = Prose(self.theme, "", "small", "muted", 15)
        self._said.setContentsMargins(12, 3, 12, 0)
        self.add(self._said)

    def _add_parameters(self) -> None:
        self.add(
            builder.code(
                self.form,
                "parameters",
                tr("Parameters (JSON Schema)"),
                language="json",
                lines=4,
                typed=_object_typed,
                shown=schema_shown,
            )
        )
        self._take = Button(self.theme, tr("Take the parameters from the code"), kind="link")
        self._take.clicked.connect(self._on_take_clicked)
        holder = QWidget()
        row = QHBoxLayout(holder)
        row.setContentsMargins(12, 3, 12, 0)
        row.addWidget(self._take)
        row.addStretch(1)
        self._take_row = holder
        self.add(holder)

    def _add_run(self) -> None:
        choices = (("never", tr("Run at once")), ("always", tr("Ask first")))
        hint = tr("At run time: Ask first holds the node until a person approves, refuses or changes the call.")
        self._approval = builder.segments(self.form, "approval", tr("Approval"), choices, hint=hint)
        self.add(self._approval)
        seconds = builder.number(
            self.form, "timeout", tr("Seconds"), least=0.1, most=86_400, placeholder=tr("as usual")
        )
        runs = builder.number(
            self.form, "max_invocations", tr("Runs, at most"), least=1, most=1_000_000, whole=True,
            placeholder=tr("no limit"),
        )  # fmt: skip
        errors = builder.number(
            self.form, "max_invocation_exceptions", tr("Failures"), least=1, most=1_000_000, whole=True,
            placeholder=tr("no limit"),
        )  # fmt: skip
        width = self.theme.length(96)
        self._limits = builder.beside((runs, 0), (errors, width), (seconds, width))
        self.add(self._limits)
        choices = (("text", tr("Text")), ("json", tr("JSON")))
        hint = tr("Text: a text as it is, anything else as JSON. JSON: a text in quotes too.")
        self._result = builder.segments(self.form, "result", tr("Result for the model"), choices, hint=hint)
        self.add(self._result)
        hint = tr("The form in which whoever runs the workflow gives the result here. It is not exported.")
        self._answer = Field(self.theme, tr("Fields of the result"), SchemaEditor(self.theme), hint=hint)
        self.form.bind("result_schema", self._answer)
        self.add(self._answer)
        hint = tr("It sends, pays, deletes or the like. If its node fails later, the run says that it already ran.")
        self._effects = builder.check(self.form, "has_effects", tr("Has effects outside"), hint)
        self.add(self._effects)

    # ------------------------------------------------------------------------------------------------------- show

    def refresh(self) -> None:
        super().refresh()
        tool = self.target.item
        where = tool_edits.code_of(tool)
        if not self._name.hasFocus():
            self._name.show_value(tool.name)
        self._where.show_value(where)
        self._source.setVisible(where == "written")
        self._call.setVisible(where == "module")
        self._answer.setVisible(where == "caller")
        for field in (self._approval, self._limits, self._result, self._effects):
            field.setVisible(where != "caller")
        workflow = self.workspace.document.workflow
        box = self._call.editor
        if isinstance(box, builder.ChoiceBox):
            box.follow_choices([(name, name) for name in tools.importable(workflow)])
            box.show_value(tool.call)
        self._show_signature(tool)

    def _problems(self) -> tuple[Problem, ...]:
        tool = self.target.item
        written = tool_edits.code_of(tool) == "written" and tool.source.strip()
        found = tools.source_problem(tool.source) if written else None
        if found is None:
            return ()
        words = tr("Line {line}: {message}.").format(line=found.line, message=found.message)
        return (Problem("syntax", words, "", "source"),)

    def _show_signature(self, tool: ToolDecl) -> None:
        where = tool_edits.code_of(tool)
        said = tools.signature_of(self.workspace.document.workflow, tool) if where != "caller" else None
        self._said.set_text(_signature_words(said) if said is not None else tr("The caller of the run gives results.")
                            if where == "caller" else "")  # fmt: skip
        self._said.setVisible(bool(self._said.plain))
        self._take_row.setVisible(said is not None and said.parameters != tool.parameters)

    def summary(self) -> str:
        tool: ToolDecl = self.target.item
        where = {
            "written": tr("written here"), "module": tool.call, "caller": tr("caller answers"),
        }[tool_edits.code_of(tool)]  # fmt: skip
        return f"{where} · {tr('asks first')}" if tool.approval == "always" else where

    # ------------------------------------------------------------------------------------------------------- edit

    def _on_name_renamed(self, name: str) -> None:
        tool = self.target.item
        if name == tool.name:
            self._name_field.set_problem("error", "")
            return
        edit = tool_edits.rename_tool(self.workspace.document.workflow, self.target.index, name)
        if isinstance(edit, Problem):
            self._name_field.set_problem("error", edit.message)
            return
        self._name_field.set_problem("error", "")
        self.workspace.document.execute(edit, tr("Rename tool {old} to {new}").format(old=tool.name, new=name))

    def _on_where_edited(self, value: object) -> None:
        workflow, index = self.workspace.document.workflow, self.target.index
        edit = tool_edits.set_code_of(workflow, index, value)  # type: ignore[arg-type]
        self.workspace.document.execute(edit, self.target.step_text("code"))

    def _on_take_clicked(self) -> None:
        self.target.write("from_code", (*self.target.item.from_code, "parameters"))


class ToolCards(Cards):
    """All tools, *Add tool* and *Import from a file…*."""

    def __init__(self, theme: Theme, workspace: Workspace) -> None:
        super().__init__(theme, workspace, "tools", ToolCard, tool_edits.set_tool, tool_edits.remove_tool, tr("tool"))
        add = Button(theme, tr("Add tool"), "own:plus", small=True)
        add.clicked.connect(self._on_add_clicked)
        read = Button(theme, tr("Import from a file…"), kind="plain", small=True)
        read.setToolTip(tr("Adds a Python file as a module, with a tool for each of its public functions"))
        read.clicked.connect(self._on_import_clicked)
        self._problem = Prose(theme, "", "small", "fail_t", 15)
        self._problem.setContentsMargins(12, 4, 12, 0)
        self._problem.hide()
        for button in (add, read):
            self.buttons.addWidget(button)
        self.buttons.addStretch(1)
        outer = self.layout()
        assert outer is not None
        outer.addWidget(self._problem)

    def _on_add_clicked(self) -> None:
        self.execute(tool_edits.add_tool(self.workspace.document.workflow), tr("Add tool"))

    def _on_import_clicked(self) -> None:
        path = self.workspace.document.path
        dialog = QFileDialog(self, tr("Import functions"), str(path.parent if path is not None else Path.home()))
        dialog.setObjectName("file_dialog")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilter(tr("Python files (*.py)"))
        dialog.fileSelected.connect(lambda file: self.import_file(Path(file)))
        dialog.open()

    def import_file(self, file: Path) -> None:
        """Adds a Python file as a module, with a tool for each of its public functions. Nothing of it is run."""
        problem, source = "", ""
        try:
            if file.stat().st_size > _LARGEST:
                problem = tr("{file} is larger than 1 MB.").format(file=file.name)
            else:
                source = file.read_text(encoding="utf-8")
        except (OSError, UnicodeError) as error:
            problem = tr("{file} cannot be read: {reason}.").format(file=file.name, reason=error)
        found = None if problem else tools.source_problem(source)
        if found is not None:
            words = tr("{file} gives no tools: {reason}, line {line}.")
            problem = words.format(file=file.name, reason=found.message, line=found.line)
        self._problem.set_text(problem)
        self._problem.setVisible(bool(problem))
        if not problem:
            edit = tool_edits.import_module(self.workspace.document.workflow, file.stem, source)
            self.execute(edit, tr("Import {file}").format(file=file.name))


def _signature_words(said: tools.Signature) -> str:
    properties: Any = said.parameters.get("properties", {})
    kind = tr("async function") if said.is_async else tr("function")
    words = tr("{kind} {name}({parameters})").format(kind=kind, name=said.name, parameters=", ".join(properties))
    if said.returns:
        words += f" → {said.returns}"
    if said.unclear:
        words += ". " + tr("Without a type: {names}; the model may give anything there.").format(
            names=", ".join(said.unclear)
        )
    return words


def _object_typed(text: str) -> object:
    value = schema_typed(text)
    if value is None:
        return {"type": "object", "properties": {}}
    if isinstance(value, dict) and value.get("type", "object") != "object":
        raise Refused(tr("The parameters of a tool are an object."))
    return value
