"""How a conversation is made shorter: a strategy, and the settings that it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtWidgets import QWidget

from studio.ui.inspector import builder
from studio.ui.inspector.form import Form
from studio.ui.text import tr

_OF: Mapping[str, tuple[str, ...]] = {
    "truncation": ("most", "target", "unit", "keep_system", "keep_first_user"),
    "sliding_window": ("keep_last", "keep_system"),
    "tool_calls": ("keep_tools",),
    "tool_results": ("keep_tools",),
    "summarizing": ("target", "slack", "input_tokens", "prompt"),
    "token_budget": ("budget", "steps", "stop_early"),
    "context_window": ("window", "output", "tools_at", "truncate_at", "keep_tools", "keep_first_user"),
}
"""The settings that a strategy has; a budget also has those of its steps."""


def strategies() -> list[tuple[object, str]]:
    """The strategies by name."""
    return [
        ("none", tr("none (default)")),
        ("truncation", tr("truncation: the oldest go")),
        ("sliding_window", tr("sliding window: the newest stay")),
        ("tool_calls", tr("tool calls: older ones go")),
        ("tool_results", tr("tool results: older ones in one line")),
        ("summarizing", tr("summary: a model sums up the oldest")),
        ("token_budget", tr("token budget: steps until it fits")),
        ("context_window", tr("context window of the model")),
    ]


def _hints() -> Mapping[str, str]:
    return {
        "none": tr("At run time: the model sees everything. Default."),
        "truncation": tr("At run time: above the limit the oldest messages are left out down to the target."),
        "sliding_window": tr("At run time: only the newest groups are shown; a call and its result are one group."),
        "tool_calls": tr("At run time: older tool calls are left out with their results."),
        "tool_results": tr("At run time: older tool calls are replaced by one line with what the tools gave."),
        "summarizing": tr(
            "At run time: one more model call sums the oldest messages up. If it fails, nothing changes."
        ),
        "token_budget": tr("At run time: steps one after the other until the estimate fits; then the oldest goes."),
        "context_window": tr("At run time: first tool results are summed up, then the oldest messages go."),
    }


def compaction_fields(form: Form, prefix: str, add: Callable[[QWidget], None]) -> None:
    """Adds the fields of a compaction at ``prefix`` ("compaction.") of the form's target."""
    strategy = builder.choice(form, f"{prefix}strategy", tr("Strategy"), strategies())
    add(strategy)
    fields = _fields(form, prefix)
    for field in fields.values():
        add(field)

    def refresh() -> None:
        chosen = str(form.target.read(f"{prefix}strategy"))
        shown = set(_OF.get(chosen, ()))
        if chosen == "token_budget":
            steps = form.target.read(f"{prefix}steps")
            for step in steps if isinstance(steps, tuple) else ():
                shown.update(_OF[step])
        for name, field in fields.items():
            field.setVisible(name in shown)
        strategy.set_hint(_hints().get(chosen, ""))

    form.follow(refresh)


def _fields(form: Form, prefix: str) -> dict[str, QWidget]:
    def whole(name: str, title: str, hint: str, least: int = 1, *, optional: bool = False) -> QWidget:
        return builder.number(
            form, f"{prefix}{name}", title, least=least, most=10_000_000, whole=True, optional=optional, hint=hint,
            placeholder=tr("no limit") if optional else "",
        )  # fmt: skip

    def share(name: str, title: str, hint: str) -> QWidget:
        return builder.number(form, f"{prefix}{name}", title, least=0.01, most=1, optional=False, hint=hint)

    def check(name: str, title: str, hint: str) -> QWidget:
        return builder.check(form, f"{prefix}{name}", title, hint)

    units = (("messages", tr("Messages")), ("tokens", tr("Tokens")))
    return {
        "budget": whole("budget", tr("Tokens, at most"), tr("Estimated: four characters a token. Default: 8 000.")),
        "steps": _steps(form, prefix),
        "stop_early": check("stop_early", tr("Stop when it fits"), tr("Off: every step is taken. Default: on.")),
        "window": whole("window", tr("Tokens of the window"), tr("Of the model. Default: 128 000.")),
        "output": whole("output", tr("Kept free for the answer"), tr("Tokens. Default: 4 096."), 0),
        "tools_at": share("tools_at", tr("Sum up tool results at"), tr("Share of the room. Default: 0.5.")),
        "truncate_at": share("truncate_at", tr("Leave the oldest out at"), tr("Share of the room. Default: 0.8.")),
        "unit": builder.segments(form, f"{prefix}unit", tr("Counted in"), units, hint=tr("Default: messages.")),
        "most": whole("most", tr("Limit"), tr("Nothing is left out up to here. Default: 40.")),
        "target": whole("target", tr("Target"), tr("What stays as it is. Default: 20.")),
        "keep_last": whole("keep_last", tr("Groups that stay"), tr("Default: 20.")),
        "keep_tools": whole("keep_tools", tr("Newest tool calls that stay"), tr("Default: 1."), 0),
        "keep_system": check("keep_system", tr("Keep system messages"), tr("Default: on.")),
        "keep_first_user": check("keep_first_user", tr("Keep the first user message"), tr("Default: off.")),
        "slack": whole("slack", tr("Slack"), tr("Messages over the target before it sums up. Default: 2."), 0),
        "input_tokens": whole(
            "input_tokens", tr("Tokens of a request for a summary"), tr("Default: 8 000."), optional=True
        ),
        "prompt": builder.text(
            form, f"{prefix}prompt", tr("Prompt of the summary"), lines=3, placeholder=tr("the built-in prompt")
        ),
    }


def _steps(form: Form, prefix: str) -> QWidget:
    names = {
        "tool_results": tr("tool results"),
        "tool_calls": tr("tool calls"),
        "summarizing": tr("summary"),
        "sliding_window": tr("sliding window"),
        "truncation": tr("truncation"),
    }

    def offer() -> Sequence[tuple[str, str]]:
        return list(names.items())

    hint = tr("In this order; Alt and an arrow key move one. Default: tool results.")
    return builder.chips(
        form, f"{prefix}steps", tr("Steps"), offer, tr("Add a step…"), hint=hint, label_of=lambda n: names.get(n, n)
    )
