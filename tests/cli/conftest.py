"""Workflow files for the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from studio.cli import main
from studio.document.model import AgentNode, DirectEdge, FunctionNode, HumanInputNode, OfflineScript, Workflow
from studio.files import write_workflow

Ran = tuple[int, str, str]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Runs a sub-command in this process: code, stdout, stderr."""

    def call(*arguments: object) -> Ran:
        code = main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def lines(out: str) -> list[dict[str, Any]]:
    """The JSON lines."""
    return [json.loads(line) for line in out.splitlines()]


def _file(folder: Path, workflow: Workflow) -> Path:
    path = folder / f"{workflow.id}.workflow.json"
    write_workflow(workflow, path)
    return path


@pytest.fixture
def two_agents(tmp_path: Path) -> Path:
    """A writer in chunks, and a critic that echoes."""
    script = {
        "nodes": {
            "writer": {"replies": [{"chunks": ["a ", "small ", "poem"]}]},
            "critic": {"replies": [{"echo": "heard: "}]},
        }
    }
    return _file(
        tmp_path,
        Workflow(
            id="two",
            start="writer",
            nodes=(
                AgentNode(id="writer", name="Writer", instructions="Write."),
                AgentNode(id="critic", name="Critic", instructions="Judge."),
            ),
            edges=(DirectEdge(id="e", source="writer", target="critic"),),
            outputs=("critic",),
            offline=OfflineScript.model_validate(script),
        ),
    )


@pytest.fixture
def asking(tmp_path: Path) -> Path:
    """A person, then an agent."""
    return _file(
        tmp_path,
        Workflow(
            id="asking",
            start="ask",
            nodes=(
                HumanInputNode(id="ask", name="Ask", question="Good? {input}"),
                AgentNode(id="critic", name="Critic", instructions="Judge."),
            ),
            edges=(DirectEdge(id="e", source="ask", target="critic"),),
            offline=OfflineScript.model_validate({"nodes": {"critic": {"replies": [{"echo": "heard: "}]}}}),
        ),
    )


@pytest.fixture
def with_code(tmp_path: Path) -> Path:
    """A function whose code nobody accepted."""
    node = FunctionNode(id="shout", name="Shout", body="result = None\nctx.yield_output(data.upper())", yields="text")
    return _file(tmp_path, Workflow(id="code", start="shout", nodes=(node,), sample_input="hello"))


@pytest.fixture
def failing(tmp_path: Path) -> Path:
    """An agent whose provider fails."""
    script = {"nodes": {"writer": {"replies": [{"status": 401, "error": "no such key"}]}}}
    node = AgentNode(id="writer", name="Writer", instructions="Write.")
    return _file(
        tmp_path, Workflow(id="bad", start="writer", nodes=(node,), offline=OfflineScript.model_validate(script))
    )


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    """An agent that takes a minute."""
    script = {"nodes": {"writer": {"replies": [{"text": "x", "wait_ms": 60_000}]}}}
    node = AgentNode(id="writer", name="Writer", instructions="Write.")
    return _file(
        tmp_path, Workflow(id="slow", start="writer", nodes=(node,), offline=OfflineScript.model_validate(script))
    )
