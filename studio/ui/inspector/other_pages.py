"""The pages of notes, frames, fan-ins, several items, and of what has no page of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from studio.bridge.workspace import Workspace
from studio.document.difference import item_name
from studio.document.lines import name_of
from studio.document.model import Edge, FanInEdge, Node
from studio.ui.inspector import builder
from studio.ui.inspector.form import Form
from studio.ui.inspector.page import InspectorPage
from studio.ui.inspector.several_fields import shared_fields
from studio.ui.inspector.small_parts import Facts
from studio.ui.inspector.target import Items
from studio.ui.paint import kind_name
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import Prose

_NAMES = 24
"""At most this many names of selected items are shown."""


class NotePage(InspectorPage):
    """A sticky note."""

    def __init__(self, theme: Theme, workspace: Workspace, note_id: str) -> None:
        super().__init__(theme, workspace, "note")
        self.form = Form(theme, workspace, Items(workspace, "notes", (note_id,)), self)
        self.header.title.set_text(tr("Note"))
        self.header.subtitle.setText(tr("Not part of the run and not exported"))
        self.body.add(builder.text(self.form, "text", tr("Text"), lines=6, marked=False, hint=tr("Markdown.")))


class GroupPage(InspectorPage):
    """A frame or pattern."""

    def __init__(self, theme: Theme, workspace: Workspace, group_id: str) -> None:
        group = next(g for g in workspace.document.workflow.groups if g.id == group_id)
        super().__init__(theme, workspace, group.kind)
        self._id = group_id
        self.form = Form(theme, workspace, Items(workspace, "groups", (group_id,)), self)
        self.body.add(builder.line(self.form, "name", tr("Name"), marked=False))
        self._members = Prose(theme, "", "body", "text2", 17)
        self._members.setContentsMargins(12, 10, 12, 0)
        self.body.add(self._members)

    def refresh(self) -> None:
        workflow = self.workspace.document.workflow
        group = next((g for g in workflow.groups if g.id == self._id), None)
        if group is None:
            raise KeyError(self._id)
        self.header.title.set_text(group.name)
        self.header.subtitle.setText(tr(kind_name(group.kind)))
        names = ", ".join(name_of(workflow, m) for m in group.members)
        self._members.set_text(tr("Around {names}.").format(names=names) if names else tr("Around nothing."))
        super().refresh()


class FanInPage(InspectorPage):
    """The lines into a join bar; settings are on the bar."""

    def __init__(self, theme: Theme, workspace: Workspace, edge_id: str) -> None:
        super().__init__(theme, workspace, "fan_in")
        self._id = edge_id
        self._text = Prose(theme, "", "body", "text2", 17)
        self._text.setContentsMargins(12, 10, 12, 8)
        self.body.add(self._text)
        button = Button(theme, tr("Open the join bar"), "own:join", small=True)
        button.setProperty("looks", True)
        button.setFixedWidth(button.sizeHint().width())
        button.clicked.connect(self._on_button_clicked)
        button.setContentsMargins(12, 0, 0, 0)
        self.body.add(button)

    def refresh(self) -> None:
        workflow = self.workspace.document.workflow
        edge = workflow.edge(self._id)
        if not isinstance(edge, FanInEdge):
            raise KeyError(self._id)
        target = name_of(workflow, edge.target)
        self.header.title.set_text(tr("Into {name}").format(name=target))
        self.header.subtitle.setText(tr("Fan-in"))
        names = ", ".join(name_of(workflow, s) for s in edge.sources)
        self._text.set_text(
            tr("{target} waits until each of {names} has sent a message.").format(target=target, names=names)
        )
        super().refresh()

    def _on_button_clicked(self) -> None:
        edge = self.workspace.document.workflow.edge(self._id)
        if isinstance(edge, FanInEdge):
            self.workspace.selection.select((edge.target,))


class PlainPage(InspectorPage):
    """Anything else: what it is."""

    def __init__(self, theme: Theme, workspace: Workspace, item_id: str) -> None:
        super().__init__(theme, workspace, "direct")
        self._id = item_id
        text = tr("This kind has no settings here yet. Its data is kept and saved back.")
        prose = Prose(theme, text, "body", "muted", 17)
        prose.setContentsMargins(12, 10, 12, 0)
        self.body.add(prose)

    def refresh(self) -> None:
        workflow = self.workspace.document.workflow
        edge = workflow.edge(self._id)
        if edge is None:
            raise KeyError(self._id)
        self.header.title.set_text(name_of(workflow, self._id))
        self.header.subtitle.setText(tr(kind_name(edge.kind)))
        super().refresh()


class SeveralPage(InspectorPage):
    """Several items: what they have in common; fields that nodes share are edited for all."""

    def __init__(self, theme: Theme, workspace: Workspace, ids: Sequence[str]) -> None:
        super().__init__(theme, workspace, "several")
        self._ids = tuple(ids)
        workflow = workspace.document.workflow
        by_id = {node.id: node for node in workflow.nodes}
        nodes = [by_id[i] for i in self._ids if i in by_id]
        self._facts = Facts(theme)
        self.body.add(self._facts)
        if len(nodes) > 1:
            self._add_fields(frozenset(n.kind for n in nodes), tuple(n.id for n in nodes))
        self._shown: list[tuple[str, str]] = []

    def _add_fields(self, kinds: frozenset[str], ids: tuple[str, ...]) -> None:
        """The fields of the nodes; what else is selected has none in common with them."""
        self.form = Form(self.theme, self.workspace, Items(self.workspace, "nodes", ids), self)
        if len(ids) < len(self._ids):
            words = tr("The fields below are those of the {count} nodes.").format(count=len(ids))
            prose = Prose(self.theme, words, "small", "muted", 15)
            prose.setContentsMargins(12, 8, 12, 0)
            self.body.add(prose)
        for field in shared_fields(self.form, kinds):
            self.body.add(field)

    def refresh(self) -> None:
        workflow = self.workspace.document.workflow
        by_id: dict[str, Node | Edge] = {item.id: item for item in (*workflow.edges, *workflow.nodes)}
        counted = Counter(tr(kind_name(by_id[i].kind)) if i in by_id else tr("Other") for i in self._ids)
        self.header.title.set_text(tr("{count} selected").format(count=len(self._ids)))
        self.header.subtitle.setText(", ".join(f"{n} × {word}" for word, n in counted.items()))
        names = ", ".join(item_name(workflow, by_id.get(i)) or name_of(workflow, i) for i in self._ids[:_NAMES])
        if len(self._ids) > _NAMES:
            names += tr(" and {n} more").format(n=len(self._ids) - _NAMES)
        rows = [(tr("Names"), names)]
        if rows != self._shown:
            self._shown = rows
            self._facts.clear()
            for name, value in rows:
                self._facts.add(name, value)
        super().refresh()
