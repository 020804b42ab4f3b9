"""What panels add to the application's style sheet: label roles and fields whose focus line grows outwards."""

from __future__ import annotations

from studio.ui.theme import Theme
from studio.ui.theme.style import fill

_SHEET = """
QLabel { color: @text; background: transparent; border: none; }
QLabel[tone="text2"] { color: @text2; }
QLabel[tone="muted"] { color: @muted; }
QLabel[tone="off"] { color: @off; }
QLabel[tone="accent"] { color: @accent; }
QLabel[tone="fail_t"] { color: @fail-t; }
QLabel[tone="wait_t"] { color: @wait-t; }
QLabel[tone="run_t"] { color: @run-t; }
QLabel[tone="done_t"] { color: @done-t; }
QLabel[tone="bp_t"] { color: @bp-t; }
QLineEdit { margin: 1px; border: 1px solid @ctl; border-radius: 5px; background: @surface; color: @text;
  padding: 0 6px; min-height: @len-26; max-height: @len-26;
  selection-background-color: @sel-line; selection-color: @text; }
QLineEdit[small="true"] { min-height: @len-22; max-height: @len-22; }
QLineEdit:focus { margin: 0; border: 2px solid @accent; border-radius: 6px; }
QLineEdit[bad="true"] { margin: 0; border: 2px solid @fail; border-radius: 6px; }
QLineEdit:disabled, QLineEdit:read-only { color: @text2; background: @alt; border-color: @border; }
QLineEdit[bare="true"] { margin: 0; border: none; background: transparent; padding: 0; min-height: @len-20;
  max-height: @len-20; }
QTextEdit, QPlainTextEdit { margin: 1px; border: 1px solid @ctl; border-radius: 5px; background: @surface; color: @text;
  padding: 3px 5px; selection-background-color: @sel-line; selection-color: @text; }
QTextEdit:focus, QPlainTextEdit:focus { margin: 0; border: 2px solid @accent; border-radius: 6px; }
QTextEdit[bad="true"] { margin: 0; border: 2px solid @fail; border-radius: 6px; }
QTextEdit[read="true"], QPlainTextEdit[read="true"] { background: @surface; border-color: @border; color: @text2; }
QTextEdit[code="true"] { background: @canvas; font-family: "JetBrains Mono", "DejaVu Sans Mono";
  font-size: @size-code-small; }
QScrollArea { background: transparent; border: none; }
QScrollArea > QWidget#page { background: transparent; }
QHeaderView { background: transparent; border: none; }
QHeaderView::section { background: transparent; border: none; border-bottom: 1px solid @line; color: @muted;
  font-size: @size-small; font-weight: 500; padding: 0 10px; min-height: @len-23; max-height: @len-23;
  text-align: left; }
"""


def sheet(theme: Theme) -> str:
    """The style sheet of a panel."""
    return fill(_SHEET, theme.tokens, theme.scale)
