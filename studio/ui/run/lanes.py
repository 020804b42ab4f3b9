"""Lanes side by side: one per invocation of the superstep that is shown."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from studio.bridge.run_views import InvocationView
from studio.bridge.workspace import Workspace
from studio.document.lines import node_at, path_names
from studio.engine.events import RequestRaised
from studio.ui.paint import draw_badge
from studio.ui.run.lane_view import LaneView
from studio.ui.run.numbers import lane_meta
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.tiles import paint_tile

LEAST = 220
"""Least width of a lane; more lanes than fit scroll sideways."""
_HEADER_DELAY = 200
_AT_ONCE = 3
"""Lanes that are made in one turn of the loop."""


def hint(workspace: Workspace, view: InvocationView) -> str:
    """For a node that streams no text: what it sent or yielded, or that it waits."""
    if view.pieces or view.status in ("running", "queued"):
        return ""
    if any(r.node == view.node and r.superstep == view.superstep for r in workspace.run.requests):
        return tr("Waits for your answer.")
    sent = [m.text for m in workspace.run.messages if m.invocation == view.invocation and m.text]
    sent = sent or [o.text for o in workspace.run.outputs if (o.node, o.superstep) == (view.node, view.superstep)]
    if any(sent):
        return tr("Sent: {text}").format(text=sent[-1][:2000])
    return tr("Asked for an answer.") if _asked(workspace, view) else tr("No text.")


def _asked(workspace: Workspace, view: InvocationView) -> bool:
    """Whether it raised a request: those of its node between its start and the next superstep."""
    later = (s.started for s in workspace.run.supersteps if s.number > view.superstep)
    until = min(later, default=float("inf"))
    return any(
        isinstance(event, RequestRaised) and event.node == view.node and view.started <= event.t <= until
        for event in workspace.run.events
    )


class LaneHeader(QWidget):
    """Kind, name, state, and tokens · speed · seconds. Repainted a few times a second at most."""

    def __init__(self, theme: Theme, workspace: Workspace, view: InvocationView, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme, self._workspace, self._view = theme, workspace, view
        workflow = workspace.document.workflow
        node = node_at(workflow, view.inside, view.node)
        self._kind = node.kind if node is not None else "agent"
        self._name = " › ".join(path_names(workflow, view.inside, view.node))
        self._shown: tuple[str, str] = ("", "")
        self.setFixedHeight(theme.length(32))
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_HEADER_DELAY)
        self._timer.timeout.connect(self._show_now)
        self._show_now()

    def refresh(self) -> None:
        """Shows new numbers soon, a new state at once."""
        if self._view.status != self._shown[0]:
            self._show_now()
        elif not self._timer.isActive():
            self._timer.start()

    def sizeHint(self) -> QSize:
        return QSize(LEAST, 32)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, theme = QPainter(self), self._theme
        middle = self.height() / 2
        paint_tile(painter, theme, QRectF(10, middle - 9, 18, 18), self._kind)
        strong, small = theme.font("section"), theme.font("small", tabular=True)
        bold, narrow = QFontMetrics(strong), QFontMetrics(small)
        baseline = (self.height() + bold.ascent() - bold.descent()) // 2
        status, meta = self._shown
        meta_width = narrow.horizontalAdvance(meta)
        room = self.width() - 35 - 10 - meta_width - 29
        shown_meta = meta if room > 60 else meta.rsplit(" · ", 1)[-1]
        meta_width = narrow.horizontalAdvance(shown_meta)
        room = max(24, self.width() - 35 - 10 - meta_width - 29)
        name = bold.elidedText(self._name, Qt.TextElideMode.ElideRight, room)
        painter.setFont(strong)
        painter.setPen(theme.color("text"))
        painter.drawText(QPoint(35, baseline), name)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_badge(painter, theme, QRectF(42 + bold.horizontalAdvance(name), middle - 7, 14, 14), status)
        painter.setFont(small)
        painter.setPen(theme.color("muted"))
        painter.drawText(QPoint(self.width() - 10 - meta_width, baseline), shown_meta)

    def _show_now(self) -> None:
        shown = (self._view.status, lane_meta(self._view, self._workspace.run.now))
        if shown != self._shown:
            self._shown = shown
            self.setAccessibleName(f"{self._name}, {shown[0]}, {shown[1]}")
            self.update()


class Lane(QFrame):
    """Header and text, with a line at the left."""

    def __init__(self, theme: Theme, workspace: Workspace, view: InvocationView, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme, self._workspace, self.invocation = theme, workspace, view
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.header = LaneHeader(theme, workspace, view, self)
        column.addWidget(self.header)
        self.view = LaneView(theme, self)
        column.addWidget(self.view, 1)
        self.view.set_view(view)
        self.view.set_hint(hint(workspace, view))
        self.setMinimumWidth(LEAST)

    def refresh(self) -> None:
        """Shows what is new."""
        self.header.refresh()
        self.view.set_hint(hint(self._workspace, self.invocation))
        self.view.refresh()

    def set_divided(self, divided: bool) -> None:
        """Draws the line to the lane at the left."""
        layout = self.layout()
        assert layout is not None
        layout.setContentsMargins(1 if divided else 0, 0, 0, 0)

    def paintEvent(self, _event: QPaintEvent) -> None:
        QPainter(self).fillRect(0, 0, 1, self.height(), self._theme.color("line"))


class Lanes(QScrollArea):
    """The lanes of one superstep."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.lanes: dict[str, Lane] = {}
        self._missing: list[InvocationView] = []
        """Invocations whose lanes are made in the next turns."""
        self._workspace: Workspace | None = None
        self._needle = ""
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._add_some)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        content = QWidget()
        content.setObjectName("page")
        self._row = QHBoxLayout(content)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(0)
        self.setWidget(content)
        self.viewport().setAutoFillBackground(False)
        content.setAutoFillBackground(False)

    def show_invocations(self, workspace: Workspace, keys: Iterable[str], *, anew: bool = False) -> None:
        """Shows these invocations; lanes that are there already stay as they are unless ``anew``. Keys repeat in
        every run: a lane stays only for the very invocation that it shows."""
        views = workspace.run.invocations
        wanted = [k for k in keys if k in views]
        self._drop([k for k, lane in self.lanes.items() if anew or k not in wanted or lane.invocation is not views[k]])
        self._missing = [views[key] for key in wanted if key not in self.lanes]
        self._workspace = workspace
        self._add_some()

    def clear(self) -> None:
        """Shows no lane."""
        self._missing = []
        self._timer.stop()
        self._drop(list(self.lanes))

    def _drop(self, keys: Iterable[str]) -> None:
        for key in keys:
            lane = self.lanes.pop(key)
            self._row.removeWidget(lane)
            lane.hide()
            lane.deleteLater()

    def _add_some(self) -> None:
        """Makes lanes, a few a turn of the loop: each takes one to two milliseconds."""
        some, self._missing = self._missing[:_AT_ONCE], self._missing[_AT_ONCE:]
        for view in some:
            assert self._workspace is not None
            lane = Lane(self._theme, self._workspace, view, self)
            self.lanes[view.invocation] = lane
            self._row.addWidget(lane, 1)
            if self._needle:
                lane.view.look_for(self._needle)
        for i, lane in enumerate(self.lanes.values()):
            lane.set_divided(i > 0)
        if self._missing:
            self._timer.start(0)
        else:
            self._timer.stop()

    def refresh(self, keys: Iterable[str]) -> None:
        """Shows what is new in these invocations, as far as they are shown."""
        for key in keys:
            lane = self.lanes.get(key)
            if lane is not None:
                lane.refresh()

    def tick(self) -> None:
        """Time has passed: shows it above what is running."""
        for lane in self.lanes.values():
            if lane.invocation.ended is None:
                lane.header.refresh()

    # ------------------------------------------------------------------------------------------------------ find

    def look_for(self, needle: str) -> None:
        """Marks a text in all lanes, also in those that come later; "" ends that."""
        self._needle = needle
        for lane in self.lanes.values():
            lane.view.look_for(needle)

    def hit_place(self) -> tuple[int, int]:
        """Where the user is among all places, from 1 on (0: at none), and how many there are."""
        at = total = 0
        for lane in self.lanes.values():
            hits = lane.view.hits
            if hits.current >= 0:
                at = total + hits.current + 1
            total += len(hits.found)
        return at, total

    def step_hit(self, by: int) -> None:
        """Goes to the next (1) or previous (-1) place, from the last one to the first."""
        at, total = self.hit_place()
        if not total:
            return
        wanted = (at - 1 + by) % total if at else 0 if by > 0 else total - 1
        for lane in self.lanes.values():
            count = len(lane.view.hits.found)
            here = 0 <= wanted < count
            if here:
                self.ensureWidgetVisible(lane, 0, 0)
            lane.view.go_to_hit(wanted if here else -1)
            wanted -= count
