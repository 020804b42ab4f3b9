"""Runs coroutines on the product's loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication
from studio.bridge.loop import run

OnLoop = Callable[[Callable[[], Coroutine[Any, Any, Any]]], Any]


@pytest.fixture
def on_loop(qapp: QApplication) -> OnLoop:
    """``on_loop(main)`` runs the coroutine function on the product's loop, for at most two minutes."""

    def start(main: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        async def limited() -> Any:
            async with asyncio.timeout(120):
                return await main()

        return run(qapp, limited)

    return start
