"""What an agent is given beside its input, what it remembers, and how long that may be."""

from __future__ import annotations

from collections.abc import Callable

from studio.document.agent_options import Compaction, ContextProvider
from studio.document.checks_agents import provider_id
from studio.document.model import AgentNode
from studio.ui.inspector import builder
from studio.ui.inspector.code_choice import CodeChoice
from studio.ui.inspector.compaction_fields import compaction_fields, strategies
from studio.ui.inspector.folds import Fold
from studio.ui.inspector.form import Form
from studio.ui.inspector.node_page import NodePage
from studio.ui.inspector.node_parts import NodePart, PartCard, PartCards
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.labels import Prose

_COMPACTION = tuple(f"compaction.{name}" for name in Compaction.model_fields)


def kind_words(provider: ContextProvider) -> str:
    """What a provider is, in words."""
    match provider.kind:
        case "history":
            stores = {"session": tr("in the session"), "file": tr("in files"), "sqlite": tr("in a database")}
            return tr("History {where}").format(where=stores[provider.store])
        case "text":
            return tr("Fixed text")
        case "code":
            return tr("Code")
    return tr("Compaction")


class ProviderCard(PartCard):
    """One context provider."""

    def __init__(self, theme: Theme, target: NodePart, cards: PartCards) -> None:
        super().__init__(theme, target, cards)
        {"history": self._history, "text": self._text, "code": self._code, "compaction": self._compaction}[
            target.item.kind
        ]()
        hint = tr("Its name in messages and sessions. Default: from its kind and place.")
        self.add(builder.line(self.form, "name", tr("Id"), placeholder=self._id(), hint=hint, mono=True))

    def _id(self) -> str:
        return provider_id(self.target.item.model_copy(update={"name": ""}), self.target.index + 1)

    def title(self) -> str:
        return kind_words(self.target.item)

    def summary(self) -> str:
        provider: ContextProvider = self.target.item
        if provider.kind == "text":
            return provider.text.strip().partition("\n")[0]
        return provider.name or self._id()

    def _history(self) -> None:
        stores = (("session", tr("Session")), ("file", tr("Files")), ("sqlite", tr("SQLite")))
        where = builder.segments(self.form, "store", tr("Kept in"), stores)
        self.add(where)
        hint = tr("Inside the folder of the workflow. Default: the data folder of the program.")
        path = builder.line(self.form, "path", tr("Path"), placeholder=tr("memory/chats.db"), hint=hint, mono=True)
        self.add(path)
        checks = (
            ("load", tr("Show it to the model"), tr("Off: it only writes, as a log does. Default: on.")),
            ("store_inputs", tr("Store what comes in"), tr("Default: on.")),
            ("store_outputs", tr("Store the answers"), tr("Default: on.")),
            ("store_context", tr("Store what other providers added"), tr("Default: off.")),
        )
        for name, title, hint in checks:
            self.add(builder.check(self.form, name, title, hint))

        def refresh() -> None:
            session = self.form.target.read("store") == "session"
            path.setVisible(not session)
            where.set_hint(
                tr("At run time: checkpoints hold it, so a rewound run has the memory of that moment. Default.")
                if session
                else tr(
                    "At run time: the next run, and one after a restart, goes on with it; rewinding does not undo it."
                )
            )

        self.form.follow(refresh)

    def _adds(self, hint: str) -> None:
        choices = (("instructions", tr("Instructions")), ("user", tr("User message")), ("system", tr("System message")))
        self.add(builder.segments(self.form, "adds", tr("Added as"), choices, hint=hint))

    def _text(self) -> None:
        self.add(builder.text(self.form, "text", tr("Text"), lines=3, marked=False))
        self._adds(tr("Instructions: behind the agent’s own. A message stands in front of the input."))

    def _code(self) -> None:
        hint = tr(
            "messages is the input of the run, session_id its memory. result: a text, messages, an object with "
            "instructions and messages, or None. Runs in the worker process before each run."
        )
        CodeChoice(self, "result = 'Today is Monday.'", "lookup:facts", hint)
        self._adds(tr("What a text becomes."))

    def _compaction(self) -> None:
        choices = (("before", tr("What was loaded")), ("after", tr("What is remembered")))
        hint = tr("At run time: before a run, of what providers above gave; or after it, for good, of the session.")
        self.add(builder.segments(self.form, "when", tr("Shortens"), choices, hint=hint))
        compaction_fields(self.form, "compaction.", self.add)


def _new(kind: str, **values: object) -> Callable[[], ContextProvider]:
    return lambda: ContextProvider.model_validate({"kind": kind, **values})


def add_context(page: NodePage, form: Form) -> None:
    """The sections *Context and memory* and *Compaction*."""
    names = ("providers", "store_per_call")

    def summary() -> str:
        node = page.node
        assert isinstance(node, AgentNode)
        return ", ".join(kind_words(p).lower() for p in node.providers) or tr("session: default")

    page.body.add(
        Fold(page.theme, form, tr("Context and memory"), names, lambda f: _fill_context(page, f), summary=summary)
    )

    def strategy() -> str:
        chosen = form.target.read("compaction.strategy")
        return next((words.partition(":")[0] for value, words in strategies() if value == chosen), "")

    def fill(fold: Fold) -> None:
        compaction_fields(form, "compaction.", fold.add)

    page.body.add(Fold(page.theme, form, tr("Compaction"), _COMPACTION, fill, summary=strategy))


def _fill_context(page: NodePage, fold: Fold) -> None:
    hint = Prose(
        page.theme,
        tr("Asked in this order before a run, in reverse after it. Without a history the session is the memory."),
        "small",
        "muted",
        15,
    )
    hint.setContentsMargins(12, 0, 12, 4)
    fold.add(hint)
    cards = PartCards(page.theme, page.workspace, page.node_id, "providers", ProviderCard, tr("context provider"))
    cards.key = lambda item: item.kind
    cards.offer(
        tr("Add a context provider"),
        (
            (tr("History"), _new("history")),
            (tr("Fixed text"), _new("text")),
            (tr("Code"), _new("code")),
            (tr("Compaction"), _new("compaction", compaction={"strategy": "sliding_window"})),
        ),
    )
    fold.add(cards)
    fold.form.follow(cards.refresh)
    hint_text = tr(
        "At run time: histories load and store around each model call, so a run that fails keeps what it got so far. "
        "Default: off, around the whole run."
    )
    fold.add(builder.check(fold.form, "store_per_call", tr("Store after each model call"), hint_text))
