"""The whole program in a process of its own, without a screen."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from studio.cli import headless_hint
from studio.files import recoverable
from studio.ui import app
from studio.ui.display import display_problem

ROOT = Path(__file__).parents[3]

_PROGRAM = """
import sys
from studio.document import commands
from studio.ui.app import main

def ready(window):
    page = window.files.new()
    document = page.workspace.document
    edit, _ = commands.new_node(document.workflow, "agent", "Writer")
    document.execute(edit, "Add Writer")
    print("edited", flush=True)
    {then}

sys.exit(main([], ready))
"""


def start(then: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _PROGRAM.format(then=then)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONWARNINGS": "error"},
    )


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_program_that_is_told_to_end_keeps_unsaved_work() -> None:
    process = start("pass")
    assert process.stdout is not None
    assert process.stdout.readline() == "edited\n"
    process.send_signal(signal.SIGTERM)
    _out, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    found = recoverable()
    assert [r.name for r in found] == ["Untitled"]
    assert found[0].workflow().nodes[0].name == "Writer"


def test_closing_ends_the_program_without_a_trace() -> None:
    process = start("page.workspace.document.undo_stack.setClean(); window.close()")
    _out, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert "Traceback" not in errors
    assert recoverable() == ()


def test_without_a_display_the_program_says_what_works_without(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    assert app.main([]) == 2
    assert capsys.readouterr().err == headless_hint(display_problem())
