"""Importing in the window: the dialog, its report, what is opened."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot
from shiboken6 import isValid
from studio.document.model import AgentNode
from studio.export import export_project
from studio.files import dumps, loads, write_project
from studio.importers import Imported
from studio.settings.places import resource
from studio.settings.profiles import Profile, Profiles, write_profiles
from studio.ui.dialogs.provider_sheet import ProviderSheet
from studio.ui.importing import ImportDialog, ImportReportWindow
from studio.ui.main_window import MainWindow
from studio.ui.theme import Theme
from studio.ui.window.drops import _is_foreign
from tests.waiting import until

SAMPLES = Path(__file__).parents[2] / "importers" / "samples"
Opened = Callable[[Path], ImportDialog]

PROGRAM = """
from agent_framework import Executor, WorkflowBuilder, WorkflowContext, handler

class Upper(Executor):
    @handler
    async def up(self, text: str, ctx: WorkflowContext[str]) -> None:
        await ctx.send_message(text.upper())

class Last(Executor):
    @handler
    async def last(self, text: str, ctx: WorkflowContext[None, str]) -> None:
        await ctx.yield_output(text)

first, last = Upper(id="first"), Last(id="last")
workflow = WorkflowBuilder(start_executor=first).add_edge(first, last).build()
"""


@pytest.fixture
async def opened(qtbot: QtBot, theme: Theme) -> AsyncIterator[Opened]:
    made: list[ImportDialog] = []

    def open_file(file: Path) -> ImportDialog:
        dialog = ImportDialog(theme, file)
        made.append(dialog)
        dialog.show()
        return dialog

    yield open_file
    for dialog in made:
        if isValid(dialog):
            dialog.reject()
    await asyncio.sleep(0)


async def read(dialog: ImportDialog) -> None:
    await until(lambda: not dialog.busy)


def cells(dialog: ImportDialog) -> list[list[Any]]:
    rows = dialog.rows
    return [[rows.index(r, c).data() for c in range(4)] for r in range(rows.rowCount())]


async def test_a_file_is_read_and_offered(opened: Opened, tmp_path: Path) -> None:
    (tmp_path / "flow.py").write_text(PROGRAM, encoding="utf-8")
    dialog = opened(tmp_path / "flow.py")
    assert dialog.busy
    assert not dialog._open.isEnabled()
    await read(dialog)
    taken: list[Imported] = []
    dialog.taken.connect(taken.append)
    assert "Agent Framework, Python. 2 of 2 items imported" in dialog.said.text()
    assert dialog.build.isVisible()
    dialog._open.click()
    assert [n.id for n in taken[0].workflow.nodes] == ["first", "last"]


async def test_losses_come_first(opened: Opened) -> None:
    """The sample with the most lost items."""
    best = max(SAMPLES.glob("n8n/*.json"), key=lambda f: f.stat().st_size)
    dialog = opened(best)
    await read(dialog)
    assert dialog.found is not None
    order = [row.severity for row in dialog.rows._rows]
    assert order == sorted(order, key=["loss", "warn", "info"].index)
    report = dialog.found.report
    assert len(order) == len(report.entries) + len(report.folded) > 0


async def test_a_file_that_is_no_workflow_says_so(opened: Opened, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"hello": 1}), encoding="utf-8")
    dialog = opened(tmp_path / "a.json")
    await read(dialog)
    assert dialog.found is None
    assert dialog.said.text().startswith("The format of the file is not known.")
    dialog.kind.setCurrentIndex(dialog.kind.findData("dify"))
    dialog.look()
    await read(dialog)
    assert dialog.found is None
    assert not dialog._open.isEnabled()


async def test_a_program_that_hides_what_it_builds_can_be_run(opened: Opened, tmp_path: Path) -> None:
    (tmp_path / "flow.py").write_text("import agent_framework\nw = getattr(agent_framework, 'X')()\n", encoding="utf-8")
    dialog = opened(tmp_path / "flow.py")
    await read(dialog)
    assert dialog.found is None
    assert dialog.build.isVisible()
    dialog.build.setChecked(True)
    assert dialog.run.isVisible()


async def test_running_the_program_stops_with_the_dialog(opened: Opened, tmp_path: Path) -> None:
    mark = tmp_path / "started"
    code = f"import pathlib, time\npathlib.Path({str(mark)!r}).touch()\ntime.sleep(600)\n"
    (tmp_path / "flow.py").write_text(PROGRAM + code, encoding="utf-8")
    dialog = opened(tmp_path / "flow.py")
    await read(dialog)
    assert not mark.exists()
    dialog.build.setChecked(True)
    assert not dialog.busy  # what will run, and in which Python, is shown first
    assert dialog.run.isVisible()
    assert dialog.interpreter.isVisible()
    dialog.seconds.setText("no number")
    assert not dialog.run.isEnabled()
    dialog.seconds.setText("600")
    dialog.run.click()
    await until(mark.exists)
    assert dialog.busy
    stop = dialog._stop
    dialog.reject()
    assert stop.is_set()
    assert not dialog.busy


async def test_changes_of_an_exported_project_are_an_edit_list(opened: Opened, tmp_path: Path) -> None:
    flow = loads((resource("templates") / "approval-gate.workflow.json").read_text(encoding="utf-8"))
    write_project(export_project(flow, layout=True), tmp_path)
    agents = next(tmp_path.rglob("agents.py"))
    text = agents.read_text(encoding="utf-8")
    agents.write_text(text.replace("one concrete step", "two concrete steps"), encoding="utf-8")
    dialog = opened(next(tmp_path.rglob("workflow.py")))
    await read(dialog)
    assert dialog.found is not None
    assert dialog.found.edits
    assert "1 change was made in the code since it was exported." in dialog.said.text()
    assert dialog.found.before == flow
    assert dialog.rows.data(dialog.rows.index(0, 1)) == "Proposer"
    assert dialog.rows.data(dialog.rows.index(0, 2)) == "Changed in the code: instructions."


async def mapping_sheet(window: MainWindow, qtbot: QtBot, source: Path) -> ProviderSheet:
    """Imports a file and opens what was read; gives the sheet that then asks for models and tools."""
    window.show()
    qtbot.waitExposed(window)
    window.pages.show_import(source)
    dialog = window.findChild(ImportDialog)
    assert dialog is not None
    await read(dialog)
    dialog._open.click()
    sheet = window.findChild(ProviderSheet)
    assert sheet is not None
    return sheet


async def test_models_and_tools_are_mapped_in_one_step(make_window: Callable[..., MainWindow], qtbot: QtBot) -> None:
    write_profiles(Profiles().with_profile(Profile("Gateway", "openai", "https://x.example/v1", model="gpt-4o-mini")))
    window = make_window()
    sheet = await mapping_sheet(window, qtbot, SAMPLES / "flowise" / "01_two_models.json")
    assert sheet.model_boxes["gpt-4o-mini"].currentText() == "Gateway, asked for gpt-4o-mini"
    box = sheet.tool_boxes["calculator"]
    assert box.currentText() == "I answer each call by hand"
    box.setCurrentText("Nothing: agents lose the tool")
    page = window.page
    assert page is not None
    document = page.workspace.document
    before = document.workflow
    sheet.accept()
    agents = [node for node in document.workflow.nodes if isinstance(node, AgentNode)]
    assert ("Gateway", "gpt-4o-mini") in {(a.profile, a.model) for a in agents}
    assert {a.tools for a in agents} == {()}
    assert document.workflow.tools == ()
    document.undo_stack.undo()
    assert document.workflow == before


async def test_a_model_without_its_provider_is_answered_by_that_of_the_run(
    make_window: Callable[..., MainWindow], qtbot: QtBot
) -> None:
    window = make_window()
    sheet = await mapping_sheet(window, qtbot, SAMPLES / "n8n" / "04_loop_over_items.json")
    assert sheet.model_boxes["claude"].currentText() == "The provider of the run, its own model"
    sheet.accept()
    assert window.page is not None
    assert [n.model for n in window.page.workspace.document.workflow.nodes if isinstance(n, AgentNode)] == [None]


async def test_the_report_stays_with_the_workflow_and_a_refused_run_leads_to_it(
    make_window: Callable[..., MainWindow], qtbot: QtBot
) -> None:
    window = make_window()
    sheet = await mapping_sheet(window, qtbot, SAMPLES / "n8n" / "04_loop_over_items.json")
    sheet.reject()
    page = window.page
    assert page is not None
    document = page.workspace.document
    assert document.dirty  # it is in no file yet
    assert loads(dumps(document.workflow)) == document.workflow
    page.workspace.problems.refresh()
    page.workspace.run.failed_to_start.emit("It cannot run.")
    assert "each" in [entry.item for entry in document.workflow.imported.entries]  # type: ignore[union-attr]
    box = window.findChild(QMessageBox, "message")
    assert box is not None
    ways = [button.text() for button in box.buttons()]
    assert ways == ["Show problems", "Import report…", "Map providers and tools…", "Close"]
    box.buttons()[1].click()
    report = window.findChild(ImportReportWindow)
    assert report is not None
    at = next(row for row in range(report.rows.count()) if document.workflow.node(report.rows.item(row)) is not None)
    report.table.activated.emit(report.rows.index(at, 2))
    assert page.workspace.selection.items == (report.rows.item(at),)
    report.close()


def test_what_is_foreign(tmp_path: Path) -> None:
    for name, text, foreign in (
        ("a.py", "", True),
        ("a.yaml", "", True),
        ("a.json", '{"nodes": []}', True),
        ("b.json", '{"format": "superstep-workflow"}', False),
        ("a.workflow.json", "{}", False),
        ("a.png", "", False),
        ("gone.json", None, False),
    ):
        if text is not None:
            (tmp_path / name).write_text(text, encoding="utf-8")
        assert _is_foreign(tmp_path / name) is foreign, name
