"""Code of a document: what it is, who accepted it."""

from __future__ import annotations

from pathlib import Path

from studio.document.conditions import Condition
from studio.document.model import (
    DirectEdge,
    FunctionNode,
    JoinNode,
    McpServerDecl,
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


def served(*arguments: str, **fields: object) -> Workflow:
    server = McpServerDecl(name="tiny", command="python", arguments=arguments, **fields)  # type: ignore[arg-type]
    return Workflow(id="w", mcp_servers=(server,))


def test_a_command_line_is_accepted_for_the_folder_in_which_it_runs() -> None:
    here, there = Path("/projects/here"), Path("/projects/there")
    accepted = fresh()
    accepted.trust(served("server.py"), here)
    assert fresh().is_trusted(served("server.py"), here)
    assert fresh().is_trusted(served("server.py").model_copy(update={"name": "Renamed"}), here / "." / "x" / "..")
    assert not fresh().is_trusted(served("server.py"), there)
    assert not fresh().is_trusted(served("server.py"))
    for changed in (
        served("server.py", "--all"),
        served("server.py", folder="tools"),
        served("server.py", environment={"TOKEN": "env:TOKEN"}),
    ):
        assert not fresh().is_trusted(changed, here)
    [asked] = fresh().untrusted(served("server.py", folder="../tools"), there)
    assert asked.text == "program: python server.py\nfolder: /projects/tools"


def test_a_server_inside_an_embedded_workflow_runs_in_the_folder_of_the_file() -> None:
    outer = Workflow(nodes=(SubWorkflowNode(id="s", name="S", embedded=served("server.py")),))
    fresh().trust(outer, Path("/projects/here"))
    assert fresh().is_trusted(served("server.py"), Path("/projects/here"))
    assert not fresh().is_trusted(outer, Path("/projects/there"))


def test_saving_elsewhere_takes_what_was_accepted_along_and_nothing_else() -> None:
    accepted = fresh()
    unsaved = served("server.py")
    accepted.trust(unsaved)
    accepted.moved(unsaved, None, Path("/projects/here"))
    assert fresh().is_trusted(unsaved, Path("/projects/here"))
    unknown = served("evil.py")
    accepted.moved(unknown, None, Path("/projects/here"))
    assert not fresh().is_trusted(unknown, Path("/projects/here"))


def test_the_folder_of_an_address_or_of_plain_code_does_not_matter() -> None:
    far = Workflow(mcp_servers=(McpServerDecl(name="far", transport="http", url="https://example.com/mcp"),))
    for workflow in (far, document()):
        fresh().trust(workflow, Path("/projects/here"))
        assert fresh().is_trusted(workflow, Path("/projects/there"))
