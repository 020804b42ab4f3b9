"""A workflow that keeps no message on disk: a word that stands in everything is in no file afterwards."""

from __future__ import annotations

import os
import sqlite3
import zlib
from pathlib import Path

import pytest
from studio.bridge.batch_model import BatchModel
from studio.bridge.workspaces import Workspaces
from studio.debugger.overrides import Mock
from studio.debugger.states import RunState
from studio.document.edits import SetWorkflow
from studio.document.model import AgentNode, DirectEdge, FunctionNode, HumanInputNode, OfflineScript, Workflow
from studio.settings import trust

from tests.bridge.conftest import OnLoop
from tests.debugger.graphs import until

S = RunState
CANARY = "Zanzibar"


def _document(*, on_disk: bool) -> Workflow:
    """The word is in nothing that is drawn: the offline model says its input backwards."""
    return Workflow(
        id="quiet",
        name="Quiet",
        start="a",
        runs_on_disk=on_disk,
        nodes=(
            AgentNode(id="a", name="A", instructions="Answer."),
            FunctionNode(id="f", name="F", body="ctx.set_state('said', data)\nresult = data"),
            HumanInputNode(id="h", name="H", question="Good? {input}"),
            AgentNode(id="b", name="B", instructions="Judge."),
        ),
        edges=tuple(
            DirectEdge(id=f"e{n}", source=s, target=t) for n, (s, t) in enumerate((("a", "f"), ("f", "h"), ("h", "b")))
        ),
        offline=OfflineScript.model_validate({"nodes": {n: {"replies": [{"echo": "heard: "}]} for n in ("a", "b")}}),
    )


def files_with(folder: Path, word: str) -> list[str]:
    """Names of the files that hold a word: in plain bytes, or in a row of a database."""
    found = []
    for base, _, names in os.walk(folder):
        for name in names:
            path = Path(base) / name
            if word.encode() in path.read_bytes() or (path.suffix == ".db" and _in_rows(path, word.encode())):
                found.append(str(path.relative_to(folder)))
    return sorted(found)


def _in_rows(path: Path, word: bytes) -> bool:
    connection = sqlite3.connect(path)
    try:
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")]
        rows = [row for table in tables for row in connection.execute(f"SELECT * FROM {table}")]
    finally:
        connection.close()
    values = [value for row in rows for value in row]
    return any(word in (v.encode() if isinstance(v, str) else v if isinstance(v, bytes) else b"") for v in values)


async def _use_everything(workspaces: Workspaces, document: Workflow, folder: Path) -> None:
    """Run, pins, mocks, answers and their drafts, marks, forks, edits of messages, a batch."""
    workspace = workspaces.open(document, None)
    run, problems = workspace.run, list[str]()
    run.failed_to_start.connect(problems.append)
    run.run(f"{CANARY} input")
    await until(lambda: run.state is S.WAITING, 20)
    run.keep_draft(run.requests[0].request, f"{CANARY} draft")
    run.answer({run.requests[0].request: f"{CANARY} answer"})
    await until(lambda: run.state is S.COMPLETED, 20)
    assert CANARY in run.outputs[-1].text
    run.setup.pin("a", f"{CANARY} pinned")
    run.setup.mock("tool", Mock(f"{CANARY} mocked"))
    run.setup.mute("f", on=True)
    run.mark(run.checkpoints[1].checkpoint, name=f"{CANARY} name", note=f"{CANARY} note")
    branches = len(run.branches)
    run.fork(run.checkpoints[1].checkpoint)
    await until(lambda: len(run.branches) > branches and run.state is S.WAITING, 20)
    batch = BatchModel(run._services)  # type: ignore[arg-type]
    batch.open(folder / "table.csv")
    await until(lambda: len(batch.rows) == 1, 20)
    batch.start()
    await until(lambda: not batch.running and bool(batch.results), 20)
    await batch.close()
    workspace.document.execute(SetWorkflow({"description": "Changed."}), "Type")
    workspace.keep_unsaved()
    assert problems == []


def _lived(on_loop: OnLoop, document: Workflow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "place"
    for name in ("CONFIG", "DATA", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))
    table = home / "work" / "table.csv"
    table.parent.mkdir(parents=True)
    table.write_text("input\nsome " + "row\n", encoding="utf-8")
    trust.trust(document)

    async def main() -> None:
        workspaces = Workspaces()
        try:
            await _use_everything(workspaces, document, table.parent)
        finally:
            await workspaces.close_all()

    on_loop(main)
    return home


def test_the_word_is_in_no_file(on_loop: OnLoop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = _lived(on_loop, _document(on_disk=False), tmp_path, monkeypatch)
    assert files_with(home, CANARY) == []
    assert files_with(home, "some row") == ["work/table.csv"], "inputs of a batch are in its table alone"
    assert not list(home.rglob("*.db"))
    assert not (home / "work" / "table.results.jsonl").exists()
    [kept] = list((home / "state").rglob("quiet.json"))
    assert '"f"' in kept.read_text(encoding="utf-8"), "what is muted is no text"


def test_the_same_use_with_runs_on_disk_leaves_it(
    on_loop: OnLoop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the test above shows nothing."""
    home = _lived(on_loop, _document(on_disk=True), tmp_path, monkeypatch)
    found = files_with(home, CANARY)
    assert any(name.endswith("quiet.db") for name in found)
    assert any(name.endswith("quiet.json") for name in found), "pins"
    assert (home / "work" / "table.results.jsonl").exists()


def test_pins_leave_the_disk_when_a_workflow_begins_to_keep_nothing_and_come_back(
    on_loop: OnLoop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "place"
    monkeypatch.setenv("XDG_STATE_HOME", str(home))

    async def main() -> None:
        workspaces = Workspaces()
        workspace = workspaces.open(_document(on_disk=True), None)
        setup = workspace.run.setup
        setup.pin("a", CANARY)
        assert files_with(home, CANARY)
        workspace.document.execute(SetWorkflow({"runs_on_disk": False}), "Keep nothing")
        await until(lambda: not files_with(home, CANARY), 20)
        assert setup.overrides.pins["a"].value == CANARY, "it holds as long as the window is open"
        workspace.document.undo_stack.undo()
        await until(lambda: bool(files_with(home, CANARY)), 20)
        assert setup.overrides.pins["a"].value == CANARY
        await workspaces.close_all()

    on_loop(main)


def test_the_search_finds_a_word_in_rows_and_bytes(tmp_path: Path) -> None:
    (tmp_path / "plain.txt").write_bytes(b"x Zanzibar y")
    (tmp_path / "packed.bin").write_bytes(zlib.compress(b"Zanzibar"))
    assert files_with(tmp_path, CANARY) == ["plain.txt"]
