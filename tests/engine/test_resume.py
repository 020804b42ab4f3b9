"""Checkpoints and the required differences from the framework's faults."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from studio.checkpoints import Checkpoint, CheckpointStore, MemoryStore, SqliteStore
from studio.engine import (
    AnswerRejected,
    Codec,
    Context,
    Executor,
    FunctionExecutor,
    Handler,
    ResponseHandler,
    ResumeError,
    RunRejected,
    Workflow,
    WorkflowBuilder,
    encode,
)
from studio.engine import events as e

from tests.engine.nodes import ending, failing, host, joining, node, passing, seen


def store() -> MemoryStore:
    return MemoryStore(Codec())


def uneven() -> Workflow:
    """a -> short, long1 -> long2; short + long2 -> join."""
    a, short, long1, long2, join = (
        passing("a"),
        passing("short", "s:"),
        passing("l1"),
        passing("l2", "l:"),
        joining("j"),
    )
    built = WorkflowBuilder(a, name="w").fan_out(a, [short, long1]).edge(long1, long2)
    return built.fan_in([short, long2], join).build()


class Asking(Executor):
    """Asks and yields the answer; remembers what it was told."""

    def __init__(self, id: str = "a") -> None:
        self.told: list[str] = []
        super().__init__(
            id, [Handler(str, self._ask, (str,), (str,))], [ResponseHandler(str, str, self._answer, (str,), (str,))]
        )

    async def _ask(self, data: str, ctx: Context) -> None:
        ctx.request(data, str, "r")

    async def _answer(self, question: str, answer: str, ctx: Context) -> None:
        self.told.append(answer)
        ctx.yield_output(answer)

    async def save(self) -> dict[str, Any]:
        return {"told": list(self.told)}

    async def restore(self, state: Mapping[str, Any]) -> None:
        self.told = list(state.get("told", ()))


async def every(store: CheckpointStore) -> list[Checkpoint]:
    return [await store.load(info.id) for info in await store.infos()]


async def test_difference_1_a_fan_in_buffer_survives_a_restore() -> None:
    kept = store()
    await uneven().run("x", store=kept)
    checkpoint = (await every(kept))[3]
    assert [m.data for buffer in checkpoint.fan_in.values() for m in buffer] == ["s:x"]
    for workflow in (uneven(), uneven()):
        assert (await workflow.run(checkpoint=checkpoint)).outputs == ("s:x|l:x",)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_difference_2_a_checkpoint_resumes_any_number_of_times_unchanged(kind: str, tmp_path: Path) -> None:
    kept = store() if kind == "memory" else SqliteStore(tmp_path / "runs.db", Codec())

    async def changes_its_input(data: dict[str, Any], ctx: Context) -> None:
        data["list"].append("changed")
        ctx.set_state("seen", data["list"])
        ctx.send(data)

    def graph() -> Workflow:
        a, b = node("a", changes_its_input, dict, (dict,)), node("b", changes_its_input, dict, (dict,))
        return WorkflowBuilder(a, name="w").edge(a, b).build()

    workflow = graph()
    await workflow.run({"list": []}, store=kept)
    before = [encode(c) for c in await every(kept)]
    for _ in range(3):
        for instance in (workflow, graph()):
            await instance.run(checkpoint=before[0]["id"], store=kept)
            assert instance.shared_state["seen"] == ["changed", "changed"]
    after = {c.id: encode(c) for c in await every(kept)}
    assert [after[c["id"]] for c in before] == before
    parents = [c.parent for c in await every(kept)]
    assert parents.count(before[0]["id"]) == 7
    await kept.close()


async def test_difference_3_an_answer_queued_on_an_abandoned_branch_is_never_applied() -> None:
    kept, asking = store(), Asking()
    workflow = WorkflowBuilder(asking, name="w").build()
    await workflow.run("may I", store=kept)
    waiting = (await every(kept))[-1]

    class Stop(Exception):
        pass

    class Stopping:
        async def before_superstep(self, superstep: int, queued: Any) -> None:
            raise Stop

        async def before_node(self, *args: Any) -> None: ...
        async def before_model_call(self, *args: Any) -> None: ...

    with pytest.raises(Stop):
        await workflow.run(answers={"r": "abandoned"}, store=kept, gate=Stopping())
    assert [m.data for m in workflow.queued] == ["abandoned"]
    result = await workflow.run(checkpoint=waiting, store=kept)
    assert (result.outputs, asking.told, result.state) == ((), [], "IDLE_WITH_PENDING_REQUESTS")
    result = await workflow.run(answers={"r": "kept"}, store=kept)
    assert (result.outputs, asking.told) == (("kept",), ["kept"])


async def test_difference_4_state_of_a_failed_superstep_never_leaks() -> None:
    kept = store()
    fails = True

    async def flaky(data: str, ctx: Context) -> None:
        ctx.set_state("k", "leaked")
        ctx.send("leaked")
        ctx.request("leaked", str, "leaked")
        if fails:
            raise ValueError("boom")
        ctx.yield_output(ctx.get_state("other"))

    remembers = Remembering("b")
    a, flaky_node, j = passing("a"), node("flaky", flaky), joining("j")
    built = WorkflowBuilder(a, name="w").fan_out(a, [remembers, flaky_node])
    workflow = built.fan_in([remembers, flaky_node], j).build()
    workflow.seed_state({"k": "kept"})
    with pytest.raises(ValueError, match="boom"):
        await workflow.run("x", store=kept)
    last = (await every(kept))[-1]
    assert (last.superstep, dict(last.state), last.requests) == (1, {"k": "kept"}, ())
    assert workflow.shared_state == {"k": "kept"}
    await workflow.restore(last)
    assert (workflow.pending_requests, workflow.fan_in, remembers.seen) == ((), {}, [])
    assert [m.data for m in workflow.queued] == ["x"]
    fails = False
    result = await workflow.run(checkpoint=last, store=kept)
    assert remembers.seen == ["x"]
    assert result.outputs == (None, "x|leaked")


class Remembering(Executor):
    """Sends on, and remembers in checkpoints what it saw."""

    def __init__(self, id: str) -> None:
        self.seen: list[str] = []
        super().__init__(id, [Handler(str, self._run, (str,))])

    async def _run(self, data: str, ctx: Context) -> None:
        self.seen.append(data)
        ctx.send(data)

    async def save(self) -> dict[str, Any]:
        return {"seen": list(self.seen)}

    async def restore(self, state: Mapping[str, Any]) -> None:
        self.seen = list(state.get("seen", ()))


async def test_difference_5_a_failed_checkpoint_write_is_an_event_and_the_run_goes_on() -> None:
    class Full(MemoryStore):
        calls = 0

        async def save(self, checkpoint: Checkpoint) -> int:
            self.calls += 1
            if self.calls == 2:
                raise OSError("disk full")
            return await super().save(checkpoint)

    kept = Full(Codec())
    a, b, c = passing("a"), passing("b"), ending("c")
    events: list[Any] = []
    result = await WorkflowBuilder(a, name="w").chain([a, b, c]).build().run("x", store=kept, events=events)
    assert result.outputs == ("x",)
    (failed,) = [v for v in events if isinstance(v, e.CheckpointFailed)]
    assert (failed.superstep, failed.message) == (1, "OSError: disk full")
    saved = await every(kept)
    assert [c.superstep for c in saved] == [0, 2, 3]
    assert [c.parent for c in saved] == [None, saved[0].id, saved[1].id]
    finished = [v.checkpoint for v in events if isinstance(v, e.SuperstepFinished)]
    assert finished == [None, saved[1].id, saved[2].id]


async def test_a_value_of_an_unknown_class_is_reported_and_the_run_goes_on() -> None:
    class Odd:
        pass

    async def odd(data: str, ctx: Context) -> None:
        ctx.send(Odd())

    events: list[Any] = []
    a = FunctionExecutor("a", odd, accepts=str)
    await WorkflowBuilder(a, name="w").build().run("x", store=store(), events=events)
    (failed,) = [v for v in events if isinstance(v, e.CheckpointFailed)]
    assert "Odd cannot be saved" in failed.message


async def test_checkpoints_form_a_chain_over_runs_and_branches() -> None:
    kept = store()
    workflow = WorkflowBuilder(ending("a"), name="w").build()
    await workflow.run("1", store=kept)
    await workflow.run("2", store=kept)
    first = [c.id for c in await every(kept)]
    await workflow.run(checkpoint=first[0], store=kept)
    saved = await every(kept)
    assert [(c.kind, c.superstep) for c in saved] == [
        ("input", 0),
        ("superstep", 1),
        ("input", 0),
        ("superstep", 1),
        ("superstep", 1),
    ]
    assert [c.parent for c in saved] == [None, first[0], first[1], first[2], first[0]]


async def test_another_graph_is_refused() -> None:
    kept = store()
    a, b = passing("a"), ending("b")
    await WorkflowBuilder(a, name="w").edge(a, b).build().run("x", store=kept)
    id = (await kept.infos())[0].id
    c, d = passing("a"), ending("c")
    other = WorkflowBuilder(c, name="w").edge(c, d).build()
    with pytest.raises(ResumeError, match="graph has changed"):
        await other.run(checkpoint=id, store=kept)
    assert other.state == "FAILED"


def test_the_signature_knows_names_but_not_the_order_or_what_conditions_do() -> None:
    def graph(swap: bool = False, name: str = "c", limit: int = 9) -> str:
        a, b, c = passing("a"), ending("b"), ending("c")
        built = WorkflowBuilder(a, name="w", max_supersteps=limit)
        edges = [(b, None), (c, lambda data: swap)]
        for target, condition in reversed(edges) if swap else edges:
            built.edge(a, target, condition, name=name)
        return built.build().signature

    assert graph() == graph(swap=True) == graph(limit=3)
    assert graph() != graph(name="other")


async def test_answers_are_checked_all_together() -> None:
    workflow = WorkflowBuilder(Asking(), name="w").build()
    await workflow.run("?")
    for answers in ({"r": 5}, {"zz": "x"}, {"r": "fine", "zz": "x"}):
        with pytest.raises(AnswerRejected):
            await workflow.run(answers=answers)
    assert (len(workflow.pending_requests), workflow.state) == (1, "IDLE_WITH_PENDING_REQUESTS")
    assert (await workflow.run(answers={"r": "yes"})).outputs == ("yes",)
    with pytest.raises(RunRejected, match="No request"):
        await workflow.run(answers={"r": "again"})


async def test_wrong_combinations_are_refused_without_an_event() -> None:
    workflow = WorkflowBuilder(ending("a"), name="w").build()
    events: list[Any] = []
    checkpoint = Checkpoint("c")
    for call in (
        {},
        {"data": "x", "answers": {}},
        {"data": "x", "checkpoint": checkpoint},
        {"checkpoint": "by id without a store"},
        {"answers": {}, "cancel": []},
    ):
        with pytest.raises(RunRejected):
            await workflow.run(**call, events=events)  # type: ignore[arg-type]
    assert events == []


async def test_an_edited_checkpoint_runs_as_a_fork() -> None:
    from dataclasses import replace

    kept = store()
    a, b = passing("a"), ending("b")
    workflow = WorkflowBuilder(a, name="w").edge(a, b).build()
    await workflow.run("x", store=kept, run_id="one")
    checkpoint = (await every(kept))[1]
    (message,) = checkpoint.messages
    edited = replace(
        checkpoint, id="fork", parent=checkpoint.id, kind="fork", run="two", messages=(replace(message, data="edited"),)
    )
    await kept.save(edited)
    assert (await workflow.run(checkpoint="fork", store=kept, run_id="two")).outputs == ("edited",)
    assert [c.parent for c in await every(kept)][-2:] == [checkpoint.id, "fork"]
    assert [i.run for i in await kept.infos("two")] == ["two", "two"]


async def test_agents_resume_with_cache_conversation_and_session() -> None:
    kept = store()
    a, b = host("a", "A1", "A2"), host("b", "B1", "B2")
    workflow = WorkflowBuilder(a, name="w").edge(a, b).build()
    await workflow.run("hi", store=kept)
    await workflow.run("again", store=kept)
    second = [c for c in await every(kept) if c.kind == "input"][1]
    c, d = host("a", "A2"), host("b", "B2")
    fresh = WorkflowBuilder(c, name="w").edge(c, d).build()
    await fresh.run(checkpoint=second)
    assert seen(c) == [seen(a)[1]]
    assert seen(d) == [seen(b)[1]]


async def test_a_failing_node_repeats_from_its_checkpoint() -> None:
    kept = store()
    a, b = passing("a"), failing("b")
    workflow = WorkflowBuilder(a, name="w").edge(a, b).build()
    with pytest.raises(ValueError, match="boom"):
        await workflow.run("x", store=kept)
    for _ in range(2):
        last = (await kept.infos())[-1].id
        with pytest.raises(ValueError, match="boom"):
            await workflow.run(checkpoint=last, store=kept)
    assert [c.superstep for c in await every(kept)] == [0, 1]
