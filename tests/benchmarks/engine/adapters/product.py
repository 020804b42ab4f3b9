"""Superstep Studio's engine, as a script uses it."""

import asyncio
import os
from collections import deque

from bench_base import Adapter, Latency, clock, dir_bytes, text, warm_texts
from studio.agents.agent import Agent
from studio.agents.messages import AgentReply, AgentUpdate, Message, Text, user
from studio.checkpoints import Checkpoint, MemoryStore, QueuedMessage, SqliteStore
from studio.engine import AgentHost, Codec, ConvergenceError, FunctionExecutor, ListOf, WorkflowBuilder
from studio.engine.events import OutputYielded, SuperstepFinished


class Scripted:
    """A chat client without a network."""

    model = "scripted"

    def __init__(self, size=500, counter=None, chunks=0, paced=False, latency=None):
        self.size, self.counter, self.chunks, self.paced, self.latency = size, counter, chunks, paced, latency

    async def complete(self, request, *, chunk, hooks):
        if self.chunks:
            return await self.streamed(chunk)
        c = self.counter
        c["k"] += 1
        c["seen"] = len(request.messages)
        return AgentReply((Message("assistant", (Text(text(c["k"], self.size)),)),))

    async def streamed(self, chunk):
        sent, paced = self.latency.sent, self.paced
        for i in range(self.chunks):
            if paced:
                await asyncio.sleep(0)
            sent(i)
            chunk(AgentUpdate((Text("tok "),)))
        return AgentReply((Message("assistant", (Text("tok " * self.chunks),)),))


def hop(id, steps):
    async def run(m, ctx):
        if m + 1 < steps:
            ctx.send(m + 1)
        else:
            ctx.yield_output(m + 1)

    return FunctionExecutor(id, run, accepts=int, sends=[int], yields=[int])


def turn(id, steps, size):
    async def run(conversation, ctx):
        k = len(conversation)
        conversation = [*conversation, Message("assistant", (Text(text(k, size)),), id)]
        if k < steps:
            ctx.send(conversation)
        else:
            ctx.yield_output(k)

    return FunctionExecutor(id, run, accepts=ListOf(Message), sends=[ListOf(Message)], yields=[int])


def ring_of(executors, name, limit):
    builder = WorkflowBuilder(executors[0], name=name, max_supersteps=limit)
    for i, executor in enumerate(executors):
        if len(executors) > 1:
            builder.edge(executor, executors[(i + 1) % len(executors)])
    return builder.build()


def open_store(store, path):
    if store == "none":
        return None
    return MemoryStore(Codec()) if store == "memory" else SqliteStore(os.path.join(path, "runs.db"), Codec())


class Curve:
    """A sink that notes bytes and seconds at some supersteps."""

    def __init__(self, steps, path):
        self.marks = {max(1, steps * i // 16) for i in range(1, 17)} | {1, 2, 5, 10, 20, 30, 40, 50}
        self.path, self.curve, self.done = path, [], 0
        self.start = clock()

    def append(self, event):
        if type(event) is SuperstepFinished:
            self.done += 1
            if self.done in self.marks:
                self.curve.append([self.done, dir_bytes(self.path), clock() - self.start])


class A(Adapter):
    name = "product"
    import_stmt = "from studio.engine import AgentHost, SqliteStore, WorkflowBuilder"

    async def ring(self, *, steps, nodes, store, path):
        wf = ring_of([hop(f"n{i}", steps) for i in range(nodes)], "ring", steps + 10)
        st = open_store(store, path)
        events = deque()
        t = clock()
        await wf.run(0, events=events, store=st)
        k, outs = 0, []
        for e in events:
            if type(e) is SuperstepFinished:
                k += 1
            elif type(e) is OutputYielded:
                outs.append(e.data)
        el = clock() - t
        c = 0 if st is None else len(await st.infos())
        if st is not None:
            await st.close()
        assert outs == [steps], outs
        assert k == steps, k
        assert st is None or c >= steps, c
        return {"elapsed": el, "steps": steps, "checkpoints": c, "bytes": dir_bytes(path)}

    async def fan(self, *, n):
        tb = clock()

        async def source(m, ctx):
            ctx.send(m)

        async def work(m, ctx):
            ctx.send(m + 1)

        async def collect(ms, ctx):
            ctx.yield_output(len(ms))

        src = FunctionExecutor("src", source, accepts=int, sends=[int])
        ws = [FunctionExecutor(f"w{i}", work, accepts=int, sends=[int]) for i in range(n)]
        sink = FunctionExecutor("sink", collect, accepts=ListOf(int), yields=[int])
        wf = WorkflowBuilder(src, name="fan").fan_out(src, ws).fan_in(ws, sink).build()
        events = deque()
        t = clock()
        await wf.run(1, events=events)
        outs = [e.data for e in events if type(e) is OutputYielded]
        el = clock() - t
        assert outs == [n], outs
        return {"elapsed": el, "messages": 2 * n, "build": t - tb}

    async def _conv(self, wf, start, steps, store, path):
        st = open_store(store, path)
        curve = Curve(steps, path)
        t = clock()
        try:
            await wf.run(start, events=curve, store=st)
        except ConvergenceError:
            assert curve.done == steps  # a ring of agents never stops by itself
        el = clock() - t
        c = 0 if st is None else len(await st.infos())
        if st is not None:
            await st.close()
        assert st is None or c >= steps, c
        return {
            "elapsed": el, "steps": curve.done, "checkpoints": c, "bytes": dir_bytes(path), "curve": curve.curve,
        }  # fmt: skip

    async def conv(self, *, agents, steps, size, store, path, budget):
        c = {"k": 0, "seen": 0}
        client = Scripted(size, c)
        hosts = [AgentHost(Agent(f"a{i}", client), f"a{i}") for i in range(agents)]
        wf = ring_of(hosts, "conv", steps)
        warm_texts(steps + 2, size)
        r = await self._conv(wf, text(0, size), steps, store, path)
        assert c["k"] >= r["steps"]
        return {**r, "calls": c["k"]}

    async def conv_fn(self, *, agents, steps, size, store, path, budget):
        wf = ring_of([turn(f"a{i}", steps, size) for i in range(agents)], "conv", steps + 10)
        warm_texts(steps + 2, size)
        return await self._conv(wf, [user(text(0, size))], steps, store, path)

    async def stream(self, *, n, paced):
        lat = Latency(n)
        host = AgentHost(Agent("a", Scripted(chunks=n, paced=paced, latency=lat)), "a")
        wf = WorkflowBuilder(host, name="s").build()

        class Consumer:
            def append(self, event):
                if type(event) is OutputYielded:
                    lat.got()

        t = clock()
        await wf.run("go", stream=True, events=Consumer())
        return lat.result(t, clock() - t)

    async def resume(self, *, messages, path):
        def build():
            return ring_of([turn(f"a{i}", messages, 500) for i in range(2)], "res", 10**6)

        conversation = [user(text(0)), *(Message("assistant", (Text(text(i)),), "a") for i in range(1, messages))]
        st = open_store("disk", path)
        wf = build()
        said = QueuedMessage("m", "internal:a0", "a0", conversation, purpose="input")
        saved = Checkpoint("c", None, "", "res", wf.signature, "input", 0, 1.0, (said,))
        await st.save(saved)
        await st.close()
        warm_texts(messages + 2)
        t = clock()
        wf = build()
        st = open_store("disk", path)
        info = await st.latest()
        r = await wf.run(checkpoint=info.id, store=st)
        el = clock() - t
        await st.close()
        assert r.outputs == (messages,), r.outputs
        return {"elapsed": el, "messages": messages}

    async def listing(self, *, count, path):
        st = open_store("disk", path)
        parent = None
        for i in range(count):
            message = QueuedMessage(f"m{i}", "n0", None, i)
            key = 1_700_000_000_000_000_000 + i
            saved = Checkpoint(
                f"{key:016x}abcd", parent, "run", "ring", "x", superstep=i, created=key / 1e9, messages=(message,)
            )
            await st.save(saved)
            parent = saved.id
        await st.close()
        st = open_store("disk", path)
        t0 = clock()
        ids = [i.id for i in await st.infos()]
        t1 = clock()
        full = await st.infos()
        t2 = clock()
        await st.latest()
        t3 = clock()
        await st.close()
        assert len(ids) == len(full) == count
        return {"ids": t1 - t0, "full": t2 - t1, "latest": t3 - t2}


ADAPTER = A()
