"""All commands with their keys, and which keys clash, as a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QColor, QKeySequence

from studio.ui.actions import ACTIONS, Action
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.table_rows import Index, TableRows

COLUMNS = ("Command", "Menu", "Keys")
CANVAS_KEYS = ("Return", "Menu", "Shift+F10", "Space", "Tab", "Esc", "Left", "Right", "Up", "Down")
"""Keys that the canvas has for itself; they are not in the list of commands."""


def normal(keys: str) -> str:
    """A key sequence as it is compared and kept; "" if it cannot be read."""
    return QKeySequence(keys).toString(QKeySequence.SequenceFormat.PortableText)


def shown(keys: tuple[str, ...]) -> str:
    """Keys as this platform writes them."""
    return ", ".join(QKeySequence(k).toString(QKeySequence.SequenceFormat.NativeText) for k in keys)


class Keymap:
    """The keys of every action: its own, or those that a person chose."""

    def __init__(self, chosen: Mapping[str, tuple[str, ...]], actions: tuple[Action, ...] = ACTIONS) -> None:
        self.actions = {action.id: action for action in actions}
        self.chosen = {i: tuple(map(normal, keys)) for i, keys in chosen.items() if i in self.actions}

    def of(self, action: str) -> tuple[str, ...]:
        """The keys of an action."""
        return self.chosen.get(action, self.default(action))

    def default(self, action: str) -> tuple[str, ...]:
        """The keys that an action has by itself."""
        return tuple(map(normal, self.actions[action].keys))

    def put(self, action: str, keys: tuple[str, ...]) -> None:
        """Gives an action keys; its own ones are no choice."""
        if keys == self.default(action):
            self.chosen.pop(action, None)
        else:
            self.chosen[action] = keys

    def users(self, keys: str, but: str = "") -> tuple[str, ...]:
        """The actions that have a key, without one."""
        wanted = normal(keys)
        return tuple(i for i in self.actions if i != but and wanted in self.of(i))

    def clashes(self, action: str) -> tuple[str, ...]:
        """What else the keys of an action do, in words."""
        found = [tr(self.actions[other].text) for key in self.of(action) for other in self.users(key, action)]
        on_canvas = {normal(k) for k in CANVAS_KEYS} & set(self.of(action))
        return (*found, *(tr("{key} on the canvas").format(key=key) for key in sorted(on_canvas)))


class KeyRows(TableRows):
    """Commands that contain the filter, in the order of the menus. The id is the ``UserRole``."""

    titles = COLUMNS

    def __init__(self, theme: Theme, keymap: Keymap, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme, self._keymap = theme, keymap
        self._rows = [a.id for a in keymap.actions.values()]

    def show(self, needle: str = "") -> None:
        """Shows what contains a text, in command, menu or keys; "clash" shows clashes."""
        wanted = needle.casefold().strip()
        self.beginResetModel()
        self._rows = [i for i in self._keymap.actions if not wanted or wanted in self._words(i).casefold()]
        self.endResetModel()

    def refresh(self) -> None:
        """Keys have changed."""
        self.dataChanged.emit(self.index(0, 0), self.index(max(0, len(self._rows) - 1), len(COLUMNS) - 1))

    def row_of(self, action: str) -> int:
        """Where a command is; -1 if it is not shown."""
        return self._rows.index(action) if action in self._rows else -1

    def _words(self, action: str) -> str:
        entry = self._keymap.actions[action]
        keys = self._keymap.of(action)
        clash = " clash" if self._keymap.clashes(action) else ""
        return f"{tr(entry.text)} {tr(entry.menu)} {' '.join(keys)} {shown(keys)}{clash}"

    def count(self) -> int:
        return len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not 0 <= index.row() < len(self._rows):
            return None
        action = self._rows[index.row()]
        entry = self._keymap.actions[action]
        clashes = self._keymap.clashes(action)
        if role == Qt.ItemDataRole.UserRole:
            return action
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            keys = shown(self._keymap.of(action))
            texts = (tr(entry.text).removesuffix("…"), tr(entry.submenu or entry.menu), keys)
            words = texts[index.column()]
            if role == Qt.ItemDataRole.AccessibleTextRole and index.column() == 2 and clashes:
                words += ", " + tr("also: {others}").format(others=", ".join(clashes))
            return words
        if role == Qt.ItemDataRole.ForegroundRole:
            token = "muted" if index.column() == 1 else "fail_t" if clashes and index.column() == 2 else "text"
            return QColor(self._theme.color(token))
        if role == Qt.ItemDataRole.FontRole and index.column() == 2 and action in self._keymap.chosen:
            return self._theme.font("strong")
        if role == Qt.ItemDataRole.ToolTipRole and clashes:
            return tr("Also: {others}").format(others=", ".join(clashes))
        return None
