"""The page of the workflow itself: what is selected when nothing is."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from studio.bridge.workspace import Workspace
from studio.document.lines import name_of
from studio.document.model import JoinNode, OfflineScript
from studio.ui.inspector import builder
from studio.ui.inspector.declared import Cards
from studio.ui.inspector.form import Form, Refused
from studio.ui.inspector.mcp_cards import McpCards
from studio.ui.inspector.modules_editor import ModulesEditor
from studio.ui.inspector.page import InspectorPage
from studio.ui.inspector.state_cards import StateCards, TypeCards
from studio.ui.inspector.target import WorkflowFields
from studio.ui.inspector.tool_cards import ToolCards
from studio.ui.paint.numbers import count_text
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.field import Field
from studio.ui.widgets.labels import Prose
from studio.ui.widgets.section import Section
from studio.ui.widgets.sources import size_words

_OFFLINE = '{"nodes": {"writer": {"replies": ["A draft."], "then": "repeat_last"}}, "delay_ms": 20}'


def json_text(value: Any) -> str:
    """Models as JSON; nothing declared is an empty text."""
    if isinstance(value, tuple):
        data = [item.model_dump(mode="json", by_alias=True) for item in value]
        return json.dumps(data, indent=2, ensure_ascii=False) if data else ""
    if isinstance(value, OfflineScript):
        return (
            "" if value == OfflineScript() else json.dumps(value.model_dump(mode="json"), indent=2, ensure_ascii=False)
        )
    return ""


def json_reader(adapter: TypeAdapter[Any], empty: object) -> Callable[[str], object]:
    """Reads such a text; refuses with the place of the first fault."""

    def read(text: str) -> object:
        if not text.strip():
            return empty
        try:
            return adapter.validate_python(json.loads(text))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise Refused(tr("At {where}: {reason}.").format(where=where or "1", reason=first["msg"])) from error
        except ValueError as error:
            raise Refused(tr("This is not JSON yet: {reason}.").format(reason=str(error))) from error

    return read


class WorkflowPage(InspectorPage):
    """Name, start, limits, outputs, and the declarations as text."""

    def __init__(self, theme: Theme, workspace: Workspace) -> None:
        super().__init__(theme, workspace, "workflow")
        self.form = Form(theme, workspace, WorkflowFields(workspace), self)
        hint = Prose(theme, tr("Select a node or an edge to see its settings."), "small", "muted", 15)
        hint.setContentsMargins(12, 8, 12, 0)
        self.body.add(hint)
        self.body.add(builder.line(self.form, "name", tr("Name"), marked=False))
        self.body.add(builder.text(self.form, "description", tr("Description"), lines=2, marked=False))
        self._add_run()
        self._add_budget()
        self._add_declarations()

    def refresh(self) -> None:
        workflow = self.workspace.document.workflow
        self.header.title.set_text(workflow.name.strip() or tr("Untitled"))
        self.header.subtitle.setText(tr("Workflow · {size}").format(size=size_words(workflow)))
        super().refresh()

    def focus_field(self, name: str) -> bool:
        container = self.container_of("", name)
        if container is not None:
            self.unfold(container)
        if name in ("modules", *self._cards) and container is not None:
            self.body.ensureWidgetVisible(container, 20, 40)
            container.setFocus(Qt.FocusReason.OtherFocusReason)
            return True
        return super().focus_field(name)

    def container_of(self, item: str, field: str) -> QWidget | None:
        if field in self._cards:
            return self._cards[field]
        return self._modules if field == "modules" else super().container_of(item, field)

    def _nodes(self) -> list[tuple[str, str]]:
        nodes = self.workspace.document.workflow.nodes
        return [(n.id, n.name or n.id) for n in nodes if not isinstance(n, JoinNode)]

    def _add_run(self) -> None:
        assert self.form is not None
        section = Section(self.theme, tr("Run"))
        start = builder.choice(self.form, "start", tr("Start node"), self._nodes(), marked=False)
        box = start.editor
        if isinstance(box, builder.ChoiceBox):
            box.setPlaceholderText(tr("none"))
            self.follow(lambda: box.follow_choices(self._nodes()))
        most = builder.number(
            self.form,
            "max_supersteps",
            tr("Supersteps, at most"),
            least=1,
            most=100_000,
            whole=True,
            optional=False,
        )
        section.add(builder.beside((start, 0), (most, self.theme.length(160))))
        section.add(self._outputs())
        hint = tr("Stands in the input field of a new run.")
        section.add(builder.text(self.form, "sample_input", tr("Sample input"), lines=2, hint=hint, marked=False))
        hint = tr("The Python that runs code nodes. Default: the program’s own.")
        section.add(
            builder.optional_line(
                self.form, "interpreter", tr("Interpreter"), placeholder=tr("the program’s own"), hint=hint
            )
        )
        self.body.add(section)

    def _add_budget(self) -> None:
        assert self.form is not None
        section = Section(self.theme, tr("Budget of a run"), open_=False)
        unlimited = tr("no limit")
        hint = tr("What all model calls of a run may take. A call that would cross it is not made.")
        tokens = builder.number(
            self.form, "budget_tokens", tr("Tokens"), least=1, most=1_000_000_000, whole=True,
            placeholder=unlimited, hint=hint,
        )  # fmt: skip
        cost = builder.number(
            self.form, "budget_cost", tr("Cost"), least=0.000001, most=1_000_000, placeholder=unlimited
        )
        currency = builder.line(self.form, "budget_currency", tr("Currency"))
        section.add(tokens)
        section.add(builder.beside((cost, 0), (currency, self.theme.length(150))))
        self.follow(lambda: section.set_summary(self._budget_words()))
        self.body.add(section)

    def _budget_words(self) -> str:
        workflow = self.workspace.document.workflow
        words = (
            [tr("{count} tokens").format(count=count_text(workflow.budget_tokens))] if workflow.budget_tokens else []
        )
        if workflow.budget_cost:
            words.append(f"{workflow.budget_cost:g} {workflow.budget_currency}")
        return ", ".join(words)

    def _outputs(self) -> Field:
        assert self.form is not None
        workspace = self.workspace
        return builder.chips(
            self.form,
            "outputs",
            tr("Outputs"),
            self._nodes,
            tr("Add an output…"),
            hint=tr("Nodes whose yields are outputs of the workflow. Default: all."),
            typed=lambda ids: tuple(ids) or None,
            label_of=lambda node: name_of(workspace.document.workflow, node),
        )

    def _add_declarations(self) -> None:
        assert self.form is not None
        self._cards: dict[str, Cards] = {
            "types": TypeCards(self.theme, self.workspace),
            "state": StateCards(self.theme, self.workspace),
            "tools": ToolCards(self.theme, self.workspace),
            "mcp_servers": McpCards(self.theme, self.workspace),
        }
        self._add_cards("types", tr("Types"))
        self._add_cards("state", tr("Shared state"))
        self._add_cards("tools", tr("Tools"))
        self._add_cards("mcp_servers", tr("MCP servers"))
        self._modules_section = Section(self.theme, tr("Modules"), open_=False, gap=5)
        self._modules = ModulesEditor(self.theme, self.workspace)
        self._modules_section.add(self._modules)
        self.follow(self._modules.refresh)
        self.follow(lambda: self._modules_section.set_summary(self._count("modules")))
        self.body.add(self._modules_section)
        reader = json_reader(TypeAdapter(OfflineScript), OfflineScript())
        hint = tr("What the offline model answers, by node. Without a script it makes up a labelled answer.")
        self._add_json("offline", tr("Offline script"), _OFFLINE, reader, hint)

    def _add_cards(self, name: str, title: str) -> None:
        cards = self._cards[name]
        section = Section(self.theme, title, open_=False, gap=5)
        section.add(cards)
        self.follow(cards.refresh)
        self.follow(lambda: section.set_summary(self._count(name)))
        self.body.add(section)

    def _add_json(self, name: str, title: str, placeholder: str, typed: Callable[[str], object], hint: str) -> None:
        assert self.form is not None
        section = Section(self.theme, title, open_=False, gap=5)
        section.add(
            builder.code(
                self.form,
                name,
                tr("JSON"),
                language="json",
                placeholder=placeholder,
                hint=hint,
                lines=4,
                typed=typed,
                shown=json_text,
            )
        )
        self.follow(lambda: section.set_summary(self._count(name)))
        self.body.add(section)

    def _count(self, name: str) -> str:
        value: object = getattr(self.workspace.document.workflow, name)
        if isinstance(value, OfflineScript):
            value = value.nodes
        number = len(value) if isinstance(value, tuple | Mapping) else 0
        return str(number) if number else tr("none")
