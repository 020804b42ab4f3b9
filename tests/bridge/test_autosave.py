"""The journal of a large document is written in a thread, and never after the document was saved or closed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot
from studio.bridge.autosave import AT_ONCE, Autosave, _Written
from studio.bridge.document_model import DocumentModel
from studio.document.edits import SetFields
from studio.document.model import AgentNode, Workflow
from studio.files import Journal, recoverable
from studio.files.folders import state_folder
from studio.files.journal import _replayed

Make = Callable[[int], tuple[DocumentModel, Autosave]]


def row(count: int) -> Workflow:
    return Workflow(id="row", start="n0", nodes=tuple(AgentNode(id=f"n{i}", name=f"Agent {i}") for i in range(count)))


@pytest.fixture
def make(qapp: object) -> Iterator[Make]:
    made: list[Autosave] = []

    def opened(count: int) -> tuple[DocumentModel, Autosave]:
        document = DocumentModel(row(count))
        made.append(Autosave(document, document))
        return document, made[-1]

    yield opened
    for autosave in made:
        autosave.close()


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[threading.Event, list[int]]]:
    """Writing waits until the event is set; the list has the threads that wrote."""
    go, threads = threading.Event(), list[int]()
    record = Journal.record

    def slow(journal: Journal, workflow: Workflow) -> None:
        threads.append(threading.get_ident())
        assert go.wait(60)
        record(journal, workflow)

    monkeypatch.setattr(Journal, "record", slow)
    yield go, threads
    go.set()


def rename(document: DocumentModel, name: str) -> None:
    document.execute(SetFields("nodes", "n0", {"name": name}), "Rename")


def kept() -> list[str]:
    """The name of the first node in each journal, as it is read back."""
    found = (_replayed(file) for file in sorted(state_folder("journals").glob("*.journal")))
    return [replayed.workflow.nodes[0].name for replayed in found if replayed is not None]


def test_a_large_document_is_written_in_a_thread(
    make: Make, qtbot: QtBot, held: tuple[threading.Event, list[int]]
) -> None:
    go, threads = held
    document, autosave = make(AT_ONCE + 1)
    with qtbot.waitSignal(autosave.recorded, timeout=60_000):
        rename(document, "First")
        qtbot.waitUntil(lambda: len(threads) == 1)
        rename(document, "Second")  # while the thread is at the first one
        go.set()
    assert threading.get_ident() not in threads
    qtbot.waitUntil(lambda: kept() == ["Second"])


def test_a_small_document_is_written_at_once(make: Make, qtbot: QtBot, held: tuple[threading.Event, list[int]]) -> None:
    go, threads = held
    go.set()
    document, autosave = make(3)
    with qtbot.waitSignal(autosave.recorded, timeout=60_000):
        rename(document, "First")
    assert threads == [threading.get_ident()]
    assert kept() == ["First"]


@pytest.mark.parametrize("end", ["closed", "saved"])
def test_what_waits_to_be_written_is_dropped_when_the_document_is_saved_or_closed(
    make: Make, qtbot: QtBot, tmp_path: Path, end: str
) -> None:
    document, autosave = make(AT_ONCE + 1)
    rename(document, "First")
    turn, workflow = autosave._turn, document.workflow
    document.mark_saved(tmp_path / "row.workflow.json") if end == "saved" else autosave.close()
    written = _Written()
    late = threading.Thread(target=lambda: autosave._write(written, workflow, turn))
    late.start()
    late.join()
    assert kept() == []
    assert recoverable() == ()


def test_what_is_nowhere_else_is_recorded_before_it_changes(make: Make, qtbot: QtBot) -> None:
    document, autosave = make(2)
    autosave.record_now()
    assert kept() == []
    with qtbot.waitSignal(autosave.recorded, timeout=60_000):
        document.undo_stack.resetClean()
        autosave.keep_all()
    assert kept() == ["Agent 0"]
