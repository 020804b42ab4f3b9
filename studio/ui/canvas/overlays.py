"""Puts what floats over the canvas in its places and keeps it up to date."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPointF, QRectF, QTimer
from PySide6.QtGui import QWheelEvent

from studio.debugger.states import RunState
from studio.ui.canvas.area_items import FrameItem, NoteItem
from studio.ui.canvas.empty import EmptyHint
from studio.ui.canvas.item import DrawnItem
from studio.ui.canvas.routing import crosses
from studio.ui.canvas.run_marks import next_steps
from studio.ui.canvas.tools import MARGIN, FloatingBox, Minimap, RunSummary, ZoomBar

if TYPE_CHECKING:
    from studio.ui.canvas.view import CanvasView

MANY, LATER_MS = 300, 40
"""With more items than this the minimap follows so many milliseconds later."""


def _shown(item: DrawnItem | None) -> QRectF | None:
    """Where the minimap shows an item; None: it does not."""
    return None if item is None or isinstance(item, FrameItem | NoteItem) else item.rect


class Overlays(QObject):
    """Zoom bar, minimap, run summary and empty hint of one canvas."""

    def __init__(self, view: CanvasView) -> None:
        super().__init__(view)
        self._view = view
        self.zoom = ZoomBar(view.theme, view)
        self.map = Minimap(view.theme, view)
        self.summary = RunSummary(view.theme, view)
        self.empty = EmptyHint(view.theme, view)
        self._known = False
        self._chosen: tuple[str, ...] = ()
        self._moved: set[str] | None = None
        """Items that the minimap has to look at again; None: everything."""
        self._map_timer = self._later(self._show_map)
        self._seen_timer = self._later(self._show_seen)
        self.zoom.zoom_in_requested.connect(view.zoom_in)
        self.zoom.zoom_out_requested.connect(view.zoom_out)
        self.zoom.actual_requested.connect(view.zoom_actual)
        self.zoom.fit_requested.connect(view.fit_all)
        self.zoom.arrange_requested.connect(view.arrange)
        self.zoom.minimap_toggled.connect(self._on_zoom_minimap_toggled)
        for box in (self.zoom, self.map, self.summary):
            box.wheel_turned.connect(self._on_box_wheel_turned)
        self.zoom.map.setChecked(True)
        self.map.moved.connect(self._on_map_moved)
        self.empty.add_requested.connect(view.open_search_in_middle)
        self.empty.templates_requested.connect(view.templates_requested)
        view.zoom_changed.connect(self.zoom.show_zoom)
        view.seen_changed.connect(self._on_view_seen_changed)
        view.canvas_scene.touched.connect(self._on_scene_touched)
        view.canvas_scene.foreseen.connect(self._on_scene_foreseen)
        view.canvas_scene.refreshed.connect(self.refresh)
        self.refresh()

    def refresh(self, moved: bool = True) -> None:
        """Follows document, run and selection; ``moved``: places, sizes or what there is changed."""
        view, scene = self._view, self._view.canvas_scene
        if moved or not self._known:
            self._known = True
            self.empty.setVisible(view.workspace is not None and not scene.drawn)
            self.map.setVisible(self.minimap_shown and bool(scene.drawn))
        chosen = view.selection_items
        if not moved and self._chosen == chosen:
            pass  # a run changes cards, and the map shows only where they are
        elif len(scene.drawn) > MANY:
            self._map_timer.start()
        else:
            self._show_map()
        self._chosen = chosen
        queued = following = 0
        if view.workspace is not None and view.workspace.run.state == RunState.PAUSED:
            queued = len(view.workspace.run.queued)
            following = len(next_steps(scene.line_layer.lines, view.workspace.run))
        self.summary.show_counts(queued, following)
        self.place()

    def place(self) -> None:
        """Puts everything where it belongs for the size of the view."""
        view = self._view
        width, height, edge = view.width(), view.height(), FloatingBox.SHADOW
        self.zoom.adjustSize()
        self.map.fit_into(width)
        bottom = height - MARGIN + edge
        # Beside the minimap the tools are in the middle; without it they take its corner.
        with_map = self.minimap_shown
        right = width - MARGIN + edge
        x = (width - self.zoom.width()) // 2 if with_map else right - self.zoom.width()
        # In a narrow view the map stands above the tools, so that it hides none of them.
        crowded = with_map and self.zoom.width() + self.map.width() > width - 2 * (MARGIN - edge)
        lift = self.zoom.height() if crowded else 0
        if with_map and not crowded and x + self.zoom.width() > right - self.map.width():
            x = max(MARGIN - edge, right - self.map.width() - self.zoom.width())
        self.zoom.move(x, bottom - self.zoom.height())
        self.map.move(right - self.map.width(), bottom - self.map.height() - lift)
        self.summary.move(MARGIN - edge, bottom - self.summary.height())
        self.empty.move((width - self.empty.width()) // 2, (height - self.empty.height()) // 2)

    def covered(self) -> QRectF:
        """What the minimap hides of the view."""
        view = self._view
        if not self.minimap_shown or view.workspace is None or not view.canvas_scene.drawn:
            return QRectF()
        self.place()
        return QRectF(self.map.geometry())

    @property
    def minimap_shown(self) -> bool:
        return self.zoom.map.isChecked()

    def show_minimap(self, shown: bool) -> None:
        self.zoom.map.setChecked(shown)

    def _on_zoom_minimap_toggled(self, shown: bool) -> None:
        self.map.setVisible(shown and bool(self._view.canvas_scene.drawn))
        self._show_map()
        self.place()

    def _show_map(self) -> None:
        """Takes what is drawn now into the minimap; of a large drawing a little later, after the canvas."""
        self._map_timer.stop()
        view, scene = self._view, self._view.canvas_scene
        if not self.map.isVisibleTo(view):
            return
        # On the raised grey of the dark theme borders would vanish.
        plain = "ctl" if scene.look.ink.dark else "border"
        items, moved, self._moved = scene.items_by_id, self._moved, set()
        if moved is None:
            self.map.show_world({i: rect for i in items if (rect := _shown(items.get(i))) is not None})
        else:
            self.map.follow({i: _shown(items.get(i)) for i in moved})
        self.map.show_chosen(view.selection_items, plain)
        self._show_seen()

    def _on_scene_touched(self, ids: set[str] | None) -> None:
        if ids is None:
            self._moved = None
        elif self._moved is not None:
            self._moved |= ids

    def _on_scene_foreseen(self) -> None:
        self._moved = None

    def _on_view_seen_changed(self) -> None:
        if not self.map.isVisibleTo(self._view):
            return
        if len(self._view.canvas_scene.drawn) > MANY:
            self._seen_timer.start()
        else:
            self._show_seen()

    def _show_seen(self) -> None:
        self.map.show_seen(self._view.seen_rect())
        self._show_faint()

    def _show_faint(self) -> None:
        """Whether the minimap lies over something now: a card or bar, in a small drawing also an edge or a note."""
        view, layer = self._view, self._view.canvas_scene.line_layer
        area = view.viewportTransform().inverted()[0].mapRect(QRectF(self.map.geometry()))
        over = layer.covered(area)
        if not over and len(view.canvas_scene.drawn) <= MANY:
            notes = (item for item in view.canvas_scene.drawn.values() if isinstance(item, NoteItem))
            box = area.getCoords()
            over = any(item.rect.intersects(area) for item in notes) or any(
                crosses(edge.points, *box)  # type: ignore[misc]
                for edge in layer.drawn.values()
            )
        self.map.set_faint(over)

    def _later(self, function: Callable[[], None]) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(LATER_MS)
        timer.timeout.connect(function)
        return timer

    def _on_box_wheel_turned(self, event: QWheelEvent) -> None:
        self._view.turn_wheel(event, QPointF(self._view.viewport().mapFromGlobal(event.globalPosition())))

    def _on_map_moved(self, x: float, y: float) -> None:
        self._view.look_at(QPointF(x, y))
