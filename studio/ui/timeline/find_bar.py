"""The search of the checkpoints panel: a find bar with the terms that can be looked for."""

from __future__ import annotations

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QMenu, QWidget

from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.find_bar import FindBar as PlainFindBar


def _terms() -> tuple[tuple[str, str], ...]:
    """What the menu offers: the beginning of a term, and what it finds."""
    return (
        ("name:", tr("name of the checkpoint")),
        ("tag:", tr("tag")),
        ("node:", tr("node that ran in the superstep")),
        ("key:", tr("key of the shared state that was written")),
        ("text:", tr("text of a message, answer or output")),
        ("error:", tr("what failed right after it")),
        ("branch:", tr("name of the branch")),
        ("cost>0.01", tr("cost of the superstep in dollars")),
        ("tokens>1000", tr("tokens of the superstep")),
        ("date:today", tr("day it was saved; also after: and before:")),
        ("is:named", tr("named or tagged")),
        ("is:pinned", tr("pinned")),
        ("is:waiting", tr("waits for an answer")),
        ("is:failed", tr("the last one before an error")),
    )


class FindBar(PlainFindBar):
    """With a menu of terms, and how many checkpoints there are."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, tr("Find checkpoints: a word, node:, text:, cost>, date:, is:…"), parent)
        self.field.setMinimumWidth(240)
        self.terms_button = Button(theme, "", "list-filter", "plain", small=True)
        self.terms_button.setToolTip(tr("What can be looked for"))
        self.terms_button.setAccessibleName(tr("What can be looked for"))
        self.row.insertWidget(1, self.terms_button)
        self.terms_button.clicked.connect(self._offer_terms)

    def show_found(self, count: int, problem: str) -> None:
        """Says how many there are, or what is wrong with the query."""
        text = problem or (tr("1 checkpoint") if count == 1 else tr("{count} checkpoints").format(count=count))
        self.show_count(count, text, problem=bool(problem))

    def _offer_terms(self) -> None:
        menu = QMenu(self)
        for term, words in _terms():
            action = menu.addAction(f"{term}\t{words}")
            action.triggered.connect(lambda _checked=False, term=term: self._add(term))
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.terms_button.mapToGlobal(QPoint(0, self.terms_button.height())))

    def _add(self, term: str) -> None:
        text = self.field.text().rstrip()
        self.field.setText(f"{text} {term}" if text else term)
        self.field.setFocus()
