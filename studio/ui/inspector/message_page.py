"""The page of a queued message: read it, change it, drop it, see where it came from."""

from __future__ import annotations

import json
from dataclasses import asdict, is_dataclass
from datetime import datetime

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from studio.agents.messages import AgentResponse, Message
from studio.bridge.run_views import InvocationView, MessageView, QueuedView
from studio.bridge.workspace import Workspace
from studio.debugger.states import RunState
from studio.document.lines import line, name_of
from studio.document.model import FanInEdge
from studio.engine.values import FROM_OUTSIDE
from studio.ui.inspector.last_run import fill_messages
from studio.ui.inspector.page import InspectorPage
from studio.ui.inspector.small_parts import Check, Facts, estimate
from studio.ui.inspector.trail import TrailRow
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.code import CodeEditor
from studio.ui.widgets.field import Field
from studio.ui.widgets.labels import Chip, Prose
from studio.ui.widgets.section import Section
from studio.ui.widgets.sources import counted, source_name, target_names, tokens_words
from studio.ui.widgets.tabs import TabStrip
from studio.ui.widgets.text_fields import TextBox

_EDITABLE = frozenset({RunState.PAUSED, RunState.COMPLETED, RunState.WAITING})


class MessagePage(InspectorPage):
    """Built from the run once; the text follows the run until the user types."""

    def __init__(self, theme: Theme, workspace: Workspace, message: str) -> None:
        super().__init__(theme, workspace, "message")
        self._id = message
        view = self._view()
        self._shown_text = view.text
        self.header.title.set_text(tr("Queued message"))
        self._add_tabs()
        self._facts = Facts(theme)
        self._fill_facts(view)
        self.body.add(self._facts)
        self.text = TextBox(theme, lines=8)
        self.text.show_value(view.text)
        self._field = Field(theme, tr("Text"), self.text, resettable=False)
        self.text.edited.connect(self._on_text_edited)
        self.body.add(self._field)
        self.body.add(self._make_buttons())
        self._effect = Prose(theme, "", "small", "muted", 15)
        self._effect.setContentsMargins(12, 0, 12, 0)
        self.body.add(self._effect)
        self._add_cause(view)
        self._add_why(view)
        self._conversation = Section(theme, tr("Conversation carried"))
        self.body.add(self._conversation)
        self._show_data(view)

    def refresh_run(self) -> None:
        view = next((q for q in self.workspace.run.queued if q.message == self._id), None)
        if view is None:
            return
        workflow = self.workspace.document.workflow
        where = source_name(workflow, view.source, view.purpose)
        target = self._target_name(view)
        edited = " · " + tr("edited") if view.edited else ""
        subtitle = tr("{source} → {target} · not delivered yet").format(source=where, target=target)
        self.header.subtitle.setText(subtitle + edited)
        if view.text != self._shown_text and self.text.value == self._shown_text:
            self.text.show_value(view.text)
        self._shown_text = view.text
        if view.data is not self._shown_data:
            self._show_data(view)
        self._refresh_buttons()

    def keep_edit(self) -> None:
        """Gives the changed text to the run."""
        self.workspace.run.edit_queued(self._id, self.text.value)

    def drop(self) -> None:
        """Takes the message out of the queue."""
        self.workspace.run.drop_queued(self._id)

    def _view(self) -> QueuedView:
        view = next((q for q in self.workspace.run.queued if q.message == self._id), None)
        if view is None:
            raise KeyError(self._id)
        return view

    def _add_tabs(self) -> None:
        tabs = TabStrip(self.theme, (tr("Content"), tr("Raw")))
        stack = QStackedWidget()
        self.frame.removeWidget(self.body)
        stack.addWidget(self.body)
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(11, 10, 11, 11)
        self._raw = CodeEditor(self.theme, "json", lines=24)
        self._raw.max_lines = 60
        self._raw.set_read_only(True)
        column.addWidget(self._raw)
        column.addStretch(1)
        stack.addWidget(holder)
        tabs.chosen.connect(stack.setCurrentIndex)
        self.frame.addWidget(tabs)
        self.frame.addWidget(stack, 1)

    def _fill_facts(self, view: QueuedView) -> None:
        run = self.workspace.run
        self._facts.add(tr("Type"), Chip(self.theme, view.type_name, square=True, elided=True))
        sent = self._sent()
        now = sent.superstep if sent is not None else max(0, run.next_superstep - 1)
        self._facts.add(tr("Sent in"), self._sent_in(now, sent))
        self._facts.add(tr("Delivered in"), tr("superstep {number}").format(number=run.next_superstep or now + 1))
        waiting = self._join_buffer(view)
        if waiting:
            self._facts.add(tr("Join buffer"), waiting, "run_t")
        self._size = Prose(self.theme, "", "body", "text", 18)
        self._facts.add(tr("Size"), self._size)

    def _sent(self) -> MessageView | None:
        return next((m for m in self.workspace.run.messages if m.message == self._id), None)

    def _sent_in(self, superstep: int, sent: MessageView | None) -> str:
        if superstep == 0:
            return tr("the input of the run")
        text = tr("superstep {number}").format(number=superstep)
        invocation = self._invocation(sent)
        branch = next((b for b in self.workspace.run.branches if b.branch == self.workspace.run.branch), None)
        if invocation is not None and invocation.ended is not None and branch is not None:
            at = datetime.fromtimestamp(branch.started + invocation.ended)
            text += f", {at:%H:%M:%S}.{at.microsecond // 1000:03d}"
        return text

    def _invocation(self, sent: MessageView | None) -> InvocationView | None:
        key = sent.invocation if sent is not None else None
        return self.workspace.run.invocations.get(key) if key is not None else None

    def _fan_in(self, view: QueuedView) -> FanInEdge | None:
        workflow = self.workspace.document.workflow
        for item in view.edges:
            found = line(workflow, item)
            edge = workflow.edge(item) or (workflow.edge(found.edge) if found is not None else None)
            if isinstance(edge, FanInEdge):
                return edge
        return None

    def _join_buffer(self, view: QueuedView) -> str:
        edge = self._fan_in(view)
        if edge is None:
            return ""
        total = len(edge.sources)
        return tr("fires when {count} of {count} are in").format(count=total)

    def _target_name(self, view: QueuedView) -> str:
        names = target_names(self.workspace.document.workflow, view.target, view.edges)
        return ", ".join(names) or tr("all its edges")

    def _make_buttons(self) -> QWidget:
        holder = QWidget()
        row = QHBoxLayout(holder)
        row.setContentsMargins(12, 9, 12, 8)
        row.setSpacing(6)
        self.keep = Button(self.theme, tr("Keep edit"), "check", "primary", small=True)
        self.keep.clicked.connect(self.keep_edit)
        self.drop_button = Button(self.theme, tr("Drop"), "trash-2", small=True)
        self.drop_button.clicked.connect(self.drop)
        self.copy = Button(self.theme, "", "copy", small=True)
        self.copy.setToolTip(tr("Copy the text"))
        self.copy.setAccessibleName(tr("Copy the text"))
        self.copy.clicked.connect(self._on_copy_clicked)
        for button in (self.keep, self.drop_button, self.copy):
            row.addWidget(button)
        row.addStretch(1)
        return holder

    def _refresh_buttons(self) -> None:
        editable = self.workspace.run.state in _EDITABLE
        self.text.set_read_only(not editable)
        self._field.set_caption(tr("editable while paused") if editable else tr("the run is not paused"))
        changed = self.text.value != self._shown_text
        self.keep.setEnabled(editable and changed)
        self.keep.setToolTip("" if changed else tr("The text is not changed"))
        self.drop_button.setEnabled(editable)
        last = max((s.number for s in self.workspace.run.supersteps if s.checkpoint), default=0)
        after = tr("after superstep {number}").format(number=last) if last else tr("of the input")
        self._effect.set_text(
            tr("Edits go into a new fork. The checkpoint {after} stays as it was.").format(after=after)
        )

    def _on_text_edited(self, _text: object) -> None:
        self._refresh_buttons()

    def _on_copy_clicked(self) -> None:
        QGuiApplication.clipboard().setText(self.text.value)

    def _add_cause(self, view: QueuedView) -> None:
        section = Section(self.theme, tr("Where it came from"))
        for depth, step in enumerate(trail(self.workspace, view)):
            section.add(TrailRow(self.theme, *step, depth=depth))
        self.body.add(section)

    def _add_why(self, view: QueuedView) -> None:
        section = Section(self.theme, tr("Why it is delivered"), gap=8)
        edge = self._fan_in(view)
        workflow = self.workspace.document.workflow
        if edge is not None:
            target = name_of(workflow, edge.target)
            text = tr("{target} takes one list from its sources.").format(target=target)
            section.add(Check(self.theme, "circle-check", "done_t", text))
            queued = {q.source for q in self.workspace.run.queued}
            missing = [name_of(workflow, s) for s in edge.sources if s not in queued]
            if missing:
                text = tr("Still waits for {names}.").format(names=", ".join(missing))
                section.add(Check(self.theme, "clock", "wait_t", text))
            else:
                text = tr("All {count} sources have a message.").format(count=len(edge.sources))
                section.add(Check(self.theme, "circle-check", "done_t", text))
        else:
            for item in view.edges or ():
                found = line(workflow, item)
                if found is not None:
                    label = found.label or tr("no condition")
                    text = tr("Edge to {target}: {label}.").format(target=name_of(workflow, found.target), label=label)
                    section.add(Check(self.theme, "circle-check", "done_t", text))
        section.setVisible(section.body.count() > 0)
        self.body.add(section)

    def _show_data(self, view: QueuedView) -> None:
        """What depends on the value, which an edit changes: its size, the conversation in it, the raw text."""
        self._shown_data: object = view.data
        messages = conversation(view.data)
        count = counted(len(messages), tr("1 message"), tr("{count} messages"))
        size = tokens_words(estimate(view.text))
        self._size.set_text(f"{size} · {count}" if messages else size)
        self._conversation.setVisible(bool(messages))
        self._conversation.set_summary(count)
        while (item := self._conversation.body.takeAt(0)) is not None:
            old = item.widget()
            if old is not None:
                old.hide()
                old.deleteLater()
        if messages:
            fill_messages(self.theme, self._conversation.body, messages, self.workspace.document.workflow)
        self._raw.show_value(raw(view.data))


def conversation(data: object) -> tuple[Message, ...]:
    """The messages that a value carries along."""
    if isinstance(data, AgentResponse):
        return data.conversation
    found = getattr(data, "messages", None)
    return tuple(found) if isinstance(found, tuple | list) and all(isinstance(m, Message) for m in found) else ()


def raw(data: object) -> str:
    """The value as JSON, as far as it goes."""
    plain = asdict(data) if is_dataclass(data) and not isinstance(data, type) else data
    return json.dumps(plain, indent=2, ensure_ascii=False, default=str)


def trail(workspace: Workspace, view: QueuedView) -> list[tuple[str, str, str, str]]:
    """How a message came to be, oldest first: (kind of node, name, what, where)."""
    run, workflow = workspace.run, workspace.document.workflow
    by_id = {m.message: m for m in run.messages}
    steps: list[tuple[str, str, str, str]] = []
    now = by_id.get(view.message)
    source, superstep = view.source, now.superstep if now is not None else 0
    seen: set[tuple[str, int]] = set()
    branch = next((b for b in run.branches if b.branch == run.branch), None)
    input_text = branch.input_text if branch is not None else ""
    while source and (source, superstep) not in seen:
        purpose = now.purpose if now is not None else view.purpose
        if purpose == "input" and input_text:
            break  # the input has its own row
        seen.add((source, superstep))
        node = workflow.node(source)
        text = now.text if now is not None else view.text
        steps.append(
            (
                node.kind if node else "human_input" if source.startswith(FROM_OUTSIDE) else "agent",
                source_name(workflow, source, purpose),
                text,
                str(superstep) if superstep else tr("entry"),
            )
        )
        before = [m for m in run.messages if m.superstep < superstep and any(r[1] == source and r[2] for r in m.routes)]
        now = max(before, key=lambda m: m.superstep, default=None)
        if now is None:
            break
        source, superstep = now.source, now.superstep
    if input_text:
        steps.append(("human_input", tr("Input"), input_text, tr("entry")))
    return list(reversed(steps))
