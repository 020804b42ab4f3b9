"""The sheet before going on from a checkpoint of an older drawing: what differs, which node is which, what is lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QDialog, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from studio.assembly.texts import value_text
from studio.bridge.workspace import Workspace
from studio.debugger.comparison import Comparison
from studio.debugger.drift import Drift, NodeDrift
from studio.debugger.mapping import NodeMapping, consequences, dead_ends, join_keys
from studio.document import validate
from studio.document.model import Workflow
from studio.engine.values import FROM_OUTSIDE
from studio.ui.text import tip, tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button, ComboBox
from studio.ui.widgets.labels import Chip, Elided, Label, Prose
from studio.ui.widgets.page import scrolled
from studio.ui.widgets.sources import counted

_TONES = {"same": "", "changed": "wait", "renamed": "accent", "removed": "fail", "added": "done"}
_DROP = "drop"


class MappingSheet(QDialog):
    """*Fork with this mapping* runs when every message of a removed node has a place or is dropped."""

    def __init__(
        self, theme: Theme, workspace: Workspace, checkpoint: str, found: Comparison, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        assert found.drift is not None
        self._theme, self._workspace, self._checkpoint, self._found = theme, workspace, checkpoint, found
        self._drift: Drift = found.drift
        self._new: Workflow = workspace.document.workflow
        self._nodes: dict[str, ComboBox] = {}
        self._messages: dict[str, ComboBox] = {}
        self._chosen: dict[str, str] = {}
        self.setObjectName("mapping_sheet")
        self.setWindowTitle(tr("Go on with a changed drawing"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(680, 560)
        self._build()
        self._show_consequences()

    @property
    def mapping(self) -> NodeMapping:
        """As it is chosen now."""
        nodes = {**self._drift.mapping, **{old: box.currentData() for old, box in self._nodes.items()}}
        old = self._found.old
        ended = dead_ends(old, self._new, nodes) if old is not None else frozenset()
        bare = NodeMapping(nodes, joins=join_keys(self._new), ended=ended)
        homeless = {m.id for m in consequences(self._found.checkpoint, bare).homeless}
        chosen = {m: c for m, c in self._chosen.items() if m in homeless}
        rerouted = {m: c for m, c in chosen.items() if c != _DROP}
        return replace(bare, rerouted=rerouted, dropped=frozenset(m for m, c in chosen.items() if c == _DROP))

    def fork(self) -> None:
        """Runs the new branch and closes."""
        self._workspace.run.fork_mapped(self._checkpoint, self.mapping)
        self.accept()

    def go_on(self) -> None:
        """Runs a new branch without a mapping; the graph fits."""
        self._workspace.run.fork(self._checkpoint)
        self.accept()

    def open_old(self) -> None:
        """Opens the old drawing to look at, in a tab of its own."""
        if self._found.old is not None:
            self._workspace.drawing_offered.emit(self._found.old, self._checkpoint)
        self.reject()

    # ------------------------------------------------------------------------------------------------- building

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        column.setSpacing(8)
        title = (
            tr("The graph fits. What differs is used from here on.")
            if self._drift.same_graph
            else tr("This checkpoint belongs to an older drawing.")
        )
        column.addWidget(Label(self._theme, title, "title"))
        column.addWidget(Prose(self._theme, " ".join(self._drift.sentences()), "body", "text2", 17))
        inner = QWidget()
        self._column = QVBoxLayout(inner)
        self._column.setContentsMargins(0, 0, 8, 0)
        self._column.setSpacing(8)
        self._column.addLayout(self._node_rows())
        self._consequences = QVBoxLayout()
        self._consequences.setSpacing(6)
        self._column.addLayout(self._consequences)
        self._column.addStretch(1)
        column.addWidget(scrolled(inner), 1)
        column.addLayout(self._make_buttons())

    def _node_rows(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(5)
        grid.setColumnStretch(0, 1)
        grid.setColumnStretch(1, 1)
        for at, text in enumerate((tr("In this run"), tr("In the drawing now"), "")):
            grid.addWidget(Label(self._theme, text, "small", "muted"), 0, at)
        order = {"removed": 0, "renamed": 1, "changed": 2, "added": 3, "same": 4}
        for row, node in enumerate(sorted(self._drift.nodes, key=lambda n: order[n.kind]), 1):
            grid.addWidget(Elided(self._theme, node.old_name or "–"), row, 0)
            grid.addWidget(self._now(node), row, 1)
            grid.addWidget(Chip(self._theme, self._words(node), tone=_TONES[node.kind]), row, 2)
        return grid

    def _now(self, node: NodeDrift) -> QWidget:
        """The node of today: a choice where it is not certain."""
        certain = node.old is None or node.old == node.new
        if certain or node.old is None:
            return Elided(self._theme, node.new_name)
        box = ComboBox(self._theme)
        box.setAccessibleName(tr("Now: {name}").format(name=node.old_name))
        box.addItem(tr("removed"), None)
        kept = {n.new for n in self._drift.nodes if n.old is not None and n.old == n.new}
        for now in self._new.nodes:
            if now.id not in kept:
                box.addItem(getattr(now, "name", "") or now.id, now.id)
        box.setCurrentIndex(max(0, box.findData(node.new)))
        box.currentIndexChanged.connect(self._show_consequences)
        self._nodes[node.old] = box
        return box

    def _words(self, node: NodeDrift) -> str:
        words = {
            "same": tr("same"),
            "changed": tr("changed"),
            "renamed": tr("renamed"),
            "removed": tr("removed"),
            "added": tr("added"),
        }
        differs = ", ".join(node.differs) if node.kind == "changed" else ""
        return f"{words[node.kind]}: {differs}" if differs else words[node.kind]

    def _make_buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(6)
        self.old_button = Button(self._theme, tr("Open the old drawing"), "external-link")
        self.old_button.clicked.connect(self.open_old)
        cancel = Button(self._theme, tr("Cancel"))
        cancel.clicked.connect(self.reject)
        self.fork_button = Button(self._theme, tr("Fork with this mapping"), "git-branch", "primary")
        self.fork_button.clicked.connect(self.fork)
        self.go_on_button = Button(self._theme, tr("Continue with the new drawing"), "own:play", "primary")
        self.go_on_button.clicked.connect(self.go_on)
        self.go_on_button.setVisible(self._drift.same_graph)
        self.fork_button.setVisible(not self._drift.same_graph)
        row.addWidget(self.old_button)
        row.addStretch(1)
        for button in (cancel, self.go_on_button, self.fork_button):
            row.addWidget(button)
        return row

    # --------------------------------------------------------------------------------------------- consequences

    def _show_consequences(self) -> None:
        """What the mapping means for queued messages, requests, states, waiting messages of joins."""
        while (item := self._consequences.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self._messages.clear()
        mapping = self.mapping
        found = consequences(self._found.checkpoint, mapping)
        if found.homeless:
            self._consequences.addWidget(Label(self._theme, tr("Queued messages without a node"), "section"))
        for message in found.homeless:
            source = self._name(message.source.removeprefix(FROM_OUTSIDE))
            self._consequences.addWidget(self._message_row(message.id, source, value_text(message.data)))
        names = self._lost_names(found.lost_states)
        lost = [
            (len(found.lost_requests), tr("1 open request is lost."), tr("{count} open requests are lost.")),
            (found.lost_buffers, tr("1 message that waits at a join is lost."),
             tr("{count} messages that wait at joins are lost.")),
        ]  # fmt: skip
        texts = [counted(count, one, many) for count, one, many in lost if count]
        if names:
            texts.append(tr("What {names} remembered is lost.").format(names=names))
        for text in texts:
            self._consequences.addWidget(Prose(self._theme, text, "body", "wait_t", 17))
        self._refresh_fork()

    def _lost_names(self, nodes: tuple[str, ...]) -> str:
        return ", ".join(self._name(n) for n in nodes)

    def _name(self, node: str) -> str:
        found = self._found.old.node(node) if self._found.old is not None else None
        return str(getattr(found, "name", "") or node)

    def _message_row(self, message: str, source: str, text: str) -> QWidget:
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(10)
        layout.addWidget(Elided(self._theme, f"{source}: {text}"), 1)
        box = ComboBox(self._theme)
        box.setAccessibleName(tr("Message of {name}").format(name=source))
        box.addItem(tr("Choose…"), None)
        box.addItem(tr("Drop it"), _DROP)
        taking_part = validate.reachable(self._new)  # a run leaves the others out, and with them what is sent there
        for node in self._new.nodes:
            if node.id not in taking_part:
                continue
            box.addItem(tr("Send it to {name}").format(name=getattr(node, "name", "") or node.id), node.id)
        box.setCurrentIndex(max(0, box.findData(self._chosen.get(message))))
        box.currentIndexChanged.connect(partial(self._on_message_chosen, message, box))
        self._messages[message] = box
        layout.addWidget(box)
        return row

    def _on_message_chosen(self, message: str, box: ComboBox, _index: int) -> None:
        chosen: str | None = box.currentData()
        self._chosen.pop(message, None)
        if chosen is not None:
            self._chosen[message] = chosen
        self._refresh_fork()

    def _refresh_fork(self) -> None:
        missing = [m for m in self._messages if m not in self._chosen]
        targets = [new for new in self._targets().values() if new is not None]
        why = ""
        if missing:
            why = tr("Choose what happens with each message.")
        elif len(set(targets)) < len(targets):
            why = tr("Two nodes cannot become the same one.")
        allowed, reason = self._workspace.run.can("fork")
        self.fork_button.setEnabled(not why and allowed)
        self.fork_button.setToolTip(tip(why or reason))
        self.go_on_button.setEnabled(allowed)
        self.go_on_button.setToolTip(tip(reason))

    def _targets(self) -> Mapping[str, str | None]:
        return self.mapping.nodes


def open_mapping_sheet(theme: Theme, workspace: Workspace, checkpoint: str, parent: QWidget) -> MappingSheet | None:
    """Opens the sheet, without blocking; None while the difference is not known: it is opened as soon as it is."""
    found = workspace.run.comparison(checkpoint)
    if found is None:
        _Opener(theme, workspace, checkpoint, parent)
        return None
    if found.drift is None:
        return None
    sheet = MappingSheet(theme, workspace, checkpoint, found, parent)
    sheet.open()
    return sheet


class _Opener(QObject):
    """Waits until it is known how the drawing differs."""

    def __init__(self, theme: Theme, workspace: Workspace, checkpoint: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme, self._workspace, self._checkpoint, self._over = theme, workspace, checkpoint, parent
        workspace.run.updated.connect(self._on_run_updated)

    def _on_run_updated(self, _update: object) -> None:
        if self._workspace.run.comparison(self._checkpoint) is not None:
            self._workspace.run.updated.disconnect(self._on_run_updated)
            open_mapping_sheet(self._theme, self._workspace, self._checkpoint, self._over)
            self.deleteLater()
