"""The built-in model over HTTP on this machine, for exported code.

Listens on 127.0.0.1 only, answers only requests for a loopback host, sends no CORS headers and wants its key: a web
page in a browser of this machine cannot use it.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import cast
from urllib.parse import urlsplit

from studio.agents.connection import is_loopback
from studio.agents.offline.model import OfflineModel
from studio.agents.offline.protocol import OfflineResponse, problem, respond

_HEAD_LIMIT = 65_536
_BODY_LIMIT = 64_000_000
_IDLE = 60.0
"""Seconds that a connection may wait for its next request."""

_REASONS = {
    200: "OK",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
}


@dataclass(frozen=True, slots=True)
class _Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def keeps_open(self) -> bool:
        return self.headers.get("connection", "").lower() != "close"


class _BadRequest(Exception):
    """The bytes are no request that this server takes."""


class _Connection(asyncio.StreamReaderProtocol):
    """One connection; ``gone`` is set as soon as the other side hangs up, also while nothing is read."""

    def __init__(self, accept: Callable[[_Connection, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]):
        self.gone = asyncio.Event()
        reader = asyncio.StreamReader(limit=_HEAD_LIMIT)
        super().__init__(reader, partial(accept, self))

    def eof_received(self) -> bool | None:
        self.gone.set()
        return super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self.gone.set()
        super().connection_lost(exc)


class Server:
    """A running server; made by :func:`serve`."""

    def __init__(self, model: OfflineModel, key: str) -> None:
        self._model = model
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self.key = key
        """The bearer key that requests must carry."""
        self.port = 0

    @property
    def url(self) -> str:
        """The base URL for a client, with ``/v1``."""
        return f"http://127.0.0.1:{self.port}/v1"

    async def start(self, port: int) -> None:
        """Listens; port 0 takes a free one. Raises OSError if the port is taken."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Connection(self._accept), "127.0.0.1", port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Stops listening and ends every answer that is being sent."""
        if self._server is not None:
            self._server.close()
        for task in tuple(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        if self._server is not None:
            await self._server.wait_closed()
            self._server = None

    # ------------------------------------------------------------------------------------------- one connection

    async def _accept(
        self, connection: _Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            await self._talk(connection, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, TimeoutError, asyncio.CancelledError):
            pass  # the other side went away, or the server is being closed: nobody is there to be told
        finally:
            self._connections.discard(task)
            writer.close()

    async def _talk(self, connection: _Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while not connection.gone.is_set():
            try:
                async with asyncio.timeout(_IDLE):
                    request = await _read_request(reader)
            except _BadRequest as error:
                await _send(writer, problem(400, str(error)), keep=False)
                return
            if request is None:
                return
            await self._send_watched(connection, writer, self._answer(request), request.keeps_open)
            if not request.keeps_open:
                return

    async def _send_watched(
        self, connection: _Connection, writer: asyncio.StreamWriter, answer: OfflineResponse, keep: bool
    ) -> None:
        """Sends, and stops at once when the other side hangs up, even in a long wait."""
        sending = asyncio.ensure_future(_send(writer, answer, keep))
        gone = asyncio.ensure_future(connection.gone.wait())
        try:
            await asyncio.wait((sending, gone), return_when=asyncio.FIRST_COMPLETED)
            if not sending.done():
                raise ConnectionResetError
            sending.result()
        finally:
            sending.cancel()
            gone.cancel()
            await asyncio.gather(sending, gone, return_exceptions=True)

    def _answer(self, request: _Request) -> OfflineResponse:
        host = request.headers.get("host", "")
        if not is_loopback(f"http://{host}"):
            return problem(403, "this server answers on this machine only")
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(key.strip().encode(), self.key.encode()):
            return problem(401, "the key printed at the start of the offline model is needed as bearer")
        return respond(self._model, request.method, urlsplit(request.path).path, request.body)


async def serve(model: OfflineModel, port: int = 0, *, key: str | None = None) -> Server:
    """Starts a server for ``model`` on 127.0.0.1; without ``key`` a random one is made."""
    server = Server(model, key or secrets.token_urlsafe(24))
    await server.start(port)
    return server


async def _read_request(reader: asyncio.StreamReader) -> _Request | None:
    """The next request; None when the other side has closed."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as error:
        if error.partial.strip():
            raise
        return None
    except asyncio.LimitOverrunError as error:
        raise _BadRequest("the head of the request is too long") from error
    lines = head.decode("latin-1").split("\r\n")
    words = lines[0].split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise _BadRequest("this is no HTTP/1.1 request")
    headers: dict[str, str] = {}
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if colon:
            headers[name.strip().lower()] = value.strip()
    return _Request(words[0], words[1], headers, await _read_body(reader, headers))


async def _read_body(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() == "chunked":
        return await _read_chunked(reader)
    length = headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > _BODY_LIMIT:
        raise _BadRequest("the body is too long")
    return await reader.readexactly(int(length))


async def _read_chunked(reader: asyncio.StreamReader) -> bytes:
    body = bytearray()
    while True:
        try:
            size = int((await reader.readline()).split(b";")[0], 16)
        except ValueError as error:
            raise _BadRequest("a chunk of the body has no size") from error
        if len(body) + size > _BODY_LIMIT:
            raise _BadRequest("the body is too long")
        body += await reader.readexactly(size)
        await reader.readline()
        if size == 0:
            return bytes(body)


async def _send(writer: asyncio.StreamWriter, answer: OfflineResponse, keep: bool) -> None:
    headers = {**answer.headers, "connection": "keep-alive" if keep else "close"}
    whole = "content-length" in headers
    if not whole:
        headers["transfer-encoding"] = "chunked"
        headers["cache-control"] = "no-store"
    lines = [f"HTTP/1.1 {answer.status} {_REASONS.get(answer.status, 'Status')}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    head = "\r\n".join([*lines, "", ""]).encode("latin-1")
    async with aclosing(cast("_Closable", answer.pieces)) as pieces:
        if not whole:
            writer.write(head)
            head = b""
        async for piece in pieces:
            writer.write(head + piece if whole else b"%x\r\n%b\r\n" % (len(piece), piece))
            head = b""
            await writer.drain()
    if not whole:
        writer.write(b"0\r\n\r\n")
        await writer.drain()


class _Closable(AsyncIterator[bytes]):
    async def aclose(self) -> None: ...
