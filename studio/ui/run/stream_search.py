"""Find in streams: one text in all lanes that are shown, while they grow."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication, QWidget

from studio.ui.run.lanes import Lanes
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.find_bar import FindBar
from studio.ui.widgets.sources import counted


class StreamSearch(FindBar):
    """Goes from lane to lane, from left to right, and round again."""

    def __init__(self, theme: Theme, lanes: Lanes, parent: QWidget | None = None) -> None:
        super().__init__(theme, tr("Find in these streams"), parent)
        self._lanes = lanes
        self.query_changed.connect(self._on_query_changed)
        self.stepped.connect(self._on_stepped)
        self.hide()

    def refresh(self) -> None:
        """Streams grew, or other ones are shown."""
        if not self.isHidden():
            self._show_count()

    def begin(self) -> None:
        """Opens with what is selected in a lane, if that is within one line."""
        chosen = next((text for lane in self._lanes.lanes.values() if (text := lane.view.selected_text())), "")
        self.open_search()
        if chosen and "\n" not in chosen:
            self.field.setText(chosen)
            self.field.selectAll()

    def close_search(self) -> None:
        """Ends the search; the focus goes back to the streams if it was in the bar."""
        if self.isHidden():
            return
        inside = self.isAncestorOf(QApplication.focusWidget() or self._lanes)
        super().close_search()
        self._lanes.look_for("")
        first = next(iter(self._lanes.lanes.values()), None)
        if inside and first is not None:
            first.view.setFocus()

    def _on_query_changed(self, query: str) -> None:
        self._lanes.look_for(query)
        if query:
            self._lanes.step_hit(1)
        self._show_count()

    def _on_stepped(self, by: int) -> None:
        self._lanes.step_hit(by)
        self._show_count()

    def _show_count(self) -> None:
        at, total = self._lanes.hit_place()
        if not total:
            self.show_count(0, tr("Not in these streams"))
        elif at:
            self.show_count(total, tr("{at} of {total}").format(at=at, total=total))
        else:
            self.show_count(total, counted(total, tr("1 hit"), tr("{count} hits")))
