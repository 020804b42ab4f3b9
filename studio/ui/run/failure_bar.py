"""Says above the lanes why the run failed, or is held before it fails, goes to the node and field, offers to retry."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from studio.bridge.workspace import Workspace
from studio.debugger.failures import Failure, failure_of, where_words
from studio.debugger.states import RunState
from studio.ui.text import tip, tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import Elided, Prose

_SHORT = 160
"""Characters of the input that are shown; the details have all."""

_MOST = 84
"""Height up to which the sentence takes room from the lanes: three lines and what led to it."""


class FailureBar(QWidget):
    """The whole sentence of a failed run, or of one that a breakpoint on errors holds; hidden otherwise. ``failure`` is
    what the log of a failed run tells beside."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._workspace: Workspace | None = None
        self._seen: object = None
        self._held = ""
        """The node that a held run would show."""
        self.failure: Failure | None = None
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 7, 10, 7)
        row.setSpacing(8)
        words = QVBoxLayout()
        words.setSpacing(2)
        self.text = Prose(theme, "", "body", "fail_t", 17)
        self.where = Elided(theme, "", "small", "text2")
        words.addWidget(self.text)
        words.addWidget(self.where)
        row.addLayout(words, 1)
        self.show_place = Button(theme, tr("Show where"), "crosshair", small=True)
        self.show_place.clicked.connect(self._on_show_place_clicked)
        row.addWidget(self.show_place, 0, Qt.AlignmentFlag.AlignTop)
        self.details = Button(theme, tr("Details…"), small=True)
        self.details.clicked.connect(self._on_details_clicked)
        row.addWidget(self.details, 0, Qt.AlignmentFlag.AlignTop)
        self.retry = Button(theme, tr("Retry"), "history", small=True)
        self.retry.clicked.connect(self._on_retry_clicked)
        row.addWidget(self.retry, 0, Qt.AlignmentFlag.AlignTop)
        self.hide()

    def show_failure(self, workspace: Workspace | None) -> None:
        """Shows why the run of a workspace failed or would fail, if it did."""
        self._workspace = workspace
        run = workspace.run if workspace is not None else None
        self._held = next(iter(run.held_failures), "") if run is not None else ""
        failed = run is not None and run.state is RunState.FAILED
        if workspace is not None and run is not None and (failed or self._held):
            self.text.set_text(run.sentence)
            self.text.setToolTip(tip(run.sentence))
            self.retry.setVisible(run.can("retry")[0])
            again = tr("Run the failed node again; the superstep goes on where it is held")
            self.retry.setToolTip(again if self._held else tr("Retry from the last checkpoint, as a new branch"))
            self._look(workspace)
        self.setVisible(failed or bool(self._held))

    def _look(self, workspace: Workspace) -> None:
        """Finds out, once for each end of the log, where a run failed."""
        run = workspace.run
        seen = (run.branch, run.events_gone + len(run.events), self._held)
        if seen == self._seen:
            return
        self._seen = seen
        self.failure = None if self._held else failure_of(run.events, workspace.document.workflow)
        self._show_place(workspace)
        if self._held:
            self.show_place.setVisible(True)
            self.show_place.setToolTip(tr("Go to the node"))

    def _show_place(self, workspace: Workspace) -> None:
        failure = self.failure
        for widget in (self.show_place, self.details, self.where):
            widget.setVisible(failure is not None)
        if failure is None:
            return
        parts = [where_words(failure, workspace.document.workflow)]
        if failure.given:
            given = " ".join(failure.given[: _SHORT * 2].split())
            short = given if len(given) <= _SHORT else f"{given[:_SHORT]}…"
            parts.append(tr("input: {text}").format(text=short))
        self.where.set_text(" · ".join(part for part in parts if part))
        known = bool(failure.target.place or failure.target.field)
        self.show_place.setVisible(known)
        title = failure.target.title or failure.target.field.replace("_", " ")
        self.show_place.setToolTip(
            tip(tr("Go to the node and there to {field}").format(field=title.lower() or tr("its form")))
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._keep_room()

    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._keep_room()
        return done

    def _keep_room(self) -> None:
        """In a low panel the way out at the end of the sentence would be the first to go."""
        layout = self.layout()
        if layout is not None:
            self.setMinimumHeight(min(layout.heightForWidth(self.width()), self._theme.length(_MOST)))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color("fail_s"))

    def _on_show_place_clicked(self) -> None:
        if self._workspace is None:
            return
        if self._held:
            self._workspace.selection.reveal(self._held)
        else:
            self._workspace.selection.command_requested.emit("failure", "")

    def _on_details_clicked(self) -> None:
        if self._workspace is not None:
            self._workspace.selection.command_requested.emit("failure_details", "")

    def _on_retry_clicked(self) -> None:
        if self._workspace is not None:
            self._workspace.run.retry()
