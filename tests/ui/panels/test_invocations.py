"""The invocation chart: rows and bars, pinned parents, zoom, errors, and its size and speed of a long run."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot
from studio.bridge.run_views import InvocationView, NodeStatus, RunUpdate
from studio.bridge.workspace import Workspace
from studio.ui.invocations import InvocationsPanel
from studio.ui.invocations.chart import NAMES
from studio.ui.invocations.plan import Plan, ticks
from tests.ui.panels.fake_run import FakeRun

Show = Callable[[type[InvocationsPanel]], InvocationsPanel]


def views(count: int, *, failed: tuple[int, ...] = (), nodes: int = 4, inner: int = 0) -> list[InvocationView]:
    """Invocations of a second each, a superstep each; ``inner``: so many inside each of them."""
    found = []
    for at in range(count):
        status: NodeStatus = "failed" if at in failed else "done"
        node = f"n{at % nodes}"
        found.append(
            InvocationView(f"i{at}", node, at + 1, float(at), at + 0.9, status, error="No" if at in failed else "")
        )
        found += [
            InvocationView(f"i{at}.{n}", f"x{n}", at + 1, at + n * 0.1, at + n * 0.1 + 0.05, "done", inside=(node,))
            for n in range(inner)
        ]
    return found


def planned(*given: InvocationView) -> Plan:
    plan = Plan(lambda path: " › ".join(path).upper())
    plan.take(given, set())
    return plan


def test_rows_stand_below_their_parents_and_grow() -> None:
    plan, known = Plan(lambda path: " › ".join(path).upper()), set[str]()
    plan.take(views(2, nodes=2, inner=2), known)
    assert [(row.path, row.name, row.depth, len(row.bars)) for row in plan.rows] == [
        (("n0",), "N0", 0, 1), (("n0", "x0"), "N0 › X0", 1, 1), (("n0", "x1"), "N0 › X1", 1, 1),
        (("n1",), "N1", 0, 1), (("n1", "x0"), "N1 › X0", 1, 1), (("n1", "x1"), "N1 › X1", 1, 1),
    ]  # fmt: skip
    plan.take([InvocationView("late", "n0", 3, 5.0, 6.0, "done")], known)
    plan.take([InvocationView("late", "n0", 3, 5.0, 6.0, "done")], known)
    assert [v.invocation for v in plan.rows[0].bars] == ["i0", "late"]
    assert plan.end == 6.0
    assert plan.steps == [(0.0, 1), (1.0, 2), (5.0, 3)]


def test_only_bars_of_the_stretch_are_looked_at_and_hit() -> None:
    plan = planned(*views(1000, nodes=1))
    row = plan.rows[0]
    assert [v.invocation for v in plan.visible(row, 500.2, 502.1)] == ["i500", "i501", "i502"]
    hit = plan.at(row, 500.5, 0.01)
    assert hit is not None
    assert hit.invocation == "i500"
    assert plan.at(row, 500.95, 0.01) is None
    near = plan.at(row, 500.95, 0.1)
    assert near is not None
    assert near.invocation in ("i500", "i501")


def test_errors_in_order_and_around() -> None:
    plan = planned(*views(50, failed=(7, 30)))
    first, second = plan.failed
    assert plan.next_error(None, 1) is first
    assert plan.next_error(first, 1) is second
    assert plan.next_error(second, 1) is first
    assert plan.next_error(first, -1) is second
    middle = plan.rows[0].bars[4]
    assert middle.started == 16
    assert plan.next_error(middle, 1) is second
    assert plan.next_error(middle, -1) is first
    assert planned(*views(3)).next_error(None, 1) is None


def test_parents_of_the_top_row_are_pinned() -> None:
    plan = planned(*views(2, nodes=2, inner=3))
    assert plan.pinned(0) == []
    assert [row.path for row in plan.pinned(2)] == [("n0",)]
    assert [row.path for row in plan.pinned(6)] == [("n1",)]


def test_ticks_are_round_and_few() -> None:
    assert ticks(0, 10, 5) == [0, 2, 4, 6, 8, 10]
    assert ticks(0.31, 0.52, 4) == [0.4, 0.5]
    assert ticks(5, 5, 4) == []
    assert len(ticks(0, 86400, 10)) <= 11


def give(run: FakeRun, found: list[InvocationView], *, everything: bool = True) -> None:
    run.invocations.update({v.invocation: v for v in found})
    run.updated.emit(RunUpdate(everything=everything, invocations=frozenset(v.invocation for v in found)))


def test_zoom_keeps_the_moment_and_pinned_rows_stay(show: Show, run: FakeRun, qtbot: QtBot) -> None:
    panel = show(InvocationsPanel)
    assert panel._stack.currentIndex() == 0
    give(run, views(40, nodes=4, inner=8))
    chart = panel.chart
    assert chart.scale == 0
    assert round(chart.x_of(chart.plan.end)) == round(NAMES + chart._room)
    before = chart.moment_of(500)
    chart.zoom(8, 500)
    assert abs(chart.moment_of(500) - before) < 1e-6
    assert chart.horizontalScrollBar().maximum() > 0
    chart.horizontalScrollBar().setValue(0)
    assert chart.left == 0
    chart.verticalScrollBar().setValue(chart.row_height * 3)
    assert [row.path for row in chart.pinned()] == [("n0",)]
    qtbot.keyClick(chart, Qt.Key.Key_0)
    assert chart.scale == 0
    assert chart.left == 0
    chart.zoom(0.1)
    assert chart.scale == 0


def test_pointer_and_keys_choose_and_reveal_the_node(
    show: Show, run: FakeRun, workspace: Workspace, qtbot: QtBot
) -> None:
    panel = show(InvocationsPanel)
    found = [
        InvocationView("a", "planner", 1, 0.0, 1.0, "done"),
        InvocationView("b", "market", 2, 1.0, 2.0, "done"),
        InvocationView("c", "planner", 3, 2.0, 3.0, "failed", error="No credit"),
    ]
    give(run, found)
    chart = panel.chart
    place = QPoint(round(chart.x_of(1.5)), 24 + chart.row_height + 8)
    qtbot.mouseClick(chart.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert chart.chosen is found[1]
    assert workspace.selection.items == ("market",)
    qtbot.keyClick(chart, Qt.Key.Key_Up)
    qtbot.keyClick(chart, Qt.Key.Key_Right)
    assert chart.chosen is found[2]
    assert panel.chosen.text.startswith("Planner, superstep 3, failed, 1.0 s · No credit")
    qtbot.keyClick(chart, Qt.Key.Key_Left)
    assert chart.chosen is found[0]
    qtbot.keyClick(chart, Qt.Key.Key_F8)
    assert chart.chosen is found[2]
    assert panel.error_button.isEnabled()
    give(run, [], everything=True)


def test_a_running_bar_grows_and_new_ones_come(show: Show, run: FakeRun, qtbot: QtBot) -> None:
    panel = show(InvocationsPanel)
    going = InvocationView("a", "planner", 1, 0.0)
    give(run, [going])
    assert not panel.error_button.isEnabled()
    going.ended, going.status = 4.0, "failed"
    give(run, [going], everything=False)
    qtbot.waitUntil(lambda: panel.chart.plan.end == 4.0)
    assert panel.chart.plan.failed == [going]


class Counting:
    """Counts the bars that are painted."""

    def __init__(self) -> None:
        self.bars = 0

    def fillRect(self, *_arguments: object) -> None:
        self.bars += 1


def test_of_a_long_run_no_more_bars_are_painted_than_there_are_pixels(show: Show, run: FakeRun, qtbot: QtBot) -> None:
    panel = show(InvocationsPanel)
    give(run, views(5000, nodes=1))
    chart, counted = panel.chart, Counting()
    assert len(chart.plan.rows[0].bars) < 1000, "taken in pieces"
    qtbot.waitUntil(lambda: len(chart.plan.rows[0].bars) == 5000, timeout=30_000)
    chart._paint_bars(counted, chart.plan.rows[0], 0)  # type: ignore[arg-type]
    assert 100 < counted.bars <= chart.viewport().width()
