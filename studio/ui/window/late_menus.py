"""Menus whose entries are known only when they are opened: recent files, templates."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QMenu

from studio.settings import recent
from studio.ui.toolbar.menus import FillMenu
from studio.ui.welcome.templates import templates
from studio.ui.window.file_flows import FileFlows


def late_menus(files: FileFlows) -> dict[tuple[str, str], FillMenu]:
    """By (action after which the submenu stands, title)."""
    return {
        ("file.new", "New from template"): partial(_fill_templates, files),
        ("file.open", "Open recent"): partial(_fill_recent, files),
    }


def _fill_templates(files: FileFlows, menu: QMenu) -> None:
    for template in templates():
        action = menu.addAction(template.workflow.name.replace("&", "&&"))
        action.triggered.connect(partial(_new, files, template.file))


def _fill_recent(files: FileFlows, menu: QMenu) -> None:
    for file in recent.recent_files():
        if file.exists:
            action = menu.addAction(f"{file.name or Path(file.path).name}  —  {file.path}".replace("&", "&&"))
            action.triggered.connect(partial(_open, files, Path(file.path)))


def _new(files: FileFlows, template: Path, _checked: bool = False) -> None:
    files.new_from_template(template)


def _open(files: FileFlows, file: Path, _checked: bool = False) -> None:
    files.open(file)
