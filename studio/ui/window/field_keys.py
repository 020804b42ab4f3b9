"""Keys in the text field with the focus.

Ctrl+Z is the field's own typing first, then, when nothing of it is left, the document's. While an input method composes
(its candidate is in the field, but not in its text), Enter, Tab, Esc and the arrows are about the candidate and do
nothing else: most input methods keep them to themselves, some let them through.
"""

from __future__ import annotations

import contextlib

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QInputMethodEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QTextEdit, QWidget

_UNDO, _REDO = QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo
_K = Qt.Key
_CANDIDATE = frozenset({_K.Key_Return, _K.Key_Enter, _K.Key_Tab, _K.Key_Backtab, _K.Key_Escape, _K.Key_Up, _K.Key_Down})
_KEYS = (QEvent.Type.KeyPress, QEvent.Type.ShortcutOverride)


class FieldKeys(QObject):
    """Looks at the focused field only, so that no other widget's events pass through Python. It comes before the
    filters that a field has from its maker."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._field: QWidget | None = None
        self._composing = False
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._on_application_focus_changed)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QInputMethodEvent):
            self._composing = bool(event.preeditString())
        elif isinstance(event, QKeyEvent) and event.type() in _KEYS:
            if self._composing and event.key() in _CANDIDATE:
                event.accept()
                return True
            if event.type() == QEvent.Type.ShortcutOverride:
                return self._leaves_undo(watched, event) or super().eventFilter(watched, event)
        return super().eventFilter(watched, event)

    def _leaves_undo(self, field: QObject, event: QKeyEvent) -> bool:
        """Whether Ctrl+Z is none of the field's: Qt's fields would take it with nothing to undo, too."""
        undo, redo = event.matches(_UNDO), event.matches(_REDO)
        if not (undo or redo) or _has_own(field, undo=undo):
            return False
        event.ignore()  # Qt goes on to the window's shortcut
        return True

    def _on_application_focus_changed(self, _old: QWidget | None, new: QWidget | None) -> None:
        if self._field is not None:
            with contextlib.suppress(RuntimeError):  # the field may be deleted already
                self._field.removeEventFilter(self)
            self._field = None
        self._composing = False
        if isinstance(new, QLineEdit | QPlainTextEdit | QTextEdit):
            self._field = new
            new.installEventFilter(self)


def _has_own(field: QObject, *, undo: bool) -> bool:
    if isinstance(field, QLineEdit):
        return field.isUndoAvailable() if undo else field.isRedoAvailable()
    if isinstance(field, QPlainTextEdit | QTextEdit):
        if field.isReadOnly():
            return False
        return field.document().isUndoAvailable() if undo else field.document().isRedoAvailable()
    return False
