"""The status bar: state, counts, warnings; what was saved, what is selected, where model calls go."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QStatusBar, QWidget

from studio.debugger.states import RunState
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.toolbar.state_chip import LOOKS, ink_of
from studio.ui.widgets.sources import counted

WORDS: dict[RunState, str] = {
    RunState.IDLE: "Ready",
    RunState.PREPARING: "Preparing",
    RunState.RUNNING: "Running",
    RunState.STEPPING: "Stepping",
    RunState.PAUSING: "Pausing",
    RunState.PAUSED: "Paused",
    RunState.WAITING: "Waiting for you",
    RunState.STOPPING: "Stopping",
    RunState.COMPLETED: "Finished",
    RunState.CANCELLED: "Stopped",
    RunState.FAILED: "Failed",
}


class IconText(QWidget):
    """A small icon with a word."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._icon, self._token = "", "muted"
        self._picture, self._text = QLabel(), QLabel()
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(5)
        layout.addWidget(self._picture)
        layout.addWidget(self._text)
        theme.changed.connect(self._refresh)

    def text(self) -> str:
        return self._text.text()

    def show_text(self, text: str, icon: str = "", token: str = "muted") -> None:
        """Shows a text, with an icon in the same colour."""
        if (text, icon, token) == (self._text.text(), self._icon, self._token):
            return
        self._icon, self._token = icon, token
        self._text.setText(text)
        self.setVisible(bool(text))
        self._refresh()

    def _refresh(self) -> None:
        ratio = self.devicePixelRatioF()
        self._picture.setVisible(bool(self._icon))
        if self._icon:
            self._picture.setPixmap(self._theme.pixmap(self._icon, 13, self._token, ratio))
        sheet = f"color: {self._theme.color(self._token).name()}"
        if self._text.styleSheet() != sheet:
            self._text.setStyleSheet(sheet)


class StatusBar(QStatusBar):
    """Left: state, run, counts, problems. Right: autosave, selection, privacy. Passing messages stand at the left."""

    problems_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setSizeGripEnabled(False)
        self.state = IconText(theme)
        self.run, self.counts = QLabel(), QLabel()
        self.saved, self.selection, self.privacy = QLabel(), QLabel(), QLabel()
        self.problems = QPushButton()
        self._problems_shown: tuple[int, int] | None = None
        self.problems.setProperty("variant", "status")
        self.problems.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.problems.clicked.connect(self.problems_requested)
        left, row = QWidget(), QHBoxLayout()
        row.setContentsMargins(12, 0, 0, 0)
        row.setSpacing(14)
        for widget in (self.state, self.run, self.counts, self.problems):
            row.addWidget(widget)
        row.addStretch(1)
        left.setLayout(row)
        right, row = QWidget(), QHBoxLayout()
        row.setContentsMargins(0, 0, 12, 0)
        row.setSpacing(14)
        for label in (self.saved, self.selection, self.privacy):
            row.addWidget(label)
        for label in (self.run, self.saved, self.selection, self.privacy):
            label.setTextFormat(Qt.TextFormat.PlainText)
        right.setLayout(row)
        self.addWidget(left, 1)
        self._left = left
        self.messageChanged.connect(self._on_message_changed)
        self.addPermanentWidget(right)
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        self.show_problems(0, 0)

    def show_state(self, state: RunState, requests: int = 0) -> None:
        """The state of the run in a word or two; the tool bar has the sentence. ``requests``: how many are open."""
        tint, icon = LOOKS.get(state, ("done", "circle-check"))
        word = tr(WORDS[state])
        if state is RunState.WAITING and requests:
            word = counted(requests, tr("1 open request"), tr("{count} open requests"))
        self.state.show_text(word, icon, ink_of(tint))

    def show_run(self, text: str) -> None:
        """Which run and branch is shown, and where it stands ("Run 13 · main · superstep 6")."""
        self.run.setText(text)
        self.run.setVisible(bool(text))

    def show_counts(self, size: str) -> None:
        """How many nodes and edges the workflow has, in words."""
        self.counts.setText(size)
        self.counts.show()

    def show_problems(self, errors: int, warnings: int) -> None:
        """How many problems there are; nothing if there are none."""
        if self._problems_shown == (errors, warnings):
            return
        self._problems_shown = (errors, warnings)
        parts = []
        if errors:
            parts.append(counted(errors, tr("1 error"), tr("{count} errors")))
        if warnings:
            parts.append(counted(warnings, tr("1 warning"), tr("{count} warnings")))
        self.problems.setVisible(bool(parts))
        self.problems.setText(" · ".join(parts))
        token = "fail_t" if errors else "wait_t"
        self.problems.setIcon(self._theme.icon("circle-x" if errors else "triangle-alert", token))
        self.problems.setProperty("tone", "fail" if errors else "wait")
        self.problems.style().unpolish(self.problems)
        self.problems.style().polish(self.problems)

    def clear_document(self, text: str) -> None:
        """What the welcome page shows: no document, a word about the model."""
        for label in (self.run, self.counts, self.saved, self.selection):
            label.clear()
            label.hide()
        self.problems.hide()
        self._problems_shown = None
        self.state.show_text(text, "circle-check", "done_t")

    def show_saved(self, text: str) -> None:
        """When the work was last put away ("Autosaved 14:12")."""
        self.saved.setText(text)
        self.saved.setVisible(bool(text))

    def show_selection(self, text: str) -> None:
        """What is selected ("Writer selected")."""
        self.selection.setText(text)
        self.selection.setVisible(bool(text))

    def show_privacy(self, text: str) -> None:
        """Where model calls go."""
        self.privacy.setText(text)

    def _on_message_changed(self, text: str) -> None:
        # Qt hides what stands here only while the window is seen: a message from before would lie on the words.
        self._left.setVisible(not text)

    def _on_theme_changed(self) -> None:
        self._problems_shown = None
        self.setFixedHeight(self._theme.length(24))
