"""Steps of other programs that run here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from studio.document.model import FanInEdge, FunctionNode, GenericNode, SubWorkflowNode, Workflow
from studio.document.validate import problems
from studio.importers import read
from studio.importers.runnable import runnable

SAMPLES = Path(__file__).parent / "samples"


def one(kind: str, joins: bool = False, **extra: Any) -> Any:
    node = GenericNode.model_validate({"id": "n", "name": "N", "kind": kind, "description": "D", **extra})
    edges = (FanInEdge(id="f", sources=("a", "b"), target="n"),) if joins else ()
    found = runnable(Workflow(nodes=(node,), edges=edges)).nodes[0]
    assert (found.id, found.name, found.description) == ("n", "N", "D")
    return found


@pytest.mark.parametrize("kind", ["input", "switch"])
def test_what_only_passes_on(kind: str) -> None:
    assert one(kind).kind == "pass"


def test_an_end_takes_and_sends_nothing() -> None:
    found = one("end")
    assert (found.kind, found.sends, found.yields, found.accepts) == ("function", "", None, "any")


def test_an_output_yields() -> None:
    assert (one("output").kind, one("output").yields, one("output").sends) == ("function", "text", "")
    assert one("output", text="{{#g.output#}}").kind == "output"


def test_a_transform_is_a_template_or_a_join() -> None:
    assert one("transform").text == "{text}"
    assert one("transform", template="Say {text} to {state.name}").kind == "template"
    assert one("transform", template="Make a rhyme about {thing}.").kind == "transform"
    assert one("transform", expression="upper(x)").kind == "transform"
    assert one("transform", joins=True).kind == "join"
    assert one("transform", joins=True, template="A {text}").kind == "transform"


@pytest.mark.parametrize("kind", ["placeholder", "loop", "set_variable", "pass"])
def test_the_others_stay(kind: str) -> None:
    assert one(kind).kind == kind


def test_workflows_inside_too() -> None:
    inner = Workflow(nodes=(GenericNode(id="e", name="E", kind="end"),))
    found = runnable(Workflow(nodes=(SubWorkflowNode(id="s", name="S", embedded=inner),))).nodes[0]
    assert isinstance(found, SubWorkflowNode)
    assert found.embedded is not None
    assert isinstance(found.embedded.nodes[0], FunctionNode)


def test_an_imported_team_has_no_step_left_that_cannot_run() -> None:
    raw = read(SAMPLES / "autogen-studio" / "04_graph_flow.json").workflow
    assert "transform" in {node.kind for node in raw.nodes}
    assert [p.message for p in problems(runnable(raw)) if p.code == "cannot_run"] == []
