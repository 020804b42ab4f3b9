"""A loopback HTTP server that sends exactly the bytes a test wrote, and notes what it was sent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

HOLD = object()
"""In a body: send nothing more and wait until the client hangs up."""


@dataclass(frozen=True)
class Given:
    """One answer. ``body`` is sent piece by piece; without ``chunked`` its end is the end of the connection."""

    body: Sequence[bytes | object] = ()
    status: int = 200
    type: str = "text/event-stream"
    headers: Mapping[str, str] = field(default_factory=dict)
    chunked: bool = False
    hold_head: bool = False
    """Whether not even the head of the answer is sent."""


@dataclass(frozen=True)
class Received:
    """One request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any
    raw: str


class ScriptedServer:
    """Use as ``async with``; request number n gets answer n, later ones the last."""

    def __init__(self, *answers: Given) -> None:
        self.answers = answers
        self.received: list[Received] = []
        self.arrived = asyncio.Event()
        """Set when a request has been read and the head of its answer sent."""
        self.hung_up = 0
        self.hang_up = asyncio.Event()
        """Set when a client has hung up before the answer was over."""
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def __aenter__(self) -> ScriptedServer:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            given = await self._read(reader)
            await self._answer(given, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _read(self, reader: asyncio.StreamReader) -> Given:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        lines = head.split("\r\n")
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        method, path, _ = lines[0].split(" ")
        self.received.append(Received(method, path, headers, json.loads(body or b"null"), head + body.decode()))
        return self.answers[min(len(self.received), len(self.answers)) - 1]

    async def _answer(self, given: Given, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if given.hold_head:
            self.arrived.set()
            await self._until_hang_up(reader)
            return
        headers = {"content-type": given.type, "connection": "close", **given.headers}
        if given.chunked:
            headers["transfer-encoding"] = "chunked"
        lines = [f"HTTP/1.1 {given.status} Status", *(f"{k}: {v}" for k, v in headers.items() if v)]
        writer.write("\r\n".join([*lines, "", ""]).encode())
        await writer.drain()
        for piece in given.body:
            if piece is HOLD:
                self.arrived.set()
                await self._until_hang_up(reader)
                return
            assert isinstance(piece, bytes)
            writer.write(b"%x\r\n%b\r\n" % (len(piece), piece) if given.chunked else piece)
            await writer.drain()
            await asyncio.sleep(0)
        self.arrived.set()

    async def _until_hang_up(self, reader: asyncio.StreamReader) -> None:
        while await reader.read(1024):
            pass
        self.hung_up += 1
        self.hang_up.set()


def event(body: Any, name: str = "") -> bytes:
    """One server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(body)}\n\n".encode()


def delta(finish: str | None = None, **fields: Any) -> bytes:
    """One chunk of a stream."""
    return event({"id": "x", "choices": [{"index": 0, "delta": fields, "finish_reason": finish}]})


def call(index: int | None, id: str | None, name: str | None, arguments: Any, **more: Any) -> dict[str, Any]:
    """One entry of ``tool_calls``; None leaves a field out."""
    function = {k: v for k, v in {"name": name, "arguments": arguments}.items() if v is not None}
    entry = {"index": index, "id": id, "type": "function", "function": function, **more}
    return {k: v for k, v in entry.items() if v is not None}


DONE = b"data: [DONE]\n\n"
