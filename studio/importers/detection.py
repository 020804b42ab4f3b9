"""Which format a source has: by its content, never by its name; the first match wins."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from studio.importers import reading
from studio.importers.problems import ImportProblem
from studio.importers.reading import YamlFile, mapping

NAMES = {
    "own-export": "Export of Superstep Studio",
    "maf-yaml": "Agent Framework, declarative workflow",
    "maf-agent-yaml": "Agent Framework, declarative agent",
    "maf-python": "Agent Framework, Python",
    "openai-agent-builder": "OpenAI Agent Builder, Python export",
    "openai-agents": "OpenAI Agents SDK",
    "autogen-studio": "AutoGen Studio team",
    "langgraph-json": "LangGraph graph as JSON",
    "langgraph-python": "LangGraph, Python",
    "dify": "Dify app",
    "flowise": "Flowise agent flow",
    "langflow": "Langflow flow",
    "n8n": "n8n workflow",
}
"""Formats that can be chosen by hand, with their names."""


@dataclass(frozen=True, slots=True)
class Detected:
    """A format key, and what has been parsed on the way."""

    kind: str
    text: str
    value: Any = None
    yaml: YamlFile | None = None
    choice: str = ""
    """Which of several workflows in the file, by its name."""


_OWN = re.compile(r"# exported workflow: format \d+\s*$", re.MULTILINE)
_BUILDER = re.compile(r"""["']agent-builder["']""")
_BUILDER_SHAPE = (
    re.compile(r"^class WorkflowInput\b", re.MULTILINE),
    re.compile(r"^async def run_workflow\b", re.MULTILINE),
)
_IMPORTS = r"^[ \t]*(?:from[ \t]+{0}(?:\.[\w.]+)?[ \t]+import\b|import[ \t]+{0}\b)"
_TYPESCRIPT = re.compile(r"""from\s+["']@openai/agents["']|^export const runWorkflow\b""", re.MULTILINE)


def detect(text: str) -> Detected:
    """The format of a text. Raises :class:`ImportProblem` if none fits."""
    found = _known(text)
    if found is None:
        block = reading.fenced(text)
        found = _known(block) if block else None
    if found is None:
        raise _unknown(text)
    return found


def _known(text: str) -> Detected | None:
    if _OWN.match(text):
        return Detected("own-export", text)
    start = text.lstrip()[:1]
    if start in ("{", "["):
        try:
            value = reading.json_of(text)
        except ImportProblem:
            return None
        kind = _of_json(value)
        return Detected(kind, text, value) if kind else None
    kind = _of_code(text)
    if kind:
        return Detected(kind, text)
    try:
        file = reading.yaml_of(text)
    except ImportProblem:
        return None
    kind = _of_yaml(file.value)
    return Detected(kind, text, file.value, file) if kind else None


def parsed(kind: str, text: str) -> Detected:
    """The source as a chosen format; raises :class:`ImportProblem` if it cannot even be parsed as that."""
    if kind in ("maf-yaml", "maf-agent-yaml"):
        file = reading.yaml_of(text)
        return Detected(kind, text, file.value, file)
    if kind == "dify":
        file = reading.yaml_of(text)
        return Detected(kind, text, file.value, file)
    if kind.endswith("python") or kind in ("own-export", "openai-agent-builder", "openai-agents"):
        return Detected(kind, text)
    value = reading.json_of(text)
    found = _of_json(value)
    fits = found is not None and found.split("-")[0] == kind.split("-")[0]
    return Detected(found if fits and found else kind, text, value)


def _unknown(text: str) -> ImportProblem:
    """Why nothing fits: the syntax error of what it looks like, else that it is foreign."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            reading.json_of(text)
        except ImportProblem as problem:
            return problem
    elif not re.search(r"^\s*(?:(?:import|from|def|class)\s|\"\"\")", text, re.MULTILINE):
        try:
            reading.yaml_of(text)
        except ImportProblem as problem:
            return problem
    return ImportProblem("The format of the file is not known.", f"Choose one of: {', '.join(NAMES.values())}.")


# ------------------------------------------------------------------------------------------------------ rules


def _of_code(text: str) -> str | None:
    if _TYPESCRIPT.search(text) and ("agent-builder" in text or "runWorkflow" in text):
        return "openai-agent-builder-ts"
    agents = _imports(text, "agents")
    if (_BUILDER.search(text) and agents) or all(shape.search(text) for shape in _BUILDER_SHAPE):
        return "openai-agent-builder"
    if _imports(text, "agent_framework"):
        return "maf-python"
    if agents and "Agent(" in text:
        return "openai-agents"
    return "langgraph-python" if _imports(text, "langgraph") else None


def _imports(text: str, module: str) -> bool:
    return re.search(_IMPORTS.format(module), text, re.MULTILINE) is not None


def _of_yaml(value: Any) -> str | None:
    from studio.importers import maf_yaml, prompt_agents

    if not isinstance(value, dict):
        return None
    if maf_yaml.detect(value):
        return "maf-yaml"
    if prompt_agents.detect(value):
        return "maf-agent-yaml"
    if "beginDialog" in value:
        return "copilot-studio-topic"
    return "dify" if _is_dify(value) else None


def _is_dify(value: dict[str, Any]) -> bool:
    return str(value.get("kind", "")).lower() == "app" and "mode" in mapping(value.get("app"))


def _of_json(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    if _is_dify(value):
        return "dify"
    provider = str(value.get("provider", ""))
    if provider.startswith("autogen_") and value.get("component_type") == "team":
        return "autogen-studio"
    if isinstance(mapping(value.get("components")).get("teams"), list):
        return "autogen-studio-gallery"
    if "team_type" in value and "participants" in value:
        return "autogen-studio-old"
    return _of_graph(value)


def _of_graph(value: dict[str, Any]) -> str | None:
    nodes, edges = value.get("nodes"), value.get("edges")
    data = mapping(value.get("data"))
    if isinstance(nodes, list) and isinstance(edges, list):
        found = [mapping(n) for n in nodes]
        if any(str(mapping(n.get("data")).get("name", "")).endswith("Agentflow") for n in found):
            return "flowise"
        if any(n.get("type") == "customNode" for n in found):
            return "flowise-chatflow"
    inner = data.get("nodes")
    if isinstance(inner, list) and any(
        "template" in mapping(mapping(mapping(n).get("data")).get("node")) for n in inner
    ):
        return "langflow"
    connected = isinstance(nodes, list) and isinstance(value.get("connections"), dict)
    if connected and any("typeVersion" in mapping(n) for n in nodes or ()):
        return "n8n"
    if isinstance(nodes, list) and isinstance(edges, list):
        allowed = {"source", "target", "data", "conditional"}
        if all(isinstance(e, dict) and {"source", "target"} <= set(e) <= allowed for e in edges):
            return "langgraph-json"
    return None
