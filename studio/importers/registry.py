"""The readers by format. A reader is listed when it gives the expected graph for every sample of its format."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Literal

from studio.importers.detection import NAMES, Detected
from studio.importers.draft import Draft
from studio.importers.finish import UNNAMED, Imported, Refused, imported
from studio.importers.problems import WRONG_FILE, ImportProblem
from studio.importers.report import Counts, Entry, Report

Reader = Callable[[Detected, Path | None], Draft | Imported]


def _yaml_workflow(detected: Detected, path: Path | None) -> Draft:
    from studio.importers import maf_yaml

    assert detected.yaml is not None
    if not maf_yaml.detect(detected.value):
        raise ImportProblem("There are no actions in this file.", WRONG_FILE)
    return maf_yaml.read(detected.yaml, path.parent if path else None)


def _yaml_agent(detected: Detected, path: Path | None) -> Draft:
    from studio.importers import prompt_agents

    assert detected.yaml is not None
    if not prompt_agents.detect(detected.value):
        raise ImportProblem("There is no agent in this file.", WRONG_FILE)
    return prompt_agents.read(detected.yaml)


def _module(name: str) -> Reader:
    def read(detected: Detected, path: Path | None) -> Draft | Imported:
        found: Draft | Imported = import_module(f"studio.importers.{name}").read(detected, path)
        return found

    return read


READERS: Mapping[str, Reader] = {
    "own-export": _module("own_export"),
    "maf-yaml": _yaml_workflow,
    "maf-agent-yaml": _yaml_agent,
    "maf-python": _module("maf_python"),
    "openai-agent-builder": _module("agent_builder"),
    "openai-agents": _module("openai_agents"),
    "langgraph-json": _module("langgraph_json"),
    "langgraph-python": _module("langgraph_python"),
    "dify": _module("dify"),
    "flowise": _module("flowise"),
    "flowise-chatflow": _module("flowise"),
    "langflow": _module("langflow"),
    "n8n": _module("n8n"),
    "autogen-studio": _module("autogen"),
    "autogen-studio-gallery": _module("autogen"),
    "autogen-studio-old": _module("autogen"),
}
BUILDERS = ("maf-python", "own-export")
"""Formats with a build mode."""

_REFUSED: Mapping[str, tuple[str, str]] = {
    "copilot-studio-topic": (
        "This is a topic of Copilot Studio, which cannot be imported.",
        "Import a declarative workflow (a file with actions) instead.",
    ),
    "openai-agent-builder-ts": (
        "This is the TypeScript export of OpenAI Agent Builder, which cannot be imported.",
        "Use the Python export of the same workflow.",
    ),
}


def imported_from(
    detected: Detected,
    path: Path | None,
    mode: Literal["static", "build"],
    interpreter: str | None,
    timeout: float,
    stop: threading.Event | None = None,
) -> Imported:
    """Reads with the reader of the format."""
    if detected.kind in _REFUSED:
        raise refused(detected.kind, *_REFUSED[detected.kind])
    reader = READERS.get(detected.kind)
    if reader is None:
        name = NAMES.get(detected.kind, detected.kind)
        raise refused(detected.kind, f"{name}: this format is recognised, but cannot be imported.", WRONG_FILE)
    if mode == "build":
        if detected.kind not in BUILDERS:
            message = f"{NAMES[detected.kind]} files are only read, never run."
            raise ImportProblem(message, "Import the file without running it.")
        from studio.importers.maf_build import read as built

        return _named(imported(built(detected, path, interpreter, timeout, stop), "build"), path)
    try:
        found = reader(detected, path)
        return found if isinstance(found, Imported) else _named(imported(found), path)
    except RecursionError:
        from studio.importers.problems import too_deep

        raise too_deep() from None


def _named(found: Imported, path: Path | None) -> Imported:
    """What has no name of its own is called as its file."""
    stem = path.name.partition(".")[0].replace("_", " ").strip() if path is not None else ""
    if found.workflow.name != UNNAMED or not stem:
        return found
    return replace(found, workflow=found.workflow.model_copy(update={"name": stem}))


def refused(kind: str, message: str, way_out: str) -> Refused:
    """The refusal of a recognised format, with its report."""
    entry = Entry("unsupported_format", kind, "loss", f"{message} {way_out}")
    return Refused(message, way_out, Report(kind, "static", Counts(0, 0, 0, 0, 0, 0), (entry,)))
