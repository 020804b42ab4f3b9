"""Copying from the window never puts a key on the clipboard."""

from __future__ import annotations

import json

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QClipboard, QGuiApplication
from PySide6.QtWidgets import QTextEdit
from pytestqt.qtbot import QtBot
from studio.agents.hiding import Hider
from studio.ui.clipboard import ClipboardGuard

KEY = "sk-canary-7f3a"


class OwnClipboard:
    """The clipboard of a platform that knows its owner; the one of the tests does not."""

    def __init__(self, clipboard: QClipboard) -> None:
        self._clipboard = clipboard
        self.dataChanged, self.text, self.setText = clipboard.dataChanged, clipboard.text, clipboard.setText

    def ownsClipboard(self) -> bool:
        return True


def test_a_key_is_taken_out_wherever_it_was_copied_from(qtbot: QtBot) -> None:
    clipboard = QGuiApplication.clipboard()
    guard = ClipboardGuard(OwnClipboard(clipboard), Hider(lambda: frozenset({KEY})))  # type: ignore[arg-type]
    clipboard.setText(json.dumps({"node": f"say {KEY}"}))
    assert json.loads(clipboard.text()) == {"node": "say [secret]"}
    view = QTextEdit()
    qtbot.addWidget(view)
    view.setHtml(f"the key <b>{KEY}</b> is told")
    view.selectAll()
    view.copy()
    assert clipboard.text() == "the key [secret] is told"
    mime = clipboard.mimeData()
    assert not any(b"canary" in mime.data(form).data() for form in mime.formats())
    clipboard.setText("nothing to hide")
    assert clipboard.text() == "nothing to hide"
    guard.deleteLater()
    clipboard.clear()


def test_what_others_copied_is_not_touched(qtbot: QtBot) -> None:
    class Foreign:
        """A clipboard whose content belongs to another program."""

        def ownsClipboard(self) -> bool:
            return False

        def text(self) -> str:
            raise AssertionError("read")

    guard = ClipboardGuard(QGuiApplication.clipboard(), str)
    guard._clipboard = Foreign()  # type: ignore[assignment]
    mime = QMimeData()
    mime.setText(KEY)
    QGuiApplication.clipboard().setMimeData(mime)
    assert QGuiApplication.clipboard().text() == KEY
    guard.deleteLater()
    QGuiApplication.clipboard().clear()
