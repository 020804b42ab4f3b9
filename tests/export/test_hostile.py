"""Names and texts from hell, planted secrets, and large workflows."""

from __future__ import annotations

import ast
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
from studio.document.conditions import Condition, Rule
from studio.document.model import (
    AgentNode,
    DirectEdge,
    FanInEdge,
    FanOutEdge,
    FunctionNode,
    HumanInputNode,
    JoinNode,
    McpServerDecl,
    Note,
    OfflineScript,
    SubWorkflowNode,
    SwitchCase,
    SwitchEdge,
    TemplateNode,
    ToolDecl,
    Workflow,
)
from studio.export import export_project
from studio.files import write_project

from tests.fuzz.names import NASTY


def named(text: str) -> Workflow:
    """A workflow of every kind of node and edge, in which every text is the given one."""
    rule = Condition(name="when_x", rule=Rule(op="contains", value=text or "x"))
    same = Condition(name="when_y", rule=Rule(op="equals", path="value.a", value=text, ignore_case=True))
    inner = Workflow(name=text, start="in", nodes=(FunctionNode(id="in", name=text, sends="", yields="text"),))
    return Workflow(
        name=text,
        description=text,
        start="agent",
        nodes=(
            AgentNode(id="agent", name=text, instructions=text, description=text, tools=("look_up",)),
            HumanInputNode(id="ask", name=text, question=text or "?", choices=(text,) if text else ()),
            TemplateNode(id="fill", name=text, text=text, description=text),
            FunctionNode(id="input", name=text, body="result = data", description=text),
            SubWorkflowNode(id="sub", name=text, embedded=inner),
            JoinNode(id="join", name=text, separator=text),
        ),
        edges=(
            SwitchEdge(
                id="choose",
                name=text,
                source="agent",
                cases=(
                    SwitchCase(id="c1", condition=rule, target="ask", label=text),
                    SwitchCase(id="c2", condition=same, target="fill"),
                ),
                default="input",
            ),
            FanOutEdge(id="spread", name=text, source="ask", targets=("sub", "fill")),
            FanInEdge(id="gather", sources=("sub", "fill"), target="join"),
        ),
        tools=(ToolDecl(name="look_up", description=text, approval="caller"),),
        notes=(Note(id="n", text=text),),
        sample_input=text,
    )


def test_nasty_names_and_texts_give_clean_code(tmp_path: Path) -> None:
    assert len(NASTY) >= 40
    for number, text in enumerate(NASTY):
        files = export_project(named(text), f"nasty_{number}")
        for path, source in files.items():
            if path.endswith(".py"):
                compile(source, path, "exec")
        tomllib.loads(files["pyproject.toml"])
        values = {
            n.value for n in ast.walk(ast.parse(files[f"nasty_{number}/agents.py"])) if isinstance(n, ast.Constant)
        }
        assert text in values, "instructions are the text exactly"
        write_project(files, tmp_path / f"nasty_{number}")
    for command in (["format", "--diff"], ["check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--no-cache", "."],
            cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-3000:]


CANARIES = {f"canary{number:02}": f"canary-{number:02}-7c1d" for number in range(12)}


def canaries(monkeypatch: pytest.MonkeyPatch) -> tuple[Workflow, list[str]]:
    """Twelve canaries where secrets and recorded texts are, and a workflow with them; smoke replies are recorded texts
    that were chosen."""
    names = list(CANARIES.values())
    monkeypatch.setenv("OPENAI_API_KEY", names[0])
    monkeypatch.setenv("SEARCH_TOKEN", names[1])
    monkeypatch.setenv("HOME", f"/home/{names[2]}")
    server = McpServerDecl(
        name="search", command="serve", environment={"TOKEN": "env:SEARCH_TOKEN", "OTHER": f"keychain:{names[3]}"}
    )
    web = McpServerDecl(
        name="web", transport="http", url="http://127.0.0.1:1/", headers={"X-Key": f"keychain:{names[4]}"}
    )
    workflow = Workflow.model_validate(
        {
            "name": "Canaries",
            "start": "a",
            "nodes": [
                AgentNode(id="a", name="A", instructions="Go.", profile=names[5], mcp_servers=("search", "web")),
                FunctionNode(id="end", name="End", sends="", yields="text"),
            ],
            "edges": [DirectEdge(id="e", source="a", target="end")],
            "mcp_servers": [server, web],
            "interpreter": f"/opt/{names[6]}/bin/python",
            "notes": [Note(id="n", text=names[7])],
            "offline": OfflineScript(nodes={"nobody": {"replies": [names[8]]}}),
            "recorded": names[9],
            "api_key": names[10],
            "places": {"a": {"x": 1, "y": 2, "secret": names[11]}},
        }
    )
    return workflow, names


def test_no_planted_secret_and_no_recorded_text_leaves_the_document(monkeypatch: pytest.MonkeyPatch) -> None:
    workflow, names = canaries(monkeypatch)
    text = "\n".join(export_project(workflow).values())
    assert [canary for canary in names if canary in text] == []
    assert 'os.environ["SEARCH_TOKEN"]' in text
    assert "SEARCH_TOKEN=\n" in export_project(workflow)[".env.example"]


def test_two_hundred_nodes_are_written_at_once() -> None:
    """Well under two seconds on an idle machine; the bound here is for a busy one."""
    nodes = tuple(AgentNode(id=f"a{i}", name=f"Agent {i}", instructions="Do this.\n" * 8) for i in range(200))
    edges = tuple(DirectEdge(id=f"e{i}", source=f"a{i}", target=f"a{i + 1}") for i in range(199))
    workflow = Workflow(name="Large", start="a0", nodes=nodes, edges=edges)
    begun = time.process_time()
    files = export_project(workflow)
    assert time.process_time() - begun < 2
    assert files["large/workflow.py"].count(".add_edge(") == 199
