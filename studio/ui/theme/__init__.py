"""Colours, fonts and icons of the window."""

from studio.ui.theme.theme import Theme
from studio.ui.theme.tokens import Tokens

__all__ = ["Theme", "Tokens"]
