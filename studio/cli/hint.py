"""What to do where there is no display."""

from __future__ import annotations


def headless_hint() -> str:
    """Text for stderr when no window can be opened; the program then ends with exit code 2."""
    return (
        "There is no display, so no window can be opened.\n"
        "Without a window: superstep-studio run FILE --input TEXT\n"
        "All commands: superstep-studio --help"
    )
