"""Langflow flows: the graph and the prompts, not the behaviour."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from studio.importers.comparisons import condition, test
from studio.importers.conditions import NEXT_ITEM
from studio.importers.detection import Detected
from studio.importers.dify import PREFACE
from studio.importers.draft import Case, Draft, DraftNode, Rule
from studio.importers.flowise import place
from studio.importers.naming import node_id
from studio.importers.problems import WRONG_FILE, ImportProblem
from studio.importers.reading import first, items, mapping, text
from studio.importers.secrets import found_in
from studio.importers.structure import decide, finish, lose, lower, parallel_targets, unique

_INPUTS, _OUTPUTS = (
    ("ChatInput", "TextInput", "TextInputComponent"),
    ("ChatOutput", "TextOutput", "TextOutputComponent"),
)
_COMPATIBLE = (
    "OpenAI",
    "AzureOpenAI",
    "Ollama",
    "LanguageModelComponent",
    "LMStudio",
    "OpenRouter",
    "LanguageModel",
    "",
)
_MARK = re.compile(r"\{(\w+)\}")
_MEMORIES = ("Memory", "MessageHistory", "ChatMemory")


@dataclass(frozen=True, slots=True)
class _Edge:
    """From an output to a field; ``back`` if it leads into an output of a loop."""

    source: str
    output: str
    target: str
    field: str
    back: bool


def read(detected: Detected, path: Path | None) -> Draft:
    """The flow of an export."""
    value = mapping(detected.value)
    data = mapping(value.get("data"))
    nodes = [n for n in items(data.get("nodes")) if isinstance(n, dict)]
    if not nodes:
        raise ImportProblem("There are no components in this file.", WRONG_FILE)
    edges = [_edge(e) for e in items(data.get("edges")) if isinstance(e, dict)]
    draft = Draft("langflow", name=text(value.get("name")), description=text(value.get("description")))
    draft.preface, draft.items_in, draft.edges_in, draft.placed = PREFACE, len(nodes), len(edges), True
    _Flow(draft, unique(draft, nodes), edges).run()
    finish(draft)
    return draft


def _handle(value: Any) -> dict[str, Any]:
    """A handle: an object, or JSON with another sign for the quote."""
    if isinstance(value, str):
        try:
            value = json.loads(value.replace("œ", '"'))
        except (ValueError, RecursionError):
            return {}
    return mapping(value)


def _edge(edge: dict[str, Any]) -> _Edge:
    data = mapping(edge.get("data"))
    source = _handle(data.get("sourceHandle")) or _handle(edge.get("sourceHandle"))
    target = _handle(data.get("targetHandle")) or _handle(edge.get("targetHandle"))
    field = text(target.get("fieldName"))
    back = not field and text(target.get("name")) == "item"
    return _Edge(text(edge.get("source")), text(source.get("name")), text(edge.get("target")), field, back)


class _Flow:
    """One flow."""

    def __init__(self, draft: Draft, nodes: list[dict[str, Any]], edges: list[_Edge]) -> None:
        self._draft = draft
        self._sources = {text(n.get("id")): n for n in nodes}
        self._edges = edges
        self._ids: dict[str, str] = {}

    def run(self) -> None:
        parts = self._parts()
        for number, (item, source) in enumerate(self._sources.items(), 1):
            if item not in parts:
                made = self._draft.free(node_id(item, self._label(item), self._kind(item), number))
                self._ids[item] = made
                self._node(item, source, made)
        for item, owner in parts.items():
            self._part(item, owner)
        self._draft.edges_folded += sum(1 for e in self._edges if e.source in parts)
        self._edges = [e for e in self._edges if e.source not in parts]
        self._start()
        self._connect()

    def _data(self, item: str) -> dict[str, Any]:
        return mapping(self._sources[item].get("data"))

    def _kind(self, item: str) -> str:
        return text(self._data(item).get("type")) or text(self._sources[item].get("type"))

    def _label(self, item: str) -> str:
        node = mapping(self._data(item).get("node"))
        return text(node.get("display_name")) or self._kind(item) or item

    def _field(self, item: str, *names: str) -> Any:
        template = mapping(mapping(self._data(item).get("node")).get("template"))
        return first({n: mapping(template.get(n)).get("value") for n in names}, *names)

    def _parts(self) -> dict[str, str]:
        """Tools and memories: they become settings of the agent they lead to."""
        found: dict[str, str] = {}
        for item in self._sources:
            leaving = [e for e in self._edges if e.source == item]
            arriving = any(e.target == item for e in self._edges)
            tools = bool(leaving) and all(e.field == "tools" for e in leaving)
            memory = self._kind(item) in _MEMORIES and bool(leaving) and all(self._is_agent(e.target) for e in leaving)
            if (tools or memory) and not arriving and leaving[0].target in self._sources:
                found[item] = leaving[0].target
        return found

    def _is_agent(self, item: str) -> bool:
        kind = self._kind(item) if item in self._sources else ""
        return kind == "Agent" or kind.endswith(("Model", "LanguageModelComponent")) or kind == "LanguageModelComponent"

    def _part(self, item: str, owner: str) -> None:
        draft, node = self._draft, self._draft.nodes[self._ids[owner]]
        for secret in found_in(mapping(self._data(item).get("node")).get("template")):
            draft.secret(item, secret)
        if self._kind(item) in _MEMORIES:
            draft.fold(item, node.id)
            draft.note(
                "semantics_differ", item, "The memory is a part of the agent here: it keeps its own conversation."
            )
            return
        name = "".join(c if c.isalnum() or c in "_-" else "_" for c in self._label(item))[:64]
        node.data["tools"] = [*(node.data.get("tools") or []), name]
        draft.tools.setdefault(name, {"name": name, "approval": "caller"})
        draft.fold(item, f"tool of {node.id}")
        if not any(e.code == "tool_unmapped" and e.item == node.id for e in draft.entries):
            draft.note("tool_unmapped", node.id, "Its tools are not available here; they are kept as declarations.")

    # ------------------------------------------------------------------------------------------------- nodes

    def _node(self, item: str, source: dict[str, Any], made: str) -> None:
        draft, kind = self._draft, self._kind(item)
        node = draft.add(DraftNode(made, "placeholder", self._label(item)))
        place(node, source)
        if made != item:
            draft.note("id_changed", made, f"The id {item} became {made}.")
        self._fill(node, item, kind)
        if node.kind == "placeholder":
            node.label = f"{kind}: {self._label(item)}"
            code = self._field(item, "code")
            node.source = text(code) or json.dumps(source, indent=2, ensure_ascii=False)
            node.lang = "python" if code else "json"
            draft.note("unsupported_item", made, f"{kind} has no counterpart here. It is kept as a placeholder.")
        for secret in found_in(mapping(self._data(item).get("node")).get("template")):
            draft.secret(made, secret)

    def _fill(self, node: DraftNode, item: str, kind: str) -> None:
        if kind in _INPUTS:
            node.kind = "input"
            node.data["value"] = text(self._field(item, "input_value")) or None
        elif kind in _OUTPUTS:
            node.kind = "output"
        elif kind.startswith("Prompt"):
            node.kind, node.data["template"] = "transform", text(self._field(item, "template"))
            node.data["slots"] = self._slots(item, node.data["template"]) or None
        elif self._is_agent(item):
            self._agent(node, item, kind)
        elif kind == "ConditionalRouter":
            node.kind = "switch"
        elif kind == "LoopComponent":
            node.kind = "loop"
        elif kind in ("RunFlow", "SubFlow"):
            node.kind = "sub_workflow"
            node.data["flow"] = text(self._field(item, "flow_name_selected", "flow_name")) or None
            self._draft.note("code_not_available", node.id, "The flow that is called is not in the file.")
        elif kind.lower().startswith("note") or text(self._sources[item].get("type")) == "noteNode":
            inner = mapping(self._data(item).get("node"))
            node.kind, node.data["text"] = "note", text(inner.get("description"))
            node.label = text(inner.get("display_name")) or "Note"

    def _slots(self, item: str, template: str) -> dict[str, str]:
        """What the marks of a prompt stand for: what comes in for the one field with an edge, the text of the others.
        Nothing if several edges lead to it."""
        fields = [e.field for e in self._edges if e.target == item]
        names = set(_MARK.findall(template))
        if len(fields) != 1 or fields[0] not in names:
            return {}
        return {fields[0]: "{text}"} | {name: text(self._field(item, name)) for name in sorted(names - {fields[0]})}

    def _agent(self, node: DraftNode, item: str, kind: str) -> None:
        node.kind = "agent"
        instructions = text(self._field(item, "system_prompt", "system_message"))
        node.data["instructions"] = instructions or None
        node.data["model"] = text(self._field(item, "model_name", "model")) or None
        options = {n: self._field(item, n) for n in ("temperature", "max_tokens")}
        node.data["options"] = {
            k: v for k, v in options.items() if isinstance(v, int | float) and not isinstance(v, bool)
        } or None
        provider = (
            text(self._field(item, "agent_llm", "provider")) if kind in ("Agent", "LanguageModelComponent") else ""
        )
        provider = provider or kind.removesuffix("Model").replace("Agent", "")
        if provider.replace(" ", "") not in _COMPATIBLE:
            self._draft.note("model_unmapped", node.id, f"The model provider {provider} is not available here.")

    # ------------------------------------------------------------------------------------------------- edges

    def _start(self) -> None:
        draft = self._draft
        inputs = [i for i in self._ids if draft.nodes[self._ids[i]].kind == "input"]
        if inputs:
            leaving = [e for e in self._edges if e.source == inputs[0]]
            target = self._ids.get(leaving[0].target) if leaving else None
            if len(leaving) == 1 and target is not None and not draft.nodes[self._ids[inputs[0]]].data.get("value"):
                draft.start = target
                draft.remove(self._ids.pop(inputs[0]))
                draft.fold(inputs[0], "start")
                draft.edges_folded += 1
                self._edges = [e for e in self._edges if e is not leaving[0]]
            else:
                draft.start = self._ids[inputs[0]]
            for other in inputs[1:]:
                extra = draft.nodes[self._ids[other]]
                extra.kind, extra.label = "placeholder", f"{self._kind(other)}: {extra.label}"
                draft.note("unsupported_item", extra.id, "A workflow has one start; this further one is a placeholder.")
            return
        targets = {e.target for e in self._edges if not e.back}
        free = [m for i, m in self._ids.items() if i not in targets and draft.nodes[m].kind != "note"]
        draft.start = free[0] if free else None

    def _connect(self) -> None:
        draft = self._draft
        pairs: list[tuple[str, str]] = []
        fields: dict[tuple[str, str], set[str]] = {}
        following: dict[str, list[str]] = {}
        decisions: dict[str, list[list[str]]] = {}
        out: dict[str, dict[str, list[str]]] = {}
        for edge in self._edges:
            if edge.source not in self._ids or edge.target not in self._ids:
                draft.edges_lost += 1
                name = f"{edge.source} -> {edge.target}"
                draft.note("dangling_edge", name, "This edge belongs to a component that is not in the file.")
                continue
            following.setdefault(edge.source, []).append(edge.target)
            out.setdefault(edge.source, {}).setdefault(edge.output, []).append(edge.target)
            if draft.nodes[self._ids[edge.source]].kind not in ("switch", "loop"):
                pairs.append((edge.source, edge.target))
                fields.setdefault((edge.target, edge.field), set()).add(edge.source)
        for item, made in self._ids.items():
            kind = draft.nodes[made].kind
            if kind in ("switch", "loop"):
                ways = out.get(item, {})
                decisions[item] = list(ways.values())
                self._decision(item, made, kind, ways)
        waits = {t for t in parallel_targets(following, decisions) if sum(1 for (to, _) in fields if to == t) > 1}
        lower(draft, [(self._ids[s], self._ids[t]) for s, t in pairs], {self._ids[w] for w in waits})

    def _decision(self, item: str, made: str, kind: str, ways: dict[str, list[str]]) -> None:
        first_out, other = ("true_result", "false_result") if kind == "switch" else ("item", "done")
        rule = self._rule(item, made) if kind == "switch" else Rule("next item", "loop", "translated", NEXT_ITEM)
        case = Case(f"{made}_{'true' if kind == 'switch' else 'next'}", rule=rule)
        named = {name: [self._ids[t] for t in found if t in self._ids] for name, found in ways.items()}
        decide(self._draft, made, [(case, named.get(first_out, []))], named.get(other, []))
        lose(self._draft, made, sum(len(found) for name, found in ways.items() if name not in (first_out, other)))

    def _rule(self, item: str, made: str) -> Rule:
        operator, value = text(self._field(item, "operator")) or "equals", self._field(item, "match_text")
        written = f"input_text {operator} {json.dumps(value, ensure_ascii=False)}"
        found = condition([test("text", operator, value)])
        if found is None:
            self._draft.note("expression_kept", made, f"This condition is kept as text: {written}")
        return Rule(written, "langflow", "translated" if found else "kept", found)
