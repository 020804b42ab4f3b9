"""Whole documents in workspaces: the built-in model, a worker, the run database."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QObject
from studio.bridge.run_views import AnswerView
from studio.bridge.workspace import Workspace
from studio.bridge.workspaces import Workspaces
from studio.debugger.states import RunState
from studio.document.conditions import Condition
from studio.document.edits import SetFields
from studio.document.model import (
    AgentNode,
    DirectEdge,
    FanInEdge,
    FanOutEdge,
    FunctionNode,
    HumanInputNode,
    JoinNode,
    OfflineScript,
    Workflow,
)
from studio.files import write_workflow
from studio.settings import trust
from studio.workers import Worker

from tests.bridge.conftest import OnLoop
from tests.debugger.graphs import until

S = RunState


def two_agents(**script: object) -> Workflow:
    """A writer, a function that shouts, a person, a critic."""
    return Workflow(
        id="loop",
        name="Loop",
        start="writer",
        nodes=(
            AgentNode(id="writer", name="Writer", instructions="Write."),
            FunctionNode(id="shout", name="Shout", body="print('shouting')\nresult = data.upper()"),
            HumanInputNode(id="ask", name="Ask", question="Is this good? {input}"),
            AgentNode(id="critic", name="Critic", instructions="Judge."),
        ),
        edges=(
            DirectEdge(id="e1", source="writer", target="shout"),
            DirectEdge(id="e2", source="shout", target="ask"),
            DirectEdge(id="e3", source="ask", target="critic"),
        ),
        offline=OfflineScript.model_validate(
            {
                "nodes": {
                    "writer": script.get("writer") or {"replies": [{"chunks": ["a ", "small ", "poem"]}]},
                    "critic": {"replies": [{"echo": "heard: "}]},
                },
                "delay_ms": script.get("delay_ms", 0),
            }
        ),
    )


def on_workspace(
    on_loop: OnLoop, workflow: Workflow, script: Callable[[Workspace], Awaitable[None]], *, trusted: bool = True
) -> list[str]:
    """Runs a script on an opened workspace; gives the sentences of what did not work."""
    problems: list[str] = []

    async def main() -> None:
        if trusted:
            trust.trust(workflow)
        workspaces = Workspaces()
        workspace = workspaces.open(workflow, None)
        workspace.run.failed_to_start.connect(problems.append)
        try:
            await script(workspace)
        finally:
            await workspaces.close_all()

    on_loop(main)
    return problems


async def reach(workspace: Workspace, state: RunState) -> None:
    await until(lambda: workspace.run.state is state, 10)


def test_agents_function_and_person_run_to_the_end(on_loop: OnLoop) -> None:
    async def script(workspace: Workspace) -> None:
        run = workspace.run
        run.run("a poem")
        await reach(workspace, S.WAITING)
        [form] = run.requests
        assert (form.question, form.answer_type, form.node) == ("Is this good? A SMALL POEM", "text", "ask")
        assert run.sentence == "Waiting for an answer to Ask"
        run.answer({form.request: "yes"})
        await reach(workspace, S.COMPLETED)
        lanes = {i.node: [(p.kind, p.text) for p in i.pieces] for i in run.invocations.values()}
        assert lanes["writer"] == [("text", "a small poem")]
        assert lanes["shout"] == [("print", "shouting\n"), ("text", "A SMALL POEM")]
        assert lanes["critic"] == [("text", "heard: yes")]
        assert run.nodes["writer"].usage is not None
        assert run.branches[0].usage == run.usage != run.nodes["writer"].usage
        assert [(o.node, o.text) for o in run.outputs] == [("writer", "a small poem"), ("critic", "heard: yes")]
        assert [c.kind for c in run.checkpoints].count("answers") == 1
        assert [r.number for r in run.supersteps] == [1, 2, 3, 4, 5, 6]
        assert run.supersteps[3].answers == [AnswerView(form.request, form.node, "answered")]

    assert on_workspace(on_loop, two_agents(), script) == []


def test_stop_while_a_model_streams_cuts_the_stream(on_loop: OnLoop) -> None:
    words = [f"word{i} " for i in range(500)]

    async def script(workspace: Workspace) -> None:
        run = workspace.run
        run.run("a poem")
        await until(lambda: any(i.pieces for i in run.invocations.values()), 10)
        run.stop()
        await reach(workspace, S.CANCELLED)
        assert run.nodes["writer"].status == "stopped"

    long = {"replies": [{"chunks": words}]}
    assert on_workspace(on_loop, two_agents(writer=long, delay_ms=20), script) == []


def test_stop_ends_an_endless_loop_of_user_code(on_loop: OnLoop) -> None:
    workflow = Workflow(
        id="endless",
        start="spin",
        nodes=(FunctionNode(id="spin", name="Spin", body="import os\nprint(os.getpid())\nwhile True:\n    pass"),),
    )

    async def script(workspace: Workspace) -> None:
        run = workspace.run
        run.run("go")
        await until(lambda: any(p.kind == "print" for i in run.invocations.values() for p in i.pieces), 10)
        [lane] = run.invocations.values()
        pid = int(lane.pieces[0].text)
        run.stop()
        await reach(workspace, S.CANCELLED)
        await until(lambda: not _alive(pid))

    assert on_workspace(on_loop, workflow, script) == []


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_code_that_nobody_accepted_does_not_run(on_loop: OnLoop) -> None:
    async def script(workspace: Workspace) -> None:
        workspace.run.run("go")
        await until(lambda: workspace.run.state is S.IDLE, 10)
        assert workspace.run.branches == []

    [problem] = on_workspace(on_loop, two_agents(), script, trusted=False)
    assert "choose Trust this code." in problem


def test_a_document_with_errors_does_not_start_and_says_the_first(on_loop: OnLoop) -> None:
    async def script(workspace: Workspace) -> None:
        workspace.run.run("go")
        await until(lambda: workspace.run.state is S.IDLE, 10)

    [problem] = on_workspace(on_loop, Workflow(id="empty"), script)
    assert problem.endswith(".")


def test_pause_during_a_slow_model_and_a_breakpoint_on_one_of_two_parallel_nodes(on_loop: OnLoop) -> None:
    workflow = Workflow(
        id="parallel",
        start="start",
        nodes=(
            AgentNode(id="start", name="Start"),
            AgentNode(id="left", name="Left"),
            AgentNode(id="right", name="Right"),
            JoinNode(id="join", name="Join"),
            AgentNode(id="end", name="End"),
        ),
        edges=(
            FanOutEdge(id="out", source="start", targets=("left", "right")),
            FanInEdge(id="in", sources=("left", "right"), target="join"),
            DirectEdge(id="e", source="join", target="end"),
        ),
        offline=OfflineScript.model_validate(
            {
                "nodes": {
                    "start": {"replies": [{"text": "s", "wait_ms": 80}]},
                    "left": {"replies": [{"text": "l", "wait_ms": 80}]},
                    "right": {"replies": [{"text": "r"}]},
                    "end": {"replies": [{"echo": ""}]},
                }
            }
        ),
    )

    async def script(workspace: Workspace) -> None:
        run = workspace.run
        run.toggle_breakpoint("right")
        run.run("go")
        await until(lambda: "start" in run.nodes, 10)
        run.pause()
        await until(lambda: run.sentence == "Pausing: waits for Start", 5)
        await reach(workspace, S.PAUSED)
        assert run.sentence == "Paused before superstep 2"
        assert [(q.source, q.edges) for q in run.queued] == [("start", ("out",))]
        run.run("go")
        await until(lambda: run.sentence == "Pausing: waits for Left", 5)
        await reach(workspace, S.PAUSED)
        assert run.sentence == "Paused in superstep 2 — breakpoint on Right"
        assert run.nodes["left"].status == "done"
        assert run.nodes["right"].invocations == 0
        run.run("go")
        await reach(workspace, S.COMPLETED)
        assert run.outputs[-1].text == "l\n\nr"

    assert on_workspace(on_loop, workflow, script) == []


def test_branches_survive_a_restart_and_go_on(on_loop: OnLoop) -> None:
    async def first(workspace: Workspace) -> None:
        run = workspace.run
        run.step("a poem")
        await reach(workspace, S.PAUSED)
        run.step("a poem")
        await until(lambda: run.sentence == "Paused before superstep 2", 10)

    async def second(workspace: Workspace) -> None:
        run = workspace.run
        await until(lambda: bool(run.branches), 10)
        assert [(b.name, b.state, b.input_text) for b in run.branches] == [("main", "paused", "a poem")]
        at_one = run.checkpoints[1].checkpoint
        run.restore(at_one)
        await reach(workspace, S.PAUSED)
        assert [i.node for i in run.invocations.values()] == ["writer"]
        [chip] = run.queued
        assert (chip.text, chip.type_name, chip.edges) == ("a small poem", "response", ("e1",))
        run.edit_queued(chip.message, "another poem")
        run.run("")
        await reach(workspace, S.WAITING)
        assert run.requests[0].question == "Is this good? ANOTHER POEM"
        assert [(b.name, b.note) for b in run.branches] == [("main", ""), ("Fork A", "message edited at 1")]
        fork = [c for c in run.checkpoints if c.branch == run.branch]
        assert (fork[0].kind, fork[0].parent) == ("fork", at_one)

    async def third(workspace: Workspace) -> None:
        run = workspace.run
        await until(lambda: len(run.branches) == 2, 10)
        run.show_branch(run.branches[1].branch)
        await reach(workspace, S.WAITING)
        run.answer({run.requests[0].request: "fine"})
        await reach(workspace, S.COMPLETED)
        assert run.outputs[-1].text == "heard: fine"

    for script in (first, second, third):
        assert on_workspace(on_loop, two_agents(), script) == []


def test_a_checkpoint_of_another_graph_can_be_looked_at_but_not_continued(on_loop: OnLoop) -> None:
    async def script(workspace: Workspace) -> None:
        run = workspace.run
        run.run("a poem")
        await reach(workspace, S.WAITING)
        run.stop()
        await reach(workspace, S.CANCELLED)
        condition = Condition(kind="expression", name="when_short", expression="len(text) < 5")
        workspace.document.execute(SetFields("edges", "e3", {"condition": condition}), "Change")
        run.restore(run.checkpoints[1].checkpoint)
        await reach(workspace, S.PAUSED)
        assert all(c.problem for c in run.checkpoints)
        run.run("")
        await reach(workspace, S.IDLE)
        assert len(run.branches) == 1

    assert on_workspace(on_loop, two_agents(), script) == [
        "The graph has changed since this checkpoint was saved. "
        "Map its nodes, undo the changes of the graph, or start a new run."
    ]


def test_edits_are_in_the_journal_until_the_document_is_closed(on_loop: OnLoop) -> None:
    async def script(workspace: Workspace) -> None:
        assert workspace.autosave is not None
        journal = workspace.autosave.journal
        workspace.document.execute(SetFields("nodes", "writer", {"instructions": "Write well."}), "Type")
        async with asyncio.timeout(60):
            while journal._file is None:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert "Write well." in journal._file.read_text(encoding="utf-8")
        workspace.document.undo_stack.undo()
        assert journal._file is None

    on_workspace(on_loop, two_agents(), script)


def test_a_tab_that_goes_while_its_run_works_takes_nothing_down(on_loop: OnLoop) -> None:
    async def main() -> None:
        workspaces = Workspaces()
        long = {"replies": [{"chunks": [f"word{i} " for i in range(500)]}]}
        workflow = two_agents(writer=long, delay_ms=5)
        trust.trust(workflow)
        workspace = workspaces.open(workflow, None)
        page = QObject()
        workspace.setParent(page)
        workspace.run.run("a poem")
        await until(lambda: any(i.pieces for i in workspace.run.invocations.values()), 10)
        workspaces.close(workspace)
        page.deleteLater()
        await asyncio.sleep(0.05)
        await workspaces.close_all()
        again = workspaces.open(workflow, None)
        await until(lambda: bool(again.run.branches), 10)
        assert again.run.branches[0].state == "interrupted"
        await workspaces.close_all()

    on_loop(main)


async def _killed_run(file: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "studio", "run", str(file), "--input", "a poem", "--json", "--trust",
        stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert process.stdout is not None
    started = 0
    async with asyncio.timeout(60):
        while started < 2:
            line = await process.stdout.readline()
            assert line
            started += b'"superstep_started"' in line
        process.kill()
        await process.wait()


def test_after_kill_9_only_the_superstep_in_progress_is_missing(on_loop: OnLoop, tmp_path: Path) -> None:
    workflow = two_agents().model_copy(update={"id": "killed"})
    endless = FunctionNode(id="shout", name="Shout", body="import time\ntime.sleep(60)")
    nodes = tuple(endless if n.id == "shout" else n for n in workflow.nodes)
    workflow = workflow.model_copy(update={"nodes": nodes})
    file = tmp_path / "killed.workflow.json"
    write_workflow(workflow, file)
    asyncio.run(_killed_run(file))

    async def script(workspace: Workspace) -> None:
        run = workspace.run
        await until(lambda: bool(run.branches), 10)
        assert [(b.name, b.state) for b in run.branches] == [("main", "interrupted")]
        assert [(c.kind, c.superstep) for c in run.checkpoints] == [("input", 0), ("superstep", 1)]
        run.show_branch(run.branches[0].branch)
        await reach(workspace, S.PAUSED)
        [lane] = run.invocations.values()
        assert (lane.node, lane.pieces[0].text) == ("writer", "a small poem")
        assert [q.text for q in run.queued] == ["a small poem"]

    assert on_workspace(on_loop, workflow, script) == []


def test_the_worker_starts_when_its_code_is_trusted(on_loop: OnLoop, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []

    async def start(worker: Worker) -> None:
        started.append("worker")

    async def main() -> None:
        monkeypatch.setattr(Worker, "start", start)
        workspaces = Workspaces()
        workspace = workspaces.open(two_agents(), None)
        await asyncio.gather(*workspaces._worker_starts.values())
        assert started == []
        trust.trust(workspace.document.workflow)
        workspace.code_trusted.emit()
        await until(lambda: started == ["worker"], 5)
        workspaces.open(two_agents().model_copy(update={"id": "other"}), None)
        await until(lambda: started == ["worker"] * 2, 5)
        await workspaces.close_all()

    on_loop(main)
