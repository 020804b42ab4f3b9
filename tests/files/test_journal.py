"""The journal: what a killed program leaves, and what it does not."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from studio.document import commands
from studio.document.model import Workflow
from studio.files import FileProblem, Journal, recoverable
from studio.files.deltas import apply_difference, difference
from studio.files.format import loads, to_text
from studio.files.migrations import FORMAT, VERSION
from studio.files.plain import plain_workflow

from tests.document.building import Drawing
from tests.document.strategies import workflows


@settings(max_examples=60, deadline=None)
@given(st.lists(workflows(), min_size=2, max_size=4))
def test_differences_lead_from_document_to_document(steps: list[Workflow]) -> None:
    data = plain_workflow(steps[0])
    for before, after in pairwise(steps):
        apply_difference(data, difference(before, after))
        assert loads(to_text({"format": FORMAT, "version": VERSION, **data})) == after


def test_an_edit_writes_only_what_it_changed() -> None:
    drawing = Drawing("agent", "agent", "switch")
    before = drawing.workflow
    drawing.set("agent", instructions="New.")
    change = difference(before, drawing.workflow)
    assert list(change) == ["nodes"]
    assert [n["id"] for n in change["nodes"]["put"]] == ["agent"]
    assert difference(before, before) == {}


def crashed(journal: Journal) -> None:
    """What the end of the process does: the lock is free, the file stays."""
    assert journal._lock is not None
    journal._lock.release()


def edited(folder: Path, path: Path | None = None) -> tuple[Journal, Drawing]:
    drawing = Drawing("agent")
    journal = Journal("w", folder)
    journal.begin(drawing.workflow, path)
    for name in ("A", "B", "C"):
        drawing.do(commands.rename(drawing.workflow, "agent", name))
        journal.record(drawing.workflow)
    return journal, drawing


def test_recovery_after_a_crash(tmp_path: Path) -> None:
    journal, drawing = edited(tmp_path, Path("/somewhere/x.workflow.json"))
    assert recoverable(tmp_path) == ()  # still open
    crashed(journal)
    (found,) = recoverable(tmp_path)
    assert (found.workflow_id, found.name, found.edits) == ("w", "Untitled", 3)
    assert found.path == Path("/somewhere/x.workflow.json")
    assert found.workflow() == drawing.workflow
    assert Journal("w", tmp_path).recover() == found
    assert Journal("other", tmp_path).recover() is None
    found.discard()
    assert list(tmp_path.iterdir()) == []


def test_saving_and_closing_leave_nothing(tmp_path: Path) -> None:
    journal, drawing = edited(tmp_path)
    journal.saved(drawing.workflow, tmp_path / "x.json")
    assert list(tmp_path.iterdir()) == []
    journal.record(drawing.workflow)
    assert list(tmp_path.iterdir()) == []
    drawing.do(commands.rename(drawing.workflow, "agent", "D"))
    journal.record(drawing.workflow)
    assert len(list(tmp_path.iterdir())) == 2
    journal.discard()
    assert list(tmp_path.iterdir()) == []


def test_a_left_over_journal_is_not_written_over(tmp_path: Path) -> None:
    first, drawing = edited(tmp_path)
    crashed(first)
    second, other = edited(tmp_path)
    other.do(commands.rename(other.workflow, "agent", "Second"))
    second.record(other.workflow)
    (found,) = recoverable(tmp_path)
    assert found.workflow() == drawing.workflow
    crashed(second)
    assert [r.workflow().nodes[0].name for r in recoverable(tmp_path)] == ["Second", "C"]


@pytest.mark.parametrize("tail", [b'{"t": 1, "chan', b"\xff\xfe\n", b"[]\n", b'{"t": 1}\n', b"\0" * 100])
def test_a_damaged_end_loses_only_itself(tmp_path: Path, tail: bytes) -> None:
    journal, drawing = edited(tmp_path)
    crashed(journal)
    file = next(tmp_path.glob("*.journal"))
    file.write_bytes(file.read_bytes() + tail)
    assert recoverable(tmp_path)[0].workflow() == drawing.workflow


def test_a_journal_without_a_start_is_not_offered(tmp_path: Path) -> None:
    (tmp_path / "w.1.journal").write_bytes(b'{"snapshot": 5, "t"')
    (tmp_path / "v.1.journal").write_bytes(b'{"snapshot": {"nodes": 3}, "t": 1}\n')
    assert recoverable(tmp_path) == ()


def test_a_long_journal_is_compacted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio.files.journal.COMPACT_ABOVE", 2_000)
    journal, drawing = edited(tmp_path)
    for i in range(200):
        drawing.do(commands.rename(drawing.workflow, "agent", f"Name {i}"))
        journal.record(drawing.workflow)
    file = next(tmp_path.glob("*.journal"))
    assert file.stat().st_size < 4_000
    crashed(journal)
    assert recoverable(tmp_path)[0].workflow() == drawing.workflow


def test_a_folder_that_cannot_be_written_is_a_problem_not_an_error(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    journal, _ = edited(blocked / "journals")
    assert isinstance(journal.problem, FileProblem)
    assert "Save the file yourself." in str(journal.problem)
    journal.discard()


_EDITOR = """
import sys
from itertools import pairwise
from pathlib import Path
from studio.document import commands
from studio.document.model import Workflow
from studio.files import Journal

workflow = Workflow(id="w")
journal = Journal("w", Path(sys.argv[1]))
journal.begin(workflow)
number = 0
while True:
    number += 1
    edit, new_id = commands.new_node(workflow, "agent", f"Node {number}")
    if number > 40:
        edit = commands.delete_items(workflow, [workflow.nodes[0].id])
    workflow = edit.apply(workflow).workflow
    edit = commands.set_fields(workflow, workflow.nodes[-1].id, {"instructions": f"edit {number}\\n" * 50})
    workflow = edit.apply(workflow).workflow
    journal.record(workflow)
    print(number, flush=True)
    if number > 60:
        number = 0
"""


def test_kill_in_the_middle_of_editing_loses_nothing_that_was_recorded(tmp_path: Path) -> None:
    rng = random.Random(4)
    for attempt in range(4):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        command = [sys.executable, "-c", _EDITOR, str(folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": os.getcwd()}) as child:
            assert child.stdout is not None
            for _ in range(rng.randrange(1, 90)):
                last = child.stdout.readline()
            child.send_signal(signal.SIGKILL)
            later = child.stdout.read().split()
        reported = int((later or [last])[-1])
        (found,) = recoverable(folder)
        node = found.workflow().nodes[-1]
        instructions = getattr(node, "instructions", "")
        assert f"edit {reported}\n" in instructions or f"edit {reported % 61 + 1}\n" in instructions
