"""Code of a document: what it is, who accepted it."""

from __future__ import annotations

from studio.document.conditions import Condition
from studio.document.model import (
    DirectEdge,
    FunctionNode,
    JoinNode,
    ModuleDecl,
    SubWorkflowNode,
    TemplateNode,
    ToolDecl,
    Workflow,
)
from studio.settings import places, trust
from studio.settings.trust import TrustList


def document(body: str = "result = data", **fields: object) -> Workflow:
    return Workflow(id="w", nodes=(FunctionNode(id="f", name="F", body=body),), **fields)  # type: ignore[arg-type]


def fresh() -> TrustList:
    return TrustList(places.data_dir() / "trust.json")


def test_every_executable_part_is_listed_with_its_place() -> None:
    inner = Workflow(nodes=(FunctionNode(id="g", name="G", body="inner"),))
    workflow = Workflow(
        nodes=(
            FunctionNode(id="f", name="F", call="m:f"),
            JoinNode(id="j", name="J", merge="code", body="join"),
            JoinNode(id="k", name="K", body="not used"),
            SubWorkflowNode(id="s", name="S", embedded=inner),
        ),
        edges=(DirectEdge(id="e", source="f", target="j", condition=Condition(kind="python", body="True")),),
        modules=(ModuleDecl(name="m", source="def f(x): pass"),),
        tools=(ToolDecl(name="t", call="m:f"),),
        interpreter="/usr/bin/python3",
    )
    assert trust.executable_parts(workflow) == [
        ("f", "m:f"),
        ("j", "join"),
        ("s/g", "inner"),
        ("e", "True"),
        ("m", "def f(x): pass"),
        ("t", "m:f"),
        ("", "/usr/bin/python3"),
    ]


def test_code_is_accepted_by_content_and_stays_accepted() -> None:
    workflow = document()
    assert not trust.is_trusted(workflow)
    trust.trust(workflow)
    assert trust.is_trusted(workflow)
    assert fresh().is_trusted(document("result = data  \r\n"))
    assert fresh().is_trusted(workflow.model_copy(update={"name": "Other", "id": "x"}))
    assert not fresh().is_trusted(document("result = data + 1"))
    assert [p.place for p in fresh().untrusted(document("other"))] == ["f"]


def test_a_document_without_code_is_trusted() -> None:
    assert fresh().is_trusted(Workflow(nodes=(TemplateNode(id="t", name="T"),)))


def test_the_same_text_as_another_kind_of_code_is_not_accepted() -> None:
    accepted = fresh()
    accepted.trust(Workflow(nodes=(FunctionNode(id="f", name="F", call="m:f"),)))
    assert not accepted.is_trusted(document("m:f"))


def test_typed_code_is_accepted_as_typed_and_kept_when_saved() -> None:
    accepted = fresh()
    start = Workflow()
    typed = document("r")
    accepted.accept_typed(start, typed)
    accepted.accept_typed(typed, document("result"))
    assert accepted.is_trusted(document("result"))
    assert not fresh().is_trusted(document("result"))
    accepted.keep_typed(document("result"))
    assert fresh().is_trusted(document("result"))
    assert not fresh().is_trusted(document("r"))


def test_typing_in_code_that_nobody_accepted_does_not_accept_it() -> None:
    accepted = fresh()
    accepted.accept_typed(document("evil()"), document("evil() # harmless"))
    assert not accepted.is_trusted(document("evil() # harmless"))


def test_a_damaged_list_accepts_nothing_and_is_kept_apart() -> None:
    path = places.data_dir() / "trust.json"
    path.write_text("[1")
    assert not fresh().is_trusted(document())
    assert "trust.json.broken" in fresh().problem
    fresh().trust(document())
    assert fresh().is_trusted(document())
    assert (places.data_dir() / "trust.json.broken").read_text() == "[1"
