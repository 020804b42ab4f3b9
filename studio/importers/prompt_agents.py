"""Definitions of agents in YAML (``kind: Prompt``), in a workflow file, beside it, or as a file of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from studio.importers.draft import Draft, DraftNode
from studio.importers.naming import node_id
from studio.importers.problems import MAX_BYTES, ImportProblem
from studio.importers.reading import YamlFile, first, items, mapping, text, text_of, yaml_of
from studio.importers.secrets import found_in

_MOST_FILES = 50
_LARGEST = 200_000


@dataclass(frozen=True, slots=True)
class Definition:
    """The properties of an agent node, and the secrets that were in its definition."""

    data: dict[str, Any]
    secrets: tuple[str, ...] = field(default=())


def detect(value: Any) -> bool:
    """A mapping of kind Prompt with instructions or a model."""
    return (
        isinstance(value, dict)
        and str(value.get("kind", "")).lower() == "prompt"
        and ("instructions" in value or "model" in value)
    )


def definition(value: Mapping[str, Any]) -> Definition:
    """What a definition says about its agent."""
    model = value.get("model")
    parts = mapping(model)
    options = dict(mapping(first(parts, "options", "parameters")))
    renamed = {"maxOutputTokens": "max_tokens", "topP": "top_p", "max_output_tokens": "max_tokens"}
    options = {renamed.get(str(k), str(k)): v for k, v in options.items()}
    data: dict[str, Any] = {
        "instructions": text(value.get("instructions")) or None,
        "description": text(value.get("description")) or None,
        "model": text(first(parts, "id", "name", "deployment")) if parts else text(model) or None,
        "options": options or None,
        "output_schema": value.get("outputSchema") if isinstance(value.get("outputSchema"), dict) else None,
        "tools": tuple(dict.fromkeys(filter(None, map(_tool, items(value.get("tools")))))) or None,
    }
    return Definition({k: v for k, v in data.items() if v}, tuple(found_in(value)))


def _tool(value: Any) -> str:
    name = text(first(mapping(value), "name", "id", "kind"))
    return "".join(c if c.isalnum() or c in "_-" else "_" for c in name)[:64]


def definitions_beside(folder: Path) -> dict[str, Definition]:
    """The agents that other YAML files of the folder define, by name."""
    found: dict[str, Definition] = {}
    try:
        files = sorted(p for p in folder.iterdir() if p.suffix.lower() in (".yaml", ".yml"))[:_MOST_FILES]
    except OSError:
        return found
    for path in files:
        try:
            if path.stat().st_size > min(_LARGEST, MAX_BYTES):
                continue
            value = yaml_of(text_of(path)).value
        except (ImportProblem, OSError):
            continue
        if detect(value):
            found.setdefault(text(value.get("name")) or path.stem, definition(value))
    return found


def read(file: YamlFile) -> Draft:
    """A workflow of this one agent."""
    value = file.value
    name = text(value.get("displayName")) or text(value.get("name")) or "Agent"
    draft = Draft("maf-agent-yaml", name=name, description=text(value.get("description")), items_in=1)
    made = definition(value)
    node = draft.add(DraftNode(node_id(text(value.get("name")), name, "agent"), "agent", name, dict(made.data), line=1))
    draft.start = node.id
    for tool in made.data.get("tools", ()):
        draft.note("tool_unmapped", node.id, f"The tool {tool} is kept as a declaration.", line=1)
    for secret in made.secrets:
        draft.secret(node.id, secret, 1)
    return draft
