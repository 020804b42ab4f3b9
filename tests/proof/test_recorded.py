"""A recorded run is what both sides of a proof are given."""

from __future__ import annotations

from studio.debugger.run_tests import RunTest
from studio.document.model import HumanInputNode, OfflineScript, SubWorkflowNode
from studio.export import export_project
from studio.proof import prove, sample_of
from studio.proof.expected import outcome_of
from studio.proof.recorded import with_script

from tests.assembly.running import script
from tests.assembly.test_kinds import agent, function, workflow

INNER = workflow([agent("inner")], offline=script(inner=["from the document"]))
FLOW = workflow(
    [
        agent("writer"),
        HumanInputNode(id="ask", name="Ask", choices=("fine", "bad")),
        SubWorkflowNode(id="sub", name="Sub", embedded=INNER),
        function("end", "result = data", sends="", yields="text"),
    ],
    offline=script(writer=["A draft."]),
    sample_input="tides",
)
RUN = RunTest(
    "Monday",
    "",
    "moon",
    {"writer": [{"asked": "moon", "text": "Recorded draft."}], "sub/inner": [{"text": "Recorded inside."}]},
    {},
    [[{"node": "ask", "value": "bad"}]],
)


def test_replies_and_answers_by_node() -> None:
    sample = sample_of(RUN)
    assert (sample.name, sample.input, sample.answers) == ("Monday", "moon", {"ask": ["bad"]})
    assert sample.script is not None
    assert sample.script.nodes["writer"] == {"replies": [{"text": "Recorded draft."}], "then": "repeat_last"}
    given = with_script(FLOW, sample.script)
    inner = given.nodes[2]
    assert isinstance(inner, SubWorkflowNode)
    assert inner.embedded is not None
    assert inner.embedded.offline.nodes["inner"]["replies"] == [{"text": "Recorded inside."}]
    kept = with_script(FLOW, OfflineScript())
    assert kept == FLOW


def test_several_replies_are_found_by_what_they_answer() -> None:
    calls = [{"id": "c1", "name": "look", "arguments": {"q": 1}}]
    replies = {"a": [{"asked": "yes", "text": "", "calls": calls}, {"asked": "yes please", "text": "two"}]}
    found = sample_of(RunTest("x", "", "", replies)).script
    assert found is not None
    first = {"text": "", "calls": [{"id": "c1", "tool": "look", "arguments": {"q": 1}}]}
    assert found.nodes["a"]["replies"] == [
        {"when": "yes please", "text": "two"}, {"when": "yes", **first}, first, {"text": "two"}
    ]  # fmt: skip
    same = {"a": [{"asked": "yes", "text": "one"}, {"asked": "yes", "text": "two"}]}
    found = sample_of(RunTest("x", "", "", same)).script
    assert found is not None
    assert found.nodes["a"]["replies"] == [{"text": "one"}, {"text": "two"}]


async def test_a_recorded_run_is_proven_with_its_own_replies() -> None:
    sample = sample_of(RUN)
    assert sample.script is not None
    _, outcome, answers = await outcome_of(with_script(FLOW, sample.script), sample)
    assert outcome.outputs[-1] == ("end", "Recorded inside.")
    assert answers == {"ask": ["bad"]}
    proof = await prove(FLOW, export_project(FLOW), sample)
    assert proof.proven, proof.steps
