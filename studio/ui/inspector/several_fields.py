"""Fields that several selected nodes share; each is written for all of them as one step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtWidgets import QWidget

from studio.document.types import type_names
from studio.settings.profiles import read_profiles
from studio.ui.inspector import builder
from studio.ui.inspector.form import Form
from studio.ui.text import tr

Maker = Callable[[Form], Sequence[QWidget]]


def shared_fields(form: Form, kinds: frozenset[str]) -> Sequence[QWidget]:
    """The fields for nodes of these kinds: of one kind all that make sense for several, of more kinds the note."""
    fields: list[QWidget] = []
    if len(kinds) == 1:
        maker = _MAKERS.get(next(iter(kinds)))
        fields += maker(form) if maker is not None else ()
    fields.append(builder.text(form, "description", tr("Note"), lines=2, marked=False))
    return fields


def _agents(form: Form) -> Sequence[QWidget]:
    theme = form.theme
    model = builder.optional_line(form, "model", tr("Model"), placeholder=tr("model of the profile"))
    temperature = builder.number(form, "temperature", tr("Temperature"), least=0, most=2, placeholder=tr("default"))
    profiles: list[tuple[object, str]] = [(None, tr("as chosen for the run"))]
    profiles += [(p.name, p.name) for p in read_profiles()[0].profiles]
    limit = builder.number(
        form, "max_tokens", tr("Reply, at most"), least=1, most=1_000_000, whole=True, placeholder=tr("no limit")
    )
    hosts = (("python", tr("Python")), ("turn_token", tr("C# turn token")))
    contexts = (("full", tr("Full")), ("last_agent", tr("Last reply")), ("custom", tr("Custom…")))
    turn = tr("Adds “please continue.” for one call if the last message is an assistant message. Default: off.")

    def tools() -> Sequence[tuple[str, str]]:
        return [(t.name, t.name) for t in form.workflow().tools]

    return (
        builder.beside((model, 0), (temperature, theme.length(126))),
        builder.beside((builder.choice(form, "profile", tr("Provider"), profiles), 0), (limit, theme.length(126))),
        builder.chips(form, "tools", tr("Tools"), tools, tr("Add a tool…"), icon="wrench"),
        builder.segments(form, "host", tr("Host"), hosts),
        builder.segments(form, "context", tr("Context from the node before"), contexts),
        builder.check(form, "trailing_user_turn", tr("End on a user turn"), turn),
        builder.optional_line(form, "session", tr("Session"), placeholder=tr("own")),
        builder.text(form, "instructions", tr("Instructions"), marks="prompt"),
    )


def _types(form: Form) -> list[tuple[object, str]]:
    return [(n, n) for n in type_names(form.workflow())]


def _functions(form: Form) -> Sequence[QWidget]:
    return (
        builder.beside(
            (builder.choice(form, "accepts", tr("Accepts"), _types(form), free="text"), 0),
            (builder.choice(form, "sends", tr("Sends"), _types(form), free=tr("nothing")), 0),
        ),
        builder.choice(form, "yields", tr("Yields"), _types(form), free=tr("nothing"), none_if_empty=True),
    )


def _people(form: Form) -> Sequence[QWidget]:
    sends = (("answer", tr("The answer")), ("input_and_answer", tr("Input and answer")))
    return (
        builder.text(form, "question", tr("Question"), lines=3, marks="fields"),
        builder.choice(form, "answer_type", tr("Answer type"), _types(form), free="text"),
        builder.segments(form, "send", tr("Sends on"), sends),
    )


def _templates(form: Form) -> Sequence[QWidget]:
    return (builder.text(form, "text", tr("Text"), lines=6, marks="fields"),)


def _joins(form: Form) -> Sequence[QWidget]:
    modes = (("texts", tr("Texts")), ("messages", tr("Messages")), ("code", tr("Code")))
    return (builder.segments(form, "merge", tr("Merge"), modes),)


def _sub_workflows(form: Form) -> Sequence[QWidget]:
    direct = tr("What nodes inside yield is an output here at once. Default: off.")
    requests = tr("Questions from inside are asked at the outermost workflow. Default: on.")
    return (
        builder.check(form, "direct_output", tr("Give outputs directly"), direct),
        builder.check(form, "propagate_requests", tr("Pass questions on"), requests),
    )


_MAKERS: Mapping[str, Maker] = {
    "agent": _agents,
    "function": _functions,
    "human_input": _people,
    "template": _templates,
    "join": _joins,
    "sub_workflow": _sub_workflows,
}
