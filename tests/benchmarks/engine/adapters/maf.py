# ruff: noqa
"""Microsoft Agent Framework (agent-framework-core)."""

import asyncio
import glob
import logging
from typing import Never

from agent_framework import (
    Agent,
    AgentExecutor,
    BaseChatClient,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    Executor,
    FileCheckpointStorage,
    InMemoryCheckpointStorage,
    Message,
    WorkflowBuilder,
    WorkflowCheckpoint,
    WorkflowContext,
    handler,
)
from agent_framework.exceptions import WorkflowConvergenceException
from bench_base import Adapter, Latency, clock, dir_bytes, text, warm_texts

logging.getLogger("agent_framework").setLevel(logging.ERROR)


class Hop(Executor):
    def __init__(self, id, steps):
        super().__init__(id=id)
        self.steps = steps

    @handler
    async def run(self, m: int, ctx: WorkflowContext[int, int]) -> None:
        if m + 1 < self.steps:
            await ctx.send_message(m + 1)
        else:
            await ctx.yield_output(m + 1)


class Src(Executor):
    @handler
    async def run(self, m: int, ctx: WorkflowContext[int]) -> None:
        await ctx.send_message(m)


class Work(Executor):
    @handler
    async def run(self, m: int, ctx: WorkflowContext[int]) -> None:
        await ctx.send_message(m + 1)


class Sink(Executor):
    @handler
    async def run(self, ms: list[int], ctx: WorkflowContext[Never, int]) -> None:
        await ctx.yield_output(len(ms))


class Turn(Executor):
    """plain function executor: gets the conversation, appends one message, passes it on"""

    def __init__(self, id, steps, size):
        super().__init__(id=id)
        self.steps, self.size = steps, size

    @handler
    async def run(self, conv: list[Message], ctx: WorkflowContext[list[Message], int]) -> None:
        k = len(conv)
        conv = [*conv, Message("assistant", [text(k, self.size)], author_name=self.id)]
        if k < self.steps:
            await ctx.send_message(conv)
        else:
            await ctx.yield_output(k)


class Scripted(BaseChatClient):
    def __init__(self, size=500, counter=None, stream_n=0, paced=False, lat=None):
        super().__init__()
        self._size, self._counter, self._n, self._paced, self._lat = size, counter, stream_n, paced, lat

    def _inner_get_response(self, *, messages, stream, options, **kw):
        if stream:
            return self._build_response_stream(self._chunks())
        return self._one(messages)

    async def _one(self, messages):
        c = self._counter
        c["k"] += 1
        c["seen"] = len(messages)
        return ChatResponse(messages=[Message("assistant", [text(c["k"], self._size)])], response_id=f"r{c['k']}")

    async def _chunks(self):
        if not self._n:
            c = self._counter
            c["k"] += 1
            yield ChatResponseUpdate(contents=[Content.from_text(text(c["k"], self._size))], role="assistant")
            return
        lat, paced = self._lat, self._paced
        for i in range(self._n):
            if paced:
                await asyncio.sleep(0)
            lat.sent(i)
            yield ChatResponseUpdate(
                contents=[Content.from_text("tok ")], role="assistant", message_id="m1", response_id="r1"
            )


def storage(store, path):
    return {"none": lambda: None, "memory": InMemoryCheckpointStorage, "disk": lambda: FileCheckpointStorage(path)}[
        store
    ]()


def count(st, path):
    if st is None:
        return 0
    if isinstance(st, InMemoryCheckpointStorage):
        return len(st._checkpoints)
    return len(glob.glob(path + "/*.json"))


class A(Adapter):
    name = "maf"
    import_stmt = "import agent_framework; from agent_framework import WorkflowBuilder, Agent"
    dists = ("agent-framework-core", "openai", "pydantic")

    async def ring(self, *, steps, nodes, store, path):
        ex = [Hop(f"n{i}", steps) for i in range(nodes)]
        st = storage(store, path)
        b = WorkflowBuilder(max_iterations=steps + 10, name="ring", start_executor=ex[0], checkpoint_storage=st)
        for i in range(nodes):
            b.add_edge(ex[i], ex[(i + 1) % nodes])
        wf = b.build()
        t = clock()
        k = 0
        outs = []
        async for e in wf.run(0, stream=True):
            if e.type == "superstep_completed":
                k += 1
            elif e.type == "output":
                outs.append(e.data)
        el = clock() - t
        c = count(st, path)
        assert outs == [steps] and steps <= k <= steps + 1, (outs, k)
        assert st is None or c >= steps, c
        return {"elapsed": el, "steps": steps, "checkpoints": c, "bytes": dir_bytes(path)}

    async def fan(self, *, n):
        tb = clock()
        src, sink = Src(id="src"), Sink(id="sink")
        ws = [Work(id=f"w{i}") for i in range(n)]
        wf = (
            WorkflowBuilder(name="fan", start_executor=src)
            .add_fan_out_edges(src, ws)
            .add_fan_in_edges(ws, sink)
            .build()
        )
        t = clock()
        outs = []
        async for e in wf.run(1, stream=True):
            if e.type == "output":
                outs.append(e.data)
        el = clock() - t
        assert outs == [n], outs
        return {"elapsed": el, "messages": 2 * n, "build": t - tb}

    async def _conv(self, wf, start, st, steps, path, budget):
        curve = []
        marks = sorted({max(1, steps * i // 16) for i in range(1, 17)} | {1, 2, 5, 10, 20, 30, 40, 50})
        done = 0
        cut = False
        t = clock()
        stream = wf.run(start, stream=True)
        try:
            async for e in stream:
                if e.type == "superstep_completed":
                    done += 1
                    if done in marks:
                        curve.append([done, dir_bytes(path), clock() - t])
                    if clock() - t > budget:
                        cut = True
                        break
        except WorkflowConvergenceException:
            # a ring of agents never stops by itself: the runner raises at max_iterations == steps
            if done != steps:
                raise
        finally:
            if cut:
                curve.append([done, dir_bytes(path), clock() - t])
        el = clock() - t
        return {
            "elapsed": el,
            "steps": done,
            "target": steps,
            "cut": cut,
            "checkpoints": count(st, path),
            "bytes": dir_bytes(path),
            "curve": curve,
        }

    async def conv(self, *, agents, steps, size, store, path, budget):
        c = {"k": 0, "seen": 0}
        client = Scripted(size, c)
        ex = [AgentExecutor(Agent(client, name=f"a{i}", id=f"a{i}"), id=f"a{i}") for i in range(agents)]
        st = storage(store, path)
        b = WorkflowBuilder(max_iterations=steps, name="conv", start_executor=ex[0], checkpoint_storage=st)
        for i in range(agents):
            if i + 1 < agents or steps > agents:
                b.add_edge(ex[i], ex[(i + 1) % agents])
        wf = b.build()
        warm_texts(steps + 2, size)
        r = await self._conv(wf, text(0, size), st, steps, path, budget)
        assert c["k"] >= r["steps"]
        return {**r, "calls": c["k"]}

    async def conv_fn(self, *, agents, steps, size, store, path, budget):
        ex = [Turn(f"a{i}", steps, size) for i in range(agents)]
        st = storage(store, path)
        b = WorkflowBuilder(max_iterations=steps + 10, name="conv", start_executor=ex[0], checkpoint_storage=st)
        for i in range(agents):
            b.add_edge(ex[i], ex[(i + 1) % agents])
        wf = b.build()
        warm_texts(steps + 2, size)
        return await self._conv(wf, [Message("user", [text(0, size)])], st, steps, path, budget)

    async def stream(self, *, n, paced):
        lat = Latency(n)
        ag = Agent(Scripted(stream_n=n, paced=paced, lat=lat), name="a", id="a")
        ex = AgentExecutor(ag, id="a")
        wf = WorkflowBuilder(name="s", start_executor=ex).build()
        t = clock()
        async for e in wf.run("go", stream=True):
            if e.type == "output":
                lat.got()
        return lat.result(t, clock() - t)

    async def resume(self, *, messages, path):
        def build():
            ex = [Turn(f"a{i}", messages + 1, 500) for i in range(2)]
            return (
                WorkflowBuilder(
                    max_iterations=10**6,
                    name="res",
                    start_executor=ex[0],
                    checkpoint_storage=FileCheckpointStorage(path),
                )
                .add_edge(ex[0], ex[1])
                .add_edge(ex[1], ex[0])
                .build()
            )

        # one real checkpoint, taken before the superstep that would see `messages` messages
        wf = build()
        convo = [Message("user", [text(0)])] + [
            Message("assistant", [text(i)], author_name="a") for i in range(1, messages)
        ]
        s = wf.run(convo, stream=True)
        async for e in s:
            if e.type == "superstep_completed":
                break
        ids = {
            cp.iteration_count: cp.checkpoint_id
            for cp in await FileCheckpointStorage(path).list_checkpoints(workflow_name="res")
        }
        warm_texts(messages + 2)
        t = clock()
        wf = build()
        st = FileCheckpointStorage(path)
        cp = await st.get_latest(workflow_name="res")
        steps = 0
        async for e in wf.run(checkpoint_id=cp.checkpoint_id, stream=True):
            if e.type == "superstep_completed":
                break
        el = clock() - t
        return {"elapsed": el, "messages": messages, "store_checkpoints": len(ids)}

    async def listing(self, *, count, path):
        st = FileCheckpointStorage(path)
        from agent_framework._workflows._runner_context import WorkflowMessage

        for i in range(count):
            await st.save(
                WorkflowCheckpoint(
                    workflow_name="ring",
                    graph_signature_hash="x",
                    iteration_count=i,
                    messages={"n0": [WorkflowMessage(data=i, source_id="n0")]},
                    state={"_executor_state": {f"n{j}": {} for j in range(10)}},
                )
            )
        t0 = clock()
        ids = await st.list_checkpoint_ids(workflow_name="ring")
        t1 = clock()
        full = await st.list_checkpoints(workflow_name="ring")
        t2 = clock()
        await st.get_latest(workflow_name="ring")
        t3 = clock()
        assert len(ids) == len(full) == count
        return {"ids": t1 - t0, "full": t2 - t1, "latest": t3 - t2}


ADAPTER = A()
