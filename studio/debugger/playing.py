"""Runs a workflow headless from start to end: for tests, with pinned replies, and for batches."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from uuid import uuid4

from studio.agents.messages import ApprovalRequest
from studio.checkpoints import Codec, PendingRequest, RunRecord, RunStore
from studio.debugger.answers import ValueProblem, answer_value, input_value
from studio.debugger.assertions import Outcome, check
from studio.debugger.beginning import Beginning, Runnable, SessionSetup
from studio.debugger.memory_run_store import MemoryRunStore
from studio.debugger.overrides import Overrides
from studio.debugger.recording import Tape
from studio.debugger.run_tests import RunTest
from studio.debugger.session import RunSession
from studio.debugger.states import ENDED, RunState
from studio.document.model import Workflow

Prepare = Callable[[], Awaitable[Runnable]]


async def play_test(test: RunTest, workflow: Workflow, prepare: Prepare, codec: Codec) -> tuple[Outcome, list[str]]:
    """Runs a test. Gives what happened, and why it was not as expected: one sentence per failed expectation.

    A model call without a reply in the test fails the run: nothing is ever asked of a model. Raises
    :class:`studio.debugger.run_tests.TestProblem`, :class:`studio.debugger.assertions.ExpectationProblem`.
    """
    names = {node.id: node.name for node in workflow.nodes}
    tape = Tape(test.recording(), strict=True, by_position=True, name_of=lambda id: names.get(id) or id)
    outcome = await play(
        workflow, test.input, prepare, codec, tape=tape, answers=test.answers, overrides=test.overrides
    )
    wants_failure = any("fails" in expectation for expectation in test.expect)
    failures = [outcome.failure] if outcome.failure and not wants_failure else []
    failures += [why for expectation in test.expect if (why := check(expectation, outcome))]
    return outcome, failures


async def play(
    workflow: Workflow,
    given: Any,
    prepare: Prepare,
    codec: Codec,
    *,
    tape: Tape | None = None,
    overrides: Overrides | None = None,
    answers: Sequence[Sequence[Mapping[str, Any]]] = (),
    store: RunStore | None = None,
    record: RunRecord | None = None,
) -> Outcome:
    """One whole run. A question that ``answers`` have nothing for ends it with a failure."""
    outcome = Outcome()
    try:
        data = input_value(given, workflow)
    except ValueProblem as problem:
        outcome.failure = f"The start node does not take this input. {problem}"
        return outcome
    changed = asyncio.Event()
    names = {node.id: node.name for node in workflow.nodes}
    session = RunSession(
        record or RunRecord(uuid4().hex, 1, "main"),
        Beginning(data, tape=tape),
        prepare,
        store or MemoryRunStore(codec),
        codec,
        sink=outcome,
        changed=changed.set,
        setup=SessionSetup(overrides=overrides or Overrides(), document=workflow),
        name_of=lambda node: names.get(node) or node,
        streaming=False,
    )
    try:
        await _drive(session, changed, workflow, list(answers), outcome)
    finally:
        await session.close()
    if session.failure:
        outcome.failure = session.failure
    return outcome


async def _drive(
    session: RunSession,
    changed: asyncio.Event,
    workflow: Workflow,
    answers: list[Sequence[Mapping[str, Any]]],
    outcome: Outcome,
) -> None:
    session.run()
    while session.state not in ENDED:
        changed.clear()
        await changed.wait()
        if session.state is not RunState.WAITING:
            continue
        try:
            found = _answers(session.requests, answers.pop(0) if answers else (), workflow)
        except ValueProblem as problem:
            outcome.failure = f"An answer does not fit. {problem}"
            return
        if not found:
            asking = ", ".join(dict.fromkeys(r.node for r in session.requests))
            outcome.failure = f"The run waits for an answer to {asking}, and there is none."
            return
        session.answer(found)


def _answers(
    requests: Sequence[PendingRequest], batch: Sequence[Mapping[str, Any]], workflow: Workflow
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for answer in batch:
        request = next((r for r in requests if r.id not in found and _is_for(answer, r)), None)
        if request is not None:
            found[request.id] = answer_value(request.data, request.response_type, answer.get("value"), workflow)
    return found


def _is_for(answer: Mapping[str, Any], request: PendingRequest) -> bool:
    """Whether an answer of a test is for a request: of its node, and for its tool if it names one."""
    data = request.data
    tool = data.call.name if isinstance(data, ApprovalRequest) else getattr(data, "name", None)
    return request.node == answer.get("node") and answer.get("tool") in (None, tool)
