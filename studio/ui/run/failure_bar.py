"""Says above the lanes why the run failed and with which input, goes to the node and field, and offers to retry."""

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
    """The whole sentence of a failed run; hidden otherwise. ``failure`` is what its log tells beside."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._workspace: Workspace | None = None
        self._seen: object = None
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
        self.show_place = self._button(row, tr("Show where"), "crosshair", "failure")
        self.details = self._button(row, tr("Details…"), "", "failure_details")
        self.retry = Button(theme, tr("Retry"), "history", small=True)
        self.retry.setToolTip(tr("Retry from the last checkpoint, as a new branch"))
        self.retry.clicked.connect(self._on_retry_clicked)
        row.addWidget(self.retry, 0, Qt.AlignmentFlag.AlignTop)
        self.hide()

    def _button(self, row: QHBoxLayout, text: str, icon: str, command: str) -> Button:
        made = Button(self._theme, text, icon, small=True)
        made.clicked.connect(lambda: self._ask(command))
        row.addWidget(made, 0, Qt.AlignmentFlag.AlignTop)
        return made

    def show_failure(self, workspace: Workspace | None) -> None:
        """Shows why the run of a workspace failed, if it did."""
        self._workspace = workspace
        failed = workspace is not None and workspace.run.state is RunState.FAILED
        if workspace is not None and failed:
            run = workspace.run
            self.text.set_text(run.sentence)
            self.text.setToolTip(tip(run.sentence))
            self.retry.setVisible(run.can("retry")[0])
            seen = (run.branch, run.events_gone + len(run.events))
            if seen != self._seen:
                self._seen = seen
                self.failure = failure_of(run.events, workspace.document.workflow)
                self._show_place(workspace)
        self.setVisible(failed)

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

    def _ask(self, command: str) -> None:
        if self._workspace is not None:
            self._workspace.selection.command_requested.emit(command, "")

    def _on_retry_clicked(self) -> None:
        if self._workspace is not None:
            self._workspace.run.retry()
