"""Generated projects pass a formatter, a linter and two type checkers, all of them strict, without a silencing
comment."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from studio.document.model import Workflow
from studio.export import export_project
from studio.export.durable import export_durable
from studio.files import write_project

from tests.export import around
from tests.export.corpus import documents, layers

SILENCERS = re.compile(r"#\s*(noqa|type:\s*ignore|pyright:|mypy:|fmt:|ruff:)")


def _ran(*command: str, cwd: Path) -> str:
    """What a checker says; empty if it is content."""
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=cwd, capture_output=True, text=True, timeout=300, check=False
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All documents, exported: a folder per project."""
    root = tmp_path_factory.mktemp("projects")
    for name, workflow in {**documents(), **layers()}.items():
        write_project(export_project(workflow, package=name), root / name)
    for name in ("template_concurrent", "runner_tool"):
        spoken = f"responses_{name}"
        flow = {**documents(), "runner_tool": around.documents()["runner tool"]}[name]
        write_project(export_project(flow, package=spoken, client="responses"), root / spoken)
    for name in ("case_approved_tool", "case_agents_inside", "case_asks_pair", "template_concurrent"):
        hosted = f"durable_{name}"
        write_project(export_durable(documents()[name], package=hosted), root / hosted)
    return root


def test_formatter_and_linter_have_nothing_to_say(projects: Path) -> None:
    assert _ran("ruff", "format", "--diff", "--no-cache", ".", cwd=projects) == ""
    assert _ran("ruff", "check", "--no-cache", ".", cwd=projects) == ""


def test_two_strict_type_checkers_have_nothing_to_say(projects: Path, tmp_path: Path) -> None:
    """Once over all projects together: their packages side by side."""
    settings = ["[mypy]", "strict = True", "cache_dir = /dev/null"]
    untyped: list[str] = []
    for project in sorted(projects.iterdir()):
        shutil.copytree(project / project.name, tmp_path / project.name)
        tests = tmp_path / f"{project.name}_tests"
        shutil.copytree(project / "tests", tests)
        (tests / "__init__.py").touch()
        tool = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]
        for override in tool.get("overrides", []):
            section = f"[mypy-{','.join(override['module'])}]"
            if section in settings:
                continue
            untyped += override["module"]
            settings += [section]
            settings += [f"{key} = {value}" for key, value in override.items() if key != "module"]
    settings.insert(3, f"untyped_calls_exclude = {','.join(untyped)}")
    (tmp_path / "mypy.ini").write_text("\n".join(settings), encoding="utf-8")
    assert _ran("mypy", "--config-file", "mypy.ini", ".", cwd=tmp_path) == ""
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "standard"}), encoding="utf-8")
    assert _ran("basedpyright", "--pythonpath", sys.executable, cwd=tmp_path) == ""


def test_no_comment_silences_a_checker_and_each_export_is_the_same() -> None:
    for workflow in (*documents().values(), *layers().values()):
        files = export_project(workflow)
        assert files == export_project(workflow)
        assert not [line for text in files.values() for line in text.split("\n") if SILENCERS.search(line)]


def test_a_moved_node_changes_nothing() -> None:
    for workflow in (*documents().values(), *layers().values()):
        moved = {item: place.model_copy(update={"x": place.x + 40}) for item, place in workflow.places.items()}
        assert export_project(workflow.model_copy(update={"places": moved})) == export_project(workflow)


def test_a_changed_node_changes_its_own_block_alone() -> None:
    workflow = documents()["template_research_brief"]
    before = export_project(workflow, "research_brief")
    nodes = [n.model_copy(update={"instructions": "Other."}) if n.id == "writer" else n for n in workflow.nodes]
    after = export_project(
        Workflow.model_validate(workflow.model_copy(update={"nodes": tuple(nodes)})), "research_brief"
    )
    assert {path for path in before if before[path] != after[path]} <= {
        "research_brief/agents.py",
        "tests/test_smoke.py",
    }
    blocks = (dict(_blocks(files["research_brief/agents.py"])) for files in (before, after))
    old, new = blocks
    assert {name for name in old if old[name] != new[name]} == {"writer"}


def _blocks(text: str) -> list[tuple[str, str]]:
    parts = re.split(r"^# node: (\w+)$", text, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))
