"""Entries of the canvas' menus that are about running: breakpoints, run to, run from, pin, mute, mock."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Protocol

from studio.debugger.breakpoints import Breakpoint
from studio.document.model import AgentNode, JoinNode, RunnerNode
from studio.ui.text import tr

if TYPE_CHECKING:
    from studio.bridge.run_model import RunModel
    from studio.debugger.forks import Reset
    from studio.ui.canvas.view import CanvasView


class Entries(Protocol):
    """A menu that is being made."""

    def add(self, text: str, function: Callable[[], object], keys: str = "", *, on: bool = True) -> None: ...
    def check(self, text: str, function: Callable[[bool], object], checked: bool, keys: str = "") -> None: ...
    def line(self) -> None: ...
    def open(self, text: str) -> None: ...
    def close(self) -> None: ...


def add_run_entries(view: CanvasView, made: Entries, node_id: str) -> None:
    """For one node."""
    workspace, node = view.workspace, view.workflow.node(node_id)
    if workspace is None or node is None:
        return
    run, selection = workspace.run, workspace.selection
    made.add(tr("Edit breakpoint…"), partial(selection.command_requested.emit, "breakpoint", node_id), "Shift+F9")
    made.line()
    made.add(tr("Run to here"), partial(selection.command_requested.emit, "run_to", node_id), on=run.can("run_to")[0])
    made.add(tr("Run from here"), partial(run.run_from, node_id), "Ctrl+F5", on=run.can("run_from")[0])
    if isinstance(node, JoinNode):
        return
    if isinstance(node, AgentNode) and run.can("edit")[0]:
        made.add(tr("Change its conversation…"), partial(selection.command_requested.emit, "conversation", node_id))
    if isinstance(node, AgentNode | RunnerNode) and run.can("edit")[0]:
        begins = run.resets.get(node_id)
        for reset, text in _resets():
            made.check(text, partial(_reset, run, node_id, reset), begins == reset)
    overrides, setup = run.setup.overrides, run.setup
    made.check(tr("Mute: pass the input on"), lambda on: setup.mute(node_id, on=on), node_id in overrides.muted, "M")
    made.check(tr("Pin the last reply"), lambda _on: run.toggle_pin(node_id), node_id in overrides.pins, "P")
    made.add(tr("Pin a reply…"), partial(selection.command_requested.emit, "pin", node_id))
    if isinstance(node, AgentNode) and node.tools:
        made.open(tr("Mock a tool"))
        for tool in node.tools:
            text = tr("{tool} (mocked)").format(tool=tool) if tool in overrides.mocks else tool
            made.add(text, partial(selection.command_requested.emit, "mock", tool))
        made.close()


def _resets() -> tuple[tuple[Reset, str], ...]:
    return (
        ("conversation", tr("Reset its conversation")),
        ("node", tr("Reset the node")),
    )


def _reset(run: RunModel, node: str, reset: Reset, on: bool) -> None:
    run.reset(node, reset if on else None)


def add_edge_breakpoints(view: CanvasView, made: Entries, line_id: str) -> None:
    """For a line."""
    workspace = view.workspace
    if workspace is None:
        return
    setup = workspace.run.setup
    there = {b.moment: b for b in setup.breakpoints if b.kind == "edge" and b.place == line_id}

    def switch(moment: str, on: bool) -> None:
        found = there.get("queued" if moment == "queued" else "delivered")
        if found is not None:
            setup.remove(found.id)
        elif on:
            setup.put(Breakpoint("edge", line_id, "queued" if moment == "queued" else "delivered"))

    made.check(tr("Stop when a message is queued"), partial(switch, "queued"), "queued" in there)
    made.check(tr("Stop when a message is delivered"), partial(switch, "delivered"), "delivered" in there)
    made.add(tr("Edit breakpoint…"), partial(workspace.selection.command_requested.emit, "breakpoint", line_id))
