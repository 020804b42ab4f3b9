"""The one event loop of window and engine: asyncio on Qt's loop, with a ready queue.

qasync 0.28 starts and kills a Qt timer per callback and per delay, and sets no async-generator hooks. Here
callbacks wait in a queue that one zero timer drains for at most 4 ms at a time, so that the window gets its turn;
delays wait in a heap with one precise timer; and dropped generators are closed by the loop, not by the collector.
"""

from __future__ import annotations

import asyncio
import gc
import heapq
import itertools
import math
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context
from typing import Any, TypeVar

import qasync
from PySide6.QtCore import QCoreApplication, QObject, Qt, QTimer, Signal

from studio.bridge.collecting import ShortCollections

_Result = TypeVar("_Result")

BUDGET = 0.004
"""Seconds of callbacks in one go; looked at after every callback."""
_THREADS = 4
_SWITCH = 0.0005
"""Seconds after which a thread gives the interpreter up; with Python's 5 ms every call into Qt may wait as long."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class _Waker(QObject):
    """Brings a wake-up from another thread to the loop's thread."""

    woken = Signal()


class StudioEventLoop(qasync.QEventLoop):  # type: ignore[misc]
    """A qasync loop with its own ready queue, timers and generator hooks."""

    def __init__(self, app: QCoreApplication, budget: float = BUDGET) -> None:
        self._budget = budget
        self._handles: deque[asyncio.Handle] = deque()
        self._draining = False
        self._delayed: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._order = itertools.count()
        self._dead_delays = 0
        self._drain_timer = QTimer()
        self._drain_timer.setSingleShot(True)
        self._drain_timer.setInterval(0)
        self._drain_timer.timeout.connect(self._drain)
        self._delay_timer = QTimer()
        self._delay_timer.setSingleShot(True)
        self._delay_timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._delay_timer.timeout.connect(self._take_due)
        self._waker = _Waker()
        self._waker.woken.connect(self._arm)
        super().__init__(app)
        self.set_default_executor(ThreadPoolExecutor(_THREADS, thread_name_prefix="studio"))

    # ------------------------------------------------------------------------------------------- callbacks

    def call_soon(self, callback: Callable[..., Any], *args: Any, context: Context | None = None) -> asyncio.Handle:
        """Runs a callback in the next turn of the loop."""
        self._check_closed()
        handle = asyncio.Handle(callback, args, self, context=context)
        self._handles.append(handle)
        self._arm()
        return handle

    def call_soon_threadsafe(
        self, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        """The same from another thread; unlike qasync's it keeps ``context``."""
        self._check_closed()
        handle = asyncio.Handle(callback, args, self, context=context)
        self._handles.append(handle)
        self._waker.woken.emit()
        return handle

    def call_later(
        self, delay: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Runs a callback after ``delay`` seconds."""
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at(
        self, when: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Runs a callback at a moment of :meth:`time`."""
        self._check_closed()
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        heapq.heappush(self._delayed, (when, next(self._order), handle))
        handle._scheduled = True  # type: ignore[attr-defined]
        if self._delayed[0][2] is handle:
            self._wait_for_next()
        return handle

    def _add_callback(self, handle: asyncio.Handle, delay: float = 0) -> asyncio.Handle:
        """What asyncio's signal handling calls."""
        self._handles.append(handle)
        self._arm()
        return handle

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """A cancelled delay is left in the heap, unless most of the heap is cancelled."""
        self._dead_delays += 1
        if self._dead_delays > 64 and self._dead_delays * 2 > len(self._delayed):
            self._delayed = [entry for entry in self._delayed if not entry[2].cancelled()]
            heapq.heapify(self._delayed)
            self._dead_delays = 0

    def _arm(self) -> None:
        if not self._draining and self._handles:
            self._draining = True
            self._drain_timer.start()

    def _drain(self) -> None:
        handles = self._handles
        end = time.perf_counter() + self._budget
        try:
            while handles:
                handle = handles.popleft()
                if not handle.cancelled():
                    handle._run()
                if time.perf_counter() > end:
                    break
        finally:
            self._draining = False
            self._arm()

    def _take_due(self) -> None:
        now = self.time()
        while self._delayed and (self._delayed[0][0] <= now or self._delayed[0][2].cancelled()):
            handle = heapq.heappop(self._delayed)[2]
            handle._scheduled = False  # type: ignore[attr-defined]
            if not handle.cancelled():
                self._handles.append(handle)
        self._arm()
        self._wait_for_next()

    def _wait_for_next(self) -> None:
        if self._delayed:
            self._delay_timer.start(max(0, math.ceil((self._delayed[0][0] - self.time()) * 1000)))
        else:
            self._delay_timer.stop()

    # ----------------------------------------------------------------------------------------- start and end

    def run_forever(self) -> int:
        """Runs until :meth:`stop`, with the hooks that asyncio's own loops set."""
        before = sys.get_asyncgen_hooks()
        sys.set_asyncgen_hooks(
            firstiter=self._asyncgen_firstiter_hook,
            finalizer=self._asyncgen_finalizer_hook,
        )
        try:
            return int(super().run_forever())
        finally:
            sys.set_asyncgen_hooks(*before)

    def close(self) -> None:
        """Ends timers and threads; the loop cannot be used again."""
        self._drain_timer.stop()
        self._delay_timer.stop()
        super().close()
        self._handles.clear()
        self._delayed.clear()


def run(app: QCoreApplication, main: Callable[[], Coroutine[Any, Any, _Result]]) -> _Result:
    """Runs ``main`` on the loop of window and engine to its end, then cancels and awaits what is left.

    What is loaded by now is kept from the collector: a full collection over it would stop the window for 100 ms.
    Ctrl+C and SIGTERM cancel ``main``, which then raises ``asyncio.CancelledError`` out of here if it lets it pass.
    """
    gc.freeze()
    collections = ShortCollections(app)
    sys.setswitchinterval(_SWITCH)
    loop = StudioEventLoop(app)
    asyncio.set_event_loop(loop)
    try:
        task = loop.create_task(main())
        for number in _SIGNALS if sys.platform != "win32" else ():
            loop.add_signal_handler(number, task.cancel)
        return loop.run_until_complete(task)  # type: ignore[no-any-return]
    finally:
        try:
            _cancel_rest(loop)
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            collections.end()
            asyncio.set_event_loop(None)
            loop.close()


def _cancel_rest(loop: StudioEventLoop) -> None:
    rest = asyncio.all_tasks(loop)
    for task in rest:
        task.cancel()
    if rest:
        loop.run_until_complete(asyncio.gather(*rest, return_exceptions=True))
    for task in rest:
        if not task.cancelled() and task.exception() is not None:
            loop.call_exception_handler(
                {"message": "A task failed while the program ended", "exception": task.exception(), "task": task}
            )
