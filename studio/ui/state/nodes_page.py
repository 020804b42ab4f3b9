"""What every node remembers at a checkpoint: cache, conversation, session, join buffers, requests that are open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSizePolicy, QSplitter, QStackedWidget, QWidget

from studio.bridge.workspace import Workspace
from studio.debugger.details import Details, Waiting
from studio.document.lines import name_of
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
    """Node -> part -> value, for every node that has something."""
    workflow = workspace.document.workflow
    found: dict[str, dict[str, Any]] = {}

    def of(node: str) -> dict[str, Any]:
        return found.setdefault(name_of(workflow, node), {})

    for memory in details.memories:
        parts = {tr(_PARTS.get(key, key)): value for key, value in memory.saved.items()}
        session = memory.saved.get("session")
        if isinstance(session, Mapping) and session.get("messages"):
            of(memory.node)[tr("Conversation")] = tuple(session["messages"])
        of(memory.node).update(parts)
    for name, waiting in ((tr("Join buffer"), details.joins), (tr("Pending request"), details.requests)):
        for one in waiting:
            node = one.target or one.source
            of(node).setdefault(name, []).append(_waiting(workspace, one))
    return {node: Parts(parts) for node, parts in found.items() if parts}


def _waiting(workspace: Workspace, one: Waiting) -> dict[str, str]:
    source = name_of(workspace.document.workflow, one.source)
    return {"from": source, "text": one.text}
