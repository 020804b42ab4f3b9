"""Edits a condition: always, rules, an expression, or Python; with its label as the canvas shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from studio.document.conditions import Condition, Rule, describe
from studio.document.rule_expression import as_expression
from studio.ui.inspector.rule_rows import RuleGroup, flat, grouped
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.code import CodeEditor
from studio.ui.widgets.labels import Chip, Label, Prose
from studio.ui.widgets.segments import SegmentedControl
from studio.ui.widgets.text_fields import LineField


class ConditionEditor(QWidget):
    """Shows a condition or None (always true); ``edited`` gives the new one."""

    edited = Signal(object)
    undo_requested = Signal()
    redo_requested = Signal()

    def __init__(
        self,
        theme: Theme,
        paths: Sequence[str],
        types: Sequence[str],
        *,
        always: bool = True,
        python: bool = True,
        without: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme, self._without = theme, without  # the latter in words; "" for those of a line
        self._condition: Condition | None = None
        names = {"always": tr("Always"), "rules": tr("Rules"), "expression": tr("Expression"), "python": tr("Python")}
        left_out = {kind for kind, there in (("always", always), ("python", python)) if not there}
        choices = [(kind, name) for kind, name in names.items() if kind not in left_out]
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        self.kind = SegmentedControl(theme, choices)
        self.kind.setAccessibleName(tr("Kind of condition"))
        self.kind.edited.connect(self._on_kind_edited)
        first = QHBoxLayout()
        first.addWidget(self.kind)
        first.addStretch(1)
        column.addLayout(first)
        self.rules = RuleGroup(theme, paths, types)
        self.rules.edited.connect(self._on_rules_edited)
        self.expression = LineField(theme, "value.score >= 8 and not value.needs", mono=True)
        self.expression.setAccessibleName(tr("Expression"))
        self.expression.edited.connect(self._on_expression_edited)
        self.body = CodeEditor(theme, "python", "return len(text) > 400", lines=4)
        self.body.setAccessibleName(tr("Python predicate"))
        self.body.edited.connect(self._on_body_edited)
        self._pages: dict[str, QWidget] = {}
        """One is shown. No stack: that would keep the height of the highest."""
        self._add_pages(column)
        self._chip = Chip(theme, "", elided=True)
        column.addLayout(self._make_label_row())

    def show_value(self, value: object) -> None:
        """Shows a condition; emits nothing."""
        condition = value if isinstance(value, Condition) else None
        self._condition = condition
        kind = condition.kind if condition is not None else "always"
        self.kind.show_value(kind)
        self._show_page(kind)
        if condition is not None and kind == "rules":
            shown = grouped(condition.rule)
            if flat(self.rules.rule) != flat(shown):
                self.rules.show_rule(shown)
        elif condition is not None and kind == "expression":
            self.expression.show_value(condition.expression)
        elif condition is not None:
            self.body.show_value(condition.body)
        self._chip.set_text(describe(condition))

    def _add_pages(self, column: QVBoxLayout) -> None:
        for field in (self.expression, self.body):
            field.undo_requested.connect(self.undo_requested)
            field.redo_requested.connect(self.redo_requested)
        self._pages["always"] = Prose(self._theme, self._without or tr("Every message passes."), "small", "muted", 15)
        self._pages["rules"] = self.rules
        hint = tr("In scope: text, value (structured reply or record), type. A missing field is None.")
        self._pages["expression"] = self._with_hint(self.expression, hint)
        hint = tr("Returns true or false; runs in the worker process of this workflow. In scope: text, value, type.")
        self._pages["python"] = self._with_hint(self.body, hint)
        for page in self._pages.values():
            column.addWidget(page)

    def _with_hint(self, editor: QWidget, hint: str) -> QWidget:
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3)
        column.addWidget(editor)
        column.addWidget(Prose(self._theme, hint, "small", "muted", 15))
        return holder

    def _make_label_row(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addWidget(Label(self._theme, tr("Shown as"), "small", "muted"))
        row.addWidget(self._chip)
        row.addStretch(1)
        return row

    def _show_page(self, kind: str) -> None:
        for name, page in self._pages.items():
            if name != kind:
                page.hide()
        self._pages[kind].show()

    def _on_kind_edited(self, kind: Any) -> None:
        if kind == "always":
            self._take(None)
            return
        now = self._condition or Condition()
        values: dict[str, object] = {"kind": kind}
        if kind == "rules" and now.rule is None:
            values["rule"] = Rule()
        if kind == "expression" and now.kind == "rules" and not now.expression:
            values["expression"] = as_expression(now.rule)
        self._take(now.model_copy(update=values))

    def _on_rules_edited(self) -> None:
        now = self._condition or Condition()
        self._emit(now.model_copy(update={"kind": "rules", "rule": flat(self.rules.rule)}))

    def _on_expression_edited(self, text: Any) -> None:
        now = self._condition or Condition()
        self._emit(now.model_copy(update={"kind": "expression", "expression": text}))

    def _on_body_edited(self, text: Any) -> None:
        now = self._condition or Condition()
        self._emit(now.model_copy(update={"kind": "python", "body": text}))

    def _take(self, condition: Condition | None) -> None:
        self.show_value(condition)
        self.edited.emit(condition)

    def _emit(self, condition: Condition) -> None:
        self._condition = condition
        self._chip.set_text(describe(condition))
        self.edited.emit(condition)
