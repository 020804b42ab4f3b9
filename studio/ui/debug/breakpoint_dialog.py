"""Makes or changes a breakpoint: what it stops at, on which condition, from which time on, or what it logs instead."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from studio.bridge.workspace import Workspace
from studio.debugger.breakpoints import BUDGETS, Breakpoint, Kind, moments, problem
from studio.document.conditions import Condition
from studio.document.state_keys import state_keys
from studio.ui.debug.linked_files import LinkedFiles
from studio.ui.debug.places import KIND_WORDS, TYPED, places
from studio.ui.inspector.condition_editor import ConditionEditor
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button, ComboBox
from studio.ui.widgets.field import Field
from studio.ui.widgets.labels import Label
from studio.ui.widgets.page import scrolled
from studio.ui.widgets.segments import SegmentedControl
from studio.ui.widgets.text_fields import LineField

_PATHS = ("text", "value", "type")
_LIMITS = {
    "cost": ("Money", "0.20", "In the currency of the prices in the settings. A model without a price counts nothing."),
    "tokens": ("Tokens", "50000", "Input and output tokens of the whole run."),
    "supersteps": ("Supersteps", "20", ""),
    "repeats": ("Times in a row", "3", "With the same arguments, in one node."),
}
_WHEN = {
    "before": "Before",
    "after": "After",
    "queued": "Message is queued",
    "delivered": "Message is delivered",
}


class BreakpointDialog(QDialog):
    """``done`` gets the breakpoint when *Save* is pressed."""

    def __init__(
        self,
        theme: Theme,
        workspace: Workspace,
        breakpoint: Breakpoint,
        done: Callable[[Breakpoint], None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme, self._workspace, self._done = theme, workspace, done
        self._now = breakpoint
        self._wrong: dict[QWidget, str] = {}
        """Fields with a text that is no number, and what is said of it."""
        document = workspace.document
        self._linked = LinkedFiles(self)
        self._linked.changed.connect(self._show_places)
        self._linked.read(document.workflow, document.folder)
        self.setObjectName("breakpoint_dialog")
        self.setWindowTitle(tr("Breakpoint"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(460, 560)
        self._column = QVBoxLayout()
        self._column.setContentsMargins(4, 0, 8, 0)
        self._column.setSpacing(4)
        self._make_place()
        self._make_rest()
        self._lay_out()
        self._show()
        self.kind.setFocus()

    @property
    def breakpoint(self) -> Breakpoint:
        """As it is filled in now."""
        return self._now

    # ------------------------------------------------------------------------------------------------- building

    def _field(self, title: str, editor: QWidget, hint: str = "") -> Field:
        made = Field(self._theme, title, editor, hint=hint, resettable=False)
        made.set_changed(False)
        self._column.addWidget(made)
        return made

    def _make_place(self) -> None:
        self.kind = ComboBox(self._theme)
        for kind, text in KIND_WORDS:
            self.kind.addItem(tr(text), kind)
        self.kind.setCurrentIndex(self.kind.findData(self._now.kind))
        self.kind.currentIndexChanged.connect(self._on_kind_changed)
        self._field(tr("Stop at"), self.kind)
        self.place = ComboBox(self._theme)
        self.place.currentIndexChanged.connect(self._on_place_changed)
        self.place.editTextChanged.connect(self._on_place_typed)
        self._place_field = self._field(tr("Where"), self.place)
        self.when = QWidget()
        self._when_row = QHBoxLayout(self.when)
        self._when_row.setContentsMargins(0, 0, 0, 0)
        self._when_field = self._field(tr("When"), self.when)
        self.limit = LineField(self._theme, "")
        self.limit.edited.connect(self._on_limit_edited)
        self._limit_field = self._field(tr("Limit"), self.limit)

    def _make_rest(self) -> None:
        self.condition = ConditionEditor(self._theme, self._paths(), [], without=tr("It stops every time."))
        self.condition.edited.connect(self._on_condition_edited)
        self._condition_field = self._field(tr("Only if"), self.condition)
        self.from_hit = LineField(self._theme, "1")
        self.from_hit.edited.connect(self._on_from_hit_edited)
        self._hit_field = self._field(tr("From the n-th time on"), self.from_hit)
        self.log = LineField(self._theme, tr("{text} of {value.topic}, {state.rounds} rounds"))
        self.log.edited.connect(self._on_log_edited)
        hint = tr(
            "With a text the run does not stop: the text goes to the events. "
            "{text}, {value.path} and {state.key} are filled in."
        )
        self._log_field = self._field(tr("Log instead of stopping"), self.log, hint)

    def _lay_out(self) -> None:
        inner = QWidget()
        self._column.addStretch(1)
        inner.setLayout(self._column)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(10, 8, 10, 12)
        outer.setSpacing(8)
        outer.addWidget(scrolled(inner), 1)
        row = QHBoxLayout()
        row.setSpacing(6)
        self._problem = Label(self._theme, "", "small", "fail_t")
        self._problem.setWordWrap(True)
        row.addWidget(self._problem, 1)
        cancel = Button(self._theme, tr("Cancel"))
        cancel.clicked.connect(self.reject)
        self.save = Button(self._theme, tr("Save"), "check", "primary")
        self.save.setDefault(True)
        self.save.clicked.connect(self._on_save_clicked)
        row.addWidget(cancel)
        row.addWidget(self.save)
        outer.addLayout(row)

    def _paths(self) -> list[str]:
        keys = [f"state.{key}" for key in state_keys(self._workspace.document.workflow)]
        return [*_PATHS, *keys]

    # --------------------------------------------------------------------------------------------------- showing

    def _show(self) -> None:
        now = self._now
        self._show_places()
        self._show_moments()
        title, example, hint = _LIMITS.get(now.kind, ("", "", ""))
        self._limit_field.setVisible(bool(title))
        self.limit.setPlaceholderText(example)
        self.limit.setAccessibleName(tr(title or "Limit"))
        self._limit_field.set_hint(tr(hint) if hint else "")
        self.limit.show_value(f"{now.limit:g}" if now.limit else "")
        budget = now.kind in BUDGETS
        for field in (self._condition_field, self._hit_field):
            field.setVisible(not budget)
        self.condition.show_value(now.condition)
        self.from_hit.show_value(str(now.from_hit))
        self.log.show_value(now.log)
        self._check()

    def _show_places(self) -> None:
        found = places(self._workspace.document.workflow, self._now.kind, self._linked.workflows)
        self._place_field.setVisible(bool(found))
        self.place.blockSignals(True)
        self.place.clear()
        self._make_typed()
        for place, name in found:
            self.place.addItem(name, place)
        if found and self.place.findData(self._now.place) < 0:
            words = (
                self._now.place if self._now.kind in TYPED else tr("{place} (not drawn)").format(place=self._now.place)
            )
            self.place.addItem(words.format(place=self._now.place), self._now.place)
        self.place.setCurrentIndex(max(0, self.place.findData(self._now.place)))
        self.place.blockSignals(False)

    def _make_typed(self) -> None:
        """A name can be typed where not all places are in the drawing: a key that code makes, a tool of a server."""
        if self._now.kind in TYPED:
            self.place.make_editable(tr(TYPED[self._now.kind]))
        else:
            self.place.setEditable(False)

    def _show_moments(self) -> None:
        known = moments(self._now.kind)
        self._when_field.setVisible(len(known) > 1)
        while (item := self._when_row.takeAt(0)) is not None:
            old = item.widget()
            if old is not None:
                old.deleteLater()
        if len(known) > 1:
            self.moments = SegmentedControl(self._theme, [(when, tr(_WHEN[when])) for when in known])
            self.moments.setAccessibleName(tr("When"))
            self.moments.show_value(self._now.moment)
            self.moments.edited.connect(self._on_moments_edited)
            self._when_row.addWidget(self.moments)
            self._when_row.addStretch(1)

    def _check(self) -> None:
        text = next(iter(self._wrong.values()), "") or problem(self._now)
        self._problem.setText(tr(text) if text else "")
        self.save.setEnabled(not text)

    # ------------------------------------------------------------------------------------------------ what is typed

    def _on_kind_changed(self) -> None:
        kind: Kind = self.kind.currentData()
        self._now = replace(self._now, kind=kind, place="", when=None, limit=0)
        self._wrong.clear()  # the fields show again what counts
        self._show()

    def _on_place_changed(self) -> None:
        self._now = replace(self._now, place=self.place.currentData() or "")

    def _on_place_typed(self, text: str) -> None:
        """A name of the list stands for its place, any other for itself."""
        typed = text.strip()
        listed = self.place.findText(typed, Qt.MatchFlag.MatchFixedString | Qt.MatchFlag.MatchCaseSensitive)
        self._now = replace(self._now, place=self.place.itemData(listed) or "" if listed >= 0 else typed)

    def _on_moments_edited(self, when: Any) -> None:
        self._now = replace(self._now, when=when)

    def _on_limit_edited(self, text: Any) -> None:
        self._wrong.pop(self.limit, None)
        try:
            limit = float(str(text).replace(",", ".") or 0)
        except ValueError:
            limit = math.nan
        if math.isfinite(limit):
            self._now = replace(self._now, limit=limit)
        else:
            self._wrong[self.limit] = f"“{text}” is not a number."
        self._check()

    def _on_condition_edited(self, condition: Any) -> None:
        self._now = replace(self._now, condition=condition if isinstance(condition, Condition) else None)

    def _on_from_hit_edited(self, text: Any) -> None:
        self._wrong.pop(self.from_hit, None)
        if str(text).strip().isdecimal():
            self._now = replace(self._now, from_hit=int(str(text)))
        else:
            self._wrong[self.from_hit] = f"“{text}” is not a whole number."
        self._check()

    def _on_log_edited(self, text: Any) -> None:
        self._now = replace(self._now, log=str(text).strip())

    def _on_save_clicked(self) -> None:
        self._done(self._now)
        self.accept()
