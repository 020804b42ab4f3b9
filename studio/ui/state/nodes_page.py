"""What every node remembers at a checkpoint: cache, conversation, session, join buffers, requests that are open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSizePolicy, QSplitter, QStackedWidget, QWidget

from studio.bridge.workspace import Workspace
from studio.debugger.details import INNER, Details
from studio.document.lines import path_names
from studio.document.model import Workflow
from studio.ui.state.moments import NOW
from studio.ui.state.values import Parts, ValueTree, whole
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.empty import EmptyText
from studio.ui.widgets.text_fields import TextBox

_NO_LIMIT = 16_777_215
"""Qt's word for no largest height."""
_PARTS = {
    "cache": "Cache: messages for the next turn",
    "buffer": "Cache: messages for the next turn",
    "turn": "Collected for a turn",
    "full_conversation": "Conversation passed on",
    "session": "Session",
    "open": "Open requests",
    "approvals": "Open approvals",
    "calls": "Open tool calls",
    "answers": "Answers so far",
    "order": "Order of the requests",
    "waiting": "Messages that wait for an answer",
    "emit": "Yields its answer",
}
"""What the hosts save (``save`` of ``engine/hosts``), in words; anything else has its own name."""


class NodesPage(QStackedWidget):
    """Nodes, below them what they saved. Comes from the checkpoint of a superstep, read when the page is looked at."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._empty = EmptyText(theme, "")
        self.addWidget(self._empty)
        self.tree = ValueTree(theme, tr("State of nodes"), (tr("Node"), tr("Value")))
        self.tree.header().resizeSection(0, theme.length(280))
        self.tree.chosen.connect(self._on_tree_chosen)
        self.text = TextBox(theme, lines=4)
        self.text.fills = True
        self.text.setMinimumHeight(0)
        self.text.setMaximumHeight(_NO_LIMIT)
        self.text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.text.set_read_only(True)
        self.text.setAccessibleName(tr("Whole value"))
        self.text.setPlaceholderText(tr("Select a value to read all of it."))
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.setChildrenCollapsible(False)
        splitter.setHandleWidth(1)
        splitter.addWidget(self.tree)
        splitter.addWidget(self.text)
        splitter.setSizes([600, 400])
        self.addWidget(splitter)

    def show_moment(self, workspace: Workspace | None, moment: int) -> None:
        """Shows what nodes remember at a moment."""
        checkpoint = checkpoint_at(workspace, moment) if workspace is not None else None
        if workspace is None or checkpoint is None:
            self._say(tr("No checkpoint was saved at this moment."))
            return
        details = workspace.run.details(checkpoint)
        if details is None:
            if not self.tree.rows.rowCount():
                self._say(tr("Reading the checkpoint …"))
            return
        values = remembered(workspace, details)
        self.tree.show_values(values)
        if not values:
            self._say(tr("No node remembers anything at this moment."))
            return
        for row in range(self.tree.rows.rowCount() if len(values) <= 3 else 0):
            self.tree.expand(self.tree.rows.index(row, 0))
        self.setCurrentIndex(1)

    def clear(self) -> None:
        """Nothing of another run stays."""
        self.tree.show_values({})
        self.setCurrentIndex(0)

    def _say(self, words: str) -> None:
        self._empty.label.setText(words)
        self.setCurrentIndex(0)

    def _on_tree_chosen(self) -> None:
        self.text.show_value(whole(self.tree.value()))


def checkpoint_at(workspace: Workspace, moment: int) -> str | None:
    """The checkpoint of a moment: after a superstep, or the one that the run stands at."""
    run = workspace.run
    if moment == NOW:
        return run.here
    if moment == 0:
        return next((c.checkpoint for c in run.checkpoints if c.kind == "input" and c.branch == run.branch), None)
    return run.supersteps[moment - 1].checkpoint if moment <= len(run.supersteps) else None


def remembered(workspace: Workspace, details: Details) -> dict[str, Any]:
    """Node -> part -> value, for every node that has something; nodes inside a sub-workflow are parts of its node."""
    return _remembered(workspace.document.workflow, (), details)


def _remembered(workflow: Workflow, inside: tuple[str, ...], details: Details) -> dict[str, Any]:
    found: dict[str, dict[str, Any]] = {}

    def name(node: str) -> str:
        return path_names(workflow, inside, node)[-1]

    def of(node: str) -> dict[str, Any]:
        return found.setdefault(node, {})

    for memory in details.memories:
        parts = {tr(_PARTS.get(key, key)): value for key, value in memory.saved.items() if key != INNER}
        session = memory.saved.get("session")
        if isinstance(session, Mapping) and session.get("messages"):
            of(memory.node)[tr("Conversation")] = tuple(session["messages"])
        of(memory.node).update(parts)
        if memory.inside is not None:
            of(memory.node).update(_of_workflow(workflow, (*inside, memory.node), memory.inside))
    for part, waiting in ((tr("Join buffer"), details.joins), (tr("Pending request"), details.requests)):
        for one in waiting:
            node = one.target or one.source
            of(node).setdefault(part, []).append({"from": name(one.source), "text": one.text})
    shared = Counter(map(name, found))
    return {
        name(node) if shared[name(node)] == 1 else f"{name(node)} ({node})": Parts(parts)
        for node, parts in found.items()
        if parts
    }


def _of_workflow(workflow: Workflow, inside: tuple[str, ...], details: Details) -> dict[str, Any]:
    """What a workflow inside holds: its shared state, what is queued, and its nodes."""
    queued = [{"from": path_names(workflow, inside, one.source)[-1], "text": one.text} for one in details.queued]
    own = {tr("Shared state inside"): dict(details.state), tr("Queued inside"): queued}
    return {part: value for part, value in own.items() if value} | _remembered(workflow, inside, details)
