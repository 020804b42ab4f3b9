# ruff: noqa
"""Lower bound: a hand-written BSP engine on asyncio, with a delta / content-addressed SQLite store.
Not a product: no validation, no type routing, no error handling.  It does real supersteps (inbox swap, routing
table, event queue, per-step checkpoint) so that its figures are what Python + asyncio + SQLite allow."""

import asyncio
import os
import sqlite3
import time
from collections import deque

import msgspec
from bench_base import Adapter, Latency, clock, dir_bytes, text

enc = msgspec.msgpack.Encoder()
dec = msgspec.msgpack.Decoder()


class Msg(msgspec.Struct, array_like=True):
    role: str
    text: str
    author: str = ""


msg_enc = msgspec.msgpack.Encoder()
msg_dec = msgspec.msgpack.Decoder(Msg)


class Store:
    """checkpoint = one small row; every message is written once (rowid = position in an append-only log);
    a conversation in a checkpoint is a (head) reference: prefix of a branch of the log."""

    def __init__(self, path, sync="NORMAL"):
        self.path = path
        db = self.db = sqlite3.connect(os.path.join(path, "cp.db"), isolation_level=None, cached_statements=64)
        db.execute("PRAGMA journal_mode=WAL")
        db.execute(f"PRAGMA synchronous={sync}")
        db.execute("CREATE TABLE IF NOT EXISTS msg(id INTEGER PRIMARY KEY, parent INTEGER, body BLOB)")
        db.execute(
            "CREATE TABLE IF NOT EXISTS cp(id INTEGER PRIMARY KEY, run TEXT, step INTEGER, parent INTEGER,"
            " ts REAL, body BLOB)"
        )
        self.last = None

    def put(self, step, inbox, new_msgs=(), head=None):
        db = self.db
        db.execute("BEGIN")
        for m in new_msgs:
            head = db.execute("INSERT INTO msg(parent, body) VALUES(?,?)", (head, msg_enc.encode(m))).lastrowid
        self.last = db.execute(
            "INSERT INTO cp(run,step,parent,ts,body) VALUES('r',?,?,?,?)",
            (step, self.last, time.time(), enc.encode((inbox, head))),
        ).lastrowid
        db.execute("COMMIT")
        return head

    def latest(self):
        return self.db.execute("SELECT id, step, body FROM cp WHERE run='r' ORDER BY id DESC LIMIT 1").fetchone()

    def messages(self, head):
        # linear history: ids of one branch are contiguous unless forked; a fork walks parents
        (n,) = self.db.execute("SELECT count(*) FROM msg WHERE id<=?", (head,)).fetchone()
        return [msg_dec.decode(b) for (b,) in self.db.execute("SELECT body FROM msg WHERE id<=? ORDER BY id", (head,))]

    def close(self):
        self.db.close()


class Engine:
    """Supersteps: every message of inbox is delivered, then all outputs become the next inbox."""

    def __init__(self, nodes, edges, joins=None, on_step=None):
        self.nodes, self.edges, self.joins, self.on_step = nodes, edges, joins or {}, on_step
        self.events = deque()
        self.wake = None
        self.step = 0

    def emit(self, ev):
        self.events.append(ev)
        w = self.wake
        if w is not None and not w.done():
            w.set_result(None)

    async def _loop(self, inbox):
        nodes, edges, joins = self.nodes, self.edges, self.joins
        pending = {}
        while inbox:
            self.step += 1
            self.emit(("superstep", self.step))
            outs = []
            if len(inbox) == 1:
                ((dst, m),) = inbox
                outs.append((dst, await nodes[dst](m, self)))
            else:
                # one coroutine driver: start each handler; only those that suspend become tasks
                waiting = []
                for dst, m in inbox:
                    co = nodes[dst](m, self)
                    try:
                        fut = co.send(None)
                    except StopIteration as s:
                        outs.append((dst, s.value))
                    else:
                        waiting.append((dst, asyncio.ensure_future(_rest(co, fut))))
                for dst, t in waiting:
                    outs.append((dst, await t))
            nxt = []
            for src, o in outs:
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
        loop = asyncio.get_running_loop()
        task = asyncio.ensure_future(self._loop(inbox))
        ev = self.events

        def done(_):
            w = self.wake
            if w is not None and not w.done():
                w.set_result(None)

        task.add_done_callback(done)
        while True:
            while ev:
                yield ev.popleft()
            if task.done():
                break
            self.wake = loop.create_future()
            await self.wake
        task.result()
        while ev:
            yield ev.popleft()


async def _rest(co, fut):
    # resume a coroutine that was started by hand and is now waiting on fut
    while True:
        if fut is None:
            await asyncio.sleep(0)
            res, exc = None, None
        else:
            fut._asyncio_future_blocking = False
            try:
                res, exc = await fut, None
            except BaseException as e:
                res, exc = None, e
        try:
            fut = co.throw(exc) if exc else co.send(None)
        except StopIteration as s:
            return s.value


class A(Adapter):
    name = "minimal"
    import_stmt = "import asyncio, sqlite3, msgspec"
    dists = ("msgspec",)
    sync = "NORMAL"

    def _mk_store(self, store, path):
        return Store(path, self.sync) if store == "disk" else None

    async def ring(self, *, steps, nodes, store, path):
        names = [f"n{i}" for i in range(nodes)]

        async def h(m, ctx):
            return m + 1 if m + 1 < steps else None

        seen = []

        async def last(m, ctx):
            seen.append(m)

        edges = {names[i]: [names[(i + 1) % nodes]] for i in range(nodes)}
        st = self._mk_store(store, path)
        mem = []
        cb = None
        if store == "memory":
            cb = lambda s, inbox: mem.append((s, enc.encode(inbox)))
        elif st:
            cb = lambda s, inbox: st.put(s, inbox)
        eng = Engine(dict.fromkeys(names, h), edges, on_step=cb)
        t = clock()
        k = 0
        async for _ in eng.stream([(names[0], 0)]):
            k += 1
        el = clock() - t
        assert eng.step == steps and k == 2 * steps, (eng.step, k)
        n = len(mem)
        if st:
            (n,) = st.db.execute("select count(*) from cp").fetchone()
            st.close()
        return {"elapsed": el, "steps": steps, "checkpoints": n, "bytes": dir_bytes(path)}

    async def fan(self, *, n):
        tb = clock()
        got = []

        async def src(m, ctx):
            return m

        async def w(m, ctx):
            return m + 1

        async def sink(ms, ctx):
            got.append(len(ms))

        ws = [f"w{i}" for i in range(n)]
        nodes = {"src": src, "sink": sink, **dict.fromkeys(ws, w)}
        edges = {"src": ws, "sink": [], **{x: ["sink"] for x in ws}}
        eng = Engine(nodes, edges, joins={"sink": n})
        t = clock()
        async for _ in eng.stream([("src", 1)]):
            pass
        el = clock() - t
        assert got == [n]
        return {"elapsed": el, "messages": 2 * n, "build": t - tb}

    async def conv(self, *, agents, steps, size, store, path, budget):
        names = [f"a{i}" for i in range(agents)]
        convo = [Msg("user", text(0, size))]
        new = list(convo)
        head = [None]
        texts = [text(i + 1, size) for i in range(steps)]
        st = self._mk_store(store, path)
        curve = []
        state = {"k": 0}

        async def agent(m, ctx):
            k = state["k"]
            assert len(convo) == k + 1  # sees the whole conversation
            x = Msg("assistant", texts[k], "a")
            convo.append(x)
            new.append(x)
            state["k"] = k + 1
            return k + 1 if k + 1 < steps else None

        marks = {max(1, steps * i // 8) for i in range(1, 9)}

        def cb(s, inbox):
            if st:
                head[0] = st.put(s, inbox, new, head[0])
            new.clear()
            if s in marks:
                curve.append([s, dir_bytes(path), clock() - t])

        edges = {names[i]: [names[(i + 1) % agents]] for i in range(agents)}
        eng = Engine(dict.fromkeys(names, agent), edges, on_step=cb)
        t = clock()
        async for _ in eng.stream([(names[0], 0)]):
            pass
        el = clock() - t
        n = 0
        if st:
            (n,) = st.db.execute("select count(*) from cp").fetchone()
            st.close()
        return {"elapsed": el, "steps": steps, "checkpoints": n, "bytes": dir_bytes(path), "curve": curve}

    conv_fn = conv

    async def stream(self, *, n, paced):
        lat = Latency(n)

        async def client():
            for i in range(n):
                if paced:
                    await asyncio.sleep(0)
                lat.sent(i)
                yield "tok"

        async def agent(m, ctx):
            parts = []
            k = 0
            async for c in client():
                parts.append(c)
                ctx.emit(("token", "a", c))
                k += 1
                if not paced and k & 63 == 0:
                    await asyncio.sleep(0)  # let the consumer drain: bounded queue, costs 1/64 of a switch
            return "".join(parts)

        eng = Engine({"a": agent}, {"a": []})
        t = clock()
        async for e in eng.stream([("a", 0)]):
            if e[0] == "token":
                lat.got()
        return lat.result(t, clock() - t)

    async def resume(self, *, messages, path):
        st = Store(path)
        head = None
        for i in range(messages):
            head = st.put(i + 1, [("a0", i)], [Msg("assistant", text(i), "a")], head)
        st.close()
        t = clock()
        st = Store(path)
        _, step, body = st.latest()
        inbox, head = dec.decode(body)
        convo = st.messages(head)
        seen = []

        async def agent(m, ctx):
            seen.append(len(convo))

        eng = Engine({"a0": agent}, {"a0": []})
        async for _ in eng.stream([tuple(x) for x in inbox]):
            pass
        el = clock() - t
        assert seen == [messages]
        return {"elapsed": el, "messages": seen[0]}

    async def listing(self, *, count, path):
        st = Store(path)
        st.db.execute("PRAGMA synchronous=OFF")
        for i in range(count):
            st.put(i + 1, [("n0", i)])
        st.close()
        st = Store(path)
        t0 = clock()
        ids = [r[0] for r in st.db.execute("SELECT id FROM cp WHERE run='r'")]
        t1 = clock()
        full = [(i, s, dec.decode(b)) for i, s, b in st.db.execute("SELECT id, step, body FROM cp WHERE run='r'")]
        t2 = clock()
        st.latest()
        t3 = clock()
        assert len(ids) == len(full) == count
        return {"ids": t1 - t0, "full": t2 - t1, "latest": t3 - t2}


ADAPTER = A()
