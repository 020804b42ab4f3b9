"""What every inspector page is: a header, the content below, and a way to show the document's news."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QTextEdit, QVBoxLayout, QWidget

from studio.bridge.workspace import Workspace
from studio.document.problems import Problem
from studio.ui.inspector.form import Form
from studio.ui.text import tip, tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import Elided, IconLabel, Label, Prose
from studio.ui.widgets.page import Page
from studio.ui.widgets.positions import units
from studio.ui.widgets.section import Section
from studio.ui.widgets.text_fields import EXCERPT, TextBox
from studio.ui.widgets.tiles import KindTile

_ICONS = {"error": ("own:error", "fail_t"), "warning": ("own:problem", "wait_t"), "info": ("own:info", "run_t")}


class Header(QWidget):
    """Tile, title, and a line below."""

    def __init__(self, theme: Theme, kind: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 10, 12, 8)
        row.setSpacing(10)
        row.addWidget(KindTile(theme, kind), 0, Qt.AlignmentFlag.AlignVCenter)
        column = QVBoxLayout()
        column.setSpacing(0)
        self.title = Elided(theme, "", "title")
        self.title.setMinimumHeight(16)
        column.addWidget(self.title)
        below = QHBoxLayout()
        below.setSpacing(5)
        self.subtitle = _Narrow(theme, "", "small", "muted")
        self.subtitle.setMinimumHeight(16)
        below.addWidget(self.subtitle)
        self._id = _Narrow(theme, "", "code-small", "muted")
        self._id.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._lock = IconLabel(theme, "lock", 11, "muted")
        self._lock.setToolTip(tr("The id is made once and stays when you rename"))
        below.addWidget(self._id)
        below.addWidget(self._lock)
        below.addStretch(1)
        column.addLayout(below)
        row.addLayout(column, 1)
        self._id.hide()
        self._lock.hide()

    def show_id(self, item_id: str) -> None:
        """The id that never changes."""
        self._id.setText(item_id)
        self._id.setToolTip(tip(item_id))
        self._id.show()
        self._lock.show()


class _Narrow(Label):
    """An id has up to 128 letters, a name any number, and the panel is not to be as wide."""

    def minimumSizeHint(self) -> QSize:
        return QSize(min(40, self.sizeHint().width()), super().minimumSizeHint().height())


MOST = 12
"""So many problems are shown above the fields; everything can be selected at once, and each may have some."""


class ProblemStrip(QWidget):
    """Problems that belong to no field, each with its fix."""

    def __init__(self, theme: Theme, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._workspace = theme, workspace
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(12, 6, 12, 2)
        self._column.setSpacing(6)
        self._shown: tuple[Problem, ...] = ()
        self.hide()

    def show_problems(self, problems: Sequence[Problem]) -> None:
        """Shows these and no others."""
        if tuple(problems) == self._shown:
            return
        self._shown = tuple(problems)
        while (item := self._column.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        for problem in self._shown[:MOST]:
            self._column.addWidget(self._row(problem))
        if len(self._shown) > MOST:
            words = tr("And {n} more: they are all in the panel Problems.").format(n=len(self._shown) - MOST)
            self._column.addWidget(Prose(self._theme, words, "body", "muted", 17))
        self.setVisible(bool(self._shown))

    def _row(self, problem: Problem) -> QWidget:
        row = QWidget(self)
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(7)
        icon, tone = _ICONS[problem.severity]
        layout.addWidget(IconLabel(self._theme, icon, 15, tone), 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout()
        column.setSpacing(2)
        column.addWidget(Prose(self._theme, problem.message, "body", "text2", 17))
        if problem.fix is not None:
            button = Button(self._theme, problem.fix.text, kind="link")
            button.clicked.connect(lambda _=False, p=problem: self._apply(p))
            column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addLayout(column, 1)
        return row

    def _apply(self, problem: Problem) -> None:
        if problem.fix is not None:
            self._workspace.document.execute(problem.fix.edit, problem.fix.text)


def text_editor(container: QWidget, text: str) -> tuple[QLineEdit | QTextEdit | None, int]:
    """The editor in a container that shows a text, and where the text begins in it; -1: it says it in another way. JSON
    shows it in quotes."""
    for line in container.findChildren(QLineEdit):
        if line.text() == text:
            return line, 0
    boxes = container.findChildren(QTextEdit)
    for box in boxes:
        if box.toPlainText() == text:
            return box, 0
    for box in boxes:
        at = box.toPlainText().find(json.dumps(text, ensure_ascii=False))
        if at >= 0:
            return box, at + 1
    return (boxes[0], -1) if boxes else (None, -1)


def select_text(editor: QLineEdit | QTextEdit, start: int, end: int, *, focus: bool) -> None:
    """Selects a stretch and brings it into view; far down in a long text with ``focus`` only: that needs a window."""
    if isinstance(editor, QLineEdit):
        first, last = units(editor.text()[:start]), units(editor.text()[:end])
        editor.setSelection(first, last - first)
        return
    text = editor.toPlainText()
    first, last = units(text[:start]), units(text[:end])
    if isinstance(editor, TextBox) and not editor.shows_all and end > EXCERPT:
        if focus:
            editor.whole_requested.emit(first, last)
        return
    cursor = editor.textCursor()
    cursor.setPosition(first)
    cursor.setPosition(last, QTextCursor.MoveMode.KeepAnchor)
    editor.setTextCursor(cursor)
    editor.ensureCursorVisible()


class InspectorPage(QWidget):
    """One page. Subclasses add to :attr:`body`; :attr:`form` holds the fields, if there are any."""

    def __init__(self, theme: Theme, workspace: Workspace, kind: str) -> None:
        super().__init__()
        self.theme, self.workspace = theme, workspace
        self.form: Form | None = None
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        self.header = Header(theme, kind, self)
        outer.addWidget(self.header)
        self.frame = outer
        self.body = Page(self)
        self.problems = ProblemStrip(theme, workspace)
        self.body.add(self.problems)
        outer.addWidget(self.body, 1)
        self._followers: list[Callable[[], None]] = []
        self._run_followers: list[Callable[[], None]] = []

    def refresh(self) -> None:
        """Shows the document as it is. Raises ``KeyError`` when what is shown is gone."""
        if self.form is not None:
            self.form.refresh()
        for follower in (*self._followers, *self._run_followers):
            follower()
        self.refresh_problems()

    def show_items(self, items: Sequence[str]) -> None:
        """Brings the part of the page that belongs to what is selected into view."""

    def refresh_run(self) -> None:
        """Shows what the run says."""

    def refresh_run_state(self) -> None:
        """Shows what follows from a run that began, waits or ended; fields of the document are left alone."""
        for follower in self._run_followers:
            follower()
        self.refresh_run()

    def refresh_problems(self) -> None:
        """Shows the problems as they are."""
        if self.form is not None:
            self.form.refresh_problems()
            names = self.form.names
            self.problems.show_problems([p for p in self.form.target.problems() if p.field not in names])

    def follow(self, refresh: Callable[[], None]) -> None:
        """Also calls ``refresh`` with every :meth:`refresh`."""
        self._followers.append(refresh)

    def follow_run(self, refresh: Callable[[], None]) -> None:
        """Also calls ``refresh`` with every :meth:`refresh` and :meth:`refresh_run_state`."""
        self._run_followers.append(refresh)

    def container_of(self, item: str, field: str) -> QWidget | None:
        """What holds the editors of a field of an item; None if this page has none."""
        if self.form is None or field not in self.form.names:
            return None
        return self.form.field(field)

    def show_text(self, item: str, field: str, text: str, start: int, end: int, *, focus: bool) -> None:
        """Brings a stretch of a text into view and selects it; ``focus``: the cursor goes there."""
        container = self.container_of(item, field)
        if container is None:
            if focus:
                self.focus_field(field)
            return
        self.unfold(container)
        editor, first = text_editor(container, text)
        if editor is not None:
            self.unfold(editor)
        shown = editor if editor is not None else container
        self.body.ensureWidgetVisible(shown, 20, 40)
        if focus:
            shown.setFocus(Qt.FocusReason.OtherFocusReason)
        if editor is not None and first >= 0:
            select_text(editor, first + start, first + end, focus=focus)

    def unfold(self, widget: QWidget) -> None:
        """Opens the sections around a widget."""
        for section in self.body.findChildren(Section):
            if section.isAncestorOf(widget):
                section.set_open(True)

    def focus_field(self, name: str) -> bool:
        """Puts the focus into a field; False if there is none of this name."""
        return self.form is not None and self.form.focus(name)
