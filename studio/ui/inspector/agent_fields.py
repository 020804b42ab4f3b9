"""The fields of an agent: instructions, model, tools, what it sees of the conversation, what it answers with."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from studio.bridge.workspace import Workspace
from studio.document.model import AgentNode
from studio.document.runners import all_agents
from studio.settings.profiles import read_profiles
from studio.ui.inspector import builder
from studio.ui.inspector.context_fields import add_context
from studio.ui.inspector.expected_prompt import expected_now, first_call
from studio.ui.inspector.form import Form, Refused
from studio.ui.inspector.host_fields import add_host, run_name
from studio.ui.inspector.last_run import fill_messages
from studio.ui.inspector.loop_fields import add_loop
from studio.ui.inspector.middleware_fields import add_middleware
from studio.ui.inspector.node_page import NodePage
from studio.ui.inspector.schema_editor import SchemaEditor
from studio.ui.inspector.small_parts import estimate, said
from studio.ui.text import tr
from studio.ui.widgets.field import Field
from studio.ui.widgets.labels import Prose
from studio.ui.widgets.section import Section
from studio.ui.widgets.sources import tokens_words

_LIMITS = ("profile", "max_tokens")


def tokens_caption(text: str) -> str:
    """The estimate beside *Instructions*."""
    return tokens_words(estimate(text)) if text else ""


def agent_fields(page: NodePage, form: Form) -> Iterator[None]:
    """Adds everything, in pieces."""
    page.body.add(
        builder.text(
            form,
            "instructions",
            tr("Instructions"),
            placeholder=tr("What the agent does, in the words of its system prompt"),
            marks="prompt",
            caption=tokens_caption,
        )
    )
    model = builder.choice(
        form, "model", tr("Model"), models(page.workspace), free=tr("model of the profile"), none_if_empty=True
    )
    model.editor.dot = "done"  # type: ignore[attr-defined]
    temperature = builder.number(form, "temperature", tr("Temperature"), least=0, most=2, placeholder=tr("default"))
    page.body.add(builder.beside((model, 0), (temperature, page.theme.length(126))))
    yield
    page.body.add(_tools(page, form))
    page.body.add(_servers(page, form))
    yield
    yield from add_host(page, form)
    yield
    _add_prompt(page)
    yield
    _add_answer(page, form)
    yield
    add_loop(page, form)
    add_context(page, form)
    yield
    add_middleware(page, form)
    _add_limits(page, form)


def models(workspace: Workspace) -> Sequence[tuple[object, str]]:
    """Models that the document or a profile names."""
    names = [a.model for a in all_agents(workspace.document.workflow) if a.model]
    names += [p.model for p in read_profiles()[0].profiles if p.model and not p.offline]
    return [(n, n) for n in dict.fromkeys(names)]


def _tools(page: NodePage, form: Form) -> QWidget:
    def offer() -> Sequence[tuple[str, str]]:
        return [(t.name, t.name) for t in page.workspace.document.workflow.tools]

    field = builder.chips(
        form, "tools", tr("Tools"), offer, tr("Add a tool…"), icon="wrench", more=tr("Edit the tools of the workflow")
    )
    field.set_caption(tr("none: default"))
    _leads_to(page, field, "tools")
    return field


def _servers(page: NodePage, form: Form) -> QWidget:
    def offer() -> Sequence[tuple[str, str]]:
        return [(m.name, m.name) for m in page.workspace.document.workflow.mcp_servers]

    field = builder.chips(
        form, "mcp_servers", tr("MCP servers"), offer, tr("Add a server…"), icon="wrench",
        more=tr("Edit the MCP servers of the workflow"),
    )  # fmt: skip
    field.set_caption(tr("none: default"))
    _leads_to(page, field, "mcp_servers")
    return field


def _leads_to(page: NodePage, field: Field, where: str) -> None:
    """The last entry of the menu shows the declarations on the page of the workflow."""

    def show() -> None:
        page.workspace.selection.select(())
        page.workspace.selection.field_requested.emit("", where)

    field.editor.more_requested.connect(show, Qt.ConnectionType.QueuedConnection)  # type: ignore[attr-defined]


def _add_prompt(page: NodePage) -> None:
    section = Section(page.theme, tr("Effective prompt"))
    holder: dict[str, QWidget] = {}
    shown: dict[str, object] = {}

    note = Prose(page.theme, "", "small", "muted", 15)
    note.setContentsMargins(12, 4, 12, 0)

    def refresh() -> None:
        node, call = page.node, first_call(page.workspace, page.node_id)
        section.setVisible(call is not None)
        if call is None or not isinstance(node, AgentNode):
            return
        now = expected_now(page.workspace, node, call)
        tokens = tokens_words(sum(estimate(said(m)) for m in now.messages))
        words = tr("as after {run} · {tokens}") if now.changed else tr("from {run} · {tokens}")
        section.set_summary(words.format(run=run_name(page), tokens=tokens))
        note.set_text(now.note)
        note.setVisible(bool(now.note))
        if shown.get("messages") == now.messages:
            return
        shown["messages"] = now.messages
        if "rows" in holder:
            holder["rows"].hide()
            holder["rows"].deleteLater()
        holder["rows"] = QWidget()
        column = QVBoxLayout(holder["rows"])
        column.setContentsMargins(0, 0, 0, 0)
        fill_messages(page.theme, column, now.messages, page.workspace.document.workflow)
        section.add(holder["rows"])
        section.add(note)

    page.body.add(section)
    page.follow_run(refresh)


def schema_typed(text: str) -> object:
    """A JSON Schema as typed; empty is None."""
    if not text.strip():
        return None
    try:
        value = json.loads(text)
    except ValueError as error:
        raise Refused(tr("This is not JSON yet: {reason}.").format(reason=str(error))) from error
    if not isinstance(value, dict):
        raise Refused(tr("A schema is a JSON object."))
    return value


def schema_shown(value: Any) -> str:
    """A schema as one reads it."""
    return "" if value is None else json.dumps(value, indent=2, ensure_ascii=False)


def _add_answer(page: NodePage, form: Form) -> None:
    node = page.node
    assert isinstance(node, AgentNode)
    section = Section(page.theme, tr("Structured reply"), open_=node.output_schema is not None, gap=11)
    hint = tr("Conditions then see value.score and so on. Default: plain text.")
    field = Field(page.theme, tr("Fields of the reply"), SchemaEditor(page.theme), hint=hint)
    form.bind("output_schema", field)
    section.add(field)
    form.follow(lambda: section.set_summary(tr("text") if form.target.read("output_schema") is None else tr("object")))
    page.body.add(section)


def _add_limits(page: NodePage, form: Form) -> None:
    section = Section(page.theme, tr("Provider and limits"), open_=False, gap=5)
    choices: list[tuple[object, str]] = [(None, tr("as chosen for the run"))]
    choices += [(p.name, p.name) for p in read_profiles()[0].profiles]
    section.add(builder.choice(form, "profile", tr("Provider"), choices))
    section.add(
        builder.number(
            form,
            "max_tokens",
            tr("Tokens of a reply, at most"),
            least=1,
            most=1_000_000,
            whole=True,
            placeholder=tr("no limit"),
        )
    )
    form.follow(lambda: section.set_summary(form.summary(*_LIMITS)))
    page.body.add(section)
