"""The context panel: choose an invocation; see what it saw, gave back and kept, and what is wrong with it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QMenu, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from studio.bridge.context_model import ContextModel
from studio.bridge.workspace import Workspace
from studio.debugger.context.fixes import ContextFix, fixes
from studio.debugger.context.items import ContextRecord, Finding, Item
from studio.debugger.context.points_of_view import view_of
from studio.document.lines import name_of, node_at, path_names
from studio.ui.context.column import ContextColumn
from studio.ui.context.facts import FactTable
from studio.ui.context.rows import explicit, hidden, implicit, in_context, linked, origin_title, with_names
from studio.ui.context.warning_bar import WarningBar
from studio.ui.text import tip, tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button, ComboBox
from studio.ui.widgets.empty import EmptyText
from studio.ui.widgets.labels import Elided, IconLabel, Label
from studio.ui.widgets.panel import Panel
from studio.ui.widgets.search_field import SearchField
from studio.ui.widgets.sources import counted

_ORIGINS = ("instructions", "history", "implicit_conversation", "provider", "explicit_input", "tool_loop", "synthetic")
_ROLES = {"system": "Role system", "user": "Role user", "assistant": "Role assistant", "tool": "Role tool"}
_MOST = 400
"""Invocations that can be chosen in the list; all are found by their facts."""


class ContextPanel(Panel):
    """Follows the newest invocation until another one is chosen."""

    counted = Signal(int)
    """How many errors and warnings there are, for the tab."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.model: ContextModel | None = None
        self._chosen = ""
        self._call = -1
        self._beside = ""
        """The invocation that the shown one is compared with."""
        self._without: frozenset[str] = frozenset()
        """Origins and roles that are not shown."""
        self._listed: tuple[str, ...] = ()
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        self._stack = QStackedWidget()
        self._stack.addWidget(EmptyText(theme, tr("No run yet. What every node sees and gives back is shown here.")))
        self._stack.addWidget(self._make_content())
        outer.addWidget(self._stack)

    # --------------------------------------------------------------------------------------------------- making

    def _make_content(self) -> QWidget:
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._make_bar())
        self.warnings = WarningBar(self.theme)
        self.warnings.fix_chosen.connect(self._on_warnings_fix_chosen)
        self.warnings.mute_chosen.connect(self._on_warnings_mute_chosen)
        self.warnings.shown_changed.connect(self._show_columns)
        column.addWidget(self.warnings)
        self._pages = QStackedWidget()
        self.columns = QSplitter(Qt.Orientation.Horizontal)
        self.columns.setHandleWidth(1)
        self.columns.setChildrenCollapsible(False)
        self.parts = [ContextColumn(self.theme) for _ in range(4)]
        for part in self.parts:
            part.read_requested.connect(self._on_part_read_requested)
            part.fact_requested.connect(self.ask_who_has)
            self.columns.addWidget(part)
        self.columns.setSizes([345, 240, 240, 220])
        self.facts = FactTable(self.theme)
        self.facts.chosen.connect(self._on_facts_chosen)
        self._pages.addWidget(self.columns)
        self._pages.addWidget(self.facts)
        column.addWidget(self._pages, 1)
        column.addWidget(self._make_strip())
        return holder

    def _make_bar(self) -> QHBoxLayout:
        bar = QHBoxLayout()
        bar.setContentsMargins(11, 5, 11, 5)
        bar.setSpacing(8)
        self.box = ComboBox(self.theme, small=True)
        self.box.setAccessibleName(tr("Invocation"))
        self.box.setMinimumWidth(220)
        self.box.activated.connect(self._on_box_activated)
        self.calls = ComboBox(self.theme, small=True)
        self.calls.setAccessibleName(tr("Model call"))
        self.calls.setSizeAdjustPolicy(ComboBox.SizeAdjustPolicy.AdjustToContents)
        self.prompt_button = Button(self.theme, tr("Request…"), "braces", small=True)
        self.prompt_button.setToolTip(tr("What was sent and what came back, exactly"))
        self.prompt_button.clicked.connect(self._show_call)
        self.calls.activated.connect(self._on_calls_activated)
        self.state = Label(self.theme, "", "small", "muted")
        self.elsewhere = Button(self.theme, "", "triangle-alert", "plain", small=True)
        self.elsewhere.setToolTip(tr("Go to the next invocation with a warning"))
        self.elsewhere.clicked.connect(self._on_elsewhere_clicked)
        self.elsewhere.hide()
        self.search = SearchField(self.theme, tr("Who has this fact?"))
        self.search.setFixedWidth(220)
        self.search.textChanged.connect(self._on_search_text_changed)
        self.filter_button = Button(self.theme, tr("Filter"), "funnel", small=True)
        self.filter_button.setToolTip(tr("Which origins and roles are shown"))
        self.filter_button.clicked.connect(self._offer_filters)
        self.compare_button = Button(self.theme, tr("Compare"), "columns-2", small=True)
        self.compare_button.clicked.connect(self._offer_invocations)
        self.export_button = Button(self.theme, "", "download", small=True)
        self.export_button.setAccessibleName(tr("Export as JSON"))
        self.export_button.setToolTip(tr("Export as JSON"))
        self.export_button.clicked.connect(self._ask_target)
        left: tuple[QWidget, ...] = (self.box, self.calls, self.prompt_button, self.state, self.elsewhere)
        right: tuple[QWidget, ...] = (self.search, self.filter_button, self.compare_button, self.export_button)
        for widget in left:
            bar.addWidget(widget)
        bar.addStretch(1)
        for widget in right:
            bar.addWidget(widget)
        return bar

    def _make_strip(self) -> QWidget:
        strip = QWidget()
        row = QHBoxLayout(strip)
        row.setContentsMargins(12, 5, 12, 5)
        row.setSpacing(8)
        row.addWidget(IconLabel(self.theme, "own:eye", 16, "text2"))
        row.addWidget(Label(self.theme, tr("Shown to user"), "strong"))
        self.shown = Elided(self.theme, "", "body", "text2")
        row.addWidget(self.shown, 1)
        self.view_words = Label(self.theme, "", "body", "muted")
        row.addWidget(self.view_words)
        return strip

    # ------------------------------------------------------------------------------------------------ workspace

    def enter(self, workspace: Workspace) -> None:
        self.model = ContextModel(workspace, self)
        self.model.wanted = self.isVisible()
        self.model.changed.connect(self.refresh)
        workspace.selection.changed.connect(self._on_selection_changed)

    def leave(self, workspace: Workspace) -> None:
        workspace.selection.changed.disconnect(self._on_selection_changed)
        if self.model is not None:
            self.model.close()
            self.model.deleteLater()
            self.model = None

    def show_workspace(self) -> None:
        self._chosen, self._call, self._beside = "", -1, ""
        self._without = frozenset()
        self._listed = ()
        self.search.clear()
        if self.model is not None:
            self.model.look()
        self.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self.model is not None:
            self.model.wanted = True
            self.model.look()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if self.model is not None:
            self.model.wanted = False

    @property
    def warning_count(self) -> int:
        """How many errors and warnings there are, for the tab."""
        return sum(f.severity != "info" for f in self.model.findings) if self.model is not None else 0

    @property
    def record(self) -> ContextRecord | None:
        """The invocation that is shown."""
        records = self.model.inspection.run.records if self.model is not None else {}
        return records.get(self._chosen) or next((records[key] for key in reversed(self._listed)), None)

    def show_invocation(self, invocation: str) -> None:
        """Shows one invocation."""
        self._chosen, self._call = invocation, -1
        self.search.clear()
        self.refresh()

    def ask_who_has(self, text: str) -> None:
        """Lists the invocations whose context has a text."""
        self.search.setText(" ".join(text.split()))
        self.search.setFocus()

    # -------------------------------------------------------------------------------------------------- showing

    def refresh(self) -> None:
        """Shows what the model has."""
        records = self.model.inspection.run.records if self.model is not None else {}
        listed = tuple(key for key, r in records.items() if r.kind != "junction")[-_MOST:]
        self._stack.setCurrentIndex(1 if listed else 0)
        self.counted.emit(self.warning_count)
        if listed != self._listed:
            self._listed = listed
            if self._chosen not in records:
                self._chosen, self._call, self._beside = "", -1, ""
            self._fill_box()
        if listed and self.isVisible():
            self._show_record()

    def _fill_box(self) -> None:
        assert self.model is not None
        self.box.clear()
        for key in reversed(self._listed):
            self.box.addItem(self._name(self.model.inspection.run.records[key]), key)

    def _name(self, record: ContextRecord) -> str:
        workflow = self.model.inspection.run.document if self.model is not None else None
        names = path_names(workflow, record.inside, record.node) if workflow is not None else (record.node,)
        return tr("{node} · superstep {number}").format(node=" › ".join(names), number=record.superstep)

    def _show_record(self) -> None:
        record, model = self.record, self.model
        if record is None or model is None:
            return
        self.box.setCurrentIndex(max(0, self.box.findData(record.invocation)))
        many = len(record.seen)
        if not -1 <= self._call < many:
            self._call = -1
        self.calls.clear()
        for at in range(many if record.calls_model else 0):
            self.calls.addItem(tr("model call {at} of {all}").format(at=at + 1, all=many))
        self.calls.setCurrentIndex(self._at_call(record))
        self.calls.setVisible(record.calls_model)
        self.prompt_button.setVisible(record.calls_model)
        waiting = sum(request in model.inspection.run.pending for request in record.asked)
        state = counted(waiting, tr("waiting for 1 answer"), tr("waiting for {count} answers")) if waiting else ""
        self.state.setText(" · ".join(part for part in (state, self._partial_words()) if part))
        found = [f for f in model.findings if f.invocation in ("", record.invocation)]
        others = sum(f.severity != "info" and f not in found for f in model.findings)
        self.elsewhere.setText(counted(others, tr("1 warning elsewhere"), tr("{count} warnings elsewhere")))
        self.elsewhere.setVisible(bool(others))
        self.warnings.show_findings(found, name_of(model.inspection.run.document, record.node), self._fixes)
        self._show_columns()
        self._show_strip(record)

    def _partial_words(self) -> str:
        gone = self.model.partial if self.model is not None else 0
        return tr("the oldest {count} events are not kept").format(count=gone) if gone else ""

    def _at_call(self, record: ContextRecord) -> int:
        return self._call if self._call >= 0 else len(record.seen) - 1

    def _show_columns(self) -> None:
        record, model = self.record, self.model
        if record is None or model is None:
            return
        if self.search.text().strip():
            self.facts.show_holders(model.inspection.run.document, model.inspection.who_has(self.search.text()))
            self._pages.setCurrentWidget(self.facts)
            return
        self._pages.setCurrentWidget(self.columns)
        finding = self.warnings.current
        marked = frozenset(finding.items) if finding is not None else frozenset()
        workflow = model.inspection.run.document
        other = model.inspection.run.records.get(self._beside)
        mine = in_context(workflow, record, self._at_call(record), self._without)
        if other is not None:
            theirs = in_context(workflow, other, len(other.seen) - 1, self._without)
            for part, (column, whose), beside in zip(
                self.parts, ((mine, record), (theirs, other)), (theirs, mine), strict=False
            ):
                titled = replace(with_names(column, workflow, whose), title=self._name(whose))
                part.show_column(titled, linked(column.items, beside.items))
        else:
            given = [mine, explicit(record, model.inspection.run.pending), implicit(record)]
            for part, column in zip(self.parts, [*given, hidden(model.inspection, record)], strict=True):
                part.show_column(with_names(column, workflow, record), marked)
        for part in self.parts[2:]:
            part.setVisible(other is None)
        self.compare_button.setText(tr("Compare") if other is None else tr("Stop comparing"))

    def _show_strip(self, record: ContextRecord) -> None:
        texts = [" ".join(item.text[:200].split()) for item in record.shown]
        asked = counted(len(record.asked), tr("1 request"), tr("{count} requests")) if record.asked else ""
        self.shown.set_text(" · ".join(part for part in (asked, *texts) if part) or tr("nothing in this turn"))
        document = self.model.inspection.run.document if self.model is not None else None
        view = view_of(node_at(document, record.inside, record.node)) if document is not None else None
        if view is not None:
            yes, no = tr("yes"), tr("no")
            self.view_words.setText(
                tr("{name} · Sees parent context: {sees} · May write to chat: {writes}").format(
                    name=tr(view.name),
                    sees=yes if view.sees_parent_context else no,
                    writes=yes if view.may_write_chat else no,
                )
            )
            self.view_words.setToolTip(
                tip(tr("In its context: {has}. Gives back: {gives}.").format(has=view.has, gives=view.gives))
            )

    # ----------------------------------------------------------------------------------------------------- doing

    def _fixes(self, finding: Finding) -> tuple[ContextFix, ...]:
        return fixes(finding, self.workspace.document.workflow) if self.workspace is not None else ()

    def _on_warnings_fix_chosen(self, fix: ContextFix, finding: Finding) -> None:
        if self.workspace is None:
            return
        if fix.edit is not None:
            self.workspace.document.execute(fix.edit, tr(fix.step))
            self._show_record()
        else:
            self.workspace.selection.reveal(finding.node)
            self.workspace.selection.field_requested.emit(finding.node, fix.field)

    def _on_warnings_mute_chosen(self, finding: Finding) -> None:
        if self.model is not None:
            self.model.mute(finding.rule, finding.node)

    def _on_selection_changed(self) -> None:
        """Follows the canvas: the newest invocation of the node that is selected there."""
        items = self.workspace.selection.items if self.workspace is not None else ()
        record = self.record
        if len(items) != 1 or self.model is None or (record is not None and items[0] == _top(record)):
            return
        records = self.model.inspection.run.records
        found = next((key for key in reversed(self._listed) if _top(records[key]) == items[0]), None)
        if found is not None:
            self.show_invocation(found)

    def _on_box_activated(self, index: int) -> None:
        self.show_invocation(str(self.box.itemData(index)))
        self._reveal_shown()

    def _on_elsewhere_clicked(self) -> None:
        """The next invocation, around the end, that an error or a warning is about."""
        if self.model is None or self.record is None:
            return
        warned = {f.invocation for f in self.model.findings if f.severity != "info"}
        keys = list(self.model.inspection.run.records)
        at = keys.index(self.record.invocation) + 1
        found = next((key for key in keys[at:] + keys[:at] if key in warned), None)
        if found is not None:
            self.show_invocation(found)
            self._reveal_shown()

    def _reveal_shown(self) -> None:
        if self.workspace is not None and self.record is not None:
            self.workspace.selection.reveal(_top(self.record))

    def _on_calls_activated(self, index: int) -> None:
        self._call = index
        self._show_record()

    def _on_search_text_changed(self, _text: str) -> None:
        self._show_columns()

    def _on_facts_chosen(self, invocation: str) -> None:
        self.show_invocation(invocation)

    def _on_part_read_requested(self, item: Item) -> None:
        from studio.ui.compare.page import TextsDialog

        title = f"{item.role} {item.author}".strip()
        other = item.origin_ref or tr("origin")
        words = "\n".join(part for part in (origin_title(item.origin) if item.origin else "", item.note, other) if part)
        TextsDialog(self.theme, title, (title, tr("Origin")), (item.text, words), self).open()

    def _show_call(self) -> None:
        record = self.record
        if record is None or self.workspace is None:
            return
        from studio.debugger.exact_calls import exact_calls
        from studio.ui.context.call_dialog import CallDialog

        calls = exact_calls(self.workspace.run.events, record.invocation)
        at = self._at_call(record)
        if calls:
            CallDialog(self.theme, self._name(record), calls, min(at, len(calls) - 1), self).open()

    def _offer_filters(self) -> None:
        menu = QMenu(self)
        for names in ({origin: origin_title(origin) for origin in _ORIGINS}, _ROLES):
            for name, words in names.items():
                action = menu.addAction(tr(words))
                action.setCheckable(True)
                action.setChecked(name not in self._without)
                action.toggled.connect(lambda on, name=name: self._show_kind(name, on=on))
            menu.addSeparator()
        menu.addAction(tr("All origins and roles")).triggered.connect(self._show_all_kinds)
        if self.model is not None and self.model.muted:
            menu.addAction(tr("Unmute all rules")).triggered.connect(self.model.unmute_all)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.filter_button.mapToGlobal(QPoint(0, self.filter_button.height())))

    def _show_kind(self, name: str, *, on: bool) -> None:
        self._without = self._without - {name} if on else self._without | {name}
        self._show_columns()

    def _show_all_kinds(self) -> None:
        self._without = frozenset()
        self._show_columns()

    def _offer_invocations(self) -> None:
        if self._beside:
            self.compare_with("")
            return
        menu = QMenu(self)
        record = self.record
        for key in [k for k in reversed(self._listed) if record is None or k != record.invocation][:30]:
            assert self.model is not None
            action = menu.addAction(self._name(self.model.inspection.run.records[key]))
            action.triggered.connect(lambda _checked=False, other=key: self.compare_with(other))
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.compare_button.mapToGlobal(QPoint(0, self.compare_button.height())))

    def compare_with(self, invocation: str) -> None:
        """Shows the context of another invocation beside this one; what both have is marked. "" ends it."""
        self._beside = invocation
        self._show_columns()

    def _ask_target(self) -> None:
        dialog = QFileDialog(self, tr("Export context"), str(Path.home()))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setObjectName("file_dialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setFileMode(QFileDialog.FileMode.AnyFile)
        dialog.setDefaultSuffix("json")
        dialog.selectFile("context.json")
        dialog.fileSelected.connect(lambda file: self.export(Path(file)))
        dialog.open()

    def export(self, path: Path) -> None:
        """Writes all records and warnings as JSON."""
        if self.model is None or self.workspace is None:
            return
        text = json.dumps(self.model.inspection.to_json(), ensure_ascii=False, indent=1, default=str)
        try:
            path.write_text(self.workspace.run.without_keys(text) + "\n", encoding="utf-8")
        except OSError as error:
            self.workspace.run.failed_to_start.emit(
                tr("The file {path} cannot be written: {error}").format(path=path, error=error.strerror or error)
            )


def _top(record: ContextRecord) -> str:
    """The node of the drawing that an invocation belongs to: of one inside a sub-workflow, that around it."""
    return record.inside[0] if record.inside else record.node
