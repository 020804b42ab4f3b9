"""Properties that the style sheet looks at."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget


def repolish(widget: QWidget, name: str, value: object) -> None:
    """Sets a property and lets the style sheet look again."""
    if widget.property(name) != value:
        widget.setProperty(name, value)
        widget.style().unpolish(widget)
        widget.style().polish(widget)
        widget.update()
