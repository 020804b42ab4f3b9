"""LangGraph graphs as ``get_graph().to_json()`` writes them: structure only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from studio.importers.detection import Detected
from studio.importers.draft import Draft, DraftEdge, DraftNode, Rule
from studio.importers.naming import node_id
from studio.importers.problems import WRONG_FILE, ImportProblem
from studio.importers.reading import items, mapping, text
from studio.importers.structure import barrier, fan_out, finish, reached, unique

START, END = "__start__", "__end__"


def read(detected: Detected, path: Path | None) -> Draft:
    """The graph of a dump."""
    nodes = [n for n in items(detected.value.get("nodes")) if isinstance(n, dict)]
    edges = [e for e in items(detected.value.get("edges")) if isinstance(e, dict)]
    if not nodes:
        raise ImportProblem("There are no nodes in this file.", WRONG_FILE)
    draft = Draft("langgraph-json", items_in=len(nodes), edges_in=len(edges))
    _Dump(draft, unique(draft, nodes), edges).run()
    return draft


class _Dump:
    """One dump."""

    def __init__(self, draft: Draft, nodes: list[dict[str, Any]], edges: list[dict[str, Any]]) -> None:
        self._draft = draft
        self._nodes = nodes
        self._edges = edges
        self._ids: dict[str, str] = {}
        self._frames: dict[str, list[str]] = {}

    def run(self) -> None:
        draft = self._draft
        for node in self._nodes:
            self._node(node)
        self._start()
        self._end()
        self._groups()
        for name, members in self._frames.items():
            draft.groups.append({"id": draft.free(f"frame_{name}"), "name": name, "kind": "frame", "members": members})
        self._hints()
        finish(draft)
        self._targets_at_run_time()

    def _node(self, node: dict[str, Any]) -> None:
        draft, item = self._draft, text(node.get("id"))
        if item in (START, END):
            return
        data, metadata = mapping(node.get("data")), mapping(node.get("metadata"))
        kind = text((items(data.get("id")) or [""])[-1])
        made = draft.free(node_id(item, text(data.get("name")), "node", len(draft.nodes) + 1))
        if made != item:
            draft.note("id_changed", made, f"The id {item} became {made}.")
        prefix, colon, _ = item.rpartition(":")
        if colon:
            self._frames.setdefault(prefix, []).append(made)
        self._ids[item] = made
        label = text(data.get("name")) or item
        found = draft.add(DraftNode(made, "function", label))
        if kind in ("CompiledStateGraph", "CompiledGraph", "Pregel"):
            found.kind = "sub_workflow"
        tools = metadata.get("__tools")
        if isinstance(tools, list):
            found.data["tools"] = [text(t) for t in tools]
        if metadata.get("__interrupt"):
            found.data["breakpoint"] = text(metadata.get("__interrupt"))
        if metadata.get("defer"):
            found.data["defer"] = True
        draft.note(
            "code_not_available", made, "What this node does is not in the dump: import the source file instead."
        )

    def _start(self) -> None:
        draft = self._draft
        leaving = [e for e in self._edges if e.get("source") == START]
        if not any(n.get("id") == START for n in self._nodes):
            targets = {e.get("target") for e in self._edges}
            first = next((i for i in self._ids if i not in targets), next(iter(self._ids), None))
            draft.start = self._ids.get(first or "")
            return
        if len(leaving) == 1 and not leaving[0].get("conditional") and text(leaving[0].get("target")) in self._ids:
            draft.fold(START, "start")
            draft.edges_folded += 1
            draft.start = self._ids[text(leaving[0].get("target"))]
            self._edges = [e for e in self._edges if e is not leaving[0]]
        else:
            self._ids[START] = draft.add(DraftNode(draft.free("start"), "input", "start")).id
            draft.start = self._ids[START]

    def _end(self) -> None:
        draft = self._draft
        if not any(n.get("id") == END for n in self._nodes):
            return
        arriving = [e for e in self._edges if e.get("target") == END]
        if any(e.get("conditional") for e in arriving):
            self._ids[END] = draft.add(DraftNode(draft.free("end"), "end", "end")).id
            return
        names = ", ".join(dict.fromkeys(self._ids.get(text(e.get("source")), "") for e in arriving))
        draft.fold(END, f"no outgoing edge of {names}" if names else "nothing")
        draft.edges_folded += len(arriving)
        self._edges = [e for e in self._edges if e not in arriving]

    def _groups(self) -> None:
        draft = self._draft
        plain: dict[str, list[str]] = {}
        routed: dict[str, list[tuple[str, str]]] = {}
        deferred: dict[str, list[str]] = {}
        for edge in self._edges:
            source, target = self._ids.get(text(edge.get("source"))), self._ids.get(text(edge.get("target")))
            if source is None or target is None:
                draft.edges_lost += 1
                name = f"{text(edge.get('source'))} -> {text(edge.get('target'))}"
                draft.note("dangling_edge", name, "This edge belongs to a node that is not in the file.")
            elif edge.get("conditional"):
                routed.setdefault(source, []).append((target, text(edge.get("data"))))
            elif draft.nodes[target].data.get("defer"):
                deferred.setdefault(target, []).append(source)
            else:
                plain.setdefault(source, []).append(target)
        for source, targets in plain.items():
            fan_out(draft, source, list(dict.fromkeys(targets)), len(targets))
        for source, found in routed.items():
            self._routed(source, found)
        for target, sources in deferred.items():
            text_ = "It waits for everything before it; here it waits for the nodes that lead to it."
            draft.note("semantics_differ", target, text_)
            if len(sources) > 1:
                barrier(draft, sources, target)
            else:
                draft.direct(sources[0], target)

    def _routed(self, source: str, found: list[tuple[str, str]]) -> None:
        targets = list(dict.fromkeys(target for target, _ in found))
        labels = {target: label for target, label in found if label}
        rule = Rule(None, None, "unknown", labels=labels or None)
        kind = "fan_out" if len(targets) > 1 else "direct"
        edge = DraftEdge(kind, [source], targets, rule=rule, counted=len(found))  # type: ignore[arg-type]
        self._draft.edges.append(edge)
        self._draft.note("condition_unknown", source, "The function that chooses where to go is not in the dump.")

    def _hints(self) -> None:
        """An agent and its tools as two nodes."""
        draft = self._draft
        for edge in draft.edges:
            if edge.kind == "direct" and draft.nodes[edge.source].data.get("tools"):
                agent = edge.targets[0]
                back = any(edge.source in e.targets for e in draft.leaving(agent))
                if back:
                    text_ = (
                        f"{agent} and {edge.source} look like an agent with its tools; one agent node can replace both."
                    )
                    draft.note("pattern_hint", agent, text_)

    def _targets_at_run_time(self) -> None:
        draft = self._draft
        found = reached(draft)
        lost = [n.id for n in draft.nodes.values() if n.id not in found]
        if not lost or not found:
            return
        last = next((n for n in draft.nodes if n in found and not list(draft.leaving(n))), draft.start or "")
        text_ = (
            f"Nothing leads to {', '.join(lost)}: targets chosen at run time are not in a dump. Import the source file."
        )
        draft.note("dynamic_graph", last, text_)
