"""What the page of each node kind holds between the name and the common sections."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from PySide6.QtWidgets import QVBoxLayout, QWidget

from studio.document.commands import order_sources
from studio.document.lines import name_of
from studio.document.model import FanInEdge, NodeBase
from studio.document.types import type_names
from studio.ui.inspector import builder
from studio.ui.inspector.agent_fields import agent_fields
from studio.ui.inspector.form import Form
from studio.ui.inspector.node_page import Filler, NodePage
from studio.ui.inspector.order_list import OrderList
from studio.ui.inspector.runner_fields import runner_fields
from studio.ui.inspector.sub_workflow_fields import sub_workflow_fields
from studio.ui.text import tr
from studio.ui.widgets.code import CodeEditor
from studio.ui.widgets.field import Field
from studio.ui.widgets.labels import Prose
from studio.ui.widgets.section import Section
from studio.ui.widgets.segments import SegmentedControl


def type_choices(page: NodePage, *, nothing: bool = False) -> list[tuple[object, str]]:
    """Names of types to choose from; others can be typed."""
    names = [*type_names(page.workspace.document.workflow), *(["nothing"] if nothing else [])]
    return [(n, n) for n in names]


def _when(form: Form, field: QWidget, condition: Any) -> QWidget:
    """Shows a field only while a condition on the document holds."""
    form.follow(lambda: field.setVisible(bool(condition())))
    return field


def function_fields(page: NodePage, form: Form) -> None:
    """Body in place, or the name of a function of a module."""
    kind = SegmentedControl(page.theme, (("body", tr("Code here")), ("call", tr("Function of a module"))))
    page.body.add(Field(page.theme, tr("What it runs"), kind, resettable=False))
    chosen: dict[str, object] = {"kind": "body"}

    def in_module() -> bool:
        if form.target.read("call"):
            chosen["kind"] = "call"
        return chosen["kind"] == "call"

    def choose(value: object) -> None:
        chosen["kind"] = value
        if value == "body" and form.target.read("call"):
            form.target.write("call", "")
        form.refresh()

    kind.edited.connect(choose)
    form.follow(lambda: kind.show_value("call" if in_module() else "body"))
    hint = tr("data is the message, ctx the workflow context; what result holds is sent on. None sends nothing.")
    body = builder.code(form, "body", tr("Body"), placeholder="result = data.upper()", hint=hint, lines=8)
    page.body.add(_when(form, body, lambda: not in_module()))
    modules = page.workspace.document.workflow.modules
    hint = tr("module:function, called as f(data) or f(data, ctx).")
    if not modules:
        hint += " " + tr("Write the module in the workflow’s settings.")
    call = builder.line(form, "call", tr("Function"), placeholder="reports:publish", hint=hint, mono=True)
    page.body.add(_when(form, call, in_module))
    _add_function_types(page, form)


def _add_function_types(page: NodePage, form: Form) -> None:
    types = type_choices(page)
    page.body.add(
        builder.beside(
            (builder.choice(form, "accepts", tr("Accepts"), types, free="text"), 0),
            (builder.choice(form, "sends", tr("Sends"), type_choices(page, nothing=True), free=tr("nothing")), 0),
        )
    )
    hint = tr("What its result, or ctx.yield_output, gives as an output of the workflow. Default: nothing.")
    page.body.add(
        builder.choice(form, "yields", tr("Yields"), types, free=tr("nothing"), hint=hint, none_if_empty=True)
    )
    hint = tr("Restoring or forking where it would run again asks first. Default: off.")
    page.body.add(builder.check(form, "has_effects", tr("Has effects outside"), hint))


def human_fields(page: NodePage, form: Form) -> None:
    """The question and what counts as an answer."""
    hint = tr("{input} is the text of the message; {value.field} a field of it.")
    question = builder.text(form, "question", tr("Question"), lines=3, marks="fields", hint=hint)
    page.body.add(question)
    hint = tr("A declared type makes a form with its fields.")
    page.body.add(builder.choice(form, "answer_type", tr("Answer type"), type_choices(page), free="text", hint=hint))
    choices = builder.text(
        form,
        "choices",
        tr("Choices, one a line"),
        lines=2,
        shown=lambda v: "\n".join(v),
        typed=lambda text: tuple(line.strip() for line in text.splitlines() if line.strip()),
    )
    page.body.add(_when(form, choices, lambda: form.target.read("answer_type") == "text"))
    send = builder.segments(
        form, "send", tr("Sends on"), (("answer", tr("The answer")), ("input_and_answer", tr("Input and answer")))
    )
    page.body.add(send)

    def show_hint() -> None:
        if form.target.read("send") == "answer":
            send.set_hint(tr("At run time: the next node gets the answer alone."))
        else:
            send.set_hint(tr("At run time: the next node gets one object with input and answer."))

    form.follow(show_hint)


def template_fields(page: NodePage, form: Form) -> None:
    """A text with marks."""
    hint = tr("{text} is the text of the message, {value.field} a field of it, {state.key} a value of shared state.")
    page.body.add(builder.text(form, "text", tr("Text"), lines=8, marks="fields", hint=hint))
    del page


def join_fields(page: NodePage, form: Form) -> None:
    """How the messages of all sources become one, and in which order."""
    modes = (("texts", tr("Texts")), ("messages", tr("Messages")), ("code", tr("Code")))
    merge = builder.segments(form, "merge", tr("Merge"), modes)
    page.body.add(merge)
    hints: Mapping[object, str] = {
        "texts": tr("At run time: the texts of all sources, in the order below, become one text."),
        "messages": tr("At run time: the next agent gets one message a source, as a request with a turn."),
        "code": tr("At run time: your code gets the list data and leaves result."),
    }
    form.follow(lambda: merge.set_hint(hints.get(form.target.read("merge"), "")))
    separator = builder.line(
        form,
        "separator",
        tr("Between the texts"),
        hint=tr("\\n is a line break. Default: an empty line."),
        shown=lambda v: v.replace("\n", "\\n").replace("\t", "\\t"),
        typed=lambda t: t.replace("\\n", "\n").replace("\\t", "\t"),
    )
    page.body.add(_when(form, separator, lambda: form.target.read("merge") == "texts"))
    body = builder.code(form, "body", tr("Body"), placeholder="result = max(data, key=len)")
    page.body.add(_when(form, body, lambda: form.target.read("merge") == "code"))
    _add_sources(page)


def _add_sources(page: NodePage) -> None:
    section = Section(page.theme, tr("Order of the sources"))
    order = OrderList(page.theme)
    section.add(order)
    empty = Prose(page.theme, tr("Draw edges to the bar: it waits for all of them."), "body", "muted", 17)
    empty.setContentsMargins(12, 2, 12, 2)
    section.add(empty)
    page.body.add(section)

    def edge() -> FanInEdge | None:
        edges = page.workspace.document.workflow.edges
        return next((e for e in edges if isinstance(e, FanInEdge) and e.target == page.node_id), None)

    def refresh() -> None:
        found = edge()
        workflow = page.workspace.document.workflow
        rows = [(s, name_of(workflow, s)) for s in found.sources] if found is not None else []
        order.show_rows(rows)
        empty.setVisible(not rows)
        section.set_summary(tr("waits for all {count}").format(count=len(rows)) if rows else "")

    def reorder(sources: tuple[str, ...]) -> None:
        found = edge()
        if found is not None:
            document = page.workspace.document
            document.execute(order_sources(document.workflow, found.id, sources), tr("Order the sources"))

    order.moved.connect(reorder)
    page.follow(refresh)


def other_fields(page: NodePage, form: Form) -> None:
    """A kind without fields of its own yet: its data, to read."""
    note = Prose(
        page.theme, tr("This kind has no settings here yet. Its data is kept and saved back."), "body", "muted", 17
    )
    note.setContentsMargins(12, 10, 12, 0)
    page.body.add(note)
    editor = CodeEditor(page.theme, "json", lines=4)
    editor.set_read_only(True)
    holder = QWidget()
    column = QVBoxLayout(holder)
    column.setContentsMargins(11, 8, 11, 0)
    column.addWidget(editor)
    page.body.add(holder)

    def refresh() -> None:
        node: NodeBase = page.node
        data = node.model_dump(mode="json", exclude={"id", "name", "description"})
        editor.show_value(json.dumps(data, indent=2, ensure_ascii=False))

    page.follow(refresh)


FILLERS: Mapping[str, Filler] = {
    "agent": agent_fields,
    "runner": runner_fields,
    "function": function_fields,
    "human_input": human_fields,
    "template": template_fields,
    "sub_workflow": sub_workflow_fields,
    "join": join_fields,
}
