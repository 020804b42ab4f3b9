"""The requests panel: a card per open request, and one button that sends what is ready."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeySequence, QPainter, QPaintEvent, QShortcut
from PySide6.QtWidgets import QApplication, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from studio.bridge.run_model import RunModel
from studio.bridge.run_views import RunUpdate
from studio.bridge.workspace import Workspace
from studio.debugger.states import ENDED
from studio.document.lines import name_of
from studio.ui.requests.card import ApprovalCard, RequestCard, make_card
from studio.ui.requests.values import MISSING, Wrong
from studio.ui.text import tip, tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.empty import EmptyText
from studio.ui.widgets.labels import Label, Prose
from studio.ui.widgets.page import Page
from studio.ui.widgets.panel import Panel


class _Footer(QWidget):
    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme

    def paintEvent(self, _event: QPaintEvent) -> None:
        QPainter(self).fillRect(0, 0, self.width(), 1, self._theme.color("line"))


class _Nobody(QWidget):
    """What stands where no request is: nobody asks, or a branch does whose questions are not shown yet."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 12)
        column.setSpacing(0)
        column.addStretch(1)
        self.text = EmptyText(theme, "")
        column.addWidget(self.text)
        self.button = Button(theme, tr("Answer…"), "hand", small=True)
        column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(1)

    def show_run(self, run: RunModel | None) -> None:
        """Shows who waits in the runs of a workflow."""
        branch = run.unanswered if run is not None else None
        if branch is None or run is None:
            self.text.label.setText(tr("Nobody is waiting for you."))
        else:
            text = tr("{branch} of run {number} waits for your answer.")
            self.text.label.setText(text.format(branch=branch.name, number=branch.number))
            allowed, why = run.can("restore")
            self.button.setEnabled(allowed)
            self.button.setToolTip(tip(why))
        self.button.setVisible(branch is not None)


class RequestsPanel(Panel):
    """Cards stay as they are while their request is open, so drafts survive updates."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.cards: dict[str, RequestCard] = {}
        self._holders: dict[str, QWidget] = {}
        self._focus_when_asked = False
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        self._stack = QStackedWidget()
        self._nobody = _Nobody(theme)
        self._nobody.button.clicked.connect(self._on_answer_clicked)
        self._stack.addWidget(self._nobody)
        self._page = Page()
        self._intro = Prose(theme, "", "body", "text2", 17)
        self._intro.setContentsMargins(14, 10, 14, 4)
        self._page.add(self._intro)
        self._stack.addWidget(self._page)
        outer.addWidget(self._stack, 1)
        self._footer = self._make_footer()
        outer.addWidget(self._footer)
        self._footer.hide()
        for keys in ("Ctrl+Return", "Ctrl+Enter"):
            shortcut = QShortcut(QKeySequence(keys), self, context=Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(self.send_answers)
        self._timer = QTimer(self)
        self._timer.setInterval(1000)
        self._timer.timeout.connect(self._on_timer_timeout)
        self.setMinimumWidth(280)

    def enter(self, workspace: Workspace) -> None:
        workspace.run.updated.connect(self._on_run_updated)
        workspace.run.state_changed.connect(self._on_run_state_changed)

    def leave(self, workspace: Workspace) -> None:
        workspace.run.updated.disconnect(self._on_run_updated)
        workspace.run.state_changed.disconnect(self._on_run_state_changed)

    def show_workspace(self) -> None:
        self._drop(list(self.cards))
        self._focus_when_asked = False
        self.refresh()

    def refresh(self) -> None:
        """Shows the requests that are open."""
        workspace = self.workspace
        requests = workspace.run.requests if workspace is not None else []
        open_ids = {r.request for r in requests}
        gone = [key for key in self.cards if key not in open_ids]
        focus = QApplication.focusWidget()
        if gone and focus is not None and self.isAncestorOf(focus):
            self.setFocus()  # else Qt gives it to the next text field, wherever that is
        self._drop(gone)
        if workspace is not None:
            for view in requests:
                if view.request not in self.cards:
                    self._add(make_card(self.theme, workspace, view))
            self._intro.set_text(self._sentence(workspace))
        if not requests:
            self._nobody.show_run(workspace.run if workspace is not None else None)
        self._stack.setCurrentIndex(1 if requests else 0)
        self._footer.setVisible(bool(requests))
        if requests and not self._timer.isActive():
            self._timer.start()
        elif not requests:
            self._timer.stop()
        self._on_timer_timeout()
        self._show_ready()
        if self.cards and self._focus_when_asked:
            self._focus_when_asked = False
            self.focus_first()

    def answers(self) -> dict[str, object]:
        """The drafts that can be sent, by request."""
        ready: dict[str, object] = {}
        for key, card in self.cards.items():
            try:
                value = card.draft()
            except Wrong:
                continue
            if value is not MISSING:
                ready[key] = value
        return ready

    def send_answers(self) -> None:
        """Sends what is ready; shows what is missing in the others. After a stop: has it asked again."""
        if self._is_over():
            if self.workspace is not None:
                self.workspace.run.retry()
            return
        ready = self.answers()
        for key, card in self.cards.items():
            if key not in ready:
                card.show_errors()
        if ready and self.workspace is not None:
            self.workspace.run.answer(ready)

    def showEvent(self, event: object) -> None:
        super().showEvent(event)  # type: ignore[arg-type]
        self._on_timer_timeout()

    def focus_first(self) -> None:
        """Puts the focus on the first card."""
        for card in self.cards.values():
            card.focus_first()
            return

    def go_to_open(self) -> None:
        """Puts the focus where the first answer is given. Where questions are not shown yet, as after a start of the
        program, the branch that waits is shown first."""
        branch = self.workspace.run.unanswered if self.workspace is not None else None
        self._focus_when_asked = branch is not None
        self.focus_first() if branch is None else self._on_answer_clicked()

    def _make_footer(self) -> QWidget:
        footer = _Footer(self.theme)
        column = QVBoxLayout(footer)
        column.setContentsMargins(12, 11, 12, 8)
        column.setSpacing(4)
        row = QHBoxLayout()
        row.setSpacing(8)
        column.addLayout(row)
        self.send = Button(self.theme, tr("Send answers"), kind="primary", keys="Ctrl+Enter")
        self.send.clicked.connect(self.send_answers)
        row.addWidget(self.send)
        row.addStretch(1)
        self.cancel = Button(self.theme, "", kind="plain")
        self.cancel.clicked.connect(self._on_cancel_clicked)
        row.addWidget(self.cancel)
        self._ready = Label(self.theme, "", "small", "muted")
        column.addWidget(self._ready)
        return footer

    def _add(self, card: RequestCard) -> None:
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(12, 8 if not self.cards else 12, 12, 0)
        column.addWidget(card)
        card.draft_changed.connect(partial(self._on_draft_changed, card.view.request))
        self.cards[card.view.request] = card
        self._holders[card.view.request] = holder
        self._page.add(holder)

    def _drop(self, keys: list[str]) -> None:
        for key in keys:
            del self.cards[key]
            holder = self._holders.pop(key)
            holder.hide()
            holder.deleteLater()

    def _is_over(self) -> bool:
        """Whether the run ended, stopped by the user or failed, before these answers."""
        return self.workspace is not None and self.workspace.run.state in ENDED

    def _sentence(self, workspace: Workspace) -> str:
        requests = workspace.run.requests
        if self._is_over():
            return tr(
                "The run ended before your answer. Asking again goes on from its last checkpoint as a new branch."
            )
        names = list(dict.fromkeys(name_of(workspace.document.workflow, r.node) for r in requests))
        if len(names) == 1:
            count = len(requests)
            if count == 1:
                return tr("{name} waits for your answer.").format(name=names[0])
            if count == 2:
                return tr("{name} waits for both answers.").format(name=names[0])
            return tr("{name} waits for {count} answers.").format(name=names[0], count=count)
        return tr("{names} wait for {count} answers.").format(names=", ".join(names), count=len(requests))

    def _on_draft_changed(self, request: str) -> None:
        card = self.cards.get(request)
        if card is not None and self.workspace is not None:
            with suppress(Wrong):
                value = card.draft()
                self.workspace.run.keep_draft(request, None if value is MISSING else value)
        self._show_ready()

    def _show_ready(self) -> None:
        over = self._is_over()
        self.send.setText(tr("Ask again") if over else tr("Send answers"))
        self._ready.setVisible(not over)
        self._show_cancel(over=over)
        if over and self.workspace is not None:
            allowed, why = self.workspace.run.can("retry")
            self.send.setEnabled(allowed)
            self.send.setToolTip(tip(why))
            return
        ready, total = len(self.answers()), len(self.cards)
        self._ready.setText(tr("{ready} of {total} ready").format(ready=ready, total=total))
        self.send.setEnabled(ready > 0)
        self.send.setToolTip("" if ready else tr("Answer a request first"))

    def _show_cancel(self, *, over: bool) -> None:
        texts = {1: tr("Cancel…"), 2: tr("Cancel both…")}
        self.cancel.setText(texts.get(len(self.cards), tr("Cancel all…")))
        self.cancel.setVisible(not over)
        allowed, why = self.workspace.run.can("stop") if self.workspace is not None else (False, "")
        self.cancel.setEnabled(allowed)
        self.cancel.setToolTip(tr("End the run without an answer") if allowed else why)

    def _on_cancel_clicked(self) -> None:
        from studio.ui.dialogs.messages import Choice, ask

        detail = tr("What the nodes did so far is kept: the run can ask again from its last checkpoint.")
        choices = [
            Choice(tr("End the run"), self._end_run),
            Choice(tr("Keep waiting"), self.setFocus, default=True, cancels=True),
        ]
        ask(self.theme, self, tr("End the run without an answer?"), detail, choices)

    def _end_run(self) -> None:
        if self.workspace is not None:
            self.workspace.run.stop()

    def _on_run_updated(self, update: RunUpdate) -> None:
        if update.requests or update.everything or update.checkpoints:
            self.refresh()

    def _on_answer_clicked(self) -> None:
        branch = self.workspace.run.unanswered if self.workspace is not None else None
        if branch is not None and self.workspace is not None:
            self.workspace.run.show_branch(branch.branch)

    def _on_run_state_changed(self) -> None:
        self.refresh()

    def _on_timer_timeout(self) -> None:
        if self.isVisible():
            for card in self.cards.values():
                if isinstance(card, ApprovalCard):
                    card.refresh_time()
