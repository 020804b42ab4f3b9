"""n8n workflows: the graph and the prompts, not the behaviour."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from studio.importers.conditions import NEXT_ITEM, text_is
from studio.importers.detection import Detected
from studio.importers.dify import PREFACE
from studio.importers.draft import Case, Draft, DraftNode, Rule
from studio.importers.n8n_rules import rule, v1_conditions
from studio.importers.naming import from_name
from studio.importers.problems import WRONG_FILE, ImportProblem
from studio.importers.reading import first, items, mapping, text
from studio.importers.secrets import found_in
from studio.importers.structure import decide, finish, lose, lower

_FOLDED_TRIGGERS = ("manualTrigger", "chatTrigger", "start", "executeWorkflowTrigger")
_AGENTS = (
    "agent",
    "chainLlm",
    "chainSummarization",
    "chainRetrievalQa",
    "openAi",
    "openAiAssistant",
    "informationExtractor",
)
_COMPATIBLE = ("lmChatOpenAi", "lmOpenAi", "lmChatAzureOpenAi", "lmChatOllama", "lmOllama", "lmChatOpenRouter")
_WAITS = ("form", "webhook")


def read(detected: Detected, path: Path | None) -> Draft:
    """The workflow of an export."""
    value = mapping(detected.value)
    nodes = [n for n in items(value.get("nodes")) if isinstance(n, dict)]
    if not nodes:
        raise ImportProblem("There are no nodes in this file.", WRONG_FILE)
    draft = Draft("n8n", name=text(value.get("name")), preface=PREFACE, items_in=len(nodes), edges_in=0, placed=True)
    _Flow(draft, nodes, mapping(value.get("connections"))).run()
    finish(draft)
    return draft


class _Flow:
    """One workflow; nodes are addressed by name."""

    def __init__(self, draft: Draft, nodes: list[dict[str, Any]], connections: dict[str, Any]) -> None:
        self._draft = draft
        self._sources: dict[str, dict[str, Any]] = {}
        for number, node in enumerate(nodes, 1):
            name = text(node.get("name")) or f"node {number}"
            self._sources[f"{name} ({number})" if name in self._sources else name] = node
        self._main: dict[str, list[list[str]]] = {}
        self._parts: dict[str, list[tuple[str, str]]] = {}
        self._ids: dict[str, str] = {}
        self._sort(connections)

    def _sort(self, connections: dict[str, Any]) -> None:
        """Main connections by output, and those that fold a part into a node."""
        draft = self._draft
        for source, kinds in connections.items():
            for kind, outputs in mapping(kinds).items():
                for number, output in enumerate(items(outputs)):
                    for entry in items(output):
                        target = text(mapping(entry).get("node"))
                        draft.edges_in = (draft.edges_in or 0) + 1
                        if source not in self._sources or target not in self._sources:
                            draft.edges_lost += 1
                            words = "This connection belongs to a node that is not in the file."
                            draft.note("dangling_edge", f"{source} -> {target}", words)
                        elif kind == "main":
                            ways = self._main.setdefault(source, [])
                            ways.extend([] for _ in range(number + 1 - len(ways)))
                            ways[number].append(target)
                        else:
                            self._parts.setdefault(source, []).append((kind, target))

    def run(self) -> None:
        draft = self._draft
        for name, source in self._sources.items():
            if name in self._parts and name not in self._main:
                continue
            made = draft.free(from_name(name, self._kind(name)))
            self._ids[name] = made
            self._node(name, source, made)
        for name in self._parts:
            draft.edges_folded += len(self._parts[name])
            if name not in self._ids:
                self._part(name)
        self._start()
        self._connect()

    def _kind(self, name: str) -> str:
        return text(self._sources[name].get("type")).rpartition(".")[2]

    def _given(self, name: str) -> dict[str, Any]:
        return mapping(self._sources[name].get("parameters"))

    # ------------------------------------------------------------------------------------------------- nodes

    def _node(self, name: str, source: dict[str, Any], made: str) -> None:
        draft, kind, given = self._draft, self._kind(name), self._given(name)
        node = draft.add(DraftNode(made, "placeholder", name))
        at = items(source.get("position"))
        if len(at) == 2 and all(isinstance(v, int | float) for v in at):
            node.x, node.y = float(at[0]), float(at[1])
        if source.get("disabled") is True and kind != "stickyNote":
            node.kind = "pass"
            draft.note("setting_dropped", made, "The node was switched off: it passes its input on.")
        else:
            self._fill(node, kind, given)
        if node.kind == "placeholder":
            node.label = f"{kind}: {name}"
            node.source, node.lang = json.dumps(source, indent=2, ensure_ascii=False), "json"
            draft.note("unsupported_item", made, f"{kind} has no counterpart here. It is kept as a placeholder.")
        if source.get("credentials"):
            draft.note("credential_not_imported", made, "Its stored credential is not imported.")
        for secret in found_in(given):
            draft.secret(made, secret)

    def _is_trigger(self, name: str) -> bool:
        kind = self._kind(name)
        return kind.endswith(("Trigger", "webhook", "cron", "interval")) or kind == "start"

    def _fill(self, node: DraftNode, kind: str, given: dict[str, Any]) -> None:
        draft = self._draft
        if self._is_trigger(node.label):
            node.kind = "pass" if kind in _FOLDED_TRIGGERS else "input"
            if node.kind == "input":
                node.data["trigger"] = given or None
                draft.note(
                    "trigger_dropped",
                    node.id,
                    f"The trigger {kind} has no counterpart: the workflow is started by hand.",
                )
        elif kind in _AGENTS:
            self._agent(node, kind, given)
        elif kind == "textClassifier":
            node.kind = "agent"
            names = [
                text(mapping(c).get("category")) for c in items(mapping(given.get("categories")).get("categories"))
            ]
            node.data["classes"] = names
            node.data["instructions"] = f"Answer with one of these words alone: {', '.join(names)}."
        else:
            self._fill_plain(node, kind, given)

    def _fill_plain(self, node: DraftNode, kind: str, given: dict[str, Any]) -> None:
        """Kinds whose settings are taken over as they are."""
        draft = self._draft
        if kind in ("if", "switch"):
            node.kind = "switch"
        elif kind == "merge":
            node.kind, node.data["mode"] = "transform", text(given.get("mode")) or None
        elif kind == "splitInBatches":
            node.kind, node.data["batch_size"] = "loop", given.get("batchSize")
        elif kind == "set":
            node.kind, node.data["value"] = "transform", given
            self._expressions(node, given)
        elif kind == "httpRequest":
            node.kind = "function"
            node.data.update(
                preset="http", url=text(given.get("url")).removeprefix("="), method=text(given.get("method")) or "GET"
            )
            self._expressions(node, given)
        elif kind == "executeWorkflow":
            node.kind = "sub_workflow"
            draft.note("code_not_available", node.id, "The workflow that is called is not in the file.")
        elif (
            text(given.get("operation")) == "sendAndWait"
            or (kind == "wait" and text(given.get("resume")) in _WAITS)
            or kind == "form"
        ):
            node.kind = "human_input"
            node.data["prompt"] = text(first(given, "message", "formTitle")) or None
            draft.note("setting_dropped", node.id, "Asks in this window instead of the other program.", "info")
        elif kind == "respondToWebhook":
            node.kind, node.data["text"] = "output", text(given.get("responseBody")).removeprefix("=")
        elif kind == "noOp":
            node.kind = "pass"
        elif kind == "stickyNote":
            node.kind, node.data["text"] = "note", text(given.get("content"))

    def _expressions(self, node: DraftNode, given: Any) -> None:
        if not any(e.code == "expression_kept" and e.item == node.id for e in self._draft.entries) and _has_expression(
            given
        ):
            self._draft.note("expression_kept", node.id, "Expressions of n8n are kept as text.")

    def _agent(self, node: DraftNode, kind: str, given: dict[str, Any]) -> None:
        node.kind = "agent"
        options = mapping(given.get("options"))
        messages = [mapping(m) for m in items(mapping(given.get("messages")).get("messageValues"))]
        messages += [mapping(m) for m in items(mapping(given.get("messages")).get("values"))]
        system = [text(first(m, "message", "content")) for m in messages if text(m.get("role")) in ("system", "")]
        others = [text(first(m, "message", "content")) for m in messages if text(m.get("role")) not in ("system", "")]
        instructions = text(options.get("systemMessage")) or "\n\n".join(filter(None, system))
        node.data["instructions"] = instructions.removeprefix("=") or None
        prompt = text(first(given, "text", "prompt")) or "\n\n".join(filter(None, others))
        node.data["prompt"] = prompt.removeprefix("=") or None
        model = first(given, "modelId", "model")
        if model is not None:
            node.data["model"] = _model_name(model)
        self._expressions(node, [prompt, instructions])

    def _part(self, name: str) -> None:
        """Model, memory, tool or parser: a setting of the node it is connected with."""
        draft, given = self._draft, self._given(name)
        kind, target = self._parts[name][0]
        owner = self._ids.get(target)
        part = self._kind(name)
        draft.fold(name, owner or self._owner_of(target))
        node = draft.nodes.get(owner or self._owner_of(target))
        for secret in found_in(given):
            draft.secret(name, secret)
        if self._sources[name].get("credentials"):
            draft.note("credential_not_imported", name, "Its stored credential is not imported.")
        if node is None:
            return
        if kind == "ai_languageModel":
            node.data["model"] = _model_name(first(given, "model", "modelName", "modelId")) or None
            options = {
                k: v for k, v in mapping(given.get("options")).items() if k in ("temperature", "maxTokens", "topP")
            }
            renamed = {"maxTokens": "max_tokens", "topP": "top_p"}
            node.data["options"] = {renamed.get(k, k): v for k, v in options.items()} or None
            if part not in _COMPATIBLE:
                draft.note(
                    "model_unmapped", node.id, f"The model node {part} is not available here; choose a provider."
                )
        elif kind == "ai_memory":
            draft.note(
                "semantics_differ", name, "The memory is a part of the agent here: it keeps its own conversation."
            )
        elif kind == "ai_tool":
            self._tool(name, part, given, node)
        elif kind == "ai_outputParser":
            node.data["output_schema_name"] = text(first(given, "jsonSchemaExample", "inputSchema")) or name
        else:
            draft.note("setting_dropped", name, f"The part {name} has no effect here.")

    def _owner_of(self, target: str) -> str:
        """The node behind a chain of parts."""
        for _ in range(20):
            if target in self._ids or target not in self._parts:
                break
            target = self._parts[target][0][1]
        return self._ids.get(target, target)

    def _tool(self, name: str, part: str, given: dict[str, Any], node: DraftNode) -> None:
        tool = text(given.get("name")) or from_name(name, "tool")
        tool = "".join(c if c.isalnum() or c in "_-" else "_" for c in tool)[:64]
        node.data["tools"] = [*(node.data.get("tools") or []), tool]
        described = text(first(given, "description", "toolDescription"))
        self._draft.tools.setdefault(tool, {"name": tool, "description": described, "approval": "caller"})
        if part in ("toolWorkflow", "toolCode"):
            self._draft.note(
                "code_not_available", name, f"What the tool {tool} does is not taken over; it is declared."
            )
        else:
            self._draft.note(
                "tool_unmapped", name, f"The tool {tool} is not available here; it is kept as a declaration."
            )

    # ------------------------------------------------------------------------------------------------- edges

    def _start(self) -> None:
        draft = self._draft
        triggers = [n for n in self._ids if self._is_trigger(n) and draft.nodes[self._ids[n]].kind in ("pass", "input")]
        if not triggers:
            targets = {t for ways in self._main.values() for found in ways for t in found}
            free = [m for n, m in self._ids.items() if n not in targets and draft.nodes[m].kind != "note"]
            draft.start = free[0] if free else None
            return
        start = triggers[0]
        leaving = [t for found in self._main.get(start, []) for t in found]
        if draft.nodes[self._ids[start]].kind == "pass" and len(leaving) == 1 and leaving[0] in self._ids:
            draft.start = self._ids[leaving[0]]
            draft.remove(self._ids.pop(start))
            draft.fold(start, "start")
            draft.edges_folded += 1
            del self._main[start]
        else:
            draft.start = self._ids[start]
        for other in triggers[1:]:
            extra = draft.nodes[self._ids[other]]
            extra.kind, extra.label = "placeholder", f"{self._kind(other)}: {other}"
            extra.source = json.dumps(self._sources[other], indent=2, ensure_ascii=False)
            draft.note("unsupported_item", extra.id, "A workflow has one start; this further trigger is a placeholder.")

    def _connect(self) -> None:
        draft = self._draft
        pairs: list[tuple[str, str]] = []
        for name, ways in self._main.items():
            if name not in self._ids:
                continue
            made = self._ids[name]
            named = [[self._ids[t] for t in found if t in self._ids] for found in ways]
            if self._sources[name].get("onError") == "continueErrorOutput" and len(named) > 1:
                lost = named.pop()
                draft.edges_lost += len(lost)
                draft.note("error_branch_dropped", made, "The way after an error is not taken over.", "loss")
            kind = draft.nodes[made].kind
            if kind in ("switch", "loop") or draft.nodes[made].data.get("classes"):
                self._decision(name, made, named)
            else:
                pairs += [(made, t) for found in named for t in found]
        for name, made in self._ids.items():
            if draft.nodes[made].kind in ("switch", "loop") and name not in self._main:
                self._decision(name, made, [])
        merges = {
            self._ids[n]
            for n in self._ids
            if self._kind(n) == "merge" and draft.nodes[self._ids[n]].kind == "transform"
        }
        lower(draft, pairs, merges)

    def _decision(self, name: str, made: str, ways: list[list[str]]) -> None:
        draft, kind, given = self._draft, self._kind(name), self._given(name)

        def way(number: int) -> list[str]:
            return ways[number] if number < len(ways) else []

        if kind == "splitInBatches":
            case = Case(f"{made}_next", rule=Rule("next item", "loop", "translated", NEXT_ITEM))
            decide(draft, made, [(case, way(1))], way(0))
            lose(draft, made, sum(len(w) for w in ways[2:]))
            return
        if kind == "textClassifier":
            names = list(draft.nodes[made].data.get("classes") or [])
            fallback = text(mapping(given.get("options")).get("fallback")) == "other"
            listed = names if fallback else names[:-1]
            cases = [
                (Case(f"{made}_{n}", rule=Rule(c, "class", "translated", text_is(c))), way(n))
                for n, c in enumerate(listed)
            ]
            decide(draft, made, cases, way(len(listed)))
            lose(draft, made, sum(len(w) for w in ways[len(listed) + 1 :]))
            return
        tests = [given] if kind == "if" else self._switch_rules(given)
        cases = []
        for number, entry in enumerate(tests):
            found = rule(entry)
            if found.state == "kept":
                draft.note("expression_kept", made, f"This condition is kept as text: {found.text}")
            cases.append((Case(f"{made}_{number}", rule=found), way(number)))
        decide(draft, made, cases, way(len(tests)))
        lose(draft, made, sum(len(w) for w in ways[len(tests) + 1 :]))

    def _switch_rules(self, given: dict[str, Any]) -> list[dict[str, Any]]:
        rules = mapping(given.get("rules"))
        newer = [mapping(v) for v in items(rules.get("values"))]
        return newer or [v1_conditions(given, mapping(r)) for r in items(rules.get("rules"))]


def _model_name(value: Any) -> str:
    return text(mapping(value).get("value")) if isinstance(value, dict) else text(value).removeprefix("=")


def _has_expression(value: Any) -> bool:
    if isinstance(value, str):
        return value.startswith("=") and "{{" in value
    if isinstance(value, dict):
        return any(_has_expression(v) for v in value.values())
    return isinstance(value, list) and any(_has_expression(v) for v in value)
