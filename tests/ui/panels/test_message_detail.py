"""One message in full: which way it went and why, from it to its causes and effects, on the canvas too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from studio.bridge.run_views import InvocationView, MessageView
from studio.bridge.workspace import Workspace
from studio.ui.run import MessagesPanel
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import Prose
from tests.ui.panels.fake_run import FakeRun

Show = Callable[..., Any]


def test_the_detail_says_why(show: Show, workspace: Workspace, run: FakeRun) -> None:
    run.messages.append(
        MessageView(
            "x",
            "writer",
            None,
            4,
            "text",
            "Draft",
            "Draft",
            "dropped",
            [("c", "publisher", False, "condition"), ("review", "planner", True, "")],
        )
    )
    panel = show(MessagesPanel)
    panel.table.setCurrentIndex(panel.filter.index(0, 0))
    texts = [p.plain for p in panel.detail._content.findChildren(Prose)]
    assert texts[:2] == ["Publisher: the condition was false", "Planner: delivered over “Review: revise”"]


def test_from_a_message_to_its_cause_and_its_effect(
    show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot
) -> None:
    for at, (key, node) in enumerate((("i1", "planner"), ("i2", "market"))):
        run.invocations[key] = InvocationView(key, node, at + 1, float(at), at + 0.5, "done")
    first = MessageView("m1", "planner", None, 1, "text", "Plan", "Plan", "delivered", invocation="i1")
    first.routes = [("e", "market", True, "")]
    run.messages += [first, MessageView("m2", "market", None, 2, "text", "Found", "Found", invocation="i2")]
    panel = show(MessagesPanel)
    panel.select_message("m1")
    assert workspace.selection.items == ("planner", "market")

    def link(text: str) -> Any:
        return next(b for b in panel.detail._content.findChildren(Button) if text in b.text())

    link("Found").click()
    assert panel.detail.shown == ("m2", "queued", 0, 0)
    assert workspace.selection.items == ("market",)
    link("Plan").click()
    assert panel.detail.shown == ("m1", "delivered", 1, 0)
    panel.select_message("gone")
    assert panel.detail.shown == ("m1", "delivered", 1, 0)
    panel.activateWindow()
    panel.table.setFocus()
    qtbot.waitUntil(panel.table.hasFocus)
    qtbot.keyClick(panel.table, Qt.Key.Key_Down)
    assert workspace.selection.items == ("market",), "a message that one goes to is marked on the canvas"
