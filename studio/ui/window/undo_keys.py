"""Ctrl+Z in a text field: first the field's own typing, then, when nothing of it is left, the document."""

from __future__ import annotations

import contextlib

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QTextEdit, QWidget

_UNDO, _REDO = QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo


class UndoKeys(QObject):
    """Qt's text fields take Ctrl+Z even with nothing to undo. This looks at the focused field only, so that no other
    widget's events pass through Python."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._field: QWidget | None = None
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._on_application_focus_changed)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            undo, redo = event.matches(_UNDO), event.matches(_REDO)
            if (undo or redo) and not _has_own(watched, undo=undo):
                # Not accepted: Qt goes on to the window's shortcut.
                event.ignore()
                return True
        return super().eventFilter(watched, event)

    def _on_application_focus_changed(self, _old: QWidget | None, new: QWidget | None) -> None:
        if self._field is not None:
            with contextlib.suppress(RuntimeError):  # the field may be deleted already
                self._field.removeEventFilter(self)
            self._field = None
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
