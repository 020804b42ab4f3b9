"""The text of one lane: scrolls, follows its end, can be selected and copied."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRect, QSize, Qt, QTimer
from PySide6.QtGui import (
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QMenu, QWidget

from studio.bridge.run_views import InvocationView
from studio.ui.run.blocks import Block
from studio.ui.run.hits import Hits
from studio.ui.run.lane_paint import EDGE, LanePainter
from studio.ui.run.lane_text import LaneText
from studio.ui.run.portions import limited
from studio.ui.run.selection import Selection, Spot
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button

_SLICE = 0.004
"""Seconds of laying out in one turn of the loop."""
_RUNNING = frozenset({"running", "queued"})


class LaneView(QAbstractScrollArea):
    """Shows the pieces of an invocation. While nobody can see it, it only remembers that there is something new."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._painter = LanePainter(theme)
        self.text = LaneText(self._painter.text_font, self._painter.code_font)
        self._dress()
        self.selection = Selection()
        self.hits = Hits()
        """What *Find* found here."""
        self._view: InvocationView | None = None
        self._following = True
        self._scrolling = False
        self._stale = False
        self._caret = False
        self._anchor: tuple[Block, int] | None = None
        """What stays in sight while lines are laid out in another width: a block, and how far it is scrolled off."""
        self._layout_timer = self._make_timer(self._on_layout_timer_timeout)
        self._sync_timer = self._make_timer(self._sync)
        self._caret_line = 0
        """Where the last line began when it was painted last, in the coordinates of the text."""
        self._hint = ""
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._on_context_menu_requested)
        self._follow = Button(theme, tr("Follow"), "arrow-down", small=True, parent=self)
        self._follow.setToolTip(tr("Follow the stream (End)"))
        self._follow.clicked.connect(self.follow)
        self._follow.hide()
        self.verticalScrollBar().valueChanged.connect(self._on_scroll_bar_value_changed)
        theme.changed.connect(self._on_theme_changed)

    def _make_timer(self, work: Callable[[], None]) -> QTimer:
        """A timer for the next turn of the loop."""
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(0)
        timer.timeout.connect(work)
        return timer

    @property
    def following(self) -> bool:
        """Whether the view stays at the end while text arrives."""
        return self._following

    @property
    def _grows(self) -> bool:
        return self._view is not None and self._view.status in _RUNNING

    def set_view(self, view: InvocationView | None) -> None:
        """Shows another invocation from its beginning."""
        self._view = view
        self._anchor = None
        self._sync_timer.stop()
        self.selection = Selection()
        self.text.clear()
        self._following = view is not None and view.status in _RUNNING
        self._sync()
        if not self._following:
            self.verticalScrollBar().setValue(0)
        self.viewport().update()

    def set_hint(self, text: str) -> None:
        """What stands there when the invocation gave no text."""
        if text != self._hint:
            self._hint = text
            self.viewport().update()

    def refresh(self) -> None:
        """Shows what is new; only remembers it while the lane cannot be seen, unless something is looked for."""
        if self.hits.looking or (self.isVisible() and not self.viewport().visibleRegion().isEmpty()):
            self._sync()
        else:
            self._stale = True

    def follow(self) -> None:
        """Goes to the end and stays there."""
        self._following = True
        self._follow.hide()
        self._to_end()

    def look_for(self, needle: str) -> None:
        """Marks a text wherever it stands; "" ends that."""
        self._sync()
        self.hits.look_for(needle, self.text)
        self.viewport().update()

    def go_to_hit(self, index: int) -> None:
        """Goes to one of the places that were found, and stops following. -1: the user is in another lane."""
        self.hits.current = index
        self.viewport().update()
        if index < 0:
            return
        hit = self.hits.found[index]
        block = self.text.blocks[hit.block]
        if block.boxed and not block.open and hit.end:
            self.text.toggle(block)
        line = next((i for i, (_, end) in enumerate(block.lines) if hit.start < end), 0) if hit.end else 0
        y = block.top + (self.text.text_top(block) if hit.end else 0) + line * self.text.line
        self._following = False
        self._fit()
        bar, page = self.verticalScrollBar(), self.viewport().height()
        if not bar.value() <= y <= bar.value() + page - self.text.line:
            bar.setValue(y - page // 3)

    def selected_text(self) -> str:
        """What is selected."""
        return self.selection.text(self.text)

    def copy(self) -> None:
        """Copies the selection, or everything if nothing is selected."""
        text = self.selected_text() or _as_written(self._view, self.text)
        QGuiApplication.clipboard().setText(text)

    def select_all(self) -> None:
        """Selects everything."""
        if self.text.blocks:
            last = len(self.text.blocks) - 1
            self.selection = Selection((0, 0), (last, len(self.text.blocks[last].shown)))
            self.viewport().update()

    def minimumSizeHint(self) -> QSize:
        return QSize(120, 40)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        top = self.verticalScrollBar().value()
        first = self.text.block_at(top)
        if self._anchor is None and self.text.blocks and not self._following:
            self._anchor = (self.text.blocks[first], top - self.text.blocks[first].top)
        self.text.set_width(self.viewport().width() - 2 * EDGE, first)
        self._lay_out_some()
        self._follow.move(self.viewport().width() - self._follow.sizeHint().width() - 8, self.height() - 32)

    def showEvent(self, event: object) -> None:
        super().showEvent(event)  # type: ignore[arg-type]
        self._stale = True

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        self.viewport().scroll(dx, dy)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._stale:
            self._stale = False
            QTimer.singleShot(0, self, self._sync)
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), self._theme.color("window"))
        if self._hint and self.text.height <= self.text.line and not any(b.shown for b in self.text.blocks):
            painter.setFont(self._theme.font("text"))
            painter.setPen(self._theme.color("muted"))
            area = self.viewport().rect().adjusted(EDGE, 2, -EDGE, 0)
            painter.drawText(area, int(Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignTop), self._hint)
            return
        scrolled, area = self.verticalScrollBar().value(), self.viewport().rect()
        self._painter.paint(
            painter, self.text, event.rect(), scrolled, area.width(), self.selection, self.hits, self._caret
        )

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton or not self.text.blocks:
            return
        y = event.position().y() + self.verticalScrollBar().value()
        block = self.text.blocks[self.text.block_at(y)]
        if block.boxed and block.top <= y < block.top + self.text.box:
            self.text.toggle(block)
            self._fit()
            self.viewport().update()
            return
        spot = self.spot_at(event.position())
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        self.selection = Selection(self.selection.anchor if shift else spot, spot)
        self.viewport().update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton and self.text.blocks:
            self.selection.head = self.spot_at(event.position())
            bar, y = self.verticalScrollBar(), event.position().y()
            if y < 0 or y > self.viewport().height():
                bar.setValue(bar.value() + (self.text.line if y > 0 else -self.text.line))
            self.viewport().update()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if not self.text.blocks:
            return
        index, offset = self.spot_at(event.position())
        shown = self.text.blocks[index].shown
        start = end = offset
        while start > 0 and (shown[start - 1].isalnum() or shown[start - 1] == "_"):
            start -= 1
        while end < len(shown) and (shown[end].isalnum() or shown[end] == "_"):
            end += 1
        self.selection = Selection((index, start), (index, end))
        self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        bar = self.verticalScrollBar()
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_all()
        elif event.key() == Qt.Key.Key_End:
            self.follow()
        elif event.key() == Qt.Key.Key_Home:
            bar.setValue(0)
        elif event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            bar.setValue(bar.value() + (self.text.line if event.key() == Qt.Key.Key_Down else -self.text.line))
        elif event.key() in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            down = event.key() == Qt.Key.Key_PageDown
            bar.setValue(bar.value() + (bar.pageStep() if down else -bar.pageStep()))
        else:
            super().keyPressEvent(event)

    def spot_at(self, point: QPointF) -> Spot:
        """The place in the text under a point of the viewport."""
        y = point.y() + self.verticalScrollBar().value()
        index = self.text.block_at(y)
        block = self.text.blocks[index]
        if not block.lines:
            return index, 0
        if y >= block.top + block.height and index == len(self.text.blocks) - 1:
            return index, len(block.shown)
        left = EDGE + self.text.left(block)
        return index, self.text.offset_at(block, self.text.line_at(block, y), point.x() - left)

    def _sync(self) -> None:
        if self._view is None:
            self._fit()
            return
        caret = self._grows
        pieces, more = limited(self._view.pieces, self.text.pieces_taken, self.text.taken)
        changed = self.text.take(pieces, finished=not caret and not more)
        if more:
            self._sync_timer.start()
        if changed is not None:
            self.hits.look_again(self.text, self.text.first_changed)
        if changed is None and caret == self._caret:
            return
        self._caret = caret
        last = self.text.last_line
        # The line where the caret was, too: what is scrolled along is not painted again.
        dirty = min(last if changed is None else changed, self._caret_line)
        self._caret_line = last
        self._fit()
        area = self.viewport().rect()
        top = dirty - self.verticalScrollBar().value()
        self.viewport().update(QRect(0, max(0, top), area.width(), area.height()))

    def _lay_out_some(self) -> None:
        """Lays out a part of a long text; what is in sight comes first and stays where it is."""
        more = self.text.lay_out_some(_SLICE)
        self._fit()
        if self._anchor is not None:
            block, offset = self._anchor
            self._scrolling = True
            self.verticalScrollBar().setValue(block.top + offset)
            self._scrolling = False
        if more:
            self._layout_timer.start()
        else:
            self._anchor = None

    def _on_layout_timer_timeout(self) -> None:
        self._lay_out_some()
        self.viewport().update()

    def _fit(self) -> None:
        bar, page = self.verticalScrollBar(), self.viewport().height()
        most = max(0, self.text.height + 6 - page)
        self._scrolling = True
        if bar.maximum() != most or bar.pageStep() != page:
            bar.setPageStep(page)
            bar.setSingleStep(self.text.line)
            bar.setRange(0, most)
        self._scrolling = False
        if self._following:
            self._to_end()
        else:
            self._follow.setVisible(most > bar.value() + 2 and self._grows)

    def _to_end(self) -> None:
        self._scrolling = True
        self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())
        self._scrolling = False

    def _on_scroll_bar_value_changed(self, value: int) -> None:
        if self._scrolling:
            return
        self._anchor = None
        at_end = value >= self.verticalScrollBar().maximum() - 2
        self._following = at_end
        self._follow.setVisible(not at_end and self._grows)

    def _on_context_menu_requested(self, at: object) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(tr("Copy") if self.selected_text() else tr("Copy all"), self.copy)
        menu.addAction(tr("Select all"), self.select_all)
        menu.popup(self.viewport().mapToGlobal(at))  # type: ignore[call-overload]

    def _on_theme_changed(self) -> None:
        self._painter = LanePainter(self._theme)
        self._dress()
        self._fit()
        self.viewport().update()

    def _dress(self) -> None:
        made = self._painter
        self.text.set_fonts(made.text_font, made.code_font, made.line, made.box)


def _as_written(view: InvocationView | None, text: LaneText) -> str:
    """All of a lane: the answer as the model wrote it, with its Markdown, and tool calls with their results."""
    boxes = {block.key: block.copied for block in text.blocks if block.boxed}
    parts: list[str] = []
    for piece in view.pieces if view is not None else ():
        if piece.kind in ("tool", "result") or (piece.kind == "error" and piece.key):
            parts.append(boxes.pop(piece.key, ""))
        else:
            parts.append(piece.text)
    return "\n".join(part for part in parts if part)
