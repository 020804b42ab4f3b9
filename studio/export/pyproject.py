"""``pyproject.toml`` of an export."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping

from studio.document.model import SubWorkflowNode, Workflow
from studio.export.main_part import uses_servers
from studio.export.naming import Names
from studio.export.pretty import WIDTH
from studio.export.source import one_line

CORE, OPENAI = "agent-framework-core==1.23.*", "agent-framework-openai==1.17.*"

MCP = ("mcp>=2.2,<3", "tenacity>=9.1.4,<9.2")
"""What the framework asks for once an MCP server is used, and does not install itself."""


def requirements(workflow: Workflow) -> list[str]:
    """The distributions that the project needs."""
    return [CORE, OPENAI, *(MCP if uses_servers(workflow) else ())]


DURABLE = ("agent-framework-durabletask==1.0.0b260922", "durabletask==1.12.*", "durabletask-azuremanaged==1.12.*")
"""The next version of the first one will not read runs of this one."""


def text(workflow: Workflow, name: str, files: Mapping[str, str], durable: bool = False, *, tested: bool = True) -> str:
    """The text of the file. ``files``: those of the package, for what the type checker has to know of user code.
    ``durable``: with what workers on Durable Task need; ``tested``: with what the tests need."""
    distribution = name.replace("_", "-").strip("-")
    described = " ".join(workflow.description.split()) or one_line(workflow.name)
    return (
        "[build-system]\n"
        'requires = ["hatchling"]\n'
        'build-backend = "hatchling.build"\n\n'
        "[project]\n"
        f"name = {_toml(distribution)}\n"
        'version = "0.1.0"\n'
        f"description = {_toml(described)}\n"
        'requires-python = ">=3.11"\n'
        f"dependencies = [{', '.join(map(_toml, requirements(workflow)))}]\n\n"
        "[project.scripts]\n"
        f"{distribution} = {_toml(name + '.workflow:main')}\n"
        + (_extra(distribution, name) if durable else "")
        + (_TESTS if tested else "")
        + "\n"
        "[tool.hatch.build.targets.wheel]\n"
        f"packages = [{_toml(name)}]\n\n"
        "[tool.ruff]\n"
        f"line-length = {WIDTH}\n\n"
        "[tool.ruff.lint]\n"
        'select = ["E4", "E7", "E9", "F", "I", "B", "UP"]\n\n'
        "[tool.mypy]\n"
        "strict = true\n" + _untyped(workflow, name, files) + (_UNTYPED_GRPC if durable else "")
    )


_TESTS = """
[dependency-groups]
dev = ["pytest>=8"]
"""
_UNTYPED_GRPC = """
[[tool.mypy.overrides]]
module = ["grpc.*"]
ignore_missing_imports = true
"""


def _extra(distribution: str, name: str) -> str:
    """Commands of worker and client, and what they need."""
    return (
        f"{distribution}-worker = {_toml(name + '.worker:main')}\n"
        f"{distribution}-client = {_toml(name + '.client:main')}\n\n"
        "[project.optional-dependencies]\n"
        "durabletask = [\n" + "".join(f"    {_toml(needed)},\n" for needed in DURABLE) + "]\n"
    )


def _toml(value: str) -> str:
    """A basic string of TOML: JSON's escapes, and those that JSON does not need."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _untyped(workflow: Workflow, name: str, files: Mapping[str, str]) -> str:
    """Settings for modules of user code without types: they may stay so, and may be called."""
    found = [module for module in _user_modules(workflow, name) if _lacks_types(files.get(_path(module), ""))]
    if not found:
        return ""
    listed = ", ".join(_toml(module) for module in found)
    return (
        f"untyped_calls_exclude = [{listed}]\n\n"
        "[[tool.mypy.overrides]]\n"
        f"module = [{listed}]\n"
        "disallow_untyped_defs = false\n"
        "disallow_incomplete_defs = false\n"
        "disallow_any_generics = false\n"
        "check_untyped_defs = false\n"
    )


def _path(module: str) -> str:
    return module.replace(".", "/") + ".py"


def _user_modules(workflow: Workflow, package: str) -> list[str]:
    names = Names.of(workflow)
    found = [f"{package}.{module.name}" for module in workflow.modules]
    for node in workflow.nodes:
        if isinstance(node, SubWorkflowNode) and node.embedded is not None:
            found += _user_modules(node.embedded, f"{package}.{names.package(node)}")
    return found


def _lacks_types(source: str) -> bool:
    """Whether user code has functions or generic classes without the types that a strict checker asks for."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return True
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            written = [a.annotation for a in arguments if a.arg not in ("self", "cls")]
            if any(_is_bare(annotation) for annotation in [*written, node.returns]):
                return True
    return False


def _is_bare(annotation: ast.expr | None) -> bool:
    """No type, or a generic class without parameters."""
    return annotation is None or (
        isinstance(annotation, ast.Name) and annotation.id in ("list", "dict", "tuple", "set")
    )
