"""Build mode: the program runs in a process of its own, nothing of it is run that was only built, the limit holds."""

from __future__ import annotations

import signal
import sys
import threading
import time
from pathlib import Path

import pytest
from studio.importers import ImportProblem, read
from studio.importers.maf_build import functions

pytest.importorskip("agent_framework")

_HEAD = """import os, sys
from agent_framework import WorkflowBuilder, WorkflowContext, executor

@executor(id="one")
async def one(text: str, ctx: WorkflowContext[str]) -> None:
    await ctx.send_message(text)

@executor(id="two")
async def two(text: str, ctx: WorkflowContext[str]) -> None:
    await ctx.send_message(text)

"""
_BUILD = "WorkflowBuilder(start_executor=one).add_edge(one, two).build()"


def _program(folder: Path, text: str) -> Path:
    file = folder / "program.py"
    file.write_text(_HEAD + text, encoding="utf-8")
    return file


def test_only_on_the_word_and_without_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "the-real-one")
    seen = "open('seen', 'w').write(os.environ['MY_API_KEY'] + str(sys.stdin.read()))"
    text = f"{seen}\nprint('noise')\nworkflow = {_BUILD}\n"
    file = _program(tmp_path, text)
    read(file)
    assert not (tmp_path / "seen").exists()
    found = read(file, mode="build")
    assert (tmp_path / "seen").read_text(encoding="utf-8") == "dummy"
    assert [n.id for n in found.workflow.nodes] == ["one", "two"]
    assert found.report.mode == "build"


def test_running_stops_before_it_does_anything(tmp_path: Path) -> None:
    text = (
        f"def main():\n    workflow = {_BUILD}\n    try:\n        workflow.run('x')\n"
        "    except Exception:\n        pass\n    open('after', 'w')\n"
    )
    found = read(_program(tmp_path, text), mode="build")
    assert len(found.workflow.nodes) == 2
    assert not (tmp_path / "after").exists()


class _UpWhen(threading.Event):
    """A time limit that is up as soon as a file is there, or when the program says it has ended."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file

    def wait(self, timeout: float | None = None) -> bool:
        while not self._file.exists() and not self.is_set():
            time.sleep(0.01)
        return self.is_set()


def test_the_time_limit_ends_it_with_all_that_it_started_and_what_was_built_counts(tmp_path: Path) -> None:
    alone = "put('pid', '0')\n"
    away = "if not os.fork():\n    os.setsid()\n    put('pid', str(os.getpid()))\n    while True: pass\n"
    text = (
        f"def put(name, text):\n    open('new', 'w').write(text)\n    os.rename('new', name)\n"
        f"workflow = {_BUILD}\n{away if sys.platform == 'linux' else alone}\nwhile True: pass\n"
    )
    found = read(_program(tmp_path, text), mode="build", stop=_UpWhen(tmp_path / "pid"))
    assert len(found.workflow.nodes) == 2
    assert any("time limit" in e.text for e in found.report.entries)
    state = Path("/proc", (tmp_path / "pid").read_text(encoding="utf-8"), "stat")
    while sys.platform == "linux" and state.exists() and state.read_text(encoding="utf-8").rpartition(")")[2][1] != "Z":
        time.sleep(0.01)  # a test that waits for ever has found it


def test_nothing_built_within_the_limit(tmp_path: Path) -> None:
    text = f"print('x' * 1000)\nprint('Waiting.', flush=True)\nopen('up', 'w')\nwhile True: pass\nworkflow = {_BUILD}\n"
    with pytest.raises(ImportProblem, match=r"within 30 s. It printed last: Waiting."):
        read(_program(tmp_path, text), mode="build", stop=_UpWhen(tmp_path / "up"))


def test_a_program_that_is_killed_says_by_what(tmp_path: Path) -> None:
    text = f"os.kill(os.getpid(), {int(signal.SIGTERM)})\nworkflow = {_BUILD}\n"
    with pytest.raises(ImportProblem, match=r"SIGTERM|exit code"):
        read(_program(tmp_path, text), mode="build")


def test_a_program_that_fails_says_why(tmp_path: Path) -> None:
    with pytest.raises(ImportProblem, match="ZeroDivisionError"):
        read(_program(tmp_path, f"1 / 0\nworkflow = {_BUILD}\n"), mode="build")
    with pytest.raises(ImportProblem, match="needs package_of_nobody") as stopped:
        read(_program(tmp_path, f"import package_of_nobody\nworkflow = {_BUILD}\n"), mode="build")
    assert "interpreter" in stopped.value.way_out


def test_an_interpreter_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ImportProblem, match="cannot be started"):
        read(_program(tmp_path, f"workflow = {_BUILD}\n"), mode="build", interpreter=str(tmp_path / "python"))


def test_functions_are_offered_main_first() -> None:
    text = f"def inner():\n    return {_BUILD}\ndef other():\n    pass\ndef main():\n    inner()\n"
    assert functions(_HEAD + text) == ("main", "inner")


def test_another_function_or_workflow_can_be_chosen(tmp_path: Path) -> None:
    named = _BUILD.replace("(start_executor=one)", "(start_executor=one, name='{}')")
    text = f"def main():\n    return 1\n    {_BUILD}\ndef inner():\n    {named.format('A')}\n    {named.format('B')}\n"
    file = _program(tmp_path, text)
    with pytest.raises(ImportProblem, match=r"without building") as stopped:
        read(file, mode="build")
    assert stopped.value.choices == ("inner",)
    found = read(file, mode="build", choice="inner")
    assert (found.workflow.name, found.report.choices) == ("B", ("main", "A"))
    file.write_text(file.read_text(encoding="utf-8").replace("return 1\n", "inner()\n"), encoding="utf-8")
    assert read(file, mode="build", choice="A").workflow.name == "A"


def test_two_lambdas_on_one_line_are_told_apart(tmp_path: Path) -> None:
    text = (
        "workflow = (WorkflowBuilder(start_executor=one)"
        ".add_edge(one, two, condition=lambda a: len(a) > 1).add_edge(two, one, condition=lambda b: not b).build())\n"
    )
    found = read(_program(tmp_path, text), mode="build")
    rules = {(e.source, getattr(e, "rule", {}).get("text")) for e in found.workflow.edges}  # type: ignore[union-attr]
    assert rules == {("one", "lambda a: len(a) > 1"), ("two", "lambda b: not b")}


def test_formats_that_are_only_read(tmp_path: Path) -> None:
    file = tmp_path / "flow.yaml"
    file.write_text("actions:\n  - kind: SendActivity\n    id: a\n    activity: x\n", encoding="utf-8")
    with pytest.raises(ImportProblem, match="never run"):
        read(file, mode="build")
