"""Waiting for the code of the export page, which a thread writes."""

from __future__ import annotations

from pytestqt.qtbot import QtBot
from studio.ui.exporting import ExportPage


def written(page: ExportPage, qtbot: QtBot) -> None:
    """Waits until the code that is shown is the one that was asked for last."""
    qtbot.waitUntil(lambda: not page.writer.busy and not page._timer.isActive(), timeout=60_000)
