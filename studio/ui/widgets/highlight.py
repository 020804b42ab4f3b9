"""Highlighters: fields in braces and brackets, and Python or JSON by pygments."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from studio.ui.theme import Theme

if TYPE_CHECKING:
    from pygments.lexer import Lexer
    from pygments.token import _TokenType

_MARKS = re.compile(r"\{[^{}\n]+\}|\[[^\[\]\n]{1,40}\]")
_FIELDS = re.compile(r"\{[^{}\n]+\}")

_CALL = re.compile(r"\b([A-Za-z_]\w*)(?=\()")
_LOAD_AFTER_MS = 200
"""The first code is coloured soon after a window is on the screen: pygments is not loaded before."""


@cache
def _tokens() -> tuple[tuple[_TokenType, str], ...]:
    from pygments.token import Comment, Keyword, Name, Number, Operator, String

    return (
        (Comment, "s_com"),
        (String, "s_str"),
        (Number, "s_num"),
        (Keyword, "s_kw"),
        (Operator.Word, "s_kw"),
        (Name.Decorator, "s_dec"),
        (Name.Class, "s_cls"),
        (Name.Exception, "s_cls"),
        (Name.Builtin, "s_cls"),
        (Name.Function, "s_fn"),
        (Name.Tag, "s_fn"),
    )


def _lexer(language: str) -> Lexer:
    if language == "json":
        from pygments.lexers.data import JsonLexer

        return JsonLexer(stripnl=False)
    from pygments.lexers.python import PythonLexer

    return PythonLexer(stripnl=False)


class FieldHighlighter(QSyntaxHighlighter):
    """Marks ``{field}`` and, in prompts, ``[placeholder]``."""

    def __init__(self, document: QTextDocument, theme: Theme, *, brackets: bool) -> None:
        super().__init__(document)
        self._theme = theme
        self._pattern = _MARKS if brackets else _FIELDS
        theme.changed.connect(self.rehighlight)

    def highlightBlock(self, text: str) -> None:
        form = QTextCharFormat()
        form.setForeground(self._theme.color("accent"))
        form.setBackground(self._theme.color("soft"))
        for found in self._pattern.finditer(text):
            self.setFormat(found.start(), found.end() - found.start(), form)


class CodeHighlighter(QSyntaxHighlighter):
    """Python or JSON. The whole text is lexed once per change, lines are coloured from the result."""

    def __init__(self, document: QTextDocument, theme: Theme, language: str) -> None:
        super().__init__(document)
        self._theme = theme
        self._language = language
        self._lexer: Lexer | None = None
        self._revision = -1
        self._lines: list[Line] = []
        theme.changed.connect(self.rehighlight)
        if "pygments.lexer" in sys.modules:
            self._load()
        else:
            QTimer.singleShot(_LOAD_AFTER_MS, self, self._load_when_shown)

    def _load_when_shown(self) -> None:
        shown = any(window.isExposed() for window in QGuiApplication.topLevelWindows())
        QTimer.singleShot(_LOAD_AFTER_MS, self, self._load if shown else self._load_when_shown)

    def _load(self) -> None:
        self._lexer = _lexer(self._language)
        if not self.document().isEmpty():
            self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        if self._lexer is None:
            return
        if self.document().revision() != self._revision:
            self._revision = self.document().revision()
            self._lines = lines_of(self._lexer, self.document().toPlainText(), calls=self._language == "python")
        number = self.currentBlock().blockNumber()
        if number >= len(self._lines):
            return
        line = self._lines[number]
        self.setCurrentBlockState(int(line.goes_on))
        for start, length, token in line.spans:
            form = QTextCharFormat()
            form.setForeground(self._theme.color(token))
            form.setFontItalic(token == "s_com")
            self.setFormat(start, length, form)


@dataclass(slots=True)
class Line:
    """Spans of one line as (start, length, colour token); ``goes_on``: its last token ends on a later line."""

    spans: list[tuple[int, int, str]] = field(default_factory=list)
    goes_on: bool = False


def lines_of(lexer: Lexer, text: str, *, calls: bool) -> list[Line]:
    """The coloured spans of every line; ``calls`` also colours names before a bracket."""
    from pygments.token import is_token_subtype

    lines = [Line()]
    column = 0
    for kind, value in lexer.get_tokens(text):
        token = next((name for parent, name in _tokens() if is_token_subtype(kind, parent)), "")
        for i, part in enumerate(value.split("\n")):
            if i:
                lines[-1].goes_on = bool(token)
                lines.append(Line())
                column = 0
            if token and part:
                lines[-1].spans.append((column, len(part), token))
            column += len(part)
    if calls:
        for line, written in zip(lines, text.split("\n"), strict=False):
            taken = {c for start, length, _ in line.spans for c in range(start, start + length)}
            line.spans += [(m.start(), len(m[1]), "s_fn") for m in _CALL.finditer(written) if m.start() not in taken]
    return lines
