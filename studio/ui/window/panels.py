"""Panels of other rooms by name. Until one exists, a quiet label stands in its place."""

from __future__ import annotations

from importlib import import_module

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from studio.bridge.workspace import Workspace
from studio.ui.theme import Theme


class _Missing(QWidget):
    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        label = QLabel(name)
        label.setProperty("role", "muted")
        label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        QVBoxLayout(self).addWidget(label)

    def set_workspace(self, workspace: Workspace | None) -> None: ...


def make(module: str, name: str, theme: Theme):  # type: ignore[no-untyped-def]
    try:
        return getattr(import_module(module), name)(theme)
    except (ImportError, AttributeError) as error:
        print("panel missing:", module, name, error)
        return _Missing(theme, name)
