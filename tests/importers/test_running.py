"""Imported workflows run: loops count, variables are set, results are kept for who asks later."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from studio.document.model import RunnerNode
from studio.document.validate import problems
from studio.importers import read
from studio.importers.opening import opened

from tests.assembly.running import Bench, script

SAMPLES = Path(__file__).parent / "samples"
_WRONG, _RIGHT = '{"correct": false}', '{"correct": true}'


@pytest.mark.parametrize(
    ("name", "replies", "answers", "order", "outputs"),
    [
        pytest.param(
            "maf-yaml/04_foreach_with_break.yaml",
            {},
            {},
            ["each_item", "at_stop", "tell", "each_item", "at_stop", "tell", "each_item", "at_stop", "done"],
            ["0: bread", "1: milk", "That is all."],
            id="items until one says stop",
        ),
        pytest.param(
            "maf-yaml/03_goto_makes_a_loop.yaml",
            {"guesser": [{"text": "tree"}, {"text": "river"}], "judge": [{"text": _WRONG}, {"text": _RIGHT}]},
            {},
            ["start_at_zero", *["guesser", "judge", "judge__save", "next_round", "enough"] * 2, "enough__end"],
            None,
            id="rounds until a judge agrees",
        ),
        pytest.param(
            "maf-yaml/05_question_until_it_matches.yaml",
            {},
            {"ask_again": "in", "house_number": "7"},
            ["remember", *["ask_again"] * 2, "ask_again__save", "same", *["house_number"] * 2, "house_number__save"],
            None,
            id="a question whose answer is compared with what came first",
        ),
        pytest.param(
            "openai-agent-builder/06_state_transform_while.py",
            {"guess": [{"text": "5"}, {"text": "It is 7."}], "report": [{"text": "Done in two."}]},
            {},
            ["while_1", *["guess", "guess__save", "set_tries_1", "set_done_1", "while_1"] * 2, "transform", "report"],
            ["Done in two."],
            id="a while loop with state and a result",
        ),
        pytest.param(
            "dify/02_if_else.yml",
            {"a": [{"text": "Long answer."}], "b": [{"text": "Short."}]},
            {},
            ["s", "c", "b__prompt", "b", "b__save", "g", "r"],
            ["Short."],
            id="branches whose results meet again",
        ),
    ],
)
async def test_an_imported_workflow_runs(
    name: str, replies: dict[str, list[Any]], answers: dict[str, Any], order: list[str], outputs: list[str] | None
) -> None:
    workflow = opened(read(SAMPLES / name)).workflow
    assert [p.message for p in problems(workflow) if p.severity == "error"] == []
    bench = Bench()
    ran = await bench.run(workflow.model_copy(update={"offline": script(**replies)}), "in", answers)
    await bench.source.close()
    nodes = {node.id for node in workflow.nodes}
    assert [item for item in ran.order if item in nodes] == order
    if outputs is not None:
        assert [str(getattr(data, "text", data)) for _, data in ran.outputs][-len(outputs) :] == outputs


async def test_agents_that_hand_over_to_each_other_are_one_runner() -> None:
    """The one who starts asks for the transfer; the other answers. Hand-offs with code of their own stay drawn."""
    found = opened(read(SAMPLES / "openai-agents" / "01_triage.py"))
    workflow = found.workflow
    (runner,) = workflow.nodes
    assert isinstance(runner, RunnerNode)
    assert workflow.start == runner.id == "desk"
    assert [(a.id, a.handoffs) for a in runner.agents] == [("desk", ("tickets", "lost")), ("tickets", ()), ("lost", ())]
    assert "Desk, Tickets, Lost and found" in next(e.text for e in found.report.entries if e.item == "desk")
    assert [p.code for p in problems(workflow) if p.code == "cannot_run"] == []
    call = {"calls": [{"id": "1", "tool": "transfer_to_tickets", "arguments": {"reason": "asked for"}}]}
    replies = {"desk/desk": [call], "desk/tickets": [{"text": "Two tickets."}]}
    bench = Bench()
    ran = await bench.run(workflow.model_copy(update={"offline": script(**replies)}), "Two tickets, please.")
    await bench.source.close()
    assert [str(getattr(data, "text", data)) for _, data in ran.outputs] == ["Two tickets."]
    for name in ("openai-agents/03_handoff_options.py", "autogen-studio/03_swarm.json"):
        kept = opened(read(SAMPLES / name)).workflow
        assert {e.kind for e in kept.edges} == {"handoff"}, name
