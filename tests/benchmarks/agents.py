"""Sixteen agents stream side by side without a window: what that costs of one core."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.benchmarks.children import RESULT, Place, measured
from tests.benchmarks.figures import Figure

AGENTS, RATE, SECONDS = 16, 200, 5
SHARE_GOAL = 0.25
"""Of one core."""


def figures(where: Place, agents: int = AGENTS, seconds: int = SECONDS) -> Iterator[Figure]:
    """The share of a core; the peer is the official client alone, the floor sockets and JSON alone."""
    found = {}
    with _server(where, seconds) as port:
        for who in ("floor", "openai", "product"):
            found[who] = measured(where, "agents_child", who, port, agents)
    product, peer, floor = (found[who] for who in ("product", "openai", "floor"))
    more = {"tokens": product["tokens"], "rate": round(product["rate"]), "floor": round(floor["share"], 3)}
    yield Figure("agents.streams.share", product["share"], peer["share"], "of a core", SHARE_GOAL, more)
    yield Figure("agents.token", product["us"], peer["us"], "CPU us", more={"floor": round(floor["us"], 1)})


@contextmanager
def _server(where: Place, seconds: int) -> Iterator[int]:
    command = [sys.executable, "-m", "tests.benchmarks.agents_server", str(RATE), str(seconds)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env=dict(where.environment), cwd=where.home, text=True, **pipes) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        yield int(json.loads(server.stdout.readline().removeprefix(RESULT))["port"])
        server.stdin.close()
