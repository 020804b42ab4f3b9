"""LP-1: the loop of window and engine."""

from __future__ import annotations

import asyncio
import gc
import itertools
import threading
import time
from collections.abc import AsyncIterator
from contextvars import ContextVar

import pytest
from PySide6.QtCore import QTimer

from tests.bridge.conftest import OnLoop
from tests.waiting import until


def test_the_window_gets_its_turn_between_many_heavy_callbacks(on_loop: OnLoop) -> None:
    ticks: list[int] = []
    pieces = 0

    async def busy() -> None:
        nonlocal pieces
        end = time.perf_counter() + 60
        while len(ticks) < 30 and time.perf_counter() < end:
            start = time.perf_counter()
            while time.perf_counter() < start + 0.001:
                pass
            pieces += 1
            await asyncio.sleep(0)

    async def main() -> None:
        timer = QTimer()
        timer.setInterval(2)
        timer.timeout.connect(lambda: ticks.append(pieces))
        timer.start()
        await asyncio.gather(*(busy() for _ in range(20)))
        timer.stop()

    on_loop(main)
    gaps = [b - a for a, b in itertools.pairwise(ticks)]
    assert len(gaps) > 20
    assert sorted(gaps)[len(gaps) // 2] < 12, "a round of all twenty would be 20 pieces"


def test_a_dropped_half_read_stream_is_closed_by_the_loop(
    on_loop: OnLoop, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    closed: list[bool] = []

    async def stream() -> AsyncIterator[int]:
        try:
            for i in range(10):
                yield i
        finally:
            await asyncio.sleep(0)
            closed.append(True)

    async def main() -> None:
        source = stream()
        assert await anext(source) == 0
        del source
        gc.collect()
        await until(lambda: closed == [True], "the stream is closed")

    on_loop(main)
    assert capfd.readouterr().err == ""
    assert not [r for r in caplog.records if r.levelname in ("WARNING", "ERROR")]


def test_a_stream_left_open_at_the_end_is_closed(on_loop: OnLoop) -> None:
    closed: list[bool] = []
    kept: list[AsyncIterator[int]] = []

    async def stream() -> AsyncIterator[int]:
        try:
            yield 1
            yield 2
        finally:
            await asyncio.sleep(0)
            closed.append(True)

    async def main() -> None:
        kept.append(stream())
        await anext(kept[0])

    on_loop(main)
    assert closed == [True]


def test_delays_come_in_order_and_never_early(on_loop: OnLoop) -> None:
    seen: list[int] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        started = loop.time()
        loop.call_later(0.03, seen.append, 3)
        loop.call_later(0.01, seen.append, 1)
        loop.call_later(0.02, seen.append, 2)
        loop.call_later(0.015, seen.append, 9).cancel()
        await asyncio.sleep(0.04)
        assert loop.time() - started >= 0.04

    on_loop(main)
    assert seen == [1, 2, 3]


def test_many_cancelled_delays_are_forgotten(on_loop: OnLoop) -> None:
    async def main() -> int:
        loop = asyncio.get_running_loop()
        for _ in range(500):
            loop.call_later(60, print).cancel()
        return len(loop._delayed)  # type: ignore[attr-defined]

    assert on_loop(main) < 200


def test_a_call_from_a_thread_keeps_its_context(on_loop: OnLoop) -> None:
    name: ContextVar[str] = ContextVar("name", default="")
    seen: list[str] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        done = asyncio.Event()

        def here() -> None:
            seen.append(name.get())
            done.set()

        def there() -> None:
            name.set("from the thread")
            loop.call_soon_threadsafe(here)

        threading.Thread(target=there).start()
        await done.wait()
        assert await asyncio.to_thread(lambda: 4) == 4

    on_loop(main)
    assert seen == ["from the thread"]


def test_left_tasks_are_cancelled_and_awaited_at_the_end(on_loop: OnLoop) -> None:
    ended: list[str] = []
    tasks = []

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append("awaited")

    async def main() -> str:
        tasks.append(asyncio.create_task(forever()))
        await asyncio.sleep(0)
        return "result"

    assert on_loop(main) == "result"
    assert ended == ["awaited"]


def test_processes_and_their_pipes_work(on_loop: OnLoop) -> None:
    async def main() -> bytes:
        process = await asyncio.create_subprocess_exec("cat", stdin=-1, stdout=-1)
        out, _ = await process.communicate(b"through a pipe")
        return out

    assert on_loop(main) == b"through a pipe"
