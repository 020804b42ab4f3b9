"""One message in full: from, to, when, why it was delivered or dropped, and its text."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from studio.bridge.message_chain import MessageChain
from studio.bridge.run_views import MessageView
from studio.bridge.workspace import Workspace
from studio.ui.run.message_model import status_of, why
from studio.ui.text import tip, tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import Chip, IconLabel, Label, Prose
from studio.ui.widgets.page import Page
from studio.ui.widgets.sources import source_name
from studio.ui.widgets.text_fields import TextBox

_MOST = 8
"""Causes and effects that are listed."""
_MARKS = {True: ("circle-check", "done_t"), False: ("circle-slash", "muted")}


class MessageDetail(Page):
    """Built again for each message."""

    message_chosen = Signal(str)
    """A cause or an effect that the user wants to see."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._content: QWidget | None = None
        self._shown: object = None
        self.setMinimumWidth(220)

    @property
    def shown(self) -> object:
        """What is shown, for tests: (message id, status, routes, supersteps, held nodes)."""
        return self._shown

    def show_message(self, workspace: Workspace | None, view: MessageView | None) -> None:
        """Shows a message, or a hint."""
        steps = len(workspace.run.supersteps) if workspace is not None else 0
        seen = None
        if view is not None and workspace is not None:
            held = workspace.run.held_nodes
            seen = (view.message, status_of(workspace, view), len(view.routes), steps, *held)
        if seen == self._shown and self._content is not None:
            return
        self._shown = seen
        if self._content is not None:
            self._content.hide()
            self._content.deleteLater()
        self._content = QWidget()
        column = QVBoxLayout(self._content)
        column.setContentsMargins(12, 6, 12, 0)
        column.setSpacing(4)
        if workspace is None or view is None:
            column.addWidget(Prose(self._theme, tr("Select a message to read all of it."), "body", "muted", 17))
        else:
            self._fill(column, workspace, view)
        self.add(self._content)

    def _fill(self, column: QVBoxLayout, workspace: Workspace, view: MessageView) -> None:
        workflow = workspace.document.workflow
        head = QHBoxLayout()
        head.setSpacing(7)
        source = source_name(workflow, view.source, view.purpose)
        head.addWidget(Label(self._theme, source, "section"))
        head.addWidget(Chip(self._theme, view.type_name, square=True, elided=True))
        head.addStretch(1)
        step = tr("sent in superstep {number}").format(number=view.superstep) if view.superstep else tr("the input")
        head.addWidget(Label(self._theme, step, "small", "muted"))
        before = workspace.run.checkpoint_before_message(view.message)
        if before is not None:
            go = Button(self._theme, "", "history", "plain", small=True)
            go.setToolTip(tr("Select the checkpoint before this message was sent"))
            go.setAccessibleName(go.toolTip())
            go.clicked.connect(lambda: workspace.selection.look_at_checkpoint(before))
            head.addWidget(go)
        column.addLayout(head)
        routes = why(workspace, view)
        for delivered, target, reason in routes:
            row = QHBoxLayout()
            row.setSpacing(7)
            icon, tone = _MARKS[delivered]
            row.addWidget(IconLabel(self._theme, icon, 14, tone), 0, Qt.AlignmentFlag.AlignTop)
            text = f"{target}: {reason}" if target else reason
            row.addWidget(Prose(self._theme, text, "body", "text2", 17), 1)
            column.addLayout(row)
        if not routes and view.status == "queued":
            column.addWidget(Prose(self._theme, tr("Waits for the next superstep."), "body", "run_t", 17))
        box = TextBox(self._theme, lines=2, line_height=18)
        box.max_lines = 400
        box.show_value(view.text)
        box.set_read_only(True)
        box.setAccessibleName(tr("Text of the message"))
        column.addSpacing(4)
        column.addWidget(box)
        self._add_chain(column, workspace, view)

    def _add_chain(self, column: QVBoxLayout, workspace: Workspace, view: MessageView) -> None:
        """Links to the messages that it was made from and to those that were made from it."""
        chain = MessageChain(workspace.run.messages, workspace.run.invocations)
        workflow = workspace.document.workflow
        for title, icon, found in (
            (tr("Caused by"), "arrow-left", chain.causes(view)),
            (tr("Led to"), "arrow-right", chain.effects(view)),
        ):
            if not found:
                continue
            column.addSpacing(6)
            column.addWidget(Label(self._theme, title, "strong"))
            for one in found[:_MOST]:
                source = source_name(workflow, one.source, one.purpose)
                text = " ".join(one.text[:80].split()) or one.type_name
                words = f"{source}: {text}"
                link = Button(self._theme, words.replace("&", "&&"), icon, "plain", small=True)
                link.setAccessibleName(words)
                link.setToolTip(tip(words))
                link.at_left = True
                link.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
                link.clicked.connect(lambda _checked=False, id=one.message: self.message_chosen.emit(id))
                column.addWidget(link)
            if len(found) > _MOST:
                more = tr("and {count} more").format(count=len(found) - _MOST)
                column.addWidget(Label(self._theme, more, "small", "muted"))
