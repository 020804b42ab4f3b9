"""Older Flowise chatflows: edges connect the parts of one chain or agent."""

from __future__ import annotations

import json
from typing import Any

from studio.importers.draft import Draft, DraftNode
from studio.importers.flowise import COMPATIBLE, place, plain
from studio.importers.naming import node_id
from studio.importers.reading import first, items, mapping, text
from studio.importers.secrets import found_in
from studio.importers.structure import lower

_NODES = ("Chains", "Agents", "Sequential Agents", "Multi Agents")
_PROMPTS = ("systemMessagePrompt", "systemMessage", "systemPrompt", "workerPrompt", "supervisorPrompt", "prefix")


class Chatflow:
    """One chatflow."""

    def __init__(self, draft: Draft, nodes: list[dict[str, Any]], edges: list[dict[str, Any]]) -> None:
        self._draft = draft
        self._sources = {text(n.get("id")): n for n in nodes}
        self._edges = edges
        self._ids: dict[str, str] = {}

    def run(self) -> None:
        draft = self._draft
        for number, (item, source) in enumerate(self._sources.items(), 1):
            data = mapping(source.get("data"))
            if "note" in text(data.get("name")).lower() and text(source.get("type")) == "stickyNote":
                self._add(item, source, "note", number).data["text"] = plain(mapping(data.get("inputs")).get("note"))
            elif text(data.get("category")) in _NODES:
                self._agent(self._add(item, source, "agent", number), data)
        parts = self._parts()
        for item in self._sources:
            if item in self._ids:
                continue
            if item in parts:
                self._part(item, parts[item])
            else:
                self._placeholder(item)
        pairs: list[tuple[str, str]] = []
        for edge in self._edges:
            before, behind = text(edge.get("source")), text(edge.get("target"))
            if before in self._ids and behind in self._ids:
                pairs.append((self._ids[before], self._ids[behind]))
            elif before in parts or behind in parts:
                draft.edges_folded += 1
            else:
                draft.edges_lost += 1
                draft.note("dangling_edge", f"{before} -> {behind}", "This edge connects nothing that is here.")
        lower(draft, pairs, set())
        arriving = {t for _, t in pairs}
        agents = [m for m in self._ids.values() if draft.nodes[m].kind == "agent"]
        draft.start = next((m for m in agents if m not in arriving), next(iter(self._ids.values()), None))

    def _add(self, item: str, source: dict[str, Any], kind: str, number: int) -> DraftNode:
        data = mapping(source.get("data"))
        label = text(data.get("label")) or item
        node = DraftNode(self._draft.free(node_id(item, label, text(data.get("name")), number)), kind, label)
        place(node, source)
        self._ids[item] = self._draft.add(node).id
        return node

    def _agent(self, node: DraftNode, data: dict[str, Any]) -> None:
        given = mapping(data.get("inputs"))
        node.data["instructions"] = plain(first(given, *_PROMPTS)) or None
        for secret in found_in(given):
            self._draft.secret(node.id, secret)

    def _parts(self) -> dict[str, str]:
        """The parts of each chain or agent: what leads to it, directly or by other parts."""
        found: dict[str, str] = {}
        waiting = list(self._ids)
        while waiting:
            target = waiting.pop(0)
            owner = found.get(target, target)
            for edge in self._edges:
                source = text(edge.get("source"))
                if (
                    edge.get("target") == target
                    and source in self._sources
                    and source not in self._ids
                    and source not in found
                ):
                    found[source] = owner
                    waiting.append(source)
        return found

    def _part(self, item: str, owner: str) -> None:
        draft, data = self._draft, mapping(self._sources[item].get("data"))
        node, given, category = draft.nodes[self._ids[owner]], mapping(data.get("inputs")), text(data.get("category"))
        draft.fold(item, node.id)
        if category in ("Chat Models", "LLMs"):
            node.data["model"] = text(first(given, "modelName", "model")) or None
            if isinstance(given.get("temperature"), int | float):
                node.data["options"] = {"temperature": given["temperature"]}
            if text(data.get("name")) not in COMPATIBLE:
                draft.note(
                    "model_unmapped", node.id, f"The model provider {text(data.get('name'))} is not available here."
                )
        elif category == "Tools":
            name = text(data.get("name")) or item
            node.data["tools"] = [*(node.data.get("tools") or []), name]
            draft.note("tool_unmapped", node.id, f"The tool {name} is kept as a declaration.")
        elif category == "Memory":
            draft.note(
                "semantics_differ", item, "The memory is a part of the agent here: it keeps its own conversation."
            )
        elif category == "Prompts":
            prompt = plain(first(given, *_PROMPTS, "systemMessagePrompt", "template"))
            node.data["instructions"] = node.data.get("instructions") or prompt or None
        else:
            draft.note("setting_dropped", item, f"The part {text(data.get('label')) or item} has no effect here.")
        if data.get("credential"):
            draft.note("credential_not_imported", item, "Its stored credential is not imported.")
        for secret in found_in(given):
            draft.secret(item, secret)

    def _placeholder(self, item: str) -> None:
        source = self._sources[item]
        data = mapping(source.get("data"))
        node = self._add(item, source, "placeholder", len(items(self._edges)) + 1)
        node.label = f"{text(data.get('name'))}: {node.label}"
        node.source, node.lang = json.dumps(source, indent=2, ensure_ascii=False), "json"
        self._draft.note("unsupported_item", node.id, f"{text(data.get('name'))} has no counterpart here.")
        for secret in found_in(data):
            self._draft.secret(node.id, secret)
