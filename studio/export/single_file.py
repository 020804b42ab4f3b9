"""A workflow as one Python file: the modules of its project one behind the other, with what they need in its head."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from studio.document.model import SubWorkflowNode, Workflow
from studio.export.agents import Client
from studio.export.problems import ExportProblem
from studio.export.project import export_project
from studio.export.pyproject import requirements
from studio.export.source import SHARED, Module

_FIRST = ("types", *(name[1:] for name in reversed(SHARED)), "state", "junctions")
_LAST = ("agents", "functions", "templates", "people", "joins", "workflow")
"""Modules in the order of their use; those of user code stand between."""

Span = tuple[int, int, int, int, str]
"""Line, columns (in bytes) from and to, last line, and what stands there instead."""


def export_single_file(
    workflow: Workflow, package: str | None = None, folder: Path | None = None, *, client: Client = "chat_completions"
) -> dict[str, str]:
    """The one file: name -> text. It runs with ``uv run`` too: it says what it needs. Raises :class:`ExportProblem`
    for what needs several files."""
    inside = next((node for node in workflow.nodes if isinstance(node, SubWorkflowNode)), None)
    if inside is not None:
        raise ExportProblem(
            f"{inside.name} is a workflow inside this one, which needs a file of its own: export a project."
        )
    project = export_project(workflow, package, folder, client=client)
    main = next(path for path in project if path.endswith("/workflow.py"))
    name = main.partition("/")[0]
    parts = {
        path.removeprefix(f"{name}/").removesuffix(".py").replace("/", "."): _Part.of(path, text)
        for path, text in project.items()
        if path.startswith(f"{name}/") and path.endswith(".py") and not path.endswith("__init__.py")
    }
    return {f"{name}.py": _joined(workflow, parts)}


@dataclass(slots=True)
class _Part:
    """A module: its tree, its lines, and the names that it defines."""

    path: str
    tree: ast.Module
    lines: list[bytes]
    names: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, path: str, text: str) -> _Part:
        part = cls(path, ast.parse(text), [line.encode() for line in text.split("\n")])
        part.names = {name for statement in part.tree.body for name in _defined(statement)}
        return part

    def imports(self) -> list[ast.Import | ast.ImportFrom]:
        return [node for node in self.tree.body if isinstance(node, ast.Import | ast.ImportFrom)]

    def siblings(self) -> set[str]:
        """The modules of the package that it knows by their names."""
        return {a.name for node in self.imports() if isinstance(node, ast.ImportFrom) and node.level and not node.module
                for a in node.names}  # fmt: skip

    def body(self, renamed: Mapping[tuple[str, str], str], own: str) -> str:
        """Everything but docstring and imports, with the names of other modules as they are called now."""
        spans = sorted(self._spans(renamed, own), reverse=True)
        lines = list(self.lines)
        for line, start, end, _, text in spans:
            lines[line - 1] = lines[line - 1][:start] + text.encode() + lines[line - 1][end:]
        gone: set[int] = set()
        for number, node in enumerate(self.tree.body):
            doc = number == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            if doc or isinstance(node, ast.Import | ast.ImportFrom):
                gone |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        kept = [line.decode() for number, line in enumerate(lines, 1) if number not in gone]
        return _tidy(kept)

    def _spans(self, renamed: Mapping[tuple[str, str], str], own: str) -> Iterator[Span]:
        siblings = self.siblings()
        for node in ast.walk(self.tree):
            match node:
                case ast.Attribute(value=ast.Name(id=name) as value, attr=attr) if name in siblings:
                    shown = renamed.get((name, attr), attr)
                    yield (value.lineno, value.col_offset, node.end_col_offset or 0, node.end_lineno or 0, shown)
                case ast.Name(id=name) if (own, name) in renamed:
                    yield (node.lineno, node.col_offset, node.end_col_offset or 0, node.lineno, renamed[own, name])
                case ast.FunctionDef(name=name) if (own, name) in renamed and node in self.tree.body:
                    start = len(b"def ")
                    yield (node.lineno, start, start + len(name.encode()), node.lineno, renamed[own, name])


def _defined(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield statement.name
        case ast.Assign(targets=targets):
            yield from (node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name


def _tidy(lines: list[str]) -> str:
    """Without lines of blanks in a row where imports stood, and without a region that is empty now."""
    text = "\n".join(lines).strip("\n")
    while "\n\n\n\n" in text:
        text = text.replace("\n\n\n\n", "\n\n\n")
    first, _, rest = text.partition("\n")
    return f"{first}\n{rest.lstrip(chr(10))}" if first.startswith("# region") else text


def _joined(workflow: Workflow, parts: dict[str, _Part]) -> str:
    renamed = _renamed(parts)
    _check(parts, renamed)
    users = [name for name in parts if name not in (*_FIRST, *_LAST)]
    order = [name for name in (*_FIRST, *users, *_LAST) if name in parts]
    module = Module(ast.get_docstring(parts["workflow"].tree) or "")
    for name in order:
        for node in parts[name].imports():
            _need(module, node)
    module.blocks = [body for name in order if (body := parts[name].body(renamed, name).strip("\n"))]
    needed = ", ".join(f'"{requirement}"' for requirement in requirements(workflow))
    head = f'# /// script\n# requires-python = ">=3.11"\n# dependencies = [{needed}]\n# ///\n'
    return module.text(head)


def _renamed(parts: Mapping[str, _Part]) -> dict[tuple[str, str], str]:
    """``(module, function)`` -> its new name: what ``build()`` calls as its own variables, too, cannot keep it."""
    agents = parts.get("agents")
    if agents is None:
        return {}
    build = next(n for n in parts["workflow"].tree.body if isinstance(n, ast.FunctionDef) and n.name == "build")
    local = {n.id for n in ast.walk(build) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    others = {name for part in parts.values() if part is not agents for name in part.names}
    taken = others | agents.names | local
    found: dict[tuple[str, str], str] = {}
    for name in sorted(agents.names & (local | others)):
        new = f"{name}_agent" if name in local else f"{name}_tool"
        while new in taken:
            new += "_"
        taken.add(new)
        found["agents", name] = new
    return found


def _need(module: Module, node: ast.Import | ast.ImportFrom) -> None:
    shown = [f"{a.name} as {a.asname}" if a.asname else a.name for a in node.names]
    match node:
        case ast.Import():
            for name in shown:
                module.need(name)
        case ast.ImportFrom(level=0, module=str(source)):
            module.need(source, *shown)


def _check(parts: Mapping[str, _Part], renamed: Mapping[tuple[str, str], str]) -> None:
    """Raises :class:`ExportProblem` for names that mean two things, and for imports that one file cannot have."""
    owner: dict[str, str] = {}
    for name, part in parts.items():
        for written in sorted(part.names):
            defined = renamed.get((name, written), written)
            if defined in owner:
                where = f"{owner[defined]} and in {name}"
                raise ExportProblem(f"{defined} is defined in {where}, which one file cannot have: export a project.")
            owner[defined] = name
    for name, part in parts.items():
        for node in ast.walk(part.tree):
            if not isinstance(node, ast.Import | ast.ImportFrom):
                continue
            level = node.level if isinstance(node, ast.ImportFrom) else 0
            future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
            inner = level > 0 and node not in part.tree.body
            other_name = level > 0 and any(a.asname for a in node.names)
            clash = next((n for a in node.names if level == 0 and (n := a.asname or a.name) in owner), None)
            if future or inner or other_name:
                raise ExportProblem(f"The code of {name} imports in a way that needs several files: export a project.")
            if clash is not None:
                raise ExportProblem(f"{name} imports {clash}, and {owner[clash]} defines it: export a project.")
