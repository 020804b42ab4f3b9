"""Looking into a checkpoint without going there, forking with edits, recorded results, mapping before an answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from studio.bridge.workspaces import Workspaces
from studio.checkpoints import SqliteStore
from studio.debugger.comparison import Ahead
from studio.debugger.forks import QueueEdits
from studio.debugger.states import RunState
from studio.document.model import (
    AgentNode,
    DirectEdge,
    FunctionNode,
    OfflineScript,
    SubWorkflowNode,
    TemplateNode,
    Workflow,
)
from studio.engine import Context, FunctionExecutor
from studio.engine import Workflow as Graph
from studio.files import write_workflow

from tests.bridge import test_run_model as desks
from tests.bridge.conftest import OnLoop
from tests.bridge.test_run_model import Desk, KeptStore, on_desk
from tests.debugger.graphs import CODEC, chain, last, until, upper

S = RunState


class Counting:
    """A function in the middle that writes state and counts how often it ran."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    def graph(self) -> Graph:
        async def publish(data: Any, ctx: Context) -> None:
            self.ran.append(data)
            ctx.set_state("published", data)
            ctx.send(f"{data}!")

        middle = FunctionExecutor("b", publish, accepts=str, sends=(str,), yields=())
        return chain(upper("a"), middle, last())


def test_details_say_what_is_in_a_checkpoint_that_is_not_shown(on_loop: OnLoop, tmp_path: Any) -> None:
    counting = Counting()

    async def script(desk: Desk) -> None:
        run = desk.run
        run.run("go")
        await desk.reach(S.COMPLETED)
        second = run.checkpoints[2].checkpoint
        assert run.details(second) is None
        await until(lambda: run.details(second) is not None, 5)
        found = run.details(second)
        assert found is not None
        assert [(m.source, m.text) for m in found.queued] == [("b", "go-a!")]
        assert found.state == {"published": "go-a"}
        assert found.weight.own > 0
        assert (run.state, run.here) == (S.COMPLETED, run.checkpoints[-1].checkpoint), "nothing moved"

    assert on_desk(on_loop, counting.graph, script, SqliteStore(tmp_path / "runs.db", CODEC)).problems == []


def test_a_fork_with_edited_state_and_message_is_a_branch_of_its_own(on_loop: OnLoop) -> None:
    counting = Counting()

    async def script(desk: Desk) -> None:
        run = desk.run
        run.run("go")
        await desk.reach(S.COMPLETED)
        second = run.checkpoints[2].checkpoint
        [message] = (await desk.store.load(second)).messages
        run.fork_edited(second, QueueEdits({message.id: "edited"}, state={"published": "by hand"}))
        await until(lambda: len(run.branches) == 2 and run.state is S.COMPLETED, 5)
        assert [o.text for o in run.outputs] == ["edited"]
        assert run.shared_state == {"published": "by hand"}
        assert run.branches[1].note == "message edited, state changed at 2"
        assert (await desk.store.load(second)).state == {"published": "go-a"}
        run.fork_edited(second, QueueEdits(conversations={"a": ()}))
        await until(lambda: bool(desk.problems), 5)

    desk = on_desk(on_loop, counting.graph, script)
    assert desk.problems == ["a remembers no conversation at this checkpoint."]


def test_recorded_results_are_given_again_and_the_node_does_not_run(on_loop: OnLoop, monkeypatch: Any) -> None:
    counting = Counting()
    drawing = Workflow(
        id="w",
        nodes=(
            FunctionNode(id="a", name="A"), FunctionNode(id="b", name="Publish", has_effects=True),
            AgentNode(id="end", name="End"),
        ),
    )  # fmt: skip
    monkeypatch.setattr(desks, "DOCUMENT", drawing)

    async def script(desk: Desk) -> None:
        run = desk.run
        run.run("go")
        await desk.reach(S.COMPLETED)
        first = run.checkpoints[0].checkpoint
        await until(lambda: run.effects(first) is not None, 5)
        assert [effect.words for effect in run.effects(first) or ()] == ["Publish"]
        run.fork(first, recorded=True)
        await until(lambda: len(run.branches) == 2 and run.state is S.COMPLETED, 5)
        assert counting.ran == ["go-a"], "it was not run again"
        assert [o.text for o in run.outputs] == ["go-a!"]
        run.fork(first)
        await until(lambda: len(run.branches) == 3 and run.state is S.COMPLETED, 5)
        assert counting.ran == ["go-a", "go-a"]

    assert on_desk(on_loop, counting.graph, script, KeptStore(CODEC)).problems == []


def test_the_checkpoint_before_a_message_and_before_an_error(on_loop: OnLoop) -> None:
    def failing() -> Graph:
        async def broken(_data: Any, _ctx: Context) -> None:
            raise ValueError("No luck")

        return chain(upper("a"), FunctionExecutor("b", broken, accepts=str, sends=(str,), yields=()), last())

    async def script(desk: Desk) -> None:
        run = desk.run
        assert run.checkpoint_before_error() is None
        run.run("go")
        await desk.reach(S.FAILED)
        points = [c.checkpoint for c in run.checkpoints]
        assert run.checkpoint_before_error() == points[-1] == points[1]
        sent = {m.source: m.message for m in run.messages}
        assert run.checkpoint_before_message(sent["a"]) == points[0]
        assert run.checkpoint_before_message("nobody") is None
        found: list[tuple[str, Any, str]] = []
        run.found.connect(lambda *answer: found.append(answer))
        run.search('error:"no luck"')
        await until(lambda: bool(found), 5)
        assert found[-1][1] == (points[1],)
        run.search("cost>x")
        assert "wants a number" in found[-1][2]

    on_desk(on_loop, failing, script)


def test_a_changed_linked_file_is_known_before_a_run_goes_on(on_loop: OnLoop, tmp_path: Path) -> None:
    inner = Workflow(id="in", name="In", start="t", nodes=(TemplateNode(id="t", name="T", text="first {input}"),))
    file = tmp_path / "inner.workflow.json"
    write_workflow(inner, file)
    outer = Workflow(
        id="outer",
        name="Outer",
        start="s",
        nodes=(SubWorkflowNode(id="s", name="S", path=file.name), AgentNode(id="a", name="A")),
        edges=(DirectEdge(id="e", source="s", target="a"),),
        offline=OfflineScript(),
    )

    async def main() -> None:
        workspaces = Workspaces()
        workspace = workspaces.open(outer, tmp_path / "outer.workflow.json")
        try:
            run, told = workspace.run, list[Ahead]()
            run.run("x")
            await until(lambda: run.state is S.COMPLETED, 10)
            point = run.checkpoints[0].checkpoint
            run.look_ahead(point, told.append)
            await until(lambda: len(told) == 1, 10)
            assert not told[0]
            assert told[0].old is not None
            write_workflow(
                inner.model_copy(update={"nodes": (TemplateNode(id="t", name="T", text="second {input}"),)}), file
            )
            run.look_ahead(point, told.append)
            await until(lambda: len(told) == 2, 10)
            assert told[1].differs == ("A linked workflow file has changed.",)
            run.fork(point)
            await until(lambda: len(run.branches) == 2 and run.state is S.COMPLETED, 10)
            assert run.branches[1].note == "linked file changed at 0"
        finally:
            await workspaces.close_all()

    on_loop(main)
