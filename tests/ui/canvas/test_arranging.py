"""A large drawing is arranged off the loop, as one step, and only if nothing was edited meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from pytestqt.qtbot import QtBot
from studio.document import commands
from studio.document.edits import Edit
from studio.document.model import Place, Workflow
from studio.ui.canvas import CanvasView, arranging
from studio.ui.canvas.arranging import AT_ONCE
from tests.ui.canvas.drawings import large, small

Make = Callable[[Workflow], CanvasView]


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[threading.Event, list[int]]]:
    """Arranging waits until the event is set; the list has the threads that did it."""
    go, threads = threading.Event(), list[int]()
    arrange = commands.arrange_items

    def slow(workflow: Workflow, ids: object = None, flow: object = None) -> Edit:
        threads.append(threading.get_ident())
        assert go.wait(60)
        return arrange(workflow, ids, flow)  # type: ignore[arg-type]

    monkeypatch.setattr(arranging.commands, "arrange_items", slow)
    yield go, threads
    go.set()


def steps(view: CanvasView) -> int:
    assert view.workspace is not None
    return view.workspace.document.undo_stack.count()


def test_a_large_drawing_is_arranged_in_a_thread(
    make_canvas: Make, qtbot: QtBot, held: tuple[threading.Event, list[int]]
) -> None:
    go, threads = held
    view = make_canvas(large(AT_ONCE + 50))
    before = view.workflow.places
    view.arrange()
    assert view.arranging.working
    assert steps(view) == 0
    go.set()
    qtbot.waitUntil(lambda: steps(view) == 1)
    assert threading.get_ident() not in threads
    assert view.workflow.places != before
    assert not view.arranging.working


def test_what_was_edited_meanwhile_stays(
    make_canvas: Make, qtbot: QtBot, held: tuple[threading.Event, list[int]]
) -> None:
    go, _ = held
    view = make_canvas(large(AT_ONCE + 50))
    view.arrange()
    view.execute(commands.move_items({"n0": Place(x=5, y=5)}), "Move")
    with qtbot.waitSignal(view.message_shown) as told:
        go.set()
    assert told.args == ["The drawing was changed before it could be arranged."]
    assert steps(view) == 1
    assert view.workflow.places["n0"] == Place(x=5, y=5)
    view._told.hide()


def test_asking_twice_arranges_once(make_canvas: Make, qtbot: QtBot, held: tuple[threading.Event, list[int]]) -> None:
    go, threads = held
    view = make_canvas(large(AT_ONCE + 50))
    view.arrange()
    view.arrange()
    go.set()
    qtbot.waitUntil(lambda: steps(view) == 1 and len(threads) == 2)
    qtbot.waitUntil(lambda: not view.arranging.working)
    assert steps(view) == 1


def test_a_small_drawing_is_arranged_at_once(make_canvas: Make, held: tuple[threading.Event, list[int]]) -> None:
    go, threads = held
    go.set()
    view = make_canvas(small())
    view.connect_items("b", "a")
    view.arrange()
    assert threads == [threading.get_ident()]
    assert steps(view) == 2
