"""What the palette lists: every command with Ctrl+Shift+P; nodes and open files with Ctrl+P."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from studio.ui.command_palette import CommandPalette, Entry
from studio.ui.text import tr
from studio.ui.toolbar.action_set import shown_key

if TYPE_CHECKING:
    from studio.ui.main_window import MainWindow


class Palettes:
    """One palette widget, made on first use."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self._palette: CommandPalette | None = None

    def show_commands(self) -> None:
        """Every action that has a function; those that do not apply say why."""
        actions = self._window.actions_
        entries = [
            Entry(
                actions[entry.id].iconText().removesuffix("…"),
                actions[entry.id].trigger,
                group=tr(entry.submenu if entry.submenu not in entry.text else entry.menu),
                note=shown_key(keys[0]) if (keys := actions.keys(entry.id)) else "",
                icon=entry.icon,
                reason=actions.reason(entry.id),
            )
            for entry in actions.entries()
            if entry.palette
        ]
        self._open(entries, tr("Type a command"))

    def show_nodes(self) -> None:
        """Nodes and switches of the current workflow, then the other open files."""
        page = self._window.page
        if page is None:
            return
        workflow = page.workspace.document.workflow
        reveal = page.workspace.selection.reveal
        entries = [Entry(n.name, partial(reveal, n.id), note=n.id, kind=n.kind) for n in workflow.nodes]
        for edge in workflow.edges:
            if edge.kind in ("switch", "fan_out"):
                entries.append(Entry(getattr(edge, "name", edge.id), partial(reveal, edge.id), note=edge.id,
                                     icon="own:switch" if edge.kind == "switch" else "own:fan-out"))  # fmt: skip
        for other in self._window.files.pages():
            if other is not page:
                show = partial(self._window.tabs.show_page, other)
                entries.append(Entry(other.title, show, note=tr("open file"), icon="own:layout"))
        self._open(entries, tr("Find a node or an open file"))

    def _open(self, entries: list[Entry], placeholder: str) -> None:
        if self._palette is None:
            self._palette = CommandPalette(self._window.theme, self._window)
        self._palette.open(entries, placeholder)
