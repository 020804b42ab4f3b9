"""Cards of open requests: a question with its form, an approval, the result of a call."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from html import escape

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QLineEdit, QTextEdit, QVBoxLayout, QWidget

from studio.agents.messages import ApprovalRequest, ToolCall
from studio.bridge.request_views import last_approved
from studio.bridge.run_views import RequestView
from studio.bridge.workspace import Workspace
from studio.document.lines import name_of, path_names
from studio.ui.requests.arguments import Separator, argument_row, arguments_of
from studio.ui.requests.form import ObjectValue, make_value, with_defaults
from studio.ui.requests.values import MISSING, ChoiceValue, JsonValue, NumberValue, TextValue, ValueField, Wrong
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.field import Field
from studio.ui.widgets.labels import IconLabel, Prose


class RequestCard(QFrame):
    """Header and body. ``draft_changed`` whenever :meth:`draft` may have changed."""

    draft_changed = Signal()

    def __init__(self, theme: Theme, workspace: Workspace, view: RequestView) -> None:
        super().__init__()
        self.theme, self.workspace, self.view = theme, workspace, view
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(1, 1, 1, 1)
        self.column.setSpacing(0)
        QApplication.instance().focusChanged.connect(self._on_focus_changed)  # type: ignore[union-attr]
        self._active = False

    def draft(self) -> object:
        """The answer as it would be sent, or ``MISSING``. Raises :class:`Wrong`."""
        raise NotImplementedError

    def show_errors(self) -> None:
        """Shows what is wrong or missing."""

    def focus_first(self) -> None:
        """Puts the focus where the answer is given."""
        self.setFocus()

    @property
    def node_name(self) -> str:
        """What people call the node that asks; one inside a sub-workflow with its path."""
        workflow, path = self.workspace.document.workflow, self.view.path
        return " › ".join(path_names(workflow, path[:-1], path[-1])) if path else name_of(workflow, self.view.node)

    def waited(self) -> str:
        """ "waiting 1 min 12 s"."""
        run = self.workspace.run
        branch = next((b for b in run.branches if b.branch == run.branch), None)
        if branch is None:
            return ""
        spent = max(0, int(time.time() - branch.started - self.view.raised))
        if spent >= 3600:
            return ""
        text = f"{spent} s" if spent < 60 else f"{spent // 60} min {spent % 60} s"
        return tr("waiting {time}").format(time=text)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(self.theme.color("surface"))
        if self._active:
            painter.setPen(QPen(self.theme.color("accent"), 2))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 6, 6)
        else:
            painter.setPen(QPen(self.theme.color("border"), 1))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)

    def add_header(self, icon: str, title: str, title_html: str, subtitle: str) -> None:
        """Icon, title, a line below; then a separator."""
        row = QHBoxLayout()
        row.setContentsMargins(10, 9, 10, 9)
        row.setSpacing(9)
        row.addWidget(IconLabel(self.theme, icon, 16, "wait_t"))
        words = QVBoxLayout()
        words.setSpacing(0)
        head = Prose(self.theme, "", "section", "text", 17)
        head.set_html(title, title_html)
        words.addWidget(head)
        self.subtitle = Prose(self.theme, subtitle, "small", "muted", 16)
        words.addWidget(self.subtitle)
        row.addLayout(words, 1)
        self.column.addLayout(row)
        self.column.addWidget(Separator(self.theme))

    def _on_focus_changed(self, _old: QWidget | None, now: QWidget | None) -> None:
        active = now is not None and (now is self or self.isAncestorOf(now))
        if active != self._active:
            self._active = active
            self.update()


def mono(theme: Theme, text: str) -> str:
    """A text in code type, as HTML."""
    size = theme.font("code-small").pixelSize()
    return f'<span style="font-family:JetBrains Mono;font-weight:400;font-size:{size}px">{escape(text)}</span>'


class QuestionCard(RequestCard):
    """A question and the form of its answer type."""

    def __init__(self, theme: Theme, workspace: Workspace, view: RequestView) -> None:
        super().__init__(theme, workspace, view)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # what is typed belongs into the form
        title = tr("{name} asks you").format(name=self.node_name)
        if view.kind == "call" and isinstance(view.data, ToolCall):
            title = tr("{name} wants the result of {tool}").format(name=self.node_name, tool=view.data.name)
        step = tr("superstep {number}").format(number=view.superstep)
        self.add_header("own:human-input", title, escape(title), f"{self._type_words()} · {step}")
        if view.schema is not None and view.kind != "call":
            kind = mono(theme, view.answer_type)
            self.subtitle.set_html(self.subtitle.plain, f"{escape(tr('Answer type'))} {kind} · {escape(step)}")
        if view.kind == "call" and isinstance(view.data, ToolCall):
            self._add_arguments(view.data)
        else:
            question = Prose(theme, view.question, "body", "text", 17)
            question.setContentsMargins(12, 9, 12, 0)
            self.column.addWidget(question)
        self.field: ValueField = self._make_field()
        if isinstance(self.field, ObjectValue):
            self.column.addWidget(self.field)
            self.frame: Field | None = None
        else:
            title = tr("Result") if view.kind == "call" else tr("Answer")
            self.frame = Field(theme, title, self.field, resettable=False)
            self.column.addWidget(self.frame)
        self.field.changed.connect(self._on_field_changed)
        self.field.left.connect(self._on_field_left)
        if view.kind == "call":
            self._add_why()
        self.column.addSpacing(11)

    def _add_why(self) -> None:
        row = QHBoxLayout()
        row.setContentsMargins(10, 9, 10, 0)
        row.addStretch(1)
        row.addWidget(why_button(self.theme, self.workspace, self.view))
        self.column.addLayout(row)

    def _add_arguments(self, call: ToolCall) -> None:
        """What the call says: without it nobody can give its result."""
        for name, value in arguments_of(call.arguments).items():
            self.column.addWidget(argument_row(self.theme, name, value))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.focus_first()
        event.accept()

    def focus_first(self) -> None:
        self.field.focus_first()

    def draft(self) -> object:
        return self.field.value()

    def show_errors(self) -> None:
        if isinstance(self.field, ObjectValue):
            self.field.show_errors()
        else:
            self._check(leaving=False)

    def _type_words(self) -> str:
        view = self.view
        if view.kind == "call":
            return tr("Call that you run")
        plain = {"text": tr("a text"), "bool": tr("yes or no"), "number": tr("a number"), "choice": tr("a choice")}
        return tr("Answer type {type}").format(type=plain.get(view.answer_type, view.answer_type))

    def _make_field(self) -> ValueField:
        view, theme = self.view, self.theme
        begun = self.workspace.run.answer_drafts.get(view.request)
        default = MISSING if begun is None else begun
        kept = {} if begun is None else {"default": begun}
        if view.choices:
            return ChoiceValue(theme, [(c, c) for c in view.choices], default)
        if view.schema is not None:
            return make_value(theme, with_defaults(view.schema, begun))
        match view.answer_type:
            case "bool":
                return ChoiceValue(theme, [(True, tr("Yes")), (False, tr("No"))], default)
            case "number" | "integer":
                return NumberValue(theme, kept, whole=view.answer_type == "integer" or view.response_type == "int")
            case "text" | "choice" | "":
                return TextValue(theme, kept, long=True)
            case "object" | "list":
                return JsonValue(theme, {"type": "array" if view.answer_type == "list" else "object", **kept})
        return JsonValue(theme, kept)

    def _on_field_changed(self) -> None:
        if self.frame is not None and self.frame.problem:
            self._check(leaving=True)
        self.draft_changed.emit()

    def _on_field_left(self) -> None:
        if self.frame is not None:
            self._check(leaving=True)

    def _check(self, *, leaving: bool) -> None:
        assert self.frame is not None
        try:
            value = self.field.value()
        except Wrong as wrong:
            self.frame.set_problem("error", str(wrong))
            return
        self.frame.set_problem("error", tr("This is needed.") if value is MISSING and not leaving else "")


class ApprovalCard(RequestCard):
    """May a tool run? Approve and Refuse are drafts until the answers are sent."""

    def __init__(self, theme: Theme, workspace: Workspace, view: RequestView) -> None:
        super().__init__(theme, workspace, view)
        call = view.data.call if isinstance(view.data, ApprovalRequest) else None
        tool = call.name if call is not None else view.question
        lead = tr("Let {name} run {tool}?")
        plain = lead.format(name=self.node_name, tool=tool)
        self._tool = tool
        html = escape(lead).format(name=escape(self.node_name), tool=mono(theme, tool))
        step = tr("superstep {number}").format(number=view.superstep)
        self._about = f"{tr('Tool approval')} · {step}"
        self.add_header("own:hand", plain, html, self._about)
        self._call = call
        self.arguments: Mapping[str, object] | None = None
        """Changed arguments; None: as they were asked for."""
        self._rows = QVBoxLayout()
        self._rows.setSpacing(0)
        self.column.addLayout(self._rows)
        told = tr(
            "Changed by you: an approval is bound to what was asked for, so that call is refused and a new one made."
        )
        self._changed = Prose(theme, told, "small", "wait_t", 15)
        self._changed.setContentsMargins(10, 5, 10, 0)
        self.column.addWidget(self._changed)
        self._before = last_approved(workspace.run.events, view.node, tool)
        self._choice: bool | None = None
        buttons = self._make_buttons()
        self._show_arguments(arguments_of(call.arguments if call is not None else "{}"))
        self.column.addLayout(buttons)
        hint = tr("If you refuse, the tool does not run and {name} is told so.").format(name=self.node_name)
        prose = Prose(theme, hint, "small", "muted", 15)
        prose.setContentsMargins(10, 0, 10, 6)
        self.column.addWidget(prose)
        self.column.addLayout(self._make_links())
        begun = workspace.run.answer_drafts.get(view.request)
        if isinstance(begun, bool):
            self.choose(begun)
        elif isinstance(begun, Mapping):
            self.change_arguments(begun.get("arguments"))

    def draft(self) -> object:
        if self._choice and self.arguments is not None:
            return {"arguments": self.arguments}
        return MISSING if self._choice is None else self._choice

    def change_arguments(self, arguments: object) -> None:
        """Other arguments: the call is refused and made with these; as they were asked for takes the change back."""
        asked = arguments_of(self._call.arguments) if self._call is not None else {}
        self.arguments = arguments if isinstance(arguments, dict) and arguments != asked else None
        self._show_arguments(self.arguments or asked)
        if self.arguments is not None and self._choice is not True:
            self.choose(True)
        else:
            self.draft_changed.emit()

    def _ask_arguments(self) -> None:
        from studio.ui.debug.value_dialog import ValueDialog, not_an_object  # few people change arguments

        asked = arguments_of(self._call.arguments) if self._call is not None else {}
        hint = tr("A JSON object. What {name} asked for is refused, and {tool} is called with these arguments instead.")
        ValueDialog(
            self.theme,
            tr("Arguments of {tool}").format(tool=self._tool),
            hint.format(name=self.node_name, tool=self._tool),
            tr("Call with these"),
            lambda given, _choice: self.change_arguments(given),
            value=self.arguments or dict(asked),
            as_json=True,
            wrong=not_an_object,
            parent=self.window(),
        ).open()

    def _show_arguments(self, arguments: Mapping[str, object]) -> None:
        while (item := self._rows.takeAt(0)) is not None:
            row = item.widget()
            if row is not None:
                row.hide()
                row.deleteLater()
        for name, value in arguments.items():
            self._rows.addWidget(argument_row(self.theme, name, value, self._news(name, value)))
        self._changed.setVisible(self.arguments is not None)
        words = tr("Approve") if self.arguments is None else tr("Call with these")
        self.approve.setText(words)
        self.approve.setAccessibleName(words)

    def choose(self, approved: bool) -> None:
        """Drafts the answer; the same again takes it back."""
        self._choice = None if self._choice is approved else approved
        self.approve.setChecked(self._choice is True)
        self.refuse.setChecked(self._choice is False)
        self.draft_changed.emit()

    def refresh_time(self) -> None:
        """Shows how long it has been waiting."""
        waited = self.waited()
        self.subtitle.set_text(f"{self._about} · {waited}" if waited else self._about)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        focus = QApplication.focusWidget()
        typing = isinstance(focus, QLineEdit | QTextEdit)
        if event.key() in (Qt.Key.Key_Y, Qt.Key.Key_N) and not typing:
            self.choose(event.key() == Qt.Key.Key_Y)
        else:
            super().keyPressEvent(event)

    def _news(self, name: str, value: object) -> Sequence[object] | None:
        """What is new in an argument since the last approval: items of a list, or the whole value; None: nothing."""
        before = self._before
        if before is None or before.get(name) == value:
            return None
        known = before.get(name)
        if isinstance(value, list) and isinstance(known, list):
            return [item for item in value if item not in known] or None
        return [value]

    def _make_buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(10, 9, 10, 9)
        row.setSpacing(8)
        self.approve = Button(self.theme, tr("Approve"), "check")
        self.refuse = Button(self.theme, tr("Refuse"), "x")
        for button, approved in ((self.approve, True), (self.refuse, False)):
            button.setCheckable(True)
            button.setToolTip(tr("Y") if approved else tr("N"))
            button.clicked.connect(lambda _=False, a=approved: self.choose(a))
            row.addWidget(button)
        row.addStretch(1)
        return row

    def _make_links(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(10, 0, 10, 9)
        row.setSpacing(8)
        self.edit = Button(self.theme, tr("Change the arguments…"), kind="link")
        self.edit.clicked.connect(self._ask_arguments)
        row.addWidget(self.edit)
        row.addStretch(1)
        self.why = why_button(self.theme, self.workspace, self.view)
        row.addWidget(self.why)
        return row


def why_button(theme: Theme, workspace: Workspace, view: RequestView) -> Button:
    """Shows what the node that asks has seen."""
    made = Button(theme, tr("Why is this asked?"), kind="link")
    made.setToolTip(tr("Show what the node saw before it asked"))
    made.clicked.connect(lambda: workspace.selection.command_requested.emit("why_asked", view.request))
    return made


def make_card(theme: Theme, workspace: Workspace, view: RequestView) -> RequestCard:
    """The card of a request."""
    return (ApprovalCard if view.kind == "approval" else QuestionCard)(theme, workspace, view)
