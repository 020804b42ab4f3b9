"""The sheet for a workflow from elsewhere: for each provider, model and tool that it names, one of one's own."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from studio.bridge.workspace import Workspace
from studio.document.adopting import (
    Choices,
    ModelChoice,
    Named,
    ToolChoice,
    adopt,
    named_models,
    places_of_code,
    tools_without_code,
)
from studio.document.edits import Batch
from studio.document.profiles import map_profiles, named_profiles
from studio.settings.profiles import OFFLINE_NAME, Profiles, read_profiles
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button, ComboBox
from studio.ui.widgets.labels import Label, Prose
from studio.ui.widgets.page import scrolled
from studio.ui.widgets.sources import short

_LISTED = 4
"""Agents that are named in a row; the others are counted."""


def unknown_names(workspace: Workspace) -> dict[str, list[str]]:
    """The profiles that a document names and this computer does not have, with the agents that use them."""
    known = {p.name for p in read_profiles()[0].profiles}
    return {name: agents for name, agents in named_profiles(workspace.document.workflow).items() if name not in known}


def is_needed(workspace: Workspace) -> bool:
    """Whether a document names anything that the sheet can map."""
    workflow = workspace.document.workflow
    return bool(unknown_names(workspace) or named_models(workflow) or tools_without_code(workflow))


class ProviderSheet(QDialog):
    """*Use these* is one step to undo; *Later* leaves the names: the problems list what cannot run."""

    settings_requested = Signal()

    def __init__(
        self, theme: Theme, workspace: Workspace, parent: QWidget | None = None, unmapped: Collection[str] = ()
    ) -> None:
        """``unmapped``: ids of nodes whose provider an import found not to be available here."""
        super().__init__(parent)
        self._theme, self._workspace, self._unmapped = theme, workspace, frozenset(unmapped)
        self.boxes: dict[str, ComboBox] = {}
        self.model_boxes: dict[str, ComboBox] = {}
        self.tool_boxes: dict[str, ComboBox] = {}
        self._sections: set[str] = set()
        self.setObjectName("provider_sheet")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Providers and tools of {name}").format(name=workspace.document.workflow.name))
        self.setMinimumWidth(680)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        column.setSpacing(10)
        words = tr("The workflow comes with names from elsewhere. Choose what stands for each of them here.")
        column.addWidget(Prose(theme, words, "body", "text2"))
        inner = QWidget()
        rows = self._rows()
        rows.setContentsMargins(0, 0, 8, 0)
        inner.setLayout(rows)
        area = scrolled(inner)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setMinimumHeight(min(inner.sizeHint().height() + 4, theme.length(420)))
        column.addWidget(area, 1)
        column.addLayout(self._buttons())

    # ---- rows

    def _rows(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(14)
        grid.setVerticalSpacing(10)
        grid.setColumnStretch(0, 1)
        profiles = read_profiles()[0]
        workflow = self._workspace.document.workflow
        for name, agents in unknown_names(self._workspace).items():
            self.boxes[name] = self._add(grid, tr("Providers"), name, agents, self._box(profiles, name))
        for name, used in named_models(workflow).items():
            self.model_boxes[name] = self._add(
                grid, tr("Models"), name, used.users, self._model_box(profiles, name, used)
            )
        for name, used in tools_without_code(workflow).items():
            self.tool_boxes[name] = self._add(grid, tr("Tools without code"), name, used.users, self._tool_box(name))
        grid.setRowStretch(grid.rowCount(), 1)
        return grid

    def _add(self, grid: QGridLayout, section: str, name: str, users: Sequence[str], box: ComboBox) -> ComboBox:
        """A row at the end; the first one of a section has its title above."""
        row = grid.rowCount()
        if section not in self._sections:
            self._sections.add(section)
            grid.addWidget(Label(self._theme, section, "section"), row, 0, 1, 2)
            row += 1
        told = QVBoxLayout()
        told.setSpacing(1)
        told.addWidget(Label(self._theme, name, "strong"))
        more = tr(" and {count} more").format(count=len(users) - _LISTED) if len(users) > _LISTED else ""
        if used := ", ".join(short(user) for user in users[:_LISTED]) + more:
            told.addWidget(Prose(self._theme, tr("used by {agents}").format(agents=used), "small", "muted", 15))
        grid.addLayout(told, row, 0)
        grid.addWidget(box, row, 1, Qt.AlignmentFlag.AlignTop)
        return box

    def _box(self, profiles: Profiles, name: str) -> ComboBox:
        box = self._empty_box(tr("Provider in place of {name}").format(name=name))
        box.addItem(tr("The one chosen for the run"), None)
        for profile in profiles.profiles:
            box.addItem(profile.name, profile.name)
        # A name that differs in its letters' case, or says what a profile here says, is what was meant.
        near = [p.name for p in profiles.profiles if p.name != OFFLINE_NAME and _alike(p.name, name)]
        box.setCurrentIndex(max(0, box.findData(near[0])) if len(near) == 1 else 0)
        return box

    def _model_box(self, profiles: Profiles, name: str, used: Named) -> ComboBox:
        """As it is, unless its provider is not available here or one profile of ours has this very model."""
        box = self._empty_box(tr("Who answers for {name}").format(name=name))
        box.addItem(tr("The provider of the run, asked for {model}").format(model=short(name)), ModelChoice(None, name))
        box.addItem(tr("The provider of the run, its own model"), ModelChoice(None, None))
        own: list[int] = []
        for profile in profiles.profiles:
            if not profile.offline:
                words = tr("{provider}, asked for {model}").format(provider=profile.name, model=short(name))
                box.addItem(words, ModelChoice(profile.name, name))
                own += [box.count() - 1] if profile.model == name else []
            words = tr("{provider}, its own model").format(provider=profile.name)
            box.addItem(words, ModelChoice(profile.name, None))
        box.setCurrentIndex(own[0] if len(own) == 1 else int(bool(used.nodes & self._unmapped)))
        return box

    def _tool_box(self, name: str) -> ComboBox:
        box = self._empty_box(tr("In place of the tool {name}").format(name=name))
        box.addItem(tr("I answer each call by hand"), None)
        box.addItem(tr("A function that I write here"), ToolChoice("written"))
        for choice in places_of_code(self._workspace.document.workflow, name):
            server = tr("The tools of the MCP server {name}").format(name=choice.name)
            box.addItem(choice.name if choice.where == "module" else server, choice)
        box.addItem(tr("Nothing: agents lose the tool"), ToolChoice("none"))
        return box

    def _empty_box(self, name: str) -> ComboBox:
        box = ComboBox(self._theme)
        box.setAccessibleName(name)
        box.setMinimumWidth(self._theme.length(340))
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
        before = self._workspace.document.workflow
        tools = {name: box.currentData() for name, box in self.tool_boxes.items() if box.currentData() is not None}
        choices = Choices({name: box.currentData() for name, box in self.model_boxes.items()}, tools)
        adopted = adopt(before, choices)
        after = adopted.apply(before).workflow if adopted is not None else before
        profiles = map_profiles(after, {name: box.currentData() for name, box in self.boxes.items()})
        edits = tuple(edit for edit in (adopted, profiles) if edit is not None)
        if edits:
            self._workspace.document.execute(Batch(edits), tr("Map providers and tools"))


def _alike(one: str, other: str) -> bool:
    a, b = one.casefold().strip(), other.casefold().strip()
    return a == b or a.startswith(b) or b.startswith(a)
