"""Runs the workflow of these tests to its end, without a display, and answers its question."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from PySide6.QtWidgets import QApplication
from studio.agents.connection import preload
from studio.bridge.loop import run
from studio.bridge.run_model import RunModel
from studio.bridge.workspaces import Workspaces
from studio.debugger.states import RunState
from studio.document.model import (
    AgentNode,
    DirectEdge,
    FanInEdge,
    FanOutEdge,
    FunctionNode,
    HumanInputNode,
    JoinNode,
    OfflineScript,
    Workflow,
)
from studio.settings import trust

from tests.crash.victims import say

INPUT = "a poem"
ANSWER = "yes"


def workflow(delay_ms: float = 8) -> Workflow:
    """A writer, user code, a person, two readers, a join, a critic: seven supersteps, some tenths of a second."""
    names = ("writer", "left", "right", "critic")
    words = [f"word{i} " for i in range(12)]
    return Workflow(
        id="killed",
        name="Killed",
        start="writer",
        nodes=(
            *(AgentNode(id=n, name=n.title(), instructions=f"You are {n}.") for n in names),
            FunctionNode(id="shout", name="Shout", body="result = data.upper()"),
            HumanInputNode(id="ask", name="Ask", question="Good? {input}", send="answer"),
            JoinNode(id="join", name="Join"),
        ),
        edges=(
            DirectEdge(id="e1", source="writer", target="shout"),
            DirectEdge(id="e2", source="shout", target="ask"),
            FanOutEdge(id="out", source="ask", targets=("left", "right")),
            FanInEdge(id="in", sources=("left", "right"), target="join"),
            DirectEdge(id="e3", source="join", target="critic"),
        ),
        offline=OfflineScript.model_validate(
            {"nodes": {n: {"replies": [{"chunks": [f"{n}: ", *words]}]} for n in names}, "delay_ms": delay_ms}
        ),
    )


def outputs(model: RunModel) -> list[list[Any]]:
    """Superstep, node and text of every output, in delivery order."""
    return [[output.superstep, output.node, output.text] for output in model.outputs]


class _Teller:
    """Says what the run model shows, once."""

    def __init__(self, model: RunModel) -> None:
        self._model = model
        self._supersteps = self._checkpoints = 0
        model.updated.connect(self._on_model_updated)

    def _on_model_updated(self, _update: object) -> None:
        model = self._model
        for superstep in model.supersteps[self._supersteps :]:
            say(superstep=superstep.number)
        for checkpoint in model.checkpoints[self._checkpoints :]:
            say(checkpoint=checkpoint.checkpoint, after=checkpoint.superstep, kind=checkpoint.kind)
        self._supersteps, self._checkpoints = len(model.supersteps), len(model.checkpoints)


async def go_on(model: RunModel, state: RunState) -> None:
    """Brings a run to its end from wherever it is, answering what it asks."""
    while state is not RunState.COMPLETED:
        assert state not in (RunState.FAILED, RunState.CANCELLED), model.sentence
        if state is RunState.WAITING:
            model.answer({request.request: ANSWER for request in model.requests})
        elif state is RunState.PAUSED:
            model.run("")
        state = await _next(model, state)


async def _next(model: RunModel, state: RunState) -> RunState:
    resting = (RunState.PAUSED, RunState.WAITING, RunState.COMPLETED, RunState.FAILED, RunState.CANCELLED)
    async with asyncio.timeout(60):
        while model.state is state or model.state not in resting:  # noqa: ASYNC110
            await asyncio.sleep(0.002)
    return model.state


async def _main() -> None:
    document = workflow()
    trust.trust(document)
    workspaces = Workspaces()
    model = workspaces.open(document, None).run
    teller = _Teller(model)
    assert teller
    preload()
    say(begin=True)
    model.run(INPUT)
    await go_on(model, RunState.PREPARING)
    say(done=outputs(model))
    await workspaces.close_all()


if __name__ == "__main__":
    run(QApplication(sys.argv[:1]), _main)
