"""The page of one node: set-up by kind, role in the workflow, types, and what its last run did."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtWidgets import QStackedWidget, QWidget

from studio.bridge.workspace import Workspace
from studio.document.commands import set_output, set_start
from studio.document.lines import pairs
from studio.document.model import FunctionNode, JoinNode, Node
from studio.document.types import accepts, in_words, sends, yields
from studio.ui.inspector import builder
from studio.ui.inspector.folds import fold_of, unfold
from studio.ui.inspector.form import Form
from studio.ui.inspector.last_run import LastRun
from studio.ui.inspector.node_parts import PartCards
from studio.ui.inspector.page import InspectorPage
from studio.ui.inspector.small_parts import TypeRow
from studio.ui.inspector.target import Items
from studio.ui.paint import kind_name
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.field import CheckField
from studio.ui.widgets.section import Section
from studio.ui.widgets.slices import at_once as finish
from studio.ui.widgets.tabs import TabStrip

Filler = Callable[["NodePage", Form], Iterator[None] | None]
"""Adds what a kind needs; what takes long goes in pieces."""


class NodePage(InspectorPage):
    """``fill`` adds what the kind needs between the name and the common sections. A page that is not made ``at_once``
    is ready when :attr:`making` has ended."""

    def __init__(self, theme: Theme, workspace: Workspace, node_id: str, fill: Filler, *, at_once: bool = True) -> None:
        self.node_id = node_id
        node = workspace.document.workflow.node(node_id)
        if node is None:
            raise KeyError(node_id)
        super().__init__(theme, workspace, node.kind)
        self.form = Form(theme, workspace, Items(workspace, "nodes", (node_id,)), self)
        self.header.show_id(node_id)
        self._add_tabs()
        self.body.add(builder.line(self.form, "name", tr("Name"), placeholder=tr("Name of the node"), marked=False))
        self.making = self._made(fill, self.form)
        if at_once:
            finish(self.making)

    def _made(self, fill: Filler, form: Form) -> Iterator[None]:
        yield
        yield from fill(self, form) or ()
        yield
        self._add_role()
        self._add_types()
        self._add_note()

    @property
    def node(self) -> Node:
        """The node as it is now. Raises ``KeyError`` when it is gone."""
        node = self.workspace.document.workflow.node(self.node_id)
        if node is None:
            raise KeyError(self.node_id)
        return node

    def refresh(self) -> None:
        node = self.node
        self.header.title.set_text(node.name or self.node_id)
        self.header.subtitle.setText(tr("{kind} · id").format(kind=tr(kind_name(node.kind))))
        super().refresh()
        self._refresh_role()
        self._refresh_types()

    def refresh_run(self) -> None:
        if self._stack.currentIndex() == 1:
            self._last.refresh()

    def sources(self) -> tuple[str, ...]:
        """The nodes with an edge to this one."""
        return tuple(dict.fromkeys(s for s, t, _ in pairs(self.workspace.document.workflow) if t == self.node_id))

    def focus_field(self, name: str) -> bool:
        self._tabs.choose(0)
        unfold(self, name)
        container = self.container_of(self.node_id, name)
        if container is not None:
            self.unfold(container)
        if isinstance(container, Section):
            container.set_open(True)
            self.body.ensureWidgetVisible(container, 20, 40)
        return super().focus_field(name)

    def container_of(self, item: str, field: str) -> QWidget | None:
        where, _, index = field.partition(".")
        found: QWidget | None = super().container_of(item, field)
        cards = next((c for c in self.body.findChildren(PartCards) if c.where == where), None)
        if found is None and cards is not None:
            found = cards.cards[int(index)] if index.isdigit() and int(index) < len(cards.cards) else cards
        return found or fold_of(self, field)

    def refresh_problems(self) -> None:
        super().refresh_problems()
        for cards in self.body.findChildren(PartCards):
            cards.refresh_problems()

    def show_text(self, item: str, field: str, text: str, start: int, end: int, *, focus: bool) -> None:
        self._tabs.choose(0)
        unfold(self, field)
        super().show_text(item, field, text, start, end, focus=focus)

    def _add_tabs(self) -> None:
        self._tabs = TabStrip(self.theme, (tr("Set-up"), tr("Last run")))
        self._last = LastRun(self.theme, self.workspace, self.node_id)
        self._stack = QStackedWidget()
        self.frame.removeWidget(self.body)
        self._stack.addWidget(self.body)
        self._stack.addWidget(self._last)
        self.frame.addWidget(self._tabs)
        self.frame.addWidget(self._stack, 1)
        self._tabs.chosen.connect(self._on_tabs_chosen)

    def _on_tabs_chosen(self, index: int) -> None:
        self._stack.setCurrentIndex(index)
        self.refresh_run()

    def _add_role(self) -> None:
        section = Section(self.theme, tr("Role"))
        self._start = CheckField(self.theme, tr("Start node"), tr("Gets the input of a run."))
        self._start.edited.connect(self._on_start_edited)
        self._output = CheckField(self.theme, tr("Output"), "")
        self._output.edited.connect(self._on_output_edited)
        section.add(self._start)
        section.add(self._output)
        self._role_section = section
        if isinstance(self.node, JoinNode):
            section.hide()
        self.body.add(section)

    def _refresh_role(self) -> None:
        workflow = self.workspace.document.workflow
        is_start = workflow.start == self.node_id
        self._start.show_value(is_start)
        self._start.box.setEnabled(not is_start)
        self._start.setToolTip(tr("Make another node the start to change this") if is_start else "")
        named = workflow.outputs if isinstance(workflow.outputs, tuple) else ()
        self._output.show_value(self.node_id in named)
        can = bool(yields(self.node))
        self._output.box.setEnabled(can or self.node_id in named)
        if not can:
            self._output.set_hint(tr("This node yields nothing."))
        elif named:
            self._output.set_hint(tr("What it yields is an output of the workflow."))
        else:
            self._output.set_hint(tr("No node is chosen: what any node yields is an output. Default: off."))
        words = [w for w, on in ((tr("start"), is_start), (tr("output"), self.node_id in named)) if on]
        self._role_section.set_summary(", ".join(words) or tr("in between"))

    def _on_start_edited(self, _on: bool) -> None:
        document = self.workspace.document
        document.execute(set_start(document.workflow, self.node_id), tr("Start at {name}").format(name=self.node.name))

    def _on_output_edited(self, on: bool) -> None:
        document = self.workspace.document
        text = tr("Make {name} an output") if on else tr("{name} is no output")
        document.execute(set_output(document.workflow, self.node_id, on), text.format(name=self.node.name))

    def _add_types(self) -> None:
        self._types = Section(self.theme, tr("Accepts and sends"))
        self._shown_types: tuple[tuple[str, ...], ...] = ()
        self.body.add(self._types)

    def _refresh_types(self) -> None:
        shown = (accepts(self.node), sends(self.node))
        if shown == self._shown_types:
            return
        self._shown_types = shown
        while (item := self._types.body.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for title, names in zip((tr("Accepts"), tr("Sends")), shown, strict=True):
            none = tr("nothing") if isinstance(self.node, FunctionNode) else tr("not declared")
            words = [in_words((n,)).removeprefix("an ").removeprefix("a ") for n in names] or [none]
            self._types.add(TypeRow(self.theme, title, words))

    def _add_note(self) -> None:
        assert self.form is not None
        section = Section(self.theme, tr("Note"), open_=bool(self.node.description), gap=5)
        section.add(builder.text(self.form, "description", tr("What it is for"), lines=2, marked=False, placeholder=""))
        self.body.add(section)
