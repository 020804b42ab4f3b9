"""Reading in a process of its own: its limits, and that nothing is left of it."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from studio.importers import ImportProblem, Refused, apart


def test_a_file_that_never_ends_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "endless.json")
    monkeypatch.setattr(apart, "MOST_SECONDS", 0.0)
    with pytest.raises(ImportProblem, match="took more than 10 s"):
        apart.read_apart(tmp_path / "endless.json", None, None, threading.Event())


def test_reading_ends_when_nobody_waits_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "endless.json")
    stop = threading.Event()
    stop.set()
    with pytest.raises(ImportProblem):
        apart.read_apart(tmp_path / "endless.json", None, None, stop)


def test_a_refusal_comes_back_with_its_report(tmp_path: Path) -> None:
    (tmp_path / "topic.yaml").write_text("kind: AdaptiveDialog\nbeginDialog:\n  kind: OnRecognizedIntent\n")
    with pytest.raises(Refused, match="topic of Copilot Studio") as refused:
        apart.read_apart(tmp_path / "topic.yaml", None, None, threading.Event())
    assert [entry.code for entry in refused.value.report.entries] == ["unsupported_format"]
