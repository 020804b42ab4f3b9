"""What the last run of a node did: state, time, tokens, what it was sent, what it said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtWidgets import QVBoxLayout, QWidget

from studio.agents.messages import Message, Usage
from studio.bridge.run_views import InvocationView
from studio.bridge.workspace import Workspace
from studio.document.lines import name_of
from studio.document.model import Workflow
from studio.engine.events import ModelCallStarted
from studio.ui.inspector.expected_prompt import sent
from studio.ui.inspector.small_parts import Card, Facts, MessageRow, estimate, said
from studio.ui.paint.numbers import count_text, seconds_text
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.costs import cost_details, cost_words
from studio.ui.widgets.labels import Chip, Prose
from studio.ui.widgets.page import Page
from studio.ui.widgets.section import Section
from studio.ui.widgets.sources import counted, tokens_words

TONES = {"done": "done", "failed": "fail", "waiting": "wait", "running": "run", "queued": "run"}


def last_invocation(workspace: Workspace, node: str) -> InvocationView | None:
    """The newest invocation of a node in the run that is shown."""
    found: InvocationView | None = None
    for view in workspace.run.invocations.values():
        if view.node == node:
            found = view
    return found


def last_prompt(workspace: Workspace, node: str) -> ModelCallStarted | None:
    """The newest model call of a node."""
    if node not in workspace.run.nodes:
        return None
    for event in reversed(workspace.run.events):
        if isinstance(event, ModelCallStarted) and event.node == node:
            return event
    return None


def usage_text(usage: Usage | None) -> str:
    """Tokens of a call: "1 934 in, 612 out"."""
    if usage is None or (usage.input is None and usage.output is None):
        return tr("not reported")
    sign = "≥ " if usage.partial else ""
    return tr("{sign}{input} in, {output} out").format(
        sign=sign, input=count_text(usage.input or 0), output=count_text(usage.output or 0)
    )


def fill_messages(theme: Theme, column: QVBoxLayout, messages: Sequence[Message], workflow: Workflow) -> None:
    """A card with one row a message; nodes that said something under their names."""
    card = Card(theme)
    named = [replace(m, author=name_of(workflow, m.author)) if m.author else m for m in messages]
    for i, message in enumerate(named):
        card.column.addWidget(MessageRow(theme, message, line=i < len(messages) - 1, edge=8))
    holder = QWidget()
    inner = QVBoxLayout(holder)
    inner.setContentsMargins(12, 4, 12, 0)
    inner.addWidget(card)
    column.addWidget(holder)


class LastRun(Page):
    """Built again when it is looked at and the run moved on."""

    def __init__(self, theme: Theme, workspace: Workspace, node: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._workspace, self._node = theme, workspace, node
        self._content: QWidget | None = None
        self._shown: object = None

    def refresh(self) -> None:
        """Shows the newest invocation."""
        view = last_invocation(self._workspace, self._node)
        seen = (id(view), view.status, view.ended) if view is not None else None
        if seen == self._shown and self._content is not None:
            return
        self._shown = seen
        if self._content is not None:
            self._content.hide()
            self._content.deleteLater()
        self._content = QWidget()
        column = QVBoxLayout(self._content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        if view is None:
            text = Prose(self._theme, tr("This node has not run yet."), "body", "muted", 17)
            text.setContentsMargins(12, 12, 12, 0)
            column.addWidget(text)
        else:
            self._add_facts(column, view)
            self._add_prompt(column)
            self._add_text(column, view)
        self.add(self._content)

    def _add_facts(self, column: QVBoxLayout, view: InvocationView) -> None:
        facts = Facts(self._theme)
        facts.add(tr("State"), Chip(self._theme, tr(view.status), tone=TONES.get(view.status, "")))
        facts.add(tr("Superstep"), str(view.superstep))
        if view.ended is not None:
            facts.add(tr("Time"), seconds_text(view.ended - view.started))
        facts.add(tr("Tokens"), usage_text(view.usage))
        if cost := cost_words(view.usage):
            facts.add(tr("Cost"), f"{cost}. {cost_details(view.usage)}")
        runs = self._workspace.run.nodes.get(self._node)
        if runs is not None and runs.invocations > 1:
            facts.add(tr("Ran"), tr("{count} times in this run").format(count=runs.invocations))
        column.addWidget(facts)
        if view.error:
            error = Prose(self._theme, view.error, "body", "fail_t", 17)
            error.setContentsMargins(12, 6, 12, 0)
            column.addWidget(error)

    def _add_prompt(self, column: QVBoxLayout) -> None:
        call = last_prompt(self._workspace, self._node)
        if call is None:
            return
        section = Section(self._theme, tr("Effective prompt"))
        messages = sent(call)
        tokens = sum(estimate(said(m)) for m in messages)
        count = counted(len(messages), tr("1 message"), tr("{count} messages"))
        section.set_summary(f"{count} · {tokens_words(tokens)}")
        fill_messages(self._theme, section.body, messages, self._workspace.document.workflow)
        column.addWidget(section)

    def _add_text(self, column: QVBoxLayout, view: InvocationView) -> None:
        text = "".join(p.text for p in view.pieces if p.kind == "text")
        if not text:
            return
        section = Section(self._theme, tr("Reply"))
        prose = Prose(self._theme, text, "text", "text", 18)
        prose.setContentsMargins(12, 2, 12, 8)
        section.add(prose)
        column.addWidget(section)
