"""The batch window: a table of inputs is chosen, run and looked at. It does not block the window of the workflow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from studio.bridge.batch_model import BatchModel
from studio.ui.batch.grid import ResultsModel
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import Label, Prose
from studio.ui.widgets.sources import counted
from studio.ui.widgets.text_fields import LineField


class BatchWindow(QDialog):
    """Closing it stops the batch; what is done is kept, and goes on the next time the same table is opened."""

    def __init__(self, theme: Theme, model: BatchModel, folder: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._model, self._folder = theme, model, folder
        self.setObjectName("batch_window")
        self.setWindowTitle(tr("Run over a table"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(860, 520)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 12, 14, 12)
        column.setSpacing(8)
        column.addLayout(self._make_head())
        self.text = Prose(theme, "", "small", "text2", 15)
        column.addWidget(self.text)
        self.grid = self._make_grid()
        column.addWidget(self.grid, 1)
        model.changed.connect(self.refresh)
        self.refresh()

    def _make_head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(6)
        self.choose = Button(self._theme, tr("Choose a table…"), "folder-open")
        self.choose.clicked.connect(self._on_choose_clicked)
        self.parallel = self._number("4", tr("Runs at the same time"), 44)
        self.max_cost = self._number(tr("no cap"), tr("Cap on cost"), 70)
        self.start = Button(self._theme, tr("Run"), "own:play", "primary")
        self.start.clicked.connect(lambda: self._begin(again=False))
        self.again = Button(self._theme, tr("Run all again"), "own:restart")
        self.again.setToolTip(tr("Also the rows that are completed; their results so far are replaced"))
        self.again.clicked.connect(lambda: self._begin(again=True))
        self.stop = Button(self._theme, tr("Stop"), "own:stop")
        self.stop.clicked.connect(self._model.stop)
        row.addWidget(self.choose)
        row.addStretch(1)
        for text, field in ((tr("At once"), self.parallel), (tr("Cost below"), self.max_cost)):
            row.addWidget(Label(self._theme, text, "small", "muted"))
            row.addWidget(field)
        row.addWidget(self.stop)
        row.addWidget(self.again)
        row.addWidget(self.start)
        return row

    def _number(self, placeholder: str, name: str, width: int) -> LineField:
        field = LineField(self._theme, placeholder)
        field.setAccessibleName(name)
        field.setFixedWidth(width)
        field.edited.connect(self._on_numbers_edited)
        return field

    def _make_grid(self) -> QTableView:
        grid = QTableView()
        grid.setAccessibleName(tr("Results"))
        self.results = ResultsModel(self._theme, grid)
        grid.setModel(self.results)
        grid.verticalHeader().hide()
        grid.setShowGrid(False)
        grid.setWordWrap(False)
        grid.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        grid.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        head = grid.horizontalHeader()
        for at, width in enumerate((70, 92, 220, 0, 70, 64, 84)):
            head.resizeSection(at, width or 200)
        head.setSectionResizeMode(3, QHeaderView.ResizeMode.Stretch)
        head.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        return grid

    def refresh(self) -> None:
        """Shows the batch as it is."""
        model = self._model
        self.results.show_results(model.results)
        self.text.set_text(self._sentence())
        self.stop.setVisible(model.running)
        missing = any(r.state != "completed" for r in model.results)
        fits = not model.running and self._numbers() is not None
        self.start.setEnabled(fits and missing)
        self.again.setVisible(not model.running and any(r.state == "completed" for r in model.results))
        self.again.setEnabled(fits)
        self.choose.setEnabled(not model.running)

    def _sentence(self) -> str:
        model = self._model
        if model.problem:
            return tr(model.problem)
        if model.path is None:
            return tr("A CSV file with a header, or JSON lines. The input is the column “input”, else the whole row.")
        results = model.results
        states = [r.state for r in results]
        parts = [
            f"{model.path.name}: " + counted(len(results), tr("1 row"), tr("{count} rows")),
            tr("{count} completed").format(count=states.count("completed")),
            tr("{count} failed").format(count=states.count("failed")),
        ]
        if model.cost:
            parts.append(tr("cost {cost}").format(cost=f"{model.cost:.4f}"))
        if not model.keeps_results:
            parts.append(tr("results in this window only"))
        if model.running:
            parts.append(tr("running"))
        elif model.capped and "not run" in states:
            parts.append(tr("stopped by the cap on cost"))
        return " · ".join(parts)

    def _numbers(self) -> tuple[int, float | None] | None:
        """What is typed: how many at once, and the cap; None if it is no number."""
        try:
            parallel = int(self.parallel.text() or 4)
            cost = float(self.max_cost.text().replace(",", ".")) if self.max_cost.text() else None
        except ValueError:
            return None
        return (parallel, cost) if 0 < parallel <= 64 and (cost is None or cost > 0) else None

    def done(self, result: int) -> None:
        """However it is closed, with Escape too."""
        self._model.stop()
        self._model.changed.disconnect(self.refresh)
        super().done(result)

    def _on_numbers_edited(self, _text: Any) -> None:
        self.refresh()

    def _begin(self, *, again: bool) -> None:
        numbers = self._numbers()
        if numbers is not None:
            self._model.start(parallel=numbers[0], max_cost=numbers[1], again=again)

    def _on_choose_clicked(self) -> None:
        dialog = QFileDialog(self, tr("Choose a table"), str(self._folder))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setObjectName("file_dialog")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([tr("Tables (*.csv *.jsonl *.ndjson)"), tr("All files (*)")])
        dialog.fileSelected.connect(lambda file: self._model.open(Path(file)))
        dialog.open()
