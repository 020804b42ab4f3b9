"""Live validation: small documents at once, large ones in a thread, always of the latest document in the end."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
from PySide6.QtCore import QThreadPool
from pytestqt.qtbot import QtBot
from studio.bridge.document_model import DocumentModel
from studio.bridge.problem_model import ProblemModel
from studio.document.edits import SetFields, SetWorkflow
from studio.document.model import AgentNode, DirectEdge, ToolDecl, Workflow
from studio.document.validate import Validation, problems
from studio.settings.profiles import Profile, Profiles, write_profiles


def row(count: int) -> Workflow:
    nodes = tuple(AgentNode(id=f"n{i}", name=f"N{i}", instructions="x") for i in range(count))
    edges = tuple(DirectEdge(id=f"e{i}", source=f"n{i}", target=f"n{i + 1}") for i in range(count - 1))
    return Workflow(id="row", start="n0", nodes=nodes, edges=edges)


def test_small_documents_are_validated_in_the_same_turn(qtbot: QtBot) -> None:
    document = DocumentModel(row(3))
    model = ProblemModel(document)
    with qtbot.waitSignal(model.changed):
        document.execute(SetWorkflow({"start": None}), "Clear")
    assert not model.working
    assert "no_start" in [p.code for p in model.problems]


def test_large_documents_are_validated_in_a_thread(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[int] = []

    def seen(_validation: Validation, workflow: Workflow):  # type: ignore[no-untyped-def]
        threads.append(threading.get_ident())
        return problems(workflow)

    monkeypatch.setattr(Validation, "problems", seen)
    document = DocumentModel(row(300))
    model = ProblemModel(document)
    assert model.working
    qtbot.waitUntil(lambda: not model.working)
    assert threading.get_ident() not in threads
    for number in range(5):
        document.execute(SetFields("nodes", f"n{number}", {"name": ""}), "Rename")
    document.execute(SetWorkflow({"start": None}), "Clear")
    qtbot.waitUntil(lambda: "no_start" in [p.code for p in model.problems])
    assert model.problems == problems(document.workflow)


def test_a_model_that_is_gone_hears_nothing(qtbot: QtBot) -> None:
    document = DocumentModel(row(300))
    model = ProblemModel(document)
    assert model.working
    model.deleteLater()
    qtbot.wait(0)
    assert QThreadPool.globalInstance().waitForDone(10_000)
    qtbot.wait(0)


def test_what_a_probe_found_is_held_against_the_document(qtbot: QtBot) -> None:
    rows = [{"key": "tools", "works": "no", "evidence": ""}]
    profile = Profile("Team", "other", "http://x.example/v1", "", "m", probe={"model": "m", "found": rows})
    made = Profiles().with_profile(profile)
    write_profiles(replace(made, default="Team"))
    node = AgentNode(id="a", name="A", instructions="x", tools=("t",))
    model = DocumentModel(Workflow(start="a", nodes=(node,), tools=(ToolDecl(name="t", approval="caller"),)), None)
    found = ProblemModel(model)
    assert [p.code for p in found.problems] == ["probed_tools"]
    write_profiles(replace(made.with_profile(replace(profile, model="another")), default="Team"))
    found.refresh()
    assert found.problems == ()
