"""Hooks of a debugger: where they hold, what they may replace, and that they cost nothing when unused."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from studio.agents.messages import AgentReply, assistant
from studio.checkpoints import QueuedMessage
from studio.engine import Codec, FunctionExecutor, MemoryStore, Workflow, WorkflowBuilder
from studio.engine import events as ev
from studio.engine.gate import Hooks, Replaced, hook

from tests.engine.nodes import ending, host, passing


class Everything(Hooks):
    """Notes every place it is called from."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    async def before_superstep(self, superstep: int, queued: Sequence[QueuedMessage]) -> Any:
        self.calls.append(f"superstep {superstep}: {len(queued)}")

    async def before_node(self, node: str, sources: tuple[str, ...], data: Any, inside: tuple[str, ...]) -> Any:
        self.calls.append(f"> {node}")

    async def after_node(self, node: str, data: Any, given: tuple[Any, ...], inside: tuple[str, ...]) -> None:
        self.calls.append(f"< {node} {given}")

    def message_queued(self, message: QueuedMessage) -> QueuedMessage | None:
        self.calls.append(f"queued {message.data}")
        return None

    async def checkpoint_saved(self, checkpoint: str, superstep: int) -> None:
        self.calls.append(f"saved {superstep}")


def two() -> Workflow:
    a, b = passing("a", "-"), ending("b")
    return WorkflowBuilder(a, name="w").edge(a, b).build()


async def test_all_places_in_order() -> None:
    gate = Everything()
    await two().run("x", gate=gate, store=MemoryStore(Codec()))
    assert gate.calls == [
        "queued x", "saved 0",
        "superstep 1: 1", "> a", "queued -x", "< a ('-x',)", "saved 1",
        "superstep 2: 1", "> b", "< b ('-x',)", "saved 2",
    ]  # fmt: skip


async def test_what_is_not_overridden_is_never_called() -> None:
    assert all(hook(Hooks(), name) is None for name in ("after_node", "message_queued", "checkpoint_saved"))
    assert hook(Everything(), "after_node") is not None
    assert hook(None, "after_node") is None


async def test_messages_state_and_data_are_replaced() -> None:
    class Changes(Hooks):
        workflow = two()

        def message_queued(self, message: QueuedMessage) -> QueuedMessage | None:
            return replace(message, data=f"{message.data}!") if message.source == "a" else None

        async def before_superstep(self, superstep: int, queued: Sequence[QueuedMessage]) -> Any:
            self.workflow.replace_state({"superstep": superstep})
            return [replace(m, data=f"{m.data}{superstep}") for m in queued]

        async def before_node(self, node: str, sources: tuple[str, ...], data: Any, inside: tuple[str, ...]) -> Any:
            return Replaced(f"({data})")

    gate = Changes()
    result = await gate.workflow.run("x", gate=gate)
    assert result.outputs == ("(-(x1)!2)",)
    assert gate.workflow.shared_state == {"superstep": 2}


async def test_a_reply_is_replaced() -> None:
    class Rewrites(Hooks):
        async def after_model_call(self, node: str, reply: Any, inside: tuple[str, ...]) -> Replaced | None:
            return Replaced(AgentReply((assistant(reply.text.upper(), node),)))

    result = await WorkflowBuilder(host("a", "quiet"), name="w").build().run("x", gate=Rewrites())
    assert [reply.text for reply in result.outputs] == ["QUIET"]


async def test_a_failing_superstep_is_held_while_its_siblings_finish() -> None:
    told: list[Any] = []
    free = asyncio.Event()

    class Holds(Hooks):
        async def node_failed(self, node: str, data: Any, error: Exception, inside: tuple[str, ...]) -> None:
            told.append((node, data, str(error), inside))
            await free.wait()

    async def fails(data: Any, ctx: Any) -> None:
        raise ValueError("no")

    async def slow(data: Any, ctx: Any) -> None:
        await asyncio.sleep(0)
        ctx.send("late")
        free.set()

    start = passing("s", "")
    bad, good = FunctionExecutor("bad", fails, accepts=str), FunctionExecutor("good", slow, accepts=str)
    events: list[ev.Event] = []
    workflow = WorkflowBuilder(start, name="w").fan_out(start, [bad, good]).build()
    with pytest.raises(ValueError, match="no"):
        await workflow.run("x", gate=Holds(), events=events)
    assert told == [("bad", "x", "no", ())]
    ends = [(type(e).__name__, e.node) for e in events if isinstance(e, ev.NodeFinished | ev.NodeFailed)]
    assert ends == [("NodeFinished", "s"), ("NodeFinished", "good"), ("NodeFailed", "bad")]


async def test_an_answer_of_a_model_is_told_whole() -> None:
    events: list[ev.Event] = []
    await WorkflowBuilder(host("a", "yes"), name="w").build().run("x", events=events)
    replies = [e.reply.text for e in events if isinstance(e, ev.ModelCallFinished) and e.reply is not None]
    assert replies == ["yes"]
