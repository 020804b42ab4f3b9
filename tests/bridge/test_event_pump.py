"""The pump: one frame at a time, within its budget, no text lost."""

from __future__ import annotations

import time

from pytestqt.qtbot import QtBot
from studio.bridge.event_pump import EventPump
from studio.engine.events import Event, ModelCallFinished, SuperstepStarted, TokensArrived


def _tokens(invocation: str, text: str, kind: str = "text") -> TokensArrived:
    return TokensArrived(0.0, "writer", invocation, text, kind, chunks=len(text.split()) or 1)  # type: ignore[arg-type]


class Screen:
    """What a window would get."""

    def __init__(self, budget: float = 0.006, cost: float = 0.0) -> None:
        self.frames: list[list[Event]] = []
        self._frame: list[Event] = []
        self._cost = cost
        self.pump = EventPump(self._fold, self._done, budget=budget)

    def _fold(self, event: Event) -> None:
        end = time.perf_counter() + self._cost
        while time.perf_counter() < end:
            pass
        self._frame.append(event)

    def _done(self) -> None:
        self.frames.append(self._frame)
        self._frame = []

    @property
    def events(self) -> list[Event]:
        return [e for frame in self.frames for e in frame]


def test_tokens_of_two_streams_are_joined_per_stream(qtbot: QtBot) -> None:
    screen = Screen()
    for i in range(100):
        screen.pump.append(_tokens("a", f"a{i} "))
        screen.pump.append(_tokens("b", f"b{i} "))
    qtbot.waitUntil(lambda: not screen.pump.pending)
    assert [(e.invocation, e.text) for e in screen.events if isinstance(e, TokensArrived)] == [
        ("a", "".join(f"a{i} " for i in range(100))),
        ("b", "".join(f"b{i} " for i in range(100))),
    ]
    assert len(screen.frames) == 1


def test_tokens_are_not_joined_across_another_event_of_their_invocation(qtbot: QtBot) -> None:
    screen = Screen()
    finished = ModelCallFinished(0.0, "writer", "a", "call-1")
    for event in (_tokens("a", "1"), _tokens("a", "2", "reasoning"), finished, _tokens("a", "3"), _tokens("a", "4")):
        screen.pump.append(event)
    qtbot.waitUntil(lambda: not screen.pump.pending)
    assert screen.events == [
        _tokens("a", "1"),
        _tokens("a", "2", "reasoning"),
        finished,
        TokensArrived(0.0, "writer", "a", "34", chunks=2),
    ]


def test_what_does_not_fit_into_a_frame_comes_in_the_next(qtbot: QtBot) -> None:
    screen = Screen(budget=0.003, cost=0.001)
    sent: list[Event] = [SuperstepStarted(0.0, i) for i in range(20)]
    for event in sent:
        screen.pump.append(event)
    qtbot.waitUntil(lambda: not screen.pump.pending)
    assert screen.events == sent
    assert len(screen.frames) >= 4
    assert max(len(frame) for frame in screen.frames) <= 6


def test_the_timer_rests_while_nothing_is_pending(qtbot: QtBot) -> None:
    screen = Screen()
    assert not screen.pump._timer.isActive()
    screen.pump.append(SuperstepStarted(0.0, 1))
    assert screen.pump._timer.isActive()
    qtbot.waitUntil(lambda: bool(screen.frames))
    assert not screen.pump._timer.isActive()


def test_flush_brings_everything_at_once(qtbot: QtBot) -> None:
    screen = Screen(budget=0.0, cost=0.0005)
    for i in range(50):
        screen.pump.append(SuperstepStarted(0.0, i))
    screen.pump.flush()
    assert len(screen.events) == 50
    assert not screen.pump.pending
