"""The rows of a rule: path, comparison, value; groups with *all* or *any*."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from studio.document.conditions import Rule
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button, ComboBox
from studio.ui.widgets.segments import SegmentedControl
from studio.ui.widgets.text_fields import LineField

OPS: tuple[tuple[str, str, bool], ...] = (
    ("contains", "contains", False),
    ("contains", "does not contain", True),
    ("equals", "is", False),
    ("equals", "is not", True),
    ("matches", "matches", False),
    ("matches", "does not match", True),
    (">=", "≥", False),
    (">", ">", False),
    ("<=", "≤", False),
    ("<", "<", False),
    ("type_is", "has type", False),
    ("type_is", "has not type", True),
)
"""(operation, words, negated); ``>=`` and so on are the signs of *compares*."""
_TEXT_OPS = ("contains", "equals", "matches")
"""Operations that may leave case aside."""
_SIGNS = (">=", ">", "<=", "<")


def parsed(text: str, op: str) -> object:
    """The value that a text means: numbers, true, false and quoted texts are read, other texts are themselves."""
    if op in ("contains", "matches", "type_is"):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def written(value: object, op: str) -> str:
    """A value as one types it."""
    if isinstance(value, str):
        reads_else = op in ("equals", *_SIGNS) and not isinstance(parsed(value, op), str)
        return json.dumps(value) if reads_else else value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def is_group(rule: Rule) -> bool:
    """Whether a rule holds other rules side by side."""
    return rule.op in ("and", "or")


def shape(rule: Rule) -> object:
    """What decides whether rows can be kept: the nesting, not the values."""
    return [shape(r) for r in rule.rules] if is_group(rule) else "rule"


def grouped(rule: Rule | None) -> Rule:
    """The rule as a group: a single rule becomes a group of one."""
    if rule is None:
        return Rule(op="and")
    return rule if is_group(rule) else Rule(op="and", rules=(rule,))


def flat(rule: Rule) -> Rule | None:
    """The opposite of :func:`grouped`: a group of one is that one, an empty group is none."""
    if not is_group(rule):
        return rule
    rules = tuple(r for r in (flat(r) for r in rule.rules) if r is not None)
    if len(rules) == 1:
        return rules[0]
    return rule.model_copy(update={"rules": rules}) if rules else None


class RuleRow(QWidget):
    """One rule that compares."""

    edited = Signal()
    remove_requested = Signal(object)

    def __init__(self, theme: Theme, paths: Sequence[str], types: Sequence[str]) -> None:
        super().__init__()
        self._rule = Rule()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        top = QHBoxLayout()
        top.setSpacing(3)
        self.path = ComboBox(theme)
        self.path.addItems(list(paths))
        self.path.make_editable("text")
        self.path.setAccessibleName(tr("What is looked at"))
        self.op = ComboBox(theme)
        self.op.addItems([tr(words) for _, words, _ in OPS])
        self.op.setAccessibleName(tr("Comparison"))
        self.remove = Button(theme, "", "x", "plain", small=True)
        self.remove.setToolTip(tr("Remove this rule"))
        self.remove.setAccessibleName(tr("Remove this rule"))
        self.remove.clicked.connect(self._on_remove_clicked)
        top.addWidget(self.path, 5)
        top.addWidget(self.op, 6)
        top.addWidget(self.remove)
        column.addLayout(top)
        self.value = LineField(theme, tr("Value"))
        self.value.setAccessibleName(tr("Value"))
        self.case = self._make_case(theme)
        below = QHBoxLayout()
        below.setSpacing(3)
        below.addWidget(self.value, 1)
        below.addWidget(self.case)
        column.addLayout(below)
        self._types = tuple(types)
        line = self.path.lineEdit()
        assert line is not None
        line.textEdited.connect(self._on_edited)
        self.path.activated.connect(self._on_edited)
        self.op.activated.connect(self._on_edited)
        self.value.edited.connect(self._on_edited)
        self.case.clicked.connect(self._on_edited)

    def _make_case(self, theme: Theme) -> Button:
        made = Button(theme, "Aa", "", "plain", small=True)
        made.setCheckable(True)
        made.setChecked(True)
        made.setToolTip(tr("Match case"))
        made.setAccessibleName(tr("Match case"))
        return made

    def tab_stops(self) -> list[QWidget]:
        """What Tab reaches in the row, as it is read."""
        return [self.path, self.op, self.remove, self.value, self.case]

    @property
    def rule(self) -> Rule:
        """The rule as the row shows it."""
        op, _, negated = OPS[max(0, self.op.currentIndex())]
        inner = self._inner()
        path = self.path.currentText().strip() or "text"
        values: dict[str, Any] = {"path": path, "value": parsed(self.value.text(), op)}
        if op in _SIGNS:
            values |= {"op": "compares", "compare": op}
        else:
            values |= {"op": op}
        if op == "type_is":
            values["path"] = "type"
        if op in _TEXT_OPS:
            values["ignore_case"] = not self.case.isChecked()
        made = inner.model_copy(update=values)
        return Rule(op="not", rules=(made,)) if negated else made

    def show_rule(self, rule: Rule) -> None:
        """Shows a rule; emits nothing."""
        self._rule = rule
        negated = rule.op == "not" and bool(rule.rules)
        inner = self._inner()
        sign: str = inner.compare if inner.op == "compares" else inner.op
        if sign in ("==", "!="):
            sign, negated = "equals", sign == "!="
        index = next((i for i, (op, _, no) in enumerate(OPS) if op == sign and no == negated), 0)
        self.op.setCurrentIndex(index)
        line = self.path.lineEdit()
        assert line is not None
        if line.text() != inner.path:
            line.setText(inner.path)
        if parsed(self.value.text(), sign) != inner.value or not self.value.hasFocus():
            self.value.show_value(written(inner.value, sign))
        self.path.setEnabled(sign != "type_is")
        self.case.setChecked(not inner.ignore_case)
        self.case.setVisible(sign in _TEXT_OPS)

    def _inner(self) -> Rule:
        return self._rule.rules[0] if self._rule.op == "not" and self._rule.rules else self._rule

    def _on_edited(self, _value: object) -> None:
        op = OPS[max(0, self.op.currentIndex())][0]
        self.path.setEnabled(op != "type_is")
        self.case.setVisible(op in _TEXT_OPS)
        self.edited.emit()

    def _on_remove_clicked(self) -> None:
        self.remove_requested.emit(self)


class RuleGroup(QWidget):
    """Rules of which all or any must be true; groups inside groups are indented by a line."""

    edited = Signal()
    remove_requested = Signal(object)
    structured = Signal()
    """It has another row, here or in a group inside."""

    def __init__(self, theme: Theme, paths: Sequence[str], types: Sequence[str], *, inner: bool = False) -> None:
        super().__init__()
        self._theme, self._paths, self._types, self._is_inner = theme, tuple(paths), tuple(types), inner
        self._rows: list[RuleRow | RuleGroup] = []
        self._buttons: tuple[QWidget, ...] = ()
        column = QVBoxLayout(self)
        column.setContentsMargins(10 if inner else 0, 0, 0, 0)
        column.setSpacing(6)
        self._mode_row = QWidget()
        modes = QHBoxLayout(self._mode_row)
        modes.setContentsMargins(0, 0, 0, 0)
        self.mode = SegmentedControl(theme, (("and", tr("All are true")), ("or", tr("Any is true"))), small=True)
        self.mode.setAccessibleName(tr("How many of the rules are to be true"))
        self.mode.show_value("and")
        self.mode.edited.connect(self._on_changed)
        modes.addWidget(self.mode)
        modes.addStretch(1)
        column.addWidget(self._mode_row)
        self._list = QVBoxLayout()
        self._list.setSpacing(6)
        column.addLayout(self._list)
        column.addLayout(self._make_buttons())
        if not inner:
            self.structured.connect(self._order_tab_stops)

    @property
    def rule(self) -> Rule:
        """The group as it is shown."""
        op: Any = self.mode.value or "and"
        return Rule(op=op, rules=tuple(row.rule for row in self._rows))

    def show_rule(self, rule: Rule) -> None:
        """Shows a group. Rows are kept when only values differ, so that the cursor stays."""
        self.mode.show_value(rule.op)
        if shape(rule) != shape(self.rule):
            self._rebuild(rule)
        for row, part in zip(self._rows, rule.rules, strict=True):
            row.show_rule(part)
        self._mode_row.setVisible(len(self._rows) > 1)

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self._is_inner:
            painter = QPainter(self)
            painter.fillRect(2, 2, 2, self.height() - 4, self._theme.color("border"))

    def add_rule(self) -> None:
        """Puts a new rule at the end."""
        self._append(RuleRow(self._theme, self._paths, self._types))
        self._on_changed()

    def add_group(self) -> None:
        """Puts a new group with two rules at the end."""
        group = RuleGroup(self._theme, self._paths, self._types, inner=True)
        self._append(group)
        group.show_rule(Rule(op="or", rules=(Rule(), Rule())))
        self._on_changed()

    def _make_buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(4)
        add = Button(self._theme, tr("Add rule"), "own:plus", "plain", small=True)
        add.clicked.connect(self.add_rule)
        row.addWidget(add)
        if self._is_inner:
            drop = Button(self._theme, tr("Remove group"), "x", "plain", small=True)
            drop.clicked.connect(self._on_drop_clicked)
            row.addWidget(drop)
            self._buttons = (add, drop)
        else:
            group = Button(self._theme, tr("Add group"), "own:plus", "plain", small=True)
            group.clicked.connect(self.add_group)
            row.addWidget(group)
            self._buttons = (add, group)
        row.addStretch(1)
        return row

    def tab_stops(self) -> list[QWidget]:
        """What Tab reaches in the group, as it is read."""
        inner = [stop for row in self._rows for stop in row.tab_stops()]
        return [self.mode, *inner, *self._buttons]

    def _order_tab_stops(self) -> None:
        """Qt goes through widgets in the order in which they were made: rows came after the buttons below them."""
        for before, after in itertools.pairwise(self.tab_stops()):
            QWidget.setTabOrder(before, after)

    def _rebuild(self, rule: Rule) -> None:
        for row in list(self._rows):
            self._take_out(row)
        for part in rule.rules:
            if is_group(part):
                self._append(RuleGroup(self._theme, self._paths, self._types, inner=True))
            else:
                self._append(RuleRow(self._theme, self._paths, self._types))

    def _append(self, row: RuleRow | RuleGroup) -> None:
        row.edited.connect(self._on_changed)
        if isinstance(row, RuleGroup):
            row.structured.connect(self.structured)
        row.remove_requested.connect(self._on_row_remove_requested)
        self._rows.append(row)
        self._list.addWidget(row)
        self.structured.emit()

    def _take_out(self, row: RuleRow | RuleGroup) -> None:
        self._rows.remove(row)
        self._list.removeWidget(row)
        row.hide()
        row.deleteLater()

    def _on_row_remove_requested(self, row: RuleRow | RuleGroup) -> None:
        self._take_out(row)
        self._on_changed()

    def _on_drop_clicked(self) -> None:
        self.remove_requested.emit(self)

    def _on_changed(self, _value: object = None) -> None:
        self._mode_row.setVisible(len(self._rows) > 1)
        self.edited.emit()
