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
    StoreError,
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


async def test_latest_of_all_and_of_a_run(store: CheckpointStore) -> None:
    assert await store.latest() is None
    for number, run in enumerate(("one", "two", "one", "two")):
        await store.save(replace(full(f"c{number}"), run=run))
    found = [await store.latest(), await store.latest("one"), await store.latest("nobody")]
    assert [info.id if info else None for info in found] == ["c3", "c2", None]


async def chain(store: CheckpointStore, count: int = 6) -> list[Checkpoint]:
    """A conversation that grows, with two branches from the third checkpoint."""
    saved = []
    for number in range(count):
        parent = None if number == 0 else f"c{2 if number == 4 else number - 1}"
        said = tuple(user(f"{n} {LONG}") for n in range(number + 5))
        saved.append(
            Checkpoint(
                f"c{number}",
                parent,
                "run",
                superstep=number,
                messages=(QueuedMessage(f"m{number}", "a", None, list(said)),),
                state={"n": number, "same": LONG, **({"once": 1} if number == 1 else {})},
                executors={"a": {"cache": said}, "b": {"k": [1]}, **({} if number == 3 else {"c": {"n": number}})},
            )
        )
        await store.save(saved[-1])
    return saved


async def test_branches(store: CheckpointStore) -> None:
    saved = await chain(store)
    assert [(i.id, i.parent) for i in await store.infos()] == [(c.id, c.parent) for c in saved]
    for checkpoint in saved:
        assert await store.load(checkpoint.id) == checkpoint


@pytest.mark.parametrize("gone", [["c0"], ["c2"], ["c1", "c3"], ["c5"], ["c0", "c1", "c2", "c3", "c4"]])
async def test_delete_leaves_the_others_as_they_are(store: CheckpointStore, gone: list[str]) -> None:
    saved = await chain(store)
    assert await store.delete([*gone, "nobody"]) == len(gone)
    kept = [c for c in saved if c.id not in gone]
    assert [i.id for i in await store.infos()] == [c.id for c in kept]
    for checkpoint in kept:
        assert await store.load(checkpoint.id) == checkpoint
    for id in gone:
        with pytest.raises(CheckpointNotFound):
            await store.load(id)
    more = replace(saved[-1], id="more", parent=saved[-1].id)
    await store.save(more)
    assert await store.load("more") == more


async def test_prune_keeps_the_last_ones_of_a_run(store: CheckpointStore) -> None:
    saved = await chain(store)
    await store.save(Checkpoint("other", run="other"))
    assert await store.prune(2, "run") == 4
    assert [i.id for i in await store.infos()] == ["c4", "c5", "other"]
    assert await store.load("c5") == saved[5]
    assert await store.prune(9) == 0


async def test_large_values_come_back(store: CheckpointStore) -> None:
    big = "x" * 300_000
    saved = Checkpoint(
        "c",
        messages=(QueuedMessage("m", "a", None, assistant(big, "a")),),
        state={"text": big, "bytes": b"\0" * 200_000, "many": [f"{n} {LONG}" for n in range(2000)]},
    )
    await store.save(saved)
    assert await store.load("c") == saved
    await store.save(replace(saved, id="d", parent="c"))
    assert (await store.load("d")).state == saved.state


async def test_strange_texts_come_back(store: CheckpointStore) -> None:
    texts = ["\x1f", "~a\x1fb", "~", "\ud800 alone", "\0", '{"#":1}', "é" * 60, "", "~t" * 40, "a\x1fb" * 30]
    saved = Checkpoint(
        "c",
        messages=tuple(QueuedMessage(f"m{n}", "a", None, user(text)) for n, text in enumerate(texts)),
        state={"list": texts, "few": texts[:3], "dict": {text: text for text in texts}, "tuple": tuple(texts[:2])},
        executors={"a": {"said": tuple(assistant(text, text or None) for text in texts)}},
    )
    await store.save(saved)
    assert await store.load("c") == saved


@pytest.mark.parametrize("value", [object(), {1, 2}, lambda: 1, {"deep": [object()]}, Exception("x")])
async def test_values_that_only_pickle_could_save_are_refused(store: CheckpointStore, value: Any) -> None:
    with pytest.raises(UnknownType):
        await store.save(Checkpoint("c", state={"v": value}))
    assert await store.infos() == []


async def test_a_second_checkpoint_with_the_same_id_is_refused(store: CheckpointStore) -> None:
    await store.save(Checkpoint("c", state={"k": 1}))
    with pytest.raises(StoreError, match="there already"):
        await store.save(Checkpoint("c", state={"k": 2}))
    assert (await store.load("c")).state == {"k": 1}


async def test_ids_of_the_same_moment_are_told_apart(store: CheckpointStore) -> None:
    """Two processes whose clock is coarse make ids that differ in their end alone, and others with the same end."""
    first, second = f"{1_700_000_000_000_000_000:016x}", f"{1_700_000_000_000_000_777:016x}"
    ids = [first + "aaaa", second + "bbbb", first + "bbbb", second + "aaaa"]
    for id in ids:
        await store.save(Checkpoint(id, workflow=id))
    with pytest.raises(StoreError, match="there already"):
        await store.save(Checkpoint(ids[2]))
    assert [(await store.load(id)).workflow for id in ids] == ids
    assert [info.id for info in await store.infos()] == ids
    with pytest.raises(CheckpointNotFound):
        await store.load(first + "cccc")
    assert await store.delete([ids[2]]) == 1
    assert [info.id for info in await store.infos()] == [ids[0], ids[1], ids[3]]


async def test_ten_thousand_messages_come_back(store: CheckpointStore) -> None:
    messages = tuple(QueuedMessage(f"m{n}", "a", None, f"{LONG} {n}") for n in range(10_000))
    await store.save(Checkpoint("c", messages=messages))
    assert (await store.load("c")).messages == messages
