"""The text of workflow files: order, lines, what survives, what is refused and where."""

from __future__ import annotations

import difflib
import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from studio.document import commands
from studio.document.conditions import Condition, Rule
from studio.document.model import AgentNode, DirectEdge, OfflineScript, Place, StateDecl, SubWorkflowNode, Workflow
from studio.files import FileProblem, dumps, json_schema, loads, migrations
from studio.files.format import MAX_BYTES, decode
from studio.files.locate import locate

from tests.document.building import Drawing
from tests.document.strategies import workflows

SMALL = {"format": "superstep-workflow", "version": 1, "id": "w", "name": "W"}


def small(**values: Any) -> str:
    return json.dumps({**SMALL, **values})


def changed_lines(before: Workflow, after: Workflow) -> list[str]:
    delta = difflib.ndiff(dumps(before).splitlines(), dumps(after).splitlines())
    return [line for line in delta if line[0] in "+-"]


def test_small_changes_are_small_differences() -> None:
    drawing = Drawing("agent", "agent")
    drawing.set("agent", instructions="One\nTwo\nThree")
    first = drawing.workflow
    drawing.do(commands.move_items({"agent": Place(x=16, y=0)}))
    assert changed_lines(first, drawing.workflow) == ['-         "x": 0,', '+         "x": 16,']
    drawing.workflow = first
    drawing.set("agent", instructions="One\nTwice\nThree")
    assert changed_lines(first, drawing.workflow) == ['-         "Two",', '+         "Twice",']


def test_logic_stands_before_geometry_and_defaults_are_left_out() -> None:
    drawing = Drawing("agent")
    data = json.loads(dumps(drawing.workflow))
    assert list(data) == ["format", "version", "id", "name", "start", "nodes", "geometry"]
    assert list(data["nodes"][0]) == ["id", "kind", "name", "instructions"]
    assert data["geometry"] == {"places": {"agent": {"x": 0, "y": 0}}}


def test_unknown_things_survive_unchanged() -> None:
    node = {
        "id": "n",
        "kind": "warp",
        "name": "N",
        "speed": 9.5,
        "texts": ["a", "b"],
        "deep": {"z": [1, None], "a": {}},
    }
    known = {"id": "a", "kind": "agent", "name": "A", "mood": {"z": 1, "a": [True]}}
    edge = {"id": "e", "kind": "wormhole", "source": "n", "target": "a", "via": [[1]]}
    geometry = {"places": {"n": {"x": 1, "y": 2, "z": 3}}, "camera": {"zoom": 0.5}}
    inner = {"id": "in", "name": "In", "later": 1, "geometry": {"places": {"x": {"x": 0, "y": 0}}, "grid": 4}}
    sub = {"id": "s", "kind": "sub_workflow", "name": "S", "embedded": inner}
    text = json.dumps(
        {**SMALL, "nodes": [node, known, sub], "edges": [edge], "future": {"b": 1, "a": 2}, "geometry": geometry},
        indent=2,
    )
    assert dumps(loads(text)) == text + "\n"


def test_texts_of_the_script_may_be_lines() -> None:
    replies: list[Any] = [{"text": "a\nb"}, {"chunks": ["a\n", "b"]}, {"calls": [{"id": "1"}]}, "odd"]
    workflow = Workflow(id="w", offline=OfflineScript(nodes={"n": {"replies": replies, "then": "repeat_last"}}))
    data = json.loads(dumps(workflow))
    assert data["offline"]["nodes"]["n"]["replies"][0] == {"text": ["a", "b"]}
    assert loads(dumps(workflow)) == workflow


def test_odd_texts_survive() -> None:
    for text in ("\ud800", "a\r\nb\u2028c", "\x00\x1f", "“日本” 🙂", "\n", "tab\there"):
        workflow = Workflow(id="w", nodes=(AgentNode(id="a", name=text, instructions=text),))
        assert loads(decode(dumps(workflow).encode())) == workflow


@settings(max_examples=25, deadline=None)
@given(workflows())
def test_what_is_written_fits_the_schema(workflow: Workflow) -> None:
    VALIDATOR.validate(json.loads(dumps(workflow)))


VALIDATOR = jsonschema.Draft202012Validator(json_schema())


@pytest.mark.parametrize(
    "values",
    [
        {"version": 2},
        {"format": "other"},
        {"nodes": [{"id": "a", "kind": "agent", "name": "A", "tools": 5}]},
        {"edges": [{"id": "a", "kind": "direct", "source": "b"}]},
        {"geometry": {"places": {"a": {"x": "left", "y": 0}}}},
    ],
)
def test_the_schema_refuses_what_the_program_refuses(values: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema())
    assert list(VALIDATOR.iter_errors({**SMALL, **values}))
    with pytest.raises(FileProblem):
        loads(small(**values))


@pytest.mark.parametrize(
    ("text", "part", "place"),
    [
        ("", "is empty", ""),
        ("  \n", "is empty", ""),
        ("hello", "not a workflow", "line 1, column 1"),
        ("[1, 2]", "not a workflow", "line 1, column 1"),
        ('{"nodes": []}', "not a workflow", "line 1, column 1"),
        ('{"format": "langflow"}', "format 'langflow'", "line 1, column 12"),
        ('{"format": "superstep-workflow"}', "which version", "line 1, column 1"),
        ('{"format": "superstep-workflow",\n "version": "1"}', "which version", "line 2, column 13"),
        ('{"format": "superstep-workflow",\n "version": 12}', "version 12 .* up to version 1", "line 2, column 13"),
        (small()[:-9], "ends too early", "line 1"),
        (small() + "x", "damaged", "line 1"),
        (small().replace('"W"', "NaN"), "NaN is not a number", ""),
        (small(geometry={"places": {"a": {"x": 0, "y": 0}}}).replace('"y": 0', '"y": 1e999'), "too large", ""),
        ("<<<<<<< mine\n{}\n=======\n", "unfinished merge", "line 1, column 1"),
        ("[" * 100_000, "nested too deeply", ""),
        (small(future=0).replace("0}", "[" * 400 + "]" * 400 + "}"), "nested too deeply", ""),
        ('{"format": "superstep-workflow", "version": 1, "nodes": 5}', "value of nodes", "line 1, column 57"),
        (
            '{"format": "superstep-workflow", "version": 1,\n "nodes": [{"id": "a", "kind": "agent",\n  "name": 7}]}',
            r"nodes\.0\.name does not fit",
            "line 3, column 11",
        ),
        (
            '{"format": "superstep-workflow", "version": 1,\n "geometry": {"places": {"AgentNode": {"x": 1}}}}',
            r"geometry\.places\.AgentNode\.y|geometry\.places\.y",
            "line 2",
        ),
    ],
)
def test_bad_texts_say_what_where_and_the_way_out(text: str, part: str, place: str) -> None:
    with pytest.raises(FileProblem, match=part) as caught:
        loads(text)
    assert caught.value.place.startswith(place)
    assert caught.value.way_out.endswith(".")
    assert caught.value.message.endswith(".")


def test_every_cut_of_a_file_is_a_problem() -> None:
    text = dumps(Drawing("agent", "switch", "join").workflow).rstrip()
    for end in range(0, len(text), 7):
        with pytest.raises(FileProblem):
            loads(text[:end])


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(FileProblem, match="not UTF-8") as caught:
        decode(b'{\n  "a": \xff}')
    assert caught.value.line == 2
    with pytest.raises(FileProblem, match="MB"):
        decode(b" " * (MAX_BYTES + 1))
    assert decode(b"\xef\xbb\xbf{}") == "{}"


def test_older_versions_are_lifted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio.files.migrations.VERSION", 2)
    monkeypatch.setattr("studio.files.format.VERSION", 2)
    monkeypatch.setattr(migrations, "MIGRATIONS", {1: lambda data: {**data, "name": data.pop("title")}})
    text = json.dumps({"format": "superstep-workflow", "version": 1, "title": "Old"})
    assert loads(text).name == "Old"


def test_an_inner_workflow_has_its_own_geometry() -> None:
    inner = Drawing("agent").workflow
    workflow = Workflow(id="w", nodes=(SubWorkflowNode(id="s", name="S", embedded=inner),))
    assert json.loads(dumps(workflow))["nodes"][0]["embedded"]["geometry"]["places"]["agent"] == {"x": 0, "y": 0}
    assert loads(dumps(workflow)) == workflow


def test_locate_passes_over_missing_steps() -> None:
    text = '{"a": [1,\n {"b": "x,]}"}, 3],\n "c": 4}'
    assert locate(text, ["a", 1, "b"]) == (2, 8)
    assert locate(text, ["a", 2]) == (2, 17)
    assert locate(text, ["c"]) == (3, 7)
    assert locate(text, ["a", 9]) == locate(text, ["a"])


def test_a_value_with_line_breaks_stays_a_text() -> None:
    """Fields of any JSON value: a list of lines there would come back as a list."""
    rule = Rule(op="equals", path="text", value="two\nlines")
    edge = DirectEdge(id="e", source="a", target="b", condition=Condition(rule=rule))
    workflow = Workflow(id="w", edges=(edge,), state=(StateDecl(key="k", initial="two\nlines"),))
    assert loads(dumps(workflow)) == workflow
