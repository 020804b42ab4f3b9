"""A field of a form: label with changed marker and caption, editor, hint, problem."""

from __future__ import annotations

from typing import Literal, Protocol

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal, SignalInstance
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button, CheckBox, focus_ring
from studio.ui.widgets.labels import Label, Prose

Severity = Literal["error", "warning", "info"]


class Editor(Protocol):
    """What a field holds: a widget that shows a value and says when the user changed it."""

    edited: SignalInstance

    def show_value(self, value: object) -> None: ...


class ChangedMark(QWidget):
    """The rhombus behind the label of a field that differs from its default."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setFixedSize(10, 12)
        self.setToolTip(tr("Differs from the default"))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("accent"))
        painter.translate(QPointF(5, 6))
        painter.rotate(45)
        painter.drawRoundedRect(QRectF(-3, -3, 6, 6), 1, 1)


class ResetArrow(QAbstractButton):
    """Sets a field back to its default; Tab reaches it before the field."""

    def __init__(self, theme: Theme, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setFixedSize(16, 16)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setToolTip(tr("Set back to the default"))
        self.setAccessibleName(tr("Set {title} back to the default").format(title=title))
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        token = "text" if self.underMouse() else "muted"
        painter.drawPixmap(2, 2, self._theme.pixmap("undo-2", 11, token, self.devicePixelRatioF()))
        if self.hasFocus():
            focus_ring(painter, self._theme, self.rect().toRectF(), 4)


class _Note(QWidget):
    """A problem under the field: a sentence, and a button for its fix."""

    fix_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 4, 0, 0)
        self._label = Prose(theme, "", "small", "fail_t", 15, self)
        layout.addWidget(self._label)
        self._fix: Button | None = None

    def show_fix(self, text: str) -> None:
        """The text of the button; "" for none."""
        if self._fix is None:
            if not text:
                return
            self._fix = Button(self._theme, "", kind="link", parent=self)
            self._fix.clicked.connect(self.fix_requested)
            layout = self.layout()
            assert layout is not None
            layout.addWidget(self._fix)
            layout.setAlignment(self._fix, Qt.AlignmentFlag.AlignLeft)
        self._fix.setText(text)
        self._fix.setAccessibleName(text)
        self._fix.setVisible(bool(text))
        self._fix.updateGeometry()

    def show_note(self, severity: Severity, message: str) -> None:
        self._label.set_tone({"error": "fail_t", "warning": "wait_t", "info": "run_t"}[severity])
        self._label.set_text(message)
        self.setVisible(bool(message))


class Field(QWidget):
    """Label above, editor, then hint and problem. ``side`` is the room at both sides (the editor's own edge is 1)."""

    reset = Signal()
    fix_requested = Signal()
    """The fix of the problem that is shown was chosen."""

    def __init__(
        self,
        theme: Theme,
        title: str,
        editor: QWidget,
        *,
        hint: str = "",
        required: bool = False,
        resettable: bool = True,
        margins: tuple[int, int, int, int] = (11, 9, 11, 0),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.theme = theme
        self.editor = editor
        self._resettable = resettable
        self._problem = ""
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*margins)
        layout.setSpacing(0)
        layout.addLayout(self._make_label_row(title, required))
        row = QHBoxLayout()
        row.setContentsMargins(0, 3, 0, 0)
        fixed = editor.sizePolicy().horizontalPolicy() in (QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Maximum)
        row.addWidget(editor, 0 if fixed else 1)
        if fixed:
            row.addStretch(1)
        layout.addLayout(row)
        self._hint = Prose(theme, hint, "small", "muted", 15)
        self._hint.setContentsMargins(1, 3, 1, 0)
        layout.addWidget(self._hint)
        self._hint.setVisible(bool(hint))  # in the layout first: without a parent it would flash as a window
        self._note = _Note(theme, self)
        self._note.hide()
        self._note.fix_requested.connect(self.fix_requested)
        layout.addWidget(self._note)
        for named in (editor, editor.focusProxy()):  # the proxy has the focus: a screen reader reads its name
            if named is not None:
                named.setAccessibleName(title)

    @property
    def hint(self) -> str:
        """The text under the editor."""
        return self._hint.plain

    @property
    def problem(self) -> str:
        """The problem that is shown, or ""."""
        return self._problem

    def set_hint(self, text: str) -> None:
        """Another hint."""
        if text != self._hint.plain:
            self._hint.set_text(text)
            self._hint.setVisible(bool(text))

    def set_caption(self, text: str) -> None:
        """The muted text at the right of the label ("214 tokens")."""
        self._caption.setText(text)
        self._caption.setVisible(bool(text))

    def set_changed(self, changed: bool) -> None:
        """Shows the changed marker and the reset arrow."""
        self._mark.setVisible(changed)
        self._arrow.setVisible(changed and self._resettable)

    def set_facts(self, words: str, not_exported: bool) -> None:
        """What the option does, for tooltip, *What's this* and screen readers; whether exported code leaves it out."""
        self._label.setToolTip(words)
        self.editor.setAccessibleDescription(words)
        self.editor.setWhatsThis(words)
        self._left_out.setToolTip(words)
        self._left_out.setVisible(not_exported)

    def add_button(self, button: QWidget) -> None:
        """Puts a small button at the right end of the label row."""
        self._row.addWidget(button)

    def set_fix(self, text: str) -> None:
        """Offers a fix under the problem; "" for none."""
        self._note.show_fix(text)

    def set_problem(self, severity: Severity, message: str) -> None:
        """Shows a problem under the editor; "" takes it away."""
        if message != self._problem:
            self._problem = message
            self._note.show_note(severity, message)
            set_bad = getattr(self.editor, "set_bad", None)
            if set_bad is not None:
                set_bad(bool(message) and severity == "error")

    def _on_arrow_clicked(self) -> None:
        if self._arrow.hasFocus():  # it goes: the focus stays in the field
            self.editor.setFocus()
        self.reset.emit()

    def _make_label_row(self, title: str, required: bool) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(1, 0, 1, 0)
        row.setSpacing(3)
        self._label = Label(self.theme, title, "small-strong", "text2", self)
        self._label.setMinimumHeight(16)
        row.addWidget(self._label)
        if required:
            row.addWidget(Label(self.theme, tr("required"), "small", "muted", self))
        self._mark = ChangedMark(self.theme, self)
        self._arrow = ResetArrow(self.theme, title, self)
        self._arrow.clicked.connect(self._on_arrow_clicked)
        row.addWidget(self._mark)
        self._left_out = Label(self.theme, tr("not exported"), "small", "muted", self)
        self._left_out.hide()
        row.addSpacing(3)
        row.addWidget(self._left_out)
        row.addStretch(1)
        self._row = row
        self._caption = Label(self.theme, "", "small", "muted", self)
        self._caption.hide()
        row.addWidget(self._caption)
        row.addWidget(self._arrow)
        self.set_changed(False)
        return row


class CheckField(QWidget):
    """A check box with its title and, below, what it does."""

    edited = Signal(object)
    reset = Signal()
    fix_requested = Signal()

    def __init__(self, theme: Theme, title: str, hint: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        outer = QHBoxLayout(self)
        outer.setContentsMargins(11, 8, 11, 0)
        outer.setSpacing(5)
        self.box = CheckBox(theme, "", self)
        self.box.setAccessibleName(title)
        outer.addWidget(self.box, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout()
        column.setContentsMargins(0, 1, 1, 0)
        column.setSpacing(1)
        head = QHBoxLayout()
        head.setSpacing(4)
        self._title = Label(theme, title, parent=self)
        self._title.setMinimumHeight(16)
        head.addWidget(self._title)
        self._mark = ChangedMark(theme, self)
        head.addWidget(self._mark)
        self._left_out = Label(theme, tr("not exported"), "small", "muted", self)
        self._left_out.hide()
        head.addWidget(self._left_out)
        head.addStretch(1)
        self._arrow = ResetArrow(theme, title, self)
        self._arrow.clicked.connect(self._on_arrow_clicked)
        head.addWidget(self._arrow)
        column.addLayout(head)
        self._hint = Prose(theme, hint, "small", "muted", 15, self)
        self._hint.setVisible(bool(hint))
        column.addWidget(self._hint)
        self._note = _Note(theme, self)
        self._note.hide()
        self._note.fix_requested.connect(self.fix_requested)
        column.addWidget(self._note)
        outer.addLayout(column, 1)
        self.box.clicked.connect(self._on_box_clicked)
        self.set_changed(False)

    def sizeHint(self) -> QSize:
        return QSize(200, super().sizeHint().height())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and event.position().y() < 28:
            self.box.click()

    def show_value(self, value: object) -> None:
        """True, False, or None for "mixed"."""
        self.box.setTristate(value is None)
        state = Qt.CheckState.PartiallyChecked if value is None else Qt.CheckState.Checked
        self.box.setCheckState(Qt.CheckState.Unchecked if value is False else state)

    def set_hint(self, text: str) -> None:
        """Another hint."""
        if text != self._hint.plain:
            self._hint.set_text(text)
            self._hint.setVisible(bool(text))

    def set_changed(self, changed: bool) -> None:
        """Shows the changed marker and the reset arrow."""
        self._mark.setVisible(changed)
        self._arrow.setVisible(changed)

    def set_caption(self, text: str) -> None:
        """A check box has no caption."""

    def set_facts(self, words: str, not_exported: bool) -> None:
        """As of a field; its hint says the same already."""
        self._title.setToolTip(words)
        self.box.setAccessibleDescription(words)
        self.box.setWhatsThis(words)
        self._left_out.setToolTip(words)
        self._left_out.setVisible(not_exported)

    def set_fix(self, text: str) -> None:
        """Offers a fix under the problem; "" for none."""
        self._note.show_fix(text)

    def set_problem(self, severity: Severity, message: str) -> None:
        """Shows a problem under the hint."""
        self._note.show_note(severity, message)

    def _on_arrow_clicked(self) -> None:
        if self._arrow.hasFocus():
            self.box.setFocus()
        self.reset.emit()

    def _on_box_clicked(self) -> None:
        self.box.setTristate(False)
        self.edited.emit(self.box.isChecked())
