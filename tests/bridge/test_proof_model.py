"""The proof of an export in the window is given the run that is shown."""

from __future__ import annotations

import asyncio

from PySide6.QtWidgets import QApplication
from studio.bridge.proof_model import ProofModel
from studio.debugger.run_tests import RunTest
from studio.export import export_project

from tests.assembly.running import script
from tests.assembly.test_kinds import agent, function, workflow

FLOW = workflow(
    [agent("writer"), function("end", "result = data.upper()", sends="", yields="text")],
    offline=script(writer=["from the document"]),
    sample_input="tides",
)


async def _proven(model: ProofModel, run: RunTest | None) -> None:
    async def shown() -> RunTest | None:
        return run

    ended = asyncio.Event()
    model.changed.connect(lambda: None if model.running else ended.set())
    model.start(FLOW, None, run=shown)
    assert model.state == "running"
    await asyncio.wait_for(ended.wait(), 120)


async def test_the_replies_of_the_shown_run_are_used_and_named(qapp: QApplication) -> None:
    model = ProofModel()
    files = export_project(FLOW)
    path = next(path for path in files if path.endswith("functions.py"))
    only_here = '"both" if "recorded" in data else data.upper()'
    assert "data.upper()" in files[path]
    model.show_files({**files, path: files[path].replace("data.upper()", only_here)})
    await _proven(model, RunTest("Monday", "", "moon", {"writer": [{"text": "recorded"}]}))
    assert model.problem == ""
    assert (model.state, model.replies_of) == ("failed", "Monday")
    assert model.steps["same"].detail == "end gave 'RECORDED' on the canvas and 'both' in the code."
    await _proven(model, None)
    assert (model.state, model.replies_of) == ("proven", "")
    model.deleteLater()
