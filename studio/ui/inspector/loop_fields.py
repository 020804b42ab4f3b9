"""The tool loop of an agent: what it may call, how often, and what happens when it goes wrong."""

from __future__ import annotations

from collections.abc import Sequence

from studio.document.agent_options import ToolLoop
from studio.ui.inspector import builder
from studio.ui.inspector.folds import Fold
from studio.ui.inspector.form import Form
from studio.ui.inspector.node_page import NodePage
from studio.ui.text import tr
from studio.ui.widgets.field import Field
from studio.ui.widgets.segments import SegmentedControl

_NAMES = ("tool_choice", "parallel_tool_calls", *(f"tool_loop.{name}" for name in ToolLoop.model_fields))
_PARALLEL = {None: "default", True: "yes", False: "no"}


def add_loop(page: NodePage, form: Form) -> None:
    """The section *Tool loop*."""
    page.body.add(Fold(page.theme, form, tr("Tool loop"), _NAMES, lambda fold: _fill(page, fold)))


def _fill(page: NodePage, fold: Fold) -> None:
    form = fold.form
    hint = tr("Off: calls of tools are returned and nothing runs. Default: on.")
    fold.add(builder.check(form, "tool_loop.enabled", tr("Run tools"), hint))
    _add_choice(page, fold)
    _add_limits(page, fold)
    checks = [
        (
            "allow_concurrent_invocation",
            tr("Tools of one answer run at once"),
            tr("Off: one after the other, in the order of the model. Default: on."),
        ),
        (
            "include_detailed_errors",
            tr("Tell the model why a tool failed"),
            tr("At run time: the provider gets the text of the exception. Default: off, it only reads that it failed."),
        ),
        (
            "terminate_on_unknown_calls",
            tr("Fail on unknown tools"),
            tr("Off, the default: a call of a tool that is not there is an error that the model reads."),
        ),
    ]
    for name, title, text in checks:
        fold.add(builder.check(form, f"tool_loop.{name}", title, text))

    def offer() -> Sequence[tuple[str, str]]:
        return [(t.name, t.name) for t in page.workspace.document.workflow.tools]

    hint = tr("Known, but not shown to the model. A call of one waits for whoever runs the workflow. Default: none.")
    fold.add(
        builder.chips(
            form, "tool_loop.additional_tools", tr("Hidden tools"), offer, tr("Add a tool…"), icon="wrench", hint=hint
        )
    )


def _add_choice(page: NodePage, fold: Fold) -> None:
    form = fold.form
    choices: list[tuple[object, str]] = [
        ("", tr("provider’s default")),
        ("auto", tr("auto: the model decides")),
        ("required", tr("required: at least one call")),
        ("none", tr("none: no calls")),
    ]
    hint = tr("A tool that has to be called counts for the first model call of a turn only.")
    field = builder.choice(form, "tool_choice", tr("Tool choice"), choices, hint=hint)
    fold.add(field)
    box = field.editor

    def follow() -> None:
        names = getattr(page.node, "tools", ())
        if isinstance(box, builder.ChoiceBox):
            box.follow_choices([*choices, *((n, tr("always {name}").format(name=n)) for n in names)])
            box.show_value(form.target.read("tool_choice"))

    form.follow(follow)
    segments = (("default", tr("Default")), ("yes", tr("Yes")), ("no", tr("No")))
    hint = tr("Whether the model may ask for several tools in one answer. Default: the provider’s.")
    parallel = Field(form.theme, tr("Parallel calls"), SegmentedControl(form.theme, segments), hint=hint)
    values = {word: value for value, word in _PARALLEL.items()}
    form.bind("parallel_tool_calls", parallel, shown=lambda value: _PARALLEL[value], typed=lambda word: values[word])
    fold.add(parallel)


def _add_limits(page: NodePage, fold: Fold) -> None:
    form, width = fold.form, page.theme.length(126)
    rounds = builder.number(
        form, "tool_loop.max_iterations", tr("Model calls with tools"), least=1, most=10_000, whole=True, optional=False
    )
    calls = builder.number(
        form, "tool_loop.max_function_calls", tr("Tool calls"), least=1, most=100_000, whole=True,
        placeholder=tr("no limit"),
    )  # fmt: skip
    rounds.set_hint(tr("Then one more call without tools. Default: 40."))
    calls.set_hint(tr("Checked after each batch."))
    fold.add(builder.beside((rounds, 0), (calls, width)))
    errors = builder.number(
        form, "tool_loop.max_consecutive_errors", tr("Failing batches in a row"), least=1, most=1000, whole=True,
        optional=False,
    )  # fmt: skip
    seconds = builder.number(
        form, "tool_loop.max_duration_seconds", tr("Seconds"), least=0.001, most=1_000_000, placeholder=tr("no limit")
    )
    errors.set_hint(tr("Then tools are switched off. Default: 3."))
    seconds.set_hint(tr("Approvals count too."))
    fold.add(builder.beside((errors, 0), (seconds, width)))
    hint = tr("Equal calls with equal results in a row, after which the model is stopped. Empty: never. Default: 8.")
    fold.add(
        builder.number(
            form,
            "tool_loop.max_repeats",
            tr("Equal batches in a row"),
            least=1,
            most=1000,
            whole=True,
            placeholder=tr("never"),
            hint=hint,
        )
    )
