"""Middleware of an agent: code around its run, each model call or each tool call."""

from __future__ import annotations

from studio.document.agent_options import MiddlewareDecl
from studio.document.model import AgentNode
from studio.ui.inspector import builder
from studio.ui.inspector.code_choice import CodeChoice
from studio.ui.inspector.folds import Fold
from studio.ui.inspector.form import Form
from studio.ui.inspector.node_page import NodePage
from studio.ui.inspector.node_parts import NodePart, PartCard, PartCards
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.labels import Prose
from studio.ui.widgets.sources import counted

_EXAMPLE = "await call_next()"


class MiddlewareCard(PartCard):
    """One middleware."""

    def __init__(self, theme: Theme, target: NodePart, cards: PartCards) -> None:
        super().__init__(theme, target, cards)
        kinds = (("agent", tr("The run")), ("chat", tr("Model calls")), ("function", tr("Tool calls")))
        self._kind = builder.segments(self.form, "kind", tr("Around"), kinds)
        self.add(self._kind)
        hint = tr("context is what happens, await call_next() lets it happen. Runs in the worker process.")
        CodeChoice(self, _EXAMPLE, "guards:log", hint)
        self.add(builder.line(self.form, "name", tr("Name"), placeholder=tr("for people"), marked=False))

    def refresh(self) -> None:
        super().refresh()
        self._kind.set_hint(
            {
                "agent": tr("Once a run: context.messages, options, result. Setting result without call_next answers."),
                "chat": tr("Each model call: context.messages, options, result. Changes count for this call only."),
                "function": tr(
                    "Each tool call: context.function.name, arguments, result. Result alone skips the tool."
                ),
            }[self.target.item.kind]
        )

    def title(self) -> str:
        item: MiddlewareDecl = self.target.item
        around = {"agent": tr("Around the run"), "chat": tr("Around model calls"), "function": tr("Around tool calls")}
        return item.name or around[item.kind]

    def summary(self) -> str:
        item: MiddlewareDecl = self.target.item
        return item.call or item.body.strip().partition("\n")[0]


def add_middleware(page: NodePage, form: Form) -> None:
    """The section *Middleware*."""

    def summary() -> str:
        node = page.node
        assert isinstance(node, AgentNode)
        return (
            counted(len(node.middleware), tr("1 piece"), tr("{count} pieces"))
            if node.middleware
            else tr("none: default")
        )

    page.body.add(
        Fold(page.theme, form, tr("Middleware"), ("middleware",), lambda fold: _fill(page, fold), summary=summary)
    )


def _fill(page: NodePage, fold: Fold) -> None:
    text = tr(
        "Of each kind the first is the outermost. In a streaming run, code behind call_next runs before the answer."
    )
    hint = Prose(page.theme, text, "small", "muted", 15)
    hint.setContentsMargins(12, 0, 12, 4)
    fold.add(hint)
    cards = PartCards(page.theme, page.workspace, page.node_id, "middleware", MiddlewareCard, tr("middleware"))
    cards.offer(
        tr("Add middleware"),
        (
            (tr("Around the run"), lambda: MiddlewareDecl(kind="agent", body=_EXAMPLE)),
            (tr("Around each model call"), lambda: MiddlewareDecl(kind="chat", body=_EXAMPLE)),
            (tr("Around each tool call"), lambda: MiddlewareDecl(kind="function", body=_EXAMPLE)),
        ),
    )
    fold.add(cards)
    fold.form.follow(cards.refresh)
