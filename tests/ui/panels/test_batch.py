"""The batch window: what it says, when it can start, and the grid."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from studio.bridge.batch_model import BatchModel
from studio.bridge.run_services import RunServices
from studio.debugger.batch import Batch, Row, RowResult
from studio.document.model import Workflow
from studio.ui.batch import BatchWindow
from studio.ui.theme import Theme
from tests.debugger.graphs import CODEC


def model() -> BatchModel:
    async def no_store() -> object:
        raise AssertionError

    return BatchModel(RunServices(Workflow, no_store, no_store, CODEC))  # type: ignore[arg-type]


def test_failures_come_first_and_cells_say_enough(qtbot: QtBot, theme: Theme, tmp_path: Path) -> None:
    made = model()
    window = BatchWindow(theme, made, tmp_path)
    qtbot.addWidget(window)
    window.show()
    assert not window.start.isEnabled()
    assert window.text.plain.startswith("A CSV file with a header")
    rows = [Row(1, "first"), Row(2, {"topic": "rain"}, "b"), Row(3, "third")]
    done = {
        1: RowResult(1, "first", "completed", "out\nof two lines", tokens=1200, cost=0.5, seconds=2.04),
        2: RowResult(2, {"topic": "rain"}, "failed", failure="Writer failed: no key.", name="b"),
    }
    made.path, made.rows = tmp_path / "rows.csv", rows
    made._batch = Batch(rows, made._run, made._told, done=done)
    made.changed.emit()
    text = [[window.results.index(r, c).data() for c in range(7)] for r in range(3)]
    assert text == [
        ["2  b", "failed", '{"topic": "rain"}', "Writer failed: no key.", "0", "", "0.0"],
        ["3", "not run", "third", "", "", "", ""],
        ["1", "completed", "first", "out of two lines", "1,200", "0.5000", "2.0"],
    ]
    assert window.results.index(2, 3).data(Qt.ItemDataRole.ToolTipRole) == "out\nof two lines"
    assert window.text.plain == "rows.csv: 3 rows · 1 completed · 1 failed · cost 0.5000"
    assert window.start.isEnabled()
    qtbot.keyClicks(window.max_cost, "much")
    assert not window.start.isEnabled()
    stopped: list[bool] = []
    made.stop = lambda: stopped.append(True)  # type: ignore[method-assign]
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert stopped == [True], "Escape closes it like any other way"
