"""Drawings of programs with smaller cards get room here."""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any

from studio.document.geometry import CARD, boxes, drawn
from studio.importers import read
from studio.importers.opening import opened


def _node(name: str, kind: str, x: float, y: float, **parameters: Any) -> dict[str, Any]:
    kind = f"n8n-nodes-base.{kind}"
    return {"name": name, "type": kind, "typeVersion": 1, "position": [x, y], "parameters": parameters}


def test_steps_that_stand_near_each_other_are_pulled_apart_and_what_was_added_stands_behind_its_cause() -> None:
    nodes = [
        _node("Go", "manualTrigger", -500, 40),
        _node("Keep", "noOp", -400, 40),
        _node("Ask", "if", -300, 40, conditions={"string": [{"value1": "={{$json.a}}", "value2": "b"}]}),
        _node("Yes", "noOp", -180, -20),
        _node("Log", "noOp", -170, 30),
    ]
    to = {"Go": [["Keep"]], "Keep": [["Ask"]], "Ask": [["Yes"], []], "Yes": [["Log"]]}
    connections = {
        name: {"main": [[{"node": target, "type": "main", "index": 0} for target in way] for way in ways]}
        for name, ways in to.items()
    }
    found = read(json.dumps({"nodes": nodes, "connections": connections}))
    assert found.workflow.places["ask"].x == 200 - 100 * (found.workflow.start == "keep")
    workflow = opened(found).workflow
    places = workflow.places
    assert [places[i].x < places[j].x for i, j in (("keep", "ask"), ("ask", "yes"))] == [True, True]
    assert places["ask"].x - places["keep"].x >= CARD[0] + 40
    switch = next(e.id for e in workflow.edges if e.kind == "switch")
    assert places["ask"].x + CARD[0] < places[switch].x < places["ask__end"].x
    for (a, one), (b, two) in combinations(zip(drawn(workflow), boxes(workflow, drawn(workflow)), strict=True), 2):
        assert one[2] <= two[0] or two[2] <= one[0] or one[3] <= two[1] or two[3] <= one[1], (a, b)
    assert opened(found).workflow == workflow
