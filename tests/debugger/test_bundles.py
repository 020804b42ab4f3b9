"""Runs in one file: everything comes back, secrets do not, importing twice adds nothing, nonsense is refused."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from studio.agents.messages import AgentResponse, assistant, user
from studio.checkpoints import Checkpoint, Mark, PendingRequest, QueuedMessage, RunRecord, SqliteStore
from studio.debugger import bundles
from studio.debugger.branches import ancestry
from studio.debugger.event_codec import EventDecoder, EventEncoder
from studio.debugger.memory_run_store import MemoryRunStore
from studio.document.model import AgentNode, Workflow
from studio.engine import Codec
from studio.engine import events as ev
from studio.files import dumps

CODEC = Codec()
DRAWING = Workflow(id="w", name="Brief", start="a", nodes=(AgentNode(id="a", name="A", instructions="Do it."),))
KEY = "sk-proj-abcdefgh12345678"


def checkpoints() -> list[Checkpoint]:
    talk = (user("Hello"), assistant("Good day " * 30))
    message = QueuedMessage("m1.0", "a", "b", AgentResponse("a", assistant("x"), talk), "response", "i1.0", "response",
                            PendingRequest("r", "a", "Good?", "str"))  # fmt: skip
    state = {"talk": list(talk), "number": 1.5, "nested": {"$": "odd", "list": [1, (2, 3)]}}
    first = Checkpoint("c0", None, "main", "w", "sig", "input", 0, 1.0, (QueuedMessage("m", "internal:a", None, "go"),))
    second = Checkpoint(
        "c1", "c0", "main", "w", "sig", "superstep", 1, 2.0, (message,), (PendingRequest("q", "a", {"x": 1}, "int"),),
        state, {"a": {"cache": list(talk)}}, {'[["a"], "j"]': (message,)},
    )  # fmt: skip
    return [first, second, replace(second, id="f2", parent="c1", run="fork", superstep=2)]


def log(*texts: str) -> list[object]:
    encoder = EventEncoder(CODEC)
    events: list[ev.Event] = [ev.MessageQueued(0.0, 0, f"m{i}", "a", None, text) for i, text in enumerate(texts)]
    return [encoder.encode(event) for event in events]


async def filled(tmp_path: Path) -> SqliteStore:
    store = SqliteStore(tmp_path / "one.db", CODEC)
    await store.start_run(RunRecord("main", 3, "main", input="go", state="completed", document_fingerprint="f"))
    await store.start_run(RunRecord("fork", 3, "Fork A", "c1", state="waiting", document_fingerprint="f"))
    await store.append_events("main", [*log(f"Key {KEY}"), {"type": "CheckpointSaved", "checkpoint": "c0"},
                                       {"type": "CheckpointSaved", "checkpoint": "c1"},
                                       {"type": "SuperstepFinished", "checkpoint": "c1"}, *log("after"),
                                       {"type": "CheckpointSaved", "checkpoint": "c2"}])  # fmt: skip
    await store.append_events("fork", log("in the fork", "my-own-password-1"))
    await store.save_document("f", dumps(DRAWING))
    for checkpoint in checkpoints():
        await store.save(checkpoint)
    await store.set_mark("c1", Mark("plan", "note", pinned=True, tags=("good",)))
    return store


async def bundle_of(store: SqliteStore, run: str, checkpoint: str | None = None) -> bundles.Bundle:
    records, infos = {r.id: r for r in await store.runs()}, await store.infos()
    way = ancestry(run, checkpoint, records, {i.id: i for i in infos})
    wanted = bundles.wanted_checkpoint(way, checkpoint) if checkpoint else bundles.wanted_run(run, way, infos)
    return await bundles.collect(store, wanted, DRAWING)


async def test_a_branch_comes_back_whole_on_another_machine_without_secrets(tmp_path: Path) -> None:
    store = await filled(tmp_path)
    file = tmp_path / "x.superstep-runs"
    found = bundles.write(await bundle_of(store, "fork"), file, CODEC, ["my-own-password-1"])
    assert found == ("OpenAI key", "known secret")
    whole = b"".join(zipfile.ZipFile(file).read(n) for n in zipfile.ZipFile(file).namelist())
    assert KEY.encode() not in whole
    assert b"my-own-password" not in whole
    assert list(tmp_path.glob(".x*")) == []

    other = SqliteStore(tmp_path / "two.db", CODEC)
    await other.start_run(RunRecord("its own", 1, "main"))
    bundle = bundles.read(file, CODEC)
    assert bundle.workflow == DRAWING
    added = await bundles.put_into(other, bundle)
    assert [(r.id, r.number, r.name, r.state) for r in added] == [
        ("main", 2, "main", "waiting"), ("fork", 2, "Fork A", "waiting"),
    ]  # fmt: skip
    for checkpoint in checkpoints():
        assert await other.load(checkpoint.id) == checkpoint
    assert (await other.marks()) == {"c1": Mark("plan", "note", pinned=True, tags=("good",))}
    assert await other.load_document("f") == dumps(DRAWING)
    decoder = EventDecoder(CODEC)
    texts = [decoder.decode(e).data for e in await other.load_events("fork")]  # type: ignore[union-attr]
    assert texts == ["in the fork", "[secret]"]
    assert len(await other.load_events("main")) == 4, "what main did after the fork began is not part of it"
    assert await bundles.put_into(other, bundle) == ()
    assert len(await other.infos()) == 3
    await store.close()
    await other.close()


async def test_one_checkpoint_takes_the_logs_that_lead_to_it_and_no_other_checkpoint(tmp_path: Path) -> None:
    store = await filled(tmp_path)
    bundle = await bundle_of(store, "main", "c1")
    assert [c.id for c in bundle.checkpoints] == ["c1"]
    assert [(r.id, r.state) for r in bundle.runs] == [("main", "waiting")], "it had a question there"
    assert len(bundle.events["main"]) == 4
    memory = MemoryRunStore(CODEC)
    await bundles.put_into(memory, bundle)
    assert (await memory.load("c1")).parent == "c0"
    await store.close()


async def test_a_run_that_came_up_to_a_checkpoint_gets_the_rest_with_the_whole_branch(tmp_path: Path) -> None:
    store = await filled(tmp_path)
    await store.update_run("main", ended=9.0, usage="{}")
    first, second = tmp_path / "1.superstep-runs", tmp_path / "2.superstep-runs"
    bundles.write(await bundle_of(store, "main", "c0"), first, CODEC)
    bundles.write(await bundle_of(store, "main"), second, CODEC)
    whole = bundles.read(second, CODEC)
    other = SqliteStore(tmp_path / "two.db", CODEC)
    await other.start_run(RunRecord("its own", 1, "main"))
    await bundles.put_into(other, bundles.read(first, CODEC))
    cut = {r.id: r for r in await other.runs()}["main"]
    assert (cut.state, cut.ended, cut.usage) == ("paused", None, "")
    [added] = await bundles.put_into(other, whole)
    assert (added.id, added.number, added.state) == ("main", 2, "completed")
    assert await other.load_events("main") == list(whole.events["main"])
    record = {r.id: r for r in await other.runs()}["main"]
    assert (record.number, record.state, record.ended, record.usage) == (2, "completed", 9.0, "{}")
    assert await bundles.put_into(other, whole) == ()
    await store.close()
    await other.close()


async def test_a_run_that_went_on_by_itself_keeps_its_own_log(tmp_path: Path) -> None:
    store = await filled(tmp_path)
    first, second = tmp_path / "1.superstep-runs", tmp_path / "2.superstep-runs"
    bundles.write(await bundle_of(store, "main", "c0"), first, CODEC)
    bundles.write(await bundle_of(store, "main"), second, CODEC)
    other = MemoryRunStore(CODEC)
    await bundles.put_into(other, bundles.read(first, CODEC))
    await other.append_events("main", [{"type": "CheckpointSaved", "checkpoint": "elsewhere"}])
    before = await other.load_events("main")
    assert await bundles.put_into(other, bundles.read(second, CODEC)) == ()
    assert await other.load_events("main") == before
    assert [(r.id, r.state) for r in await other.runs()] == [("main", "paused")]
    await store.close()


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        (None, "no bundle of runs, or it is damaged"),
        ({"format": "other"}, "is no bundle of runs"),
        ({"format": bundles.FORMAT, "version": 7}, "has version 7 of the format; this program reads version 1"),
        ({"format": bundles.FORMAT, "version": 1}, "cannot be read"),
    ],
)
def test_what_is_no_bundle_is_refused_with_the_reason(tmp_path: Path, manifest: object, words: str) -> None:
    file = tmp_path / "x.superstep-runs"
    file.write_bytes(b"no zip at all")
    if manifest is not None:
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("manifest.json", json.dumps(manifest))
    with pytest.raises(bundles.BundleProblem, match=words):
        bundles.read(file, CODEC)
