"""Work in threads of the pool, without garbage collections there: one would destroy widgets outside their thread."""

from __future__ import annotations

import gc
from collections.abc import Callable
from threading import Lock

_lock = Lock()
_at_work = 0


def quietly(work: Callable[[], object]) -> Callable[[], None]:
    """The work, with the collector off until all such work is done."""

    def run() -> None:
        global _at_work
        with _lock:
            _at_work += 1
            gc.disable()
        try:
            work()
        finally:
            with _lock:
                _at_work -= 1
                if not _at_work:
                    gc.enable()

    return run
