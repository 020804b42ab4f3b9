"""A workflow as one file: clean, the same on the real framework, and refused where one file cannot do."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from studio.document.model import FunctionNode, ModuleDecl, SubWorkflowNode, Workflow
from studio.export import ExportProblem, export_single_file
from studio.files import write_project

from tests.assembly.test_kinds import agent, function, show, workflow
from tests.export.corpus import documents, layers
from tests.proof.batch import differences


def _fits(flow: Workflow) -> bool:
    return not any(isinstance(node, SubWorkflowNode) for node in flow.nodes)


def test_every_document_without_a_workflow_inside_is_one_clean_file(tmp_path: Path) -> None:
    count = 0
    for name, flow in {**documents(), **layers()}.items():
        if not _fits(flow):
            continue
        files = export_single_file(flow, name)
        assert list(files) == [f"{name}.py"]
        assert files == export_single_file(flow, name)
        write_project(files, tmp_path)
        count += 1
    assert count > 90
    for command in (["format", "--diff"], ["check", "--select", "E4,E7,E9,F,I,B,UP"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--line-length", "100", "--no-cache", "."],
            cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-3000:]


async def test_one_file_gives_what_the_canvas_gives(tmp_path: Path) -> None:
    """Documents that use every module of a project: agents, tools, state, turns, runners, middleware, servers."""
    found = {**documents(), **layers()}
    names = (
        "template_research_brief" if _fits(found["template_research_brief"]) else "template_sequential",
        "case_switch_state", "case_turn_switch", "case_record", "case_asks_text", "case_join_messages",
        "around_quick", "around_runner_hands_over", "around_history_sqlite", "around_middleware_call", "around_server",
    )  # fmt: skip
    flows = {name: found[name] for name in names}

    def export(_name: str, flow: Workflow, package: str) -> dict[str, str]:
        return export_single_file(flow, package)

    assert await differences(flows, tmp_path, export=export, restored=lambda _: False) == {}


def test_the_file_says_what_it_needs_and_runs_by_itself(tmp_path: Path) -> None:
    flow = workflow([function("up", "result = data.upper()"), show()], name="Shout it")
    files = export_single_file(flow)
    text = files["shout_it.py"]
    assert text.startswith(
        '# /// script\n# requires-python = ">=3.11"\n# dependencies = ["agent-framework-core==1.23.*", '
    )
    assert ast.get_docstring(ast.parse(text)) == "Shout it. Made with Superstep Studio."
    write_project(files, tmp_path)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "shout_it.py", "hello"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
        env={"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": "http://127.0.0.1:9", "OPENAI_CHAT_COMPLETION_MODEL": "m"},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "show\tHELLO\n"), done.stderr


def test_what_needs_several_files_is_refused() -> None:
    inner = workflow([show()])
    twice = (ModuleDecl(name="one", source="def f(data):\n    return data\n"),)
    other = ModuleDecl(name="two", source="def f(data):\n    return data\n")
    call = FunctionNode(id="a", name="A", call="one:f")
    inside = function("a", "import one\nresult = one.f(data)")
    for words, flow in {
        "workflow inside": workflow([SubWorkflowNode(id="s", name="S", embedded=inner), show()]),
        "f is defined in": workflow([call, show()], modules=(*twice, other)),
        "needs several files": workflow([inside, show()], modules=twice),
    }.items():
        with pytest.raises(ExportProblem, match=words):
            export_single_file(flow)
    assert export_single_file(workflow([call, show()], modules=twice))
    assert export_single_file(workflow([agent("a")]))
