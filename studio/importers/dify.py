"""Dify apps: the graph and the prompts, not the behaviour."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from studio.importers.comparisons import condition, test
from studio.importers.conditions import NEXT_ITEM, text_is
from studio.importers.detection import Detected
from studio.importers.dify_steps import Steps, set_model
from studio.importers.draft import Case, Draft, DraftNode, Rule
from studio.importers.naming import node_id
from studio.importers.problems import WRONG_FILE, ImportProblem
from studio.importers.reading import YamlFile, first, items, mapping, text
from studio.importers.secrets import found_in, is_literal
from studio.importers.structure import decide, finish, lose, lower, parallel_targets, unique

PREFACE = "Structure only: steps, edges and prompts are taken over, not everything they do."
_REFERENCE = re.compile(r"\{\{#([\w-]+(?:\.[\w-]+)+)#\}\}")
_UNSUPPORTED = ("tool", "knowledge-retrieval", "document-extractor", "list-operator", "knowledge-index", "datasource")
_MARKERS = ("iteration-start", "loop-start")


def read(detected: Detected, path: Path | None) -> Draft:
    """The workflow of an app; an app without a graph is one agent."""
    root = mapping(detected.value)
    app, workflow = mapping(root.get("app")), mapping(root.get("workflow"))
    draft = Draft("dify", name=text(app.get("name")), description=text(app.get("description")), preface=PREFACE)
    graph = mapping(workflow.get("graph"))
    if not graph:
        _single(draft, mapping(root.get("model_config")))
        return draft
    nodes = [n for n in items(graph.get("nodes")) if isinstance(n, dict)]
    if not nodes:
        raise ImportProblem("There are no steps in this app.", WRONG_FILE)
    draft.items_in = len(nodes)
    _App(draft, unique(draft, nodes), [e for e in items(graph.get("edges")) if isinstance(e, dict)], detected.yaml).run(
        workflow
    )
    return draft


def _single(draft: Draft, config: dict[str, Any]) -> None:
    """Chat, agent and completion apps: one agent."""
    if not config:
        raise ImportProblem("There is neither a graph nor a model in this app.", WRONG_FILE)
    draft.items_in = 1
    label = draft.name or "Agent"
    node = draft.add(DraftNode(node_id("", label, "agent"), "agent", label))
    node.data["instructions"] = text(config.get("pre_prompt")) or None
    set_model(draft, node, mapping(config.get("model")))
    names = []
    for tool in items(mapping(config.get("agent_mode")).get("tools")):
        name = text(first(mapping(tool), "tool_name", "name"))
        if name:
            names.append(name)
            draft.note("tool_unmapped", node.id, f"The tool {name} is kept as a declaration.")
    node.data["tools"] = names or None
    for secret in found_in(config):
        draft.secret(node.id, secret)
    draft.start = node.id


class _App:
    """One graph."""

    def __init__(
        self, draft: Draft, nodes: list[dict[str, Any]], edges: list[dict[str, Any]], file: YamlFile | None
    ) -> None:
        self._draft = draft
        self._nodes = nodes
        self._edges = edges
        self._file = file
        self._ids: dict[str, str] = {}
        self._steps = Steps(draft, self._ids)
        self._kinds: dict[str, str] = {}
        self._parents: dict[str, str] = {}

    def run(self, workflow: dict[str, Any]) -> None:
        draft = self._draft
        draft.edges_in = len(self._edges)
        self._name()
        for node in self._nodes:
            self._node(node)
        self._declared(workflow)
        self._references()
        self._start()
        self._connect()
        draft.placed = True
        finish(draft)

    # ------------------------------------------------------------------------------------------------- nodes

    def _name(self) -> None:
        for number, node in enumerate(self._nodes, 1):
            item, data = text(node.get("id")), mapping(node.get("data"))
            kind = text(data.get("type")) or text(node.get("type")).removeprefix("custom-")
            self._kinds[item] = "note" if "note" in text(node.get("type")) else kind
            parent = text(first(node, "parentId", "parentNode") or first(data, "iteration_id", "loop_id"))
            if parent:
                self._parents[item] = parent
            if self._kinds[item] in (*_MARKERS, "loop-end"):
                continue
            made = self._draft.free(node_id(item, text(data.get("title")), kind or "node", number))
            self._draft.reserve(made)
            self._ids[item] = made
            if made != item:
                self._draft.note("id_changed", made, f"The id {item} became {made}.")

    def _node(self, node: dict[str, Any]) -> None:
        item, data = text(node.get("id")), mapping(node.get("data"))
        if item not in self._ids:
            return
        draft, kind, place = self._draft, self._kinds[item], mapping(node.get("position"))
        made = DraftNode(self._ids[item], "placeholder", text(data.get("title")) or item)
        made.line = self._file.line(node) if self._file else None
        if item not in self._parents and all(isinstance(place.get(k), int | float) for k in "xy"):
            made.x, made.y = float(place["x"]), float(place["y"])
        draft.add(made)
        self._steps.fill(made, kind, data)
        if made.kind == "placeholder":
            made.label = f"{kind}: {text(data.get('title')) or item}"
            made.source, made.lang = self._source(node)
            code = "unsupported_item" if kind in (*_UNSUPPORTED, "code") else "unknown_item"
            draft.note(
                code,
                made.id,
                f"{kind or 'This step'} has no counterpart here. It is kept as a placeholder.",
                line=made.line,
            )
        for secret in found_in(data):
            draft.secret(made.id, secret, made.line)
        if data.get("error_strategy") and not any(
            e.get("sourceHandle") == "fail-branch" and e.get("source") == item for e in self._edges
        ):
            draft.note(
                "error_branch_dropped", made.id, "What happens after an error is not taken over.", "warn", made.line
            )

    def _source(self, node: dict[str, Any]) -> tuple[str, str]:
        written = self._file.source(node) if self._file else ""
        return (written, "yaml") if written else (json.dumps(node, indent=2, ensure_ascii=False), "json")

    # --------------------------------------------------------------------------------------------- variables

    def _declared(self, workflow: dict[str, Any]) -> None:
        for given in items(workflow.get("conversation_variables")):
            entry = mapping(given)
            self._draft.variable(f"conversation.{text(entry.get('name'))}", entry.get("value"))
        for given in items(workflow.get("environment_variables")):
            entry = mapping(given)
            name = f"env.{text(entry.get('name'))}"
            if text(entry.get("value_type")) == "secret":
                if is_literal(entry.get("value")):
                    self._draft.secret(name, entry.get("value"))
            else:
                self._draft.variable(name, entry.get("value"))

    def _references(self) -> None:
        """What other nodes refer to is saved by the node that makes it."""
        for node in self._nodes:
            for root, field in _referenced(mapping(node.get("data")), self._ids):
                made = self._ids.get(root)
                if made is None:
                    continue
                name = f"{made}.{field}"
                self._draft.variable(name)
                asking = self._draft.nodes.get(self._ids.get(text(node.get("id")), ""))
                if asking is not None:
                    asking.data.setdefault("refers", {})[root] = made
                maker = self._draft.nodes[made]
                if maker.kind not in ("input", "loop"):
                    maker.data.setdefault("save_output", name)

    # ------------------------------------------------------------------------------------------------- edges

    def _start(self) -> None:
        draft = self._draft
        starts = [i for i, kind in self._kinds.items() if kind == "start"]
        if not starts:
            targets = {text(e.get("target")) for e in self._edges}
            free = [self._ids[i] for i in self._ids if i not in targets and self._kinds[i] != "note"]
            draft.start = free[0] if free else None
            return
        start = starts[0]
        node = draft.nodes[self._ids[start]]
        leaving = [e for e in self._edges if e.get("source") == start]
        if not node.data.get("inputs") and len(leaving) == 1 and text(leaving[0].get("target")) in self._ids:
            draft.start = self._ids[text(leaving[0].get("target"))]
            draft.remove(node.id)
            self._ids.pop(start)
            draft.fold(node.id, "start")
            draft.edges_folded += 1
            self._edges = [e for e in self._edges if e is not leaving[0]]
            return
        draft.start = node.id
        for other in starts[1:]:
            extra = draft.nodes[self._ids[other]]
            extra.kind, extra.label = "placeholder", f"start: {extra.label}"
            draft.note(
                "unsupported_item", extra.id, "A workflow has one start; this further one is kept as a placeholder."
            )

    def _connect(self) -> None:
        draft = self._draft
        out = self._ways_out()
        pairs: list[tuple[str, str]] = []
        decisions: dict[str, list[list[str]]] = {}
        for source, handles in out.items():
            kind = self._kinds[source]
            if kind in ("if-else", "question-classifier", "iteration", "loop"):
                decisions[source] = list(handles.values())
            elif kind not in _MARKERS:
                pairs += [(source, t) for found in handles.values() for t in found]
        for source in [i for i, kind in self._kinds.items() if kind in ("if-else", "question-classifier")]:
            self._decision(source, out.get(source, {}))
        folded = self._loops(out, decisions)
        following = {s: [t for found in h.values() for t in found] for s, h in out.items()}
        waits = {t for t in parallel_targets(following, decisions) if self._kinds.get(t) != "variable-aggregator"}
        known = [(s, t) for s, t in pairs if s in self._ids and t in self._ids]
        lower(draft, [(self._ids[s], self._ids[t]) for s, t in known], {self._ids[w] for w in waits if w in self._ids})
        draft.edges_lost += len(pairs) - len(known)
        for item in [i for i, kind in self._kinds.items() if kind in _MARKERS and i not in folded]:
            draft.lost.append(item)
            draft.edges_lost += sum(len(found) for found in out.get(item, {}).values())
            draft.note("invalid_source", item, "This marker belongs to a loop that is not in the file.", "loss")

    def _ways_out(self) -> dict[str, dict[str, list[str]]]:
        """Targets by source and handle; what leads to the end of a loop leads to what follows the loop."""
        draft = self._draft
        out: dict[str, dict[str, list[str]]] = {}
        exits = {i: self._parents.get(i, "") for i, kind in self._kinds.items() if kind == "loop-end"}
        after = {
            i: next((text(e.get("target")) for e in self._edges if e.get("source") == loop), "")
            for i, loop in exits.items()
        }
        for edge in self._edges:
            source, target = text(edge.get("source")), text(edge.get("target"))
            handle = text(edge.get("sourceHandle")) or "source"
            if handle == "fail-branch":
                draft.edges_lost += 1
                words = "The way after an error is not taken over."
                draft.note("error_branch_dropped", self._ids.get(source, source), words, "loss")
            elif source not in self._kinds or target not in self._kinds or source in exits:
                draft.edges_lost += 1
                draft.note(
                    "dangling_edge", f"{source} -> {target}", "This edge belongs to a step that is not in the file."
                )
            elif target in exits and after[target] not in self._ids:
                draft.edges_folded += 1
                out.setdefault(source, {}).setdefault(handle, [])
            else:
                out.setdefault(source, {}).setdefault(handle, []).append(after.get(target, target))
        for item in exits:
            before = next((text(e.get("source")) for e in self._edges if e.get("target") == item), "")
            made, behind = self._ids.get(before, before), self._ids.get(after[item])
            draft.fold(item, f"edge {made} -> {behind}" if behind else f"no outgoing edge of {made or 'anything'}")
        return out

    def _named(self, targets: list[str]) -> list[str]:
        return [self._ids[t] for t in targets if t in self._ids]

    def _decision(self, item: str, handles: dict[str, list[str]]) -> None:
        data = next(mapping(n.get("data")) for n in self._nodes if text(n.get("id")) == item)
        node = self._draft.nodes[self._ids[item]]
        ways: list[tuple[Case, list[str]]] = []
        if self._kinds[item] == "question-classifier":
            for entry in map(mapping, items(data.get("classes"))):
                name = text(entry.get("name"))
                rule = Rule(name, "class", "translated", text_is(name))
                ways.append(
                    (
                        Case(f"{node.id}_{text(entry.get('id'))}", rule=rule),
                        self._named(handles.get(text(entry.get("id")), [])),
                    )
                )
            known = {text(mapping(c).get("id")) for c in items(data.get("classes"))}
            lose(self._draft, node.id, sum(len(t) for h, t in handles.items() if h not in known))
            last = ways.pop()[1] if ways else []
            decide(self._draft, node.id, ways, last)
            return
        cases = [mapping(c) for c in items(data.get("cases"))] or [{"case_id": "true", **data}]
        for entry in cases:
            handle = text(first(entry, "case_id", "id")) or "true"
            ways.append(
                (Case(f"{node.id}_{handle}", rule=self._rule(entry, node)), self._named(handles.get(handle, [])))
            )
        decide(self._draft, node.id, ways, self._named(handles.get("false", [])))
        known = {"false", *(text(first(c, "case_id", "id")) or "true" for c in cases)}
        lose(self._draft, node.id, sum(len(t) for h, t in handles.items() if h not in known))

    def _rule(self, case: dict[str, Any], node: DraftNode) -> Rule:
        word = text(case.get("logical_operator")) or "and"
        written: list[str] = []
        tests: list[str | None] = []
        for entry in map(mapping, items(case.get("conditions"))):
            path, operator = self._steps.path(entry.get("variable_selector")), text(entry.get("comparison_operator"))
            value = entry.get("value")
            shown = "" if value in (None, "") else " " + json.dumps(value, ensure_ascii=False)
            written.append(f"{path} {operator}{shown}")
            tests.append(test(f"state[{path!r}]", operator, value))
        rule_text = f" {word} ".join(written)
        found = condition(tests, word)
        if found is None:
            self._draft.note("expression_kept", node.id, f"This condition is kept as text: {rule_text}", line=node.line)
        return Rule(rule_text or None, "dify", "translated" if found else "kept", found)

    def _loops(self, out: dict[str, dict[str, list[str]]], decisions: dict[str, list[list[str]]]) -> set[str]:
        """Loops: body, way back, what follows. The markers that were folded."""
        draft = self._draft
        folded: set[str] = set()
        for item in [i for i, kind in self._kinds.items() if kind in ("iteration", "loop") and i in self._ids]:
            loop = self._ids[item]
            children = [c for c, parent in self._parents.items() if parent == item]
            data = next(mapping(n.get("data")) for n in self._nodes if text(n.get("id")) == item)
            marker = next((c for c in children if self._kinds[c] in _MARKERS), None)
            if marker is not None:
                body = [t for found in out.get(marker, {}).values() for t in found]
                folded.add(marker)
            else:
                body = [c for c in [text(data.get("start_node_id"))] if c in self._ids]
            after = [t for found in out.get(item, {}).values() for t in found]
            case = Case(f"{loop}_next", rule=Rule("next item", "loop", "translated", NEXT_ITEM))
            edge = decide(draft, loop, [(case, self._named(body))], self._named(after))
            if marker is None:
                edge.counted -= min(edge.counted, len(body))
            else:
                draft.fold(marker, f"edge {loop} -> {case.target}" if case.target else f"no outgoing edge of {loop}")
            decisions[item] = [body, after]
            last = [c for c in children if c in self._ids and c not in out and self._kinds[c] != "note"]
            for child in last:
                draft.direct(self._ids[child], loop, counted=0)
        return folded


def _referenced(value: Any, known: dict[str, str]) -> Iterator[tuple[str, str]]:
    """``(node, field)`` of every reference in the data of a node."""
    if isinstance(value, str):
        for found in _REFERENCE.finditer(value):
            root, *fields = found.group(1).split(".")
            yield root, fields[0]
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _referenced(inner, known)
    elif isinstance(value, list):
        texts = [text(v) for v in value]
        if len(value) > 1 and all(isinstance(v, str) for v in value) and texts[0] in known:
            yield texts[0], texts[1]
        else:
            for inner in value:
                yield from _referenced(inner, known)
