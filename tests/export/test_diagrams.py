"""Mermaid and DOT, read by their real parsers: every kind of node and edge, nasty names, the templates."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pydot
import pytest
from studio.document.conditions import Condition, Rule
from studio.document.model import (
    AgentNode,
    DirectEdge,
    FanInEdge,
    FanOutEdge,
    FunctionNode,
    GenericNode,
    Group,
    HandoffEdge,
    HumanInputNode,
    JoinNode,
    Place,
    SubWorkflowNode,
    SwitchCase,
    SwitchEdge,
    TemplateNode,
    Workflow,
)
from studio.export.diagram import Diagram, diagram, printable
from studio.export.dot import dot
from studio.export.mermaid import mermaid
from studio.files import loads
from studio.settings.places import resource

from tests.fuzz.names import NASTY

_PARSE = """
import asyncio, json, sys
from mermaid_parser import MermaidParser
parser = MermaidParser()
print(json.dumps([parser.parse(text)["graph_data"] for text in json.load(sys.stdin)]))
"""


def every_kind(name: str) -> Workflow:
    """A drawing with each kind of node and edge, all of this name."""
    a, b = AgentNode(id="a", name=name), AgentNode(id="b", name=name + name)
    others = [FunctionNode(id="f", name=name), HumanInputNode(id="h", name=name), TemplateNode(id="t", name=name)]
    others += [SubWorkflowNode(id="s", name=name), JoinNode(id="j", name=name)]
    others += [GenericNode(id="end", name=name, kind="pass")]
    condition = Condition(rule=Rule(op="contains", value=name))
    edges = [
        DirectEdge(id="e1", source="a", target="f", condition=condition),
        DirectEdge(id="e2", source="f", target="f", label=name),
        HandoffEdge(id="e3", source="a", target="b", reason=name),
        SwitchEdge(
            id="e4", name=name, source="f", cases=(SwitchCase(id="c1", condition=condition, target="h"),),
            default="t", default_label=name,
        ),
        FanOutEdge(id="e5", name=name, source="b", targets=("h", "t"), selection={"h": condition}),
        FanInEdge(id="e6", sources=("h", "t"), target="j"),
        DirectEdge(id="e7", source="j", target="s"),
        DirectEdge(id="e8", source="s", target="end"),
    ]  # fmt: skip
    groups = (Group(id="g", name=name, members=("a", "b")),)
    places = {"a": Place(x=8, y=-16)}
    return Workflow(
        id="w", name=name, start="a", nodes=(a, b, *others), edges=tuple(edges), outputs=("end",), groups=groups,
        places=places,
    )  # fmt: skip


def drawings() -> Iterator[Workflow]:
    yield from (every_kind(name) for name in NASTY)
    for file in sorted(resource("templates").glob("*.workflow.json")):
        yield loads(file.read_text(encoding="utf-8"))


FLOWS = list(drawings())


@pytest.fixture(scope="module")
def parsed() -> list[Any]:
    """What the parser of Mermaid itself read; in a process of its own, since it brings a JavaScript engine."""
    texts = json.dumps([mermaid(flow) for flow in FLOWS])
    done = subprocess.run(
        [sys.executable, "-c", _PARSE], input=texts, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: list[Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def shown(text: str) -> str:
    """Mermaid keeps character numbers in a form of its own until it draws them."""
    return re.sub(r"ﬂ°°(\d+)¶ß", lambda m: chr(int(m[1])), text)


def test_mermaid_reads_what_was_meant(parsed: list[Any]) -> None:
    for flow, read in zip(FLOWS, parsed, strict=True):
        drawing = diagram(flow)
        assert {v["id"]: shown(v["text"]).strip() for v in read["vertices"].values()} == labels(drawing)
        assert [(e["start"], e["end"], shown(e.get("text") or "")) for e in read["edges"]] == [
            (a.source, a.target, a.label) for a in drawing.arrows
        ]
        assert [sorted(g["nodes"]) for g in read["subGraphs"]] == [sorted(f.members) for f in drawing.frames]


def labels(drawing: Diagram) -> dict[str, str]:
    return {box.key: box.label for box in drawing.boxes}


@pytest.mark.filterwarnings("ignore:.*deprecated - use:DeprecationWarning")  # pydot's, with the pyparsing of today
@pytest.mark.parametrize("flow", FLOWS, ids=range(len(FLOWS)))
def test_dot_reads_what_was_meant(flow: Workflow) -> None:
    read = pydot.graph_from_dot_data(dot(flow))
    assert read is not None
    assert len(read) == 1
    graph, drawing = read[0], diagram(flow)
    nodes = {n.get_name(): plain(n.get("label")) for n in graph.get_nodes() if n.get_name() not in ("node", "edge")}
    assert nodes == labels(drawing)
    assert sorted((e.get_source(), e.get_destination(), plain(e.get("label"))) for e in graph.get_edges()) == sorted(
        (a.source, a.target, a.label) for a in drawing.arrows
    )
    assert [plain(s.get("label")) for s in graph.get_subgraphs()] == [f.label for f in drawing.frames]


def plain(text: str | None) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if text else ""


def test_marks_and_places_are_kept() -> None:
    flow = every_kind("x")
    assert 'pos="81,-12!"' in dot(flow)
    assert "class n1,n8 ends" in mermaid(flow)


def test_a_text_that_no_language_takes_is_made_printable() -> None:
    assert printable("a\x00b\u202ec\n\td ") == "abc d"
    assert all(printable(name).isprintable() for name in NASTY)
