"""The files of an export for Durable Task: names, versions, texts from hell, secrets."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from studio.document.conditions import Condition, Rule
from studio.document.model import DirectEdge, ModuleDecl, SubWorkflowNode, Workflow
from studio.export import ExportProblem, export_project
from studio.export.durable import export_durable
from studio.files import write_project, write_workflow
from studio.importers import read

from tests.assembly.test_kinds import agent, direct, function, show, workflow
from tests.export.corpus import documents
from tests.export.test_hostile import canaries, named
from tests.fuzz.names import NASTY


def name_in(source: str) -> str:
    found = re.search(r'^WORKFLOW_NAME = "(.*)"$', source, re.MULTILINE)
    assert found is not None
    return found[1]


def graph(*nodes: str, **fields: object) -> Workflow:
    return workflow([agent(n) for n in nodes], **fields)


def orchestration(flow: Workflow) -> str:
    return name_in(export_durable(flow, "pkg")["pkg/workflow.py"])


def test_the_files() -> None:
    """Those of one process, the same but for the name of the workflow, and what workers need."""
    flow = documents()["template_support_triage"]
    plain, hosted = export_project(flow, "triage"), export_durable(flow, "triage")
    package = {"triage/hosted_agent.py", "triage/hosting.py", "triage/worker.py", "triage/client.py"}
    tests = {f"tests/{name}.py" for name in ("__init__", "redelivering", "scripted", "test_scale_out")}
    assert hosted.keys() - plain.keys() == package | tests
    changed = {path for path in plain if plain[path] != hosted[path]}
    assert changed == {".env.example", "README.md", "pyproject.toml", "triage/workflow.py"}
    name = name_in(hosted["triage/workflow.py"])
    without = hosted["triage/workflow.py"].replace(f'WORKFLOW_NAME = "{name}"\n\n', "")
    assert without.replace("name=WORKFLOW_NAME", 'name="support-triage"') == plain["triage/workflow.py"]


def test_the_dependencies_are_those_that_were_tried() -> None:
    made = tomllib.loads(export_durable(graph("a"), "pkg")["pyproject.toml"])
    assert made["project"]["optional-dependencies"]["durabletask"] == [
        "agent-framework-durabletask==1.0.0b260922",
        "durabletask==1.12.*",
        "durabletask-azuremanaged==1.12.*",
    ]
    assert made["project"]["scripts"]["pkg-worker"] == "pkg.worker:main"
    settings = export_durable(graph("a"), "pkg")[".env.example"]
    assert "DURABLE_ENDPOINT=http://localhost:8080\n" in settings


def test_the_name_changes_with_the_graph_alone() -> None:
    """A run of another graph must not be replayed by these workers; one of the same graph may."""
    flow = graph("a", "b")
    same = flow.model_copy(
        update={"nodes": tuple(n.model_copy(update={"instructions": "Other.", "name": "X"}) for n in flow.nodes)}
    )
    assert orchestration(flow) == orchestration(same)
    labelled = flow.model_copy(update={"edges": tuple(e.model_copy(update={"label": "L"}) for e in flow.edges)})
    assert orchestration(flow) == orchestration(labelled)
    rule = Condition(name="when", rule=Rule(op="contains", value="x"))
    others = [
        graph("a", "b", "c"),
        graph("b", "a"),
        workflow([agent("a"), agent("b")], [direct("a", "b", rule)]),
        workflow([agent("a"), function("b", "result = data")]),
    ]
    assert len({orchestration(other) for other in [flow, *others]}) == 5


def test_workflows_inside_have_names_of_their_own() -> None:
    """Two of the same name would take each other's work."""
    inner = workflow([SubWorkflowNode(id="deep", name="Deep", embedded=graph("x"))])
    nodes = [SubWorkflowNode(id=i, name="Sub", embedded=inner) for i in ("one", "two")]
    files = export_durable(workflow([*nodes, show()], [direct("one", "two"), direct("two", "show")]), "pkg")
    found = {path: name_in(text) for path, text in files.items() if path.endswith("/workflow.py")}
    outer = found.pop("pkg/workflow.py")
    assert sorted(found.values()) == [f"{outer}-one", f"{outer}-one-deep", f"{outer}-two", f"{outer}-two-deep"]


def test_long_and_nasty_names_are_names_of_a_task_hub() -> None:
    from agent_framework_durabletask import validate_workflow_name

    long = workflow([SubWorkflowNode(id="s" * 80, name="Sub", embedded=graph("x")), show()])
    for name in (*NASTY, "x" * 300):
        for path, text in export_durable(long.model_copy(update={"name": name}), "pkg").items():
            if path.endswith("/workflow.py"):
                validate_workflow_name(name_in(text))


def test_nasty_texts_give_clean_code(tmp_path: Path) -> None:
    for number, text in enumerate(NASTY):
        files = export_durable(named(text), f"nasty_{number}")
        for path, source in files.items():
            if path.endswith(".py"):
                ast.parse(source, path)
        tomllib.loads(files["pyproject.toml"])
        write_project(files, tmp_path / f"nasty_{number}")
    for command in (["format", "--diff"], ["check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--no-cache", "."],
            cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-3000:]


def test_no_secret_leaves_the_document(monkeypatch: pytest.MonkeyPatch) -> None:
    flow, planted = canaries(monkeypatch)
    text = "\n".join(export_durable(flow).values())
    assert [canary for canary in planted if canary in text] == []


def test_a_linked_workflow_is_looked_at_too(tmp_path: Path) -> None:
    write_workflow(graph("x").model_copy(update={"name": "Linked"}), tmp_path / "linked.workflow.json")
    flow = workflow([SubWorkflowNode(id="sub", name="Sub", path="linked.workflow.json"), show()])
    assert "pkg/sub/workflow.py" in export_durable(flow, "pkg", tmp_path)
    with pytest.raises(ExportProblem, match="Sub has no workflow inside"):
        export_durable(flow, "pkg")


def test_a_module_of_the_document_may_not_hide_one_of_the_export() -> None:
    flow = graph("a").model_copy(update={"modules": (ModuleDecl(name="worker", source="x = 1\n"),)})
    with pytest.raises(ExportProblem, match="The module worker has the name of a file of the export"):
        export_durable(flow)


def test_what_differs_stands_in_the_readme() -> None:
    case = direct("a", "a", Condition(name="again", rule=Rule(op="contains", value="x")))
    flow = workflow([agent("a"), show()], [case, DirectEdge(id="e", source="a", target="show")], max_supersteps=900)
    assert "* The loops may take 900 supersteps." in export_durable(flow, "pkg")["README.md"]


def test_every_export_is_the_same() -> None:
    for name in ("template_research_brief", "case_agents_inside"):
        assert export_durable(documents()[name]) == export_durable(documents()[name])


def test_the_code_comes_back_as_the_drawing(tmp_path: Path) -> None:
    """With positions as it was, also where the code has conditions of its own; without them by its graph and name."""
    for name in ("template_concurrent", "template_support_triage", "case_embedded"):
        flow = documents()[name]
        write_project(export_durable(flow, name, layout=True), tmp_path / name)
        found = read(tmp_path / name / name / "workflow.py")
        assert (found.workflow, found.edits) == (flow, ())
        (tmp_path / name / name / f"{name}.layout.json").unlink()
        alone = read(tmp_path / name / name / "workflow.py")
        assert {n.id for n in alone.workflow.nodes} == {n.id for n in flow.nodes}
        assert alone.workflow.name == flow.name.lower().replace(" ", "-")
        assert "WORKFLOW_NAME" not in [e.item for e in alone.report.entries]
