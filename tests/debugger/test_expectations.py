"""What a test expects of a run, and tests as files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Tree

import pytest
from studio.agents.messages import AgentReply, Message, ToolCall, ToolResult, Usage, assistant, user
from studio.debugger.assertions import ExpectationProblem, Outcome, check, expectations_of
from studio.debugger.junit import TestResult, junit
from studio.debugger.recording import LeftRecording, RecordedCall, RecordedTool, Recording, Tape
from studio.debugger.run_tests import RunTest, TestProblem, made_from, read_test, write_test
from studio.engine import events as ev


def outcome() -> Outcome:
    made = Outcome()
    for event in (
        ev.SuperstepStarted(0.0, 1),
        ev.NodeStarted(0.0, 1, "start", "i1", (), "x"),
        ev.SuperstepStarted(0.1, 2),
        ev.NodeStarted(0.1, 2, "right", "i2", (), "x"),
        ev.NodeStarted(0.1, 2, "left", "i3", (), "x"),
        ev.NodeStarted(0.1, 1, "inner", "i4", (), "x", ("left",)),
        ev.ToolStarted(0.2, "left", "i3", ToolCall("c", "search", '{"q": "rain", "deep": {"n": 3, "k": 1}}')),
        ev.ModelCallFinished(0.3, "left", "i3", "m1", Usage(100, 20), "stop"),
        ev.OutputYielded(0.4, 2, "left", "i3", AgentReply((assistant('{"score": 9}'),))),
        ev.OutputYielded(0.4, 2, "right", "i2", "between", True),
    ):
        made.append(event)
    return made


@pytest.mark.parametrize(
    ("expectation", "why"),
    [
        ({"path": ["start", ["right", "left"]]}, ""),
        ({"path": ["start", "left"]}, "The path was start → left + right, not start → left."),
        ({"called": {"node": "left"}}, ""),
        ({"called": {"node": "left/inner", "times": 1}}, ""),
        ({"called": {"node": "nobody", "times": 0}}, ""),
        ({"called": {"node": "left", "times": 2}}, "left ran once, not twice."),
        ({"tool": {"name": "search", "with": {"q": "rain", "deep": {"n": 3}}}}, ""),
        ({"tool": {"name": "search", "times": 1}}, ""),
        ({"tool": {"name": "search", "node": "right"}}, "search was never called."),
        ({"tool": {"name": "search", "times": 2}}, "search was called once, not twice."),
        ({"tool": {"name": "search", "with": {"q": "sun"}}},
         'search was called with {"q": "rain", "deep": {"n": 3, "k": 1}}, never with {"q": "sun"}.'),
        ({"output": {"equals": '{"score": 9}'}}, ""),
        ({"output": {"contains": "score", "matches": r"\d+", "number": 1}}, ""),
        ({"output": {"contains": "sun"}}, "The output '{\"score\": 9}' does not contain 'sun'."),
        ({"output": {"matches": "^x"}}, "The output '{\"score\": 9}' does not match '^x'."),
        ({"output": {"equals": "x", "number": 4}}, "There are 1 outputs, no number 4."),
        ({"output": {"schema": {"type": "object", "required": ["score"]}}}, ""),
        ({"output": {"schema": {"type": "object", "properties": {"score": {"maximum": 5}}}}},
         "The output does not fit the schema at score: 9 is greater than the maximum of 5."),
        ({"tokens": {"below": 121}}, ""),
        ({"tokens": {"below": 120}}, "120 tokens were used, not below 120."),
        ({"cost": {"below": 1}}, ""),
        ({"fails": {}}, "The run did not fail."),
    ],
)  # fmt: skip
def test_an_expectation(expectation: dict[str, Any], why: str) -> None:
    assert check(expectation, outcome()) == why


@pytest.mark.parametrize(
    "bad", [{}, {"moon": 1}, {"path": ["a"], "called": {}}, {"called": {}}, {"output": {"matches": "("}}]
)
def test_an_expectation_that_nobody_understands_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ExpectationProblem):
        check(bad, outcome())


def test_a_run_becomes_its_own_expectation() -> None:
    made = outcome()
    found = expectations_of(made)
    assert found[0] == {"path": ["start", ["left", "right"]]}
    assert {"output": {"equals": '{"score": 9}'}} in found
    assert [check(expectation, made) for expectation in found] == [""] * len(found)


def test_a_recorded_run_survives_the_file(tmp_path: Path) -> None:
    call = AgentReply((assistant("so"),), Usage(3, 4), "stop")
    recording = Recording(
        "in",
        calls={"w": [RecordedCall((), call), RecordedCall((), AgentReply())]},
        tools={"w": [RecordedTool("t", '{"q": 1}', "found", ""), RecordedTool("t", "{}", "no", "ValueError")]},
        answers=[[("asker", "yes")]],
    )
    test = made_from(recording, "name", "w.workflow.json", "in", [{"path": ["w"]}])
    write_test(test, tmp_path / "a.test.json")
    again = read_test(tmp_path / "a.test.json")
    assert again == test
    assert again.answers == [[{"node": "asker", "value": "yes"}]]
    back = again.recording()
    assert [c.reply.text for c in back.calls["w"]] == ["so", ""]
    assert back.calls["w"][0].reply.usage == Usage(3, 4)
    assert [(t.result, t.error) for t in back.tools["w"]] == [("found", ""), ("no", "ValueError")]


def test_replies_are_given_to_the_call_that_they_were_recorded_for() -> None:
    replies = {"w": [{"asked": "a poem", "text": "roses"}, {"asked": "a song", "text": "la"}, "any", "later"]}
    tape = Tape(RunTest("t", "w", replies=replies).recording(), strict=True, by_position=True, name_of=str.upper)
    said = []
    for question in ("a song", "else", "a poem", "more"):
        call = tape.call("w", (user("before"), user(question)))
        assert call is not None
        said.append(call.reply.text)
    assert said == ["la", "any", "roses", "later"], "calls of two branches may come in any order"


def test_a_prompt_that_no_reply_is_for_is_named() -> None:
    test = RunTest("t", "w", replies={"w": [{"asked": "a poem", "text": "roses"}]})
    tape = Tape(test.recording(), strict=True, by_position=True, name_of=str.upper)
    with pytest.raises(LeftRecording, match="W leaves the recording: it asks “a song”, and its next reply is for “a p"):
        tape.call("w", (user("a song"),))


def test_a_test_that_is_made_of_a_run_keeps_what_each_call_was_about() -> None:
    result = Message("tool", (ToolResult("c", "found"),))
    calls = [RecordedCall((user("x" * 900),), AgentReply((assistant("1"),))), RecordedCall((result,), AgentReply())]
    test = made_from(Recording("in", calls={"w": calls}), "n", "w", "in", [])
    assert [reply["asked"] for reply in test.replies["w"]] == ["x" * 400, "found"]
    tape = Tape(test.recording(), by_position=True)
    second, first = tape.call("w", (result,)), tape.call("w", (user("x" * 900),))
    assert first is not None
    assert second is not None
    assert (first.reply.text, second.reply.text) == ("1", "")


def test_results_of_tools_go_to_the_call_with_their_arguments() -> None:
    tools = {"w": [RecordedTool("t", '{"q": 1}', "one"), RecordedTool("t", '{"q": 2}', "two")]}
    tape = Tape(Recording("in", tools=tools), by_position=True)
    found = [tape.tool("w", "t", arguments) for arguments in ('{"q": 2}', '{"q": 9}')]
    assert [one.result for one in found if one is not None] == ["two", "one"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "is no JSON"),
        ('{"format": "else"}', "is no test of a workflow"),
        ('{"format": "superstep-test", "version": 99}', "was written by a later version"),
        ('{"format": "superstep-test", "version": 1}', "does not say which workflow"),
        (
            '{"format": "superstep-test", "version": 1, "workflow": "x", "expect": {}}',
            "“expect” is not what",
        ),
    ],
)
def test_a_file_that_is_no_test_says_why(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "x.test.json").write_text(text, encoding="utf-8")
    with pytest.raises(TestProblem, match=sentence):
        read_test(tmp_path / "x.test.json")


def test_bad_replies_are_refused() -> None:
    with pytest.raises(TestProblem):
        RunTest("n", "w", replies={"w": [{"calls": [{}]}]}).recording()


def test_junit_tells_failures_from_errors() -> None:
    results = [
        TestResult("a.test.json", "good", 0.5),
        TestResult("b.test.json", "bad \x07", 0.25, ("first <why>", "second")),
        TestResult("c.test.json", "broken", 0, (), "no JSON"),
    ]
    root = Tree.fromstring(junit(results))
    suite = root.find("testsuite")
    assert suite is not None
    assert {k: suite.get(k) for k in ("tests", "failures", "errors", "time")} == {
        "tests": "3", "failures": "1", "errors": "1", "time": "0.750",
    }  # fmt: skip
    bad = suite.findall("testcase")[1]
    assert bad.get("name") == "bad "
    failure = bad.find("failure")
    assert failure is not None
    assert (failure.get("message"), failure.text) == ("first <why>", "first <why>\nsecond")
    assert json.dumps([r.passed for r in results]) == "[true, false, false]"
