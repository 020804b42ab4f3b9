"""The page of keyboard shortcuts: every command, its keys, what clashes; keys are pressed, not typed."""

from __future__ import annotations

from PySide6.QtCore import QKeyCombination, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QHBoxLayout, QHeaderView, QKeySequenceEdit, QTableView, QWidget

from studio.settings.preferences import Preferences
from studio.ui.settings_dialog.general import SettingsPage
from studio.ui.settings_dialog.key_table import Keymap, KeyRows, normal, shown
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import Prose
from studio.ui.widgets.search_field import SearchField


class ShortcutsPage(SettingsPage):
    """Choose a command, press a key, *Set*."""

    def __init__(self, theme: Theme, preferences: Preferences, parent: QWidget | None = None) -> None:
        super().__init__(theme, tr("Shortcuts"), parent)
        self.keymap = Keymap(preferences.shortcuts)
        self.rows = KeyRows(theme, self.keymap, self)
        self.filter = SearchField(theme, tr("Command or key"))
        self.table = QTableView()
        self.table.setObjectName("shortcuts")
        self.table.setAccessibleName(tr("Commands and their keys"))
        self.keys = QKeySequenceEdit()
        self.keys.setObjectName("setting.shortcut")
        self.keys.setAccessibleName(tr("New key: press it"))
        self.keys.setMaximumSequenceLength(1)
        # Otherwise nobody could leave the field with the keyboard.
        leave = (Qt.Key.Key_Tab, Qt.Key.Key_Backtab, Qt.Key.Key_Escape)
        self.keys.setFinishingKeyCombinations([QKeyCombination(Qt.KeyboardModifier.NoModifier, key) for key in leave])
        self.set = Button(theme, tr("Set"), small=True)
        self.add = Button(theme, tr("Add"), small=True)
        self.take = Button(theme, tr("Take it away there"), small=True)
        self.remove = Button(theme, tr("No key"), small=True)
        self.reset = Button(theme, tr("Default"), small=True)
        self.reset_all = Button(theme, tr("All to default"), kind="plain", small=True)
        self.copy = Button(theme, tr("Copy list"), kind="plain", small=True)
        self.said = Prose(theme, "", "small", "muted", 15)
        self._lay_out()
        self._connect()
        self.table.selectRow(0)
        self._tell()

    @property
    def action(self) -> str:
        """The chosen command; "" if none is."""
        return str(self.table.currentIndex().data(Qt.ItemDataRole.UserRole) or "")

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setContentsMargins(12, 4, 12, 6)
        top.addWidget(self.filter, 1)
        top.addWidget(self.copy)
        top.addWidget(self.reset_all)
        table = self.table
        table.setModel(self.rows)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setShowGrid(False)
        table.setWordWrap(False)
        table.setTabKeyNavigation(False)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(self.theme.length(24))
        header = table.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.resizeSection(1, self.theme.length(100))
        header.resizeSection(2, self.theme.length(160))
        below = QHBoxLayout()
        below.setContentsMargins(12, 8, 12, 0)
        below.setSpacing(6)
        below.addWidget(self.keys, 1)
        for button in (self.set, self.add, self.remove, self.reset):
            below.addWidget(button)
        last = QHBoxLayout()
        last.setContentsMargins(12, 4, 12, 4)
        last.addWidget(self.said, 1)
        last.addWidget(self.take)
        self.column.addLayout(top)
        self.column.addWidget(table, 1)
        self.column.addLayout(below)
        self.column.addLayout(last)

    def _connect(self) -> None:
        self.filter.textChanged.connect(self._on_filter_changed)
        self.table.selectionModel().currentRowChanged.connect(self._on_row_changed)
        self.keys.keySequenceChanged.connect(lambda _keys: self._tell())
        self.set.clicked.connect(lambda: self._put((self._pressed(),)))
        self.add.clicked.connect(lambda: self._put((*self.keymap.of(self.action), self._pressed())))
        self.remove.clicked.connect(lambda: self._put(()))
        self.reset.clicked.connect(lambda: self._put(self.keymap.default(self.action)))
        self.reset_all.clicked.connect(self._on_reset_all_clicked)
        self.take.clicked.connect(self._on_take_clicked)
        self.copy.clicked.connect(self._on_copy_clicked)

    def _pressed(self) -> str:
        return self.keys.keySequence().toString(QKeySequence.SequenceFormat.PortableText)

    def _put(self, keys: tuple[str, ...]) -> None:
        if self.action:
            self.keymap.put(self.action, tuple(dict.fromkeys(map(normal, keys))))
            self.keys.clear()
            self._changed()

    def _changed(self) -> None:
        self.rows.refresh()
        self._tell()
        self.changed.emit({"shortcuts": dict(self.keymap.chosen)})

    def _tell(self) -> None:
        action, pressed = self.action, self._pressed()
        self.set.setEnabled(bool(action and pressed))
        self.add.setEnabled(bool(action and pressed))
        self.remove.setEnabled(bool(action and self.keymap.of(action)))
        self.reset.setEnabled(action in self.keymap.chosen)
        self.reset_all.setEnabled(bool(self.keymap.chosen))
        others = self.keymap.users(pressed, action) if pressed else ()
        clashes = self.keymap.clashes(action) if action and not pressed else ()
        self.take.setVisible(bool(others))
        if others:
            names = ", ".join(tr(self.keymap.actions[i].text).removesuffix("…") for i in others)
            self._say(tr("{key} is the key of {names}, too.").format(key=shown((pressed,)), names=names), bad=True)
        elif clashes:
            self._say(tr("Its key also does: {others}.").format(others=", ".join(clashes)), bad=True)
        else:
            self._say(tr("Press a key in the field, then Set. Keys that clash are shown in red."), bad=False)

    def _say(self, text: str, *, bad: bool) -> None:
        self.said.set_text(text)
        self.said.set_tone("fail_t" if bad else "muted")

    def _on_filter_changed(self, text: str) -> None:
        action = self.action
        self.rows.show(text)
        self.table.selectRow(max(0, self.rows.row_of(action)))
        self._tell()

    def _on_row_changed(self, _now: object, _before: object) -> None:
        self.keys.clear()
        self._tell()

    def _on_take_clicked(self) -> None:
        pressed = normal(self._pressed())
        for other in self.keymap.users(pressed, self.action):
            self.keymap.put(other, tuple(k for k in self.keymap.of(other) if k != pressed))
        self._put((pressed,))

    def _on_reset_all_clicked(self) -> None:
        self.keymap.chosen.clear()
        self._changed()

    def _on_copy_clicked(self) -> None:
        lines = [
            f"{tr(a.menu)}\t{tr(a.text).removesuffix('…')}\t{shown(self.keymap.of(a.id))}"
            for a in self.keymap.actions.values()
        ]
        QGuiApplication.clipboard().setText("\n".join(lines))
        self._say(tr("All commands with their keys are on the clipboard."), bad=False)
