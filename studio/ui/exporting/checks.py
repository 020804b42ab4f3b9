"""The steps of a proof, one row each: state, what it checks, what it found, how long it took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from studio.proof.model import Step
from studio.proof.words import TITLES, pattern
from studio.ui.text import tip, tr
from studio.ui.theme import Theme
from studio.ui.widgets.labels import Chip, Label

_ICONS = {
    "passed": ("circle-check", "done_t"),
    "failed": ("circle-x", "fail_t"),
    "running": ("loader", "run_t"),
    "not_run": ("circle-minus", "muted"),
    "waiting": ("circle", "off"),
}
"""State -> icon, colour token."""


class ChecksPanel(QWidget):
    """A header with how many steps passed, and the rows."""

    node_chosen = Signal(str)
    """The node that a failed step names."""

    def __init__(self, theme: Theme, keys: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("export_checks")
        self._count = Chip(theme, "", height=20)
        self._rows = {key: _Row(theme, key) for key in keys}
        head = QHBoxLayout()
        head.setContentsMargins(12, 9, 12, 5)
        head.addWidget(Label(theme, tr("Checks"), "title"))
        head.addStretch(1)
        head.addWidget(self._count)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 4)
        column.setSpacing(0)
        column.addLayout(head)
        for row in self._rows.values():
            row.node_chosen.connect(self.node_chosen)
            column.addWidget(row)
        self.show_steps({})

    def show_steps(self, steps: Mapping[str, Step]) -> None:
        """Replaces what the rows say; a step that is not given waits."""
        for key, row in self._rows.items():
            row.show_step(steps.get(key, Step(key)))
        passed = sum(step.state == "passed" for step in steps.values())
        self._count.set_text(tr("{passed} of {all}").format(passed=passed, all=len(self._rows)))

    def said(self) -> list[tuple[str, str]]:
        """State and words of every row."""
        return [(row.step.state, row.detail) for row in self._rows.values()]


class _Row(QWidget):
    node_chosen = Signal(str)

    def __init__(self, theme: Theme, key: str) -> None:
        super().__init__()
        self._theme = theme
        self.step = Step(key)
        self.detail = ""
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def show_step(self, step: Step) -> None:
        self.step = step
        self.detail = tr(pattern(step)).format(detail=step.detail)
        title = tr(TITLES[step.key])
        self.setAccessibleName(f"{title}: {self.detail}")
        self.setToolTip(tip(self.detail) if step.state in ("failed", "not_run") else "")
        self.setCursor(Qt.CursorShape.PointingHandCursor if step.node else Qt.CursorShape.ArrowCursor)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(200, self._theme.length(24 + 15 * max(len(self._lines(3)), 1)))

    def resizeEvent(self, _event: object) -> None:
        self.updateGeometry()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self.step.node:
            self.node_chosen.emit(self.step.node)

    def _lines(self, most: int) -> list[str]:
        """The words, broken to the width; the last line is cut."""
        metrics = QFontMetrics(self._theme.font("small"))
        room = max(self.width() - 50, 120)
        lines: list[str] = []
        rest = self.detail
        while rest and len(lines) < most - 1 and metrics.horizontalAdvance(rest) > room:
            cut = max(
                (i for i, c in enumerate(rest) if c == " " and metrics.horizontalAdvance(rest[:i]) <= room), default=0
            )
            if not cut:
                break
            lines.append(rest[:cut])
            rest = rest[cut + 1 :]
        return [*lines, metrics.elidedText(rest, Qt.TextElideMode.ElideRight, room)] if rest else lines

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        icon, token = _ICONS[self.step.state]
        painter.drawPixmap(QPoint(12, 6), self._theme.pixmap(icon, 14, token, self.devicePixelRatioF()))
        body, small = self._theme.font("body"), self._theme.font("small")
        painter.setFont(body)
        painter.setPen(self._theme.color("muted" if self.step.state in ("waiting", "not_run") else "text"))
        top = QFontMetrics(body).ascent() + 4
        painter.drawText(QPoint(34, top), tr(TITLES[self.step.key]))
        painter.setFont(small)
        painter.setPen(self._theme.color("muted"))
        if self.step.state in ("passed", "failed"):
            seconds = tr("{seconds} s").format(seconds=f"{self.step.seconds:.1f}")
            painter.drawText(
                QRect(0, 0, self.width() - 12, QFontMetrics(body).height() + 6),
                int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter),
                seconds,
            )
        if self.step.state == "failed":
            painter.setPen(self._theme.color("fail_t"))
        step = self._theme.length(15)
        for number, line in enumerate(self._lines(3)):
            painter.drawText(QPoint(34, top + step * (number + 1)), line)
        if self.hasFocus():
            painter.setPen(self._theme.color("accent"))
            painter.drawRect(self.rect().adjusted(2, 0, -3, -1))
