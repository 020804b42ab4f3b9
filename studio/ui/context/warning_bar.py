"""What the rules found about the invocation that is shown: one at a time, with why and what helps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from PySide6.QtCore import Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from studio.debugger.context.fixes import ContextFix
from studio.debugger.context.items import Finding
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import IconLabel, Label, Prose

_LOOKS = {"error": ("circle-x", "fail"), "warning": ("triangle-alert", "wait"), "info": ("info", "run")}


class WarningBar(QWidget):
    """Hidden while there is nothing to say."""

    fix_chosen = Signal(object, object)
    """A :class:`ContextFix` that the user wants, and the :class:`Finding` that it is for."""
    mute_chosen = Signal(object)
    shown_changed = Signal()
    """Another finding is shown."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._findings: Sequence[Finding] = ()
        self._at = 0
        self._fixes: Callable[[Finding], Sequence[ContextFix]] = lambda _found: ()
        self.icon = IconLabel(theme, "triangle-alert", 16, "wait_t")
        self.text = Prose(theme, "", "body", "text", 17)
        self.why = Prose(theme, "", "small", "muted", 15)
        self.place = Label(theme, "", "small", "muted")
        self.previous = Button(theme, "", "chevron-left", "plain", small=True)
        self.next = Button(theme, "", "chevron-right", "plain", small=True)
        self.previous.setAccessibleName(tr("Previous warning"))
        self.next.setAccessibleName(tr("Next warning"))
        self.fix, self.other_fix = Button(theme, "", small=True), Button(theme, "", small=True)
        self.mute = Button(theme, "", kind="plain", small=True)
        self._lay_out()
        self.previous.clicked.connect(lambda: self._go(-1))
        self.next.clicked.connect(lambda: self._go(1))
        self.fix.clicked.connect(lambda: self._choose_fix(0))
        self.other_fix.clicked.connect(lambda: self._choose_fix(1))
        self.mute.clicked.connect(lambda: self.mute_chosen.emit(self.current))
        self.hide()

    @property
    def current(self) -> Finding | None:
        """What is shown."""
        return self._findings[self._at] if self._findings else None

    def show_findings(
        self, findings: Sequence[Finding], name: str, fixes: Callable[[Finding], Sequence[ContextFix]]
    ) -> None:
        """``name`` of the node for *Mute for …*; ``fixes``: the ways out of a finding, at most two."""
        kept = self.current
        same = [at for at, f in enumerate(findings) if kept is not None and (f.rule, f.text) == (kept.rule, kept.text)]
        self._findings, self._fixes = findings, fixes
        self._at = same[0] if same else 0
        self.mute.setText(tr("Mute for {name}").format(name=name) if name else tr("Mute"))
        self.mute.setAccessibleName(self.mute.text())
        self._show()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        tone = _LOOKS[self.current.severity][1] if self.current is not None else "wait"
        painter.fillRect(self.rect(), self._theme.color(f"{tone}_s"))
        painter.fillRect(0, self.height() - 1, self.width(), 1, self._theme.color("line"))

    def _lay_out(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 10, 8)
        row.setSpacing(9)
        left = QVBoxLayout()
        left.addWidget(self.icon)
        left.addStretch(1)
        row.addLayout(left)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(self.text)
        texts.addWidget(self.why)
        row.addLayout(texts, 1)
        for widget in (self.place, self.previous, self.next, self.fix, self.other_fix, self.mute):
            row.addWidget(widget)

    def _choose_fix(self, at: int) -> None:
        found = self.current
        ways = self._fixes(found) if found is not None else ()
        if at < len(ways):
            self.fix_chosen.emit(ways[at], found)

    def _go(self, by: int) -> None:
        self._at = (self._at + by) % len(self._findings)
        self._show()
        self.shown_changed.emit()

    def _show(self) -> None:
        found = self.current
        self.setVisible(found is not None)
        if found is None:
            return
        icon, tone = _LOOKS[found.severity]
        self.icon.set_icon(icon, f"{tone}_t")
        head = f"{found.rule} {tr(found.title)}."
        self.text.set_html(
            f"{head} {found.text}", f'<span style="font-weight:600">{escape(head)}</span> {escape(found.text)}'
        )
        self.why.set_text(f"{tr(found.why)} {tr(found.fix)}")
        many = len(self._findings) > 1
        self.place.setText(tr("{at} of {all}").format(at=self._at + 1, all=len(self._findings)))
        for widget in (self.place, self.previous, self.next):
            widget.setVisible(many)
        ways = self._fixes(found)
        for at, button in enumerate((self.fix, self.other_fix)):
            text = tr(ways[at].text) if at < len(ways) else ""
            button.setText(text)
            button.setAccessibleName(text)
            button.setVisible(bool(text))
        self.update()
