"""The view of a scene without gestures: zoom, levels, background, the far picture, moving to a place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from PySide6.QtCore import QEasingCurve, QPointF, QRect, QRectF, Qt, QVariantAnimation, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPixmapCache, QRegion, QResizeEvent, QTransform
from PySide6.QtWidgets import QFrame, QGraphicsView, QWidget

from studio.ui.canvas.dots import draw_dots
from studio.ui.canvas.far import REACH, FarPicture
from studio.ui.canvas.levels import LEAST, MOST, TITLES_UP_TO, Level, level_at
from studio.ui.canvas.scene import CanvasScene
from studio.ui.theme import Theme

MOTION_MS = 220
CACHE_KB = 96 * 1024
ROOM = 4000.0
"""How far one can scroll beyond what is drawn."""
_MODE = QGraphicsView.ViewportUpdateMode
MANY = 50
_PERCENT = (1, 2, 3, 5, 10, 15, 20, 25, 33, 50, 67, 80, 90, 100, 110, 125, 150, 175, 200, 250, 300, 400)
"""The round zooms."""


class Camera(QGraphicsView):
    """Zoom is between 1 and 400 %; wheel scrolls, Ctrl+wheel zooms at the pointer (see the canvas)."""

    zoom_changed = Signal(float)
    seen_changed = Signal()
    """The visible part of the scene changed."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        self.canvas_scene = CanvasScene(theme)
        super().__init__(self.canvas_scene, parent)
        self.canvas_scene.setParent(self)
        self.theme = theme
        self.far = FarPicture(self.canvas_scene)
        self.motion = True
        """Whether moves to a place are animated."""
        self._move = QVariantAnimation(self)
        self._move.setDuration(MOTION_MS)
        self._move.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._move.setStartValue(0.0)
        self._move.setEndValue(1.0)
        self._move.valueChanged.connect(self._on_move_value_changed)
        self._from = self._to = (1.0, QPointF())
        self._kept: QPointF | None = None
        QPixmapCache.setCacheLimit(max(QPixmapCache.cacheLimit(), CACHE_KB))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        self.setViewportUpdateMode(_MODE.MinimalViewportUpdate)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTransformationAnchor(QGraphicsView.ViewportAnchor.NoAnchor)
        self.setResizeAnchor(QGraphicsView.ViewportAnchor.NoAnchor)
        self.setDragMode(QGraphicsView.DragMode.NoDrag)
        self.setSceneRect(-ROOM, -ROOM, 2 * ROOM, 2 * ROOM)
        self.setAcceptDrops(False)  # the window takes what is dropped, and knows what it is for
        self.horizontalScrollBar().valueChanged.connect(self._on_scroll_bar_value_changed)
        self.verticalScrollBar().valueChanged.connect(self._on_scroll_bar_value_changed)
        self._touched: set[str] | None = None
        self._changed: QRegion | None = None
        """Where the far picture looks another way than before; None: everywhere."""
        self._whole = False
        """Other things are selected: that is everywhere."""
        self._follow_scene()
        theme.changed.connect(self._on_theme_changed)

    def _follow_scene(self) -> None:
        scene = self.canvas_scene
        scene.bulk_changed.connect(self._on_scene_bulk_changed)
        scene.refreshed.connect(self._on_scene_refreshed)
        scene.touched.connect(self._on_scene_touched)
        scene.selected.connect(self._on_scene_selected)
        scene.foresee = self.far.foresee
        scene.absorb = self.far.absorb
        scene.foreseen.connect(self.viewport().update)

    # ---- zoom

    @property
    def zoom(self) -> float:
        """1.0 is 100 %."""
        return self.transform().m11()

    @property
    def level(self) -> Level:
        """What is drawn at this zoom."""
        return self.canvas_scene.look.level

    def set_zoom(self, zoom: float, anchor: QPointF | None = None) -> None:
        """Zooms so that the point under ``anchor`` (viewport coordinates; None: the middle) stays where it is."""
        zoom = min(MOST, max(LEAST, zoom))
        at = anchor if anchor is not None else QPointF(self.viewport().rect().center())
        kept = self._kept_at(at)
        self.setTransform(QTransform.fromScale(zoom, zoom))
        self._put(kept, at)
        self._zoomed()

    def _kept_at(self, at: QPointF) -> QPointF:
        """The point of the scene that stays at a point of the viewport; the same one as long as it is zoomed there, so
        that what scrolling by whole pixels rounds off does not add up."""
        kept = self._kept
        if kept is None or (self.viewportTransform().map(kept) - at).manhattanLength() > 2.0:
            kept = self._kept = self.to_scene(at)
        return kept

    def to_scene(self, at: QPointF) -> QPointF:
        """A point of the viewport in scene coordinates, without rounding to pixels."""
        return self.viewportTransform().inverted()[0].map(at)

    def _put(self, point: QPointF, at: QPointF) -> None:
        """Scrolls so that ``point`` of the scene is at ``at`` of the viewport."""
        wide = self.viewport().rect()
        seen = QRectF(point - at / self.zoom, wide.size().toSizeF() / self.zoom)
        if not self.sceneRect().contains(seen):  # the canvas has no border, and seen from afar no middle it jumps to
            across, down = seen.width(), seen.height()
            self.setSceneRect(self.sceneRect().united(seen.adjusted(-across, -down, across, down)))
        shift = self.viewportTransform().map(point) - at
        horizontal, vertical = self.horizontalScrollBar(), self.verticalScrollBar()
        horizontal.setValue(horizontal.value() + round(shift.x()))
        vertical.setValue(vertical.value() + round(shift.y()))

    def _zoomed(self) -> None:
        scene = self.canvas_scene
        before = scene.look.level
        level = level_at(self.zoom, before)
        self._see()
        titles = level == Level.FLAT and self._cards_seen() <= TITLES_UP_TO
        scene.set_zoom(self.zoom, level, titles)
        if Level.FAR in (before, level):
            self._choose_mode()
        self.viewport().update()
        self.zoom_changed.emit(self.zoom)

    def _cards_seen(self) -> int:
        """How many cards the view shows, counted up to the limit for titles."""
        seen, found = self.canvas_scene.seen, 0
        for item in self.canvas_scene.items_by_id.values():
            found += seen.intersects(item.rect)
            if found > TITLES_UP_TO:
                break
        return found

    def zoom_in(self) -> None:
        self.set_zoom(_step(self.zoom, 1))

    def zoom_out(self) -> None:
        self.set_zoom(_step(self.zoom, -1))

    def zoom_actual(self) -> None:
        """To 100 %."""
        self.set_zoom(1.0)

    # ---- moving

    def fit_all(self) -> None:
        """Shows everything, at most at 100 %."""
        self.fit_rect(self.canvas_scene.bounds())

    def fit_selection(self) -> None:
        """Shows what is selected; everything if nothing is."""
        workspace = self.canvas_scene.workspace
        ids = workspace.selection.items if workspace else ()
        self.fit_rect(self.canvas_scene.bounds(ids or None))

    def fit_rect(self, rect: QRectF, most: float = 1.0) -> None:
        """Moves so that a rectangle of the scene fills the view."""
        if rect.isNull():
            self.go(1.0, QPointF(0, 0))
            return
        self.go(*self.fitting(rect, most))

    def fitting(self, rect: QRectF, most: float = 1.0) -> tuple[float, QPointF]:
        """Zoom and middle with which a rectangle of the scene fills the view and nothing hides what is in it."""
        area, over = QRectF(self.viewport().rect()), self.covered()
        zoom, center = self._filling(rect, area.adjusted(32, 32, -32, -56), most)
        if over.isNull() or not self._hides(over, zoom, center):
            return zoom, center
        beside = area.adjusted(32, 32, over.left() - area.right() - 12, -56)
        above = area.adjusted(32, 32, -32, over.top() - area.bottom() - 12)
        return max((self._filling(rect, space, most) for space in (beside, above)), key=lambda found: found[0])

    def covered(self) -> QRectF:
        """What floats over a corner of the view, in viewport coordinates; null: nothing."""
        return QRectF()

    def _filling(self, rect: QRectF, space: QRectF, most: float) -> tuple[float, QPointF]:
        zoom = min(space.width() / max(rect.width(), 1), space.height() / max(rect.height(), 1), most)
        zoom = min(MOST, max(LEAST, zoom))
        return zoom, rect.center() + (QRectF(self.viewport().rect()).center() - space.center()) / zoom

    def _hides(self, over: QRectF, zoom: float, center: QPointF) -> bool:
        """Whether a rectangle of the viewport would be over an item."""
        corner = center + (over.topLeft() - QRectF(self.viewport().rect()).center()) / zoom
        hidden = QRectF(corner, over.size() / zoom)
        return any(hidden.intersects(item.rect) for item in self.canvas_scene.items_by_id.values())

    def show_rect(self, rect: QRectF) -> None:
        """Scrolls a rectangle into view, if it is not seen already."""
        if not self.seen_rect().adjusted(16, 16, -16, -16).contains(rect):
            self.go(max(self.zoom, 0.6), rect.center())

    def go(self, zoom: float, center: QPointF) -> None:
        """Moves to a zoom and a middle, in 220 ms unless motion is off or the view is hidden."""
        self._to = (zoom, center)
        if not self.motion or not self.isVisible():
            self._move.stop()
            self._look_at(zoom, center)
            return
        self._from = (self.zoom, self.seen_rect().center())
        self._move.start()

    def finish_motion(self) -> None:
        """Jumps to the end of a move."""
        if self._move.state() == QVariantAnimation.State.Running:
            self._move.stop()
            self._look_at(*self._to)

    def _on_move_value_changed(self, value: float) -> None:
        (zoom_a, a), (zoom_b, b) = self._from, self._to
        self._look_at(zoom_a * (zoom_b / zoom_a) ** value, a + (b - a) * value)

    def _look_at(self, zoom: float, center: QPointF) -> None:
        if abs(zoom - self.zoom) > 1e-6:
            self.setTransform(QTransform.fromScale(zoom, zoom))
            self._put(center, QPointF(self.viewport().rect().center()))
            self._zoomed()
        else:
            self._put(center, QPointF(self.viewport().rect().center()))

    def seen_rect(self) -> QRectF:
        """The visible part of the scene."""
        return self.viewportTransform().inverted()[0].mapRect(QRectF(self.viewport().rect()))

    def _see(self) -> None:
        self.canvas_scene.seen = self.seen_rect()
        self.seen_changed.emit()

    # ---- following the scene

    def _on_scroll_bar_value_changed(self) -> None:
        self._see()
        if self.level == Level.FAR:
            self.viewport().update()

    def _on_scene_bulk_changed(self, count: int) -> None:
        self._choose_mode(count)

    def _choose_mode(self, count: int = 0) -> None:
        if self.level == Level.FAR:
            mode = _MODE.NoViewportUpdate  # items are not painted there: what they do is no reason to paint
        else:
            mode = _MODE.BoundingRectViewportUpdate if count > MANY else _MODE.MinimalViewportUpdate
        self.setViewportUpdateMode(mode)

    def _on_scene_touched(self, ids: set[str] | None) -> None:
        self._touched = ids
        if self.level == Level.FAR and ids is not None and not self._whole:
            self._changed = self.far.changed(ids, self.viewportTransform())
        self.far.spoil(ids)

    def _on_scene_selected(self, ids: frozenset[str]) -> None:
        self._whole |= self.far.select(ids)

    def _update_far(self) -> None:
        """Has the far picture painted again, only where it changed if that is known."""
        region, self._changed, self._whole = self._changed, None, False
        if region is None:
            self.viewport().update()
        elif not region.isEmpty():
            self.viewport().update(region)

    def _on_scene_refreshed(self, moved: bool) -> None:
        if moved:
            bounds = self.canvas_scene.bounds(self._touched).adjusted(-ROOM, -ROOM, ROOM, ROOM)
            if not self.sceneRect().contains(bounds):
                self.setSceneRect(self.sceneRect().united(bounds))
        if self.level == Level.FAR:
            self._update_far()

    def _on_theme_changed(self) -> None:
        self.canvas_scene.refresh_look()
        self.far.spoil()
        self.viewport().update()

    # ---- painting

    def drawBackground(self, painter: QPainter, area: QRectF | QRect) -> None:
        rect = QRectF(area)
        tools = self.canvas_scene.look.ink
        painter.fillRect(rect, tools.brush("canvas"))
        level = self.level
        if level < Level.MIDDLE:
            return
        spacing = (16.0 if level == Level.NEAR else 32.0) * self.zoom
        shown = self.viewportTransform().mapRect(rect)
        origin = self.viewportTransform().map(QPointF(0, 0))
        draw_dots(painter, shown, origin, spacing, self.theme.tokens.dot, self.devicePixelRatioF())

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.level != Level.FAR:
            super().paintEvent(event)
            return
        painter = QPainter(self.viewport())
        painter.setClipRegion(event.region())
        painter.fillRect(event.rect(), self.canvas_scene.look.ink.brush("canvas"))
        painter.setWorldTransform(self.viewportTransform())
        self.far.paint(painter, self._parts(event.region()))
        self.paint_over_far(painter)
        painter.end()

    def _parts(self, region: QRegion) -> list[QRectF]:
        """Parts of a region of the viewport as rectangles of the scene; none: it is most of the viewport."""
        box, whole = region.boundingRect(), self.viewport().rect()
        if region.rectCount() == 1 and 2 * box.width() * box.height() > whole.width() * whole.height():
            return []
        back = self.viewportTransform().inverted()[0]
        return [
            back.mapRect(QRectF(rect.adjusted(-REACH, -REACH, REACH, REACH)))
            for rect in cast("Iterable[QRect]", region)
        ]

    def paint_over_far(self, painter: QPainter) -> None:
        """What a gesture shows on the far picture."""

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._see()

    def ids_in(self, area: QRectF) -> Iterable[str]:
        """Items and lines that a rectangle of the scene touches."""
        if self.level == Level.FAR:
            return self.far.inside(area)
        scene = self.canvas_scene
        return [i for i, item in scene.items_by_id.items() if item.rect.intersects(area)]


def _step(zoom: float, direction: int) -> float:
    """The next round zoom in a direction."""
    steps = tuple(percent / 100 for percent in _PERCENT)
    if direction > 0:
        return next((s for s in steps if s > zoom * 1.01), steps[-1])
    return next((s for s in reversed(steps) if s < zoom * 0.99), steps[0])
