"""What every checkpoint store must do."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from studio.agents.messages import AgentReply, AgentResponse, Message, Text, ToolCall, assistant, user
from studio.checkpoints import (
    Checkpoint,
    CheckpointNotFound,
    CheckpointStore,
    MemoryStore,
    PendingRequest,
    QueuedMessage,
    SqliteStore,
    UnknownType,
)
from studio.engine import Codec, Record, SubRequest, encode

LONG = "A text that is long enough to be kept as a content of its own, once for all checkpoints. " * 3


@pytest_asyncio.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[CheckpointStore]:
    opened: CheckpointStore = (
        MemoryStore(Codec()) if request.param == "memory" else SqliteStore(tmp_path / "runs.db", Codec())
    )
    yield opened
    await opened.close()


def full(id: str = "c1") -> Checkpoint:
    """A checkpoint with everything in it."""
    reply = AgentReply((assistant("Hello", "a"),))
    response = AgentResponse("a", reply, (user("hi"), *reply.messages))
    call = Message("assistant", (Text("x"), ToolCall("1", "t", '{"q": 1}', {"sig": "s"})), "a")
    request = PendingRequest("r", "b", Record("Order", {"id": 7, "items": [1, 2]}), "str")
    return Checkpoint(
        id, "c0", "run", "flow", "sig", "superstep", 3, 17.5,
        messages=(
            QueuedMessage("m1", "a", None, response, invocation="i1", purpose="response"),
            QueuedMessage("m2", "internal:b", "b", "yes", "response", None, "answer", request),
            QueuedMessage("m3", "x", "y", {"deep": [1, None, True, 2.5, {"k": LONG}]}),
        ),
        requests=(request,),
        state={"k": [1, {"a": "b"}], "long": LONG, "list": [str(n) for n in range(20)], "$": {"#": 1, "@": 2}},
        executors={"a": {"cache": (user("q"), call), "session": {"messages": [user(str(n)) for n in range(9)]}}},
        fan_in={"[[\"a\"], \"j\"]": (QueuedMessage("m0", "a", None, [LONG]),)},
        name="named",
    )  # fmt: skip


def same(one: Checkpoint, other: Checkpoint) -> bool:
    return bool(encode(one) == encode(other))


async def test_what_is_saved_comes_back(store: CheckpointStore) -> None:
    await store.save(full())
    loaded = await store.load("c1")
    assert same(loaded, full())
    assert loaded == full()


async def test_an_unknown_id(store: CheckpointStore) -> None:
    with pytest.raises(CheckpointNotFound, match="'nope'"):
        await store.load("nope")


async def test_infos_in_order_and_by_run(store: CheckpointStore) -> None:
    for number, run in enumerate(("one", "two", "one")):
        await store.save(replace(full(f"c{number}"), run=run, superstep=number))
    assert [i.id for i in await store.infos()] == ["c0", "c1", "c2"]
    assert [(i.id, i.superstep) for i in await store.infos("one")] == [("c0", 0), ("c2", 2)]
    info = (await store.infos("two"))[0]
    assert (info.parent, info.workflow, info.signature, info.kind, info.created, info.name) == (
        "c0",
        "flow",
        "sig",
        "superstep",
        17.5,
        "named",
    )


async def test_later_changes_do_not_reach_what_was_saved(store: CheckpointStore) -> None:
    data: dict[str, Any] = {"k": [1]}
    saved = Checkpoint("c", messages=(QueuedMessage("m", "a", None, data),), state={"s": data})
    await store.save(saved)
    data["k"].append(2)
    loaded = await store.load("c")
    loaded.messages[0].data["k"].append(3)
    again = await store.load("c")
    assert (again.messages[0].data, again.state["s"]) == ({"k": [1]}, {"k": [1]})


async def test_the_same_objects_changed_and_saved_again(store: CheckpointStore) -> None:
    data: dict[str, Any] = {"k": [1]}
    message = QueuedMessage("m", "a", None, data)
    await store.save(Checkpoint("c1", messages=(message,)))
    data["k"].append(2)
    await store.save(Checkpoint("c2", messages=(message,)))
    assert [(await store.load(id)).messages[0].data for id in ("c1", "c2")] == [{"k": [1]}, {"k": [1, 2]}]


async def test_lists_with_a_common_beginning(store: CheckpointStore) -> None:
    first = [user(str(n)) for n in range(10)]
    lists = [first, [*first, user("a")], [*first, user("b")], first[:7], [1] * 9, [True] * 9, [1.0] * 9]
    for number, items in enumerate(lists):
        await store.save(Checkpoint(f"c{number}", state={"list": items}))
    for number, items in enumerate(lists):
        loaded = (await store.load(f"c{number}")).state["list"]
        assert (loaded, [type(i) for i in loaded]) == (items, [type(i) for i in items])


async def test_a_value_of_an_unknown_class_is_refused_and_leaves_nothing(store: CheckpointStore) -> None:
    class Odd:
        pass

    with pytest.raises(UnknownType, match="Odd"):
        await store.save(Checkpoint("bad", state={"new": LONG, "odd": [Odd()]}))
    assert await store.infos() == []
    await store.save(Checkpoint("good", state={"new": LONG}))
    assert (await store.load("good")).state == {"new": LONG}


async def test_a_checkpoint_inside_a_checkpoint(store: CheckpointStore) -> None:
    outer = Checkpoint("outer", executors={"sub": {"sub_workflow": full("inner")}})
    await store.save(outer)
    inner = (await store.load("outer")).executors["sub"]["sub_workflow"]
    assert inner == full("inner")


async def test_a_question_of_a_nested_workflow(store: CheckpointStore) -> None:
    request = SubRequest("sub", "q", "r", {"x": 1}, "str")
    await store.save(Checkpoint("c", messages=(QueuedMessage("m", "sub", None, request),)))
    assert (await store.load("c")).messages[0].data == request
