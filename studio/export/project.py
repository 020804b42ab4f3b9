"""A document as a Python project for Microsoft Agent Framework."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from studio.document.model import RunnerNode, SubWorkflowNode, Workflow
from studio.document.tools import code_modules
from studio.document.types import RUNNABLE
from studio.export import executors, junctions, pyproject, smoke, support
from studio.export.agents import Client, agents_module, variables
from studio.export.layout import layout_file
from studio.export.left_out import left_out, refuse_lost_edges, sentence_of
from studio.export.main_part import add_main
from studio.export.naming import Names, identifier
from studio.export.problems import ExportProblem
from studio.export.python_types import types_module
from studio.export.source import (
    SHARED,
    Module,
    docstring,
    literal,
    one_line,
    region,
    sentence,
    with_relative_imports,
)
from studio.export.user_code import with_types
from studio.export.workflow_module import FIRST_LINE, workflow_module

Hosted = Callable[[str], str]
"""Path of a package ("" for the outer one) -> the name of its workflow on workers."""


def export_project(
    workflow: Workflow,
    package: str | None = None,
    folder: Path | None = None,
    *,
    layout: bool = False,
    client: Client = "chat_completions",
    smoke_test: bool = True,
    hosted: Hosted | None = None,
) -> dict[str, str]:
    """The files of the project: relative path -> text. Deterministic; nothing of the document is run.

    ``package`` defaults to the workflow's name as an identifier. ``folder`` is where linked sub-workflows are looked
    for. ``layout`` adds the file with positions and digests, by which an edited export is read back. ``client`` is the
    API that the code speaks to the model. ``hosted`` names the workflows for workers, see
    :mod:`studio.export.durable`. Raises :class:`ExportProblem` for what cannot be
    written as code.
    """
    name = _package_name(workflow, package)
    _check(workflow)
    layout_name = f"{name}.layout.json" if layout else ""
    package_files = _Project(folder, layout_name, client, hosted).files(workflow)
    files = {f"{name}/{path}": text for path, text in package_files.items()}
    if layout:
        files[f"{name}/{layout_name}"] = layout_file(workflow, package_files)
    files["pyproject.toml"] = pyproject.text(workflow, name, files, tested=smoke_test)
    files["README.md"] = _readme(workflow, name, client, smoke_test)
    agents = "".join(package_files[path] for path in _agent_files(package_files))
    named = re.findall(r'os\.environ\["(\w+)"\]', agents)
    files[".env.example"] = "".join(f"{variable}=\n" for variable in dict.fromkeys([*variables(client), *named]))
    if smoke_test:
        files["tests/test_smoke.py"] = smoke.test_module(workflow, name)
    return dict(sorted(files.items()))


def _agent_files(files: Mapping[str, str]) -> list[str]:
    """The modules that may read secrets of MCP servers from the environment."""
    return sorted(path for path in files if path.rpartition("/")[2] == "agents.py")


def _package_name(workflow: Workflow, wanted: str | None) -> str:
    """The wanted package name, or one made from the workflow's; no module that Python or the project needs."""
    name = identifier(wanted or workflow.name)
    if name not in sys.stdlib_module_names | _INSTALLED:
        return name
    if wanted:
        raise ExportProblem(f"There is a Python module with the name {name} already; choose another package name.")
    return f"{name}_workflow"


_INSTALLED = frozenset({"agent_framework", "openai", "pydantic", "pytest", "durabletask", "tests"})


def _check(workflow: Workflow) -> None:
    if workflow.node(workflow.start or "") is None:
        raise ExportProblem("The workflow has no start node. Mark one node as the start, then export again.")
    refuse_lost_edges(workflow)
    for node in workflow.nodes:
        if isinstance(node, RunnerNode) and not node.agents:
            raise ExportProblem(f"The conversation runner {node.name} has no agent. Add one, then export again.")
        if node.kind not in RUNNABLE:
            raise ExportProblem(f"{node.name or node.id} is of a kind ({node.kind}) that cannot be written as code.")


@dataclass(slots=True)
class _Project:
    """The packages of a project, which share the modules of the outermost one."""

    folder: Path | None
    layout: str
    client: Client
    hosted: Hosted | None = None
    shared: dict[str, set[str]] = field(default_factory=dict)
    """Names that are used of the modules that all packages share."""

    def files(self, workflow: Workflow) -> dict[str, str]:
        """The files of the package and of those in it: path in the package -> text."""
        files = self._package(workflow, "", 0)
        for source in SHARED:
            if names := self.shared.get(source):
                module = support.needed(f"{source[1:]}.py.txt", names)
                self._note(module)
                files[f"{source[1:]}.py"] = module.text()
        return files

    def _note(self, module: Module) -> None:
        """Remembers what a module takes from the shared ones."""
        for source in SHARED:
            if names := module.taken_from(source):
                self.shared.setdefault(source, set()).update(names)

    def _package(self, workflow: Workflow, prefix: str, depth: int) -> dict[str, str]:
        names = Names.of(workflow)
        awaiting = junctions.awaiting(workflow, names)
        if awaiting is not None:
            raise ExportProblem(
                f"The condition {awaiting[1].name or awaiting[0]} awaits something, which a switch or fan-out of the "
                "framework cannot do. Put the waiting into a function node in front of it."
            )
        name = self.hosted(prefix) if self.hosted is not None else ""
        modules = self._modules(workflow, names, depth, name)
        first = FIRST_LINE + (f"# layout: {self.layout}\n" if self.layout and not depth else "")
        files = {"__init__.py": f"{docstring(sentence(workflow.name))}\n"}
        for name, module in modules.items():
            files[f"{name}.py"] = module.text(first if name == "workflow" else "")
            self._note(module)
        self._user_modules(workflow, files)
        found = {f"{prefix}{path}": text for path, text in files.items()}
        for node in workflow.nodes:
            if isinstance(node, SubWorkflowNode):
                inner = embedded(node, self.folder)
                _check(inner)
                found |= self._package(inner, f"{prefix}{names.package(node)}/", depth + 1)
        return found

    def _modules(self, workflow: Workflow, names: Names, depth: int, hosted: str) -> dict[str, Module]:
        """The generated modules of one package, by name."""
        main = workflow_module(workflow, names, depth, hosted)
        if not depth:
            add_main(main, workflow)
        found = {"workflow": main, **executors.modules(workflow, names, depth)}
        agents = agents_module(workflow, names, depth, self.client)
        types = types_module(workflow, depth)
        if agents is not None:
            found["agents"] = agents
        if types is not None:
            found["types"] = types
        if junctions.any_state_junction(workflow, names):
            found["junctions"] = _junctions(depth)
        if any(".state" in module.sources for module in found.values()):
            found["state"] = _state(workflow)
        return found

    def _user_modules(self, workflow: Workflow, files: dict[str, str]) -> None:
        modules = code_modules(workflow)
        names = [module.name for module in modules]
        for module in modules:
            path = f"{module.name.replace('.', '/')}.py"
            if path in files or path in {f"{shared[1:]}.py" for shared in SHARED}:
                raise ExportProblem(
                    f"The module {module.name} has the name of a file of the export; give it another name."
                )
            source = with_types(with_relative_imports(module.source, names), workflow, module.name.count(".") + 1)
            files[path] = f"# Module of the workflow, as written.\n{region(module.name, source)}\n"


def embedded(node: SubWorkflowNode, folder: Path | None) -> Workflow:
    """The workflow inside a node: the embedded one, or that of the linked file."""
    if node.path is None and node.embedded is not None:
        return node.embedded
    if node.path is None or folder is None:
        raise ExportProblem(f"{node.name} has no workflow inside. Choose a file or embed one, then export again.")
    from studio.files import FileProblem, read_workflow

    try:
        return read_workflow(folder / node.path)
    except FileProblem as problem:
        raise ExportProblem(f"The workflow inside {node.name} cannot be read: {problem}") from problem


def _junctions(depth: int) -> Module:
    module = support.needed("junctions.py.txt", ["StateJunction"])
    module.depth = depth
    return module


def _state(workflow: Workflow) -> Module:
    module = support.needed("state.py.txt", ["StateContext"])
    initial = {declared.key: declared.initial for declared in workflow.state}
    module.blocks[0] = literal(initial, 0, "INITIAL: dict[str, Any] = ")
    return module


_TESTED = (
    "`tests/test_smoke.py` builds the workflow and runs it once without a model: `pip install --group dev`, then\n"
    "`python -m pytest`.\n"
)


def _readme(workflow: Workflow, name: str, client: Client, smoke_test: bool) -> str:
    tested = _TESTED if smoke_test else ""
    return (
        f"# {one_line(workflow.name)}\n\n"
        + (f"{workflow.description}\n\n" if workflow.description else "")
        + "Python project for Microsoft Agent Framework, written by Superstep Studio.\n\n"
        "```\npip install -e .\n"
        + "".join(f"export {variable}=...\n" for variable in variables(client))
        + f'python -m {name}.workflow "your input"\n```\n\n'
        "One line is printed per output: node id, tab, text. Where the workflow asks a person, it asks at the "
        "terminal.\n"
        f"{tested}\n"
        "Code between `# region user` and `# endregion` is yours. Lines changed elsewhere stay, too, unless the next\n"
        "export changes the same ones; then it asks.\n" + _not_in_the_code(workflow, client)
    )


def _not_in_the_code(workflow: Workflow, client: Client) -> str:
    found = [f"- {one_line(sentence_of(item))}\n" for item in left_out(workflow, client)]
    return "\n## Otherwise than on the canvas\n\n" + "".join(found) if found else ""
