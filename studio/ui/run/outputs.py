"""The outputs of a run: whole texts, each with its node, to read and copy."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from studio.bridge.run_views import OutputView
from studio.bridge.workspace import Workspace
from studio.document.lines import name_of
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import Label
from studio.ui.widgets.page import Page
from studio.ui.widgets.section import Section
from studio.ui.widgets.sources import short
from studio.ui.widgets.text_fields import TextBox
from studio.ui.widgets.tiles import KindTile


class OutputCard(QWidget):
    """One output."""

    def __init__(self, theme: Theme, workspace: Workspace, view: OutputView) -> None:
        super().__init__()
        self._text = view.text
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
        row.addStretch(1)
        copy = Button(theme, tr("Copy"), "copy", small=True)
        copy.clicked.connect(self._on_copy_clicked)
        row.addWidget(copy)
        column.addLayout(row)
        self.box = TextBox(theme, lines=1, line_height=18)
        self.box.max_lines = 40
        self.box.show_value(view.text)
        self.box.setPlaceholderText(tr("No text"))
        self.box.set_read_only(True)
        self.box.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        column.addWidget(self.box)

    def _on_copy_clicked(self) -> None:
        QGuiApplication.clipboard().setText(self._text)


class OutputsView(Page):
    """All outputs, in the order in which they were given."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._cards: list[OutputCard] = []
        self._others = Section(theme, tr("Intermediate outputs"), open_=False, gap=6)
        self._others.hide()
        self.add(self._others)
        self._shown: list[OutputView] = []

    def show_outputs(self, workspace: Workspace) -> None:
        """Adds what is new; starts again if the outputs are others."""
        outputs = workspace.run.outputs
        if any(a is not b for a, b in zip(self._shown, outputs, strict=False)) or len(outputs) < len(self._shown):
            for card in self._cards:
                card.hide()
                card.deleteLater()
            self._cards.clear()
            self._shown.clear()
        for view in outputs[len(self._shown) :]:
            card = OutputCard(self._theme, workspace, view)
            self._cards.append(card)
            self._shown.append(view)
            if view.intermediate:
                self._others.add(card)
            else:
                self.body.insertWidget(self.body.indexOf(self._others), card)
        between = sum(o.intermediate for o in outputs)
        self._others.setVisible(between > 0)
        self._others.set_summary(str(between))
        if between == len(outputs):
            self._others.set_open(True)
