"""The stdio transport for the ``mcp`` package, on a process of ours: its pid is known and its end is noticed."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from types import TracebackType
from typing import Any

from studio.agents.mcp.process import ServerProcess
from studio.agents.mcp.settings import StdioServer

Recorder = Callable[[str, bytes], None]
"""Gets every message with its direction, "in" or "out"."""


class StdioTransport:
    """An async context manager that gives the package's two streams of messages."""

    def __init__(
        self,
        server: StdioServer,
        log: Callable[[str], None],
        exited: Callable[[int], None],
        record: Recorder | None = None,
    ) -> None:
        self._server = server
        self._log = log
        self._exited = exited
        self._record = record
        self._read: Any = None
        self._writer: asyncio.Task[None] | None = None
        self._streams: list[Any] = []
        self.process = ServerProcess(self._received, log, self._on_exit)

    async def __aenter__(self) -> tuple[Any, Any]:
        import anyio

        read_send, read = anyio.create_memory_object_stream[Any](math.inf)
        write, write_receive = anyio.create_memory_object_stream[Any](0)
        self._read = read_send
        self._streams = [read_send, read, write, write_receive]
        try:
            await self.process.start(self._server)
        except BaseException:
            await self.process.stop()
            self._close_streams()
            raise
        self._writer = asyncio.create_task(self._write(write_receive))
        return read, write

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._writer is not None:
            self._writer.cancel()
            await asyncio.gather(self._writer, return_exceptions=True)
        try:
            await self.process.stop()
        finally:
            self._close_streams()

    def _close_streams(self) -> None:
        for stream in self._streams:
            stream.close()

    async def _write(self, messages: Any) -> None:
        async for message in messages:
            line = message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
            if self._record is not None:
                self._record("out", line)
            self.process.write(line)

    def _received(self, line: bytes) -> None:
        """A line of the server's output: a message, or something that a print left there."""
        if not line.strip():
            return
        import mcp_types
        from mcp.shared.message import SessionMessage

        try:
            message = mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            self._log(line.decode("utf-8", "replace").rstrip("\r"))
            return
        if self._record is not None:
            self._record("in", line)
        self._give(SessionMessage(message))

    def _give(self, message: Any) -> None:
        import anyio

        try:
            self._read.send_nowait(message)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return  # nobody listens any more

    def _on_exit(self, code: int) -> None:
        """Calls that wait for an answer learn that there will be none."""
        if self._read is not None:
            self._read.close()
        self._exited(code)
