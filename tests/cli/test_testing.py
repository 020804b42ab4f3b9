"""``test`` and ``batch`` on files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Tree

from tests.cli.conftest import Ran, lines

Cli = Callable[..., Ran]


def write(path: Path, workflow: Path, **parts: Any) -> Path:
    body = {"format": "superstep-test", "version": 1, "workflow": workflow.name, "input": "a poem", **parts}
    path.write_text(json.dumps(body), encoding="utf-8")
    return path


def test_pinned_replies_pass_and_junit_is_written(cli: Cli, two_agents: Path, tmp_path: Path) -> None:
    replies = {"writer": ["roses"], "critic": [{"text": "fine", "usage": {"input": 5, "output": 2}}]}
    expect = [{"path": ["writer", "critic"]}, {"output": {"equals": "fine"}}, {"tokens": {"below": 8}}]
    write(tmp_path / "poem.test.json", two_agents, name="a poem is judged", replies=replies, expect=expect)
    code, out, err = cli("test", tmp_path, "--junit", tmp_path / "out.xml")
    assert (code, err) == (0, "")
    assert out.splitlines()[0].startswith("ok  a poem is judged  (")
    assert out.endswith("1 passed, 0 failed\n")
    suite = Tree.parse(tmp_path / "out.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("1", "0")


def test_a_pinned_node_of_a_test_is_not_called(cli: Cli, two_agents: Path, tmp_path: Path) -> None:
    expect = [{"path": ["writer", "critic"]}, {"output": {"equals": "pinned"}}]
    write(tmp_path / "a.test.json", two_agents, replies={"writer": ["x"]}, pins={"critic": "pinned"}, expect=expect)
    replies = {"critic": [{"asked": "a poem", "text": "y"}]}
    expect = [{"output": {"equals": "y"}}]
    write(tmp_path / "b.test.json", two_agents, muted=["writer"], replies=replies, expect=expect)
    code, out, _ = cli("test", tmp_path)
    assert (code, out.endswith("2 passed, 0 failed\n")) == (0, True), out


def test_a_failed_expectation_gives_1_and_a_missing_reply_asks_no_model(
    cli: Cli, two_agents: Path, tmp_path: Path
) -> None:
    write(tmp_path / "a.test.json", two_agents, replies={"writer": ["x"], "critic": ["y"]},
          expect=[{"output": {"equals": "z"}}])  # fmt: skip
    write(tmp_path / "b.test.json", two_agents, replies={"writer": ["x"]})
    code, out, _ = cli("test", tmp_path / "a.test.json", tmp_path / "b.test.json")
    assert code == 1
    assert "The output is 'y', not 'z'." in out
    assert "Critic leaves the recording: the recording has no further answer of the model." in out
    assert "0 passed, 2 failed" in out


def test_what_cannot_be_run_gives_2(cli: Cli, two_agents: Path, tmp_path: Path) -> None:
    (tmp_path / "x.test.json").write_text("{", encoding="utf-8")
    write(tmp_path / "y.test.json", tmp_path / "gone.workflow.json")
    write(tmp_path / "z.test.json", two_agents, replies={"writer": ["x"], "critic": ["y"]}, expect=[{"moon": 1}])
    code, out, _ = cli("test", tmp_path)
    assert code == 2
    assert out.count("FAILED") == 3
    assert "is no JSON" in out
    assert cli("test", tmp_path / "nothing")[0] == 2


def test_questions_are_answered_from_the_test(cli: Cli, asking: Path, tmp_path: Path) -> None:
    node = json.loads(asking.read_text(encoding="utf-8"))["nodes"][0]["id"]
    write(tmp_path / "q.test.json", asking, replies={"critic": ["ok"]}, answers=[[{"node": node, "value": "yes"}]])
    assert cli("test", tmp_path)[0] == 0
    write(tmp_path / "q.test.json", asking, replies={"critic": ["ok"]})
    code, out, _ = cli("test", tmp_path)
    assert code == 1
    assert f"The run waits for an answer to {node}, and there is none." in out


def test_a_batch_writes_results_and_goes_on(cli: Cli, two_agents: Path, tmp_path: Path) -> None:
    table = tmp_path / "rows.csv"
    table.write_text("id,input\na,rain\nb,sun\n", encoding="utf-8")
    code, out, err = cli("batch", two_agents, "--inputs", table, "--parallel", "2")
    assert code == 0
    assert "2 completed, 0 failed, 0 not run" in out
    found = {row["row"]: row for row in lines((tmp_path / "rows.results.jsonl").read_text(encoding="utf-8"))}
    assert [found[1]["input"], found[1]["state"], found[1]["name"]] == ["rain", "completed", "a"]
    assert "row 1 a: completed" in err
    code, out, err = cli("batch", two_agents, "--inputs", table)
    assert "2 of them were done before." in out
    assert err == ""
    assert len(lines((tmp_path / "rows.results.jsonl").read_text(encoding="utf-8"))) == 2


def test_a_batch_needs_a_table(cli: Cli, two_agents: Path, tmp_path: Path) -> None:
    assert cli("batch", two_agents, "--inputs", tmp_path / "none.csv")[0] == 2
    (tmp_path / "bad.jsonl").write_text("{", encoding="utf-8")
    code, _, err = cli("batch", two_agents, "--inputs", tmp_path / "bad.jsonl")
    assert (code, "bad.jsonl, line 1" in err) == (2, True)
    for option in ("--parallel", "--max-cost"):
        code, _, err = cli("batch", two_agents, "--inputs", tmp_path / "bad.jsonl", option, "0")
        assert (code, f"{option}: 0 is not above 0" in err) == (2, True)
