"""MCP over streamable HTTP against a server on loopback, and both kinds on the window's loop."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from mcp.server import MCPServer
from PySide6.QtWidgets import QApplication
from studio.agents.mcp import HttpServer, McpFailed, McpServer, StdioServer, agent_tools, close_all
from studio.bridge import loop
from tests.waiting import until

SCRIPT = Path(__file__).parents[1] / "fakes" / "mcp_server.py"


class Served:
    """A small server with its port."""

    def __init__(self) -> None:
        self.cancelled = asyncio.Event()
        self.waiting = asyncio.Event()
        self.headers: list[dict[str, str]] = []
        app = MCPServer("web")

        @app.tool()
        async def add(a: int, b: int) -> int:
            return a + b

        @app.tool()
        async def wait() -> str:
            self.waiting.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled.set()
                raise
            return ""

        inner = app.streamable_http_app()

        async def noting(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "http":
                self.headers.append({name.decode(): value.decode() for name, value in scope["headers"]})
            await inner(scope, receive, send)

        self.app = noting


class _Quiet(uvicorn.Server):
    def install_signal_handlers(self) -> None:
        """The tests keep theirs."""

    @property
    def should_handle_signals(self) -> bool:
        return False


@asynccontextmanager
async def serving() -> AsyncIterator[tuple[Served, str, Callable[[], Awaitable[None]]]]:
    served = Served()
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    config = uvicorn.Config(served.app, log_level="critical", lifespan="on", timeout_graceful_shutdown=0)
    server = _Quiet(config)
    task = asyncio.create_task(server._serve(sockets=[listening]))

    async def stop() -> None:
        server.should_exit = True
        server.force_exit = True
        await asyncio.wait({task}, timeout=60)

    while not server.started:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    try:
        yield served, f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", stop
    finally:
        await stop()
        listening.close()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
async def test_calls_cancelling_and_closing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    async with serving() as (served, url, _):
        server = McpServer(HttpServer("web", url, {"Authorization": "Bearer t"}, approvals="never"))
        (add, wait) = await agent_tools([server])
        assert add.run is not None
        assert "3" in await add.run({"a": 1, "b": 2})
        assert all(headers.get("authorization") == "Bearer t" for headers in served.headers)
        assert wait.run is not None
        call = asyncio.ensure_future(wait.run({}))
        await asyncio.wait_for(served.waiting.wait(), 60)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await asyncio.wait_for(served.cancelled.wait(), 60)
        assert "5" in await add.run({"a": 2, "b": 3})
        await server.close()
        assert server.state == "closed"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
async def test_server_that_goes_away_fails_the_calls() -> None:
    async with serving() as (_, url, stop):
        server = McpServer(HttpServer("web", url))
        await server.ready()
        await stop()
        with pytest.raises(McpFailed):
            await server.call("add", {"a": 1, "b": 1})
        await server.close()


async def test_address_where_nobody_listens() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = McpServer(HttpServer("web", f"http://127.0.0.1:{port}/mcp"))
    with pytest.raises(McpFailed, match="cannot be used"):
        await server.ready()
    assert server.state == "failed"
    await server.close()


# ------------------------------------------------------------------------------------------- on the window's loop


def test_life_of_a_program_on_the_windows_loop(qapp: QApplication, capfd: pytest.CaptureFixture[str]) -> None:
    """Calls, a crash, a cancelled call, another start, closing; no word on stderr."""

    async def no_wait(seconds: float) -> None:
        return None

    async def main() -> tuple[list[str], str]:
        server = McpServer(StdioServer("tiny", sys.executable, (str(SCRIPT),)), sleep=no_wait)
        texts = [(await server.call("add", {"a": 1, "b": n})).content[0].text for n in range(3)]
        waiting = asyncio.create_task(server.call("wait", {}))
        await until(lambda: "it waits" in server.log)
        waiting.cancel()
        await asyncio.wait({waiting})
        with pytest.raises(McpFailed):
            await server.call("die", {})
        await until(lambda: server.state == "failed")
        texts.append((await server.call("add", {"a": 1, "b": 9})).content[0].text)
        await close_all([server])
        return texts, server.state

    texts, state = loop.run(qapp, main)
    assert texts == ["1", "2", "3", "10"]
    assert state == "closed"
    assert "Error" not in capfd.readouterr().err


def test_quitting_with_a_call_in_flight(qapp: QApplication, capfd: pytest.CaptureFixture[str]) -> None:
    async def main() -> bool:
        servers = [McpServer(StdioServer(f"s{n}", sys.executable, (str(SCRIPT),))) for n in range(3)]
        await asyncio.gather(*(server.ready() for server in servers))
        calls = [asyncio.create_task(server.call("wait", {})) for server in servers]
        await until(lambda: all("it waits" in server.log for server in servers))
        await close_all(servers)
        done = await asyncio.gather(*calls, return_exceptions=True)
        return all(isinstance(error, McpFailed) for error in done)

    assert loop.run(qapp, main)
    assert "Error" not in capfd.readouterr().err
