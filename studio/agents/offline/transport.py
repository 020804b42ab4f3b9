"""The built-in model as a transport of the HTTP client: the whole real path runs, without a network.

Imported on first use only, because it imports ``httpx2``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2

from studio.agents.offline.model import OfflineModel
from studio.agents.offline.protocol import respond
from studio.agents.openai_client import NODE_HEADER


class OfflineTransport(httpx2.AsyncBaseTransport):
    """Answers every request itself."""

    def __init__(self, model: OfflineModel) -> None:
        self._model = model

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The answer; a stream's pieces come one by one as the model makes them."""
        body = await request.aread()
        node = request.headers.get(NODE_HEADER)
        if node is not None:
            node = node.encode("ascii").decode("unicode_escape")
        answer = respond(self._model, request.method, request.url.path, body, node)
        return httpx2.Response(answer.status, headers=dict(answer.headers), stream=_Pieces(answer.pieces))


class _Pieces(httpx2.AsyncByteStream):
    def __init__(self, pieces: AsyncIterator[bytes]) -> None:
        self._pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._pieces:
            yield piece

    async def aclose(self) -> None:
        close = getattr(self._pieces, "aclose", None)
        if close is not None:
            await close()
