"""What is left of a run after the program has gone: it waits, or it was interrupted and goes on on its own branch."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from studio.bridge.run_model import RunModel
from studio.debugger.states import RunState
from studio.engine import Workflow as Graph

from tests.bridge.conftest import OnLoop
from tests.bridge.test_run_model import Desk, KeptStore, on_desk
from tests.debugger.graphs import CODEC, Asker, chain, last, until, upper

S = RunState


class Counted:
    """Nodes that count their calls; ``b`` works for ever as long as ``stuck``."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.stuck = True

    def graph(self) -> Graph:
        return chain(upper("a", self._called("a")), upper("b", self._called("b")), last())

    def asking(self) -> Graph:
        return chain(upper("a", self._called("a")), Asker("ask"), last())

    def _called(self, node: str):  # type: ignore[no-untyped-def]
        async def called() -> None:
            self.calls.append(node)
            if node == "b" and self.stuck:
                await asyncio.Event().wait()

        def made() -> Awaitable[None]:
            return called()

        return made


def shown(run: RunModel) -> list[tuple[int, str]]:
    return [(s.number, ", ".join(run.invocations[i].node for i in s.invocations)) for s in run.supersteps]


def test_a_run_that_was_at_work_resumes_on_its_branch_without_calling_finished_nodes(on_loop: OnLoop) -> None:
    store, counted = KeptStore(CODEC), Counted()

    async def first(desk: Desk) -> None:
        desk.run.run("go")
        await until(lambda: counted.calls == ["a", "b"], 5)
        await until(lambda: any(i.node == "b" for i in desk.run.invocations.values()), 5)

    async def second(desk: Desk) -> None:
        run = desk.run
        await until(lambda: bool(run.branches), 5)
        [main] = run.branches
        assert main.state == "interrupted"
        assert run.is_interrupted(main.branch)
        assert run.can("resume") == (False, "The shown run was not interrupted.")
        before = [c.checkpoint for c in run.checkpoints]
        run.resume(main.branch)
        await desk.reach(S.COMPLETED)
        assert counted.calls == ["a", "b", "b"]
        assert [o.text for o in run.outputs] == ["go-a-b"]
        assert [(b.name, b.state) for b in run.branches] == [("main", "completed")]
        assert [c.checkpoint for c in run.checkpoints][:2] == before
        parents = [c.parent for c in run.checkpoints]
        assert parents == [None, *(c.checkpoint for c in run.checkpoints[:-1])], "one chain, one root"
        assert {c.branch for c in run.checkpoints} == {main.branch}
        assert shown(run) == [(1, "a"), (2, "b"), (3, "end")]
        assert not run.is_interrupted(main.branch)

    async def third(desk: Desk) -> None:
        run = desk.run
        await until(lambda: bool(run.branches), 5)
        run.show_branch(run.branches[0].branch)
        await desk.reach(S.COMPLETED)
        assert shown(run) == [(1, "a"), (2, "b"), (3, "end")], "what was lost is not shown again"
        assert [o.text for o in run.outputs] == ["go-a-b"]

    on_desk(on_loop, counted.graph, first, store)
    counted.stuck = False
    assert on_desk(on_loop, counted.graph, second, store).problems == []
    assert on_desk(on_loop, counted.graph, third, store).problems == []


def test_an_interrupted_branch_is_shown_paused_and_continue_goes_on_with_it(on_loop: OnLoop) -> None:
    store, counted = KeptStore(CODEC), Counted()

    async def first(desk: Desk) -> None:
        desk.run.run("go")
        await until(lambda: counted.calls == ["a", "b"], 5)

    async def second(desk: Desk) -> None:
        run = desk.run
        await until(lambda: bool(run.branches), 5)
        run.show_branch(run.branches[0].branch)
        await desk.reach(S.PAUSED)
        assert run.sentence == "Paused before superstep 2"
        assert run.can("resume") == (True, "")
        assert run.branches[0].state == "interrupted", "to look at it changes nothing"
        run.run("")
        await desk.reach(S.COMPLETED)
        assert [(b.name, b.state) for b in run.branches] == [("main", "completed")]

    on_desk(on_loop, counted.graph, first, store)
    counted.stuck = False
    assert on_desk(on_loop, counted.graph, second, store).problems == []


def _waits_and_is_answered(on_loop: OnLoop, *, killed: bool) -> None:
    store, counted = KeptStore(CODEC), Counted()

    async def first(desk: Desk) -> None:
        desk.run.run("go")
        await desk.reach(S.WAITING)

    async def kill() -> None:
        """As if the program had gone between the last checkpoint and the note that it waits."""
        [record] = await store.runs()
        await store.update_run(record.id, state="running", ended=None)

    async def second(desk: Desk) -> None:
        run = desk.run
        await until(lambda: bool(run.branches) and run.branches[0].state == "waiting", 5)
        [main] = run.branches
        assert run.requests == []
        run.show_branch(main.branch)
        await desk.reach(S.WAITING)
        [form] = run.requests
        assert form.question == "About go-a?"
        run.answer({form.request: "blue"})
        await desk.reach(S.COMPLETED)
        assert counted.calls == ["a"], "the node before the question is not called again"
        assert [o.text for o in run.outputs] == ["blue"]
        assert [(b.name, b.state) for b in run.branches] == [("main", "completed")]
        assert {c.branch for c in run.checkpoints} == {main.branch}

    on_desk(on_loop, counted.asking, first, store)
    if killed:
        on_loop(kill)
    assert on_desk(on_loop, counted.asking, second, store).problems == []


def test_a_run_that_waits_still_waits_after_the_window_was_closed(on_loop: OnLoop) -> None:
    _waits_and_is_answered(on_loop, killed=False)


def test_a_run_that_waits_still_waits_after_the_program_was_killed(on_loop: OnLoop) -> None:
    _waits_and_is_answered(on_loop, killed=True)


def test_a_run_that_was_answered_and_works_again_is_interrupted(on_loop: OnLoop) -> None:
    store, counted = KeptStore(CODEC), Counted()

    def graph() -> Graph:
        return chain(Asker("ask"), upper("b", counted._called("b")), last())

    async def first(desk: Desk) -> None:
        desk.run.run("go")
        await desk.reach(S.WAITING)
        desk.run.answer({desk.run.requests[0].request: "blue"})
        await until(lambda: counted.calls == ["b"], 5)
        [record] = await store.runs()
        assert record.state == "running"

    async def second(desk: Desk) -> None:
        run = desk.run
        await until(lambda: bool(run.branches), 5)
        assert run.branches[0].state == "interrupted"
        run.resume(run.branches[0].branch)
        await desk.reach(S.COMPLETED)
        assert counted.calls == ["b", "b"]
        assert [o.text for o in run.outputs] == ["blue-b"]

    on_desk(on_loop, graph, first, store)
    counted.stuck = False
    assert on_desk(on_loop, graph, second, store).problems == []
