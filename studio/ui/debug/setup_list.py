"""What is not as drawn in this run: pinned and muted nodes, mocked tools; each can be taken back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from studio.bridge.run_setup import RunSetup
from studio.bridge.workspace import Workspace
from studio.document.lines import name_of
from studio.ui.text import tip, tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import Elided, Label


class SetupList(QWidget):
    """Hidden while everything is as drawn."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._setup: RunSetup | None = None
        self.rows: list[tuple[str, str]] = []
        """Names and what is done instead, as shown."""
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(12, 6, 6, 2)
        self._column.setSpacing(2)
        self._column.addWidget(Label(theme, tr("Not as drawn"), "section"))
        self._list = QVBoxLayout()
        self._list.setSpacing(0)
        self._column.addLayout(self._list)
        self.hide()

    def show_setup(self, workspace: Workspace | None) -> None:
        """Shows the configuration of a workflow."""
        self._setup = workspace.run.setup if workspace is not None else None
        found = list(_rows(workspace)) if workspace is not None else []
        rows = [(name, what) for name, what, _undo in found]
        self.setVisible(bool(rows))
        if rows == self.rows:
            return
        self.rows = rows
        while (item := self._list.takeAt(0)) is not None:
            old = item.widget()
            if old is not None:
                old.hide()
                old.deleteLater()
        for name, what, undo in found:
            self._list.addWidget(self._row(name, what, undo))

    def _row(self, name: str, what: str, undo: Callable[[], None]) -> QWidget:
        made = QWidget()
        row = QHBoxLayout(made)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        row.addWidget(Elided(self._theme, f"{name}: {what}"), 1)
        button = Button(self._theme, "", "x", "plain", small=True)
        text = tr("Run {name} as drawn").format(name=name)
        button.setToolTip(tip(text))
        button.setAccessibleName(text)
        button.clicked.connect(lambda _checked=False: undo())
        row.addWidget(button)
        return made


def _rows(workspace: Workspace) -> list[tuple[str, str, Callable[[], None]]]:
    setup, workflow = workspace.run.setup, workspace.document.workflow
    overrides = setup.overrides

    def name(path: str) -> str:
        return name_of(workflow, path) if "/" not in path else path.rpartition("/")[2]

    found: list[tuple[str, str, Callable[[], None]]] = []
    for path, pin in overrides.pins.items():
        origin = tr("pinned from {run}").format(run=pin.origin) if pin.origin else tr("pinned reply")
        found.append((name(path), origin, partial(setup.unpin, path)))
    for path in sorted(overrides.muted):
        found.append((name(path), tr("muted, passes its input"), partial(setup.mute, path, on=False)))
    for tool, mock in overrides.mocks.items():
        what = tr("fails with “{text}”").format(text=mock.error) if mock.error else tr("mocked")
        found.append((tool, what, partial(setup.mock, tool, None)))
    return found
