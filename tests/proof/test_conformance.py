"""Every conformance graph that a document can express: exported, run on the real framework, compared event by event."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from studio.document.model import Workflow
from studio.proof import Sample
from studio.proof.model import Outcome

from tests.proof.batch import differences
from tests.proof.cases import NotDrawn, cases, drawn

_ASKS = "a function does not get an answer: asking is a node of its own"
_MESSAGES = "a run of a document is given no messages"
_PATTERN = "an orchestration is drawn as nodes"
_REFUSED = "the graph is refused, so nothing runs"

NOT_DRAWN: Mapping[str, str] = {
    "agent_accepts_list_of_messages": _MESSAGES,
    "agent_accepts_single_message": _MESSAGES,
    "agent_fan_in_needs_a_collector": _REFUSED,
    "bad_responses_are_rejected": _ASKS,
    "checkpoint_resume_and_answer_in_one_step": _ASKS,
    "checkpoint_resume_unknown_id": _REFUSED,
    "checkpoint_resume_with_pending_request_then_answer": _ASKS,
    "fan_in_of_texts_into_agent": "A barrier cannot feed the agent “sum”: put a join bar in between.",
    "request_info_then_response": _ASKS,
    "shared_state_visible_immediately_and_committed_at_superstep_end": (
        "when a node reads what another one writes meanwhile is a matter of the clock"
    ),
    "subworkflow_request_answered_by_parent_node": _ASKS,
    "subworkflow_request_propagated_to_caller": _ASKS,
    "two_requests_answered_one_at_a_time": _ASKS,
}
"""The cases that no document can express, and why; besides orchestrations and graphs that are refused."""


def _drawn() -> tuple[dict[str, tuple[Workflow, Sample, Any]], dict[str, str]]:
    """Name and number of a run -> document, what it is given, the case if it is the first; name -> why not."""
    found: dict[str, tuple[Workflow, Sample, Any]] = {}
    refused: dict[str, str] = {}
    for case in cases():
        try:
            flow, samples = drawn(case)
        except NotDrawn as problem:
            refused[case["name"]] = str(problem)
            continue
        for number, sample in enumerate(samples):
            found[f"{case['name']} {number}"] = (flow, sample, None if number else case)
    return found, refused


def test_which_cases_a_document_cannot_express() -> None:
    found, refused = _drawn()
    others = {name: why for name, why in refused.items() if why not in (_PATTERN, _REFUSED) or name in NOT_DRAWN}
    assert others == NOT_DRAWN
    assert all(name.startswith(("orchestration_", "magentic_")) for name, why in refused.items() if why == _PATTERN)
    refused_graphs = {name for name, why in refused.items() if why == _REFUSED and name not in NOT_DRAWN}
    assert all(name.startswith("validation_") for name in refused_graphs)
    assert len(found) >= 52


def _recorded(case: Mapping[str, Any]) -> tuple[bool, Counter[str]]:
    """Whether the first run failed, and its outputs as the framework gave them; pieces of a streamed one as one."""
    whole: list[tuple[str, Any]] = []
    pieces: dict[str, str] = {}
    failed = False
    for action, step in zip(case["actions"], case["expect"]["steps"], strict=True):
        if action["do"] != "respond" and step is not case["expect"]["steps"][0]:
            break
        failed = failed or "error" in step
        events = [event for superstep in step["trace"].get("supersteps", ()) for event in superstep["events"]]
        for event in (event for event in events if event["type"] == "output"):
            data = event["data"]
            if isinstance(data, dict) and data.get("$") == "agent_update":
                pieces[event["executor"]] = pieces.get(event["executor"], "") + data["text"]
            else:
                whole.append((event["executor"], _plain(data)))
    return failed, _counted([*whole, *pieces.items()])


def _counted(outputs: Iterable[tuple[str, Any]]) -> Counter[str]:
    """Without empty ones: a streamed answer that only calls tools has one, a whole answer has none."""
    return Counter(repr(output) for output in outputs if output[1] != "")


def _plain(data: Any) -> Any:
    if isinstance(data, dict) and data.get("$") == "agent_reply":
        return "".join(message.get("text", "") for message in data["messages"])
    return data


async def test_every_case_that_a_document_can_express(tmp_path: Path) -> None:
    """Code and canvas alike, and the canvas as it was recorded: what a conversion loses would be missing in both."""
    found, _ = _drawn()
    flows = {name: flow for name, (flow, _, _) in found.items()}
    samples = {name: sample for name, (_, sample, _) in found.items()}
    firsts = {name: case for name, (_, _, case) in found.items() if case is not None}
    runs: dict[str, Outcome] = {}
    restored = list(firsts)[::2]
    assert await differences(flows, tmp_path, samples=samples, restored=restored.__contains__, outcomes=runs) == {}
    for name, case in firsts.items():
        assert (runs[name].failed is not None, _counted(runs[name].outputs)) == _recorded(case), name
