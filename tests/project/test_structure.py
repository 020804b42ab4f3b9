"""Rules of the house that no linter checks."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from studio.cli import SUB_COMMANDS

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "studio").rglob("*.py"))
FORBIDDEN_NAMES = {"core", "utils", "helpers", "common", "manager", "base"}


def test_package_root_imports_nothing() -> None:
    assert (ROOT / "studio" / "__init__.py").read_text(encoding="utf-8") == ""


def test_no_file_over_500_lines() -> None:
    files = [*SOURCES, *sorted((ROOT / "tests").rglob("*.py"))]
    long = {str(f.relative_to(ROOT)): n for f in files if (n := len(f.read_text(encoding="utf-8").splitlines())) > 500}
    assert long == {}


def test_no_function_over_40_lines() -> None:
    long = []
    for file in SOURCES:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > 40:
                    long.append(f"{file.relative_to(ROOT)}:{node.lineno} {node.name} {lines}")
    assert long == []


def test_no_catch_all_names() -> None:
    assert [f for f in SOURCES if f.stem in FORBIDDEN_NAMES or f.parent.name in FORBIDDEN_NAMES] == []


@pytest.mark.parametrize("package", ["engine", "agents", "checkpoints", "document", "export", "debugger", "cli"])
def test_importing_a_room_loads_neither_qt_nor_the_model_client(package: str) -> None:
    code = (
        f"import sys, studio.{package}\n"
        "bad = {'PySide6', 'openai', 'httpx2', 'mcp', 'keyring', 'opentelemetry'} & set(sys.modules)\n"
        "assert not bad, bad"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr


def test_the_starter_knows_every_sub_command() -> None:
    """Without a display nobody should have to install what only the window needs."""
    text = (ROOT / "packaging" / "run").read_text(encoding="utf-8")
    named = set(re.findall(r"[a-z-]+", text.partition("case ")[2].partition("install_qt_libraries ;; esac")[0]))
    assert set(SUB_COMMANDS) <= named


def _made_of_parts(node: ast.AST) -> bool:
    """Whether a text is put together here, and not given to ``tip``, which shows ``<`` as it is written."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("tip", "plain_tip"):
        return False
    formats = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format"
    return isinstance(node, ast.JoinedStr) or formats or any(map(_made_of_parts, ast.iter_child_nodes(node)))


def test_tips_with_names_in_them_are_shown_letter_by_letter() -> None:
    found = [
        f"{file}:{node.lineno}"
        for file in Path("studio/ui").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if node.func.attr in ("setToolTip", "setTabToolTip") and _made_of_parts(node.args[-1])
    ]
    assert not found
