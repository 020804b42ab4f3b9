"""``python -m tests.conformance.record_own``: records the project's own cases from the installed framework.

The Magentic orchestration is in none of the cases that came with the specification.
"""

from __future__ import annotations

import asyncio
import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.conformance.framework import FrameworkRun

OWN = Path(__file__).parent / "own_cases"
_PACKAGES = ("agent-framework-core", "agent-framework-orchestrations")

Form = dict[str, Any]


def ledger(speaker: str, say: str, *, done: bool = False, loop: bool = False, progress: bool = True) -> Form:
    """An answer of the manager about the progress."""
    answers = {
        "is_request_satisfied": done,
        "is_in_loop": loop,
        "is_progress_being_made": progress,
        "next_speaker": speaker,
        "instruction_or_question": say,
    }
    return {"text": json.dumps({key: {"reason": "because", "answer": answer} for key, answer in answers.items()})}


FACTS, PLAN, FINAL = {"text": "the facts"}, {"text": "- the plan"}, {"text": "the final answer"}
NEW = [{"text": "new facts"}, {"text": "- new plan"}]
WRITER = {
    "id": "writer",
    "kind": "agent",
    "description": "writes",
    "replies": [{"text": "a poem"}],
    "then": "repeat_last",
}
CRITIC = {"id": "critic", "kind": "agent", "replies": [{"text": "too long"}], "then": "repeat_last"}


def case(name: str, why: str, replies: list[Form], *actions: Form, **graph: Any) -> Form:
    """A Magentic case with these replies of the manager."""
    manager = {"id": "boss", "kind": "agent", "replies": replies}
    whole = {"orchestration": "magentic", "manager": manager, "participants": [WRITER, CRITIC], **graph}
    return {
        "format": "workflow-conformance/1",
        "name": name,
        "why": why,
        "tags": ["orchestration", "magentic"],
        "graph": whole,
        "actions": list(actions) or [{"do": "run", "input": "write a poem"}],
        "recorded_with": {package: version(package) for package in _PACKAGES},
    }


def revise(text: str) -> Form:
    """An answer that wants another plan."""
    return {"$": "plan_review", "messages": [{"$": "message", "role": "user", "text": text}]}


APPROVE: Form = {"$": "plan_review", "messages": []}

CASES = [
    case(
        "magentic_two_rounds_then_final_answer",
        "Facts and plan, a progress ledger before every turn, the manager's final answer as the only output.",
        [FACTS, PLAN, ledger("writer", "write it"), ledger("critic", "judge it"), ledger("", "", done=True), FINAL],
    ),
    case(
        "magentic_streaming",
        "Streaming, the final answer is one update; the manager itself is never streamed.",
        [FACTS, PLAN, ledger("writer", "write it"), ledger("", "", done=True), FINAL],
        {"do": "run", "input": "write a poem", "stream": True},
    ),
    case(
        "magentic_stall_resets_everybody_and_plans_anew",
        "More stalls than allowed: history and participants are reset, facts and plan are made anew.",
        [
            FACTS, PLAN, ledger("writer", "write it", progress=False), ledger("writer", "again", loop=True),
            *NEW, ledger("critic", "judge it"), ledger("", "", done=True), FINAL,
        ],
        max_stalls=1,
    ),
    case(
        "magentic_round_limit",
        "The round limit ends the run with a fixed message.",
        [FACTS, PLAN, ledger("writer", "write it"), ledger("critic", "judge it")],
        max_rounds=2,
    ),
    case(
        "magentic_reset_limit",
        "The reset limit ends the run with a fixed message.",
        [FACTS, PLAN, ledger("writer", "go", progress=False), *NEW],
        max_stalls=0,
        max_resets=1,
    ),
    case(
        "magentic_unknown_speaker_ends_with_an_answer",
        "A speaker who does not exist is asked for again three times, then the manager gives its final answer.",
        [FACTS, PLAN, ledger("nobody", "go"), ledger("nobody", "go"), ledger("nobody", "go"), FINAL],
    ),
    case(
        "magentic_unreadable_ledger_plans_anew",
        "Three unreadable ledgers are a reset; a fenced ledger with Python constants is read.",
        [
            FACTS, PLAN, {"text": "no json"}, {"text": "{broken"}, {"text": "[1]"}, *NEW,
            {"text": "Here:\n```json\n" + ledger("writer", "go")["text"].replace("true", "True") + "\n```"},
            ledger("", "", done=True), FINAL,
        ],
    ),
    case(
        "magentic_plan_review_revised_then_approved",
        "The plan waits for a person: comments make a new plan, an empty answer approves.",
        [FACTS, PLAN, *NEW, ledger("writer", "write it"), ledger("", "", done=True), FINAL],
        {"do": "run", "input": "write a poem"},
        {"do": "respond", "responses": {"r1": revise("shorter")}},
        {"do": "respond", "responses": {"r2": APPROVE}},
        plan_review=True,
    ),
    case(
        "magentic_plan_review_after_a_stall",
        "A new plan after a stall is shown with the progress and marked as stalled.",
        [
            FACTS, PLAN, ledger("writer", "go", progress=False), *NEW, ledger("critic", "judge it"),
            ledger("", "", done=True), FINAL,
        ],
        {"do": "run", "input": "write a poem"},
        {"do": "respond", "responses": {"r1": APPROVE}},
        {"do": "respond", "responses": {"r2": APPROVE}},
        plan_review=True,
        max_stalls=0,
    ),
    case(
        "magentic_participants_as_outputs",
        "Participants may be designated; the orchestrator's answer is always an output.",
        [FACTS, PLAN, ledger("writer", "write it"), ledger("critic", "judge it"), ledger("", "", done=True), FINAL],
        outputs=["writer"],
        intermediate=["critic"],
    ),
    case(
        "magentic_refuses_a_second_task",
        "Once it is over, another task is an error of the orchestrator.",
        [FACTS, PLAN, ledger("", "", done=True), FINAL],
        {"do": "run", "input": "write a poem"},
        {"do": "run", "input": "another"},
    ),
]  # fmt: skip


async def record() -> None:
    """Writes every case with what the framework did."""
    OWN.mkdir(exist_ok=True)
    for made in CASES:
        expected = await FrameworkRun(made).run()
        text = json.dumps({**made, "expect": expected}, ensure_ascii=False, indent=1)
        (OWN / f"{made['name']}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(record())
