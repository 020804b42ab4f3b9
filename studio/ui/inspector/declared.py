"""Lists of declarations in a form: a folding card for each, and what a card edits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from studio.bridge.workspace import Workspace
from studio.document.edits import Edit
from studio.document.model import Workflow
from studio.document.problems import Problem
from studio.ui.inspector.form import Form
from studio.ui.text import tip, tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import Prose
from studio.ui.widgets.section import Section

Change = Callable[..., Edit]
"""``(workflow, index, **values)`` gives the edit of an item."""


def called(item: Any) -> str:
    """What a declaration is called: its name, or its key."""
    return str(getattr(item, "name", "") or getattr(item, "key", ""))


class Declared:
    """One item of a list of the workflow as the target of a form."""

    def __init__(self, workspace: Workspace, where: str, index: int, change: Change, word: str) -> None:
        self.workspace, self.where, self.index = workspace, where, index
        self._change, self._word = change, word
        self.check: Callable[[], Sequence[Problem]] = tuple
        """What is wrong with the item now, by field."""

    @property
    def item(self) -> Any:
        """The item as it is now. Raises ``KeyError`` when it is gone."""
        items = getattr(self.workspace.document.workflow, self.where)
        if self.index >= len(items):
            raise KeyError(f"{self.where}.{self.index}")
        return items[self.index]

    def read(self, field: str) -> object:
        return getattr(self.item, field)

    def write(self, field: str, value: object) -> None:
        if self.read(field) != value:
            workflow = self.workspace.document.workflow
            edit = self._change(workflow, self.index, **{field: value})
            self.workspace.document.execute(edit, self.step_text(field), f"{self.where}.{self.index}.{field}")

    def default(self, field: str) -> object:
        return type(self.item).model_fields[field].get_default(call_default_factory=True)

    def problems(self) -> Sequence[Problem]:
        return self.check()

    def step_text(self, field: str) -> str:
        words = tr("Change {field} of {word} {name}")
        return words.format(field=field.replace("_", " "), word=self._word, name=called(self.item))


class Card(Section):
    """A folding card of one item. Subclasses add fields to :meth:`add` and bind them in :attr:`form`."""

    def __init__(self, theme: Theme, target: Declared, remove: Callable[[int], None]) -> None:
        super().__init__(theme, "", open_=False, gap=0)
        self.theme, self.target, self.workspace = theme, target, target.workspace
        self.form = Form(theme, target.workspace, target, self)
        self.note = Prose(theme, "", "small", "fail_t", 15)
        self.note.setContentsMargins(12, 4, 12, 2)
        self.note.hide()
        self.add(self.note)
        self._remove_button = Button(theme, "", "trash-2", "plain", small=True)
        self._remove_button.clicked.connect(
            lambda: remove(self.target.index), Qt.ConnectionType.QueuedConnection
        )  # the card goes with its item
        self._row.addWidget(self._remove_button)

    def refresh(self) -> None:
        """Shows the item as it is. Raises ``KeyError`` when it is gone."""
        name = called(self.target.item)
        self.set_title(name)
        text = tr("Remove {name}").format(name=name)
        self._remove_button.setToolTip(tip(text))
        self._remove_button.setAccessibleName(text)
        self.set_summary(self.summary())
        self.form.refresh()
        self.form.refresh_problems()

    def summary(self) -> str:
        """What the folded card says of its item."""
        return ""

    def say(self, problem: str) -> None:
        """Shows what is wrong with the item as a whole; an empty text hides it."""
        if problem != self.note.plain:
            self.note.set_text(problem)
        self.note.setVisible(bool(problem))


class MakesCards(Protocol):
    """Makes the card of an item."""

    def __call__(self, theme: Theme, target: Declared, remove: Callable[[int], None], /) -> Card: ...


class Cards(QWidget):
    """The cards of a list, and buttons below."""

    def __init__(
        self,
        theme: Theme,
        workspace: Workspace,
        where: str,
        make: MakesCards,
        change: Change,
        remove: Callable[[Workflow, int], Edit],
        word: str,
    ) -> None:
        super().__init__()
        self.theme, self.workspace, self.where = theme, workspace, where
        self._make, self._change, self._remove, self._word = make, change, remove, word
        self.cards: list[Card] = []
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        self._list = QVBoxLayout()
        self._list.setSpacing(0)
        outer.addLayout(self._list)
        self.buttons = QHBoxLayout()
        self.buttons.setContentsMargins(12, 8, 12, 0)
        self.buttons.setSpacing(6)
        outer.addLayout(self.buttons)

    def items(self) -> Sequence[Any]:
        """The items of the document."""
        found: Sequence[Any] = getattr(self.workspace.document.workflow, self.where)
        return found

    def target(self, index: int) -> Declared:
        """What the card of an item edits."""
        return Declared(self.workspace, self.where, index, self._change, self._word)

    def refresh(self) -> None:
        """Shows the items of the document."""
        items = self.items()
        while len(self.cards) > len(items):
            card = self.cards.pop()
            card.hide()
            card.deleteLater()
        while len(self.cards) < len(items):
            card = self._make(self.theme, self.target(len(self.cards)), self.remove)
            self.cards.append(card)
            self._list.addWidget(card)
            card.show()  # at once: a new card takes the focus
        for card in self.cards:
            card.refresh()

    def execute(self, edit: Edit, text: str) -> None:
        """Makes an edit, and opens the card of what it added at the end."""
        before = len(self.cards)
        self.workspace.document.execute(edit, text)
        self.refresh()
        if len(self.cards) > before:
            self.cards[-1].set_open(True)
            if not self.cards[-1].form.focus("name"):
                self.cards[-1].form.focus("key")
            QTimer.singleShot(0, self, self._show_last)  # once the new card has its place

    def _show_last(self) -> None:
        """Brings the newest card to the top of the page."""
        around = self.parentWidget()
        while around is not None and not isinstance(around, QScrollArea):
            around = around.parentWidget()
        content = around.widget() if around is not None else None
        if around is not None and content is not None and self.cards:
            top = self.cards[-1].mapTo(content, QPoint(0, 0)).y()
            around.verticalScrollBar().setValue(top - 4)

    def remove(self, index: int) -> None:
        """Takes an item out."""
        workflow = self.workspace.document.workflow
        items = getattr(workflow, self.where)
        if index < len(items):
            text = tr("Remove {word} {name}").format(word=self._word, name=called(items[index]))
            self.workspace.document.execute(self._remove(workflow, index), text)
