"""Commands of the debugger on one thing of the drawing; those that must ask open a dialog and are called back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from studio.agents.messages import Message
from studio.debugger.overrides import Mock
from studio.document.lines import name_of, pairs
from studio.document.model import AgentNode, RunnerNode
from studio.ui.context import ContextPanel
from studio.ui.dialogs.messages import inform
from studio.ui.text import tr
from studio.ui.window.workflow_page import WorkflowPage

if TYPE_CHECKING:
    from studio.debugger.forks import Reset
    from studio.ui.main_window import MainWindow


def debug_command(window: MainWindow, page: WorkflowPage, command: str, item: str) -> None:
    """Carries out a command of :attr:`studio.bridge.selection.SelectionModel.command_requested`."""
    _COMMANDS[command](window, page, item)


def _breakpoint(window: MainWindow, _page: WorkflowPage, item: str) -> None:
    window.sides.debug.edit_at(item)


def _run_to(window: MainWindow, page: WorkflowPage, node: str) -> None:
    text = window.tool_bar.input.text()
    window.remember_input(page, text)
    page.workspace.run.run_to(node, text)


def _run_from(_window: MainWindow, page: WorkflowPage, node: str) -> None:
    page.workspace.run.run_from(node)


def _mute(_window: MainWindow, page: WorkflowPage, node: str) -> None:
    setup = page.workspace.run.setup
    if page.workspace.document.workflow.node(node) is not None:
        setup.mute(node, on=node not in setup.overrides.muted)


def _toggle_pin(_window: MainWindow, page: WorkflowPage, node: str) -> None:
    if page.workspace.document.workflow.node(node) is not None:
        page.workspace.run.toggle_pin(node)


def _pin(window: MainWindow, page: WorkflowPage, node: str) -> None:
    from studio.ui.debug.value_dialog import ValueDialog

    run, workflow = page.workspace.run, page.workspace.document.workflow
    known = run.setup.overrides.pins.get(node)
    value = known.value if known is not None else run.last_reply(node)
    agent = isinstance(workflow.node(node), AgentNode)
    hint = (
        tr("The agent is not called and gives this text. Pins belong to the run, not to the drawing.")
        if agent
        else tr("The node is not called and gives this: a text, or JSON. Pins belong to the run, not to the drawing.")
    )
    title = tr("Pin a reply of {name}").format(name=name_of(workflow, node))
    dialog = ValueDialog(
        window.theme, title, hint, tr("Pin"), lambda given, _choice: run.setup.pin(node, given),
        value="" if value is None else value, as_json=not agent, parent=window,
    )  # fmt: skip
    dialog.open()


def _mock(window: MainWindow, page: WorkflowPage, tool: str) -> None:
    from studio.ui.debug.value_dialog import ValueDialog

    setup = page.workspace.run.setup
    known = setup.overrides.mocks.get(tool)

    def take(given: Any, choice: str) -> None:
        setup.mock(tool, Mock(error=str(given)) if choice == "error" else Mock(given))

    dialog = ValueDialog(
        window.theme,
        tr("Mock {tool}").format(tool=tool),
        tr("The tool is not run and gives this to every agent: a text, or JSON. Or it fails with this text."),
        tr("Mock"),
        take,
        value=(known.error or known.result) if known is not None else "",
        as_json=True,
        choices=(("result", tr("Result")), ("error", tr("Error"))),
        parent=window,
    )
    if known is not None and known.error:
        dialog.choice.show_value("error")
    dialog.open()


def _inject(window: MainWindow, page: WorkflowPage, item: str) -> None:
    """A message of the selected node, or over the selected line; else of the start node."""
    from studio.ui.debug.value_dialog import ValueDialog

    run, workflow = page.workspace.run, page.workspace.document.workflow
    pair = next(((s, t) for s, t, line in pairs(workflow) if line == item), None)
    if pair is not None:
        source, target = pair[0], pair[1]
    else:
        source, target = (item if workflow.node(item) is not None else workflow.start or ""), None
    if not source:
        inform(window.theme, window, tr("Select a node or an edge first."), tr("The message is sent from there."))
        return
    names = (name_of(workflow, source), name_of(workflow, target) if target else tr("everything that follows"))
    hint = tr("From {source} to {target}, delivered in the next superstep. A text, or JSON. The run goes on as a fork.")
    ValueDialog(
        window.theme, tr("Inject a message"), hint.format(source=names[0], target=names[1]), tr("Inject"),
        lambda given, _choice: run.inject(source, target, given), as_json=True, parent=window,
    ).open()  # fmt: skip


def _state(window: MainWindow, page: WorkflowPage, _item: str) -> None:
    from studio.ui.debug.value_dialog import ValueDialog, not_an_object

    run = page.workspace.run
    hint = tr("All keys of shared state as JSON. The run goes on with them as a fork; the original stays.")
    if run.held_nodes:  # the fork begins at the last checkpoint
        again = tr("Superstep {number} begins anew with them: what its nodes write comes after.")
        hint = f"{hint} {again.format(number=run.next_superstep)}"
    ValueDialog(
        window.theme, tr("Change shared state"), hint, tr("Change"), lambda given, _choice: run.change_state(given),
        value=run.editable_state, as_json=True, wrong=not_an_object, parent=window,
    ).open()  # fmt: skip


def _conversation(window: MainWindow, page: WorkflowPage, node: str) -> None:
    from studio.bridge.run_edits import changed_messages, messages_json
    from studio.ui.debug.value_dialog import ValueDialog

    run, name = page.workspace.run, name_of(page.workspace.document.workflow, node)

    def show(messages: Sequence[Message]) -> None:
        def take(given: Any, _choice: str) -> None:
            run.change_conversation(node, changed_messages(messages, given))

        def wrong(given: Any) -> str:
            try:
                changed_messages(messages, given)
            except ValueError as problem:
                return str(problem)
            return ""

        hint = tr("What {name} remembers of its turns. The run goes on with it as a fork; the original stays.")
        ValueDialog(
            window.theme, tr("Change the conversation of {name}").format(name=name), hint.format(name=name),
            tr("Change"), take, value=messages_json(messages), as_json=True, wrong=wrong, parent=window,
        ).open()  # fmt: skip

    run.ask_conversation(node, show)


def _reset(window: MainWindow, page: WorkflowPage, node: str, *, what: Reset) -> None:
    """The node begins anew when the run goes on; asked for once more, it goes on as it was."""
    run, document = page.workspace.run, page.workspace.document.workflow
    if isinstance(document.node(node), AgentNode | RunnerNode):
        run.reset(node, None if run.resets.get(node) == what else what)
    else:
        name = name_of(document, node)
        inform(window.theme, window, tr("{name} cannot be reset.").format(name=name), tr("It remembers nothing."))


def _tool_result(window: MainWindow, page: WorkflowPage, _item: str) -> None:
    from studio.ui.debug.value_dialog import ValueDialog

    run, call = page.workspace.run, page.workspace.run.pending_tool
    if call is not None:
        hint = tr(
            "The tool is not run and gives this: a text, or JSON. The run goes on as a fork; no model is asked again."
        )
        ValueDialog(
            window.theme, tr("Result of {tool}").format(tool=call[1]), hint, tr("Give"),
            lambda given, _choice: run.give_tool_result(given), as_json=True, parent=window,
        ).open()  # fmt: skip


def make_test(window: MainWindow, page: WorkflowPage) -> None:
    """Asks where the test goes, then writes it."""
    from studio.ui.dialogs.file_dialogs import choose_test

    file = page.workspace.document.path
    if file is None:
        inform(window.theme, window, tr("Save the workflow first."), tr("A test names the file of its workflow."))
        return
    suggestion = file.with_name(file.name.removesuffix(".workflow.json") + ".test.json")
    choose_test(window, suggestion, lambda target: page.workspace.run.make_test(target, file))


def run_over_table(window: MainWindow, page: WorkflowPage) -> None:
    """Opens the batch window of a workflow, once."""
    from studio.ui.batch import BatchWindow

    opened = next((w for w in page.findChildren(BatchWindow) if w.isVisible()), None)
    model = page.workspace.run.batch()
    if opened is not None:
        opened.raise_()
    elif model is not None:
        file = page.workspace.document.path
        BatchWindow(window.theme, model, file.parent if file is not None else Path.home(), page).show()


def _failure(window: MainWindow, page: WorkflowPage, _item: str) -> None:
    """Goes to the node and field where the failed run can be mended, also inside sub-workflows."""
    from studio.debugger.failures import failure_of

    run = page.workspace.run
    failure = failure_of(run.events, page.workspace.document.workflow)
    if failure is None:
        return
    target = failure.target
    for node in target.inside:
        assert window.page is not None
        window.files.open_sub_workflow(window.page, node)
    if window.page is None:
        return
    selection = window.page.workspace.selection
    if target.place:
        selection.reveal(target.place)
    else:
        selection.select(())
    if target.text:
        selection.text_requested.emit(target.place, target.field, target.text, target.start, target.end, True)
    elif target.field:
        selection.field_requested.emit(target.place, target.field)


def _failure_details(window: MainWindow, page: WorkflowPage, _item: str) -> None:
    from studio.debugger.failures import failure_of, piece_words, where_words
    from studio.ui.debug.failure_dialog import FailureDialog

    run, workflow = page.workspace.run, page.workspace.document.workflow
    failure = failure_of(run.events, workflow)
    if failure is not None:
        where = where_words(failure, workflow)
        inside = failure.target.inside
        FailureDialog(
            window.theme, failure, run.sentence, where, lambda: _failure(window, page, ""),
            lambda unit: piece_words(unit, workflow, inside), window,
        ).open()  # fmt: skip


def _why_asked(window: MainWindow, page: WorkflowPage, request: str) -> None:
    """Shows in the context inspector the invocation that raised a request."""
    run = page.workspace.run
    asked = next((r for r in run.requests if r.request == request), None)
    if asked is None:
        return
    shown = window.sides.show_panel("context")
    views = [v for v in run.invocations.values() if asked.path or v.superstep == asked.superstep]
    path = asked.path or (asked.node,)
    found = next((v for v in reversed(views) if (*v.inside, v.node) == path), None)
    found = found or next((v for v in reversed(views) if v.node == asked.node), None)
    if found is not None and isinstance(shown, ContextPanel):
        shown.show_invocation(found.invocation)


_COMMANDS: Mapping[str, Callable[[MainWindow, WorkflowPage, str], None]] = {
    "breakpoint": _breakpoint,
    "run_to": _run_to,
    "run_from": _run_from,
    "mute": _mute,
    "toggle_pin": _toggle_pin,
    "pin": _pin,
    "mock": _mock,
    "inject": _inject,
    "state": _state,
    "conversation": _conversation,
    "reset_conversation": partial(_reset, what="conversation"),
    "reset_node": partial(_reset, what="node"),
    "tool_result": _tool_result,
    "failure": _failure,
    "why_asked": _why_asked,
    "failure_details": _failure_details,
}
