"""Which checkpoints a workflow keeps: rules with a preview in numbers, what can be put back, compacting."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from studio.bridge.run_model import RunModel
from studio.bridge.run_upkeep import Preview
from studio.checkpoints import RetentionRules
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.timeline.rule_words import preview_words
from studio.ui.timeline.size_bar import SizeBar
from studio.ui.widgets.buttons import Button, CheckBox
from studio.ui.widgets.labels import Elided, Label, Prose
from studio.ui.widgets.sources import counted
from studio.ui.widgets.text_fields import LineField

_SHOWN = 6
"""Removals that are listed to be put back, newest first."""


class KeepingDialog(QDialog):
    """Every change asks for a preview; nothing goes before *Take away*, and nothing for good before *Compact*."""

    def __init__(self, theme: Theme, run: RunModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._run = theme, run
        self._showing = False
        self.setObjectName("keeping_dialog")
        self.setWindowTitle(tr("Which checkpoints are kept"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(560, 520)
        self._protect = {
            "named": CheckBox(theme, tr("Named and tagged ones")),
            "pinned": CheckBox(theme, tr("Pinned ones")),
            "branch_points": CheckBox(theme, tr("Those that branches begin at")),
            "open_requests": CheckBox(theme, tr("The last one of a branch that waits or can be resumed")),
        }
        self._protect["branch_points"].setToolTip(tr("Without it, a branch no longer shows what came before it."))
        self._limits = {
            "last": (CheckBox(theme, tr("All but the last of each branch:")), LineField(theme), "20"),
            "days": (CheckBox(theme, tr("Older than this many days:")), LineField(theme), "30"),
            "megabytes": (CheckBox(theme, tr("The oldest, above this many MB in all:")), LineField(theme), "100"),
        }
        self.automatic = CheckBox(theme, tr("Apply these rules whenever a run ends"))
        self.preview_text = Prose(theme, "", "body", "text2", 17)
        self.size_bar = SizeBar(theme)
        self.prune_button = Button(theme, tr("Take away"), "trash-2")
        self.compact_button = Button(theme, tr("Compact the file"), "package")
        self.stop_button = Button(theme, tr("Stop"))
        self.close_button = Button(theme, tr("Close"), "", "primary")
        self._removals = QVBoxLayout()
        self._lay_out()
        self._connect()
        self._show_rules(run.rules)
        run.measure()
        self._ask()
        self._show_upkeep()

    @property
    def rules(self) -> RetentionRules:
        """As they are chosen now."""
        return RetentionRules(
            **{name: box.isChecked() for name, box in self._protect.items()},
            last=None if (last := self._number("last")) is None else max(1, round(last)),
            days=self._number("days"),
            megabytes=self._number("megabytes"),
            automatic=self.automatic.isChecked(),
        )

    def _number(self, name: str) -> float | None:
        box, field, default = self._limits[name]
        if not box.isChecked():
            return None
        try:
            number = float(field.text().replace(",", "."))
        except ValueError:
            return float(default)
        return number if 0 <= number < 1e9 else float(default)

    # ------------------------------------------------------------------------------------------------- building

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        column.setSpacing(7)
        column.addWidget(Label(self._theme, tr("Always keep"), "section"))
        for box in self._protect.values():
            column.addWidget(box)
        column.addSpacing(4)
        column.addWidget(Label(self._theme, tr("Of the others, take away"), "section"))
        grid = QGridLayout()
        grid.setColumnStretch(2, 1)
        for at, (box, field, default) in enumerate(self._limits.values()):
            field.setFixedWidth(80)
            field.setPlaceholderText(default)
            field.setAccessibleName(box.text())
            grid.addWidget(box, at, 0)
            grid.addWidget(field, at, 1)
        column.addLayout(grid)
        column.addWidget(self.automatic)
        column.addSpacing(4)
        column.addWidget(self.preview_text)
        column.addWidget(self.size_bar)
        column.addLayout(self._removals)
        column.addStretch(1)
        row = QHBoxLayout()
        row.setSpacing(6)
        for button in (self.prune_button, self.compact_button, self.stop_button):
            row.addWidget(button)
        row.addStretch(1)
        row.addWidget(self.close_button)
        column.addLayout(row)

    def _connect(self) -> None:
        run = self._run
        for box in (*self._protect.values(), self.automatic, *(limit[0] for limit in self._limits.values())):
            box.toggled.connect(self._on_changed)
        for _, field, _ in self._limits.values():
            field.textChanged.connect(self._on_changed)
        run.previewed.connect(self._on_run_previewed)
        run.upkeep_changed.connect(self._show_upkeep)
        run.updated.connect(self._on_run_updated)
        self.prune_button.clicked.connect(lambda: run.prune(self.rules))
        self.compact_button.clicked.connect(run.compact)
        self.stop_button.clicked.connect(run.stop_compacting)
        self.close_button.clicked.connect(self.accept)

    def _show_rules(self, rules: RetentionRules) -> None:
        self._showing = True
        for name, box in self._protect.items():
            box.setChecked(getattr(rules, name))
        for name, (box, field, default) in self._limits.items():
            value = getattr(rules, name)
            box.setChecked(value is not None)
            field.setText(f"{value:g}" if value is not None else default)
            field.setEnabled(value is not None)
        self.automatic.setChecked(rules.automatic)
        self._showing = False

    # -------------------------------------------------------------------------------------------------- showing

    def _on_changed(self, _value: object) -> None:
        if self._showing:
            return
        for box, field, _ in self._limits.values():
            field.setEnabled(box.isChecked())
        self._run.set_retention(self.rules)
        self._ask()

    def _ask(self) -> None:
        self._run.preview(self.rules)

    def _on_run_updated(self, update: object) -> None:
        if getattr(update, "checkpoints", False):
            self._ask()
            self._show_upkeep()

    def _on_run_previewed(self, found: Preview) -> None:
        if found.rules == self.rules:
            self.preview_text.set_text(preview_words(found))
            count = len(found.retention.gone)
            self.prune_button.setEnabled(count > 0)
            self.prune_button.setText(counted(count, tr("Take 1 away"), tr("Take {count} away")))
            if not count:
                self.prune_button.setText(tr("Take away"))

    def _show_upkeep(self) -> None:
        run = self._run
        self.size_bar.show_sizes(run.sizes)
        why = run.why_not_compact()
        free = run.sizes.free if run.sizes is not None else 0
        self.compact_button.setEnabled(not why and (bool(run.discarded) or free > 0))
        self.compact_button.setToolTip(why or tr("Removes for good what was taken away; the file gets smaller"))
        self.stop_button.setVisible(bool(run.compacting))
        if run.compacting:
            self.preview_text.set_text(f"{run.compacting}…")
        while (item := self._removals.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for batch in run.discarded[: -_SHOWN - 1 : -1]:
            self._removals.addWidget(self._removal_row(batch.number, batch.text, batch.at))

    def _removal_row(self, number: int, text: str, at: float) -> QWidget:
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        when = datetime.fromtimestamp(at)
        layout.addWidget(
            Elided(self._theme, tr("Taken away: {text}, {when}").format(text=text, when=f"{when:%H:%M}")), 1
        )
        back = Button(self._theme, tr("Put back"), "undo-2", small=True)
        back.setAccessibleName(tr("Put back {text}").format(text=text))
        back.clicked.connect(partial(self._run.put_back, number))
        layout.addWidget(back)
        return row
