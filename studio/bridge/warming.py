"""Loads what a first run needs while the window is idle, module by module in a thread that rests in between."""

from __future__ import annotations

import gc
import sys
import time
from importlib import import_module
from threading import Event, get_ident

_LEAST_REST, _MOST_REST = 0.003, 0.05
"""Seconds between two modules, in which the window has the interpreter to itself."""
_PLANS = (
    "studio.debugger.preparation",
    "studio.assembly.services",
    "studio.debugger.telemetry",
    "studio.debugger.instrument",
    "studio.debugger.context.before_calls",
)
"""Also what a session imports on the loop when it starts."""


def load_plans() -> None:
    """Loads what makes a document runnable; waits for a thread that is loading it. Not on the loop."""
    for name in _PLANS:
        import_module(name)


class _Ended(BaseException):
    """The program ends: nothing more is loaded. No ``Exception``, since modules try imports and go on without."""


class Warming:
    """Importing holds the interpreter; without rests the window would stand still for up to 200 ms."""

    def __init__(self) -> None:
        self._hurry = Event()
        self._end = False
        self._thread = 0
        self._woke = 0.0

    def hurry(self) -> None:
        """Somebody waits for what is being loaded: no more rests."""
        self._hurry.set()

    def end(self) -> None:
        """Stops at the next module."""
        self._end = True
        self._hurry.set()

    def load(self) -> None:
        """For a thread: loads everything. What is loaded stays, so it is kept from the collector afterwards; until then
        collections would go over it again and again."""
        self._thread, self._woke = get_ident(), time.thread_time()
        sys.meta_path.insert(0, self)
        gc.disable()
        try:
            load_plans()
            from studio.agents.connection import preload

            preload()
        except _Ended:
            return
        finally:
            sys.meta_path.remove(self)
            gc.freeze()
            gc.enable()

    def find_spec(self, _name: str, _path: object = None, _target: object = None) -> None:
        """Asked for every module that is about to be loaded: finds nothing, but rests, in the loading thread."""
        if get_ident() != self._thread:
            return
        if self._end:
            raise _Ended
        worked = time.thread_time() - self._woke
        self._hurry.wait(min(_MOST_REST, max(_LEAST_REST, 2 * worked)))
        self._woke = time.thread_time()
