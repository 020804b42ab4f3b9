# ruff: noqa
"""A more honest floor: as minimal, but every handler runs in its own asyncio.Task (cancellable, own context), typed
slotted event objects for superstep start/end and executor invoked/completed, and type-checked routing."""

import asyncio
import time
from dataclasses import dataclass

from bench_sub import sibling

m = sibling("minimal")


@dataclass(slots=True)
class Event:
    type: str
    source: str
    data: object
    ts: float


class Engine(m.Engine):
    accepts = (int, list)

    async def _loop(self, inbox):
        nodes, edges, joins = self.nodes, self.edges, self.joins
        loop = asyncio.get_running_loop()
        now = time.time
        pending = {}
        while inbox:
            self.step += 1
            self.emit(("superstep", self.step))
            tasks = []
            for dst, x in inbox:
                if not isinstance(x, self.accepts):
                    raise TypeError(dst)
                self.emit(Event("invoked", dst, x, now()))
                tasks.append((dst, loop.create_task(nodes[dst](x, self))))
            if len(tasks) == 1:
                dst, t = tasks[0]
                outs = [(dst, await t)]
            else:
                await asyncio.wait([t for _, t in tasks], return_when=asyncio.FIRST_EXCEPTION)
                outs = [(d, t.result()) for d, t in tasks]
            nxt = []
            for src, o in outs:
                self.emit(Event("completed", src, o, now()))
                if o is None:
                    continue
                for dst in edges[src]:
                    j = joins.get(dst)
                    if j is None:
                        nxt.append((dst, o))
                    else:
                        p = pending.setdefault(dst, {})
                        p[src] = o
                        if len(p) == j:
                            nxt.append((dst, list(p.values())))
                            pending[dst] = {}
            inbox = nxt
            if self.on_step:
                self.on_step(self.step, inbox)
            self.emit(("superstep_end", self.step))

    async def stream(self, inbox):
        async for e in m.Engine_base.stream(self, inbox):
            if isinstance(e, Event) and e.type in ("invoked", "completed"):
                self.seen = getattr(self, "seen", 0) + 1
                continue
            yield e


m.Engine_base = m.Engine


class A(m.A):
    name = "minimal_task"

    async def ring(self, **kw):
        m.Engine = Engine
        return await m.A.ring(self, **kw)

    async def fan(self, **kw):
        m.Engine = Engine
        return await m.A.fan(self, **kw)

    async def stream(self, **kw):
        m.Engine = Engine
        return await m.A.stream(self, **kw)


ADAPTER = A()
