"""Lists inside a node as cards: context providers and middleware of an agent, agents of a conversation runner."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu

from studio.bridge.workspace import Workspace
from studio.document.edits import SetFields
from studio.document.lines import name_of
from studio.ui.inspector.declared import Card, Cards, Declared, MakesCards
from studio.ui.inspector.target import changed_at, default_at, value_at
from studio.ui.text import tip, tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button


def _unused(*_: object, **__: object) -> Any:
    raise AssertionError("items of a node are changed by their node")


class NodePart(Declared):
    """One item of a list of a node as the target of a form."""

    def __init__(self, workspace: Workspace, node_id: str, field: str, index: int, word: str) -> None:
        super().__init__(workspace, field, index, _unused, word)
        self.node_id = node_id

    @property
    def items(self) -> tuple[Any, ...]:
        """The whole list. Raises ``KeyError`` when the node is gone."""
        node = self.workspace.document.workflow.node(self.node_id)
        if node is None:
            raise KeyError(self.node_id)
        found: tuple[Any, ...] = getattr(node, self.where)
        return found

    @property
    def item(self) -> Any:
        if self.index >= len(self.items):
            raise KeyError(f"{self.node_id}.{self.where}.{self.index}")
        return self.items[self.index]

    def read(self, field: str) -> object:
        return value_at(self.item, field)

    def write(self, field: str, value: object) -> None:
        if self.read(field) == value:
            return
        name, new = changed_at(self.item, field, value)
        items = list(self.items)
        items[self.index] = self.item.model_copy(update={name: new})
        edit = SetFields("nodes", self.node_id, {self.where: tuple(items)})
        key = f"{self.node_id}.{self.where}.{self.index}.{field}"
        self.workspace.document.execute(edit, self.step_text(field), key)

    def default(self, field: str) -> object:
        return default_at(type(self.item), field)

    def step_text(self, field: str) -> str:
        words = tr("Change {field} of a {word} of {name}")
        name = name_of(self.workspace.document.workflow, self.node_id)
        return words.format(field=field.rpartition(".")[2].replace("_", " "), word=self._word, name=name)


class PartCard(Card):
    """A folding card that can be moved among its siblings. Subclasses add fields and say a title."""

    def __init__(self, theme: Theme, target: NodePart, cards: PartCards) -> None:
        super().__init__(theme, target, cards.remove)
        self._buttons: list[tuple[Button, int]] = []
        for icon, step, words in (("chevron-up", -1, tr("Move up")), ("chevron-down", 1, tr("Move down"))):
            button = Button(theme, "", icon, "plain", small=True)
            button.setToolTip(words)
            button.clicked.connect(lambda _=False, s=step: cards.move_item(self.target.index, s))
            self._row.insertWidget(self._row.count() - 1, button)
            self._buttons.append((button, step))

    def title(self) -> str:
        """What the card is called."""
        return str(self.target.item.name)

    def refresh(self) -> None:
        super().refresh()
        title = self.title()
        self.set_title(title)
        assert isinstance(self.target, NodePart)
        count = len(self.target.items)
        for button, step in self._buttons:
            button.setEnabled(0 <= self.target.index + step < count)
            button.setAccessibleName(f"{button.toolTip()}: {title}")
        self._remove_button.setAccessibleName(tr("Remove {name}").format(name=title))
        self.refresh_problems()
        self._remove_button.setToolTip(tip(tr("Remove {name}").format(name=title)))

    def refresh_problems(self) -> None:
        """Says what is wrong with the item."""
        assert isinstance(self.target, NodePart)
        found = self.workspace.problems.at(self.target.node_id)
        mine = [p for p in found if p.field == f"{self.target.where}.{self.target.index}" and p.severity != "info"]
        self.note.set_tone("wait_t" if mine and mine[0].severity == "warning" else "fail_t")
        self.say(" ".join(p.message for p in mine))


class PartCards(Cards):
    """The cards of a list of a node, and a button below that adds one of several kinds."""

    def __init__(
        self,
        theme: Theme,
        workspace: Workspace,
        node_id: str,
        field: str,
        make: Callable[[Theme, NodePart, PartCards], PartCard],
        word: str,
    ) -> None:
        made: MakesCards = lambda theme, target, _: make(theme, target, self)  # noqa: E731
        super().__init__(theme, workspace, field, made, _unused, _unused, word)
        self.node_id = node_id
        self.key: Callable[[Any], object] = lambda _: ""
        """What the card of an item depends on besides its values: another key is another card."""
        self._keys: list[object] = []

    def refresh(self) -> None:
        keys = [self.key(item) for item in self.items()]
        kept = next((n for n, (a, b) in enumerate(zip(keys, self._keys, strict=False)) if a != b), len(keys))
        while len(self.cards) > kept:
            card = self.cards.pop()
            card.hide()
            card.deleteLater()
        self._keys = keys
        super().refresh()

    def refresh_problems(self) -> None:
        """Says in each card what is wrong with its item."""
        for card in self.cards:
            if isinstance(card, PartCard) and card.target.index < len(self.items()):
                card.refresh_problems()

    def items(self) -> Sequence[Any]:
        return NodePart(self.workspace, self.node_id, self.where, 0, self._word).items

    def target(self, index: int) -> Declared:
        return NodePart(self.workspace, self.node_id, self.where, index, self._word)

    def offer(self, text: str, kinds: Sequence[tuple[str, Callable[[], Any]]]) -> None:
        """The button; ``kinds`` are words and what makes a new item. Several kinds are a menu."""
        button = Button(self.theme, text, "own:plus", small=True)
        if len(kinds) == 1:
            button.clicked.connect(lambda: self.add(kinds[0][1]()))
        else:
            menu = QMenu(button)
            for words, made in kinds:
                menu.addAction(words).triggered.connect(lambda _=False, m=made: self.add(m()))
            button.clicked.connect(lambda: menu.popup(button.mapToGlobal(button.rect().bottomLeft())))
        self.buttons.addWidget(button)
        self.buttons.addStretch(1)

    def add(self, item: Any) -> None:
        """Puts an item at the end and opens its card."""
        text = tr("Add a {word} to {name}").format(word=self._word, name=self._name())
        self.execute(self._edit((*self.items(), item)), text)

    def remove(self, index: int) -> None:
        items = self.items()
        if index < len(items):
            text = tr("Remove a {word} of {name}").format(word=self._word, name=self._name())
            self.workspace.document.execute(self._edit((*items[:index], *items[index + 1 :])), text)

    def move_item(self, index: int, step: int) -> None:
        """Moves an item up (-1) or down (1)."""
        items, to = list(self.items()), index + step
        if not (0 <= index < len(items) and 0 <= to < len(items)):
            return
        items[index], items[to] = items[to], items[index]
        shown = self.cards[index].is_open, self.cards[to].is_open
        text = tr("Move a {word} of {name}").format(word=self._word, name=self._name())
        self.workspace.document.execute(self._edit(tuple(items)), text)
        self.cards[to].set_open(shown[0])
        self.cards[index].set_open(shown[1])
        self.cards[to].setFocus(Qt.FocusReason.OtherFocusReason)

    def _edit(self, items: tuple[Any, ...]) -> SetFields:
        return SetFields("nodes", self.node_id, {self.where: items})

    def _name(self) -> str:
        return name_of(self.workspace.document.workflow, self.node_id)
