"""Writes exports to a folder and imports them like a user would."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from studio.document.model import Workflow
from studio.export import export_project

Exported = Callable[[Workflow], ModuleType]


@pytest.fixture
def exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Exported]:
    """Exports a workflow and imports its ``workflow`` module."""
    before = set(sys.modules)

    def make(workflow: Workflow) -> ModuleType:
        folder = tmp_path / "exported"
        for path, text in export_project(workflow, package="exported_pkg").items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        monkeypatch.syspath_prepend(folder)
        return importlib.import_module("exported_pkg.workflow")

    yield make
    for name in set(sys.modules) - before:
        if name.startswith("exported_pkg"):
            del sys.modules[name]
