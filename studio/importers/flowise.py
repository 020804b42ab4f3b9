"""Flowise agent flows and the older chatflows: the graph and the prompts, not the behaviour."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

from studio.importers.comparisons import condition, test
from studio.importers.conditions import NEXT_ITEM, answer_is, text_is
from studio.importers.detection import Detected
from studio.importers.dify import PREFACE
from studio.importers.draft import Case, Draft, DraftNode, Rule
from studio.importers.naming import node_id
from studio.importers.problems import WRONG_FILE, ImportProblem
from studio.importers.reading import first, items, mapping, text
from studio.importers.secrets import found_in
from studio.importers.structure import decide, finish, lose, lower, parallel_targets, unique

_HANDLE = re.compile(r"-output-(\d+)\Z")
_MARK = re.compile(r"\{\{\s*([^{}]+?)\s*\}\}")
_STATE = re.compile(r"\$flow\.state\.(\w+)\Z")
COMPATIBLE = (
    *("chatOpenAI", "azureChatOpenAI", "chatOllama", "chatOpenAICustom", "chatLocalAI", "chatOpenRouter"),
    *("chatLitellm", "openAI", "ollama", ""),
)


def read(detected: Detected, path: Path | None) -> Draft:
    """The flow of an export."""
    value = mapping(detected.value)
    nodes = [n for n in items(value.get("nodes")) if isinstance(n, dict)]
    edges = [e for e in items(value.get("edges")) if isinstance(e, dict)]
    if not nodes:
        raise ImportProblem("There are no steps in this file.", WRONG_FILE)
    draft = Draft(detected.kind, name=text(value.get("name")), description=text(value.get("description")))
    draft.preface, draft.items_in, draft.edges_in, draft.placed = PREFACE, len(nodes), len(edges), True
    nodes = unique(draft, nodes)
    if detected.kind == "flowise-chatflow":
        from studio.importers.flowise_chatflow import Chatflow

        Chatflow(draft, nodes, edges).run()
    else:
        _Flow(draft, nodes, edges).run()
    finish(draft)
    return draft


def plain(written: object) -> str:
    """HTML of the editor as plain text."""
    found = text(written)
    if "<" not in found:
        return html.unescape(found)
    found = re.sub(r"<br\s*/?>|</p>\s*<p[^>]*>|</(?:div|li|h\d)>", "\n", found)
    return html.unescape(re.sub(r"</?[A-Za-z][^<>]*>", "", found)).strip()


def place(node: DraftNode, source: dict[str, Any]) -> None:
    """The position of a node."""
    at = mapping(source.get("position"))
    if all(isinstance(at.get(k), int | float) for k in "xy"):
        node.x, node.y = float(at["x"]), float(at["y"])


class _Flow:
    """One agent flow."""

    def __init__(self, draft: Draft, nodes: list[dict[str, Any]], edges: list[dict[str, Any]]) -> None:
        self._draft = draft
        self._sources = {text(n.get("id")): n for n in nodes}
        self._edges = edges
        self._ids: dict[str, str] = {}
        self._jumps: dict[str, str] = {}

    def run(self) -> None:
        for number, (item, node) in enumerate(self._sources.items(), 1):
            kind = self._kind(item)
            if kind == "loop":
                self._jumps[item] = text(self._inputs(item).get("loopBackToNode")).partition("-")[0]
                continue
            made = self._draft.free(node_id(item, self._label(item), kind, number))
            self._draft.reserve(made)
            self._ids[item] = made
            if made != item:
                self._draft.note("id_changed", made, f"The id {item} became {made}.")
            self._node(item, node, made, kind)
        self._references()
        self._start()
        self._connect()

    def _data(self, item: str) -> dict[str, Any]:
        return mapping(self._sources[item].get("data"))

    def _inputs(self, item: str) -> dict[str, Any]:
        return mapping(self._data(item).get("inputs"))

    def _kind(self, item: str) -> str:
        return text(self._data(item).get("name")).removesuffix("Agentflow")

    def _label(self, item: str) -> str:
        return text(self._data(item).get("label")) or item

    # ------------------------------------------------------------------------------------------------- nodes

    def _node(self, item: str, source: dict[str, Any], made: str, kind: str) -> None:
        draft, given = self._draft, self._inputs(item)
        node = draft.add(DraftNode(made, "placeholder", self._label(item)))
        if not source.get("parentNode"):
            place(node, source)
        self._fill(node, kind, given)
        if node.kind == "placeholder":
            node.label = f"{kind}: {self._label(item)}"
            node.source, node.lang = json.dumps(source, indent=2, ensure_ascii=False), "json"
            known = kind in ("customFunction", "retriever")
            draft.note("unsupported_item" if known else "unknown_item", made, f"{kind} has no counterpart here.")
        for secret in found_in(given):
            draft.secret(made, secret)

    def _fill(self, node: DraftNode, kind: str, given: dict[str, Any]) -> None:
        match kind:
            case "start":
                node.kind = "input"
                fields = [text(mapping(f).get("name")) for f in items(given.get("formInputTypes"))]
                node.data["inputs"] = fields or None
                self._draft.inputs = {f: {"type": "string"} for f in fields}
                for entry in map(mapping, items(given.get("startState"))):
                    self._draft.variable(text(entry.get("key")), entry.get("value"))
            case "llm" | "agent":
                self._agent(node, kind, given)
            case "condition":
                node.kind = "switch"
            case "conditionAgent":
                node.kind = "agent"
                names = [plain(mapping(s).get("scenario")) for s in items(given.get("conditionAgentScenarios"))]
                node.data["classes"] = names
                asked = plain(given.get("conditionAgentInstructions"))
                node.data["instructions"] = f"{asked}\n\nAnswer with one of these alone: {'; '.join(names)}.".strip()
                self._model(node, "conditionAgent", given)
            case "humanInput":
                node.kind = "human_input"
                node.data["prompt"] = plain(first(given, "humanInputDescription", "humanInputModelPrompt")) or None
            case "iteration":
                node.kind, node.data["items"] = "loop", plain(given.get("iterationInput")) or None
            case _:
                self._fill_plain(node, kind, given)

    def _fill_plain(self, node: DraftNode, kind: str, given: dict[str, Any]) -> None:
        """Kinds whose settings are taken over as they are."""
        match kind:
            case "executeFlow":
                node.kind = "sub_workflow"
                node.data["flow"] = text(given.get("executeFlowSelectedFlow")) or None
                self._draft.note("code_not_available", node.id, "The flow that is called is not in the file.")
            case "tool":
                node.kind = "function"
                node.data.update(
                    preset="tool", function=text(first(given, "toolAgentflowSelectedTool", "selectedTool")) or None
                )
                self._draft.note("code_not_available", node.id, "The tool is not in the file.")
            case "http":
                node.kind = "function"
                node.data.update(preset="http", url=plain(given.get("url")), method=text(given.get("method")) or "GET")
            case "directReply":
                node.kind, node.data["text"] = "output", plain(given.get("directReplyMessage"))
            case "stickyNote":
                node.kind, node.data["text"] = "note", plain(given.get("note"))

    def _agent(self, node: DraftNode, kind: str, given: dict[str, Any]) -> None:
        node.kind = "agent"
        messages = [mapping(m) for m in items(given.get(f"{kind}Messages"))]
        system = [plain(m.get("content")) for m in messages if m.get("role") == "system"]
        others = [plain(m.get("content")) for m in messages if m.get("role") != "system"]
        others.append(plain(given.get(f"{kind}UserMessage")))
        node.data["instructions"] = "\n\n".join(filter(None, system)) or None
        node.data["prompt"] = "\n\n".join(filter(None, others)) or None
        self._model(node, kind, given)
        tools, approval = [], []
        for entry in map(mapping, items(given.get("agentTools"))):
            name = text(entry.get("agentSelectedTool"))
            if name:
                tools.append(name)
                if entry.get("agentSelectedToolRequiresHumanInput") is True:
                    approval.append(name)
                self._draft.tools.setdefault(name, {"name": name, "approval": "caller"})
        if tools:
            words = f"Tools that are not available here are kept as declarations: {', '.join(tools)}."
            self._draft.note("tool_unmapped", node.id, words)
        node.data.update(tools=tools or None, approval=approval or None)
        stores = items(given.get("agentKnowledgeDocumentStores")) + items(given.get("agentKnowledgeVSEmbeddings"))
        if stores:
            self._draft.note("setting_dropped", node.id, "Its knowledge stores have no counterpart here.")

    def _model(self, node: DraftNode, kind: str, given: dict[str, Any]) -> None:
        provider, config = text(given.get(f"{kind}Model")), mapping(given.get(f"{kind}ModelConfig"))
        node.data["model"] = text(first(config, "modelName", "model")) or None
        options = {}
        for name, ours in (("temperature", "temperature"), ("maxTokens", "max_tokens"), ("topP", "top_p")):
            value = config.get(name)
            if isinstance(value, str) and re.fullmatch(r"\d+(\.\d+)?", value):
                value = float(value) if "." in value else int(value)
            if isinstance(value, int | float):
                options[ours] = value
        node.data["options"] = options or None
        if provider not in COMPATIBLE:
            self._draft.note("model_unmapped", node.id, f"The model provider {provider} is not available here.")

    def _references(self) -> None:
        for item in self._sources:
            for found in _MARK.finditer(json.dumps(self._inputs(item), ensure_ascii=False)):
                maker = self._ids.get(found.group(1))
                if maker is not None and self._draft.nodes[maker].kind != "note":
                    self._draft.variable(f"{maker}.output")
                    self._draft.nodes[maker].data.setdefault("save_output", f"{maker}.output")

    # ------------------------------------------------------------------------------------------------- edges

    def _start(self) -> None:
        draft = self._draft
        starts = [i for i in self._ids if self._kind(i) == "start"]
        if not starts:
            targets = {text(e.get("target")) for e in self._edges}
            free = [m for i, m in self._ids.items() if i not in targets and draft.nodes[m].kind != "note"]
            draft.start = free[0] if free else None
            return
        start, given = starts[0], self._inputs(starts[0])
        leaving = [e for e in self._edges if e.get("source") == start]
        settings = bool(items(given.get("startState"))) or text(given.get("startInputType")) == "formInput"
        target = self._ids.get(text(leaving[0].get("target"))) if leaving else None
        if len(leaving) == 1 and not settings and target is not None:
            draft.start = target
            draft.remove(self._ids.pop(start))
            draft.fold(start, "start")
            draft.edges_folded += 1
            self._edges = [e for e in self._edges if e is not leaving[0]]
            return
        draft.start = self._ids[start]
        for other in starts[1:]:
            extra = draft.nodes[self._ids[other]]
            extra.kind, extra.label = "placeholder", f"start: {extra.label}"
            draft.note("unsupported_item", extra.id, "A flow has one start; this further one is kept as a placeholder.")

    def _connect(self) -> None:
        draft = self._draft
        out: dict[str, dict[int, list[str]]] = {}
        for edge in self._edges:
            source, target = text(edge.get("source")), text(edge.get("target"))
            found = _HANDLE.search(text(edge.get("sourceHandle")))
            goal = self._jumps.get(target, target)
            if source not in self._ids or goal not in self._ids:
                draft.edges_lost += 1
                draft.note(
                    "dangling_edge", f"{source} -> {target}", "This edge belongs to a step that is not in the file."
                )
                continue
            out.setdefault(source, {}).setdefault(int(found.group(1)) if found else 0, []).append(goal)
        self._fold_jumps()
        pairs, decisions, following = self._sorted(out)
        for item in self._ids:
            kind = self._kind(item)
            if kind in ("condition", "conditionAgent", "humanInput"):
                self._decision(item, kind, out.get(item, {}))
            elif kind == "iteration":
                self._iteration(item, out, decisions)
        waits = {self._ids[w] for w in parallel_targets(following, decisions) if w in self._ids}
        lower(draft, [(self._ids[s], self._ids[t]) for s, t in pairs], waits)

    def _sorted(
        self, out: dict[str, dict[int, list[str]]]
    ) -> tuple[list[tuple[str, str]], dict[str, list[list[str]]], dict[str, list[str]]]:
        """Plain connections, the ways out of decisions, and all connections."""
        pairs: list[tuple[str, str]] = []
        decisions: dict[str, list[list[str]]] = {}
        following = {s: [t for found in ways.values() for t in found] for s, ways in out.items()}
        for source, ways in out.items():
            if self._kind(source) in ("condition", "conditionAgent", "humanInput", "iteration"):
                decisions[source] = list(ways.values())
            else:
                pairs += [(source, t) for found in ways.values() for t in found]
        return pairs, decisions, following

    def _fold_jumps(self) -> None:
        draft = self._draft
        for item, goal in self._jumps.items():
            sources = [
                self._ids[text(e.get("source"))]
                for e in self._edges
                if e.get("target") == item and text(e.get("source")) in self._ids
            ]
            limit = self._inputs(item).get("maxLoopCount")
            if limit is not None:
                draft.note("setting_dropped", item, f"The limit of {limit} rounds has no counterpart here.")
            if goal in self._ids and sources:
                draft.fold(item, f"edge {sources[0]} -> {self._ids[goal]}")
            else:
                draft.lost.append(item)
                draft.note("dangling_edge", item, "This step goes back to a step that is not in the file.")

    def _named(self, found: list[str]) -> list[str]:
        return [self._ids[t] for t in found if t in self._ids]

    def _decision(self, item: str, kind: str, ways: dict[int, list[str]]) -> None:
        node, given = self._draft.nodes[self._ids[item]], self._inputs(item)
        if kind == "humanInput":
            case = Case(f"{node.id}_reject", rule=Rule("reject", "answer", "translated", answer_is("reject")))
            decide(self._draft, node.id, [(case, self._named(ways.get(1, [])))], self._named(ways.get(0, [])))
            lose(self._draft, node.id, sum(len(found) for n, found in ways.items() if n > 1))
            return
        if kind == "conditionAgent":
            names = list(node.data.get("classes") or [])
            cases = [
                (
                    Case(f"{node.id}_{n}", rule=Rule(name, "class", "translated", text_is(name))),
                    self._named(ways.get(n, [])),
                )
                for n, name in enumerate(names[:-1])
            ]
            decide(self._draft, node.id, cases, self._named(ways.get(len(names) - 1, [])))
            lose(self._draft, node.id, sum(len(found) for n, found in ways.items() if n >= max(len(names), 1)))
            return
        conditions = [mapping(c) for c in items(given.get("conditions"))]
        cases = [
            (Case(f"{node.id}_{n}", rule=self._rule(entry, node)), self._named(ways.get(n, [])))
            for n, entry in enumerate(conditions)
        ]
        decide(self._draft, node.id, cases, self._named(ways.get(len(conditions), [])))
        lose(self._draft, node.id, sum(len(found) for n, found in ways.items() if n > len(conditions)))

    def _rule(self, entry: dict[str, Any], node: DraftNode) -> Rule:
        left = _MARK.sub(lambda m: m.group(1), plain(entry.get("value1"))).strip()
        operator, right = text(entry.get("operation")), entry.get("value2")
        right = plain(right) if isinstance(right, str) else right
        written = f"{left} {operator}" + ("" if right in (None, "") else f" {json.dumps(right, ensure_ascii=False)}")
        state = _STATE.fullmatch(left)
        where = f"state[{state.group(1)!r}]" if state else "text" if left in ("question", "$question") else None
        if where is None and left in self._ids:
            where = f"state[{self._ids[left] + '.output'!r}]"
        if state:
            self._draft.variable(state.group(1))
        found = condition([test(where, operator, right)]) if where else None
        if found is None:
            self._draft.note("expression_kept", node.id, f"This condition is kept as text: {written}")
        return Rule(written, "flowise", "translated" if found else "kept", found)

    def _iteration(
        self, item: str, out: dict[str, dict[int, list[str]]], decisions: dict[str, list[list[str]]]
    ) -> None:
        draft, loop = self._draft, self._ids[item]
        children = [
            c
            for c in self._ids
            if self._sources[c].get("parentNode") == item and draft.nodes[self._ids[c]].kind != "note"
        ]
        targets = {text(e.get("target")) for e in self._edges}
        body = [c for c in children if c not in targets][:1]
        after = [t for found in out.get(item, {}).values() for t in found]
        case = Case(f"{loop}_next", rule=Rule("next item", "loop", "translated", NEXT_ITEM))
        edge = decide(draft, loop, [(case, self._named(body))], self._named(after))
        edge.counted -= len(body)
        decisions[item] = [body, after]
        for child in children:
            if child not in out:
                draft.direct(self._ids[child], loop, counted=0)
