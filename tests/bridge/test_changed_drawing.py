"""Going on from a checkpoint after the drawing changed: shown, mapped, never silently."""

from __future__ import annotations

from studio.agents.messages import Usage
from studio.bridge.run_views import CheckpointView
from studio.bridge.workspace import Workspace
from studio.debugger.comparison import Comparison
from studio.debugger.mapping import NodeMapping
from studio.debugger.states import RunState
from studio.document.edits import ReplaceAll, SetFields
from studio.document.model import OfflineScript, Workflow

from tests.bridge.conftest import OnLoop
from tests.bridge.test_workspaces import on_workspace, reach, two_agents
from tests.debugger.graphs import until

S = RunState


async def compared(workspace: Workspace, view: CheckpointView) -> Comparison:
    await until(lambda: workspace.run.comparison(view.checkpoint) is not None, 10)
    found = workspace.run.comparison(view.checkpoint)
    assert found is not None
    return found


def renamed(document: Workflow, old: str, new: str) -> Workflow:
    """The drawing as if a node had been drawn anew under another id."""
    text = document.model_dump_json().replace(f'"{old}"', f'"{new}"')
    return Workflow.model_validate_json(text)


def test_a_changed_prompt_is_shown_and_noted_on_the_branch(on_loop: OnLoop) -> None:
    async def script(workspace: Workspace) -> None:
        run = workspace.run
        run.run("a poem")
        await reach(workspace, S.WAITING)
        assert (await compared(workspace, run.checkpoints[1])).drift is not None
        workspace.document.execute(SetFields("nodes", "critic", {"instructions": "Be kind."}), "Type")
        assert run.comparison(run.checkpoints[1].checkpoint) is None, "of another drawing"
        found = await compared(workspace, run.checkpoints[1])
        assert found.drift is not None
        assert found.drift.same_graph
        assert found.drift.sentences() == ["1 prompt differs: Critic."]
        run.fork(run.checkpoints[1].checkpoint)
        await until(lambda: len(run.branches) == 2 and run.state is S.WAITING, 10)
        assert run.branches[1].note == "prompt of Critic changed at 1"

    assert on_workspace(on_loop, two_agents(), script) == []


def test_a_waiting_run_goes_on_as_a_fork_when_the_prompt_changed_meanwhile(on_loop: OnLoop) -> None:
    document = two_agents()

    async def first(workspace: Workspace) -> None:
        workspace.run.run("a poem")
        await reach(workspace, S.WAITING)

    async def second(workspace: Workspace) -> None:
        run = workspace.run
        await until(lambda: bool(run.branches), 10)
        run.show_branch(run.branches[0].branch)
        await reach(workspace, S.WAITING)
        run.answer({run.requests[0].request: "fine"})
        await reach(workspace, S.COMPLETED)
        assert [(b.name, b.state) for b in run.branches] == [("main", "waiting"), ("Fork A", "completed")]
        assert "changed drawing" in run.branches[1].note

    assert on_workspace(on_loop, document, first) == []
    other = tuple(n.model_copy(update={"instructions": "Be kind."}) if n.id == "critic" else n for n in document.nodes)
    assert on_workspace(on_loop, document.model_copy(update={"nodes": other}), second) == []


def test_a_changed_drawing_is_offered_again_after_a_step_without_it(on_loop: OnLoop) -> None:
    async def script(workspace: Workspace) -> None:
        run = workspace.run
        run.step("a poem")
        await reach(workspace, S.PAUSED)
        workspace.document.execute(SetFields("nodes", "critic", {"instructions": "Be kind."}), "Type")
        await until(lambda: run.can("apply")[0], 15)
        run.step("")
        await until(lambda: run.state is S.PAUSED and len(run.checkpoints) == 2, 15)
        await until(lambda: run.drawing_differs == ("Critic",), 15)
        assert run.can("apply") == (True, "")

    assert on_workspace(on_loop, two_agents(), script) == []


def test_checkpoints_say_at_once_that_the_graph_changed(on_loop: OnLoop) -> None:
    async def script(workspace: Workspace) -> None:
        run = workspace.run
        run.run("a poem")
        await reach(workspace, S.WAITING)
        run.stop()
        await reach(workspace, S.CANCELLED)
        workspace.document.execute(ReplaceAll(renamed(workspace.document.workflow, "critic", "judge")), "Change")
        await until(lambda: all(c.problem for c in run.checkpoints), 10)
        workspace.document.undo_stack.undo()
        await until(lambda: not any(c.problem for c in run.checkpoints), 10)

    assert on_workspace(on_loop, two_agents(), script) == []


def test_a_fork_with_a_mapping_goes_on_with_the_renamed_node(on_loop: OnLoop) -> None:
    async def script(workspace: Workspace) -> None:
        run = workspace.run
        run.run("a poem")
        await reach(workspace, S.WAITING)
        main = str(run.branch)
        workspace.document.execute(ReplaceAll(renamed(workspace.document.workflow, "ask", "person")), "Change")
        asked = run.checkpoints[-1]
        found = await compared(workspace, asked)
        assert found.drift is not None
        assert not found.drift.same_graph
        assert found.drift.mapping == {"writer": "writer", "shout": "shout", "ask": "person", "critic": "critic"}
        run.fork_mapped(asked.checkpoint, NodeMapping(found.drift.mapping))
        await until(lambda: run.can("answer")[0] and [r.node for r in run.requests] == ["person"], 10)
        run.answer({run.requests[0].request: "fine"})
        await reach(workspace, S.COMPLETED)
        assert run.outputs[-1].text == "heard: fine"
        assert [(b.name, b.state) for b in run.branches] == [("main", "waiting"), ("Fork A", "completed")]
        fork = [c for c in run.checkpoints if c.branch != main]
        assert (fork[0].kind, fork[0].parent) == ("fork", asked.checkpoint)
        assert not fork[0].problem

    assert on_workspace(on_loop, two_agents(), script) == []


def test_a_message_of_a_removed_node_is_rerouted_by_choice(on_loop: OnLoop) -> None:
    async def script(workspace: Workspace) -> None:
        run = workspace.run
        run.run("a poem")
        await reach(workspace, S.WAITING)
        old = workspace.document.workflow
        edge = old.edges[1].model_copy(update={"source": "writer"})
        nodes = tuple(n for n in old.nodes if n.id != "shout")
        workspace.document.execute(
            ReplaceAll(old.model_copy(update={"nodes": nodes, "edges": (edge, old.edges[2])})), "Remove"
        )
        after_shout = run.checkpoints[2]
        found = await compared(workspace, after_shout)
        assert found.drift is not None
        assert found.drift.mapping["shout"] is None
        [message] = found.checkpoint.messages
        run.fork_mapped(after_shout.checkpoint, NodeMapping(found.drift.mapping, {message.id: "critic"}))
        await until(lambda: len(run.branches) == 2 and run.state is S.COMPLETED, 10)
        assert run.outputs[-1].text == "heard: A SMALL POEM"

    assert on_workspace(on_loop, two_agents(), script) == []


def test_a_message_without_a_choice_is_refused(on_loop: OnLoop) -> None:
    async def script(workspace: Workspace) -> None:
        run = workspace.run
        run.run("a poem")
        await reach(workspace, S.WAITING)
        run.fork_mapped(run.checkpoints[1].checkpoint, NodeMapping({"writer": None}))
        await until(lambda: run.can("answer")[0], 10)
        assert len(run.branches) == 1
        assert run.state is S.WAITING

    [said] = on_workspace(on_loop, two_agents(), script)
    assert "Drop it, or send it to another node" in said


def test_the_old_drawing_is_kept(on_loop: OnLoop) -> None:
    async def script(workspace: Workspace) -> None:
        run = workspace.run
        run.run("a poem")
        await reach(workspace, S.WAITING)
        before = workspace.document.workflow
        workspace.document.execute(ReplaceAll(Workflow(id=before.id, offline=OfflineScript())), "Clear")
        found = await compared(workspace, run.checkpoints[0])
        assert found.old == before

    assert on_workspace(on_loop, two_agents(), script) == []


def test_what_each_branch_took_is_shown_after_a_restart_and_goes_on(on_loop: OnLoop) -> None:
    document, seen = two_agents(), list[Usage | None]()

    async def first(workspace: Workspace) -> None:
        run = workspace.run
        run.run("a poem")
        await reach(workspace, S.WAITING)
        seen.append(run.branches[0].usage)

    async def second(workspace: Workspace) -> None:
        run = workspace.run
        await until(lambda: bool(run.branches), 10)
        assert run.branches[0].usage == seen[0] is not None
        run.show_branch(run.branches[0].branch)
        await reach(workspace, S.WAITING)
        run.answer({run.requests[0].request: "fine"})
        await reach(workspace, S.COMPLETED)
        seen.append(run.branches[0].usage)

    async def third(workspace: Workspace) -> None:
        await until(lambda: bool(workspace.run.branches), 10)
        assert workspace.run.branches[0].usage == seen[1]
        before, after = seen
        assert before is not None
        assert after is not None
        assert (after.output or 0) > (before.output or 0) > 0

    for script in (first, second, third):
        assert on_workspace(on_loop, document, script) == []
