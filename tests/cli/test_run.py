"""``run``: exit codes, JSON lines, resuming, answering, code and trust, Ctrl+C; no Qt."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from studio.cli.report import Report
from studio.cli.schemas import event_schema
from studio.document.model import DirectEdge, FunctionNode, HumanInputNode, StateDecl, Workflow
from studio.engine.events import ModelCallRetried
from studio.files import read_workflow, write_workflow

from tests.cli.conftest import Ran, lines

Cli = Callable[..., Ran]
ROOT = Path(__file__).parents[2]


def test_a_finished_run_prints_its_outputs_and_gives_0(cli: Cli, two_agents: Path) -> None:
    code, out, err = cli("run", two_agents, "--input", "a poem")
    assert (code, out) == (0, "heard: a small poem\n")
    assert "Superstep 2" in err


def test_json_lines_have_the_exact_form(cli: Cli, two_agents: Path) -> None:
    code, out, err = cli("run", two_agents, "--input", "a poem", "--json")
    assert (code, err) == (0, "")
    *events, result = lines(out)
    schema = event_schema()
    for line in (*events, result):
        jsonschema.validate(line, schema)
    assert [line["seq"] for line in events] == list(range(1, len(events) + 1))
    assert {line["v"] for line in events} == {1}
    assert len({line["run"] for line in events}) == 1
    assert events[0]["type"] == "run_started"
    assert events[-1] == {**events[-1], "type": "status_changed", "data": {"state": "IDLE"}}
    [output] = [line for line in events if line["type"] == "output_yielded"]
    message = {"$": "message", "role": "assistant", "text": "heard: a small poem", "author": "critic"}
    assert output["data"]["value"] == {"$": "agent_reply", "messages": [message]}
    assert (output["node"], output["superstep"]) == ("critic", 2)
    assert list(result) == ["type", "state", "outputs", "requests", "checkpoint", "usage"]
    assert (result["state"], result["outputs"], result["requests"]) == ("completed", [output["data"]["value"]], [])
    saved = [line for line in events if line["type"] == "checkpoint_saved"]
    assert result["checkpoint"] == saved[-1]["data"]["checkpoint"]
    assert result["usage"]["output"] > 0


def test_streaming_tells_chunks_and_joins_them_in_the_result(cli: Cli, two_agents: Path) -> None:
    code, out, _ = cli("run", two_agents, "--input", "a poem", "--json", "--stream")
    *events, result = lines(out)
    tokens = [e["data"]["text"] for e in events if e["type"] == "tokens_arrived" and e["node"] == "writer"]
    assert (code, tokens) == (0, ["a ", "small ", "poem"])
    [output] = result["outputs"]
    assert (output["$"], output["text"]) == ("agent_update", "heard: a small poem")


def test_a_run_that_waits_gives_3_and_is_resumed_with_an_answer(cli: Cli, asking: Path) -> None:
    code, out, _ = cli("run", asking, "--input", "this", "--json")
    result = lines(out)[-1]
    assert (code, result["state"]) == (3, "waiting")
    [request] = result["requests"]
    assert (request["node"], request["data"]["text"], request["response_type"]) == ("ask", "Good? this", "str")
    answer = f'{request["request"]}="yes"'
    code, out, err = cli("run", asking, "--resume", result["checkpoint"], "--answer", answer)
    assert (code, out) == (0, "heard: yes\n"), err


def test_what_changed_in_the_workflow_is_said_before_a_resumed_run_uses_it(cli: Cli, asking: Path) -> None:
    code, out, _ = cli("run", asking, "--input", "this", "--json")
    result = lines(out)[-1]
    asked = result["requests"][0]["request"]
    again = ("run", asking, "--resume", result["checkpoint"], "--answer", f'{asked}="yes"')
    assert "changed since this run" not in cli(*again)[2]
    document = read_workflow(asking)
    nodes = [n.model_copy(update={"instructions": "Other."}) if n.kind == "agent" else n for n in document.nodes]
    write_workflow(document.model_copy(update={"nodes": tuple(nodes)}), asking)
    code, out, err = cli(*again)
    assert (code, out) == (0, "heard: yes\n")
    assert err.startswith("The workflow has changed since this run: 1 prompt differs: Critic.")


def test_a_request_can_be_answered_by_its_node_in_the_same_run(cli: Cli, asking: Path) -> None:
    code, out, err = cli("run", asking, "--input", "this", "--answer", "ask=certainly", "--store", "memory")
    assert (code, out) == (0, "heard: certainly\n"), err


def test_an_answer_for_nobody_gives_2_before_the_run(cli: Cli, asking: Path) -> None:
    code, out, err = cli("run", asking, "--input", "this", "--answer", "asc=yes")
    assert (code, out) == (2, "")
    assert "asc" in err
    assert "no node" in err
    assert "Superstep" not in err
    code, out, _ = cli("run", asking, "--input", "this", "--json")
    checkpoint = lines(out)[-1]["checkpoint"]
    code, out, err = cli("run", asking, "--resume", checkpoint, "--answer", "gone=yes")
    assert (code, out) == (2, "")
    assert "gone" in err


def test_an_answer_that_was_not_asked_for_is_told(cli: Cli, asking: Path) -> None:
    given = ("--answer", "ask=42", "--answer", "critic=true", "--store", "memory")
    code, out, err = cli("run", asking, "--input", "this", *given)
    assert (code, out) == (0, "heard: 42\n"), err
    assert "The answer to critic was not used: it never asked." in err
    assert "answer to ask" not in err


def asks(folder: Path, **fields: object) -> Path:
    """A person is asked; the answer is the output."""
    ask = HumanInputNode.model_validate({"id": "ask", "name": "Ask", "question": "?", **fields})
    end = FunctionNode(
        id="end", name="End", body="ctx.yield_output(str(data))\nresult = None", accepts="any", yields="text"
    )
    path = folder / "asks.workflow.json"
    edge = DirectEdge(id="e", source="ask", target="end")
    write_workflow(Workflow(id="asks", start="ask", nodes=(ask, end), edges=(edge,)), path)
    return path


@pytest.mark.parametrize(
    ("fields", "answer", "said"),
    [
        ({"choices": ["red", "blue"]}, "green", "not one of the choices: red, blue"),
        ({"answer_type": "number"}, "many", "not a number"),
        ({"answer_type": "integer"}, "2.5", "not a whole number"),
        ({"answer_type": "boolean"}, "7", "neither yes nor no"),
        ({"answer_type": "list"}, "[1", "written as JSON"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused(
    cli: Cli, tmp_path: Path, fields: dict[str, object], answer: str, said: str
) -> None:
    given = ("--trust", "--store", "memory", "--answer", f"ask={answer}")
    code, out, err = cli("run", asks(tmp_path, **fields), "--input", "x", *given)
    assert (code, out) == (3, ""), err
    assert err.count("The answer to ask does not fit.") == 1
    assert said in err


def test_an_answer_for_a_node_answers_each_of_its_requests(cli: Cli, tmp_path: Path) -> None:
    ask = HumanInputNode(id="ask", name="Ask", question="?")
    body = (
        "n = ctx.get_state('n') + 1\nctx.set_state('n', n)\nresult = data if n < 3 else None\n"
        "if n == 3:\n    ctx.yield_output(data)"
    )
    count = FunctionNode(id="count", name="Count", body=body, sends="text", yields="text")
    edges = (
        DirectEdge(id="e", source="ask", target="count"),
        DirectEdge(id="back", source="count", target="ask"),
    )
    path = tmp_path / "loop.workflow.json"
    state = (StateDecl(key="n", initial=0),)
    write_workflow(Workflow(id="loop", start="ask", nodes=(ask, count), edges=edges, state=state), path)
    given = ("--trust", "--store", "memory", "--answer", "ask=on", "--json")
    code, out, err = cli("run", path, "--input", "x", *given)
    assert (code, err) == (0, "")
    *events, _ = lines(out)
    assert [e["type"] for e in events].count("request_answered") == 3


@pytest.mark.parametrize("reason", ["Too many requests: all 3 attempts failed", "Too many requests: wait."])
def test_a_retry_is_told_in_whole_sentences(reason: str) -> None:
    err = io.StringIO()
    report = Report(io.StringIO(), err, {"w": "Writer"}, json_lines=False, stream=False, kept=False)
    report.append(ModelCallRetried(0.0, "w", "i", "c", 1, 0.42, reason))
    assert err.getvalue() == f"  Writer: {reason.rstrip('.')}. Next try in 0.4 s.\n"


def test_a_failed_run_gives_1_with_reason_and_way_out(cli: Cli, failing: Path) -> None:
    code, out, err = cli("run", failing, "--input", "x", "--json", "--store", "memory")
    assert (code, lines(out)[-1]["state"]) == (1, "failed")
    assert "Writer failed: The provider does not accept the key" in err
    assert "Check the key of the profile" in err


def test_code_that_nobody_accepted_gives_2_and_runs_with_trust(cli: Cli, with_code: Path) -> None:
    code, out, err = cli("run", with_code)
    assert (code, out) == (2, "")
    assert "body of shout" in err
    assert "--trust" in err
    code, out, _ = cli("run", with_code, "--trust")
    assert (code, out) == (0, "HELLO\n")
    assert cli("run", with_code)[0] == 2


def test_wrong_usage_gives_2(cli: Cli, two_agents: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.workflow.json"
    broken.write_text("{", encoding="utf-8")
    for arguments in (
        ["run"],
        ["run", tmp_path / "none.json", "--input", "x"],
        ["run", broken, "--input", "x"],
        ["run", two_agents],
        ["run", two_agents, "--input-json", "{"],
        ["run", two_agents, "--input", "x", "--answer", "nothing"],
        ["run", two_agents, "--input", "x", "--provider", "Nobody"],
        ["run", two_agents, "--resume", "none"],
        ["run", two_agents, "--input", "x", "--input-json", "1"],
        ["fly"],
    ):
        code, out, err = cli(*arguments)
        assert (code, out) == (2, ""), arguments
        assert err
        assert "Traceback" not in err


def test_the_input_can_come_from_a_file(cli: Cli, two_agents: Path, tmp_path: Path) -> None:
    given = tmp_path / "input.txt"
    given.write_text("a poem", encoding="utf-8")
    assert cli("run", two_agents, "--input-file", given, "--store", tmp_path / "own.db")[0] == 0
    assert (tmp_path / "own.db").exists()


def test_a_run_needs_no_qt(two_agents: Path) -> None:
    code = (
        "import sys; from studio.__main__ import main\n"
        f"code = main(['run', {str(two_agents)!r}, '--input', 'x', '--store', 'memory', '--json'])\n"
        "loaded = {'PySide6', 'qasync', 'shiboken6'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
        "sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr


async def test_ctrl_c_cancels_with_130(slow: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "studio", "run", str(slow), "--input", "x", "--json",
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, cwd=ROOT, env=dict(os.environ),
    )  # fmt: skip
    assert process.stdout is not None
    seen = []
    async with asyncio.timeout(60):
        while True:
            line = await process.stdout.readline()
            seen.append(line.decode())
            if "model_call_started" in seen[-1]:
                break
        process.send_signal(signal.SIGINT)
        rest, err = await process.communicate()
    assert process.returncode == 130, err
    result = lines(rest.decode())[-1]
    assert (result["type"], result["state"]) == ("result", "cancelled")
    assert "Traceback" not in err.decode()


def test_what_a_failed_superstep_gave_is_no_output(cli: Cli, tmp_path: Path) -> None:
    node = FunctionNode(
        id="shout", name="Shout", body='result = None\nctx.yield_output("half")\nraise ValueError("no")', yields="text"
    )
    path = tmp_path / "half.workflow.json"
    write_workflow(Workflow(id="half", start="shout", nodes=(node,)), path)
    code, out, err = cli("run", path, "--input", "x", "--trust", "--store", "memory")
    assert (code, out) == (1, "")
    assert "Cut off, not an output: half" in err
    code, out, _ = cli("run", path, "--input", "x", "--trust", "--store", "memory", "--json")
    assert (code, lines(out)[-1]["outputs"]) == (1, [])
