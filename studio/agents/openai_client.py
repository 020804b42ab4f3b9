"""The chat client for everything that speaks Chat Completions, on the ``openai`` package.

The package makes the request; the answer is read by our own reader, because the typed stream takes cut answers for
whole ones and loses errors. Retries are our own, so that each wait can be seen and ended.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

from studio.agents.answer import Answer
from studio.agents.client import ChatRequest, ChunkSink, RunHooks
from studio.agents.connection import ClientSettings, connect
from studio.agents.errors import ProviderError
from studio.agents.hiding import Hider
from studio.agents.messages import AgentReply, AgentUpdate, Part, ToolCall
from studio.agents.pacing import PacedReads
from studio.agents.raw_answer import RawAnswer
from studio.agents.reading import StallWatch, provider_errors
from studio.agents.retries import RetryPolicy
from studio.agents.sse import SseReader
from studio.agents.switches import Switches
from studio.agents.wire import wire_messages, wire_options

if TYPE_CHECKING:
    import openai

NODE_HEADER = "x-superstep-node"
_LOOP_SHARE = 0.004
"""Seconds of parsing after which the loop gets its turn: hundreds of chunks may wait in the socket's buffer."""


class OpenAIChatClient:
    """One provider, one key. Connections are opened at the first call and given up by :meth:`close`."""

    def __init__(self, settings: ClientSettings) -> None:
        self._settings = settings
        self._origin = hashlib.sha256(f"{settings.base_url} {settings.model}".encode()).hexdigest()[:16]
        self._client: asyncio.Task[openai.AsyncOpenAI] | None = None
        self._slots = asyncio.Semaphore(settings.max_parallel)
        self._retries = RetryPolicy(settings.tries)
        self._hider = Hider(settings.known or (lambda: self._own_key))
        self._own_key = frozenset({settings.api_key})
        self._paced = settings.transport is None and settings.around is None
        """Whether pieces come from a socket, which goes on collecting while nobody reads."""
        self.switches = settings.first_switches()
        """How this provider is spoken to; changes when it refuses a setting."""

    @property
    def model(self) -> str:
        """The model asked when a request names none."""
        return self._settings.model

    def spoken_to(self) -> tuple[str, Switches]:
        """The address, and how it is spoken to."""
        return self._settings.base_url, self.switches

    def retry_now(self) -> None:
        """Ends all waits before a further try."""
        self._retries.wake()

    async def complete(self, request: ChatRequest, *, chunk: ChunkSink | None, hooks: RunHooks) -> AgentReply:
        """One model call, see :class:`studio.agents.client.ChatClient`."""
        async with self._slots:
            attempt = 1
            learned = False
            while True:
                await self._retries.pass_gate(request.call, hooks)
                sink = _Sink(chunk)
                try:
                    reply = await self._try(request, sink)
                    self._tell_raw(request, sink, reply, hooks)
                    if learned or not self._disobeyed(request, reply) or sink.streams:
                        return reply
                    learned = True
                    hooks.model_call_retried(request.call, attempt, 0, "the named tool was not called")
                except ProviderError as error:
                    error.raw = error.raw or sink.raw.text(self._hider.sure, error.partial)
                    error.hide((self._settings.api_key, *self._settings.headers.values()))
                    if sink.started:
                        raise
                    if not learned and self._learns(error, request, sink.streams):
                        learned = True
                        hooks.model_call_retried(request.call, attempt, 0, f"{error.parameter} is not supported")
                    elif await self._retries.wait(error, attempt, request.call, hooks):
                        attempt += 1
                    else:
                        raise

    async def close(self) -> None:
        """Closes all connections; a call that is being read fails. The next call opens new ones."""
        building, self._client = self._client, None
        if building is not None:
            await (await building).close()

    # --------------------------------------------------------------------------------------------------- one try

    async def _try(self, request: ChatRequest, sink: _Sink) -> AgentReply:
        """Sends the request once and reads the whole answer."""
        answer = Answer(first_call_number=_calls_before(request) + 1, origin=self._origin, secrets=self._hider.sure)
        async with self._response(request, sink.streams) as response:
            kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            sink.raw.begin(response.status_code, response.headers.items())
            async with (
                provider_errors(answer),
                StallWatch(self._settings.timeouts.stall, answer) as watch,
                aclosing(cast(AsyncGenerator[bytes, None], response.iter_bytes())) as pieces,
            ):
                with PacedReads(self._connection_of(response) if sink.streams else None) as paced:
                    await self._read(pieces, kind, answer, sink, watch, paced)
        sink.give(answer.end())
        sink.give(answer.calls)
        return answer.reply()

    async def _read(
        self,
        pieces: AsyncIterator[bytes],
        kind: str,
        answer: Answer,
        sink: _Sink,
        watch: StallWatch,
        paced: PacedReads,
    ) -> None:
        """Reads an event stream; anything else is taken as one document, whatever was asked for."""
        reader = SseReader()
        document: list[bytes] | None = None if kind == "text/event-stream" else []
        turn = paced.returned
        async for piece in pieces:
            watch.alive()
            sink.raw.take(piece)
            if document is not None:
                document.append(piece)
                if kind.endswith("json") or not _is_stream(document[0]):
                    continue
                document = None
            for event in reader.feed(piece):
                sink.give(answer.take_event(event))
                if answer.done:
                    return
                if perf_counter() - max(turn, paced.returned) > _LOOP_SHARE:
                    await asyncio.sleep(0)
                    turn = perf_counter()
        if document is not None:
            sink.give(answer.take_document(b"".join(document).decode("utf-8", "replace")))
            return
        last = reader.end()
        if last is not None and _is_whole(last.data):
            sink.give(answer.take_event(last))

    def _tell_raw(self, request: ChatRequest, sink: _Sink, reply: AgentReply, hooks: RunHooks) -> None:
        """Lets the hooks have the answer as it came."""

        def text() -> str:
            shown = "".join(str(part) for message in reply.messages for part in message.parts)
            return sink.raw.text(self._hider.sure, shown)

        hooks.raw_answer(request.call, text)

    @asynccontextmanager
    async def _response(self, request: ChatRequest, stream: bool) -> AsyncIterator[openai.AsyncAPIResponse[Any]]:
        client = await self._connected()
        body = self._body(request, stream)
        # All of the body goes as "extra": the client would walk through every message again (150 us each).
        async with provider_errors():
            manager = client.chat.completions.with_streaming_response.create(
                model=body["model"],
                messages=[],
                stream=cast(Any, stream),
                extra_body=body,
                extra_headers=self._headers(request),
            )
            response = await manager.__aenter__()
        try:
            yield response
        finally:
            await manager.__aexit__(None, None, None)

    def _connection_of(self, response: openai.AsyncAPIResponse[Any]) -> Any:
        """The network stream of a response, which goes on collecting while nobody reads; None where there is none."""
        return response.http_response.extensions.get("network_stream") if self._paced else None

    async def _connected(self) -> openai.AsyncOpenAI:
        if self._client is None:
            self._client = asyncio.ensure_future(connect(self._settings))
        building = self._client
        try:
            return await asyncio.shield(building)
        except BaseException:
            if self._client is building and building.done():
                self._client = None
            raise

    def _body(self, request: ChatRequest, stream: bool) -> dict[str, Any]:
        switches = self.switches
        body = {
            "model": request.options.model or self._settings.model,
            "messages": wire_messages(request, origin=self._origin, names=switches.send_names),
            **wire_options(request.options, request.tools, switches.limit_name),
            "stream": stream,
        }
        if stream and switches.include_usage:
            body["stream_options"] = {"include_usage": True}
        return switches.applied(body)

    def _headers(self, request: ChatRequest) -> dict[str, Any]:
        headers: dict[str, Any] = {}
        if self._settings.name_node:
            headers[NODE_HEADER] = request.node.encode("unicode_escape").decode("ascii")
        if not self._settings.api_key and any(n.lower() == "api-key" for n in self._settings.headers):
            import openai

            headers["Authorization"] = openai.Omit()
        return headers

    # ------------------------------------------------------------------------------------------------- failures

    def _disobeyed(self, request: ChatRequest, reply: AgentReply) -> bool:
        """Whether a tool that was forced by name was not called; from now on it is forced in the other way."""
        choice = request.options.tool_choice
        if choice in (None, "auto", "none", "required") or len(request.tools) < 2:
            return False
        if self.switches.forced_tool != "by name":
            return False
        if any(isinstance(p, ToolCall) and p.name == choice for m in reply.messages for p in m.parts):
            return False
        self._learned("tool_choice", replace(self.switches, forced_tool="required"))
        return True

    def _learned(self, parameter: str, switches: Switches) -> None:
        self.switches = switches
        if self._settings.learned is not None:
            self._settings.learned(parameter, switches)

    def _learns(self, error: ProviderError, request: ChatRequest, stream: bool) -> bool:
        """Whether the call can be made at once without the thing that the provider refused."""
        if not error.parameter:
            return False
        changed = self.switches.learned(error.parameter, self._body(request, stream))
        if changed is None:
            return False
        self._learned(error.parameter, changed)
        return True


class _Sink:
    """Hands parts on and knows whether anything was shown."""

    def __init__(self, chunk: ChunkSink | None) -> None:
        self._chunk = chunk
        self.raw = RawAnswer()
        self.started = False

    @property
    def streams(self) -> bool:
        """Whether the answer is wanted piece by piece."""
        return self._chunk is not None

    def give(self, parts: Sequence[Part]) -> None:
        """Parts that arrived together."""
        if parts:
            self.started = True
            if self._chunk is not None:
                self._chunk(AgentUpdate(tuple(parts)))


def _calls_before(request: ChatRequest) -> int:
    return sum(isinstance(p, ToolCall) for m in request.messages for p in m.parts)


def _is_stream(first: bytes) -> bool:
    """Whether a body of an unknown type is an event stream after all."""
    start = first.lstrip()
    return start.startswith((b"data:", b"event:", b"id:", b"retry:", b":"))


def _is_whole(data: str) -> bool:
    """Whether the last event, which lacks its blank line, was not cut in the middle."""
    if data.strip() == "[DONE]":
        return True
    try:
        json.loads(data)
    except ValueError:
        return False
    return True
