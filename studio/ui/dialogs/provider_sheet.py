"""The sheet for a workflow that names providers which are not set up here: one of one's own for each."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from studio.bridge.workspace import Workspace
from studio.document.profiles import map_profiles, named_profiles
from studio.settings.profiles import OFFLINE_NAME, Profiles, read_profiles
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button, ComboBox
from studio.ui.widgets.labels import Label, Prose
from studio.ui.widgets.sources import short

_LISTED = 4
"""Agents that are named in a row; the others are counted."""


def unknown_names(workspace: Workspace) -> dict[str, list[str]]:
    """The profiles that a document names and this computer does not have, with the agents that use them."""
    known = {p.name for p in read_profiles()[0].profiles}
    return {name: agents for name, agents in named_profiles(workspace.document.workflow).items() if name not in known}


class ProviderSheet(QDialog):
    """*Use these* is one step to undo; *Later* leaves the names: the problems list them."""

    settings_requested = Signal()

    def __init__(self, theme: Theme, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._workspace = theme, workspace
        self.boxes: dict[str, ComboBox] = {}
        self.setObjectName("provider_sheet")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Providers of {name}").format(name=workspace.document.workflow.name))
        self.setMinimumWidth(560)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        column.setSpacing(10)
        words = tr("The workflow names providers that are not set up on this computer. Choose one of yours for each.")
        column.addWidget(Prose(theme, words, "body", "text2"))
        column.addLayout(self._rows())
        column.addStretch(1)
        column.addLayout(self._buttons())

    def _rows(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(14)
        grid.setVerticalSpacing(10)
        grid.setColumnStretch(0, 1)
        profiles = read_profiles()[0]
        for row, (name, agents) in enumerate(unknown_names(self._workspace).items()):
            told = QVBoxLayout()
            told.setSpacing(1)
            told.addWidget(Label(self._theme, name, "strong"))
            more = tr(" and {count} more").format(count=len(agents) - _LISTED) if len(agents) > _LISTED else ""
            used = ", ".join(short(agent) for agent in agents[:_LISTED]) + more
            told.addWidget(Prose(self._theme, tr("used by {agents}").format(agents=used), "small", "muted", 15))
            grid.addLayout(told, row, 0)
            box = self.boxes[name] = self._box(profiles, name)
            grid.addWidget(box, row, 1, Qt.AlignmentFlag.AlignTop)
        return grid

    def _box(self, profiles: Profiles, name: str) -> ComboBox:
        box = ComboBox(self._theme)
        box.setAccessibleName(tr("Provider in place of {name}").format(name=name))
        box.setMinimumWidth(self._theme.length(230))
        box.addItem(tr("The one chosen for the run"), None)
        for profile in profiles.profiles:
            box.addItem(profile.name, profile.name)
        # A name that differs in its letters' case, or says what a profile here says, is what was meant.
        near = [p.name for p in profiles.profiles if p.name != OFFLINE_NAME and _alike(p.name, name)]
        box.setCurrentIndex(max(0, box.findData(near[0])) if len(near) == 1 else 0)
        return box

    def _buttons(self) -> QHBoxLayout:
        settings = Button(self._theme, tr("Set up a provider…"), kind="link")
        later = Button(self._theme, tr("Later"))
        use = Button(self._theme, tr("Use these"), kind="primary")
        settings.clicked.connect(self._on_settings_clicked)
        later.clicked.connect(self.reject)
        use.clicked.connect(self.accept)
        use.setDefault(True)
        row = QHBoxLayout()
        row.addWidget(settings)
        row.addStretch(1)
        row.addWidget(later)
        row.addWidget(use)
        self.accepted.connect(self._on_accepted)
        return row

    def _on_settings_clicked(self) -> None:
        self.reject()
        self.settings_requested.emit()

    def _on_accepted(self) -> None:
        mapping = {name: box.currentData() for name, box in self.boxes.items()}
        edit = map_profiles(self._workspace.document.workflow, mapping)
        if edit is not None:
            self._workspace.document.execute(edit, tr("Map providers"))


def _alike(one: str, other: str) -> bool:
    a, b = one.casefold().strip(), other.casefold().strip()
    return a == b or a.startswith(b) or b.startswith(a)
