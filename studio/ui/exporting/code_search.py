"""Find in the file that is shown."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication, QWidget

from studio.ui.exporting.code_view import CodeView
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.find_bar import FindBar
from studio.ui.widgets.sources import counted


class CodeSearch(FindBar):
    """Marks what is found and goes from one place to the next, round and round."""

    def __init__(self, theme: Theme, view: CodeView, parent: QWidget | None = None) -> None:
        super().__init__(theme, tr("Find in this file"), parent)
        self.setObjectName("export_search")
        self._view = view
        self.query_changed.connect(self._on_query_changed)
        self.stepped.connect(self._on_stepped)
        view.hits_changed.connect(self._show_count)
        self.hide()

    def begin(self) -> None:
        """Opens with what is selected in the code, if that is within one line."""
        chosen = self._view.textCursor().selectedText()
        self.open_search()
        if chosen and "\u2029" not in chosen:
            self.field.setText(chosen)
            self.field.selectAll()

    def close_search(self) -> None:
        """Ends the search; the focus goes back to the code if it was in the bar."""
        if self.isHidden():
            return
        inside = self.isAncestorOf(QApplication.focusWidget() or self._view)
        super().close_search()
        self._view.look_for("")
        if inside:
            self._view.setFocus()

    def _on_query_changed(self, query: str) -> None:
        self._view.look_for(query)
        self._view.show_next_hit()

    def _on_stepped(self, by: int) -> None:
        self._view.step_hit(by)

    def _show_count(self) -> None:
        at, total = self._view.hit_place
        if not total:
            self.show_count(0, tr("Not in this file"), problem=True)
        elif at:
            self.show_count(total, tr("{at} of {total}").format(at=at, total=total))
        else:
            self.show_count(total, counted(total, tr("1 hit"), tr("{count} hits")))
