"""Inter and JetBrains Mono from their packages; the type roles of the design."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from importlib import resources
from pathlib import Path

from PySide6.QtGui import QFont, QFontDatabase

SANS, MONO = "Inter", "JetBrains Mono"

ROLES: dict[str, tuple[float, int]] = {
    "display": (20, 600),
    "figure": (16, 600),
    "title": (13, 600),
    "section": (12, 600),
    "body": (12, 400),
    "strong": (12, 500),
    "text": (12, 400),
    "small": (11, 400),
    "small-strong": (11, 500),
    "tiny": (10.5, 600),
    "code": (12, 400),
    "code-small": (11.5, 400),
}
"""Role -> device-independent pixels, weight."""


_PACKAGES = ("fontpkg_inter", "fontpkg_jetbrains_mono")


def register() -> None:
    """Tells fontconfig about the bundled fonts; call it before the application object is made.

    Qt 6.11 finds the weights of a variable font only if fontconfig lists them, not with ``addApplicationFont``: a bold
    word or a ``font-weight`` of the style sheet would stay regular. Elsewhere than on Linux this does nothing.
    """
    if not sys.platform.startswith("linux"):
        return
    try:
        library = ctypes.CDLL("libfontconfig.so.1")
        for folder in _folders():
            library.FcConfigAppFontAddDir(None, os.fsencode(folder))
    except (OSError, AttributeError):
        return


def load() -> None:
    """Registers the bundled fonts with Qt where it does not know them yet; without them the system's fonts are used."""
    if {SANS, MONO} <= set(QFontDatabase.families()):
        return
    for folder in _folders():
        for file in folder.glob("*.ttf"):
            QFontDatabase.addApplicationFont(str(file))


def font(role: str, scale: float = 1.0, *, tabular: bool = False) -> QFont:
    """The font of a role; sizes follow ``scale`` (0.9 to 1.5).

    ``tabular`` figures are all of one width, for numbers that change or stand below each other. Not for words: Inter
    then sets hyphens apart too ("Two-page").
    """
    size, weight = ROLES[role]
    code = role.startswith("code")
    made = QFont()
    made.setFamilies([MONO if code else SANS, "DejaVu Sans Mono" if code else "DejaVu Sans"])
    made.setPixelSize(max(10, round(size * scale)))
    made.setWeight(QFont.Weight(weight))
    if weight != 400 and not _has_weights():
        made.setVariableAxis(QFont.Tag("wght"), weight)
    if tabular:
        made.setFeature(QFont.Tag("tnum"), 1)
    if code:
        made.setFeature(QFont.Tag("calt"), 0)
        made.setFeature(QFont.Tag("liga"), 0)
    return made


@cache
def _has_weights() -> bool:
    """Whether the weights of Inter are fonts of their own; see :func:`register`."""
    return "SemiBold" in QFontDatabase.styles(SANS)


def _folders() -> list[Path]:
    found = []
    for package in _PACKAGES:
        try:
            found.append(Path(str(resources.files(package) / "files")))
        except ModuleNotFoundError:
            continue
    return found
