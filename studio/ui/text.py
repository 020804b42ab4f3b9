"""User-visible texts."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication


def tr(text: str) -> str:
    """The text in the user's language. Whole sentences; ``{name}`` fields are filled by the caller with ``format``."""
    return QCoreApplication.translate("studio", text)
