"""The run model on the product's loop, with the real engine behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from studio.bridge.run_model import RunModel
from studio.bridge.run_services import RunServices
from studio.bridge.run_views import RunUpdate
from studio.checkpoints import RunStore
from studio.debugger.memory_run_store import MemoryRunStore
from studio.debugger.states import RunState
from studio.document.model import AgentNode, DirectEdge, Workflow
from studio.engine import Workflow as Graph
from studio.engine import WorkflowBuilder

from tests.bridge.conftest import OnLoop
from tests.debugger.graphs import CODEC, Asker, Plan, agent, chain, last, until, upper

S = RunState
DOCUMENT = Workflow(
    id="w1",
    nodes=tuple(AgentNode(id=i, name=i.title()) for i in ("a", "b", "end")),
    edges=(DirectEdge(id="a_b", source="a", target="b"), DirectEdge(id="b_end", source="b", target="end")),
)


class KeptStore(MemoryRunStore):
    """Survives being closed, as a file does."""


class Desk:
    """A model, what it told, and the store behind it."""

    def __init__(self, graph: Callable[[], Graph], store: RunStore | None = None) -> None:
        self.store = store or KeptStore(CODEC)
        self.updates: list[RunUpdate] = []
        self.sentences: list[str] = []
        self.problems: list[str] = []
        self.plans: list[Plan] = []

        async def prepare(_document: Workflow) -> Plan:
            self.plans.append(Plan(graph()))
            return self.plans[-1]

        async def open_store() -> RunStore:
            return self.store

        self.run = RunModel(RunServices(lambda: DOCUMENT, open_store, prepare, CODEC))
        self.run.updated.connect(self.updates.append)
        self.run.state_changed.connect(lambda: self.sentences.append(self.run.sentence))
        self.run.failed_to_start.connect(self.problems.append)

    async def reach(self, state: RunState) -> None:
        await until(lambda: self.run.state is state, 5)


def three() -> Graph:
    return chain(upper("a"), upper("b"), last())


def on_desk(
    on_loop: OnLoop,
    graph: Callable[[], Graph],
    script: Callable[[Desk], Awaitable[None]],
    store: RunStore | None = None,
) -> Desk:
    desks: list[Desk] = []

    async def main() -> None:
        desk = Desk(graph, store)
        desks.append(desk)
        try:
            await script(desk)
        finally:
            await desk.run.close()
            desk.run.deleteLater()

    on_loop(main)
    return desks[0]


def test_a_run_fills_the_views(on_loop: OnLoop) -> None:
    async def script(desk: Desk) -> None:
        desk.run.run("go")
        assert desk.run.state is S.PREPARING
        await desk.reach(S.COMPLETED)
        run = desk.run
        assert [r.number for r in run.supersteps] == [1, 2, 3]
        assert {n: v.status for n, v in run.nodes.items()} == {"a": "done", "b": "done", "end": "done"}
        assert [o.text for o in run.outputs] == ["go-a-b"]
        assert [(m.source, m.text, m.status) for m in run.messages] == [
            ("internal:a", "go", "delivered"),
            ("a", "go-a", "delivered"),
            ("b", "go-a-b", "delivered"),
        ]
        assert [(c.kind, c.superstep) for c in run.checkpoints] == [
            ("input", 0), ("superstep", 1), ("superstep", 2), ("superstep", 3),
        ]  # fmt: skip
        assert [(b.name, b.state, b.number, b.input_text) for b in run.branches] == [("main", "completed", 1, "go")]
        assert run.supersteps[0].checkpoint == run.checkpoints[1].checkpoint
        assert run.here == run.checkpoints[-1].checkpoint

    desk = on_desk(on_loop, three, script)
    assert desk.sentences[-1] == "Completed in 3 supersteps"
    assert desk.problems == []
    assert sum(u.events for u in desk.updates) == len(desk.run.events)
    assert any(u.everything for u in desk.updates)


def test_tokens_stream_into_the_lane_of_their_invocation(on_loop: OnLoop) -> None:
    def graph() -> Graph:
        return chain(agent("a", {"chunks": ["one ", "two ", "three"]}), agent("b", "done"))

    async def script(desk: Desk) -> None:
        desk.run.run("go")
        await desk.reach(S.COMPLETED)
        first, second = desk.run.invocations.values()
        assert [(p.kind, p.text) for p in first.pieces] == [("text", "one two three")]
        assert (first.node, first.status, first.tokens) == ("a", "done", 3)
        assert second.pieces[0].text == "done"
        assert [o.text for o in desk.run.outputs] == ["one two three", "done"]

    on_desk(on_loop, graph, script)


def test_in_the_middle_of_a_superstep_the_nodes_that_wait_are_told(on_loop: OnLoop) -> None:
    """One of three parallel nodes ran: the others are next, not all that the queue led to."""

    def graph() -> Graph:
        left, middle, right, start = upper("left"), upper("middle"), upper("right"), upper("start")
        return WorkflowBuilder(start, name="wide").fan_out(start, [left, middle, right]).build()

    async def script(desk: Desk) -> None:
        desk.run.step("go")
        await desk.reach(S.PAUSED)
        assert desk.run.held_nodes == ()
        desk.run.step("go")
        await until(lambda: desk.run.sentence == "Paused before superstep 2", 5)
        desk.run.step_node("go")
        await until(lambda: desk.run.held_nodes == ("middle", "right"), 5)
        await until(lambda: desk.run.sentence == "Paused in superstep 2 — next are middle and right", 5)
        desk.run.run("go")
        await desk.reach(S.COMPLETED)
        assert desk.run.held_nodes == ()

    assert on_desk(on_loop, graph, script).problems == []


def test_step_shows_the_queue_as_chips_and_an_edit_of_it_makes_a_fork(on_loop: OnLoop) -> None:
    async def script(desk: Desk) -> None:
        run = desk.run
        run.step("go")
        await desk.reach(S.PAUSED)
        assert run.sentence == "Paused before superstep 1"
        run.step("go")
        await until(lambda: run.sentence == "Paused before superstep 2")
        [chip] = run.queued
        assert (chip.source, chip.edges, chip.text, chip.type_name) == ("a", ("a_b",), "go-a", "text")
        main = run.branch
        run.edit_queued(chip.message, "EDITED")
        assert (run.queued[0].text, run.queued[0].edited) == ("EDITED", True)
        run.run("go")
        await desk.reach(S.COMPLETED)
        assert [o.text for o in run.outputs] == ["EDITED-b"]
        assert [(b.name, b.state, b.note) for b in run.branches] == [
            ("main", "paused", ""), ("Fork A", "completed", "message edited at 1"),
        ]  # fmt: skip
        assert run.branch != main
        assert [r.number for r in run.supersteps] == [1, 2, 3]

    assert on_desk(on_loop, three, script).problems == []


def test_a_step_after_an_edit_runs_one_superstep_of_the_fork(on_loop: OnLoop) -> None:
    async def script(desk: Desk) -> None:
        run = desk.run
        run.step("go")
        await desk.reach(S.PAUSED)
        run.edit_queued(run.queued[0].message, "EDITED")
        run.step("go")
        await until(lambda: run.sentence == "Paused before superstep 2", 5)
        assert [q.text for q in run.queued] == ["EDITED-a"]

    on_desk(on_loop, three, script)


def test_an_answer_on_its_way_back_to_its_node_can_be_edited(on_loop: OnLoop) -> None:
    async def script(desk: Desk) -> None:
        run = desk.run
        run.step("go")
        await desk.reach(S.PAUSED)
        run.step("go")
        await desk.reach(S.WAITING)
        run.answer({run.requests[0].request: "yes"})
        await desk.reach(S.PAUSED)
        [answer] = run.queued
        assert (answer.target, answer.text) == ("a", "yes")
        run.edit_queued(answer.message, "no")
        assert run.queued[0].text == "no"
        run.run("go")
        await desk.reach(S.COMPLETED)
        assert [o.text for o in run.outputs] == ["no"]

    assert on_desk(on_loop, lambda: chain(Asker("a"), last()), script).problems == []


def test_restore_and_fork_leave_the_first_branch_unchanged(on_loop: OnLoop) -> None:
    async def script(desk: Desk) -> None:
        run = desk.run
        run.run("go")
        await desk.reach(S.COMPLETED)
        main, before = run.branch, [c.checkpoint for c in run.checkpoints]
        log = await desk.store.load_events(str(main))
        run.restore(run.checkpoints[1].checkpoint)
        assert run.can("run") == (False, "The last command is still being carried out.")
        await desk.reach(S.PAUSED)
        assert run.sentence == "Restored before superstep 2"
        assert [r.number for r in run.supersteps] == [1]
        assert (run.here, run.branch, run.outputs) == (before[1], main, [])
        assert [q.text for q in run.queued] == ["go-a"]
        run.fork(before[1], {run.queued[0].message: "OTHER"})
        await desk.reach(S.COMPLETED)
        assert [o.text for o in run.outputs] == ["OTHER-b"]
        assert await desk.store.load_events(str(main)) == log
        assert [c.checkpoint for c in run.checkpoints if c.branch == main] == before
        fork = [c for c in run.checkpoints if c.branch == run.branch]
        assert (fork[0].kind, fork[0].superstep, fork[0].parent) == ("fork", 1, before[1])
        run.show_branch(str(main))
        await until(lambda: run.branch == main, 5)
        assert [o.text for o in run.outputs] == ["go-a-b"]
        assert run.state is S.COMPLETED

    assert on_desk(on_loop, three, script).problems == []


def test_after_a_restart_the_tree_is_there_and_a_paused_branch_goes_on(on_loop: OnLoop) -> None:
    store = KeptStore(CODEC)

    async def first(desk: Desk) -> None:
        desk.run.step("go")
        await desk.reach(S.PAUSED)
        desk.run.step("go")
        await until(lambda: desk.run.sentence == "Paused before superstep 2", 5)

    async def second(desk: Desk) -> None:
        run = desk.run
        await until(lambda: bool(run.branches), 5)
        [main] = run.branches
        assert (main.name, main.state) == ("main", "paused")
        assert [(c.kind, c.superstep) for c in run.checkpoints] == [("input", 0), ("superstep", 1)]
        assert run.state is S.IDLE
        run.show_branch(main.branch)
        await desk.reach(S.PAUSED)
        assert run.branch == main.branch
        assert [i.node for i in run.invocations.values()] == ["a"]
        assert [q.text for q in run.queued] == ["go-a"]
        run.run("")
        await desk.reach(S.COMPLETED)
        assert [o.text for o in run.outputs] == ["go-a-b"]
        assert [(b.name, b.state, b.note) for b in run.branches] == [
            ("main", "completed", ""),
        ]

    on_desk(on_loop, three, first, store)
    on_desk(on_loop, three, second, store)


def test_a_question_becomes_a_form_and_its_answer_continues(on_loop: OnLoop) -> None:
    async def script(desk: Desk) -> None:
        run = desk.run
        run.run("go")
        await desk.reach(S.WAITING)
        [form] = run.requests
        assert (form.node, form.kind, form.question, form.answer_type) == ("a", "question", "About go?", "text")
        assert run.nodes["a"].status == "waiting"
        assert run.can("run") == (False, "Answer the open request first, or stop the run.")
        run.answer({form.request: "blue"})
        await desk.reach(S.COMPLETED)
        assert run.requests == []
        assert run.nodes["a"].status == "done"
        assert [o.text for o in run.outputs] == ["blue"]

    on_desk(on_loop, lambda: chain(Asker("a"), last()), script)


def test_breakpoints_hold_are_kept_and_can_be_set_while_running(on_loop: OnLoop) -> None:
    async def script(desk: Desk) -> None:
        run = desk.run
        run.toggle_breakpoint("b")
        run.run("go")
        await desk.reach(S.PAUSED)
        assert (run.paused_at, run.sentence) == ("b", "Paused before superstep 2 — breakpoint on B")
        assert (run.next_superstep, [q.source for q in run.queued]) == (2, ["a"])
        run.toggle_breakpoint("end")
        run.run("go")
        await until(lambda: run.paused_at == "end", 5)
        run.stop()
        await desk.reach(S.CANCELLED)
        assert run.next_superstep == 0

    on_desk(on_loop, three, script)

    async def again(desk: Desk) -> None:
        assert desk.run.breakpoints == {"b", "end"}

    on_desk(on_loop, three, again)


def test_a_failure_can_be_retried_from_the_last_checkpoint(on_loop: OnLoop) -> None:
    replies: list[Any] = [{"error": "no more ideas"}, "fine"]

    def graph() -> Graph:
        return chain(upper("a"), agent("b", replies.pop(0)))

    async def script(desk: Desk) -> None:
        run = desk.run
        run.run("go")
        await desk.reach(S.FAILED)
        assert run.sentence == "B failed: ScriptedError: no more ideas. Retry from the last checkpoint."
        assert run.nodes["b"].status == "failed"
        assert run.can("retry") == (True, "")
        run.retry()
        await desk.reach(S.COMPLETED)
        assert [(b.name, b.state, b.note) for b in run.branches] == [
            ("main", "failed", ""), ("Fork A", "completed", "retried at 1"),
        ]  # fmt: skip

    on_desk(on_loop, graph, script)


def test_commands_that_do_not_apply_say_why_and_do_nothing(on_loop: OnLoop) -> None:
    async def script(desk: Desk) -> None:
        desk.run.pause()
        desk.run.stop()
        desk.run.restore("c1")
        desk.run.restart()
        assert desk.run.state is S.IDLE

    desk = on_desk(on_loop, three, script)
    assert desk.problems == [
        "Nothing runs.", "Nothing runs.", "There is no checkpoint yet. Run the workflow first.", "Nothing has run yet.",
    ]  # fmt: skip


def test_a_model_without_services_is_empty(on_loop: OnLoop) -> None:
    async def main() -> None:
        run = RunModel()
        assert run.can("run") == (False, "No workflow is open.")
        assert (run.nodes, run.queued, run.branches, run.state) == ({}, [], [], S.IDLE)
        await run.close()

    on_loop(main)


def test_restart_while_a_model_works_stops_it_and_starts_again(on_loop: OnLoop) -> None:
    replies: list[Any] = [{"text": "slow", "wait_ms": 30_000}, "fast"]

    async def script(desk: Desk) -> None:
        run = desk.run
        run.run("go")
        await until(lambda: bool(run.invocations), 5)
        run.restart()
        await desk.reach(S.COMPLETED)
        assert [(b.number, b.name, b.state) for b in run.branches] == [
            (1, "main", "cancelled"),
            (2, "main", "completed"),
        ]
        assert desk.plans[0].closed
        assert len(asyncio.all_tasks()) <= 3

    on_desk(on_loop, lambda: chain(agent("a", replies.pop(0)), agent("b", "x")), script)
