"""The colours of a file's text, kept: a thread lexes what the window shows next."""

from __future__ import annotations

from functools import lru_cache

from studio.ui.widgets.highlight import Line, lines_of


@lru_cache(maxsize=64)
def coloured(path: str, text: str) -> tuple[Line, ...]:
    """The coloured spans of every line; the lexer is chosen by the file's name."""
    from pygments.lexers import get_lexer_for_filename
    from pygments.lexers.special import TextLexer
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_for_filename(path, stripnl=False)
    except ClassNotFound:
        lexer = TextLexer(stripnl=False)
    return tuple(lines_of(lexer, text, calls=path.endswith(".py")))
