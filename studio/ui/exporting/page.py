"""Export to Python: the files, the code, where the drawing is in it, options, and writing it to a folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSplitter, QStackedLayout, QVBoxLayout, QWidget

from studio.bridge.view_state import ViewState
from studio.bridge.workspace import Workspace
from studio.document.model import Workflow
from studio.proof.words import TITLES
from studio.settings import trust
from studio.settings.preferences import read_preferences
from studio.ui.dialogs.file_dialogs import choose_new_folder
from studio.ui.exporting.checks import ChecksPanel
from studio.ui.exporting.code_head import CodeHead
from studio.ui.exporting.code_search import CodeSearch
from studio.ui.exporting.code_view import CodeView
from studio.ui.exporting.editor import open_in_editor
from studio.ui.exporting.error_bar import ErrorBar
from studio.ui.exporting.file_tree import FileTree, PlaceList
from studio.ui.exporting.folder_writing import FolderWriting
from studio.ui.exporting.last_export import LastExport
from studio.ui.exporting.no_code_page import NoCodePage
from studio.ui.exporting.options import ExportOptions
from studio.ui.exporting.places import CodePlace
from studio.ui.exporting.proof_bar import ProofBar
from studio.ui.exporting.written_code import CodeWriter, ExportChoice, WrittenCode
from studio.ui.text import tip, tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import Chip, Label, Prose
from studio.ui.widgets.page import Page
from studio.ui.widgets.sources import counted
from studio.ui.window.document_tabs import DocumentPage

_BEHIND_MS = 300
_BUSY_MS = 100
"""What takes longer says that it is at work."""
_KEPT = "export"


class ExportPage(DocumentPage):
    """Follows the document: code is written anew shortly after each change, if the page is visible."""

    kind = "export"

    said = Signal(str)
    node_chosen = Signal(str)
    """An item to be shown on the canvas."""
    checked = Signal()
    """A step of the check began or ended, or the code is another one than what was checked."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.workspace: Workspace | None = None
        self._code = WrittenCode(Workflow())
        self._files: Mapping[str, str] = {}
        self._shown = ""
        self._choice: ExportChoice | None = None
        self._waiting: Callable[[], None] | None = None
        """What goes on once the code is that of the document."""
        self.writer = CodeWriter(self)
        self.last = LastExport(self)
        self.writing = FolderWriting(theme, self, self.last)
        self._stale = True
        self._timer = QTimer(self, singleShot=True, interval=_BEHIND_MS)
        self._busy = QTimer(self, singleShot=True, interval=_BUSY_MS)
        self._tree = FileTree(theme)
        self._count = Chip(theme, "0", height=18)
        self._places = PlaceList(theme)
        self._changed = Prose(theme, "", "small", "muted", 15)
        self._view = CodeView(theme)
        self.search = CodeSearch(theme, self._view)
        self._errors = ErrorBar(theme)
        self.proof_bar = ProofBar(theme)
        self.checks = ChecksPanel(theme, tuple(TITLES))
        self.head = CodeHead(theme)
        self.shows, self.edit = self.head.shows, self.head.edit
        self.options = ExportOptions(theme)
        self.target = self.options.target
        self.no_code = NoCodePage(theme)
        self._write = Button(theme, tr("Write to folder…"), "download", "primary")
        self._copy_all = Button(theme, tr("Copy all"))
        self._pages = QStackedLayout()
        self._lay_out()
        self._connect()

    def set_workspace(self, workspace: Workspace | None) -> None:
        """Shows the code of another workflow."""
        if self.workspace is not None:
            self.workspace.document.changed.disconnect(self._on_document_changed)
            self.workspace.problems.changed.disconnect(self._show_errors)
            self.workspace.proof.changed.disconnect(self._show_proof)
            self.workspace.code_trusted.disconnect(self._show_proof)
        self.workspace, self._waiting = workspace, None
        self.writer.forget()
        if workspace is not None:
            workspace.document.changed.connect(self._on_document_changed)
            workspace.problems.changed.connect(self._show_errors)
            workspace.proof.changed.connect(self._show_proof)
            workspace.code_trusted.connect(self._show_proof)
            self._choice = ExportChoice.of_kept(ViewState(workspace.document.workflow.id).get(_KEPT))
            self.options.show_choice(self._choice)
        self.refresh()

    @property
    def files(self) -> dict[str, str]:
        """The project that is shown: relative path -> text."""
        return dict(self._files)

    def refresh(self) -> None:
        """Writes the code anew, in a thread; ``writer.written`` follows."""
        self._timer.stop()
        self._stale = False
        choice = self.options.choice() if self.workspace is not None else None
        if self.workspace is None or choice is None:
            self._waiting = None
            return
        document = self.workspace.document
        if choice != self._choice:
            self._choice = choice
            ViewState(document.workflow.id).set(_KEPT, choice.kept())
        self.writer.write(document.workflow, choice, document.path.parent if document.path is not None else None)

    def when_written(self, then: Callable[[], None]) -> None:
        """Goes on once the code that is shown is that of the document and the options as they are now."""
        if self._timer.isActive() or self._stale or self.writer.busy:
            self._waiting = then
            self.refresh()
        else:
            then()

    def showEvent(self, event: object) -> None:
        if self._stale:
            self._timer.start()

    def event(self, event: QEvent) -> bool:
        # What is looked for here is in the code, whatever the window looks through elsewhere.
        find = isinstance(event, QKeyEvent) and event.matches(QKeySequence.StandardKey.Find)
        if find and event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Find):
            self.search.begin()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), self._theme.color("window"))

    # ---- showing
    def _show_written(self, code: WrittenCode) -> None:
        self._code, self._files = code, code.files
        waiting, self._waiting = self._waiting, None
        self.target.tell(code.told)
        if code.problem:
            self._show_problem()
            return
        self._show_files()
        if waiting is not None:
            waiting()

    def _on_writer_changed(self) -> None:
        """The sign that code is being written comes once that takes its time, and goes with the code."""
        if self.writer.busy:
            self._busy.start()
            return
        self._busy.stop()
        self._count.set_text(str(len(self._files)))

    def _on_busy_timeout(self) -> None:
        self._count.set_text(tr("Writing the code …"))

    def _show_files(self) -> None:
        main = self._code.main
        self._pages.setCurrentIndex(0)
        self._show_errors()
        self._copy_all.setEnabled(True)
        self._count.set_text(str(len(self._files)))
        self.options.package.setPlaceholderText((main or "").split("/")[0].removesuffix(".py"))
        self._tree.show_files(list(self._files), self._shown if self._shown in self._files else main)
        assert self.workspace is not None
        self._look_at_folder()
        self.workspace.proof.show_files(self._files)
        self._places.show_places(list(self._code.places))
        self._show_file(self._shown if self._shown in self._files else main or "")

    def _show_errors(self) -> None:
        """With errors the code is there to be read, not to be written."""
        found = self.workspace.problems.problems if self.workspace is not None else ()
        errors = [problem for problem in found if problem.severity == "error"]
        self._errors.show_errors(errors)
        self.proof_bar.setVisible(not errors)
        self._write.setEnabled(not errors and self._pages.currentIndex() == 0)
        self._write.setToolTip(tr("Possible when the workflow has no errors.") if errors else "")

    def _show_problem(self) -> None:
        refused = list(self._code.refused)
        title = tr("Durable Task cannot run this workflow as it is drawn.")
        none = tr("There is no code for this workflow yet.")
        self._count.set_text("0")
        self._tree.show_files([], None)
        self._places.show_places([])
        self.no_code.show_reasons(title if refused else none, refused or [("", self._code.problem)])
        self._pages.setCurrentIndex(1)
        self._write.setEnabled(False)
        self._copy_all.setEnabled(False)

    def _show_file(self, path: str) -> None:
        code = self._files.get(path, "")
        changed = path != self._shown
        self._shown = path
        self.head.path.set_text(path)
        self.head.show_in_folder(self.last.file(path))
        if self.shows.value == "changes":
            self._show_changes(path)
            return
        number = code.count("\n")
        self.head.lines.set_text(counted(number, tr("1 line"), tr("{count} lines")))
        glyphs = self._code.glyphs if path == self._code.main else {}
        if changed:
            self._view.show_line(0)
        self._view.show_code(path, code.removesuffix("\n"), glyphs)

    def _show_changes(self, path: str) -> None:
        """What the next export would change in the file, as it is in the folder now."""
        found = self.last.lines(path)
        come, go = found.counts
        self.head.lines.set_text(tr("+{come} −{go}").format(come=come, go=go))
        self._view.show_line(0)
        self._view.show_code(path, found.text, {}, found.marks)
        self._view.bring_into_view(found.first)

    def _look_at_folder(self) -> None:
        """Compares with what is in the folder of the last export; without one there are no changes to show."""
        if self.workspace is not None:
            self.last.look(self.workspace.document.workflow.id, self._files)

    def _on_last_looked(self) -> None:
        folder = self.last.folder
        if self.last.looking:
            name = folder.name if folder is not None else ""
            self._changed.set_text(tr("Comparing with {folder} …").format(folder=name) if name else "")
            return
        self._tree.mark(self.last.reasons(), self.last.counts())
        self.shows.setVisible(folder is not None)
        if folder is None:
            self.shows.show_value("code")
        words = tr("What the next export would change in {folder}").format(folder=folder)
        self.shows.setToolTip(tip(words) if folder is not None else "")
        self._changed.set_text(self._changes_in_words())
        self._show_file(self._shown)

    def _changes_in_words(self) -> str:
        if self.last.folder is None:
            return ""
        number = len(self.last.reasons())
        if not number:
            return tr("Nothing has changed since the last export.")
        changed = counted(number, tr("1 file changed since the last export."),
                          tr("{count} files changed since the last export."))  # fmt: skip
        return f"{changed} {tr('Unchanged nodes give unchanged lines.')}"

    def _show_proof(self) -> None:
        if self.workspace is not None:
            self.proof_bar.show_proof(self.workspace.proof)
            self.checks.show_steps(self.workspace.proof.steps if self.workspace.proof.state != "stale" else {})
            self.checked.emit()

    # ---- layout
    def _lay_out(self) -> None:
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setHandleWidth(1)
        for widget, stretch in ((self._left(), 0), (self._centre(), 1), (self._right(), 0)):
            split.addWidget(widget)
            split.setStretchFactor(split.count() - 1, stretch)
            split.setCollapsible(split.count() - 1, False)
        split.setSizes([236, 1000, 312])
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(split)

    def _left(self) -> QWidget:
        split = QSplitter(Qt.Orientation.Vertical)
        split.setHandleWidth(1)
        split.setMinimumWidth(180)
        files = _titled(self._theme, tr("Files"), self._tree, self._count)
        self._changed.setContentsMargins(14, 6, 12, 10)
        files_column = files.layout()
        assert files_column is not None
        files_column.addWidget(self._changed)
        split.addWidget(files)
        split.addWidget(_titled(self._theme, tr("Where is it in the code?"), self._places, None))
        split.setChildrenCollapsible(False)
        return split

    def _centre(self) -> QWidget:
        line = QFrame()
        line.setProperty("line", "true")
        line.setFixedHeight(1)
        code = QWidget()
        column = QVBoxLayout(code)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._errors)
        column.addWidget(self.proof_bar)
        column.addWidget(self.head)
        column.addWidget(line)
        column.addWidget(self.search)
        column.addWidget(self._view, 1)
        self._pages.addWidget(code)
        self._pages.addWidget(self.no_code)
        holder = QWidget()
        holder.setLayout(self._pages)
        return holder

    def _right(self) -> QWidget:
        side = QWidget()
        side.setMinimumWidth(260)
        column = QVBoxLayout(side)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        # It scrolls: a page that needs much height would take it from the docks of all tabs.
        page = Page()
        page.add(self._checks_and_options())
        column.addWidget(page, 1)
        line = QFrame()
        line.setProperty("line", "true")
        line.setFixedHeight(1)
        column.addWidget(line)
        buttons = QHBoxLayout()
        buttons.setContentsMargins(12, 10, 12, 10)
        buttons.setSpacing(8)
        buttons.addWidget(self._write)
        buttons.addWidget(self._copy_all)
        buttons.addStretch(1)
        column.addLayout(buttons)
        return side

    def _checks_and_options(self) -> QWidget:
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.checks)
        above = QFrame()
        above.setProperty("line", "true")
        above.setFixedHeight(1)
        column.addWidget(above)
        column.addWidget(self.options)
        return content

    def _connect(self) -> None:
        self._timer.timeout.connect(self.refresh)
        self._busy.timeout.connect(self._on_busy_timeout)
        self._tree.file_chosen.connect(self._show_file)
        self._places.place_chosen.connect(self._on_place_chosen)
        self._places.opened.connect(self.node_chosen)
        self._view.line_clicked.connect(self._on_line_clicked)
        self._errors.chosen.connect(self.node_chosen)
        self.no_code.chosen.connect(self.node_chosen)
        self.checks.node_chosen.connect(self.node_chosen)
        self.proof_bar.started.connect(self._on_proof_bar_started)
        self.proof_bar.cancelled.connect(self._on_proof_bar_cancelled)
        self.options.typed.connect(self._timer.start)
        self.writer.written.connect(self._show_written)
        self.writer.changed.connect(self._on_writer_changed)
        self.options.changed.connect(self.refresh)
        self.last.looked.connect(self._on_last_looked)
        self.writing.said.connect(self.said)
        self.writing.planned.connect(self._show_errors)
        self.writing.ended.connect(self._on_writing_ended)
        self._write.clicked.connect(self._on_write_clicked)
        self._copy_all.clicked.connect(self._on_copy_all_clicked)
        self.head.copied.connect(self._on_head_copied)
        self.head.search.clicked.connect(self.search.begin)
        self.shows.edited.connect(self._on_shows_edited)
        self.edit.clicked.connect(self._on_edit_clicked)

    # ---- reactions
    def _on_document_changed(self, _changes: object) -> None:
        self._stale = True
        if self.isVisible():
            self._timer.start()

    def _on_place_chosen(self, place: CodePlace) -> None:
        main = self._code.main
        if main is None:
            return
        self._tree.show_files(list(self._files), main)
        self._show_file(main)
        self._view.show_line(place.lines[0])

    def _on_line_clicked(self, line: int) -> None:
        if self._shown != self._code.main:
            return
        for place in self._code.places:
            if line in place.lines:
                self._places.choose(place.item)
                self._view.show_line(line)

    def _on_proof_bar_started(self) -> None:
        if self.workspace is None:
            return
        document = self.workspace.document
        if trust.trust_list().untrusted(document.workflow, document.folder):
            reason = tr("This workflow has code that nobody has accepted. Accept it in its tab, then check again.")
            self.proof_bar.refuse(reason)
            self.said.emit(reason)
            return
        self.when_written(self._prove)

    def _prove(self) -> None:
        """Of the document that the code was written of, which may be a moment older than the drawing."""
        if self.workspace is not None:
            interpreter, run = read_preferences()[0].interpreter, self.workspace.run.shown_run
            self.workspace.proof.start(self._code.workflow, self.workspace.document.folder, interpreter, run)

    def _on_proof_bar_cancelled(self) -> None:
        if self.workspace is not None:
            self.workspace.proof.cancel()

    def _on_shows_edited(self, value: object) -> None:
        self.shows.show_value(value)
        self._look_at_folder()
        self._show_file(self._shown)

    def _on_edit_clicked(self) -> None:
        file = self.last.file(self._shown)
        if file is None:
            return
        line = self._view.shown_line if self.shows.value == "code" else 1
        problem = open_in_editor(read_preferences()[0].editor, file, line)
        self.said.emit(problem or tr("Opened {name}.").format(name=file.name))

    def _on_head_copied(self) -> None:
        QGuiApplication.clipboard().setText(self._files.get(self._shown, ""))
        self.said.emit(tr("Copied {path}.").format(path=self._shown))

    def _on_copy_all_clicked(self) -> None:
        text = "\n\n".join(f"# ---- {path}\n{code}" for path, code in self._files.items())
        QGuiApplication.clipboard().setText(text)
        self.said.emit(counted(len(self._files), tr("Copied 1 file."), tr("Copied {count} files.")))

    def _on_write_clicked(self) -> None:
        path = self.workspace.document.path if self.workspace is not None else None
        start = self.last.folder or (path.parent if path is not None else Path.home())
        choose_new_folder(self, tr("Write the project to a folder"), start, self.write_to)

    def write_to(self, folder: Path) -> None:
        """Writes the project; what was changed by hand stays, or is shown with a question before it is replaced."""
        self.when_written(partial(self._write_files, folder))

    def _write_files(self, folder: Path) -> None:
        if self.workspace is not None and self._files:
            self._write.setEnabled(False)
            self.writing.write(self._files, folder, self.workspace.document.workflow.id)

    def _on_writing_ended(self) -> None:
        self._show_errors()
        self._look_at_folder()


def _titled(theme: Theme, title: str, content: QWidget, side: QWidget | None) -> QWidget:
    """A part of the left column with its header."""
    holder = QWidget()
    head = QHBoxLayout()
    head.setContentsMargins(12, 7, 8, 7)
    head.setSpacing(6)
    head.addWidget(Label(theme, title, "section"))
    if side is not None:
        head.addWidget(side)
    head.addStretch(1)
    column = QVBoxLayout(holder)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    column.addLayout(head)
    column.addWidget(content, 1)
    return holder
