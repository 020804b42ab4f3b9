"""A file of runs opens as files do: with the workflow that it belongs to, whatever is open."""

from __future__ import annotations

from pathlib import Path

from studio.debugger import bundles
from studio.document.model import FunctionNode, Workflow
from studio.engine import Codec
from studio.ui.window import drops
from tests.ui.shell.test_files import MakeWindow, closes_messages, message  # noqa: F401


def runs_of(workflow: Workflow, file: Path) -> Path:
    bundles.write(bundles.Bundle(workflow, (), (), {}, {}, {}), file, Codec())
    return file


def test_runs_from_another_machine_open_with_their_workflow_where_none_is_open(
    make_window: MakeWindow, tmp_path: Path
) -> None:
    window = make_window()
    window.show_first([])
    brief = Workflow(id="brief", name="Research brief", nodes=(FunctionNode(id="f", name="F"),))
    file = runs_of(brief, tmp_path / "main.superstep-runs")
    window.refresh()
    assert window.actions_["checkpoint.import"].isEnabled(), "also with no workflow open"
    window.files.open_all([file])
    [page] = window.files.pages()
    assert page.workspace.document.workflow == brief
    assert page.workspace.document.path is None
    assert page.workspace.run.calls == [("import", "main.superstep-runs")]
    window.files.new()
    drops.take(window, [file])
    assert window.page is page, "the workflow that is open already comes to the front"
    assert page.workspace.run.calls == [("import", "main.superstep-runs")] * 2


def test_a_file_that_only_calls_itself_runs_is_refused_with_the_reason(make_window: MakeWindow, tmp_path: Path) -> None:
    window = make_window()
    file = tmp_path / "x.superstep-runs"
    file.write_text("nothing", encoding="utf-8")
    assert window.files.open(file) is None
    box = message(window)
    assert box.text() == "x.superstep-runs could not be opened."
    assert "no bundle of runs, or it is damaged" in box.informativeText()
    assert window.files.pages() == []


def test_runs_of_another_workflow_offered_by_an_open_one_open_beside_it(
    make_window: MakeWindow, tmp_path: Path
) -> None:
    window = make_window()
    first = window.files.new()
    brief = Workflow(id="brief", name="Research brief")
    first.workspace.run.workflow_imported.emit(brief, tmp_path / "main.superstep-runs")
    assert window.page is not first
    assert window.page is not None
    assert window.page.workspace.document.workflow == brief
    assert window.page.workspace.run.calls == [("import", "main.superstep-runs")]
