"""Many rows in the strip and the tree: the band of headings, whole rows, labels that agree with their columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot
from studio.bridge.run_views import BranchView, CheckpointView
from studio.ui.theme import Theme
from studio.ui.timeline import TimelinePanel, glyphs
from studio.ui.timeline.plan import arrange
from tests.ui.panels.fake_run import FakeRun, paused

Show = Callable[..., Any]


def many_rows(run: FakeRun, forks: int = 4) -> None:
    """Main, Fork A, and forks whose message was edited at 2."""
    paused(run)
    for number in range(forks):
        name = f"f{number}"
        started = 1_764_600_000.0 + number
        run.branches.append(BranchView(name, 13, f"Fork {name}", "completed", started, "message edited at 2"))
        run.checkpoints.append(CheckpointView(f"{name}e", "m2", name, "fork", 2, 1.0))
        run.checkpoints.append(CheckpointView(f"{name}3", f"{name}e", name, "superstep", 3, 1.0))


def test_an_edit_takes_no_place_in_the_chain(run: FakeRun) -> None:
    many_rows(run, 1)
    plan = arrange(run.checkpoints, run.branches, "main")
    edit, after = plan.by_id["f0e"], plan.by_id["f03"]
    assert (edit.column, edit.between, edit.own_label) == (plan.by_id["m2"].column, True, "")
    assert (after.column, after.label, after.own_label) == (plan.by_id["m3"].column, "3", "")
    assert plan.labels[after.column] == "3"


def test_a_mark_says_its_own_label_where_the_heading_differs(run: FakeRun) -> None:
    many_rows(run, 0)
    run.branches.append(BranchView("x", 13, "Fork X", "completed", 1e10))
    run.checkpoints.append(CheckpointView("x2", "m1", "x", "superstep", 2, 1.0))
    plan = arrange(run.checkpoints, run.branches, "main")
    assert plan.labels[plan.by_id["x2"].column] == "answer"
    assert plan.by_id["x2"].own_label == "2"
    assert plan.by_id["m2"].own_label == ""


def test_checkpoints_that_are_left_after_pruning_stand_one_after_the_other(run: FakeRun) -> None:
    def view(name: str, parent: str | None, branch: str, superstep: int) -> CheckpointView:
        return CheckpointView(name, parent, branch, "superstep", superstep, 1.0)

    left = [
        view("m2", "m1", "main", 2), view("m6", "m5", "main", 6), view("m7", "m6", "main", 7),
        view("a4", "a3", "fork", 4), view("a6", "a5", "fork", 6), view("a7", "a6", "fork", 7),
        view("b3", "m2", "other", 3),
    ]  # fmt: skip
    names = ("main", "fork", "other")
    branches = [BranchView(name, 1, name, "completed", float(at)) for at, name in enumerate(names)]
    branches[1].began = "m2"
    plan = arrange(left, branches, "main")
    assert [(s.checkpoint, s.column, s.parent) for s in plan.spots] == [
        ("m2", 0, None), ("m6", 1, "m2"), ("m7", 2, "m6"),
        ("a4", 1, "m2"), ("a6", 2, "a4"), ("a7", 3, "a6"),
        ("b3", 1, "m2"),
    ]  # fmt: skip
    assert len(plan.by_place) == len(left), "no two of them at one place"
    assert plan.by_id["m2"].splits
    branches[1].began = "gone, too"
    alone = arrange(left, branches, "main").by_id
    assert [(alone[i].column, alone[i].parent) for i in ("a4", "a6")] == [(0, None), (1, "a4")]
    following = plan.next_in_chain(plan.by_id["m2"])
    assert following is not None
    assert following.checkpoint == "m6"


@pytest.mark.parametrize("height", [64, 98, 160, 240, 372])
def test_the_row_of_the_shown_branch_is_whole(show: Show, run: FakeRun, height: int) -> None:
    many_rows(run)
    panel = show(TimelinePanel, 900, height)
    for branch, here in (("f3", "f33"), ("main", "m3"), ("f1", "f13"), ("a", "a6")):
        run.branch, run.here = branch, here
        run.state_changed.emit()
        view = panel.view
        y = view.row_y(view.plan.by_id[here].row)
        assert y - 12 >= view.measures.band, "not under the headings"
        assert y + 12 <= view.viewport().height()


def test_folding_the_tree_to_the_strip_keeps_the_shown_row_whole(show: Show, run: FakeRun) -> None:
    many_rows(run)
    run.branch, run.here = "f3", "f33"
    panel = show(TimelinePanel, 900, 372)
    panel.resize(900, 98)
    y = panel.view.row_y(panel.view.plan.by_id["f33"].row)
    assert panel.view.measures.band <= y - 12
    assert y + 12 <= panel.view.viewport().height()


def test_nothing_of_the_rows_shows_through_the_headings(show: Show, run: FakeRun, theme: Theme) -> None:
    """With the scroll bar anywhere, the band is the window's colour and the texts of the headings."""
    many_rows(run)
    run.here = None
    panel = show(TimelinePanel, 900, 98)
    view = panel.view
    marks = {theme.color(t).name() for t in ("text2", "text", "accent", "wait")}
    ground = theme.color("window").name()
    for scrolled in range(0, view.verticalScrollBar().maximum(), 5):
        view.verticalScrollBar().setValue(scrolled)
        image = view.viewport().grab().toImage()
        ratio = image.devicePixelRatio()
        for x in range(0, view.viewport().width(), 3):
            below_texts = QColor(image.pixel(int(x * ratio), int((view.measures.band - 1) * ratio))).name()
            assert below_texts == ground
            assert QColor(image.pixel(int(x * ratio), int(4 * ratio))).name() not in marks


def test_a_row_under_the_headings_leaves_no_chip_behind(show: Show, run: FakeRun, theme: Theme) -> None:
    many_rows(run)
    run.branch, run.here = "f3", "f33"
    run.checkpoints[4].name = "a name"
    panel = show(TimelinePanel, 900, 98)
    view = panel.view
    hidden = view.plan.by_id["m3"]
    assert view.row_y(hidden.row) < view.measures.band
    view.verticalScrollBar().setValue(view.measures.row)
    image = view.viewport().grab().toImage()
    chip, ratio = theme.color("soft").name(), image.devicePixelRatio()
    at = view.center(hidden)
    column = [
        QColor(image.pixel(int((at.x() - 20) * ratio), int(y * ratio))).name()
        for y in range(view.measures.band, view.measures.band + 10)
    ]
    assert chip not in column


def test_marks_under_the_headings_are_not_hit(show: Show, run: FakeRun) -> None:
    many_rows(run)
    panel = show(TimelinePanel, 900, 98)
    view = panel.view
    spot = view.plan.by_id["m2"]
    view.verticalScrollBar().setValue(view.measures.row - 12)
    at = view.center(spot)
    assert at.y() < view.measures.band
    assert view.spot_at(QPointF(at.x(), at.y())) is None


def test_of_200_branches_with_5000_checkpoints_only_what_is_in_view_is_painted(
    show: Show, run: FakeRun, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    """Counted, not timed: the figures are in ``packaging/bench timeline``."""
    paused(run)
    parents = ["m2"]
    for number in range(200):
        name, parent = f"f{number}", parents[number // 2]
        run.branches.append(BranchView(name, 13, f"Fork {number}", "completed", 1.8e9 + number))
        for step in range(25):
            key = f"{name}.{step}"
            run.checkpoints.append(CheckpointView(key, parent, name, "superstep", step, 1.0))
            parent = key
        parents.append(parent if number % 7 else "m2")
    panel = show(TimelinePanel, 1268, 372)
    view = panel.view
    qtbot.waitUntil(lambda: len(view.plan.spots) == len(run.checkpoints))
    painted: list[str] = []
    for name in ("draw_glyph", "branch_path"):
        real = getattr(glyphs, name)
        monkeypatch.setattr(
            glyphs, name, lambda *a, real=real, name=name, **k: (painted.append(name), real(*a, **k))[1]
        )
    most = {"draw_glyph": 0, "branch_path": 0}
    bar = view.verticalScrollBar()
    for scrolled in range(0, bar.maximum(), bar.maximum() // 40):
        bar.setValue(scrolled)
        painted.clear()
        view.viewport().grab()
        most = {name: max(count, painted.count(name)) for name, count in most.items()}
    assert 20 < most["draw_glyph"] < 250, "some rows of 25, not 200"
    assert most["branch_path"] < 100, "lines that only pass through are no paths"


def test_lines_of_many_forks_of_one_checkpoint_are_drawn_once_where_they_lie_on_each_other(
    show: Show, run: FakeRun, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    paused(run)
    for number in range(40):
        run.branches.append(BranchView(f"f{number}", 13, f"Fork {number}", "completed", 1.8e9 + number))
        run.checkpoints.append(CheckpointView(f"f{number}.0", "m2", f"f{number}", "superstep", 3, 1.0))
    panel = show(TimelinePanel, 1268, 372)
    view = panel.view
    view.verticalScrollBar().setValue(0)
    painted: list[str] = []
    real = glyphs.branch_path
    monkeypatch.setattr(glyphs, "branch_path", lambda *a, **k: (painted.append("leg"), real(*a, **k))[1])
    view.viewport().grab()
    rows = sum(0 <= view.row_y(t.row) <= view.height() + 200 for t in view.plan.tracks)
    first = len(painted)
    assert first <= rows + 2, "one for each row that can be seen, one for all below"
    view.selected = "f39.0"
    painted.clear()
    view.viewport().grab()
    assert len(painted) == first + 1, "the one of the selected branch has a colour of its own"
