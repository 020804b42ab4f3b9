# ruff: noqa
"""LangGraph (StateGraph + AsyncSqliteSaver).  Subclassed by langgraph_delta.py."""

import asyncio
import operator
import os
from typing import Annotated, Any

from bench_base import Adapter, Latency, clock, dir_bytes, text, warm_texts
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict


class RingS(TypedDict):
    m: int


class FanS(TypedDict):
    m: int
    xs: Annotated[list, operator.add]
    n: int


class MsgS(TypedDict):
    messages: Annotated[list, add_messages]


class Fake(BaseChatModel):
    n: int = 0
    paced: bool = False
    lat: Any = None
    size: int = 500

    @property
    def _llm_type(self):
        return "fake"

    def _generate(self, messages, stop=None, run_manager=None, **kw):
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text(len(messages), self.size)))])

    async def _agenerate(self, messages, stop=None, run_manager=None, **kw):
        return self._generate(messages)

    async def _astream(self, messages, stop=None, run_manager=None, **kw):
        lat = self.lat
        for i in range(self.n):
            if self.paced:
                await asyncio.sleep(0)
            lat.sent(i)
            c = ChatGenerationChunk(message=AIMessageChunk("tok ", id="m1"))
            if run_manager:
                await run_manager.on_llm_new_token("tok ", chunk=c)
            yield c


class Saver:
    def __init__(self, store, path):
        self.store, self.path = store, path

    async def __aenter__(self):
        self.cm = None
        if self.store == "none":
            return None
        if self.store == "memory":
            self.s = InMemorySaver()
            return self.s
        self.cm = AsyncSqliteSaver.from_conn_string(os.path.join(self.path, "cp.db"))
        self.s = await self.cm.__aenter__()
        await self.s.setup()
        return self.s

    async def __aexit__(self, *a):
        if self.cm:
            await self.cm.__aexit__(*a)


async def count(saver, cfg):
    if saver is None:
        return 0
    if isinstance(saver, InMemorySaver):
        return sum(len(ns) for t in saver.storage.values() for ns in t.values())
    async with saver.conn.execute("select count(*) from checkpoints") as c:
        return (await c.fetchone())[0]


class A(Adapter):
    name = "langgraph"
    import_stmt = "import langgraph; from langgraph.graph import StateGraph"
    dists = ("langgraph", "langgraph-checkpoint", "langgraph-checkpoint-sqlite", "langchain-core")
    durability = "sync"  # a checkpoint is on disk before the next superstep starts (as in MAF)
    msg_schema = MsgS

    async def ring(self, *, steps, nodes, store, path):
        async def hop(s):
            return {"m": s["m"] + 1}

        g = StateGraph(RingS)
        for i in range(nodes):
            g.add_node(f"n{i}", hop)
        g.add_edge(START, "n0")
        for i in range(nodes):
            nxt = f"n{(i + 1) % nodes}"
            g.add_conditional_edges(f"n{i}", lambda s, nxt=nxt: END if s["m"] >= steps else nxt, [nxt, END])
        async with Saver(store, path) as sv:
            app = g.compile(checkpointer=sv)
            cfg = {"recursion_limit": steps + 10, "configurable": {"thread_id": "1"}}
            kw = {"durability": self.durability} if sv else {}
            t = clock()
            k = 0
            last = None
            async for e in app.astream({"m": 0}, cfg, stream_mode="updates", **kw):
                k += 1
                last = e
            el = clock() - t
            c = await count(sv, cfg)
            assert k == steps and list(last.values())[0]["m"] == steps, (k, last)
            assert sv is None or c >= steps, c
        return {"elapsed": el, "steps": steps, "checkpoints": c, "bytes": dir_bytes(path)}

    async def fan(self, *, n):
        tb = clock()

        async def src(s):
            return {"m": s["m"]}

        async def work(s):
            return {"xs": [s["m"] + 1]}

        async def sink(s):
            return {"n": len(s["xs"])}

        g = StateGraph(FanS)
        g.add_node("src", src)
        g.add_node("sink", sink)
        g.add_edge(START, "src")
        ws = [f"w{i}" for i in range(n)]
        for w in ws:
            g.add_node(w, work)
            g.add_edge("src", w)
        g.add_edge(ws, "sink")
        g.add_edge("sink", END)
        app = g.compile()
        t = clock()
        out = None
        async for e in app.astream({"m": 1}, stream_mode="updates"):
            out = e
        el = clock() - t
        assert out["sink"]["n"] == n, out
        return {"elapsed": el, "messages": 2 * n, "build": t - tb}

    def _conv_graph(self, agents, steps, size, native):
        g = StateGraph(self.msg_schema)
        model = Fake(size=size)

        async def turn(s):
            k = len(s["messages"])
            if native:
                return {"messages": [await model.ainvoke(s["messages"])]}
            return {"messages": [AIMessage(text(k, size), id=f"m{k}")]}

        for i in range(agents):
            g.add_node(f"a{i}", turn)
        g.add_edge(START, "a0")
        for i in range(agents):
            nxt = f"a{(i + 1) % agents}"
            g.add_conditional_edges(f"a{i}", lambda s, nxt=nxt: END if len(s["messages"]) > steps else nxt, [nxt, END])
        return g

    async def _conv(self, agents, steps, size, store, path, budget, native):
        g = self._conv_graph(agents, steps, size, native)
        warm_texts(steps + 2, size)
        marks = {max(1, steps * i // 16) for i in range(1, 17)} | {1, 2, 5, 10, 20, 30, 40, 50}
        curve = []
        async with Saver(store, path) as sv:
            app = g.compile(checkpointer=sv)
            cfg = {"recursion_limit": steps + 10, "configurable": {"thread_id": "1"}}
            kw = {"durability": self.durability} if sv else {}
            t = clock()
            k = 0
            cut = False
            async for e in app.astream({"messages": [HumanMessage(text(0, size))]}, cfg, stream_mode="updates", **kw):
                k += 1
                if k in marks:
                    curve.append([k, dir_bytes(path), clock() - t])
                if clock() - t > budget:
                    cut = True
                    break
            el = clock() - t
            c = await count(sv, cfg)
        assert cut or k == steps, k
        return {
            "elapsed": el,
            "steps": k,
            "target": steps,
            "cut": cut,
            "checkpoints": c,
            "bytes": dir_bytes(path),
            "curve": curve,
        }

    async def conv(self, *, agents, steps, size, store, path, budget):
        return await self._conv(agents, steps, size, store, path, budget, True)

    async def conv_fn(self, *, agents, steps, size, store, path, budget):
        return await self._conv(agents, steps, size, store, path, budget, False)

    async def stream(self, *, n, paced):
        lat = Latency(n)
        model = Fake(n=n, paced=paced, lat=lat)

        async def agent(s):
            return {"messages": [await model.ainvoke(s["messages"])]}

        g = StateGraph(MsgS)
        g.add_node("a", agent)
        g.add_edge(START, "a")
        g.add_edge("a", END)
        app = g.compile()
        t = clock()
        async for chunk, meta in app.astream({"messages": [HumanMessage("go")]}, stream_mode="messages"):
            if lat.k < n and chunk.content == "tok ":
                lat.got()
        return lat.result(t, clock() - t)

    async def resume(self, *, messages, path):
        async def stop(s):
            raise RuntimeError("crash")

        def build(sv, boom):
            g = StateGraph(self.msg_schema)
            seen = []

            async def turn(s):
                k = len(s["messages"])
                if boom and k >= messages:
                    raise RuntimeError("crash")
                seen.append(k)
                return {"messages": [AIMessage(text(k), id=f"m{k}")]}

            g.add_node("a0", turn)
            g.add_edge(START, "a0")
            g.add_conditional_edges("a0", lambda s: END if len(s["messages"]) > messages else "a0", ["a0", END])
            return g.compile(checkpointer=sv), seen

        cfg = {"recursion_limit": messages + 10, "configurable": {"thread_id": "1"}}
        warm_texts(messages + 2)
        async with Saver("disk", path) as sv:
            app, _ = build(sv, True)
            try:
                await app.ainvoke({"messages": [HumanMessage(text(0), id="m0")]}, cfg, durability="sync")
            except RuntimeError:
                pass
        t = clock()
        async with Saver("disk", path) as sv:
            app, seen = build(sv, False)
            await app.ainvoke(None, cfg, durability="sync")
            el = clock() - t
        assert seen == [messages], seen
        return {"elapsed": el, "messages": messages}

    async def listing(self, *, count, path):
        await self.ring(steps=count, nodes=10, store="disk", path=path)
        cfg = {"configurable": {"thread_id": "1"}}
        async with Saver("disk", path) as sv:
            t1 = clock()
            full = [c async for c in sv.alist(cfg)]
            t2 = clock()
            await sv.aget_tuple(cfg)
            t3 = clock()
        assert len(full) >= count
        return {"ids": None, "full": t2 - t1, "latest": t3 - t2}


ADAPTER = A()
