"""The project of a workflow for Durable Task workers: that of one process, with worker, client and their tests."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from pydantic import JsonValue

from studio.document.model import SubWorkflowNode, Workflow
from studio.export import pyproject, smoke
from studio.export.agents import Client
from studio.export.durable.findings import Finding
from studio.export.durable.flows import guarded
from studio.export.durable.readme import readme
from studio.export.durable.rules import all_findings
from studio.export.naming import identifier
from studio.export.problems import ExportProblem
from studio.export.project import embedded, export_project
from studio.export.source import literal
from studio.files.format import to_text
from studio.files.plain import plain_workflow
from studio.settings.places import resource

_PACKAGE = ("hosted_agent", "hosting", "worker", "client")
_TESTS = ("redelivering", "scripted", "test_scale_out")
_LONGEST_NAME = 63
_SETTINGS = "DURABLE_ENDPOINT=http://localhost:8080\nDURABLE_TASKHUB=default\nDURABLE_ACTIVITIES=8\n"


def export_durable(
    workflow: Workflow,
    package: str | None = None,
    folder: Path | None = None,
    *,
    layout: bool = False,
    client: Client = "chat_completions",
    smoke_test: bool = True,
) -> dict[str, str]:
    """The files of the project: relative path -> text; parameters as of :func:`export_project`.

    Raises :class:`ExportProblem` with all that the workflow does and Durable Task cannot.
    """
    whole = _whole(workflow, folder)
    refused = [finding.message for finding in all_findings(whole) if finding.refused]
    if refused:
        raise ExportProblem("\n".join(dict.fromkeys(refused)))
    name = durable_name(whole)
    files = export_project(
        _guarded(whole),
        package,
        folder,
        layout=layout,
        client=client,
        smoke_test=smoke_test,
        hosted=lambda path: inner_name(name, path),
    )
    _keep_drawing(files, whole)
    root = next(path for path in files if path.endswith("/workflow.py") and path.count("/") == 1).partition("/")[0]
    for module in _PACKAGE:
        if f"{root}/{module}.py" in files:
            raise ExportProblem(f"The module {module} has the name of a file of the export; give it another name.")
        files[f"{root}/{module}.py"] = _text(module)
    files["tests/__init__.py"] = ""
    for module in _TESTS:
        files[f"tests/{module}.py"] = _text(module).replace("PACKAGE", root).replace("CONSTANTS", _constants(whole))
    files["README.md"] = readme(workflow, root, [f.message for f in all_findings(whole)])
    files[".env.example"] += _SETTINGS
    files["pyproject.toml"] = pyproject.text(whole, root, files, durable=True)
    return dict(sorted(files.items()))


def _keep_drawing(files: dict[str, str], workflow: Workflow) -> None:
    """The layout file knows the drawing, without the conditions that only the code has."""
    path = next((path for path in files if path.endswith(".layout.json")), None)
    if path is not None:
        files[path] = to_text(json.loads(files[path]) | {"document": plain_workflow(workflow)}) + "\n"


def findings(workflow: Workflow, folder: Path | None = None) -> list[Finding]:
    """All that differs on Durable Task, each sentence once. ``folder``: where linked sub-workflows are looked for."""
    return list(dict.fromkeys(all_findings(_whole(workflow, folder))))


def _whole(workflow: Workflow, folder: Path | None) -> Workflow:
    """With linked workflows embedded."""
    nodes = [
        node.model_copy(update={"embedded": _whole(embedded(node, folder), folder)})
        if isinstance(node, SubWorkflowNode)
        else node
        for node in workflow.nodes
    ]
    return workflow.model_copy(update={"nodes": tuple(nodes)})


def _guarded(workflow: Workflow) -> Workflow:
    nodes = [
        node.model_copy(update={"embedded": _guarded(node.embedded)})
        if isinstance(node, SubWorkflowNode) and node.embedded is not None
        else node
        for node in workflow.nodes
    ]
    return guarded(workflow.model_copy(update={"nodes": tuple(nodes)}))


# ---------------------------------------------------------------------------------------------------------- names


def durable_name(workflow: Workflow) -> str:
    """The name of the orchestration. It ends with a digest of the graph: runs of another graph belong to workers that
    still have it, which a replay with these would fail."""
    slug = identifier(workflow.name).replace("_", "-").strip("-")
    version = f"_v{_digest(_graph(workflow))}"
    return f"{slug[: _LONGEST_NAME - len(version)]}{version}"


def inner_name(outer: str, path: str) -> str:
    """The name of a workflow inside: ``path`` is that of its package in the outer one; "" is the outer one itself."""
    if not path:
        return outer
    name = f"{outer}-{path.strip('/').replace('/', '-')}"
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 9]}-{_digest(name)}"


def _graph(workflow: Workflow) -> JsonValue:
    """What a replay depends on: nodes, edges, conditions; no texts, names or places."""
    nodes: list[JsonValue] = []
    for node in workflow.nodes:
        inner = node.embedded if isinstance(node, SubWorkflowNode) else None
        nodes.append([node.id, node.kind, _graph(inner) if inner is not None else None])
    edges = [edge.model_dump(mode="json", exclude={"name", "label", "default_label"}) for edge in workflow.edges]
    for edge in edges:
        for case in edge.get("cases", ()):
            case.pop("label", None)
    return {"start": workflow.start, "nodes": nodes, "edges": [*edges]}


def _digest(value: JsonValue) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:8]


# ---------------------------------------------------------------------------------------------------------- files


def _text(module: str) -> str:
    return resource("export", "durable", f"{module}.py.txt").read_text(encoding="utf-8")


def _constants(workflow: Workflow) -> str:
    """Input and replies of the tests."""
    replies = literal(smoke.replies(workflow), 0, "REPLIES: dict[str, list[str]] = ")
    about = '"""Instructions of an agent -> its replies in order; the last one is repeated."""'
    return f"{smoke.text_constant('INPUT', workflow.sample_input or 'Hello')}{replies}\n{about}"
