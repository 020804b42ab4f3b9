"""What the program puts on the clipboard holds no key, wherever it was copied from."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtGui import QClipboard


class ClipboardGuard(QObject):
    """Looks at everything that the program itself copies; what others copied is not read.

    One place instead of one at every Copy: text views copy by themselves.
    """

    def __init__(self, clipboard: QClipboard, hide: Callable[[str], str], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._clipboard = clipboard
        self._hide = hide
        clipboard.dataChanged.connect(self._on_clipboard_changed)

    def _on_clipboard_changed(self) -> None:
        if not self._clipboard.ownsClipboard():
            return
        text = self._clipboard.text()
        hidden = self._hide(text)
        if hidden != text:
            self._clipboard.setText(hidden)  # tells itself once more, and then there is nothing to hide
