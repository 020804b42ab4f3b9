"""A document as a Python project for Microsoft Agent Framework."""

from __future__ import annotations

import json
from pathlib import Path

from studio.document.model import AgentNode, SubWorkflowNode, Workflow
from studio.document.tools import code_modules
from studio.document.types import RUNNABLE
from studio.export import executors, junctions, smoke
from studio.export.agents import VARIABLES, agents_module
from studio.export.layout import layout_file
from studio.export.python_types import types_module
from studio.export.source import identifier, literal, one_line, region, string, with_relative_imports
from studio.export.workflow_module import workflow_module
from studio.settings.places import resource

CORE, OPENAI = "agent-framework-core==1.23.*", "agent-framework-openai==1.17.*"


class ExportProblem(Exception):
    """The document cannot be exported; the message is a sentence with the way out."""


def export_project(
    workflow: Workflow, package: str | None = None, folder: Path | None = None, *, layout: bool = False
) -> dict[str, str]:
    """The files of the project: relative path -> text. Deterministic; nothing of the document is run.

    ``package`` defaults to the workflow's name as an identifier. ``folder`` is where linked sub-workflows are looked
    for. ``layout`` adds the file with positions and digests, by which an edited export is read back. Raises
    :class:`ExportProblem` for what cannot be written as code.
    """
    name = identifier(package or workflow.name)
    _check(workflow)
    layout_name = f"{name}.layout.json" if layout else ""
    package_files = _package(workflow, layout_name, folder, inner=False)
    files = {f"{name}/{path}": text for path, text in package_files.items()}
    if layout:
        files[f"{name}/{layout_name}"] = layout_file(workflow, package_files)
    files["pyproject.toml"] = _pyproject(workflow, name)
    files["README.md"] = _readme(workflow, name)
    files[".env.example"] = "".join(f"{variable}=\n" for variable in VARIABLES)
    files["tests/test_smoke.py"] = smoke.test_module(workflow, name)
    return dict(sorted(files.items()))


def _check(workflow: Workflow) -> None:
    if workflow.node(workflow.start or "") is None:
        raise ExportProblem("The workflow has no start node. Mark one node as the start, then export again.")
    for node in workflow.nodes:
        if node.kind not in RUNNABLE or node.kind == "runner":
            raise ExportProblem(f"{node.name or node.id} is of a kind ({node.kind}) that cannot be written as code.")
        if isinstance(node, AgentNode) and node.host == "turn_token":
            raise ExportProblem(f"{node.name} uses the C# turn token host, which has no Python code yet.")
        if isinstance(node, AgentNode) and node.mcp_servers:
            raise ExportProblem(f"{node.name} uses MCP servers, which have no Python code yet.")


def _package(workflow: Workflow, layout: str, folder: Path | None, *, inner: bool) -> dict[str, str]:
    files = {"__init__.py": f'"""{_title(workflow)}."""\n'}
    main = "" if inner else _main(workflow)
    files["workflow.py"] = workflow_module(workflow, layout, main)
    files["agents.py"] = agents_module(workflow)
    files["support.py"] = _support(inner)
    files |= {f"{module}.py": text for module, text in executors.modules(workflow).items()}
    types = types_module(workflow)
    if types is not None:
        files["types.py"] = types
    needed = junctions.any_needed(workflow)
    if needed:
        files["junctions.py"] = resource("export", "junctions.py.txt").read_text(encoding="utf-8")
    if workflow.state or needed:
        initial = literal({declared.key: declared.initial for declared in workflow.state})
        files["state.py"] = resource("export", "state.py.txt").read_text(encoding="utf-8").format(initial=initial)
    modules = code_modules(workflow)
    names = [module.name for module in modules]
    for module in modules:
        path = f"{module.name.replace('.', '/')}.py"
        if path in files:
            raise ExportProblem(f"The module {module.name} has the name of a file of the export; give it another name.")
        source = with_relative_imports(module.source, names)
        files[path] = f"# Module of the workflow, as written.\n{region(module.name, source)}\n"
    for node in workflow.nodes:
        if isinstance(node, SubWorkflowNode):
            below = identifier(node.id)
            inside = _package(_inside(node, folder), "", folder, inner=True)
            files |= {f"{below}/{path}": text for path, text in inside.items()}
    return files


def _inside(node: SubWorkflowNode, folder: Path | None) -> Workflow:
    if node.embedded is not None:
        _check(node.embedded)
        return node.embedded
    if node.path is None or folder is None:
        raise ExportProblem(f"{node.name} has no workflow inside. Choose a file or embed one, then export again.")
    from studio.files import FileProblem, read_workflow

    try:
        found = read_workflow(folder / node.path)
    except FileProblem as problem:
        raise ExportProblem(f"The workflow inside {node.name} cannot be read: {problem}") from problem
    _check(found)
    return found


def _support(inner: bool) -> str:
    if inner:
        return '"""The same as in the outer workflow."""\n\nfrom ..support import *  # noqa: F403\n'
    return resource("export", "support.py.txt").read_text(encoding="utf-8")


def _main(workflow: Workflow) -> str:
    text = resource("export", "main.py.txt").read_text(encoding="utf-8").rstrip()
    return f"SAMPLE_INPUT = {string(workflow.sample_input)}\n\n\n{text}"


def _title(workflow: Workflow) -> str:
    return one_line(workflow.name)


def _pyproject(workflow: Workflow, name: str) -> str:
    return (
        "[build-system]\n"
        'requires = ["hatchling"]\n'
        'build-backend = "hatchling.build"\n\n'
        "[project]\n"
        f"name = {json.dumps(name.replace('_', '-'))}\n"
        'version = "0.1.0"\n'
        f"description = {json.dumps(workflow.description or _title(workflow), ensure_ascii=False)}\n"
        'requires-python = ">=3.11"\n'
        f"dependencies = [{json.dumps(CORE)}, {json.dumps(OPENAI)}]\n\n"
        "[project.scripts]\n"
        f"{name.replace('_', '-')} = {json.dumps(name + '.workflow:main')}\n\n"
        "[tool.hatch.build.targets.wheel]\n"
        f"packages = [{json.dumps(name)}]\n"
    )


def _readme(workflow: Workflow, name: str) -> str:
    return (
        f"# {_title(workflow)}\n\n{workflow.description}\n\n"
        "Python project for Microsoft Agent Framework, written by Superstep Studio.\n\n"
        "```\npip install -e .\n"
        + "".join(f"export {variable}=...\n" for variable in VARIABLES)
        + f'python -m {name}.workflow "your input"\n```\n\n'
        "One line is printed per output: node id, tab, text. Where the workflow asks a person, it asks at the "
        "terminal.\n"
        "`tests/test_smoke.py` builds the workflow and runs it once without a model.\n\n"
        "Code between `# region user` and `# endregion` is yours; the rest is written again at the next export.\n"
    )
