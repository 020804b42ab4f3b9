"""Commands of the debugger on one thing of the drawing; those that must ask open a dialog and are called back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from studio.debugger.overrides import Mock
from studio.document.lines import name_of
from studio.document.model import AgentNode
from studio.ui.text import tr
from studio.ui.window.workflow_page import WorkflowPage

if TYPE_CHECKING:
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


_COMMANDS: Mapping[str, Callable[[MainWindow, WorkflowPage, str], None]] = {
    "breakpoint": _breakpoint,
    "run_to": _run_to,
    "run_from": _run_from,
    "mute": _mute,
    "toggle_pin": _toggle_pin,
    "pin": _pin,
    "mock": _mock,
}
