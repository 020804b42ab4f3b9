"""A large tree is arranged in slices: the same plan, each piece small, never put off by a run that saves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pytestqt.qtbot import QtBot
from studio.bridge.run_views import BranchView, CheckpointView
from studio.ui.timeline import TimelinePanel, arranger
from studio.ui.timeline.arranger import AT_ONCE, Arranger
from studio.ui.timeline.plan import _PIECE, Plan, arrange, arranging
from tests.ui.panels.fake_run import FakeRun

Show = Callable[..., Any]


def _tree(branches: int, own: int) -> tuple[list[CheckpointView], list[BranchView]]:
    points: list[CheckpointView] = []
    rows = [BranchView(f"b{b}", 1, f"Fork {b}", "completed", 1.0) for b in range(branches)]
    for b in range(branches):
        parent = f"b0.{b % own}" if b else None
        for n in range(own):
            points.append(CheckpointView(f"b{b}.{n}", parent, f"b{b}", "superstep", n, 1.0, 10))
            parent = f"b{b}.{n}"
    return points, rows


def test_the_plan_in_pieces_is_the_plan(qtbot: QtBot) -> None:
    points, rows = _tree(60, 30)
    pieces, steps = 0, arranging(points, rows, "b3")
    while True:
        try:
            next(steps)
            pieces += 1
        except StopIteration as done:
            plan: Plan = done.value
            break
    assert plan == arrange(points, rows, "b3")
    assert pieces >= 2 * len(points) // _PIECE, "no piece is larger than this"
    assert (len(plan.spots), len(plan.tracks), plan.columns) == (1800, 60, 60)
    assert plan.by_id["b5.0"].parent == "b0.5"
    assert plan.by_id["b5.0"].column == 6
    assert plan.next_in_chain(plan.by_id["b5.0"]) is plan.by_id["b5.1"]
    assert plan.next_in_chain(plan.by_id["b5.29"]) is None
    assert plan.at(6, plan.row_of["b5"]) is plan.by_id["b5.0"]
    assert plan.by_id["b0.5"].splits


def test_a_small_tree_is_shown_at_once_and_a_large_one_follows(qtbot: QtBot) -> None:
    made: list[Plan] = []
    work = Arranger()
    work.arranged.connect(made.append)
    points, rows = _tree(10, 10)
    work.ask(points, rows, None)
    assert [len(p.spots) for p in made] == [100]
    points, rows = _tree(60, 30)
    assert len(points) > AT_ONCE
    work.ask(points, rows, None)
    assert (len(made), work.busy) == (1, True)
    points.clear()
    qtbot.waitUntil(lambda: len(made) == 2)
    assert len(made[1].spots) == 1800, "as it was when it was asked for"
    assert not work.busy


def test_what_is_asked_meanwhile_comes_after_it_and_only_the_last(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arranger, "_BUDGET", -1.0)  # a slice is one piece, on every machine
    made: list[int] = []
    work = Arranger()
    work.arranged.connect(lambda plan: made.append(len(plan.spots)))
    points, rows = _tree(60, 30)
    for count in (1800, 1700, 1600):
        work.ask(points[:count], rows, None)
    qtbot.waitUntil(lambda: len(made) == 2)
    assert made == [1800, 1600]
    work.ask(points, rows, None)
    work.stop()
    assert not work.busy
    work.ask(points[:50], rows, None)
    assert made == [1800, 1600, 50]


def test_the_panel_follows_a_large_tree(show: Show, run: FakeRun, qtbot: QtBot) -> None:
    panel = show(TimelinePanel, 900, 400)
    run.checkpoints, run.branches = _tree(60, 30)
    run.tell(everything=True)
    qtbot.waitUntil(lambda: len(panel.view.plan.spots) == 1800)
    run.checkpoints = run.checkpoints[:20]
    run.branches = run.branches[:1]
    run.tell(checkpoints=True)
    qtbot.waitUntil(lambda: len(panel.view.plan.spots) == 20)
