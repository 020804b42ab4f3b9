"""Context menus of the canvas, shown with ``popup()``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtWidgets import QMenu

from studio.document.aligning import Side
from studio.document.model import DirectEdge, JoinNode, SubWorkflowNode
from studio.document.types import yields
from studio.ui.canvas.picking import Hit
from studio.ui.canvas.run_menu import add_edge_breakpoints, add_run_entries
from studio.ui.text import tr

if TYPE_CHECKING:
    from studio.ui.canvas.view import CanvasView


class _Builder:
    def __init__(self, view: CanvasView) -> None:
        self._edits = not view.read_only
        self.menu = QMenu(view)
        self.menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._now = self.menu

    def add(self, text: str, function: Callable[[], object], keys: str = "", *, on: bool = True) -> None:
        action = self._now.addAction(f"{text}\t{keys}" if keys else text)
        action.setEnabled(on)
        action.triggered.connect(lambda _checked=False: (function(), None)[1])

    def edit(self, text: str, function: Callable[[], object], keys: str = "", *, on: bool = True) -> None:
        """What changes the drawing: off for one that is only looked at."""
        self.add(text, function, keys, on=on and self._edits)

    def check(
        self, text: str, function: Callable[[bool], object], checked: bool, keys: str = "", *, edits: bool = False
    ) -> None:
        action = self.menu.addAction(f"{text}\t{keys}" if keys else text)
        action.setEnabled(self._edits or not edits)
        action.setCheckable(True)
        action.setChecked(checked)
        action.triggered.connect(lambda now: (function(now), None)[1])

    def line(self) -> None:
        self._now.addSeparator()

    def open(self, text: str) -> None:
        """What follows is in a menu inside this one."""
        self._now = self.menu.addMenu(text)

    def close(self) -> None:
        """What follows is in the menu itself again."""
        self._now = self.menu


def open_menu(view: CanvasView, hit: Hit, at: QPointF, where: QPoint) -> QMenu | None:
    """The menu for what is under the pointer (scene ``at``), at ``where`` on the screen."""
    if view.workspace is None:
        return None
    made = _Builder(view)
    if hit.on_line:
        _line(view, made, hit.id, at)
    elif view.workflow.node(hit.id) is not None:
        _node(view, made, hit.id)
    elif hit.id:
        _other(view, made, hit.id)
    else:
        _canvas(view, made, at)
    made.menu.popup(where)
    return made.menu


def _node(view: CanvasView, made: _Builder, node_id: str) -> None:
    workspace, workflow = view.workspace, view.workflow
    node = workflow.node(node_id)
    assert workspace is not None
    assert node is not None
    several = len(view.selection_items) > 1
    stop = partial(view.toggle_breakpoint, node_id)
    made.check(tr("Breakpoint"), lambda _on: stop(), node_id in workspace.run.breakpoints, "F9")
    if not several:
        add_run_entries(view, made, node_id)
    made.line()
    if not several:
        made.add(tr("Open in the inspector"), partial(view.open_item, node_id), tr("Enter"))
        made.edit(tr("Rename"), view.rename, "F2")
    if not isinstance(node, JoinNode):
        made.check(tr("Start node"), lambda _on: view.set_start(node_id), workflow.start == node_id, edits=True)
    named = isinstance(workflow.outputs, tuple) and node_id in workflow.outputs
    if named or yields(node):
        made.check(tr("Output of the workflow"), partial(view.set_output, node_id), named, edits=True)
    made.line()
    made.edit(tr("Connect to…"), partial(view.open_connect, node_id), "C")
    made.edit(tr("Insert node after…"), partial(view.open_insert, node_id), "I")
    made.edit(tr("Take out of its wires"), partial(view.take_out, node_id), on=not several)
    if isinstance(node, SubWorkflowNode) and not several:
        made.line()
        made.edit(tr("Embed a copy of the file"), partial(view.embed_copy, node_id), on=node.path is not None)
        made.edit(tr("Put its nodes here"), partial(view.inline, node_id), on=node.embedded is not None)
    made.edit(tr("Extract to a sub-workflow"), view.extract_selection)
    place = workflow.places.get(node_id)
    kept = place is not None and place.kept
    made.check(tr("Keep its place when arranging"), lambda _on: view.toggle_kept(), kept)
    _select(view, made)
    if several:
        _align(view, made)
    made.line()
    _clipboard(view, made)


def _other(view: CanvasView, made: _Builder, item_id: str) -> None:
    junction = view.workflow.edge(item_id) is not None
    made.add(tr("Open in the inspector"), partial(view.open_item, item_id), tr("Enter"))
    if junction:
        made.edit(tr("Rename"), view.rename, "F2")
        made.edit(tr("Connect to…"), partial(view.open_connect, item_id), "C")
    elif any(g.id == item_id for g in view.workflow.groups):
        place = view.workflow.places.get(item_id)
        collapsed = place is not None and place.collapsed
        made.edit(tr("Open the frame") if collapsed else tr("Collapse to one card"), view.toggle_collapsed, "H")
    if len(view.selection_items) > 1:
        _align(view, made)
    made.line()
    _clipboard(view, made)


def _select(view: CanvasView, made: _Builder) -> None:
    made.open(tr("Select"))
    made.add(tr("What leads here"), view.select_before, "Shift+[")
    made.add(tr("What this leads to"), view.select_behind, "Shift+]")
    made.add(tr("Everything connected"), view.select_connected)
    made.close()


def _align(view: CanvasView, made: _Builder) -> None:
    made.open(tr("Align"))
    sides: tuple[tuple[str, Side, str], ...] = (
        (tr("Left edges"), "left", "L ←"),
        (tr("Right edges"), "right", "L →"),
        (tr("Top edges"), "up", "L ↑"),
        (tr("Bottom edges"), "down", "L ↓"),
        (tr("Middles above each other"), "across", ""),
        (tr("Middles beside each other"), "along", ""),
    )
    for text, side, keys in sides:
        made.edit(text, partial(view.align, side), keys)
    made.line()
    several = len(view.selection_items) > 2
    made.edit(tr("Distribute from left to right"), partial(view.distribute, "x"), "L Shift+→", on=several)
    made.edit(tr("Distribute from top to bottom"), partial(view.distribute, "y"), "L Shift+↓", on=several)
    made.close()


def _line(view: CanvasView, made: _Builder, line_id: str, at: QPointF) -> None:
    edge = view.canvas_scene.line_layer.items.get(line_id)
    if edge is None:
        return
    line = edge.line
    if edge.state.carrying:
        made.add(tr("Show queued messages"), partial(view.look_at_queued, line_id))
        made.line()
    if line.kind in ("direct", "case", "leg"):
        made.add(tr("Edit condition"), partial(view.open_item, line_id), tr("Enter"))
    made.edit(tr("Insert node here…"), partial(view.open_search, at, on_line=line))
    if isinstance(view.workflow.edge(line_id), DirectEdge):
        made.edit(tr("Turn into a switch"), partial(view.to_switch, line_id))
    made.line()
    add_edge_breakpoints(view, made, line_id)
    made.line()
    if edge.bend_at(at, 12.0) is not None:
        made.edit(tr("Remove this bend"), partial(view.remove_bend, line_id, at))
    made.edit(tr("Add a bend here"), partial(view.add_bend, line_id, at))
    if edge.bends:
        made.edit(tr("Remove all bends"), partial(view.remove_bends, line_id))
    made.line()
    made.edit(tr("Delete"), partial(view.delete_ids, (line_id,)), tr("Del"))


def _canvas(view: CanvasView, made: _Builder, at: QPointF) -> None:
    made.edit(tr("Add node…"), partial(view.open_search, at), "Shift+A")
    made.edit(tr("Add note"), partial(view.add_node, "note", at), "N")
    made.edit(tr("Paste"), partial(view.paste, at), "Ctrl+V")
    made.edit(tr("Paste with edges"), partial(view.paste_with_edges, at), "Ctrl+Shift+V")
    made.line()
    made.add(tr("Select all"), view.select_all, "Ctrl+A")
    made.edit(tr("Arrange"), view.arrange, "Ctrl+Shift+L")
    made.edit(tr("Arrange from left to right"), partial(view.arrange, "right"))
    made.edit(tr("Arrange from top to bottom"), partial(view.arrange, "down"))
    made.add(tr("Fit all"), view.fit_all, tr("Home"))
    made.check(tr("Snap to grid"), lambda _on: view.toggle_snap(), view.snap, "Shift+G")


def _clipboard(view: CanvasView, made: _Builder) -> None:
    made.edit(tr("Cut"), view.cut_selection, "Ctrl+X")
    made.add(tr("Copy"), view.copy_selection, "Ctrl+C")
    made.edit(tr("Duplicate"), view.duplicate_selection, "Ctrl+D")
    made.edit(tr("Duplicate with edges"), view.duplicate_with_edges, "Shift+D")
    groups = {g.id for g in view.workflow.groups}
    only_frames = bool(view.selection_items) and set(view.selection_items) <= groups
    made.edit(tr("Remove the frame") if only_frames else tr("Frame around selection"), view.toggle_frame, "F")
    made.line()
    made.edit(tr("Delete"), view.delete_selection, tr("Del"))
    made.edit(tr("Delete and join neighbours"), view.delete_and_join, "Ctrl+Del")
