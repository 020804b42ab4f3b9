"""How an agent is hosted: the Python host with its context, or the C# turn-token host with its six options."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtWidgets import QWidget

from studio.document.lines import name_of
from studio.document.model import AgentNode
from studio.document.turns import start_id
from studio.ui.inspector import builder
from studio.ui.inspector.form import Form
from studio.ui.inspector.last_run import last_prompt
from studio.ui.inspector.node_page import NodePage
from studio.ui.text import tr
from studio.ui.widgets.field import Field
from studio.ui.widgets.section import Section
from studio.ui.widgets.segments import SegmentedControl
from studio.ui.widgets.sources import counted, short

PYTHON = ("context", "context_filter", "trailing_user_turn", "session")
TURN_TOKEN = tuple(
    f"turn_token.{name}"
    for name in (
        "emit_agent_update_events",
        "emit_agent_response_events",
        "forward_incoming_messages",
        "reassign_other_agents_as_users",
        "intercept_user_input_requests",
        "intercept_unterminated_function_calls",
        "first_token",
    )
)
_UPDATES = {None: "open", True: "on", False: "off"}


def add_host(page: NodePage, form: Form) -> Iterator[None]:
    """The section *Host options*, in pieces."""
    section = Section(page.theme, tr("Host options"))
    host = builder.segments(form, "host", tr("Host"), (("python", tr("Python")), ("turn_token", tr("C# turn token"))))
    section.add(host)
    python = _python(page, form)
    yield
    turn_token: list[QWidget] = []
    for made in _turn_token(form):
        turn_token.append(made)
        yield
    for field in (*python, *turn_token):
        section.add(field)
        yield
    page.body.add(section)
    custom, first = python[1], turn_token[-1]

    def refresh() -> None:
        turns = form.target.read("host") == "turn_token"
        for field in python:
            field.setVisible(not turns)
        for field in turn_token:
            field.setVisible(turns)
        custom.setVisible(not turns and form.target.read("context") == "custom")
        first.setVisible(turns and start_id(page.workspace.document.workflow) is not None and is_start(page))
        section.set_summary(form.summary("host", *(TURN_TOKEN if turns else PYTHON)))
        host.set_hint(_host_hint(turns))

    form.follow(refresh)


def is_start(page: NodePage) -> bool:
    """Whether the node is the start of the workflow."""
    return page.workspace.document.workflow.start == page.node_id


def _host_hint(turns: bool) -> str:
    if turns:
        return tr("At run time: it collects messages and works when a turn token comes, as AIAgentHostExecutor does.")
    return tr("At run time: every message is a turn at once, as AgentExecutor does. Default: Python.")


# ------------------------------------------------------------------------------------------------------ Python


def _python(page: NodePage, form: Form) -> tuple[QWidget, ...]:
    choices = (("full", tr("Full")), ("last_agent", tr("Last reply")), ("custom", tr("Custom…")))
    context = builder.segments(form, "context", tr("Context from the node before"), choices)
    hint = tr("messages is the conversation; what result holds is sent to the model. Runs in the worker process.")
    custom = builder.code(
        form, "context_filter", tr("Filter"), placeholder="result = messages[-3:]", hint=hint, lines=3
    )
    turn = builder.check(
        form,
        "trailing_user_turn",
        tr("End on a user turn"),
        tr("Adds “please continue.” for one call if the last message is an assistant message. Default: off."),
    )
    hint = tr("Agents with the same name share one session. Default: a session of its own.")
    session = builder.optional_line(form, "session", tr("Session"), placeholder=tr("own"), hint=hint)
    page.follow_run(lambda: context.set_hint(context_hint(page)))
    return context, custom, turn, session


def context_hint(page: NodePage) -> str:
    """What the choice does at run time, with the numbers of the last run."""
    node = page.node
    assert isinstance(node, AgentNode)
    sources = [short(name_of(page.workspace.document.workflow, s)) for s in page.sources()]
    before = sources[0] if len(sources) == 1 else tr("the node before")
    if node.context == "full":
        text = tr("At run time: {name} sees the whole conversation that {before} passes on.")
    elif node.context == "last_agent":
        text = tr("At run time: {name} sees the last reply of {before} only. Full, the default, adds what came before.")
    else:
        text = tr("At run time: {name} sees what the filter leaves of the conversation of {before}.")
    text = text.format(name=short(node.name or node.id), before=before)
    call = last_prompt(page.workspace, page.node_id)
    if call is not None:
        count = counted(len(call.messages), tr("1 message"), tr("{count} messages"))
        text += " " + tr("{count} in {run}.").format(count=count, run=run_name(page))
    return text


def run_name(page: NodePage) -> str:
    """ "run 12", of the run that is shown."""
    run = page.workspace.run
    branch = next((b for b in run.branches if b.branch == run.branch), None)
    return tr("run {number}").format(number=branch.number) if branch is not None else tr("the last run")


# -------------------------------------------------------------------------------------------------- turn token


def _turn_token(form: Form) -> Iterator[QWidget]:
    """The six options in the order of a turn, then the token of a start; made one by one."""
    yield _tri_state(form)
    for name, title, hint in _checks():
        yield builder.check(form, f"turn_token.{name}", title, hint)
    yield _first_token(form)


def _checks() -> list[tuple[str, str, str]]:
    """Name, title and hint of the options that are on or off."""
    return [
        (
            "emit_agent_response_events",
            tr("Yield each whole response"),
            tr("EmitAgentResponseEvents: one output for each answer, unfiltered, after its updates. Default: off."),
        ),
        (
            "forward_incoming_messages",
            tr("Forward incoming messages"),
            tr("ForwardIncomingMessages: the next node first gets what came in here, then the answer. Default: on."),
        ),
        (
            "reassign_other_agents_as_users",
            tr("Show other agents as users"),
            tr(
                "ReassignOtherAgentsAsUsers: the model sees answers of others as user messages; what is forwarded "
                "keeps its roles. Default: on."
            ),
        ),
        (
            "intercept_user_input_requests",
            tr("Send approvals to the next nodes"),
            tr("InterceptUserInputRequests: nobody outside is asked; a node behind has to answer. Default: off."),
        ),
        (
            "intercept_unterminated_function_calls",
            tr("Send open tool calls to the next nodes"),
            tr("InterceptUnterminatedFunctionCalls: a node behind gives the result. Default: off."),
        ),
    ]


def _first_token(form: Form) -> Field:
    choices: list[tuple[object, str]] = [
        ("auto", tr("as the run (default)")),
        ("on", tr("asks for updates")),
        ("off", tr("asks for none")),
        ("open", tr("leaves it to the agent")),
    ]
    hint = tr(
        "At run time: a run makes the token of the first turn. As the run: without streaming it asks for updates, as "
        "RunAsync does; with streaming the option above decides, and without it updates are asked for."
    )
    return builder.choice(form, "turn_token.first_token", tr("Token of the first turn"), choices, hint=hint)


def _tri_state(form: Form) -> Field:
    choices = (("open", tr("By token")), ("on", tr("On")), ("off", tr("Off")))
    hint = tr(
        "EmitAgentUpdateEvents: counts only when the token leaves it open. On streams the answer and yields each "
        "update. By token, the default, is off then."
    )
    field = Field(form.theme, tr("Yield updates"), SegmentedControl(form.theme, choices), hint=hint)
    values = {word: value for value, word in _UPDATES.items()}
    form.bind(
        "turn_token.emit_agent_update_events",
        field,
        shown=lambda value: _UPDATES[value],
        typed=lambda word: values[word],
    )
    return field
