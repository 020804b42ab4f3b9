"""What to do where there is no display."""

from __future__ import annotations


def headless_hint(reason: str = "There is no display, so no window can be opened.") -> str:
    """Text for stderr when no window can be opened, after the reason; the program then ends with exit code 2."""
    return (
        f"{reason}\nWithout a window: superstep-studio run FILE --input TEXT\nAll commands: superstep-studio --help\n"
    )
