"""The QActions of the window, made from the action list; kept up to date with the situation."""

from __future__ import annotations

import sys
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import cache

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from studio.ui.actions import Action, Situation
from studio.ui.text import tip, tr
from studio.ui.theme import Theme


class ActionSet(QObject):
    """One QAction per entry that has a function. Actions with ``canvas`` keys are given to the widgets named by
    :meth:`add_canvas_widget`, the others to the window."""

    def __init__(
        self, theme: Theme, actions: Sequence[Action], functions: Mapping[str, Callable[[], None]], window: QWidget
    ) -> None:
        super().__init__(window)
        self._entries = {a.id: a for a in actions if a.id in functions}
        self._actions: dict[str, QAction] = {}
        self._reasons: dict[str, str] = {}
        self._keys: dict[str, tuple[str, ...]] = {}
        """Keys in place of an entry's own."""
        self._words: dict[str, tuple[str, str]] = {}
        """What each action shows: why it does not apply, and how it is called."""
        self._shown: Situation | None = None
        """The situation that the actions show; None: whatever it is, they have to be looked at."""
        for entry in self._entries.values():
            action = self._made(theme, entry)
            action.triggered.connect(_call(functions[entry.id]))
            if entry.context == "window":
                window.addAction(action)
            self._actions[entry.id] = action

    def __contains__(self, action_id: str) -> bool:
        return action_id in self._actions

    def __getitem__(self, action_id: str) -> QAction:
        return self._actions[action_id]

    def entries(self) -> Iterator[Action]:
        """The entries that have a function, in the order of the list."""
        return iter(self._entries.values())

    def keys(self, action_id: str) -> tuple[str, ...]:
        """The keys of an action, the one that is shown first."""
        return self._keys.get(action_id, self._entries[action_id].keys)

    def set_keys(self, chosen: Mapping[str, tuple[str, ...]]) -> None:
        """Gives actions other keys than those of the list; the others get their own back."""
        self._shown = None
        self._words.clear()
        before, self._keys = self._keys, {i: keys for i, keys in chosen.items() if i in self._entries}
        for action_id in before.keys() | self._keys.keys():
            self._actions[action_id].setShortcuts([QKeySequence(k) for k in self._all_keys(action_id)])

    def _all_keys(self, action_id: str) -> tuple[str, ...]:
        entry = self._entries[action_id]
        own = (*entry.keys, *(entry.mac if sys.platform == "darwin" else ()))
        return self._keys.get(action_id, own)

    def reason(self, action_id: str) -> str:
        """Why an action does not apply now; empty if it does."""
        return self._reasons.get(action_id, "")

    def add_canvas_widget(self, widget: QWidget, keeps: Container[str] = ()) -> None:
        """Lets the ``canvas`` keys work while this widget or a child has the focus, but for those of the actions that
        it ``keeps`` for itself."""
        for entry in self._entries.values():
            if entry.context == "canvas" and entry.id not in keeps:
                widget.addAction(self._actions[entry.id])

    def update(self, now: Situation) -> None:
        """Enables, names and checks every action for this situation."""
        for entry in self._entries.values():
            if entry.checkable:  # one that was clicked may show another mark than it should
                self._actions[entry.id].setChecked(entry.id in now.checked)
        if now == self._shown:
            return  # a run says many times a second that something happened
        self._shown = now
        for entry in self._entries.values():
            action = self._actions[entry.id]
            reason = entry.why_not(now)
            text = tr(entry.text_now(now)) if entry.text_now else tr(entry.text)
            words = (reason, text)
            if self._words.get(entry.id) == words:
                continue
            self._reasons[entry.id], self._words[entry.id] = reason, words
            if action.isEnabled() == bool(reason):
                action.setEnabled(not reason)
            if action.text() != text:
                action.setText(text)
                action.setIconText(text)
            keys = self.keys(entry.id)
            hint = tip(tooltip(tr(entry.hint) or text, keys[0] if keys else "", reason))
            if action.toolTip() != hint:
                action.setToolTip(hint)

    def _made(self, theme: Theme, entry: Action) -> QAction:
        action = QAction(tr(entry.text), self)
        action.setObjectName(entry.id)
        if entry.icon:
            action.setIcon(theme.icon(entry.icon))
        action.setCheckable(entry.checkable)
        action.setMenuRole(_ROLES.get(entry.id, QAction.MenuRole.NoRole))
        action.setShortcuts([QKeySequence(k) for k in self._all_keys(entry.id)])
        canvas = entry.context == "canvas"
        action.setShortcutContext(
            Qt.ShortcutContext.WidgetWithChildrenShortcut if canvas else Qt.ShortcutContext.WindowShortcut
        )
        action.setAutoRepeat(entry.menu != "Run")
        return action


_ROLES = {
    "app.settings": QAction.MenuRole.PreferencesRole,
    "app.quit": QAction.MenuRole.QuitRole,
    "app.about": QAction.MenuRole.AboutRole,
}


@cache
def shown_key(keys: str) -> str:
    """A key as this platform writes it: ``Ctrl+Shift+P``."""
    return QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)


def tooltip(text: str, keys: str, reason: str) -> str:
    """What an action does, its key, and why it does not apply."""
    text = text.removesuffix("…")
    shown = f"{text} ({shown_key(keys)})" if keys else text
    return f"{shown}\n{reason}" if reason else shown


def _call(function: Callable[[], None]) -> Callable[[], None]:
    """A slot without the ``checked`` argument."""

    def run() -> None:
        function()

    return run
