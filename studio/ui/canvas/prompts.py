"""The search popup of a canvas: add a node, add one on a line or after another, connect to something."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, QPointF

from studio.document import commands
from studio.document.geometry import snapped
from studio.document.lines import Line, name_of
from studio.document.model import Workflow
from studio.document.order import run_order
from studio.document.problems import Problem
from studio.document.ready_groups import PATTERNS
from studio.ui.canvas.ready import room_for
from studio.ui.canvas.search import Entry, SearchPopup
from studio.ui.paint import kind_name
from studio.ui.paint.kinds import NEW_KINDS
from studio.ui.text import tr

if TYPE_CHECKING:
    from studio.ui.canvas.view import CanvasView


class Prompts(QObject):
    """Opens the popup and does what is chosen in it."""

    def __init__(self, view: CanvasView) -> None:
        super().__init__(view)
        self._view = view
        self._then: Callable[[str], object] | None = None
        self.popup = SearchPopup(view.theme, view)
        self.popup.chosen.connect(self._on_popup_chosen)
        self.popup.closed.connect(self._on_popup_closed)

    def add(self, at: QPointF) -> None:
        """Adds a node whose middle is at a point of the scene."""
        self._open(kinds(), at, tr("Add a node…"), partial(self._add_at, at))

    def add_on_line(self, at: QPointF, line: Line) -> None:
        """Adds a node on a line."""

        def add(kind: str) -> None:
            self._view.add_node(kind, self._corner(kind, at), on_line=line)

        self._open(kinds(self._view.workflow, line.source), at, tr("Insert a node…"), add)

    def add_connected(self, at: QPointF, anchor: str, *, backwards: bool) -> None:
        """Adds a node at a point and connects it with ``anchor``; lists the kinds for which that is possible."""
        self._open(
            kinds(self._view.workflow, anchor, backwards=backwards),
            at,
            tr("Add and connect…"),
            lambda kind: self._view.add_connected(kind, anchor, at, backwards=backwards),
        )

    def insert_after(self, anchor: str) -> None:
        """Adds a node after another."""
        at = self._beside(anchor)
        listed = kinds(self._view.workflow, anchor)
        self._open(listed, at, tr("Insert a node…"), lambda kind: self._view.insert_after(kind, anchor))

    def connect_to(self, anchor: str) -> None:
        """Lists everything that ``anchor`` may be connected to, or that has another way to get the same."""
        workflow, items = self._view.workflow, self._view.canvas_scene.items_by_id
        entries = []
        for item_id in run_order(workflow):
            edit = commands.connect(workflow, anchor, item_id) if item_id in items else None
            fix = edit.fix if isinstance(edit, Problem) else None
            if fix is not None or (edit is not None and not isinstance(edit, Problem)):
                node, edge = workflow.node(item_id), workflow.edge(item_id)
                kind = node.kind if node is not None else edge.kind if edge is not None else ""
                hint = fix.text if fix is not None else item_id
                entries.append(Entry(item_id, name_of(workflow, item_id), kind, hint))
        prompt = tr("Connect {name} to…").format(name=name_of(workflow, anchor))
        self._open(
            entries,
            self._beside(anchor),
            prompt,
            lambda target: self._view.connect_items(anchor, target, mend=True),
            nothing=tr("Nothing here accepts what this node sends."),
        )

    def close(self) -> None:
        if self.popup.isVisible():
            self.popup.close_search()

    def _open(
        self, entries: list[Entry], at: QPointF, prompt: str, then: Callable[[str], object], nothing: str = ""
    ) -> None:
        if self._view.workspace is None:
            return
        self._then = then
        shown: QPoint = self._view.mapFromScene(at) + QPoint(4, 4)
        self.popup.open(entries, shown, prompt, nothing or tr("No kind of node can be connected here."))

    def _beside(self, item_id: str) -> QPointF:
        item = self._view.canvas_scene.items_by_id.get(item_id)
        return item.rect.topRight() if item is not None else self._view.seen_rect().center()

    def _corner(self, kind: str, at: QPointF) -> QPointF:
        width, height = room_for(kind, self._view.workflow.flow)
        return QPointF(snapped(at.x() - width / 2), snapped(at.y() - height / 2))

    def _add_at(self, at: QPointF, kind: str) -> None:
        self._view.add_node(kind, self._corner(kind, at))

    def _on_popup_chosen(self, key: str) -> None:
        then, self._then = self._then, None
        if then is not None:
            then(key)

    def _on_popup_closed(self) -> None:
        self._view.setFocus()


def kinds(workflow: Workflow | None = None, anchor: str = "", *, backwards: bool = False) -> list[Entry]:
    """What can be added; with an anchor only what can be connected with it."""
    listed = []
    for new in NEW_KINDS:
        if workflow is not None and not _fits(workflow, new.kind, anchor, backwards):
            continue
        listed.append(Entry(new.kind, kind_name(new.kind), new.kind, new.letter, new.letter, new.words))
    return listed


def _fits(workflow: Workflow, kind: str, anchor: str, backwards: bool) -> bool:
    if kind == "note" or kind in PATTERNS:
        return False
    edit, new_id = commands.new_node(workflow, kind)
    grown = edit.apply(workflow).workflow
    first, second = (new_id, anchor) if backwards else (anchor, new_id)
    return not isinstance(commands.connect(grown, first, second), Problem)
