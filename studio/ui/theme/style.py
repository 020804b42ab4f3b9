"""The QPalette and the style sheet, both made from tokens. ``studio.qss`` has marks instead of values:

``@name`` a colour token (``@accent-fill``), ``@size-ROLE`` a font size, ``@len-N`` N pixels at the text scale,
``@icon-NAME-TOKEN`` the path of an SVG in a token's colour. A mark that is none of these raises :class:`KeyError`.
"""

from __future__ import annotations

import re
from dataclasses import fields

from PySide6.QtGui import QColor, QPalette

from studio.settings.places import cache_dir, resource
from studio.ui.theme import icons
from studio.ui.theme.fonts import ROLES
from studio.ui.theme.tokens import Tokens

_MARK = re.compile(r"@([a-z][a-z0-9-]*)")

_ICONS = {
    "check": "check",
    "minus": "minus",
    "down": "chevron-down",
    "up": "chevron-up",
    "right": "chevron-right",
    "close": "x",
    "more": "chevrons-right",
}


def fill(text: str, tokens: Tokens, scale: float) -> str:
    """The text with every mark replaced. Raises ``KeyError`` naming a mark that means nothing."""
    colors = {f.name.replace("_", "-"): str(getattr(tokens, f.name)) for f in fields(Tokens)}

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name in colors:
            return colors[name]
        kind, _, rest = name.partition("-")
        if kind == "size" and rest in ROLES:
            return f"{max(10, round(ROLES[rest][0] * scale))}px"
        if kind == "len" and rest.isdigit():
            return f"{round(int(rest) * max(1.0, scale))}px"
        if kind == "icon":
            glyph, _, token = rest.partition("-")
            if glyph in _ICONS and token in colors:
                return _svg_file(_ICONS[glyph], colors[token])
        raise KeyError(f"@{name}")

    return _MARK.sub(value, text)


def style_sheet(tokens: Tokens, scale: float) -> str:
    """``studio.qss`` for a theme."""
    return fill(resource("themes", "studio.qss").read_text(encoding="utf-8"), tokens, scale)


def palette(tokens: Tokens) -> QPalette:
    """The palette of a theme."""
    role = QPalette.ColorRole
    made = QPalette()
    table = {
        role.Window: tokens.window,
        role.Base: tokens.surface,
        role.AlternateBase: tokens.alt,
        role.Button: tokens.surface,
        role.WindowText: tokens.text,
        role.Text: tokens.text,
        role.ButtonText: tokens.text,
        role.BrightText: tokens.on_accent,
        role.Highlight: tokens.sel,
        role.HighlightedText: tokens.text,
        role.Accent: tokens.accent,
        role.Link: tokens.accent,
        role.LinkVisited: tokens.accent,
        role.PlaceholderText: tokens.muted,
        role.ToolTipBase: tokens.raised,
        role.ToolTipText: tokens.text,
        role.Light: tokens.surface,
        role.Midlight: tokens.line,
        role.Mid: tokens.border,
        role.Dark: tokens.border,
        role.Shadow: tokens.title,
    }
    for key, value in table.items():
        made.setColor(key, QColor(value))
    for key in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText):
        made.setColor(QPalette.ColorGroup.Disabled, key, QColor(tokens.off))
    return made


def _svg_file(icon: str, color: str) -> str:
    """QSS takes images from files only; they are made on first use and kept in the cache folder."""
    folder = cache_dir() / "theme"
    file = folder / f"{icon}-{color.lstrip('#').lower()}.svg"
    if not file.is_file():
        folder.mkdir(exist_ok=True)
        file.write_text(icons.coloured(icon, color), encoding="utf-8")
    return f'"{file.as_posix()}"'
