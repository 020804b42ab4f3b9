"""The pages of edges: direct, switch, fan-out, fan-in and the rest."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from studio.bridge.workspace import Workspace
from studio.document.commands import order_cases, set_condition, set_label
from studio.document.conditions import Condition, Rule
from studio.document.lines import Line, default_id, leg_id, line, name_of
from studio.document.model import DirectEdge, FanOutEdge, SwitchEdge, Workflow
from studio.document.types import type_names
from studio.ui.inspector import builder
from studio.ui.inspector.condition_editor import ConditionEditor
from studio.ui.inspector.form import Form
from studio.ui.inspector.offers import code_offers, expression_offers, value_fields
from studio.ui.inspector.page import InspectorPage
from studio.ui.inspector.target import Items
from studio.ui.inspector.truth_table import Column, TruthTable
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.completion import Completion
from studio.ui.widgets.field import CheckField, Field
from studio.ui.widgets.labels import Prose
from studio.ui.widgets.section import Section
from studio.ui.widgets.text_fields import LineField

_NEVER = Condition(rule=Rule(op="or"))
"""An unfinished case takes nothing."""


def paths_of(workflow: Workflow, source: str | None) -> list[str]:
    """What a rule about a message of this node can look at."""
    return ["text", "value", *(f"value.{p}" for p in value_fields(workflow, source)), "type"]


def typed_field(before: object, after: object) -> str:
    """The field of a condition that was typed in; "" for what is chosen: another kind, operator or number of rules."""
    if not isinstance(before, Condition) or not isinstance(after, Condition) or before.kind != after.kind:
        return ""
    if after.kind != "rules":
        return after.kind
    if before.rule is None or after.rule is None or _chosen(before.rule) != _chosen(after.rule):
        return ""
    return "rules"


def _chosen(rule: Rule) -> Rule:
    """A rule without what is typed."""
    return rule.model_copy(update={"path": "", "value": None, "rules": tuple(_chosen(r) for r in rule.rules)})


class LineFields(QWidget):
    """Condition and label of one line, written by the commands of the document."""

    def __init__(self, theme: Theme, workspace: Workspace, line_id: str, source: str | None, *, always: bool) -> None:
        super().__init__()
        self._workspace, self._id = workspace, line_id
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        workflow = workspace.document.workflow
        self.editor = ConditionEditor(theme, paths_of(workflow, source), type_names(workflow), always=always)
        self.field = Field(theme, tr("Condition"), self.editor, resettable=False)
        self.editor.edited.connect(self._on_condition_edited)
        self._offer(theme)
        column.addWidget(self.field)
        self.label = LineField(theme, "")
        self._label_field = Field(theme, tr("Label"), self.label)
        self.label.edited.connect(self._on_label_edited)
        column.addWidget(self._label_field)
        found = line(workflow, line_id)
        self._label_field.setVisible(found is None or found.kind != "leg")
        self.table = TruthTable(theme, workspace, lambda: source, self._columns)
        if found is None or found.kind != "case":
            column.addWidget(self.table)
        stack = workspace.document.undo_stack
        for typed in (self.editor, self.label):
            typed.undo_requested.connect(stack.undo)
            typed.redo_requested.connect(stack.redo)

    def _offer(self, theme: Theme) -> None:
        """Completion in expressions and predicates."""

        def workflow() -> Workflow:
            return self._workspace.document.workflow

        expression, body = self.editor.expression, self.editor.body
        expression.completion = Completion(theme, expression, expression_offers(workflow, self._id))
        body.completion = Completion(theme, body, code_offers(workflow, ("text", "value", "type", "state")))

    def refresh(self) -> None:
        """Shows the line as it is. Raises ``KeyError`` when it is gone."""
        found = self._line()
        self.editor.show_value(found.condition)
        self.label.show_value(self._written_label())
        self.label.setPlaceholderText(tr("the condition in words"))
        self.refresh_table()

    def refresh_table(self) -> None:
        """Asks the recorded messages again; the cases of a switch are asked together, by their page."""
        found = line(self._workspace.document.workflow, self._id)
        if found is not None and found.kind != "case":
            self.table.refresh()

    def _columns(self) -> list[Column]:
        condition = self._line().condition
        return [Column(tr("condition"), condition)] if condition is not None else []

    def refresh_problems(self) -> None:
        """Shows the problem of the condition."""
        problem = next((p for p in self._workspace.problems.at(self._id) if p.field == "condition"), None)
        self.field.set_problem(problem.severity if problem else "error", problem.message if problem else "")

    def container(self, field: str) -> QWidget:
        """The field of the label, or of the condition."""
        return self._label_field if field == "label" else self.field

    def _line(self) -> Line:
        found = line(self._workspace.document.workflow, self._id)
        if found is None:
            raise KeyError(self._id)
        return found

    def _written_label(self) -> str:
        found = self._line()
        edge = self._workspace.document.workflow.edge(found.edge)
        if isinstance(edge, DirectEdge):
            return edge.label
        if isinstance(edge, SwitchEdge):
            return next((c.label for c in edge.cases if c.id == self._id), "")
        return ""

    def _on_condition_edited(self, condition: object) -> None:
        document = self._workspace.document
        typed = typed_field(self._line().condition, condition)
        edit = set_condition(document.workflow, self._id, condition)  # type: ignore[arg-type]
        key = f"{self._id}.condition.{typed}" if typed else None
        document.execute(edit, tr("Change the condition"), key)

    def _on_label_edited(self, text: object) -> None:
        document = self._workspace.document
        edit = set_label(document.workflow, self._id, str(text))
        document.execute(edit, tr("Change the label"), f"{self._id}.label")


class DirectPage(InspectorPage):
    """One edge: its condition."""

    def __init__(self, theme: Theme, workspace: Workspace, edge_id: str) -> None:
        super().__init__(theme, workspace, "direct")
        self._id = edge_id
        edge = workspace.document.workflow.edge(edge_id)
        if not isinstance(edge, DirectEdge):
            raise KeyError(edge_id)
        self.fields = LineFields(theme, workspace, edge_id, edge.source, always=True)
        self.body.add(self.fields)
        hint = tr("At run time: a message goes over this edge only when the condition is true.")
        prose = Prose(theme, hint, "small", "muted", 15)
        prose.setContentsMargins(12, 8, 12, 0)
        self.body.add(prose)

    def refresh(self) -> None:
        workflow = self.workspace.document.workflow
        edge = workflow.edge(self._id)
        if not isinstance(edge, DirectEdge):
            raise KeyError(self._id)
        self.header.title.set_text(f"{name_of(workflow, edge.source)} → {name_of(workflow, edge.target)}")
        self.header.subtitle.setText(tr("Edge") if edge.condition is None else tr("Edge with a condition"))
        self.fields.refresh()
        super().refresh()

    def refresh_run(self) -> None:
        self.fields.refresh_table()

    def refresh_problems(self) -> None:
        self.fields.refresh_problems()
        self.problems.show_problems([p for p in self.workspace.problems.at(self._id) if p.field != "condition"])

    def container_of(self, item: str, field: str) -> QWidget | None:
        return self.fields.container(field)

    def focus_field(self, name: str) -> bool:
        target = self.fields.label if name == "label" else self.fields.editor.kind
        target.setFocus()
        return True


class SwitchPage(InspectorPage):
    """The ordered cases of a switch, and its default."""

    def __init__(self, theme: Theme, workspace: Workspace, edge_id: str) -> None:
        super().__init__(theme, workspace, "switch")
        self._id = edge_id
        self._items: tuple[str, ...] = ()
        edge = self._edge()
        self.form = Form(theme, workspace, Items(workspace, "edges", (edge_id,)), self)
        self.header.show_id(edge_id)
        self.body.add(builder.line(self.form, "name", tr("Name"), marked=False))
        hint = tr("At run time: the first case that is true wins. The default takes what no case takes.")
        prose = Prose(theme, hint, "small", "muted", 15)
        prose.setContentsMargins(12, 6, 12, 0)
        self.body.add(prose)
        self.cases: dict[str, LineFields] = {}
        self._sections: dict[str, Section] = {}
        for number, case in enumerate(edge.cases):
            self._add_case(edge, number, case.id)
        self._add_default()
        self.table = TruthTable(theme, workspace, lambda: self._edge().source, self._columns, first_wins=True)
        self.body.add(self.table)

    def refresh(self) -> None:
        edge = self._edge()
        workflow = self.workspace.document.workflow
        self.header.title.set_text(edge.name)
        self.header.subtitle.setText(tr("Switch after {name} · id").format(name=name_of(workflow, edge.source or "–")))
        for number, case in enumerate(edge.cases):
            self.cases[case.id].refresh()
            found = line(workflow, case.id)
            self._sections[case.id].set_title(f"{number + 1}  {found.label if found else ''}")
            self._sections[case.id].set_summary(f"→ {name_of(workflow, case.target)}")
        target = name_of(workflow, edge.default) if edge.default else tr("nowhere")
        self._default.set_summary(f"→ {target}")
        self.table.refresh()
        super().refresh()

    def refresh_run(self) -> None:
        self.table.refresh()

    def _columns(self) -> list[Column]:
        edge, workflow = self._edge(), self.workspace.document.workflow
        numbered = enumerate(edge.cases, 1)
        cases = [Column(str(n), c.condition or _NEVER, name_of(workflow, c.target)) for n, c in numbered]
        return [*cases, Column("–", None, name_of(workflow, edge.default))] if edge.default else cases

    def refresh_problems(self) -> None:
        super().refresh_problems()
        for fields in self.cases.values():
            fields.refresh_problems()

    def show_items(self, items: Sequence[str]) -> None:
        if tuple(items) != self._items:
            self._items = tuple(items)
            for item in items:
                self.show_case(item)

    def container_of(self, item: str, field: str) -> QWidget | None:
        if item in self.cases:
            return self.cases[item].container(field)
        return super().container_of(item, field)

    def focus_field(self, name: str) -> bool:
        fields = next((self.cases[i] for i in self._items if i in self.cases), None)
        if fields is None or name not in ("condition", "label"):
            return super().focus_field(name)
        (fields.label if name == "label" else fields.editor.kind).setFocus()
        return True

    def show_case(self, case_id: str) -> None:
        """Unfolds one case and brings it into view."""
        section = self._sections.get(case_id)
        if section is not None:
            section.set_open(True)
            QTimer.singleShot(0, section, partial(self._bring_up, section))  # a new page is not laid out yet

    def _bring_up(self, section: Section) -> None:
        """Scrolls as little as shows all of a section; of a long one its beginning."""
        bar, height = self.body.verticalScrollBar(), self.body.viewport().height()
        self.body.body.activate()
        top, bottom = section.y(), section.y() + section.height()
        if bottom > bar.value() + height:
            bar.setValue(min(top, bottom - height))
        elif top < bar.value():
            bar.setValue(top)

    def move_case(self, case_id: str, step: int) -> None:
        """Moves a case up (-1) or down (1)."""
        ids = [c.id for c in self._edge().cases]
        at = ids.index(case_id)
        if 0 <= at + step < len(ids):
            ids[at], ids[at + step] = ids[at + step], ids[at]
            document = self.workspace.document
            document.execute(order_cases(document.workflow, self._id, ids), tr("Order the cases"))

    def _edge(self) -> SwitchEdge:
        edge = self.workspace.document.workflow.edge(self._id)
        if not isinstance(edge, SwitchEdge):
            raise KeyError(self._id)
        return edge

    def _add_case(self, edge: SwitchEdge, number: int, case_id: str) -> None:
        section = Section(self.theme, str(number + 1))
        fields = LineFields(self.theme, self.workspace, case_id, edge.source, always=False)
        section.add(fields)
        section.add(self._move_row(case_id, number, len(edge.cases)))
        self.cases[case_id], self._sections[case_id] = fields, section
        self.body.add(section)

    def _move_row(self, case_id: str, number: int, total: int) -> QWidget:
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(12, 8, 12, 0)
        layout.setSpacing(4)
        for text, icon, step in ((tr("Move up"), "chevron-up", -1), (tr("Move down"), "chevron-down", 1)):
            button = Button(self.theme, text, icon, small=True)
            button.setEnabled(0 <= number + step < total)
            button.clicked.connect(lambda _=False, s=step: self.move_case(case_id, s))
            layout.addWidget(button)
        layout.addStretch(1)
        return row

    def _add_default(self) -> None:
        assert self.form is not None
        self._default = Section(self.theme, tr("Default"))
        self._default.add(builder.line(self.form, "default_label", tr("Label"), placeholder=tr("default")))
        self.body.add(self._default)
        self._sections[default_id(self._id)] = self._default


class FanOutPage(InspectorPage):
    """The targets of a fan-out; with a selection, a condition for each."""

    def __init__(self, theme: Theme, workspace: Workspace, edge_id: str) -> None:
        super().__init__(theme, workspace, "fan_out")
        self._id = edge_id
        edge = self._edge()
        self.form = Form(theme, workspace, Items(workspace, "edges", (edge_id,)), self)
        self.header.show_id(edge_id)
        self.body.add(builder.line(self.form, "name", tr("Name"), marked=False))
        self._choose = CheckField(theme, tr("Choose the targets for each message"), "")
        self._choose.edited.connect(self._on_choose_edited)
        self.body.add(self._choose)
        self.targets: dict[str, LineFields] = {}
        self._sections: dict[str, Section] = {}
        self._plain = Prose(theme, "", "body", "text2", 17)
        self._plain.setContentsMargins(12, 10, 12, 0)
        self.body.add(self._plain)
        self._plain.setVisible(edge.selection is None)
        for target in edge.targets if edge.selection is not None else ():
            section = Section(theme, target)
            fields = LineFields(theme, workspace, leg_id(edge_id, target), edge.source, always=True)
            section.add(fields)
            self.targets[target] = fields
            self._sections[target] = section
            self.body.add(section)

    def refresh(self) -> None:
        edge = self._edge()
        workflow = self.workspace.document.workflow
        self.header.title.set_text(edge.name)
        self.header.subtitle.setText(tr("Fan-out after {name} · id").format(name=name_of(workflow, edge.source or "–")))
        self._choose.show_value(edge.selection is not None)
        if edge.selection is None:
            self._choose.set_hint(tr("At run time: every target gets every message. Default: off."))
        else:
            self._choose.set_hint(tr("At run time: a target gets a message when its condition is true."))
        names = ", ".join(name_of(workflow, t) for t in edge.targets)
        self._plain.set_text(tr("To {names}.").format(names=names) if names else tr("Draw edges from the bar."))
        for target, section in self._sections.items():
            section.set_title(name_of(workflow, target))
        for fields in self.targets.values():
            fields.refresh()
        super().refresh()

    def refresh_run(self) -> None:
        for fields in self.targets.values():
            fields.refresh_table()

    def container_of(self, item: str, field: str) -> QWidget | None:
        target = item.removeprefix(leg_id(self._id, ""))
        if target in self.targets:
            return self.targets[target].container(field)
        return super().container_of(item, field)

    def _edge(self) -> FanOutEdge:
        edge = self.workspace.document.workflow.edge(self._id)
        if not isinstance(edge, FanOutEdge):
            raise KeyError(self._id)
        return edge

    def _on_choose_edited(self, on: bool) -> None:
        assert self.form is not None
        self.form.target.write("selection", {} if on else None)
