"""Recording and replaying as transports of the HTTP client. Imported on first use only: it imports ``httpx2``."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2

from studio.agents.cassettes.cassette import CLOSED, COMPLETE, CallEntry, Cassette, call_key
from studio.agents.cassettes.tape import Tape
from studio.agents.failures import NOT_RECORDED
from studio.agents.openai_client import NODE_HEADER

_Chunks = tuple[tuple[float, bytes], ...]
_KEPT_HEADERS = ("content-type", "retry-after", "x-request-id")


class ThroughClient(httpx2.AsyncBaseTransport):
    """A whole client as a transport: with its proxies, certificates and limits."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        return await self._client.send(request, stream=True)

    async def aclose(self) -> None:
        await self._client.aclose()


class RecordingTransport(httpx2.AsyncBaseTransport):
    """Passes everything on as it comes and keeps it. The node's name leaves only for an answer made in-process."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, tape: Tape, *, in_process: bool) -> None:
        self._inner = inner
        self._tape = tape
        self._in_process = in_process

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        asked = await _Asked.of(request, self._tape)
        return await self.record(request, asked)

    async def record(self, request: httpx2.Request, asked: _Asked) -> httpx2.Response:
        """The real answer, recorded while it is read."""
        if not self._in_process and NODE_HEADER in request.headers:
            del request.headers[NODE_HEADER]
        request.headers["accept-encoding"] = "identity"
        try:
            response = await self._inner.handle_async_request(request)
        except httpx2.TransportError as error:
            self._tape.cassette.add_call(asked.entry(0, {}, (), f"{type(error).__name__}: {error}"))
            raise
        headers = {name: value for name in _KEPT_HEADERS if (value := response.headers.get(name)) is not None}
        passed = [(name, value) for name, value in response.headers.raw if name.lower() != b"content-encoding"]
        stream = _Recorded(response, asked, headers, self._tape.cassette)
        return httpx2.Response(response.status_code, headers=passed, stream=stream, extensions=response.extensions)

    async def aclose(self) -> None:
        await self._inner.aclose()


class ReplayTransport(httpx2.AsyncBaseTransport):
    """Answers from a cassette. ``speed`` 1 keeps the recorded times, 0 waits for nothing.

    What was never recorded is an error at once, or recorded now if there is a ``recorder``.
    """

    def __init__(self, tape: Tape, speed: float = 0, recorder: RecordingTransport | None = None) -> None:
        self._tape = tape
        self._speed = speed
        self._recorder = recorder

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        asked = await _Asked.of(request, self._tape)
        entry = self._tape.find(asked.key, asked.node, asked.index, asked.body)
        if entry is not None:
            if entry.status == 0:
                raise httpx2.ConnectError(f"as recorded: {entry.end}", request=request)
            headers = {k: v for k, v in entry.headers.items() if self._speed or k != "retry-after"}
            return httpx2.Response(entry.status, headers=headers, stream=_Replayed(entry, self._speed))
        if self._recorder is not None:
            return await self._recorder.record(request, asked)
        message = self._tape.missing(asked.node, asked.index)
        body = {"error": {"message": message, "code": NOT_RECORDED}}
        return httpx2.Response(400, headers={"x-should-retry": "false"}, json=body)

    async def aclose(self) -> None:
        if self._recorder is not None:
            await self._recorder.aclose()


class _Asked:
    """A request as a cassette sees it."""

    def __init__(self, key: str, node: str, index: int, body: Any) -> None:
        self.key, self.node, self.index, self.body = key, node, index, body

    @staticmethod
    async def of(request: httpx2.Request, tape: Tape) -> _Asked:
        """Reads the request and counts it."""
        raw = await request.aread()
        try:
            body: Any = json.loads(raw) if raw else None
        except ValueError:
            body = raw.decode("utf-8", "replace")
        node = request.headers.get(NODE_HEADER, "").encode("ascii", "replace").decode("unicode_escape")
        return _Asked(call_key(request.method, request.url.path, body), node, tape.next_index(node), body)

    def entry(
        self, status: int, headers: dict[str, str], chunks: tuple[tuple[float, bytes], ...], end: str
    ) -> CallEntry:
        """What goes onto the cassette."""
        model, usage = _model_and_usage(b"".join(piece for _, piece in chunks))
        return CallEntry(self.key, self.node, self.index, self.body, status, headers, chunks, end, model, usage)


class _Recorded(httpx2.AsyncByteStream):
    """A stream that is kept when it is over, however it ends."""

    def __init__(self, response: httpx2.Response, asked: _Asked, headers: dict[str, str], cassette: Cassette) -> None:
        self._response = response
        self._asked = asked
        self._headers = headers
        self._cassette = cassette
        self._chunks: list[tuple[float, bytes]] = []
        self._end = CLOSED
        self._kept = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        begun = asyncio.get_running_loop().time()
        try:
            async for piece in self._response.aiter_bytes():
                self._chunks.append(((asyncio.get_running_loop().time() - begun) * 1000, piece))
                yield piece
            self._end = COMPLETE
        except httpx2.TransportError as error:
            self._end = f"{type(error).__name__}: {error}"
            raise

    async def aclose(self) -> None:
        try:
            await self._response.aclose()
        finally:
            if not self._kept:
                self._kept = True
                if self._end == CLOSED and any(b"[DONE]" in piece for _, piece in self._chunks[-2:]):
                    self._end = COMPLETE  # our reader stops where the server says that nothing follows
                entry = self._asked.entry(self._response.status_code, self._headers, tuple(self._chunks), self._end)
                self._cassette.add_call(entry)


class _Replayed(httpx2.AsyncByteStream):
    def __init__(self, entry: CallEntry, speed: float) -> None:
        self._entry = entry
        self._speed = speed

    async def __aiter__(self) -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        for time, piece in self._entry.chunks:
            if self._speed:
                await asyncio.sleep(max(0.0, begun + time / 1000 / self._speed - loop.time()))
            else:
                await asyncio.sleep(0)
            yield piece
        if self._entry.end != COMPLETE:
            raise httpx2.ReadError(f"as recorded: {self._entry.end}")


def _model_and_usage(answer: bytes) -> tuple[str, Any]:
    """What the answer says of itself, if it is one we know."""
    model, usage = "", None
    for line in answer.decode("utf-8", "replace").split("\n"):
        text = line.removeprefix("data:").strip()
        if '"model"' not in text and '"usage"' not in text:
            continue
        try:
            body = json.loads(text)
        except ValueError:
            continue
        if isinstance(body, dict):
            model = body["model"] if isinstance(body.get("model"), str) else model
            usage = body["usage"] if isinstance(body.get("usage"), dict) else usage
    return model, usage
