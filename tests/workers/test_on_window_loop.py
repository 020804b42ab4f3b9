"""The same process on the loop that the window uses."""

from __future__ import annotations

import asyncio

from PySide6.QtWidgets import QApplication
from studio.bridge import loop
from studio.workers import Unit, Worker

from tests.workers.test_worker import Host


def test_an_endless_loop_lets_the_window_live_and_dies_on_cancel(qapp: QApplication) -> None:
    async def main() -> int:
        worker, host = Worker(), Host()
        await worker.load([Unit("node", "print(1)\nwhile True: pass", "body"), Unit("quick", "result = data", "body")])
        task = asyncio.create_task(worker.call("node", "x", host=host))
        await asyncio.wait_for(host.line_came.wait(), 60)
        task.cancel()
        await asyncio.wait([task])
        result = await worker.call("quick", "x" * 1_000_000, host=host)
        await worker.close()
        return len(result)

    assert loop.run(qapp, main) == 1_000_000
