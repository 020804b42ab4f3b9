"""Every sample of the import specification gives the expected graph; ``--samples-dir`` runs any other folder."""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from studio.document.model import SubWorkflowNode, Workflow
from studio.document.problems import Problem
from studio.document.validate import problems
from studio.files import dumps, loads
from studio.importers import Imported, ImportProblem, Refused, read
from studio.importers.registry import BUILDERS

from tests.importers.compare import differences, outcome

CARRIED = Path(__file__).parent / "samples"
_SECRETS = re.compile(r"sk-[\w-]{16,}|\b[0-9a-f]{32,}\b|not-a-key")
_PACKAGES = {"maf-python": "agent_framework", "openai-agents": "agents", "langgraph-python": "langgraph"}


def _modes(expectation: dict[str, Any]) -> list[str]:
    mode = expectation.get("mode", "static")
    built = expectation["detected"] in BUILDERS and find_spec(_PACKAGES.get(expectation["detected"], "none"))
    return {"either": ["static", "build"] if built else ["static"], "build": ["build"] if built else []}.get(
        mode, [mode]
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    given = [Path(folder) for folder in metafunc.config.getoption("--samples-dir")] or [CARRIED]
    runs = []
    for file in sorted(path for folder in given for path in folder.rglob("*.expected.json")):
        expectation = json.loads(file.read_text(encoding="utf-8"))
        for mode in _modes(expectation):
            name = f"{file.parent.name}/{file.name.removesuffix('.expected.json')}-{mode}"
            runs.append(pytest.param(file, expectation, mode, id=name))
    metafunc.parametrize(("file", "expectation", "mode"), runs)


def errors_of(workflow: Workflow) -> list[Problem]:
    """Errors of the validation; that some kinds cannot run yet is no fault of an import."""
    inner = [n.embedded for n in workflow.nodes if isinstance(n, SubWorkflowNode) and n.embedded is not None]
    found = [p for p in problems(workflow) if p.severity == "error" and p.code not in ("cannot_run", "sub_workflow")]
    return found + [p for other in inner for p in errors_of(other)]


def _read(file: Path, expectation: dict[str, Any], mode: str) -> Imported:
    choice = expectation.get("choice")
    return read(file.parent / expectation["source"], mode=mode, choice=str(choice) if choice is not None else None)  # type: ignore[arg-type]


def test_sample(file: Path, expectation: dict[str, Any], mode: str, tmp_path: Path) -> None:
    if expectation.get("result") == "refused":
        with pytest.raises(ImportProblem) as stopped:
            _read(file, expectation, mode)
        assert isinstance(stopped.value, Refused)
        assert stopped.value.report.detected == expectation["detected"]
        assert outcome(expectation, stopped.value.report) == []
        return
    before = sorted(p.name for p in file.parent.iterdir())
    found = _read(file, expectation, mode)
    assert differences(expectation, found) == []

    assert errors_of(found.workflow) == []
    text = dumps(found.workflow)
    assert loads(text) == found.workflow
    source = (file.parent / expectation["source"]).read_text(encoding="utf-8")
    for secret in set(_SECRETS.findall(source)):
        assert secret not in text
        assert secret not in json.dumps(found.report.to_json())

    if mode == "build":
        return
    again = _read(file, expectation, mode)
    assert again.report == found.report
    assert again.workflow.model_copy(update={"id": found.workflow.id}) == found.workflow
    assert sorted(p.name for p in file.parent.iterdir()) == before
