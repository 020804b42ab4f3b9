"""The palette: drag, double-click, search."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QHBoxLayout, QWidget
from pytestqt.qtbot import QtBot
from studio.bridge.workspace import Workspace
from studio.document.model import Workflow
from studio.ui.canvas import CanvasView
from studio.ui.palette import PalettePanel
from studio.ui.theme import Theme
from tests.ui.canvas.drawings import small

MakeSpace = Callable[[Workflow], Workspace]
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def window(qtbot: QtBot, theme: Theme, make_workspace: MakeSpace) -> Iterator[tuple[PalettePanel, CanvasView]]:
    """Palette and canvas side by side in one window."""
    both = QWidget()
    qtbot.addWidget(both)
    row = QHBoxLayout(both)
    palette, canvas = PalettePanel(theme), CanvasView(theme)
    palette.setFixedWidth(216)
    row.addWidget(palette)
    row.addWidget(canvas, 1)
    both.resize(1100, 700)
    both.show()
    canvas.motion = False
    workspace = make_workspace(small())
    canvas.set_workspace(workspace)
    palette.set_workspace(workspace)
    canvas.set_zoom(1.0)
    yield palette, canvas
    both.hide()


def _row(palette: PalettePanel, kind: str) -> QPoint:
    row = next(i for i in range(palette.list.count()) if palette.kind_at(i) == kind)
    rect: QRect = palette.list.visualItemRect(palette.list.item(row))
    return rect.center()


def _there(palette: PalettePanel, canvas: CanvasView, x: float, y: float) -> QPoint:
    """A point of the scene in coordinates of the palette's list."""
    on_screen = canvas.viewport().mapToGlobal(canvas.mapFromScene(QPointF(x, y)))
    return palette.list.viewport().mapFromGlobal(on_screen)


@pytest.mark.parametrize("kind", ["agent", "function", "human_input", "template", "join", "switch", "fan_out", "note"])
def test_dragging_to_the_canvas_adds_it_there(window: tuple[PalettePanel, CanvasView], kind: str) -> None:
    palette, canvas = window
    list_ = palette.list.viewport()
    QTest.mousePress(list_, LEFT, pos=_row(palette, kind))
    QTest.mouseMove(list_, _row(palette, kind) + QPoint(30, 0))
    target = _there(palette, canvas, 200, 240)
    QTest.mouseMove(list_, target)
    assert canvas.gesture is not None, "the canvas shows a preview"
    QTest.mouseRelease(list_, LEFT, pos=target)
    assert canvas.gesture is None
    added = canvas.selection_items[0]
    rect = canvas.canvas_scene.items_by_id[added].rect
    assert abs(rect.center().x() - 200) <= 4
    assert abs(rect.center().y() - 240) <= 80
    assert canvas.workspace is not None
    assert canvas.workspace.document.undo_stack.count() == 1


def test_what_is_dropped_at_the_border_stays_there(window: tuple[PalettePanel, CanvasView]) -> None:
    palette, canvas = window
    list_, seen = palette.list.viewport(), canvas.seen_rect()
    QTest.mousePress(list_, LEFT, pos=_row(palette, "agent"))
    target = _there(palette, canvas, seen.left() + 40, seen.top() + 30)
    QTest.mouseMove(list_, target)
    QTest.mouseRelease(list_, LEFT, pos=target)
    assert canvas.selection_items
    assert canvas.seen_rect() == seen


def test_escape_and_letting_go_elsewhere_leave_no_trace(window: tuple[PalettePanel, CanvasView]) -> None:
    palette, canvas = window
    list_ = palette.list.viewport()
    start, target = _row(palette, "agent"), _there(palette, canvas, 200, 240)
    QTest.mousePress(list_, LEFT, pos=start)
    QTest.mouseMove(list_, target)
    QTest.mouseMove(list_, target + QPoint(2, 2))
    QTest.keyClick(palette, Qt.Key.Key_Escape)
    assert canvas.gesture is None
    QTest.mouseRelease(list_, LEFT, pos=target)
    QTest.mousePress(list_, LEFT, pos=start)
    QTest.mouseMove(list_, target)
    QTest.mouseMove(list_, start + QPoint(0, 14))
    QTest.mouseRelease(list_, LEFT, pos=start + QPoint(0, 14))
    assert len(canvas.workflow.nodes) == 2
    assert canvas.gesture is None


def test_dropping_on_an_edge_puts_it_on_the_edge(window: tuple[PalettePanel, CanvasView]) -> None:
    palette, canvas = window
    canvas.connect_items("a", "b")
    list_ = palette.list.viewport()
    target = _there(palette, canvas, 260, 32)
    QTest.mousePress(list_, LEFT, pos=_row(palette, "agent"))
    QTest.mouseMove(list_, target)
    QTest.mouseMove(list_, target + QPoint(1, 0))
    QTest.mouseRelease(list_, LEFT, pos=target)
    new = canvas.selection_items[0]
    pairs = {(e.source, e.target) for e in canvas.workflow.edges}  # type: ignore[union-attr]
    assert pairs == {("a", new), (new, "b")}


def test_double_click_and_enter_ask_for_one(window: tuple[PalettePanel, CanvasView], qtbot: QtBot) -> None:
    palette, _ = window
    with qtbot.waitSignal(palette.add_requested) as asked:
        QTest.mouseClick(palette.list.viewport(), LEFT, pos=_row(palette, "function"))
        QTest.mouseDClick(palette.list.viewport(), LEFT, pos=_row(palette, "function"))
    assert asked.args == ["function"]
    QTest.keyClicks(palette.field, "human")
    with qtbot.waitSignal(palette.add_requested) as asked:
        QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert asked.args == ["human_input"]


def test_search_filters(window: tuple[PalettePanel, CanvasView]) -> None:
    palette, _ = window
    palette.field.setText("swi")
    kinds = [palette.kind_at(i) for i in range(palette.list.count())]
    assert [k for k in kinds if k] == ["switch"]


def test_where_there_is_room_the_palette_shows_every_row_and_takes_no_more(
    window: tuple[PalettePanel, CanvasView],
) -> None:
    palette, canvas = window
    assert canvas.height() > 600 > palette.height()
    assert palette.list.verticalScrollBar().maximum() == 0
    last = palette.list.visualItemRect(palette.list.item(palette.list.count() - 1))
    assert 0 < palette.list.viewport().height() - last.bottom() < 40
