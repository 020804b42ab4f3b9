"""The page that compares: totals, tabs, folding, the filter, stepping; word by word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot
from studio.bridge.document_model import DocumentModel
from studio.bridge.workspace import Workspace
from studio.debugger.run_comparison import Cell, Detail, Row, RunComparison, Side
from studio.document.model import AgentNode, Workflow
from studio.ui.compare import ComparePage
from studio.ui.compare.lines import shown_lines
from studio.ui.compare.totals import figures
from studio.ui.theme import Theme
from tests.ui.panels.fake_run import FakeRun, paused

LONG = "Europe can cover four-hour peaks with lithium. " * 200


def _comparison() -> RunComparison:
    cell = Cell("3", "writer", "Writer", "", 2600, 0.012, 11.4)
    lonely = tuple(Row("only_a", Cell(str(n), "plan", "Plan"), None, (Detail("reply", "x", ""),)) for n in (4, 5))
    path = (
        Row("shared", Cell("1–2", "", "Same up to “plan approved”"), Cell("1–2", "", "identical"), (),
            (Row("same", cell, cell),)),
        Row("different", cell, cell, (Detail("prompt", "in use today.", "in use, with cost."),
                                      Detail("reply", LONG, LONG + "And more."))),
        Row("route", Cell("", "", "Review", "took default → Plan"), Cell("", "", "Review", "took score ≥ 8 → Out")),
        Row("only_a", Cell("4–5", "", "Plan ×2"), None, (), lonely),
        Row("same", Cell("6", "out", "Out"), Cell("4", "out", "Out", "same node, 2 supersteps earlier")),
    )  # fmt: skip
    state = (Row("different", Cell("", "", "score"), Cell("", "", "score"), (Detail("value", "6", "8"),)),)
    return RunComparison(
        Side("main", "run 13", "m", 11, 30_300, 0.088, 57.5), Side("Fork A", "new", "a", 6, 12_900, 0.036, 29.0),
        path, (), state, (),
    )  # fmt: skip


@pytest.fixture
def page(qtbot: QtBot, theme: Theme) -> Iterator[ComparePage]:
    run = FakeRun()
    paused(run)
    document = DocumentModel(Workflow(nodes=(AgentNode(id="writer", name="Writer"),)), None)
    workspace = Workspace(document, run)
    made = ComparePage(theme, workspace, "m", "a")
    made.resize(1200, 500)
    made.show()
    run.compared.emit("m", "a", _comparison())
    yield made
    made.close()
    made.deleteLater()
    workspace.deleteLater()


def _kinds(page: ComparePage) -> list[Any]:
    return [line.detail.label if line.detail else line.row.kind for line in page.view.lines]


def test_rows_differences_and_folding(page: ComparePage, qtbot: QtBot) -> None:
    assert _kinds(page) == ["shared", "different", "prompt", "reply", "route", "only_a", "same"]
    assert page.count.text() == "3 of 5 rows differ"
    page.view.toggle(0)
    assert _kinds(page)[:3] == ["shared", "same", "different"]
    page.view.toggle(0)
    page.only.setChecked(True)
    assert _kinds(page) == ["shared", "different", "prompt", "reply", "route", "only_a"]
    page.view.setFocus()
    places = []
    for _ in range(4):
        qtbot.keyClick(page.view, Qt.Key.Key_F8)
        places.append(page.view.lines[page.view.current].row.kind)
    assert places == ["different", "route", "only_a", "only_a"], "the last one stays"
    qtbot.keyClick(page.view, Qt.Key.Key_F8, Qt.KeyboardModifier.ShiftModifier)
    assert page.view.lines[page.view.current].row.kind == "route"


def test_a_click_folds_and_picks_the_node(page: ComparePage, qtbot: QtBot) -> None:
    chosen: list[str] = []
    page.node_chosen.connect(chosen.append)
    row = page.theme.length(27)
    qtbot.mouseClick(page.view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(100, row + row + row // 2))
    assert chosen == ["writer"]
    assert "prompt" not in _kinds(page)
    assert "Writer" in page.view.accessibleDescription()


def test_tabs_totals_and_long_texts(page: ComparePage, qtbot: QtBot) -> None:
    assert [figure[1:4] for figure in figures(_comparison())] == [
        ("11", "6", "−5"), ("30.3 k", "12.9 k", "−57 %"), ("$0.088", "$0.036", "−59 %"), ("57.5 s", "29.0 s", "−50 %"),
    ]  # fmt: skip
    page.tabs.edited.emit("state")
    page.tabs.show_value("state")
    page.tabs.edited.emit("state")
    assert _kinds(page) == ["different", "value"]
    page.tabs.show_value("messages")
    page.tabs.edited.emit("messages")
    assert page.view.isHidden()
    assert page.empty.label.text() == "There is nothing of this kind."
    page.tabs.show_value("path")
    page.tabs.edited.emit("path")
    read: list[tuple[str, str, str]] = []
    page.view.read_requested.connect(lambda *texts: read.append(texts))
    page.view.select(3)
    assert page.view.lines[3].detail is not None
    page.view._read(3)
    assert read[0][1] == LONG, "the whole text, not what is shown"
    qtbot.waitUntil(lambda: not page.view._timer.isActive())


def test_a_side_that_is_gone_is_said(page: ComparePage) -> None:
    page.comparison = None
    assert page.workspace is not None
    page.workspace.run.compared.emit("m", "a", "One of the two is no longer there.")
    assert page.empty.label.text() == "One of the two is no longer there."


def test_only_what_is_open_makes_lines() -> None:
    rows = _comparison().path
    assert len(shown_lines(rows, only_different=False, opened={(3,)})) == 9
    assert len(shown_lines(rows, only_different=False, opened={(1,)})) == 5
