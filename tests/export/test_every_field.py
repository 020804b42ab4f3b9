"""Nothing that a drawing can set is lost in silence: every field of every model is in the code, or said not to be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, get_args, get_origin

import pytest
from studio.document import agent_options, conditions, model
from studio.document.frozen import Model
from studio.document.model import (
    AgentNode,
    DirectEdge,
    FunctionNode,
    GenericNode,
    HandoffEdge,
    McpServerDecl,
    RunnerNode,
    StateDecl,
    SubWorkflowNode,
    ToolDecl,
    UnknownEdge,
    Workflow,
)
from studio.export import ExportProblem, export_project, left_out
from studio.export.left_out import IN_THE_DRAWING, OF_THE_PROGRAM

from tests.assembly.test_kinds import agent, contains, direct, function, show, workflow
from tests.export import around
from tests.export.corpus import documents

REFUSED = {"HandoffEdge", "UnknownEdge", "UnknownNode"}
"""Models whose documents are refused as a whole."""
ABSTRACT = {"NodeBase", "Model"}
TAGS = {"kind"}


def _models() -> dict[str, type[Model]]:
    found: dict[str, type[Model]] = {}
    for module in (model, agent_options, conditions):
        for name, value in vars(module).items():
            if isinstance(value, type) and issubclass(value, Model) and name not in ABSTRACT | REFUSED:
                found[name] = value
    return found


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Model)


def _fields() -> set[str]:
    """``Model.field`` of all fields but the tag of a union."""
    return {
        f"{name}.{field}"
        for name, kind in _models().items()
        for field in kind.model_fields
        if not (field in TAGS and get_origin(kind.model_fields[field].annotation) is Literal)
        and not _is_model(kind.model_fields[field].annotation)  # counted by its own fields
    }


def _others(value: Any, annotation: Any) -> Iterator[Any]:
    """Other values of a field."""
    choices = [c for part in (annotation, *get_args(annotation)) if get_origin(part) is Literal for c in get_args(part)]
    yield from (choice for choice in choices if choice != value)
    match value:
        case bool():
            yield not value
        case int() | float():
            yield value + 2
            yield value + 0.5
        case str() if not choices:
            yield f"{value}x"
            yield "any"
        case tuple():
            yield value[:-1]
            yield (*value, "end")
            yield tuple(reversed(value))
        case dict():
            yield {}
            yield {**value, "more": "env:MORE"}
            yield {"type": "object", "properties": {"k": {"type": "string"}}}
        case Model():
            yield None
        case None:
            yield from ("end", 7, 0.25, True, ("end",), {"type": "object", "properties": {}})


def _changed(thing: Model) -> Iterator[tuple[str, Model]]:
    """``Model.field`` and the thing with another value there, in it and in all that it holds."""
    for name, info in type(thing).model_fields.items():
        value = getattr(thing, name)
        for other in _others(value, info.annotation):
            yield f"{type(thing).__name__}.{name}", thing.model_copy(update={name: other})
        if isinstance(value, Model):
            for field, inner in _changed(value):
                yield field, thing.model_copy(update={name: inner})
        elif isinstance(value, tuple) and value and all(isinstance(item, Model) for item in value):
            for number, item in enumerate(value):
                for field, inner in _changed(item):
                    yield field, thing.model_copy(update={name: (*value[:number], inner, *value[number + 1 :])})
        elif isinstance(value, dict):
            for key, item in value.items():
                if isinstance(item, Model):
                    for field, inner in _changed(item):
                        yield field, thing.model_copy(update={name: {**value, key: inner}})


def _written(flow: Workflow) -> Any:
    """The code, without the README, which says what is left out."""
    return {path: text for path, text in export_project(flow, "same").items() if path != "README.md"}


def _bases() -> Mapping[str, Workflow]:
    """Documents that set everything somewhere."""
    asked = McpServerDecl(
        name="web", transport="http", url="http://127.0.0.1:1/", headers={"X-Key": "env:KEY"}, approval="always"
    )
    local = McpServerDecl(name="local", command="serve", environment={"KEY": "env:KEY"}, tools=("a",))
    more = workflow(
        [agent("a", mcp_servers=("web", "local"), tools=("look",)), function("end", "result = data", yields="text")],
        [direct("a", "end", contains("x"))],
        mcp_servers=(asked, local), state=(StateDecl(key="n", initial=1),), modules=(around.LIB,), tools=around.TOOLS,
        outputs=("a",), intermediate=("end",), description="About.", sample_input="in",
    )  # fmt: skip
    passing = workflow([GenericNode(id="p", name="P", kind="pass"), show()])
    called = workflow([FunctionNode(id="end", name="F", call="lib:look"), show()], modules=(around.LIB,))
    return {"more": more, "passing": passing, "called": called, **around.documents(), **documents()}


def _silent(waiting: set[str], bases: Iterable[Workflow]) -> set[str]:
    """The fields of which no other value, in no document, changed the code or was said to be left out."""
    for base in bases:
        try:
            before, said = _written(base), left_out(base)
        except ExportProblem:
            continue
        for field, changed in _changed(base):
            if field not in waiting:
                continue
            assert isinstance(changed, Workflow)
            try:
                loud = _written(changed) != before or left_out(changed) != said
            except (ExportProblem, KeyError):
                loud = True  # refused, or looked up
            except (ValueError, AttributeError, TypeError, AssertionError, UserWarning):
                continue  # no document that validation would let through
            if loud:
                waiting = waiting - {field}
        if not waiting:
            break
    return waiting


LISTED = IN_THE_DRAWING.keys() | OF_THE_PROGRAM.keys()


def test_no_field_is_lost_in_silence() -> None:
    lost = sorted(_silent(_fields() - LISTED, _bases().values()))
    assert not lost, "\n".join(lost)


def test_the_lists_of_what_is_no_code_are_true() -> None:
    assert sorted(LISTED - _fields()) == [], "fields that there are"
    some = [flow for name, flow in _bases().items() if name in ("more", "passing", "called", "case_embedded", "limit")]
    in_the_code = LISTED - _silent(set(LISTED), [*some, documents()["template_research_brief"]])
    assert not in_the_code, "\n".join(sorted(in_the_code))


def test_what_is_left_out_is_said_with_names() -> None:
    flow = workflow(
        [agent("a", tools=("look",), profile="Work"), agent("b", profile="Work")], tools=(ToolDecl(name="look"),)
    )
    found = {item.setting.split()[0]: item for item in left_out(flow)}
    assert found["AgentNode.profile"].items == ("A", "B")
    assert "environment" in found["AgentNode.profile"].text
    assert found["ToolLoop.max_repeats"].items == ("A",)
    readme = export_project(flow)["README.md"]
    assert "## Otherwise than on the canvas" in readme
    assert "- A, B: the provider is not written" in readme
    assert "Otherwise" not in export_project(workflow([function("f", "result = data", yields="text")]))["README.md"]


def test_middleware_on_updates_is_named_for_servers_that_stream_texts_twice() -> None:
    """On the real framework the text of the answer is there twice then."""
    flow = around.documents()["middleware chat updates"]
    (found,) = set(left_out(flow, "responses")) - set(left_out(flow))
    assert found.items == ("A",)
    assert "may give its text twice" in export_project(flow, client="responses")["README.md"]
    other = around.documents()["middleware call"]
    assert left_out(other, "responses") == left_out(other)


def test_edges_that_code_cannot_have_are_refused() -> None:
    nodes = (agent("a"), agent("b"))
    for edge, words in (
        (HandoffEdge(id="h", source="a", target="b"), "hand-off"),
        (UnknownEdge(id="u", kind="tunnel"), "tunnel"),
    ):
        flow = Workflow(start="a", nodes=nodes, edges=(DirectEdge(id="e", source="a", target="b"), edge))
        with pytest.raises(ExportProblem, match=words):
            export_project(flow)
        outer = Workflow(start="s", nodes=(SubWorkflowNode(id="s", name="S", embedded=flow),))
        with pytest.raises(ExportProblem, match=words):
            export_project(outer)


def test_a_runner_without_agents_and_an_agent_without_anything_to_say() -> None:
    with pytest.raises(ExportProblem, match="has no agent"):
        export_project(Workflow(start="r", nodes=(RunnerNode(id="r", name="R"),)))
    assert left_out(Workflow(start="a", nodes=(AgentNode(id="a", name="A"),))) == ()
