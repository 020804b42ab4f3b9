"""``run --record`` and ``run --replay``: offline, free, exact, without secrets; clear about what was never recorded."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from studio.document.model import AgentNode, McpServerDecl, ToolDecl, Workflow
from studio.files import write_workflow
from studio.settings import profiles as settings
from studio.settings.profiles import Profile, Profiles, write_profiles

from tests.cli.conftest import Ran, lines
from tests.fakes.provider_server import ProviderServer

Cli = Callable[..., Ran]
SERVER = Path(__file__).parents[1] / "fakes" / "mcp_server.py"
KEY = "sk-canary-canary-canary"
COUNTER = """
import pathlib

def count(city: str) -> str:
    file = pathlib.Path({path!r})
    file.write_text(file.read_text() + "x" if file.exists() else "x")
    return f"warm in {{city}}"
"""


@pytest.fixture
def flow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An agent of a paid provider with a function tool that leaves a trace, and a tool of an MCP server."""
    monkeypatch.setenv("THE_KEY", KEY)
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    source = COUNTER.format(path=str(tmp_path / "trace"))
    document = Workflow(
        id="taped",
        start="writer",
        nodes=(
            AgentNode(
                id="writer",
                name="Writer",
                instructions="Write.",
                profile="Here",
                tools=("count",),
                mcp_servers=("tiny",),
            ),
        ),
        tools=(ToolDecl(name="count", source=source, parameters=parameters),),
        mcp_servers=(
            McpServerDecl(
                name="tiny", command=sys.executable, arguments=(str(SERVER),), tools=("add",), approval="never"
            ),
        ),
        sample_input="the weather",
    )
    path = tmp_path / "taped.workflow.json"
    write_workflow(document, path)
    return path


def test_a_recorded_run_is_replayed_without_network_tools_or_key(
    cli: Cli, flow: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tape = tmp_path / "run.cassette.jsonl"
    with ProviderServer() as server:
        write_profiles(Profiles().with_profile(Profile("Here", "other", server.url, "env:THE_KEY", "small-1")))
        code, out, err = cli("run", flow, "--trust", "--record", tape)
    assert (code, out) == (0, "I was told: warm in Oslo; 4\n")
    assert f"Recorded 2 model calls and 3 tool results in {tape}." in err
    assert (tmp_path / "trace").read_text() == "x"
    assert KEY not in tape.read_text(encoding="utf-8")
    monkeypatch.delenv("THE_KEY")
    code, out, err = cli("run", flow, "--trust", "--replay", tape)
    assert (code, out) == (0, "I was told: warm in Oslo; 4\n")
    assert "Cost" not in err
    assert (tmp_path / "trace").read_text() == "x"  # no tool ran again
    settings.profiles_file().unlink()
    code, out, _ = cli("run", flow, "--trust", "--replay", tape)
    assert (code, out) == (0, "I was told: warm in Oslo; 4\n")


def test_a_call_that_was_never_recorded_fails_clearly(cli: Cli, two_agents: Path, tmp_path: Path) -> None:
    tape = tmp_path / "run.cassette.jsonl"
    assert cli("run", two_agents, "--input", "a poem", "--record", tape)[0] == 0
    assert cli("run", two_agents, "--input", "a poem", "--replay", tape)[:2] == (0, "heard: a small poem\n")
    code, out, err = cli("run", two_agents, "--input", "a song", "--replay", tape)
    assert (code, out) == (1, "")
    assert "The recording has no answer: Call 1 of writer was never recorded; record the run again." in err


def test_a_tool_result_that_was_never_recorded_fails_the_run(cli: Cli, flow: Path, tmp_path: Path) -> None:
    tape = tmp_path / "run.cassette.jsonl"
    with ProviderServer() as server:
        write_profiles(Profiles().with_profile(Profile("Here", "other", server.url, "env:THE_KEY", "small-1")))
        assert cli("run", flow, "--trust", "--record", tape)[0] == 0
    rows = [json.loads(line) for line in tape.read_text(encoding="utf-8").splitlines()]
    kept = [r for r in rows if r.get("tool", {}).get("name") != "count"]
    tape.write_text("".join(json.dumps(r) + "\n" for r in kept), encoding="utf-8")
    code, _, err = cli("run", flow, "--trust", "--replay", tape)
    assert code == 1
    assert "The call of count in writer with these arguments was never recorded" in err
    assert (tmp_path / "trace").read_text() == "x"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot be read"),
        ("{}", "is no cassette"),
        ('{"format": "superstep-cassette", "version": 99}', "later version"),
    ],
)
def test_a_file_that_is_no_recording_is_refused(
    cli: Cli, two_agents: Path, tmp_path: Path, content: str | None, words: str
) -> None:
    tape = tmp_path / "tape"
    if content is not None:
        tape.write_text(content, encoding="utf-8")
    code, _, err = cli("run", two_agents, "--input", "x", "--replay", tape)
    assert code == 2
    assert words in err


def test_a_recording_is_kept_when_the_run_fails_and_the_options_exclude_each_other(
    cli: Cli, failing: Path, tmp_path: Path
) -> None:
    tape = tmp_path / "tape"
    code, _, err = cli("run", failing, "--input", "x", "--record", tape)
    assert (code, tape.exists()) == (1, True)
    assert "Recorded 1 model calls" in err
    assert cli("run", failing, "--input", "x", "--record", tape, "--replay", tape)[0] == 2
    assert cli("run", failing, "--input", "x", "--record", tmp_path / "gone" / "tape")[0] == 2


def test_costs_are_told_with_a_run(cli: Cli, flow: Path, tmp_path: Path) -> None:
    (settings.profiles_file().parent / "prices.toml").write_text(
        '[[model]]\nmatch = "small-*"\ninput = 2\noutput = 8\nas_of = 2026-01-31\n', encoding="utf-8"
    )
    with ProviderServer() as server:
        write_profiles(Profiles().with_profile(Profile("Here", "other", server.url, "env:THE_KEY", "small-1")))
        _, out, _ = cli("run", flow, "--trust", "--json")
        assert lines(out)[-1]["usage"] == {"input": 200, "output": 40, "cost": {"USD": "0.00072"}}
        assert "Cost: 0.00072 USD" in cli("run", flow, "--trust")[2]
        (settings.profiles_file().parent / "prices.toml").unlink()
        assert "Cost: not known (2 calls have no price)" in cli("run", flow, "--trust")[2]
