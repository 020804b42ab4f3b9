"""The card beside the pointer: when it comes and goes, and what it says."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QEnterEvent, QMouseEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from studio.bridge.run_views import InvocationView, MessageView, NodeView, QueuedView
from studio.debugger.states import RunState
from studio.document.model import Workflow
from studio.ui.canvas import CanvasView
from studio.ui.canvas.hover_words import HoverWords, hover_words
from studio.ui.canvas.picking import Hit
from studio.ui.canvas.value_card import GRACE_MS
from tests.ui.canvas.drawings import research_brief
from tests.ui.canvas.fake_run import FakeRun
from tests.ui.canvas.hands import point, press, release

Make = Callable[[Workflow], CanvasView]


def ran(view: CanvasView) -> FakeRun:
    assert view.workspace is not None
    run = view.workspace.run
    assert isinstance(run, FakeRun)
    run.state = RunState.PAUSED
    run.nodes = {"writer": NodeView("writer", status="done", invocations=2, seconds=8.1, error="")}
    run.invocations = {"i": InvocationView("i", "writer", 4, 10.0, 12.5)}
    came = ("join_to_writer", "writer", True, "")
    no, yes = ("good", "publisher", False, "condition"), ("review:default", "planner", True, "")
    run.messages = [
        MessageView("m1", "join", None, 3, "request", "notes", None, "delivered", [came]),
        MessageView("m2", "writer", None, 4, "response", "The draft", None, "delivered", [no, yes], "i"),
    ]
    run.queued = [QueuedView("q", "join", None, ("join_to_writer",), "request", "waits here", None)]
    run.show()
    view.canvas_scene.flush()
    return run


def words(view: CanvasView, kind: str, item: str) -> HoverWords:
    assert view.workspace is not None
    found = hover_words(view.canvas_scene, view.workspace, Hit(kind, item))  # type: ignore[arg-type]
    assert found is not None
    return found


def hover(view: CanvasView, x: float, y: float) -> None:
    at = point(view, x, y)
    none = Qt.MouseButton.NoButton
    where = QPointF(view.viewport().mapToGlobal(at))
    event = QMouseEvent(QEvent.Type.MouseMove, QPointF(at), where, none, none, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(view.viewport(), event)


def test_a_node_says_what_it_sent_and_how_often_it_ran(make_canvas: Make) -> None:
    view = make_canvas(research_brief())
    ran(view)
    said = words(view, "card", "writer")
    assert (said.title, said.detail) == ("Writer", "Agent · writer")
    assert ("Ran", "2 times, 8.1 s") in said.rows
    assert ("Sent", "response, superstep 4, at 12.5 s") in said.rows
    assert ("", "The draft") in said.rows


def test_an_edge_says_its_condition_and_what_came_of_it(make_canvas: Make) -> None:
    view = make_canvas(research_brief())
    ran(view)
    good, default = words(view, "line", "good"), words(view, "chip", "review:default")
    assert good.title == "Review → Publisher"
    assert good.rows[0] == ("Condition", "score ≥ 8")
    assert good.rows[1][1].startswith("false")
    assert ("Did not take", "response, superstep 4, at 12.5 s") in good.rows
    assert ("Was", "true") in default.rows
    assert ("", "The draft") in default.rows


def test_ports_and_pills(make_canvas: Make) -> None:
    view = make_canvas(research_brief())
    ran(view)
    assert words(view, "port_out", "writer").rows[0] == ("Sends", "an agent reply")
    taken = words(view, "port_in", "writer")
    assert taken.rows[0][0] == "Takes"
    assert ("", "notes") in taken.rows
    pill = words(view, "pill", "join_to_writer")
    assert pill.detail == "1 message queued"
    assert pill.rows == (("Waits", "request"), ("", "waits here"))


def test_the_card_comes_after_a_moment_and_goes_with_the_pointer(make_canvas: Make, qtbot: QtBot) -> None:
    view = make_canvas(research_brief())
    ran(view)
    hover(view, 700, 310)
    assert not view.value_card.isVisible()
    qtbot.waitUntil(view.value_card.isVisible)
    assert "Writer" in view.value_card.accessibleName()
    assert view.rect().contains(view.value_card.geometry())
    hover(view, 700, 120)
    assert view.value_card.isVisible()
    qtbot.waitUntil(lambda: not view.value_card.isVisible())


def test_the_card_stays_while_the_pointer_is_on_it(make_canvas: Make, qtbot: QtBot) -> None:
    view = make_canvas(research_brief())
    ran(view)
    hover(view, 700, 310)
    qtbot.waitUntil(view.value_card.isVisible)
    hover(view, 700, 120)
    card = view.value_card
    QApplication.sendEvent(card, QEnterEvent(QPointF(5, 5), QPointF(5, 5), QPointF(card.mapToGlobal(QPoint(5, 5)))))
    qtbot.wait(GRACE_MS + 100)
    assert card.isVisible()
    card.dismiss()


def test_a_press_sends_it_away_and_none_comes_during_a_drag(make_canvas: Make, qtbot: QtBot) -> None:
    view = make_canvas(research_brief())
    hover(view, 700, 310)
    qtbot.waitUntil(view.value_card.isVisible)
    press(view, 700, 310)
    assert not view.value_card.isVisible()
    release(view, 700, 310)
