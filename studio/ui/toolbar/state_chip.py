"""The state of the run as a sentence; the only place of the window that has it."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from studio.debugger.states import RunState
from studio.ui.text import tip
from studio.ui.theme import Theme

LOOKS: dict[RunState, tuple[str, str]] = {
    RunState.PREPARING: ("run", "loader"),
    RunState.RUNNING: ("run", "own:play"),
    RunState.STEPPING: ("run", "own:step-superstep"),
    RunState.PAUSING: ("wait", "own:pause"),
    RunState.PAUSED: ("wait", "own:pause"),
    RunState.WAITING: ("wait", "hand"),
    RunState.STOPPING: ("neutral", "own:stop"),
    RunState.COMPLETED: ("done", "circle-check"),
    RunState.CANCELLED: ("neutral", "own:stop"),
    RunState.FAILED: ("fail", "circle-x"),
}
"""Run state -> tint, icon. Idle has no chip."""


def ink_of(tint: str) -> str:
    """The text token of a tint."""
    return "text2" if tint == "neutral" else f"{tint}_t"


class StateChip(QWidget):
    """Keeps its place; elides a long sentence, whose whole text is the tooltip. Of a failure it says who failed: the
    reason and the way out stand in the run panel, whole."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._state = RunState.IDLE
        self._sentence = ""
        self.setObjectName("state_chip")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(0)
        theme.changed.connect(self.update)

    @property
    def sentence(self) -> str:
        return self._sentence

    @property
    def shown(self) -> str:
        """What stands in the chip."""
        return self._sentence.split(": ", 1)[0] if self._state is RunState.FAILED else self._sentence

    def show_state(self, state: RunState, sentence: str) -> None:
        """Shows a state; nothing for idle."""
        if (state, sentence) == (self._state, self._sentence):
            return
        self._state, self._sentence = state, sentence if state in LOOKS else ""
        self.setToolTip(tip(self._sentence))
        self.setAccessibleName(self._sentence)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self._theme.font("small-strong"))
        width = metrics.horizontalAdvance(self.shown) + 48 if self._sentence else 0
        return QSize(min(width, 460), self._theme.length(28))

    def minimumSizeHint(self) -> QSize:
        return QSize(60 if self._sentence else 0, self._theme.length(28))

    def paintEvent(self, _event: QPaintEvent) -> None:
        if not self._sentence:
            return
        tint, icon = LOOKS[self._state]
        metrics = QFontMetrics(self._theme.font("small-strong"))
        height = self._theme.length(24)
        room = self.width() - 8
        text = metrics.elidedText(self.shown, Qt.TextElideMode.ElideRight, room - 38)
        width = metrics.horizontalAdvance(text) + 38
        top = (self.height() - height) / 2
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("sunken" if tint == "neutral" else f"{tint}_s"))
        painter.drawRoundedRect(QRectF(8, top, width, height), height / 2, height / 2)
        token = ink_of(tint)
        pixmap = self._theme.pixmap(icon, 13, token, self.devicePixelRatioF())
        painter.drawPixmap(QPoint(18, round((self.height() - 13) / 2)), pixmap)
        painter.setFont(self._theme.font("small-strong"))
        painter.setPen(self._theme.color(token))
        baseline = (self.height() + metrics.ascent() - metrics.descent()) // 2
        painter.drawText(QPoint(36, baseline), text)
