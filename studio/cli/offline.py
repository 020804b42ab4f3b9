"""``offline-model``: the built-in model on loopback, for exported code."""

from __future__ import annotations

import argparse
import asyncio

from studio.agents.offline import OfflineModel, serve
from studio.assembly import served_model
from studio.cli.documents import read
from studio.cli.exits import INTERRUPTED, usage
from studio.cli.interrupts import on_interrupt


def command(options: argparse.Namespace) -> int:
    """Serves until Ctrl+C."""
    model = OfflineModel({}, {})
    if options.file:
        workflow, path = read(options.file)
        model = served_model(workflow, path.parent)
    return asyncio.run(_serve(model, options.port))


async def _serve(model: OfflineModel, port: int) -> int:
    try:
        server = await serve(model, port)
    except (OSError, OverflowError) as error:
        usage(f"Port {port} cannot be used: {error}. Choose another with --port, or leave it out.")
    try:
        ended = asyncio.Event()
        on_interrupt(ended.set)
        print(f"OPENAI_BASE_URL={server.url}")
        print(f"OPENAI_API_KEY={server.key}")
        print(f"OPENAI_CHAT_COMPLETION_MODEL={model.name}", flush=True)
        await ended.wait()
    finally:
        await server.close()
    return INTERRUPTED
