# ruff: noqa
"""Apache Burr: state machine, one action at a time; SQLitePersister saves the whole state as JSON after every action."""

import os

from bench_base import Adapter, clock, dir_bytes, text, warm_texts
from burr.core import ApplicationBuilder, State, action, expr
from burr.core.persistence import InMemoryPersister, SQLitePersister


def persister(store, path):
    if store == "none":
        return None
    if store == "memory":
        return InMemoryPersister()
    p = SQLitePersister(os.path.join(path, "b.db"))
    p.initialize()
    return p


@action(reads=["m"], writes=["m"])
async def hop(state: State) -> State:
    return state.update(m=state["m"] + 1)


@action(reads=["messages"], writes=["messages"])
async def turn(state: State) -> State:
    k = len(state["messages"])
    return state.append(messages={"role": "assistant", "content": text(k)})


@action(reads=[], writes=[])
async def end(state: State) -> State:
    return state


class A(Adapter):
    name = "burr"
    import_stmt = "import burr; from burr.core import ApplicationBuilder"
    dists = ("apache-burr",)

    async def _app(self, act, nodes, cond, state, p, init=False):
        b = (
            ApplicationBuilder()
            .with_actions(end=end, **{f"n{i}": act for i in range(nodes)})
            .with_transitions(
                *[x for i in range(nodes) for x in ((f"n{i}", "end", cond), (f"n{i}", f"n{(i + 1) % nodes}"))]
            )
        )
        b = b.with_identifiers(app_id="app", partition_key="p")
        if p is not None:
            b = b.with_state_persister(p)
        if init:
            b = b.initialize_from(p, resume_at_next_action=True, default_state=state, default_entrypoint="n0")
        else:
            b = b.with_state(**state).with_entrypoint("n0")
        return b.build() if p is not None else await b.abuild()

    async def ring(self, *, steps, nodes, store, path):
        p = persister(store, path)
        app = await self._app(hop, nodes, expr(f"m >= {steps}"), {"m": 0}, p)
        t = clock()
        k = 0
        async for a, r, s in app.aiterate(halt_after=["end"]):
            k += 1
        el = clock() - t
        assert s["m"] == steps and k == steps + 1, (s["m"], k)
        n = k
        if store == "disk":
            n = p.connection.execute("select count(*) from burr_state").fetchone()[0]
        return {"elapsed": el, "steps": k, "checkpoints": n if p else 0, "bytes": dir_bytes(path)}

    async def conv_fn(self, *, agents, steps, size, store, path, budget):
        p = persister(store, path)
        warm_texts(steps + 2, size)
        app = await self._app(
            turn,
            agents,
            expr(f"len(messages) > {steps}"),
            {"messages": [{"role": "user", "content": text(0, size)}]},
            p,
        )
        marks = {max(1, steps * i // 16) for i in range(1, 17)} | {1, 2, 5, 10, 20, 30, 40, 50}
        curve = []
        t = clock()
        k = 0
        cut = False
        async for a, r, s in app.aiterate(halt_after=["end"]):
            k += 1
            if k in marks:
                curve.append([k, dir_bytes(path), clock() - t])
            if clock() - t > budget:
                cut = True
                break
        el = clock() - t
        return {
            "elapsed": el,
            "steps": k,
            "target": steps,
            "cut": cut,
            "checkpoints": k,
            "bytes": dir_bytes(path),
            "curve": curve,
        }

    conv = conv_fn

    async def resume(self, *, messages, path):
        warm_texts(messages + 2)
        p = persister("disk", path)
        app = await self._app(
            turn, 2, expr(f"len(messages) > {messages}"), {"messages": [{"role": "user", "content": text(0)}]}, p
        )
        async for a, r, s in app.aiterate(halt_after=["end"]):
            if len(s["messages"]) == messages:
                break
        p.cleanup()
        t = clock()
        p = persister("disk", path)
        app = await self._app(turn, 2, expr(f"len(messages) > {messages}"), {"messages": []}, p, init=True)
        a, r, s = await app.astep()
        el = clock() - t
        assert len(s["messages"]) == messages + 1
        return {"elapsed": el, "messages": messages}


ADAPTER = A()
