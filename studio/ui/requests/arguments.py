"""Arguments of a tool call as people read them, and what is new in them since the last approval."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from studio.ui.text import tip, tr
from studio.ui.theme import Theme
from studio.ui.widgets.labels import Label, Prose


class Separator(QWidget):
    """A line of one pixel."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setFixedHeight(1)

    def paintEvent(self, _event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), self._theme.color("line"))


def argument_row(theme: Theme, name: str, value: object, news: Sequence[object] | None = None) -> QWidget:
    """Name and value of one argument, with a line below."""
    made = QWidget()
    outer = QVBoxLayout(made)
    outer.setContentsMargins(0, 0, 0, 0)
    outer.setSpacing(0)
    row = QHBoxLayout()
    row.setContentsMargins(10, 5, 10, 5)
    row.setSpacing(8)
    title = Label(theme, name, "code-small", "muted")
    title.setFixedWidth(84)
    title.setToolTip(tip(name))
    title.setMinimumHeight(17)
    row.addWidget(title, 0, Qt.AlignmentFlag.AlignTop)
    row.addWidget(argument_value(theme, value, news), 1)
    outer.addLayout(row)
    outer.addWidget(Separator(theme))
    return made


def argument_value(theme: Theme, value: object, news: Sequence[object] | None = None) -> Prose:
    """One argument of a call as people read it; what is new since the last approval is marked."""
    made = Prose(theme, "", "body", "text", 17)
    if isinstance(value, list) and value and all(isinstance(v, str) for v in value) and len(value) <= 20:
        items = [(f"{i}\u2009{v}", v in (news or ())) for i, v in enumerate(value, 1)]
        plain, gap = "\u2003".join(text for text, _ in items), "\u2003 "
        html = gap.join(_marked(theme, text) if new else escape(text) for text, new in items)
    elif isinstance(value, str):
        plain, html = value, _marked(theme, value) if news else escape(value)
    else:
        plain = json.dumps(value, ensure_ascii=False, indent=1 if isinstance(value, dict | list) else None)
        made = Prose(theme, "", "code-small", "text", 17)
        html = _marked(theme, plain) if news else escape(plain)
    if not news:
        made.set_text(plain)
        return made
    told = tr("new since your last approval")
    muted = theme.color("muted").name()
    made.set_html(f"{plain} ({told})", f'{html} <span style="color:{muted}">{escape(told)}</span>')
    return made


def _marked(theme: Theme, text: str) -> str:
    return (
        f'<span style="background-color:{theme.color("done_s").name()};text-decoration:underline">{escape(text)}</span>'
    )


def arguments_of(text: str) -> Mapping[str, object]:
    """The arguments of a call; text that is no JSON object is shown as it is."""
    try:
        value = json.loads(text or "{}")
    except ValueError:
        return {tr("arguments"): text}
    return value if isinstance(value, dict) else {tr("arguments"): value}
