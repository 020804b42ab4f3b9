# ruff: noqa
"""AutoGen 0.7: function level = autogen_core SingleThreadedAgentRuntime + RoutedAgents with direct topics;
agent level = AssistantAgent in RoundRobinGroupChat.  AutoGen has no checkpoint store and no supersteps: "memory" =
await runtime/team.save_state() after every hop (kept in a list); "disk" = the same dumped as JSON to one file per hop,
which is what its documentation tells the user to write."""

import asyncio
import json
import logging
import os
from dataclasses import dataclass

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.messages import ModelClientStreamingChunkEvent, TextMessage
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core import (
    MessageContext,
    RoutedAgent,
    SingleThreadedAgentRuntime,
    TopicId,
    TypeSubscription,
    message_handler,
)
from autogen_core.models import ChatCompletionClient, CreateResult, ModelFamily, ModelInfo, RequestUsage
from bench_base import Adapter, Latency, clock, dir_bytes, text, warm_texts

for n in ("autogen_core", "autogen_core.events", "autogen_agentchat", "autogen_agentchat.events"):
    logging.getLogger(n).setLevel(logging.WARNING)


@dataclass
class Ping:
    m: int


@dataclass
class Back:
    m: int


class Hop(RoutedAgent):
    def __init__(self, i, nodes, steps, done, save):
        super().__init__("hop")
        self.i, self.nodes, self.steps, self.done, self.save = i, nodes, steps, done, save

    @message_handler
    async def on_ping(self, message: Ping, ctx: MessageContext) -> None:
        if self.save:
            await self.save(message.m)
        if message.m + 1 < self.steps:
            await self.publish_message(Ping(message.m + 1), TopicId(f"n{(self.i + 1) % self.nodes}", "d"))
        else:
            self.done.append(message.m + 1)

    async def save_state(self):
        return {}


class Work(RoutedAgent):
    def __init__(self):
        super().__init__("w")

    @message_handler
    async def on_ping(self, message: Ping, ctx: MessageContext) -> None:
        await self.publish_message(Back(message.m + 1), TopicId("sink", "d"))


class Sink(RoutedAgent):
    def __init__(self, got):
        super().__init__("s")
        self.got = got

    @message_handler
    async def on_back(self, message: Back, ctx: MessageContext) -> None:
        self.got.append(message.m)


class Client(ChatCompletionClient):
    def __init__(self, size=500, n=0, paced=False, lat=None):
        self.size, self.n, self.paced, self.lat = size, n, paced, lat

    async def create(self, messages, **kw):
        return CreateResult(
            finish_reason="stop", content=text(len(messages) - 1, self.size), usage=RequestUsage(1, 1), cached=False
        )

    async def create_stream(self, messages, **kw):
        for i in range(self.n):
            if self.paced:
                await asyncio.sleep(0)
            self.lat.sent(i)
            yield "tok "
        yield CreateResult(finish_reason="stop", content="tok " * self.n, usage=RequestUsage(1, 1), cached=False)

    async def close(self):
        pass

    def actual_usage(self):
        return RequestUsage(0, 0)

    total_usage = actual_usage

    def count_tokens(self, *a, **k):
        return 1

    remaining_tokens = count_tokens

    @property
    def capabilities(self):
        return self.model_info

    @property
    def model_info(self):
        return ModelInfo(
            vision=False, function_calling=True, json_output=True, family=ModelFamily.UNKNOWN, structured_output=True
        )


class A(Adapter):
    name = "autogen"
    import_stmt = "import autogen_core, autogen_agentchat; from autogen_agentchat.teams import RoundRobinGroupChat"
    dists = ("autogen-core", "autogen-agentchat")

    async def ring(self, *, steps, nodes, store, path):
        rt = SingleThreadedAgentRuntime()
        done = []
        mem = []

        async def save(k):
            s = await rt.save_state()
            if store == "memory":
                mem.append(json.dumps(s))
            else:
                with open(os.path.join(path, f"{k}.json"), "w") as f:
                    json.dump(s, f)
                mem.append(None)

        for i in range(nodes):
            await Hop.register(rt, f"n{i}", lambda i=i: Hop(i, nodes, steps, done, save if store != "none" else None))
            await rt.add_subscription(TypeSubscription(f"n{i}", f"n{i}"))
        rt.start()
        t = clock()
        await rt.publish_message(Ping(0), TopicId("n0", "d"))
        await rt.stop_when_idle()
        el = clock() - t
        assert done == [steps]
        return {"elapsed": el, "steps": steps, "checkpoints": len(mem), "bytes": dir_bytes(path)}

    async def fan(self, *, n):
        tb = clock()
        rt = SingleThreadedAgentRuntime()
        got = []
        for i in range(n):
            await Work.register(rt, f"w{i}", Work)
            await rt.add_subscription(TypeSubscription("work", f"w{i}"))
        await Sink.register(rt, "sink", lambda: Sink(got))
        await rt.add_subscription(TypeSubscription("sink", "sink"))
        rt.start()
        t = clock()
        await rt.publish_message(Ping(1), TopicId("work", "d"))
        await rt.stop_when_idle()
        el = clock() - t
        assert len(got) == n
        return {"elapsed": el, "messages": 2 * n, "build": t - tb}

    async def conv(self, *, agents, steps, size, store, path, budget):
        c = Client(size)
        team = RoundRobinGroupChat(
            [AssistantAgent(f"a{i}", model_client=c) for i in range(agents)],
            termination_condition=MaxMessageTermination(steps + 1),
        )
        warm_texts(steps + 2, size)
        marks = {max(1, steps * i // 16) for i in range(1, 17)} | {1, 2, 5, 10, 20, 30, 40, 50}
        curve = []
        k = -1
        cut = False
        n = 0
        t = clock()
        async for e in team.run_stream(task=text(0, size)):
            if isinstance(e, TextMessage):
                k += 1
                if store != "none" and k > 0:
                    s = await team.save_state()
                    n += 1
                    if store == "disk":
                        with open(os.path.join(path, f"{k}.json"), "w") as f:
                            json.dump(s, f)
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
            "checkpoints": n,
            "bytes": dir_bytes(path),
            "curve": curve,
        }

    async def stream(self, *, n, paced):
        lat = Latency(n)
        team = RoundRobinGroupChat(
            [AssistantAgent("a", model_client=Client(n=n, paced=paced, lat=lat), model_client_stream=True)],
            termination_condition=MaxMessageTermination(2),
        )
        t = clock()
        async for e in team.run_stream(task="go"):
            if isinstance(e, ModelClientStreamingChunkEvent):
                lat.got()
        return lat.result(t, clock() - t)

    async def resume(self, *, messages, path):
        def build():
            return RoundRobinGroupChat([AssistantAgent(f"a{i}", model_client=Client()) for i in range(2)], max_turns=1)

        warm_texts(messages + 2)
        team = RoundRobinGroupChat(
            [AssistantAgent(f"a{i}", model_client=Client()) for i in range(2)],
            termination_condition=MaxMessageTermination(messages),
        )
        await team.run(task=text(0))
        f = os.path.join(path, "s.json")
        with open(f, "w") as fh:
            json.dump(await team.save_state(), fh)
        t = clock()
        team = build()
        with open(f) as fh:
            await team.load_state(json.load(fh))
        r = await team.run()
        el = clock() - t
        return {"elapsed": el, "messages": messages}


ADAPTER = A()
