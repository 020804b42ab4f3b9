"""The page of a checkpoint: what it holds, going back to it, branching from it."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from studio.bridge.run_views import CheckpointView, QueuedView
from studio.bridge.workspace import Workspace
from studio.debugger.comparison import NOT_KEPT
from studio.debugger.effects import sentence
from studio.ui.dialogs.fork_sheet import open_fork_sheet
from studio.ui.dialogs.mapping_sheet import open_mapping_sheet
from studio.ui.inspector.checkpoint_details import add_details
from studio.ui.inspector.page import InspectorPage
from studio.ui.inspector.small_parts import Check
from studio.ui.paint.numbers import size_text
from studio.ui.text import tip, tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.field import Field
from studio.ui.widgets.restoring import ask_fork, ask_restore, ask_resume
from studio.ui.widgets.section import Section
from studio.ui.widgets.sources import source_name, target_names
from studio.ui.widgets.text_fields import LineField, TextBox


def checkpoint_title(view: CheckpointView) -> str:
    """ "Checkpoint after superstep 5"."""
    if view.kind == "input":
        return tr("Checkpoint of the input")
    if view.kind == "answers":
        return tr("Checkpoint with answers")
    return tr("Checkpoint after superstep {number}").format(number=view.superstep)


class CheckpointPage(InspectorPage):
    """Restore, fork, and, when it is the moment that is shown, its queued messages to edit before forking."""

    def __init__(self, theme: Theme, workspace: Workspace, checkpoint: str) -> None:
        super().__init__(theme, workspace, "checkpoint")
        self._id = checkpoint
        self._view()
        self._boxes: dict[str, TextBox] = {}
        self._shown: object = None
        self._above: QWidget | None = None
        self._below: QWidget | None = None
        self._add_mark_fields()
        holder = QWidget()
        self._parts = QVBoxLayout(holder)
        self._parts.setContentsMargins(0, 0, 0, 0)
        self._parts.setSpacing(0)
        self._parts.addWidget(self._make_buttons())
        self.body.add(holder)
        self._build()

    def refresh(self) -> None:
        super().refresh()
        self.refresh_run()

    def refresh_run(self) -> None:
        run = self.workspace.run
        found = run.comparison(self._id)
        shown = (
            run.stands_at(self._id),
            tuple((q.message, q.text) for q in run.queued),
            len(run.shared_state),
            self._view().problem,
            found.drift if found is not None else None,
            run.details(self._id),
            run.effects(self._id),
        )
        if shown != self._shown:
            self._shown = shown
            self._build()
        view = self._view()
        self.header.title.set_text(checkpoint_title(view))
        branch = next((b.name for b in run.branches if b.branch == view.branch), view.branch)
        at = datetime.fromtimestamp(view.created)
        parts = [branch, f"{at:%H:%M:%S}", size_text(view.bytes)]
        if view.kind == "answers":
            parts.insert(1, tr("before superstep {number}").format(number=view.superstep + 1))
        self.header.subtitle.setText(" · ".join(parts))
        self._show_mark(view)
        self._refresh_buttons()

    def restore(self) -> None:
        """Shows the moment of this checkpoint; asks first if that stops a run."""
        ask_restore(self.theme, self, self.workspace, self._id)

    def fork(self) -> None:
        """Runs a new branch, with the texts that were changed here; asks first if that reaches outside."""
        ask_fork(self.theme, self, self.workspace, self._id)

    def compare(self) -> None:
        """Compares it with the end of the branch that is shown."""
        run = self.workspace.run
        if run.branch is not None:
            self.workspace.comparison_offered.emit(run.branch, self._id)

    def resume(self) -> None:
        """Goes on with the interrupted branch of this checkpoint, on the branch itself."""
        ask_resume(self.theme, self, self.workspace, self._view().branch)

    def _add_mark_fields(self) -> None:
        """Name, pin and note: kept when the field is left."""
        self.name_field = LineField(self.theme, tr("None"))
        self.name_field.setAccessibleName(tr("Name"))
        self.name_field.left.connect(self._keep_texts)
        self.pin_button = Button(self.theme, "", "pin", "plain", small=True)
        self.pin_button.setCheckable(True)
        self.pin_button.clicked.connect(lambda: self._mark(pinned=not self._view().pinned))
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.name_field, 1)
        layout.addWidget(self.pin_button)
        self.note_box = TextBox(self.theme, lines=2)
        self.note_box.setAccessibleName(tr("Note"))
        self.note_box.left.connect(self._keep_texts)
        self.body.add(Field(self.theme, tr("Name"), row, resettable=False))
        self.body.add(Field(self.theme, tr("Note"), self.note_box, resettable=False))

    def _mark(self, *, name: str | None = None, note: str | None = None, pinned: bool | None = None) -> None:
        self.workspace.run.mark(self._id, name=name, note=note, pinned=pinned)

    def _keep_texts(self) -> None:
        name, note = self.name_field.isModified(), self.note_box.document().isModified()
        self.name_field.setModified(False)
        self.note_box.document().setModified(False)
        if name or note:
            self._mark(name=self.name_field.text() if name else None, note=self.note_box.value if note else None)

    def _show_mark(self, view: CheckpointView) -> None:
        """What is being typed stays."""
        if not self.name_field.isModified():
            self.name_field.show_value(view.name)
        if not self.note_box.document().isModified():
            self.note_box.show_value(view.note)
            self.note_box.document().setModified(False)
        self.pin_button.set_icon_name("pin-off" if view.pinned else "pin")
        words = tr("Unpin") if view.pinned else tr("Pin")
        self.pin_button.setToolTip(words)
        self.pin_button.setAccessibleName(words)
        self.pin_button.setChecked(view.pinned)

    def _view(self) -> CheckpointView:
        found = next((c for c in self.workspace.run.checkpoints if c.checkpoint == self._id), None)
        if found is None:
            raise KeyError(self._id)
        return found

    def _queued(self) -> list[QueuedView]:
        run = self.workspace.run
        return list(run.queued) if run.stands_at(self._id) else []

    def _build(self) -> None:
        """Makes what says something of the moment anew. The buttons stay: news must not take one away under a click."""
        self._boxes.clear()
        view = self._view()
        self._above, column = self._renewed(self._above, 0)
        self._add_restorable(column, view)
        self._below, column = self._renewed(self._below, 2)
        self._add_contents(column, view)
        self._add_queued(column)

    def _renewed(self, old: QWidget | None, place: int) -> tuple[QWidget, QVBoxLayout]:
        """An empty part in the place of an old one."""
        if old is not None:
            self._parts.removeWidget(old)
            old.hide()
            old.deleteLater()
        made = QWidget()
        column = QVBoxLayout(made)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self._parts.insertWidget(place, made)
        return made, column

    def _add_restorable(self, column: QVBoxLayout, view: CheckpointView) -> None:
        section = Section(self.theme, tr("Can be restored") if not view.problem else tr("Cannot be restored"), gap=2)
        if view.problem:
            section.add(Check(self.theme, "own:error", "fail_t", view.problem, "fail_t"))
        elif self.workspace.run.stands_at(self._id):
            text = tr("You are here: canvas, messages and state show this moment.")
            section.add(Check(self.theme, "circle-check", "done_t", text, "text"))
        else:
            text = tr("Canvas, messages and state then show this moment; Run or Step continues as a new branch.")
            section.add(Check(self.theme, "circle-check", "done_t", text, "text"))
        self._add_drift(section, view)
        warning = sentence(self.workspace.run.effects(self._id) or ())
        if warning:
            section.add(Check(self.theme, "zap", "wait_t", warning, "wait_t"))
        column.addWidget(section)

    def _add_drift(self, section: Section, view: CheckpointView) -> None:
        """How the drawing differs from the one of this checkpoint."""
        found = self.workspace.run.comparison(self._id)
        if found is None:
            return
        if found.drift is None:
            text = NOT_KEPT
            section.add(Check(self.theme, "own:info", "run_t", text, "text2"))
            return
        sentences = found.drift.sentences()
        if not sentences and not view.problem:
            text = tr("Same nodes and edges as the open workflow.")
            section.add(Check(self.theme, "circle-check", "done_t", text, "text"))
        for text in sentences:
            section.add(Check(self.theme, "own:problem", "wait_t", text, "wait_t"))

    def map_nodes(self) -> None:
        """Opens the sheet that says what differs and which node is which."""
        open_mapping_sheet(self.theme, self.workspace, self._id, self)

    def open_old(self) -> None:
        """Opens the drawing of this run to look at, in a tab of its own."""
        found = self.workspace.run.comparison(self._id)
        if found is not None and found.old is not None:
            self.workspace.drawing_offered.emit(found.old, self._id)

    def _make_buttons(self) -> QWidget:
        holder = QWidget()
        outer = QVBoxLayout(holder)
        outer.setContentsMargins(12, 9, 12, 2)
        outer.setSpacing(6)
        row = QHBoxLayout()
        row.setSpacing(6)
        outer.addLayout(row)
        self.restore_button = Button(self.theme, tr("Restore…"), "history", "primary", small=True)
        self.restore_button.clicked.connect(self.restore)
        self.fork_button = Button(self.theme, tr("Fork"), "git-branch", small=True)
        self.fork_button.clicked.connect(self.fork)
        self.resume_button = Button(self.theme, tr("Resume"), "own:play", small=True)
        self.resume_button.setToolTip(tr("Go on from the last checkpoint, on the same branch"))
        self.resume_button.clicked.connect(self.resume)
        row.addWidget(self.restore_button)
        self.compare_button = Button(self.theme, tr("Compare…"), "columns-2", small=True)
        self.compare_button.setToolTip(tr("Compare with the end of the branch that is shown"))
        self.compare_button.clicked.connect(self.compare)
        row.addWidget(self.fork_button)
        row.addWidget(self.compare_button)
        row.addWidget(self.resume_button)
        row.addStretch(1)
        self._add_drift_buttons(outer)
        return holder

    def _add_drift_buttons(self, outer: QVBoxLayout) -> None:
        self.map_button = Button(self.theme, tr("Map nodes…"), "shuffle", small=True)
        self.map_button.clicked.connect(self.map_nodes)
        self.old_button = Button(self.theme, tr("Open the old drawing"), "external-link", small=True)
        self.old_button.clicked.connect(self.open_old)
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addWidget(self.map_button)
        row.addWidget(self.old_button)
        row.addStretch(1)
        outer.addLayout(row)

    def _refresh_buttons(self) -> None:
        for button, command in ((self.restore_button, "restore"), (self.fork_button, "fork")):
            allowed, why = self.workspace.run.can(command)
            problem = self._view().problem
            if command == "restore" and self.workspace.run.stands_at(self._id):
                problem = tr("You are here")
            button.setEnabled(allowed and not problem)
            button.setToolTip(tip(problem or why))
        found = self.workspace.run.comparison(self._id)
        drift = found.drift if found is not None else None
        differs = drift is not None and drift.differs
        self.map_button.setVisible(differs)
        self.map_button.setText(tr("Map nodes…") if self._view().problem else tr("What differs…"))
        self.old_button.setVisible(differs and found is not None and found.old is not None)
        self.resume_button.setVisible(self.workspace.run.is_interrupted(self._view().branch))
        self.resume_button.setEnabled(self.workspace.run.can("restore")[0])

    def _add_contents(self, column: QVBoxLayout, view: CheckpointView) -> None:
        run = self.workspace.run
        parent = next((c for c in run.checkpoints if c.checkpoint == view.parent), None)
        words = checkpoint_title(parent).removeprefix(tr("Checkpoint ")) if parent else tr("none")
        add_details(self.theme, column, self.workspace, view, words, run.details(self._id))

    def _add_queued(self, column: QVBoxLayout) -> None:
        queued = self._queued()
        if not queued:
            if not self.workspace.run.stands_at(self._id):
                holder = QWidget()
                row = QHBoxLayout(holder)
                row.setContentsMargins(12, 9, 12, 2)
                edit = Button(self.theme, tr("Fork with edits…"), "pencil", small=True)
                edit.setToolTip(tr("Change messages, state, conversations or prompts, then run a new branch"))
                edit.clicked.connect(lambda: open_fork_sheet(self.theme, self.workspace, self._id, self))
                row.addWidget(edit)
                row.addStretch(1)
                column.addWidget(holder)
            return
        section = Section(self.theme, tr("Fork with edited messages"))
        section.set_summary(str(len(queued)))
        workflow = self.workspace.document.workflow
        for view in queued:
            box = TextBox(self.theme, lines=3)
            box.show_value(self.workspace.run.drafts.get(view.message, view.text))
            box.edited.connect(partial(self._on_box_edited, view.message))
            self._boxes[view.message] = box
            targets = ", ".join(target_names(workflow, view.target, view.edges)) or tr("its edges")
            title = f"{source_name(workflow, view.source, view.purpose)} → {targets}"
            section.add(Field(self.theme, title, box, resettable=False))
        column.addWidget(section)

    def _on_box_edited(self, message: str, text: object) -> None:
        self.workspace.run.drafts[message] = str(text)
