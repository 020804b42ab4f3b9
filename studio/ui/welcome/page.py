"""The welcome page: start, recover, recent files; templates."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

from PySide6.QtCore import QPoint, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLineEdit, QScrollArea, QVBoxLayout, QWidget

from studio.files import Recovery, recoverable
from studio.settings import recent
from studio.settings.recent import RecentFile
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.toolbar.action_set import shown_key
from studio.ui.welcome.cards import TemplateCard
from studio.ui.welcome.rows import ActionRow, GuideRow, RecentRow, when_text
from studio.ui.welcome.templates import templates
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import IconLabel, Label, Prose
from studio.ui.widgets.segments import SegmentedControl
from studio.ui.widgets.sources import short
from studio.ui.window.document_tabs import DocumentPage

_SHOWN_RECENT = 8
_CARD_WIDTH = 240


class WelcomePage(DocumentPage):
    """Only entries that work. Templates and recoveries are read after the page is shown."""

    kind = "welcome"

    new_requested = Signal()
    open_requested = Signal()
    import_requested = Signal()
    file_chosen = Signal(object)
    """Path."""
    template_chosen = Signal(object)
    """Path."""
    recovery_chosen = Signal(object)
    """Recovery."""
    providers_requested = Signal()
    guide_chosen = Signal(str)
    """``tour``, ``debugger`` or ``code``."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._cards: list[TemplateCard] = []
        self._recoveries = QVBoxLayout()
        self._recoveries.setSpacing(8)
        self._recent = QVBoxLayout()
        self._recent.setSpacing(0)
        self._grid = QGridLayout()
        self._grid.setSpacing(16)
        self._search = QLineEdit()
        self._coming = templates()
        shelves = (
            ("all", tr("All")),
            ("patterns", tr("Patterns")),
            ("complete", tr("Complete")),
            ("yours", tr("Yours")),
        )
        self._shelf = SegmentedControl(theme, shelves)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(_scrolled(self._left(), 400))
        row.addWidget(_scrolled(self._right(), None), 1)
        self.refresh_recent()
        self._late = QTimer(self)
        self._late.setSingleShot(True)
        self._late.setInterval(0)
        self._late.timeout.connect(self._on_late_timeout)
        self._late.start()

    def refresh_recent(self) -> None:
        """Reads the list of recent files again, and what can be recovered."""
        _clear(self._recent)
        files = recent.recent_files()[:_SHOWN_RECENT]
        for file in files:
            entry = RecentRow(self._theme, file)
            entry.clicked.connect(partial(self._choose, file))
            self._recent.addWidget(entry)
        if not files:
            nothing = Label(self._theme, tr("Files you open appear here."), "body", "muted")
            nothing.setContentsMargins(10, 4, 0, 0)
            self._recent.addWidget(nothing)
        self._show_recoveries()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color("window"))
        painter.fillRect(399, 0, 1, self.height(), self._theme.color("line"))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_cards()

    # ---- left
    def _left(self) -> QWidget:
        column = QVBoxLayout()
        column.setContentsMargins(24, 34, 17, 20)
        column.setSpacing(0)
        column.addLayout(self._head())
        column.addSpacing(18)
        for icon, text, keys, signal in (
            ("plus", tr("New workflow"), "Ctrl+N", self.new_requested),
            ("folder-open", tr("Open…"), "Ctrl+O", self.open_requested),
            ("own:code", tr("Import from code or YAML…"), "Ctrl+Shift+I", self.import_requested),
        ):
            action = ActionRow(self._theme, icon, text, shown_key(keys))
            action.clicked.connect(signal)
            column.addWidget(action)
        column.addSpacing(14)
        recoveries = QWidget()
        recoveries.setLayout(self._recoveries)
        self._recoveries.setContentsMargins(10, 0, 10, 0)
        column.addWidget(recoveries)
        column.addSpacing(14)
        title = Label(self._theme, tr("Recent"), "title")
        title.setContentsMargins(10, 0, 0, 6)
        column.addWidget(title)
        column.addLayout(self._recent)
        column.addStretch(1)
        column.addSpacing(16)
        note = QHBoxLayout()
        note.setContentsMargins(10, 0, 10, 0)
        note.addWidget(self._privacy_card())
        column.addLayout(note)
        holder = QWidget()
        holder.setLayout(column)
        return holder

    def _head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(10, 0, 0, 0)
        row.setSpacing(14)
        row.addWidget(IconLabel(self._theme, "own:logo", 44), 0, Qt.AlignmentFlag.AlignVCenter)
        words = QVBoxLayout()
        words.setSpacing(1)
        words.addWidget(Label(self._theme, tr("Superstep Studio"), "display"))
        words.addWidget(Label(self._theme, tr("Draw, run and debug agent workflows"), "body", "muted"))
        row.addLayout(words, 1)
        return row

    def _privacy_card(self) -> QWidget:
        card = _Card(self._theme, "lock", "done_t")
        card.column.addWidget(Label(self._theme, tr("Works without an account or a network"), "section"))
        text = tr(
            "The offline model runs on this computer. Add a provider when you want one; no file ever holds a key."
        )
        card.column.addWidget(Prose(self._theme, text, "body", "text2", 17))
        link = Button(self._theme, tr("Add a model provider…"), kind="link")
        link.clicked.connect(self.providers_requested)
        card.column.addWidget(link, 0, Qt.AlignmentFlag.AlignLeft)
        return card

    def _show_recoveries(self) -> None:
        _clear(self._recoveries)
        for found in recoverable():
            card = _Card(self._theme, "history", "wait_t", wait=True)
            card.setObjectName("recovery_card")
            card.column.addWidget(Label(self._theme, tr("Unsaved work found"), "section"))
            card.column.addWidget(Prose(self._theme, _recovery_text(found), "body", "text2", 17))
            buttons = QHBoxLayout()
            buttons.setSpacing(6)
            recover = Button(self._theme, tr("Recover"), small=True)
            discard = Button(self._theme, tr("Discard"), kind="plain", small=True)
            recover.clicked.connect(partial(self.recovery_chosen.emit, found))
            discard.clicked.connect(partial(self._discard, found))
            buttons.addWidget(recover)
            buttons.addWidget(discard)
            buttons.addStretch(1)
            card.column.addSpacing(4)
            card.column.addLayout(buttons)
            self._recoveries.addWidget(card)

    def _discard(self, found: Recovery, _checked: bool = False) -> None:
        found.discard()
        self._show_recoveries()

    def _choose(self, file: RecentFile, _checked: bool = False) -> None:
        if file.exists:
            self.file_chosen.emit(Path(file.path))
        else:
            recent.forget(file.path)
            self.refresh_recent()

    # ---- right
    def _right(self) -> QWidget:
        column = QVBoxLayout()
        column.setContentsMargins(34, 34, 36, 24)
        column.setSpacing(0)
        head = QHBoxLayout()
        words = QVBoxLayout()
        words.setSpacing(1)
        words.addWidget(Label(self._theme, tr("Start from a template"), "figure"))
        hint = tr("All of them run with the offline model. Change anything afterwards.")
        words.addWidget(Label(self._theme, hint, "body", "muted"))
        head.addLayout(words, 1)
        head.addSpacing(16)
        self._search.setPlaceholderText(tr("Search templates"))
        self._search.setAccessibleName(tr("Search templates"))
        self._search.setMinimumWidth(150)
        self._search.setMaximumWidth(210)
        self._search.setTextMargins(-8, 0, 0, 0)
        self._search.addAction(self._theme.icon("search", "muted"), QLineEdit.ActionPosition.LeadingPosition)
        self._search.textChanged.connect(self._on_search_text_changed)
        self._shelf.show_value("all")
        self._shelf.setAccessibleName(tr("Kind of template"))
        self._shelf.edited.connect(self._on_shelf_edited)
        head.addWidget(self._shelf, 0, Qt.AlignmentFlag.AlignVCenter)
        head.addSpacing(12)
        head.addWidget(self._search, 1, Qt.AlignmentFlag.AlignVCenter)
        column.addLayout(head)
        column.addSpacing(20)
        column.addLayout(self._grid)
        column.addStretch(1)
        column.addSpacing(20)
        column.addLayout(self._guides())
        holder = QWidget()
        holder.setLayout(column)
        return holder

    def _guides(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(16)
        for name, icon, text, about in (
            ("tour", "book-open", tr("Take the tour"), tr("Build, run and step through a workflow in 6 minutes.")),
            ("debugger", "own:step-superstep", tr("Learn the debugger"), tr("Pause, edit a message, fork.")),
            ("code", "own:code", tr("See the exported code"), tr("The Python of a template, ready to check.")),
        ):
            guide = GuideRow(self._theme, icon, text, about)
            guide.clicked.connect(partial(self.guide_chosen.emit, name))
            row.addWidget(guide, 1)
        return row

    def _on_late_timeout(self) -> None:
        """One card a turn of the loop: reading a file and making its picture takes some milliseconds."""
        template = next(self._coming, None)
        card = TemplateCard(self._theme, template)
        if template is None:
            card.clicked.connect(self.new_requested)
        else:
            card.clicked.connect(partial(self._choose_template, template.file))
            self._late.start()
        self._cards.append(card)
        self._place_cards()

    def _on_shelf_edited(self, shelf: object) -> None:
        self._shelf.show_value(shelf)
        self._place_cards()

    def _choose_template(self, file: Path, _checked: bool = False) -> None:
        self.template_chosen.emit(file)

    def _on_search_text_changed(self, _typed: str) -> None:
        self._place_cards()

    def _place_cards(self) -> None:
        columns = max(1, min(4, (self.width() - 400 - 70 + 16) // (_CARD_WIDTH + 16)))
        for card in self._cards:
            self._grid.removeWidget(card)
        shown = [card for card in self._cards if card.matches(self._search.text(), self._shelf.value)]
        for card in self._cards:
            card.setVisible(card in shown)
        for i, card in enumerate(shown):
            self._grid.addWidget(card, i // columns, i % columns)
        for i in range(4):
            self._grid.setColumnStretch(i, 1 if i < columns else 0)


class _Card(QWidget):
    """A frame with an icon and lines; ``wait``: it asks for something."""

    def __init__(
        self, theme: Theme, icon: str, token: str, *, wait: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme, self._icon, self._token, self._wait = theme, icon, token, wait
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(38, 11, 12, 11)
        self.column.setSpacing(2)
        theme.changed.connect(self.update)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._theme.color("wait" if self._wait else "line"), 1))
        painter.setBrush(self._theme.color("wait_s" if self._wait else "surface"))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        pixmap = self._theme.pixmap(self._icon, 16, self._token, self.devicePixelRatioF())
        painter.drawPixmap(QPoint(13, 12), pixmap)


def _recovery_text(found: Recovery) -> str:
    day, clock = when_text(found.changed, time.time()), time.strftime("%H:%M", time.localtime(found.changed))
    when = day if day == clock else f"{day} {clock}"
    if found.path is None:
        return tr("{name}, never saved, last changed {when}.").format(name=short(found.name), when=when)
    return tr("{name}, changed after the last save, {when}.").format(name=short(found.name), when=when)


def _scrolled(widget: QWidget, width: int | None) -> QScrollArea:
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setWidget(widget)
    area.viewport().setAutoFillBackground(False)
    widget.setAutoFillBackground(False)
    if width is not None:
        area.setFixedWidth(width)
    return area


def _clear(layout: QVBoxLayout) -> None:
    while layout.count():
        item = layout.takeAt(0)
        widget = item.widget() if item is not None else None
        if widget is not None:
            widget.hide()
            widget.deleteLater()
