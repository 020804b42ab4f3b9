"""The file of runs of an open workflow: damaged, of a newer version, or none because nothing may be kept on disk."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from studio.bridge.workspace import Workspace
from studio.bridge.workspaces import Workspaces
from studio.cli.main import main as command_line
from studio.debugger.states import RunState
from studio.document.edits import SetWorkflow
from studio.document.model import AgentNode, OfflineScript, Workflow
from studio.files import write_workflow
from studio.settings.places import run_store

from tests.bridge.conftest import OnLoop
from tests.debugger.graphs import until

S = RunState
SECRET_WORD = "Zanzibar"


def workflow(*, on_disk: bool = True) -> Workflow:
    return Workflow(
        id="file-of-runs", name="Kept", start="a", runs_on_disk=on_disk,
        nodes=(AgentNode(id="a", name="A", instructions="Answer."),),
        offline=OfflineScript.model_validate({"nodes": {"a": {"replies": [f"{SECRET_WORD} says hello."]}}}),
    )  # fmt: skip


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CONFIG", "DATA", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    return tmp_path


def opened(on_loop: OnLoop, document: Workflow, script: Callable[[Workspace], Awaitable[None]]) -> list[str]:
    problems: list[str] = []

    async def main() -> None:
        workspaces = Workspaces()
        workspace = workspaces.open(document, None, journal=False)
        workspace.run.failed_to_start.connect(problems.append)
        try:
            await script(workspace)
        finally:
            await workspaces.close_all()

    on_loop(main)
    return problems


async def run_once(workspace: Workspace) -> None:
    workspace.run.run("Hello")
    await until(lambda: workspace.run.state is S.COMPLETED, 15)


def test_a_damaged_file_shows_what_can_be_read_takes_no_run_and_is_put_aside_on_wish(
    on_loop: OnLoop, home: Path
) -> None:
    opened(on_loop, workflow(), run_once)
    file = run_store("file-of-runs")
    content = bytearray(file.read_bytes())
    content[4096 * 2 :] = b"\x07" * (len(content) - 4096 * 2)
    file.write_bytes(content)

    async def script(workspace: Workspace) -> None:
        run = workspace.run
        await until(lambda: bool(run.file_trouble), 15)
        assert "is damaged" in run.file_trouble
        assert "Nothing of it was changed." in run.file_trouble
        run.run("Hello")
        await until(lambda: bool(problems) and run.state is S.IDLE, 15)
        assert "opened to be read only" in problems[-1]
        assert file.read_bytes() == bytes(content)
        run.begin_new_file()
        await until(lambda: run.file_trouble == "" and run.can("run")[0], 15)
        [aside] = [p for p in file.parent.iterdir() if ".aside-" in p.name and p.suffix == ".db"]
        assert aside.read_bytes() == bytes(content)
        await run_once(workspace)
        assert [b.number for b in run.branches] == [1]

    problems: list[str] = []

    async def told(workspace: Workspace) -> None:
        workspace.run.failed_to_start.connect(problems.append)
        await script(workspace)

    opened(on_loop, workflow(), told)


def test_a_file_of_a_newer_version_is_refused_with_the_version(on_loop: OnLoop, home: Path) -> None:
    opened(on_loop, workflow(), run_once)
    file = run_store("file-of-runs")
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA user_version=77")
    connection.close()

    async def script(workspace: Workspace) -> None:
        await until(lambda: bool(workspace.run.file_trouble), 15)
        assert "has version 77 of the format" in workspace.run.file_trouble
        assert "Update the program to open it." in workspace.run.file_trouble

    assert opened(on_loop, workflow(), script) == [], "the panel says it, no box does"


def _words_on_disk(home: Path) -> list[str]:
    found = [p for p in home.rglob("*") if p.is_file() and SECRET_WORD.encode() in p.read_bytes()]
    return [str(p.relative_to(home)) for p in found if not p.name.endswith(".workflow.json")]


def test_a_workflow_that_keeps_nothing_on_disk_leaves_no_word_of_a_run_there(
    on_loop: OnLoop, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def script(workspace: Workspace) -> None:
        run = workspace.run
        assert run.in_memory_only
        await run_once(workspace)
        assert run.outputs[-1].text.startswith(SECRET_WORD)
        run.restore(run.checkpoints[0].checkpoint)
        await until(lambda: run.state is S.PAUSED, 10)
        run.run("")
        await until(lambda: run.state is S.COMPLETED and len(run.branches) == 2, 10)
        assert not run_store("file-of-runs").exists()

    assert opened(on_loop, workflow(on_disk=False), script) == []
    file = home / "x.workflow.json"
    write_workflow(workflow(on_disk=False), file)
    assert command_line(["run", str(file), "--input", "Hello"]) == 0
    assert SECRET_WORD in capsys.readouterr().out
    assert _words_on_disk(home) == []


def test_switching_to_memory_shows_what_is_left_on_disk_and_back_again(on_loop: OnLoop, home: Path) -> None:
    async def script(workspace: Workspace) -> None:
        run = workspace.run
        await run_once(workspace)
        workspace.document.execute(SetWorkflow({"runs_on_disk": False}), "Keep no messages on disk")
        while run.checkpoints:  # the file is being closed: nobody looks into it any more
            run.look_elsewhere()
            await asyncio.sleep(0)
        await until(lambda: not run.checkpoints and run.can("run")[0], 10)
        assert run.left_on_disk > 1000
        await run_once(workspace)
        workspace.document.undo_stack.undo()
        await until(lambda: [b.number for b in run.branches] == [1] and run.can("run")[0], 10)
        assert len(run.checkpoints) > 0
        workspace.document.undo_stack.redo()
        await until(lambda: not run.checkpoints and run.can("run")[0], 10)
        run.remove_from_disk()
        assert run.left_on_disk == 0
        assert not run_store("file-of-runs").exists()

    assert opened(on_loop, workflow(), script) == []
