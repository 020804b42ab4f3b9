"""A chat server that streams at a pace: ``python -m tests.benchmarks.agents_server RATE SECONDS``; says its port.

Nothing of the product: plain asyncio, every answer is RATE x SECONDS chunks on a fixed schedule.
"""

from __future__ import annotations

import asyncio
import json
import sys

from tests.benchmarks.children import answer

_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunk(delta: dict[str, str], finish: str | None = None) -> bytes:
    """One event of a stream of Chat Completions."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    body = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return chunked(b"data: " + json.dumps(body).encode() + b"\n\n")


def chunked(data: bytes) -> bytes:
    """A piece of a body, as providers send it: each event on its own."""
    return b"%x\r\n%s\r\n" % (len(data), data)


async def serve(rate: int, seconds: int) -> None:
    """Serves until the parent closes the standard input."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        await reader.readexactly(int(lengths[0].split(b":")[1]))
        writer.write(_HEAD + chunk({"role": "assistant", "content": ""}))
        loop = asyncio.get_running_loop()
        token, start = chunk({"content": "word, "}), loop.time() + 0.5
        for number in range(rate * seconds):
            await asyncio.sleep(start + number / rate - loop.time())
            writer.write(token)
        writer.write(chunk({}, "stop") + chunked(b"data: [DONE]\n\n") + b"0\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    answer({"port": server.sockets[0].getsockname()[1]})
    await asyncio.to_thread(sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(serve(*map(int, sys.argv[1:])))
