"""The providers' profiles that a document names, and other names for them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from studio.document.edits import Batch, Edit, SetFields
from studio.document.model import AgentNode, Node, RunnerNode, SubWorkflowNode, Workflow
from studio.document.problems import Fix, Problem


def named_profiles(workflow: Workflow) -> dict[str, list[str]]:
    """Every profile that agents name, with the names of the agents, those of embedded workflows included."""
    found: dict[str, list[str]] = {}
    for node in workflow.nodes:
        for profile, agent in _named(node):
            found.setdefault(profile, []).append(agent)
    return found


def map_profiles(workflow: Workflow, mapping: Mapping[str, str | None]) -> Edit | None:
    """Other profiles in place of those named, as one edit; None stands for the one chosen for the run. None if nothing
    changes."""
    edits: list[Edit] = []
    for node in workflow.nodes:
        values = _mapped(node, mapping)
        if values:
            edits.append(SetFields("nodes", node.id, values))
    return Batch(tuple(edits)) if edits else None


def unknown_profiles(workflow: Workflow, known: Collection[str]) -> Iterator[Problem]:
    """A problem for each node that names a profile which is not set up on this computer."""
    for node in workflow.nodes:
        missing = [p for p in dict.fromkeys(p for p, _ in _named(node)) if p not in known]
        if not missing:
            continue
        edit = map_profiles(workflow.model_copy(update={"nodes": (node,)}), dict.fromkeys(missing))
        names = ", ".join(f"“{name}”" for name in missing)
        message = f"{node.name or node.id} uses the provider {names}, which is not set up on this computer."
        fix = Fix("Use the provider chosen for the run", edit) if edit is not None else None
        yield Problem("unknown_profile", message, node.id, "profile", fix=fix)


def probed_problems(workflow: Workflow, found: Mapping[str | None, Mapping[str, str]]) -> Iterator[Problem]:
    """Warnings where an agent needs what a probe of its model did not find. ``found``: by the name of a profile (None:
    the one chosen for the run) what works, by capability: "yes", "partly", "no"."""
    for node in workflow.nodes:
        if not isinstance(node, AgentNode) or node.model:
            continue  # the probe asked the profile's own model
        works = found.get(node.profile, {})
        name = node.name or node.id
        if (node.tools or node.mcp_servers) and works.get("tools") == "no":
            message = f"{name} has tools, but its model refused them when it was probed."
            yield Problem("probed_tools", message, node.id, "tools", "warning")
        if node.output_schema is not None and works.get("json_schema") == "no":
            message = f"{name} answers by a schema, but its model gave no such answer when it was probed."
            yield Problem("probed_schema", message, node.id, "output_schema", "warning")


def _named(node: Node) -> Iterator[tuple[str, str]]:
    match node:
        case AgentNode(profile=str(name)) if name:
            yield name, node.name or node.id
        case RunnerNode():
            if node.profile:
                yield node.profile, node.name or node.id
            yield from ((a.profile, f"{node.name}: {a.name or a.id}") for a in node.agents if a.profile)
        case SubWorkflowNode(embedded=Workflow() as inner):
            for name, agents in named_profiles(inner).items():
                yield from ((name, f"{node.name}: {agent}") for agent in agents)


def _mapped(node: Node, mapping: Mapping[str, str | None]) -> dict[str, Any]:
    """The fields of a node that change."""
    values: dict[str, Any] = {}
    match node:
        case AgentNode() if node.profile in mapping:
            values["profile"] = mapping[node.profile or ""]
        case RunnerNode():
            if node.profile in mapping:
                values["profile"] = mapping[node.profile or ""]
            agents = tuple(
                a.model_copy(update={"profile": mapping[a.profile]}) if a.profile and a.profile in mapping else a
                for a in node.agents
            )
            if agents != node.agents:
                values["agents"] = agents
        case SubWorkflowNode(embedded=Workflow() as inner):
            edit = map_profiles(inner, mapping)
            if edit is not None:
                values["embedded"] = edit.apply(inner).workflow
    return values
