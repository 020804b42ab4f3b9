"""Help: a window beside the work, with the pages of ``resources/help``."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFont, QTextBlock, QTextBlockFormat, QTextCharFormat, QTextCursor, QTextDocument
from PySide6.QtWidgets import QDialog, QHBoxLayout, QTextBrowser, QVBoxLayout, QWidget

from studio.settings.places import resource
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.segments import SegmentedControl

PAGES = (("tour", "The tour"), ("debugger", "The debugger"))
_LINE = 150
"""Height of a line, in per cent."""


class HelpWindow(QDialog):
    """Not modal: it stays open while one does what it says."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setObjectName("help_window")
        self.setWindowTitle(tr("Help"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(QSize(460, 640))
        self._pages = SegmentedControl(theme, [(name, tr(title)) for name, title in PAGES])
        self._pages.edited.connect(self.show_page)
        self._text = QTextBrowser()
        self._text.setOpenLinks(False)
        self._text.setAccessibleName(tr("Help"))
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        column.setSpacing(10)
        row = QHBoxLayout()
        row.addWidget(self._pages)
        row.addStretch(1)
        column.addLayout(row)
        column.addWidget(self._text, 1)
        theme.changed.connect(self._on_theme_changed)

    @property
    def page(self) -> str:
        """The page that is shown."""
        return str(self._pages.value)

    def show_page(self, name: object) -> None:
        """Shows a page of :data:`PAGES` from its beginning."""
        self._pages.show_value(name)
        document = QTextDocument(self._text)
        document.setDefaultFont(self._theme.font("body"))
        text = resource("help", f"{name}.md").read_text(encoding="utf-8")
        document.setMarkdown(text, QTextDocument.MarkdownFeature.MarkdownDialectGitHub)
        _spread(document)
        self._text.setDocument(document)
        self._text.verticalScrollBar().setValue(0)

    def _on_theme_changed(self) -> None:
        self.show_page(self.page)


def _spread(document: QTextDocument) -> None:
    """Room between lines and paragraphs; headings in the weights of the design."""
    block: QTextBlock = document.begin()
    while block.isValid():
        cursor = QTextCursor(block)
        shape = block.blockFormat()
        level = shape.headingLevel()
        shape.setLineHeight(_LINE, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        shape.setTopMargin(14 if level else 2)
        shape.setBottomMargin(4)
        cursor.setBlockFormat(shape)
        _lighten(document, block, heading=bool(level))
        block = block.next()


def _lighten(document: QTextDocument, block: QTextBlock, *, heading: bool) -> None:
    """Semibold in place of bold, which the variable font would smear."""
    parts = block.begin()
    spans: list[tuple[int, int]] = []
    while not parts.atEnd():
        part = parts.fragment()
        if heading or part.charFormat().fontWeight() > QFont.Weight.Medium:
            spans.append((part.position(), part.length()))
        parts += 1
    letters = QTextCharFormat()
    letters.setFontWeight(QFont.Weight.DemiBold)
    for start, length in spans:
        cursor = QTextCursor(document)
        cursor.setPosition(start)
        cursor.setPosition(start + length, QTextCursor.MoveMode.KeepAnchor)
        cursor.mergeCharFormat(letters)
