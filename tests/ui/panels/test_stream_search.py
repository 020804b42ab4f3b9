"""Find in streams: all lanes, count, next and previous, while they grow; following the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from studio.bridge.workspace import Workspace
from studio.ui.run import RunPanel
from studio.ui.run.stream_search import StreamSearch
from tests.ui.panels.fake_run import FakeRun, paused

Show = Callable[..., Any]


def look_for(bar: StreamSearch, words: str, qtbot: QtBot) -> None:
    bar.field.setText(words)
    with qtbot.waitSignal(bar.query_changed):
        pass


def test_find_goes_through_all_lanes_and_round_again(
    show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot
) -> None:
    paused(run)
    panel: RunPanel = show(RunPanel)
    lanes = list(panel.lanes.lanes.values())
    lanes[0].view.setFocus()
    qtbot.keyClick(lanes[0].view, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert panel.search.isVisible()
    look_for(panel.search, "STORAGE", qtbot)
    assert [len(lane.view.hits.found) for lane in lanes] == [0, 1, 2]  # none in the prices
    assert panel.search.count.text == "1 of 3"
    assert lanes[1].view.hits.current == 0
    for expected in ("2 of 3", "3 of 3", "1 of 3"):
        qtbot.keyClick(panel.search.field, Qt.Key.Key_Return)
        assert panel.search.count.text == expected
    qtbot.keyClick(panel.search, Qt.Key.Key_F3, Qt.KeyboardModifier.ShiftModifier)
    assert panel.search.count.text == "3 of 3"
    hit = lanes[2].view.hits.found[1]
    block = lanes[2].view.text.blocks[hit.block]
    assert block.shown[hit.start : hit.end].casefold() == "storage"
    qtbot.mouseClick(panel.search.close_button, Qt.MouseButton.LeftButton)
    assert panel.search.isHidden()
    assert not lanes[2].view.hits.looking


def test_a_hit_in_a_folded_box_opens_it(show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot) -> None:
    paused(run)
    panel: RunPanel = show(RunPanel)
    panel.find_in_streams()
    look_for(panel.search, "9 hits", qtbot)
    assert panel.search.count.text == "1 of 1"
    box = next(iter(panel.lanes.lanes.values())).view.text.blocks[0]
    assert box.open
    look_for(panel.search, "web_search", qtbot)
    assert panel.search.count.text == "1 of 2"  # titles, in two lanes
    look_for(panel.search, "nowhere", qtbot)
    assert panel.search.count.text == "Not in these streams"
    assert not panel.search.next_button.isEnabled()


def test_hits_grow_with_the_streams(show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot) -> None:
    paused(run)
    run.invocations["i4"].status = "running"
    panel: RunPanel = show(RunPanel)
    panel.find_in_streams()
    look_for(panel.search, "sodium", qtbot)
    assert panel.search.count.text == "1 of 1"
    run.stream("i4", " sodium **sodi")
    assert panel.search.count.text == "1 of 2"
    run.stream("i4", "um**\n\nnext")
    assert panel.search.count.text == "1 of 3"
    view = panel.lanes.lanes["i4"].view
    words = [view.text.blocks[h.block].shown[h.start : h.end] for h in view.hits.found]
    assert words == ["Sodium", "sodium", "sodium"]


def test_a_hit_stops_following_and_the_button_goes_back(
    show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot
) -> None:
    paused(run)
    run.invocations["i4"].status = "running"
    run.stream("i4", "\n\n" + "more and more of it\n" * 60)
    panel: RunPanel = show(RunPanel)
    view = panel.lanes.lanes["i4"].view
    bar = view.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0 and bar.value() == bar.maximum())
    panel.find_in_streams()
    look_for(panel.search, "Lithium iron", qtbot)
    assert bar.value() == 0
    assert not view.following
    run.stream("i4", "\nand more")
    assert bar.value() == 0
    assert view._follow.isVisible()
    qtbot.mouseClick(view._follow, Qt.MouseButton.LeftButton)
    assert view.following
    assert bar.value() == bar.maximum()
    run.stream("i4", "\nand still more\nof it")
    assert bar.value() == bar.maximum()
