# ruff: noqa
"""Adapter interface of the engine benchmark.

One file per framework in this folder; each defines a module-level `ADAPTER = <Adapter subclass>()`.
The worker loads the file by path (this folder is never put on sys.path, so an adapter file may be
named like the package it measures) and calls ONE scenario method per process.

Every scenario method is `async`, does its own building BEFORE it starts the clock, checks its own
result (raise if the work was not really done), and returns a dict with at least the keys named below.
Raise `Unsupported("why")` for a scenario the framework cannot do.

Rules that keep the figures comparable
  * the clock (`clock()`) covers running only: not import, not building the graph, not opening the store;
  * no network, no threads of your own; logging stays at the framework's default level;
  * a "message" text is made by `text(i, size)`: deterministic, different for every i, not trivially
    compressible; handlers do no other work;
  * `store`: "none" | "memory" | "disk".  "disk" means the framework's own durable store with its default
    settings, placed under `path`; a checkpoint must exist after EVERY superstep (checked by counting);
  * `bytes` is what `dir_bytes(path)` says after the store was closed/flushed.
"""

from __future__ import annotations

import os
import random
import time

clock = time.perf_counter


class Unsupported(Exception):
    pass


_WORDS = [
    "agent",
    "step",
    "plan",
    "tool",
    "result",
    "because",
    "measured",
    "value",
    "latency",
    "checkpoint",
    "message",
    "token",
    "stream",
    "graph",
    "edge",
    "node",
    "state",
    "resume",
    "query",
    "index",
    "schema",
    "error",
    "retry",
    "branch",
    "merge",
    "report",
    "summary",
    "evidence",
    "review",
    "approve",
    "reject",
    "compute",
    "memory",
    "cache",
    "write",
    "read",
    "commit",
    "log",
    "trace",
    "span",
    "user",
    "asks",
    "answer",
    "detail",
    "number",
    "table",
    "column",
    "row",
    "file",
    "path",
    "module",
    "function",
]


def _text(i: int, size: int) -> str:
    r = random.Random(i)
    out = f"[{i}] "
    while len(out) < size:
        out += r.choice(_WORDS) + (" " if r.random() > 0.1 else f" {r.randrange(10**6)} ")
    return out[:size]


_cache: dict = {}


def warm_texts(n: int, size: int = 500) -> None:
    """Make text(0..n-1, size) free, so that making up prose is not on the clock.  Call before the clock starts."""
    for i in range(n):
        _cache[i, size] = _text(i, size)


def text(i: int, size: int = 500) -> str:
    """Deterministic prose-like text of exactly `size` characters, different for every i."""
    return _cache.get((i, size)) or _text(i, size)


def dir_bytes(path: str) -> int:
    total = 0
    for d, _, fs in os.walk(path):
        for f in fs:
            try:
                total += os.lstat(os.path.join(d, f)).st_size
            except OSError:
                pass
    return total


def rss_kb() -> int:
    with open("/proc/self/status") as f:
        for line in f:
            if line.startswith("VmRSS"):
                return int(line.split()[1])
    return 0


class Adapter:
    name = "?"
    #: statement whose import cost is measured by scenario "import"
    import_stmt = "pass"
    #: distributions whose versions are printed with every result
    dists: tuple[str, ...] = ()

    async def ring(self, *, steps: int, nodes: int, store: str, path: str) -> dict:
        """`nodes` function executors in a ring pass one small int message until it has made `steps` hops.
        One hop == one superstep.  Return {"elapsed": s, "steps": n, "bytes": b, "checkpoints": c}."""
        raise Unsupported("not implemented")

    async def fan(self, *, n: int) -> dict:
        """1 -> n -> 1.  The first node sends an int to n workers, each sends one int back to a collector
        which must see all n.  Return {"elapsed": s, "messages": 2*n, "build": seconds_to_build}."""
        raise Unsupported("not implemented")

    async def conv(self, *, agents: int, steps: int, size: int, store: str, path: str, budget: float) -> dict:
        """`agents` scripted agents in a ring (the framework's own agent class where it has one), each turn adds
        one message of `size` chars to the conversation that the next agent sees in full, `steps` turns,
        a checkpoint after each.  Stop after `budget` seconds and report how far it got.
        Return {"elapsed": s, "steps": done, "bytes": b, "checkpoints": c,
                "curve": [[step, cumulative_bytes, cumulative_seconds], ...]}."""
        raise Unsupported("not implemented")

    async def conv_fn(self, *, agents: int, steps: int, size: int, store: str, path: str, budget: float) -> dict:
        """As conv, but with plain function executors that pass/append to a message list (the framework's
        best case: no per-agent state)."""
        raise Unsupported("not implemented")

    async def stream(self, *, n: int, paced: bool) -> dict:
        """A scripted chat client inside an agent inside a one-node workflow yields n chunks; the consumer of the
        workflow's event stream must see all n.  paced=False: the client never suspends (pure throughput);
        paced=True: it awaits asyncio.sleep(0) before each chunk, and the delay from client to consumer is taken.
        Return {"elapsed": s, "tokens": n, "lat_p50": s, "lat_p99": s, "first": s}."""
        raise Unsupported("not implemented")

    async def resume(self, *, messages: int, path: str) -> dict:
        """Make a durable checkpoint of a conversation holding `messages` messages (500 chars each), drop
        everything, then measure: open the store + find the latest checkpoint + restore it into a freshly built
        workflow + run one more step that sees all messages.
        Return {"elapsed": s, "messages": seen}."""
        raise Unsupported("not implemented")

    async def listing(self, *, count: int, path: str) -> dict:
        """A durable store with `count` checkpoints (ring state).  Measure {"ids": s, "full": s, "latest": s}:
        list all ids, list all checkpoints as objects, get the latest one.  null for what there is no API."""
        raise Unsupported("not implemented")


class Latency:
    """Helper for stream(): call sent(i) in the client and got(i) in the consumer."""

    def __init__(self, n: int):
        self.t = [0.0] * n
        self.d = [0.0] * n
        self.k = 0
        self.first = 0.0

    def sent(self, i: int) -> None:
        self.t[i] = clock()

    def got(self) -> None:
        now = clock()
        k = self.k
        if k == 0:
            self.first = now
        self.d[k] = now - self.t[k]
        self.k = k + 1

    def result(self, start: float, elapsed: float) -> dict:
        if self.k != len(self.t):
            raise RuntimeError(f"consumer saw {self.k} of {len(self.t)} chunks")
        d = sorted(self.d)
        n = len(d)
        return {
            "elapsed": elapsed,
            "tokens": n,
            "lat_p50": d[n // 2],
            "lat_p99": d[int(n * 0.99)],
            "first": self.first - start,
        }
