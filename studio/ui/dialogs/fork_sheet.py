"""Going on from a checkpoint with something changed: messages, shared state, conversations, prompts."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from studio.agents.messages import Message
from studio.bridge.workspace import Workspace
from studio.debugger.comparison import Ahead
from studio.debugger.details import Details
from studio.debugger.forks import EditProblem, QueueEdits, with_text
from studio.debugger.run_comparison import shown_value
from studio.document.edits import Batch, SetFields
from studio.document.model import AgentNode
from studio.ui.text import tip, tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button, CheckBox
from studio.ui.widgets.field import Field
from studio.ui.widgets.labels import Label, Prose
from studio.ui.widgets.page import scrolled
from studio.ui.widgets.section import Section
from studio.ui.widgets.text_fields import TextBox

_LAST = 6
"""Messages of a conversation that can be edited, from its end."""


class ForkSheet(QDialog):
    """What is left as it was stays as it was; *Fork* runs a new branch, the checkpoint itself never changes."""

    def __init__(
        self, theme: Theme, workspace: Workspace, checkpoint: str, found: Details, ahead: Ahead,
        parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self._theme, self._workspace, self._checkpoint, self._found = theme, workspace, checkpoint, found
        self._ahead = ahead
        self.texts: dict[str, TextBox] = {}
        self.state: dict[str, TextBox] = {}
        self.talk: dict[tuple[str, int], TextBox] = {}
        self.prompts: dict[str, TextBox] = {}
        self.setObjectName("fork_sheet")
        self.setWindowTitle(tr("Fork with edits"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(640, 620)
        self.recorded = CheckBox(theme, tr("Use the recorded results of these steps"))
        self.problem = Prose(theme, "", "body", "fail_t", 17)
        self.fork_button = Button(theme, tr("Fork"), "git-branch", "primary")
        self._build()

    @property
    def edits(self) -> QueueEdits:
        """What was changed. Raises :class:`EditProblem` for a value that cannot be read."""
        waiting = {m.id: m.text for m in self._found.queued}
        texts = {id: box.value for id, box in self.texts.items() if box.value != waiting[id]}
        typed = {key: box.value for key, box in self.state.items() if box.value != shown_value(self._found.state[key])}
        known = {memory.node: memory.talk for memory in self._found.memories}
        talk: dict[str, list[Message]] = {}
        for (node, place), box in self.talk.items():
            if box.value != known[node][place].text:
                talk.setdefault(node, list(known[node]))[place] = with_text(known[node][place], box.value)
        values = self._workspace.run.state_values(typed, self._found.state)
        state = {**self._found.state, **values} if values else None
        return QueueEdits(texts, state=state, conversations={node: tuple(m) for node, m in talk.items()})

    def fork(self) -> None:
        """Changes the prompts in the drawing, runs the new branch and closes."""
        try:
            edits = self.edits
        except EditProblem as problem:
            self.problem.set_text(str(problem))
            self.problem.show()
            return
        document = self._workspace.document
        changed = {}
        for id, box in self.prompts.items():
            node = document.workflow.node(id)
            if isinstance(node, AgentNode) and box.value != node.instructions:
                changed[id] = box.value
        if changed:
            steps = tuple(SetFields("nodes", id, {"instructions": text}) for id, text in changed.items())
            document.execute(Batch(steps), tr("Edit prompts for a fork"))
        self._workspace.run.fork_edited(self._checkpoint, edits, recorded=self.recorded.isChecked())
        self.accept()

    # ------------------------------------------------------------------------------------------------- building

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 12, 0, 12)
        column.setSpacing(6)
        title = Label(self._theme, tr("Change what the new branch begins with"), "title")
        title.setContentsMargins(16, 0, 16, 0)
        column.addWidget(title)
        inner = QWidget()
        self._column = QVBoxLayout(inner)
        self._column.setContentsMargins(4, 0, 4, 0)
        self._column.setSpacing(0)
        self._add_messages()
        self._add_state()
        self._add_prompts()
        self._add_talk()
        self._column.addStretch(1)
        column.addWidget(scrolled(inner), 1)
        column.addLayout(self._make_end())

    def _make_end(self) -> QVBoxLayout:
        end = QVBoxLayout()
        end.setContentsMargins(16, 0, 16, 0)
        end.setSpacing(6)
        self.problem.hide()
        end.addWidget(self.problem)
        if self._ahead.differs:
            text = tr("The drawing has changed since this run: {what} The fork uses it as it is now.")
            what = " ".join(self._ahead.differs)
            end.addWidget(Prose(self._theme, text.format(what=what), "body", "wait_t", 17))
        if self._ahead.outside:
            end.addWidget(Prose(self._theme, self._ahead.outside, "body", "wait_t", 17))
            end.addWidget(self.recorded)
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addStretch(1)
        cancel = Button(self._theme, tr("Cancel"))
        cancel.clicked.connect(self.reject)
        self.fork_button.clicked.connect(self.fork)
        allowed, why = self._workspace.run.can("fork")
        self.fork_button.setEnabled(allowed)
        self.fork_button.setToolTip(tip(why))
        row.addWidget(cancel)
        row.addWidget(self.fork_button)
        end.addLayout(row)
        return end

    def _section(self, title: str, count: int, *, open_: bool) -> Section:
        section = Section(self._theme, title)
        section.set_summary(str(count))
        section.set_open(open_)
        self._column.addWidget(section)
        return section

    def _box(self, section: Section, title: str, text: str, lines: int = 3) -> TextBox:
        box = TextBox(self._theme, lines=lines)
        box.show_value(text)
        box.setAccessibleName(title)
        section.add(Field(self._theme, title, box, resettable=False))
        return box

    def _name(self, node: str) -> str:
        found = self._workspace.document.workflow.node(node)
        return str(getattr(found, "name", "") or node)

    def _add_messages(self) -> None:
        queued = self._found.queued
        if queued:
            section = self._section(tr("Queued messages"), len(queued), open_=True)
            for message in queued:
                to = f" → {self._name(message.target)}" if message.target else ""
                self.texts[message.id] = self._box(section, f"{self._name(message.source)}{to}", message.text)

    def _add_state(self) -> None:
        if self._found.state:
            section = self._section(tr("Shared state"), len(self._found.state), open_=True)
            for key, value in self._found.state.items():
                self.state[key] = self._box(section, key, shown_value(value), 2)

    def _add_prompts(self) -> None:
        document = self._workspace.document
        agents = [n for n in document.workflow.nodes if isinstance(n, AgentNode)]
        if agents and not document.read_only:
            section = self._section(tr("Prompts"), len(agents), open_=False)
            section.add(Prose(self._theme, tr("A changed prompt is changed in the drawing too."), "small", "muted", 15))
            for node in agents:
                self.prompts[node.id] = self._box(section, node.name or node.id, node.instructions)

    def _add_talk(self) -> None:
        for memory in self._found.memories:
            if memory.talk:
                title = tr("Conversation of {name}").format(name=self._name(memory.node))
                section = self._section(title, len(memory.talk), open_=False)
                first = max(0, len(memory.talk) - _LAST)
                for place, message in list(enumerate(memory.talk))[first:]:
                    name = tr("{role}, message {number}").format(role=message.role, number=place + 1)
                    self.talk[memory.node, place] = self._box(section, name, message.text)


def open_fork_sheet(theme: Theme, workspace: Workspace, checkpoint: str, parent: QWidget) -> None:
    """Opens the sheet as soon as it is known what the checkpoint holds and what differs, without blocking."""

    def told(ahead: Ahead) -> None:
        found = workspace.run.details(checkpoint)
        if found is not None:
            ForkSheet(theme, workspace, checkpoint, found, ahead, parent).open()

    workspace.run.look_ahead(checkpoint, told)
