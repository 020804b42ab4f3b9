"""A list to choose a moment of the shown run: before the first superstep, after each one, now."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from studio.bridge.run_views import begun
from studio.bridge.workspace import Workspace
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import ComboBox

NOW = -1
"""The moment that goes on with the run."""
_MOST = 300
"""Supersteps that are offered, the newest ones."""


class MomentBox(ComboBox):
    """``moment`` is a place in the list of supersteps, 0: before the first one, :data:`NOW`: as it is now."""

    def __init__(self, theme: Theme, name: str, *, now: bool, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent, small=True)
        self._now = now
        self._shown: list[tuple[int, str]] = []
        self.setAccessibleName(name)

    @property
    def moment(self) -> int:
        """The chosen moment."""
        data = self.currentData()
        return data if isinstance(data, int) else NOW

    def show_moments(self, workspace: Workspace | None, wanted: int | None = None) -> None:
        """Shows the moments of a run and keeps the chosen one if it is still there; else, or at first, ``wanted``."""
        steps = workspace.run.supersteps if workspace is not None else []
        steps = steps[: begun(steps)]
        made = [(NOW, tr("Now"))] if self._now else []
        made += [
            (at, tr("After superstep {number}").format(number=steps[at - 1].number))
            for at in range(len(steps), max(0, len(steps) - _MOST), -1)
        ]
        made.append((0, tr("Before superstep 1")))
        if made == self._shown:
            return
        before = self.moment if self._shown else wanted
        self._shown = made
        self.blockSignals(True)
        self.clear()
        for moment, text in made:
            self.addItem(text, moment)
        places = [moment for moment, _ in made]
        self.choose(before if before in places else wanted if wanted in places else places[0])
        self.blockSignals(False)
        self.updateGeometry()

    def choose(self, moment: int | None) -> None:
        """Another moment; emits nothing if it is chosen already."""
        index = self.findData(moment)
        if index >= 0:
            self.setCurrentIndex(index)
