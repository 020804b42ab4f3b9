"""The outputs of a run: whole texts, each with its node, to read and copy."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from studio.bridge.run_views import OutputView
from studio.bridge.workspace import Workspace
from studio.document.lines import name_of
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import Chip, Label
from studio.ui.widgets.page import Page
from studio.ui.widgets.section import Section
from studio.ui.widgets.sources import short
from studio.ui.widgets.text_fields import TextBox
from studio.ui.widgets.tiles import KindTile


class OutputCard(QWidget):
    """One output."""

    def __init__(self, theme: Theme, workspace: Workspace, view: OutputView) -> None:
        super().__init__()
        self.view = view
        workflow = workspace.document.workflow
        node = workflow.node(view.node)
        column = QVBoxLayout(self)
        column.setContentsMargins(11, 6, 11, 6)
        column.setSpacing(3)
        row = QHBoxLayout()
        row.setContentsMargins(1, 0, 1, 0)
        row.setSpacing(7)
        row.addWidget(KindTile(theme, node.kind if node else "agent", 18))
        row.addWidget(Label(theme, short(name_of(workflow, view.node)), "section"))
        row.addWidget(Label(theme, tr("superstep {number}").format(number=view.superstep), "small", "muted"))
        if view.cut_off:
            row.addWidget(Chip(theme, tr("cut off"), tone="fail"))
        row.addStretch(1)
        copy = Button(theme, tr("Copy"), "copy", small=True)
        copy.clicked.connect(self._on_copy_clicked)
        row.addWidget(copy)
        column.addLayout(row)
        self.box = TextBox(theme, lines=1, line_height=18)
        self.box.setAccessibleName(tr("Output of {name}").format(name=short(name_of(workflow, view.node))))
        self.box.max_lines = 40
        self.box.show_value(view.text)
        self.box.setPlaceholderText(tr("No text"))
        self.box.set_read_only(True)
        self.box.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        column.addWidget(self.box)

    def refresh(self) -> None:
        """Shows the text as it is now: an output that is streamed grows."""
        self.box.show_value(self.view.text)

    def _on_copy_clicked(self) -> None:
        QGuiApplication.clipboard().setText(self.view.text)


class OutputsView(Page):
    """All outputs, in the order in which they were given.

    Cards are made one a turn of the loop, and no further than a little below what is in sight: a card with a long
    text takes some milliseconds, and a run may have hundreds.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._cards: list[OutputCard] = []
        self._workspace: Workspace | None = None
        self._others = Section(theme, tr("Intermediate outputs"), open_=False, gap=6)
        self._others.hide()
        self._others.toggled.connect(self._on_others_toggled)
        self.add(self._others)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._on_timer_timeout)
        bar = self.verticalScrollBar()
        bar.valueChanged.connect(self._on_bar_moved)
        bar.rangeChanged.connect(self._on_bar_moved)

    def show_outputs(self, workspace: Workspace) -> None:
        """Shows the outputs of a workspace's run: what is there already stays."""
        outputs = workspace.run.outputs
        if workspace is not self._workspace:
            self._drop(self._cards)
            self._cards, self._workspace = [], workspace
        alive = {id(view) for view in outputs}
        self._drop([card for card in self._cards if id(card.view) not in alive])
        self._cards = [card for card in self._cards if id(card.view) in alive]
        for card in self._cards:
            card.refresh()
        between = sum(o.intermediate for o in outputs)
        self._others.setVisible(between > 0)
        self._others.set_summary(str(between))
        if between == len(outputs):
            self._others.set_open(True)
        self._go_on()

    def _drop(self, cards: Sequence[OutputCard]) -> None:
        for card in cards:
            card.hide()
            card.deleteLater()

    def _next(self) -> OutputView | None:
        """The first output without a card that is to have one: whole outputs first, others once they are unfolded."""
        if self._workspace is None:
            return None
        made = {id(card.view) for card in self._cards}
        missing = [view for view in self._workspace.run.outputs if id(view) not in made and view.said]
        final = next((view for view in missing if not view.intermediate), None)
        return final or (next(iter(missing), None) if self._others.is_open else None)

    def _go_on(self) -> None:
        if not self._timer.isActive() and self._next() is not None:
            self._timer.start(0)

    def _on_timer_timeout(self) -> None:
        view = self._next()
        if view is not None and self._workspace is not None and self._has_room():
            self._add(self._workspace, view)
            self._go_on()

    def _has_room(self) -> bool:
        """Whether the cards end in sight, or soon below."""
        content = self.widget()
        assert content is not None
        bottom = max((card.mapTo(content, card.rect().bottomLeft()).y() for card in self._cards), default=0)
        return bottom < self.verticalScrollBar().value() + 2 * self.viewport().height()

    def _add(self, workspace: Workspace, view: OutputView) -> None:
        """Makes the card of an output in its place: some may have come later and stand earlier."""
        order = {id(output): place for place, output in enumerate(workspace.run.outputs)}
        before = sum(
            card.view.intermediate == view.intermediate and order[id(card.view)] < order[id(view)]
            for card in self._cards
        )
        card = OutputCard(self._theme, workspace, view)
        self._cards.append(card)
        if view.intermediate:
            self._others.body.insertWidget(before, card)
        else:
            self.body.insertWidget(before, card)
        card.show()

    def _on_others_toggled(self, _open: bool) -> None:
        self._go_on()

    def _on_bar_moved(self) -> None:
        self._go_on()
