"""Ctrl+C and termination as a call on the loop."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable


def on_interrupt(call: Callable[[], object]) -> None:
    """Calls ``call`` on the running loop at the first signal; the second one ends the program hard."""
    if sys.platform == "win32":
        return
    loop = asyncio.get_running_loop()

    def once() -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
        call()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, once)
