"""Runs leave the window as a file and come back: into the same workflow, and with the workflow on another machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from studio.bridge.workspace import Workspace
from studio.debugger.states import RunState
from studio.document.model import Workflow
from studio.settings.places import run_store

from tests.bridge.conftest import OnLoop
from tests.bridge.test_run_files import home, opened, run_once, workflow  # noqa: F401
from tests.debugger.graphs import until

S = RunState


@pytest.mark.usefixtures("home")
def test_a_run_goes_to_another_machine_and_can_be_gone_on_with_there(
    on_loop: OnLoop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "x.superstep-runs"
    said: list[str] = []
    offered: list[tuple[Workflow, Path]] = []

    async def export(workspace: Workspace) -> None:
        run = workspace.run
        await run_once(workspace)
        run.mark(run.checkpoints[1].checkpoint, name="the plan")
        run.bundled.connect(said.append)
        run.export_bundle(str(run.branch), file)
        await until(lambda: file.exists() and bool(said), 10)

    async def take(workspace: Workspace) -> None:
        run = workspace.run
        run.workflow_imported.connect(lambda found, runs: offered.append((found, runs)))
        run.import_bundle(file)
        await until(lambda: bool(offered), 10)
        assert not run_store(workspace.document.workflow.id).exists()

    async def go_on(workspace: Workspace) -> None:
        run = workspace.run
        run.bundled.connect(said.append)
        run.import_bundle(offered[0][1])
        await until(lambda: len(run.checkpoints) > 2, 10)
        assert said[-1] == "Imported main of run 1"
        assert run_store("file-of-runs").exists()
        assert [c.name for c in run.checkpoints][1] == "the plan"
        run.restore(run.checkpoints[0].checkpoint)
        await until(lambda: run.state is S.PAUSED, 10)
        run.run("")
        await until(lambda: run.state is S.COMPLETED, 10)
        assert [b.name for b in run.branches] == ["main", "Fork A"]
        run.import_bundle(file)
        await until(lambda: said[-1] == "Everything in this file is there already", 10)
        assert len(run.branches) == 2

    assert opened(on_loop, workflow(), export) == []
    assert said[-1].startswith("x.superstep-runs holds")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "another machine"))
    assert opened(on_loop, Workflow(id="something-else"), take) == []
    assert (offered[0][0].id, offered[0][1]) == ("file-of-runs", file)
    assert opened(on_loop, offered[0][0], go_on) == []


@pytest.mark.usefixtures("home")
def test_a_file_that_is_no_bundle_is_said(on_loop: OnLoop, tmp_path: Path) -> None:
    file = tmp_path / "x.superstep-runs"
    file.write_text("nothing", encoding="utf-8")

    async def script(workspace: Workspace) -> None:
        workspace.run.import_bundle(file)
        await until(lambda: bool(problems), 10)

    problems: list[str] = []

    async def told(workspace: Workspace) -> None:
        workspace.run.failed_to_start.connect(problems.append)
        await script(workspace)

    opened(on_loop, workflow(), told)
    assert problems == ["x.superstep-runs is no bundle of runs, or it is damaged."]
