"""Inter and JetBrains Mono from their packages; the type roles of the design."""

from __future__ import annotations

from importlib import resources

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
    "tiny": (10.5, 600),
    "code": (12, 400),
    "code-small": (11.5, 400),
}
"""Role -> device-independent pixels, weight."""


def load() -> None:
    """Registers the bundled fonts; a missing package leaves the system's fonts."""
    for package in ("fontpkg_inter", "fontpkg_jetbrains_mono"):
        try:
            folder = resources.files(package) / "files"
        except ModuleNotFoundError:
            continue
        for file in folder.iterdir():
            if file.name.endswith(".ttf"):
                QFontDatabase.addApplicationFont(str(file))


def font(role: str, scale: float = 1.0) -> QFont:
    """The font of a role; sizes follow ``scale`` (0.9 to 1.5)."""
    size, weight = ROLES[role]
    code = role.startswith("code")
    made = QFont()
    made.setFamilies([MONO if code else SANS, "DejaVu Sans Mono" if code else "DejaVu Sans"])
    made.setPixelSize(max(10, round(size * scale)))
    made.setWeight(QFont.Weight(weight))
    # Qt 6.11 does not derive the axis of a variable application font from the weight.
    made.setVariableAxis(QFont.Tag("wght"), weight)
    made.setFeature(QFont.Tag("tnum"), 1)
    if code:
        made.setFeature(QFont.Tag("calt"), 0)
        made.setFeature(QFont.Tag("liga"), 0)
    return made
