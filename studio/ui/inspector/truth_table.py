"""What conditions would say about messages of the run that is shown: a row a message, a column a condition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

from PySide6.QtCore import QRectF, Qt, QTimer
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from studio.bridge.run_views import MessageView
from studio.bridge.workspace import Workspace
from studio.document.conditions import Condition, NeedsWorker, evaluate, explain
from studio.ui.inspector.small_parts import Card
from studio.ui.text import tip, tr
from studio.ui.theme import Theme
from studio.ui.widgets.labels import Prose
from studio.ui.widgets.section import Section

MOST = 12
"""So many of the newest messages are shown."""
PIECE = 0.004
"""Seconds of evaluating in one piece: a pattern may take its time."""
CELL = 22

Answer = bool | None
"""None: a Python predicate, which only a run can ask."""


@dataclass(frozen=True, slots=True)
class Column:
    """One condition: its title, and who gets the message if it is the one that takes it."""

    title: str
    condition: Condition | None
    target: str = ""


@dataclass(frozen=True, slots=True)
class TruthRow:
    """One message: an answer a column, and the column that takes it (-1: none, None: not known)."""

    superstep: int
    text: str
    answers: tuple[Answer, ...]
    reason: str
    taken: int | None


def truth_row(
    message: MessageView, columns: Sequence[Column], state: dict[str, object], *, first_wins: bool
) -> TruthRow:
    """Asks every condition about a message. With ``first_wins`` the first true one takes it, and a column without a
    condition is the default."""
    from studio.assembly.texts import scope_of  # with a message there is a run, and it is loaded

    scope = scope_of(message.data, state)
    answers: list[Answer] = []
    for column in columns:
        try:
            answers.append(evaluate(column.condition, scope))
        except NeedsWorker:
            answers.append(None)
    taken: int | None = -1
    if first_wins:
        reached = next((i for i, answer in enumerate(answers) if answer is not False), -1)
        taken = None if reached >= 0 and answers[reached] is None else reached
    reason = ""
    if len(columns) == 1:
        known = answers[0] is not None
        reason = explain(columns[0].condition, scope) if known else tr("Python: only a run can ask it")
    elif taken is not None and taken >= 0:
        reason = f"→ {columns[taken].target}" if columns[taken].target else ""
    return TruthRow(message.superstep, message.text, tuple(answers), reason, taken)


class TruthTable(QWidget):
    """Follows the run and the document when told to :meth:`refresh`; hidden without messages."""

    def __init__(
        self,
        theme: Theme,
        workspace: Workspace,
        source: Callable[[], str | None],
        columns: Callable[[], Sequence[Column]],
        *,
        first_wins: bool = False,
    ) -> None:
        super().__init__()
        self._theme, self._workspace = theme, workspace
        self._source, self._columns, self._first_wins = source, columns, first_wins
        self._asked: object = None
        self._waiting: list[MessageView] = []
        self.rows: list[TruthRow] = []
        """What is shown, newest first."""
        self.section = Section(theme, tr("Recorded messages"), gap=8)
        self._holder: QWidget | None = None
        self._more = Prose(theme, "", "small", "muted", 15)
        self._more.setContentsMargins(12, 4, 12, 0)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.section)
        column.addWidget(self._more)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._go_on)
        self.hide()

    @property
    def working(self) -> bool:
        """Whether there are more messages to ask."""
        return bool(self._waiting)

    def refresh(self) -> None:
        """Asks again if conditions, messages or state are others."""
        source, run = self._source(), self._workspace.run
        found = [m for m in run.messages if m.source == source and m.purpose != "request"] if source is not None else []
        columns = tuple(self._columns())
        state = dict(run.shared_state)
        asked = (columns, tuple(m.message for m in found[-MOST:]), state)
        if asked == self._asked:
            return
        self._asked = asked
        self.rows = []
        self._waiting = list(reversed(found[-MOST:]))
        more = len(found) - len(self._waiting)
        self._more.set_text(tr("The newest {count} of {all}.").format(count=MOST, all=len(found)) if more else "")
        self._more.setVisible(more > 0)
        self.setVisible(bool(found) and bool(columns))
        self._go_on()

    def _go_on(self) -> None:
        end = perf_counter() + PIECE
        columns, state = tuple(self._columns()), dict(self._workspace.run.shared_state)
        while self._waiting and perf_counter() < end:
            self.rows.append(truth_row(self._waiting.pop(0), columns, state, first_wins=self._first_wins))
        if self._waiting:
            self._timer.start()
        self._show(columns)

    def _show(self, columns: tuple[Column, ...]) -> None:
        if self._holder is not None:
            self._holder.hide()
            self._holder.deleteLater()
        holder = self._holder = QWidget()
        around = QVBoxLayout(holder)
        around.setContentsMargins(12, 2, 12, 0)
        card = Card(self._theme)
        around.addWidget(card)
        if len(columns) > 1:
            card.column.addWidget(_HeadRow(self._theme, [c.title for c in columns]))
        for i, row in enumerate(self.rows):
            card.column.addWidget(_Row(self._theme, row, columns, line=i < len(self.rows) - 1))
        self.section.add(holder)
        if len(columns) == 1:
            passing = sum(row.answers[0] is True for row in self.rows)
            self.section.set_summary(tr("{count} of {all} pass").format(count=passing, all=len(self.rows)))


class _HeadRow(QWidget):
    """The numbers of the cases over their columns."""

    def __init__(self, theme: Theme, titles: Sequence[str]) -> None:
        super().__init__()
        self._theme, self._titles = theme, tuple(titles)
        self.setFixedHeight(theme.length(20))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setFont(self._theme.font("small"))
        painter.setPen(self._theme.color("muted"))
        for i, title in enumerate(self._titles):
            box = QRectF(6 + i * CELL, 0, CELL, self.height())
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, title)
        painter.fillRect(0, self.height() - 1, self.width(), 1, self._theme.color("line"))


_ICONS = {
    True: ("check", "done_t", "passes"),
    False: ("x", "muted", "does not pass"),
    None: ("info", "wait_t", "not known"),
}


class _Row(QWidget):
    """Ticks and crosses, then the message and why."""

    def __init__(self, theme: Theme, row: TruthRow, columns: Sequence[Column], *, line: bool) -> None:
        super().__init__()
        self._theme, self._row, self._line = theme, row, line
        self._text = " ".join(row.text.split())
        self.setFixedHeight(theme.length(24))
        said = [f"{c.title} {tr(_ICONS[a][2])}" for c, a in zip(columns, row.answers, strict=True)]
        words = tr("Superstep {number}: {answers}. {reason}. {text}").format(
            number=row.superstep, answers=", ".join(said), reason=row.reason, text=self._text[:200]
        )
        self.setAccessibleName(words)
        self.setToolTip(tip("\n".join(part for part in (row.reason, row.text[:1500]) if part)))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, theme, row = QPainter(self), self._theme, self._row
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ratio = self.devicePixelRatioF()
        for i, answer in enumerate(row.answers):
            box = QRectF(6 + i * CELL, 0, CELL, self.height())
            if i == row.taken:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(theme.color("done_s"))
                painter.drawRoundedRect(box.adjusted(1, 2, -1, -3), 4, 4)
            icon, token, _ = _ICONS[answer]
            pixmap = theme.pixmap(icon, 14, token, ratio)
            painter.drawPixmap(round(box.center().x() - 7), round(box.center().y() - 7), pixmap)
        left = 6 + len(row.answers) * CELL + 6
        small, body = theme.font("small"), theme.font("body")
        narrow, metrics = QFontMetrics(small), QFontMetrics(body)
        baseline = (self.height() + metrics.ascent() - metrics.descent()) // 2
        reason = narrow.elidedText(row.reason, Qt.TextElideMode.ElideRight, int(self.width() * 0.45))
        right = self.width() - 8 - narrow.horizontalAdvance(reason)
        painter.setFont(small)
        painter.setPen(theme.color("muted"))
        painter.drawText(right, baseline, reason)
        painter.setFont(body)
        painter.setPen(theme.color("text"))
        painter.drawText(left, baseline, metrics.elidedText(self._text, Qt.TextElideMode.ElideRight, right - 8 - left))
        if self._line:
            painter.fillRect(0, self.height() - 1, self.width(), 1, theme.color("line"))
