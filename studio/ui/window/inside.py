"""Tabs of workflows that are inside another one: opened from their node, with the way back above the canvas."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from studio.bridge.document_model import DocumentModel
from studio.bridge.inner_document import InnerDocument
from studio.bridge.workspace import Workspace
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.window.workflow_page import WorkflowPage

Pages = Callable[[], list[WorkflowPage]]


class OpensInside(Protocol):
    """Joins what is inside a node with what runs it."""

    def open_inside(self, outer: Workspace, node_id: str) -> Workspace: ...


class WayBack(QWidget):
    """The workflows around this one, outermost first, and its own name: a click goes there."""

    chosen = Signal(int)
    """How many levels up."""

    def __init__(self, theme: Theme, documents: list[DocumentModel], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._documents = documents
        self.setObjectName("way_back")
        self.setAccessibleName(tr("Where this workflow is"))
        self.buttons: list[QToolButton] = []
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 3, 10, 3)
        row.setSpacing(2)
        for level in range(len(documents) - 1, 0, -1):
            button = QToolButton(self)
            button.setAutoRaise(True)
            button.setFont(theme.font("body"))
            button.setToolTip(tr("Go to the workflow around this one (Alt+Up)"))
            button.clicked.connect(partial(self.chosen.emit, level))
            self.buttons.append(button)
            row.addWidget(button)
            row.addWidget(QLabel("›", self))
        self._here = QLabel(self)
        self._here.setContentsMargins(8, 0, 0, 0)  # as far from the mark as the padding of a button
        self._here.setFont(theme.font("strong"))
        self._here.setTextFormat(Qt.TextFormat.PlainText)
        row.addWidget(self._here)
        row.addStretch(1)
        for document in documents:
            document.changed.connect(self._on_document_changed)
        theme.changed.connect(self.update)
        self._on_document_changed()

    def _on_document_changed(self, _changes: object = None) -> None:
        *around, here = [document.workflow.name.strip() or tr("Untitled") for document in self._documents]
        for button, name in zip(self.buttons, around, strict=True):
            button.setText(name.replace("&", "&&"))
            button.setAccessibleName(tr("Go to {name}").format(name=name))
        self._here.setText(here)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color("surface"))
        painter.fillRect(0, self.height() - 1, self.width(), 1, self._theme.color("border"))
        painter.end()


class InnerPages:
    """Which pages are inside which; makes new ones and finds the way back."""

    def __init__(self, theme: Theme, workspaces: OpensInside, pages: Pages) -> None:
        self._theme = theme
        self._workspaces = workspaces
        self._pages = pages

    def find(self, outer: WorkflowPage, node_id: str) -> WorkflowPage | None:
        """The page of what is inside a node, if it is open."""
        return next((page for page in self.directly_in(outer) if _inner(page).node_id == node_id), None)

    def directly_in(self, outer: WorkflowPage) -> list[WorkflowPage]:
        """The open pages of what is inside nodes of a page."""
        return [page for page in self._pages() if is_inner(page) and _inner(page).outer is outer.workspace.document]

    def made(self, outer: WorkflowPage, node_id: str) -> WorkflowPage:
        """A page for what is inside a node, with the way back above its canvas."""
        page = WorkflowPage(self._theme, self._workspaces.open_inside(outer.workspace, node_id))
        way = WayBack(self._theme, _documents(page.workspace.document))
        layout = page.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.insertWidget(0, way)
        page.way_back = way
        return page

    def around(self, page: WorkflowPage, levels: int = 1) -> tuple[WorkflowPage, str] | None:
        """The page some levels up, and the node that this one is in; None: it is in no other."""
        node_id = ""
        for _ in range(levels):
            document = page.workspace.document
            if not isinstance(document, InnerDocument):
                return None
            node_id = document.node_id
            outer = next((p for p in self._pages() if p.workspace.document is document.outer), None)
            if outer is None:
                return None
            page = outer
        return page, node_id

    def outermost(self, page: WorkflowPage) -> WorkflowPage:
        """The page of the document that has the file."""
        while (found := self.around(page)) is not None:
            page = found[0]
        return page


def is_inner(page: WorkflowPage) -> bool:
    """Whether a page shows what is inside a node of another one."""
    return isinstance(page.workspace.document, InnerDocument)


def _inner(page: WorkflowPage) -> InnerDocument:
    document = page.workspace.document
    assert isinstance(document, InnerDocument)
    return document


def _documents(document: DocumentModel) -> list[DocumentModel]:
    found = [document]
    while isinstance(found[0], InnerDocument):
        found.insert(0, found[0].outer)
    return found
