"""What is selected in a workspace: view state, not part of the document and not on the undo stack."""

from __future__ import annotations

from collections.abc import Container, Iterable

from PySide6.QtCore import QObject, Signal


class SelectionModel(QObject):
    """``items`` are ids of nodes, edges, switches, fan-outs, notes and groups; besides, at most one queued message or
    checkpoint is looked at. Selecting one kind clears the others."""

    changed = Signal()
    reveal_requested = Signal(str)
    """Scroll an item into view and flash it (from outline, problems, messages)."""
    field_requested = Signal(str, str)
    """Put the focus into an inspector field: item id, field name."""
    command_requested = Signal(str, str)
    """Ask for a command of the debugger that needs a dialog or the input: its name, and the item."""
    text_requested = Signal(str, str, str, int, int, bool)
    """Show a stretch of a text in the inspector: item id, field name, the whole text, start, end, and whether the
    cursor goes there."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._items: tuple[str, ...] = ()
        self._ids: frozenset[str] | None = frozenset()
        self._message: str | None = None
        self._checkpoint: str | None = None

    @property
    def items(self) -> tuple[str, ...]:
        """Selected ids, in the order in which they were selected."""
        return self._items

    @property
    def ids(self) -> frozenset[str]:
        """The same without order."""
        if self._ids is None:
            self._ids = frozenset(self._items)
        return self._ids

    @property
    def message(self) -> str | None:
        """The queued message that is looked at."""
        return self._message

    @property
    def checkpoint(self) -> str | None:
        """The checkpoint that is looked at."""
        return self._checkpoint

    def select(self, items: Iterable[str]) -> None:
        """Selects exactly these."""
        self._set(tuple(dict.fromkeys(items)), None, None)

    def toggle(self, item: str) -> None:
        """Adds an item to the selection or takes it out."""
        kept = tuple(i for i in self._items if i != item)
        self._set(kept if len(kept) < len(self._items) else (*kept, item), None, None)

    def keep_only(self, there: Container[str]) -> None:
        """Takes out what is no longer there."""
        self._set(tuple(i for i in self._items if i in there), self._message, self._checkpoint)

    def look_at_message(self, message: str | None) -> None:
        """Shows a queued message in the inspector."""
        self._set((), message, None)

    def look_at_checkpoint(self, checkpoint: str | None) -> None:
        """Shows a checkpoint in the inspector."""
        self._set((), None, checkpoint)

    def reveal(self, item: str) -> None:
        """Selects an item and asks the canvas to show it."""
        self.select((item,))
        self.reveal_requested.emit(item)

    def _set(self, items: tuple[str, ...], message: str | None, checkpoint: str | None) -> None:
        if (items, message, checkpoint) != (self._items, self._message, self._checkpoint):
            self._items, self._message, self._checkpoint = items, message, checkpoint
            self._ids = None
            self.changed.emit()
