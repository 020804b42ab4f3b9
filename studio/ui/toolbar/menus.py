"""The menu bar, made from the action list."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QMenu, QMenuBar, QToolTip

from studio.ui.actions import MENUS
from studio.ui.text import tr
from studio.ui.toolbar.action_set import ActionSet

FillMenu = Callable[[QMenu], None]
"""Fills a menu whose entries are known only when it is opened."""

_MNEMONICS = {
    "File": "&File", "Edit": "&Edit", "View": "&View", "Insert": "&Insert", "Node": "&Node", "Run": "&Run",
    "Checkpoints": "&Checkpoints", "Window": "&Window", "Help": "&Help",
}  # fmt: skip


class _Reasons(QObject):
    """Lets the entries of menus say why they do not apply, when the pointer rests on them."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(watched, QMenu) and isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            action = watched.actionAt(event.pos())
            says = action is not None and not action.isEnabled() and not action.isSeparator()
            QToolTip.showText(event.globalPos(), action.toolTip() if action is not None and says else "", watched)
            return True
        return super().eventFilter(watched, event)


def fill_menu_bar(bar: QMenuBar, actions: ActionSet, late: Mapping[tuple[str, str], FillMenu]) -> None:
    """Adds every menu that has entries.

    ``late`` gives submenus by (action id after which they stand, title); they are filled each time they are opened.
    """
    reasons = _Reasons(bar)
    for name in MENUS:
        entries = [entry for entry in actions.entries() if entry.menu == name]
        if not entries:
            continue
        menu = bar.addMenu(tr(_MNEMONICS[name]))
        menu.installEventFilter(reasons)
        menu.setObjectName(f"menu.{name}")
        section = entries[0].section
        submenus: dict[str, QMenu] = {}
        for entry in entries:
            if entry.section != section:
                menu.addSeparator()
                section = entry.section
            parent = menu
            if entry.submenu:
                if entry.submenu not in submenus:
                    submenus[entry.submenu] = menu.addMenu(tr(entry.submenu))
                    submenus[entry.submenu].installEventFilter(reasons)
                parent = submenus[entry.submenu]
            parent.addAction(actions[entry.id])
            _add_late(menu, entry.id, late)


def _add_late(menu: QMenu, after: str, late: Mapping[tuple[str, str], FillMenu]) -> None:
    for (action_id, title), fill in late.items():
        if action_id == after:
            submenu = menu.addMenu(tr(title))
            submenu.aboutToShow.connect(_refill(submenu, fill))


def _refill(menu: QMenu, fill: FillMenu) -> Callable[[], None]:
    def run() -> None:
        menu.clear()
        fill(menu)
        if menu.isEmpty():
            menu.addAction(tr("Nothing yet")).setEnabled(False)

    return run
