"""Teams of AutoGen Studio: component files, galleries of them, and the older layout without components."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from studio.importers import py_types
from studio.importers.conditions import text_contains
from studio.importers.detection import Detected
from studio.importers.draft import Draft, DraftEdge, DraftNode, Rule
from studio.importers.finish import imported
from studio.importers.naming import node_id
from studio.importers.problems import WRONG_FILE, ImportProblem
from studio.importers.python_source import parse
from studio.importers.reading import first, items, mapping, text
from studio.importers.secrets import found_in
from studio.importers.structure import barrier, fan_out, finish

_COMPATIBLE = ("OpenAIChatCompletionClient", "AzureOpenAIChatCompletionClient", "OllamaChatCompletionClient", "")


def read(detected: Detected, path: Path | None) -> Draft:
    """The team of the file; of a gallery the chosen one or the first."""
    value = detected.value
    draft = Draft(detected.kind)
    if detected.kind == "autogen-studio-gallery":
        teams = [t for t in items(mapping(value.get("components")).get("teams")) if isinstance(t, dict)]
        if not teams:
            raise ImportProblem("There is no team in this gallery.", WRONG_FILE)
        names = [_name(team) for team in teams]
        chosen = names.index(detected.choice) if detected.choice in names else 0
        if detected.choice.isdigit() and int(detected.choice) < len(teams):
            chosen = int(detected.choice)
        value = teams[chosen]
        for number, name in enumerate(names):
            if number != chosen:
                draft.choices.append(name)
                draft.note("not_selected", name, "The gallery has this team too; it was not imported.")
    _Team(draft, _component(value) if detected.kind != "autogen-studio-old" else _older(value)).run()
    finish(draft)
    return draft


def _name(team: dict[str, Any]) -> str:
    return text(mapping(team.get("config")).get("name")) or text(team.get("label")) or _class(team)


def _class(component: dict[str, Any]) -> str:
    return text(component.get("provider")).rpartition(".")[2]


def _component(value: Any) -> dict[str, Any]:
    return mapping(value)


def _older(value: dict[str, Any]) -> dict[str, Any]:
    """The layout before components, as components."""
    participants = [
        {"provider": text(p.get("agent_type")), "component_type": "agent", "config": {**p, "tools": _older_tools(p)}}
        for p in items(value.get("participants"))
        if isinstance(p, dict)
    ]
    config = {**value, "participants": participants}
    config["termination_condition"] = _older_stop(value.get("termination_condition"))
    return {
        "provider": text(value.get("team_type")),
        "component_type": "team",
        "config": config,
        "label": value.get("name"),
    }


def _older_tools(agent: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"provider": "FunctionTool", "config": {**t, "source_code": t.get("content")}}
        for t in items(agent.get("tools"))
        if isinstance(t, dict)
    ]


def _older_stop(value: Any) -> dict[str, Any] | None:
    if not isinstance(value, dict):
        return None
    kind = text(value.get("termination_type")).replace("CombinationTermination", "OrTerminationCondition")
    inner = [_older_stop(c) for c in items(value.get("conditions"))]
    return {"provider": kind, "config": {**value, "conditions": [c for c in inner if c]}}


class _Team:
    """One team."""

    def __init__(self, draft: Draft, team: dict[str, Any]) -> None:
        self._draft = draft
        self._team = team
        self._config = mapping(team.get("config"))
        self._ids: dict[str, str] = {}

    def run(self) -> None:
        draft, kind = self._draft, _class(self._team)
        draft.name = _name(self._team)
        draft.description = text(self._team.get("description"))
        members = [p for p in items(self._config.get("participants")) if isinstance(p, dict)]
        if not members:
            raise ImportProblem("There are no participants in this team.", WRONG_FILE)
        for member in members:
            self._participant(member)
        draft.start = next(iter(draft.nodes))
        match kind:
            case "GraphFlow":
                self._graph(members)
            case "Swarm":
                self._swarm(members)
            case "RoundRobinGroupChat" if len(members) == 1:
                pass
            case "RoundRobinGroupChat":
                self._chat("function", order="round_robin")
            case "SelectorGroupChat":
                self._selector()
            case "MagenticOneGroupChat":
                self._magentic()
            case _:
                draft.note(
                    "unsupported_item", draft.name, f"The kind of team {kind} is not known; its agents are kept."
                )
        self._stops()

    # ------------------------------------------------------------------------------------------- participants

    def _participant(self, member: dict[str, Any]) -> None:
        draft, kind, config = self._draft, _class(member), mapping(member.get("config"))
        draft.items_in += 1
        name = text(config.get("name")) or text(member.get("label")) or kind
        item = draft.free(node_id(name, name, "agent", len(draft.nodes) + 1))
        if item != name:
            draft.note("id_changed", item, f"The name {name} cannot be an id: this node is {item}.")
        self._ids[name] = item
        if member.get("component_type") == "team" or kind == "SocietyOfMindAgent":
            self._inner(member, item, name)
            return
        node = draft.add(DraftNode(item, "agent", name))
        node.data["description"] = text(config.get("description")) or None
        if kind == "AssistantAgent":
            node.data.update(
                instructions=text(config.get("system_message")) or None, **self._model(config.get("model_client"), item)
            )
            self._tools(config, node)
        elif kind == "UserProxyAgent":
            node.kind = "human_input"
        else:
            node.kind, node.label = "placeholder", f"{kind}: {name}"
            node.source, node.lang = json.dumps(member, indent=2, ensure_ascii=False), "json"
            draft.note("unsupported_item", item, f"{kind} has no counterpart here.")
        for secret in found_in(config):
            draft.secret(item, secret)

    def _inner(self, member: dict[str, Any], item: str, name: str) -> None:
        team = mapping(mapping(member.get("config")).get("team")) if _class(member) == "SocietyOfMindAgent" else member
        inner = Draft(self._draft.detected)
        _Team(inner, team).run()
        finish(inner)
        found = imported(inner).workflow.model_dump(mode="json", by_alias=True) | {"id": f"{item}_workflow"}
        for entry in inner.entries:
            self._draft.note(entry.code, f"{item}/{entry.item}", entry.text, entry.severity)
        self._draft.add(DraftNode(item, "sub_workflow", name, {"inner": found}))

    def _model(self, client: Any, item: str) -> dict[str, Any]:
        """Model and options of a client; keys are left out."""
        component = mapping(client)
        config = mapping(component.get("config")) or component
        kind = _class(component) or text(component.get("model_type"))
        if component and kind not in _COMPATIBLE:
            self._draft.note("model_unmapped", item, f"The client {kind} is not available here; choose a provider.")
        options = {n: config[n] for n in ("temperature", "max_tokens", "top_p", "seed") if config.get(n) is not None}
        return {"model": text(config.get("model")) or None, "options": options or None}

    def _tools(self, config: dict[str, Any], node: DraftNode) -> None:
        names: list[str] = []
        for tool in self._listed_tools(config):
            kind, inner = _class(tool), mapping(tool.get("config"))
            name = "".join(c if c.isalnum() or c in "_-" else "_" for c in text(inner.get("name")) or kind)[:64]
            names.append(name)
            if kind == "FunctionTool":
                self._draft.items_in += 1
                self._draft.fold(name, f"tool of {node.id}")
                self._function(name, inner)
                if not any(e.code == "code_kept" and e.item == node.id for e in self._draft.entries):
                    self._draft.note("code_kept", node.id, "The code of its tools is kept and was not run.", "warn")
            else:
                self._draft.note("tool_unmapped", node.id, f"The tool {name} is kept as a declaration.")
        node.data["tools"] = names or None

    def _listed_tools(self, config: dict[str, Any]) -> Iterator[dict[str, Any]]:
        yield from (t for t in items(config.get("tools")) if isinstance(t, dict))
        benches = config.get("workbench")
        for bench in benches if isinstance(benches, list) else [benches]:
            inside = items(mapping(mapping(bench).get("config")).get("tools"))
            if inside:
                yield from (t for t in inside if isinstance(t, dict))
            elif mapping(bench) and _class(mapping(bench)) != "StaticWorkbench":
                yield mapping(bench)

    def _function(self, name: str, config: dict[str, Any]) -> None:
        declared: dict[str, Any] = {"name": name, "description": text(config.get("description")), "approval": "caller"}
        code = text(config.get("source_code"))
        try:
            tree = parse(code).tree if code else ast.Module([], [])
        except ImportProblem:
            tree = ast.Module([], [])
        function = next((s for s in tree.body if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef)), None)
        if function is not None:
            module = f"tool_{name}".replace("-", "_")
            imports = [i for i in items(config.get("global_imports")) if isinstance(i, str)]
            self._draft.modules[module] = (
                "".join(f"import {i}\n" for i in imports if i.isidentifier()) + code.rstrip() + "\n"
            )
            declared.update(
                call=f"{module}:{function.name}", approval="never", parameters=py_types.parameters(function)
            )
        elif code:
            declared["original"] = code
        self._draft.tools.setdefault(name, declared)

    # ------------------------------------------------------------------------------------------------- teams

    def _manager(self, item: str, kind: str, **data: Any) -> DraftNode:
        members = list(self._draft.nodes)
        kept = {k: v for k, v in data.items() if v is not None}
        if kind == "function":
            kept["missing"] = "The manager of a group chat cannot run as a function of its own here."
        manager = self._draft.add(DraftNode(self._draft.free(item), kind, self._draft.name, kept, added=True))
        for member in members:
            self._draft.direct(manager.id, member)
            self._draft.direct(member, manager.id)
        self._draft.start = manager.id
        return manager

    def _chat(self, kind: str, **data: Any) -> None:
        self._draft.pattern = "group_chat"
        manager = self._manager("group_chat_orchestrator", kind, **data)
        text_ = "Here a manager hands the word around; in AutoGen every message goes to everybody."
        self._draft.note("semantics_differ", manager.id, text_)

    def _selector(self) -> None:
        config = self._config
        model = self._model(config.get("model_client"), "group_chat_orchestrator")
        self._chat("agent", order="model", instructions=text(config.get("selector_prompt")) or None, **model)
        dropped = [
            n
            for n in ("allow_repeated_speaker", "max_selector_attempts", "selector_func", "candidate_func")
            if config.get(n) is not None
        ]
        if dropped:
            self._draft.note(
                "setting_dropped", "group_chat_orchestrator", f"Without effect here: {', '.join(dropped)}."
            )
        for secret in found_in(config.get("model_client"), "model_client"):
            self._draft.secret("group_chat_orchestrator", secret)

    def _magentic(self) -> None:
        config = self._config
        model = self._model(config.get("model_client"), "magentic_orchestrator")
        rounds, stalls = config.get("max_turns"), config.get("max_stalls")
        self._draft.pattern = "magentic"
        prompt = text(config.get("final_answer_prompt")) or None
        self._manager(
            "magentic_orchestrator", "agent", max_rounds=rounds, max_stalls=stalls, final_answer_prompt=prompt, **model
        )
        for secret in found_in(config.get("model_client"), "model_client"):
            self._draft.secret("magentic_orchestrator", secret)

    def _swarm(self, members: list[dict[str, Any]]) -> None:
        draft = self._draft
        draft.pattern = "handoff"
        for member in members:
            config = mapping(member.get("config"))
            source = self._ids[text(config.get("name")) or text(member.get("label")) or _class(member)]
            for handoff in items(config.get("handoffs")):
                given = mapping(handoff)
                target = text(given.get("target")) or text(handoff)
                if target not in self._ids:
                    node = DraftNode(draft.free(node_id(target, target)), "human_input", target, added=True)
                    self._ids[target] = draft.add(node).id
                tool = text(given.get("name")) or f"transfer_to_{target.lower()}"
                edge = DraftEdge("handoff", [source], [self._ids[target]], tool=tool)
                edge.data["reason"] = text(given.get("description"))
                draft.edges.append(edge)

    def _graph(self, members: list[dict[str, Any]]) -> None:
        draft, graph = self._draft, mapping(self._config.get("graph"))
        nodes = {text(k): mapping(v) for k, v in mapping(graph.get("nodes")).items()}
        start = text(graph.get("default_start_node"))
        edges: list[tuple[str, str, dict[str, Any]]] = []
        draft.edges_in = 0
        for name, node in nodes.items():
            for edge in items(node.get("edges")):
                draft.edges_in += 1
                target = text(mapping(edge).get("target"))
                if name in self._ids and target in self._ids:
                    edges.append((name, target, mapping(edge)))
                else:
                    draft.edges_lost += 1
                    draft.note(
                        "dangling_edge", f"{name} -> {target}", "This edge belongs to an agent that is not in the team."
                    )
        self._edges(edges, nodes)
        targets = {target for _, target, _ in edges}
        starts = [start] if start in self._ids else [n for n in self._ids if n not in targets] or list(self._ids)[:1]
        draft.start = self._ids[starts[0]]
        if len(starts) > 1:
            entry = draft.add(DraftNode(draft.free("start"), "input", "start", added=True))
            fan_out(draft, entry.id, [self._ids[s] for s in starts], 0)
            draft.start = entry.id

    def _edges(self, edges: list[tuple[str, str, dict[str, Any]]], nodes: dict[str, dict[str, Any]]) -> None:
        draft, ids = self._draft, self._ids
        waiting: dict[str, list[str]] = {}
        for source, target, edge in edges:
            waits = text(nodes[target].get("activation") if target in nodes else "all") != "any"
            if waits and text(edge.get("activation_condition")) != "any" and not edge.get("condition"):
                waiting.setdefault(target, []).append(source)
        barriers = {target: sources for target, sources in waiting.items() if len(set(sources)) > 1}
        following: dict[str, list[str]] = {}
        for source, target, edge in edges:
            condition = first(edge, "condition", "condition_function")
            if condition is not None:
                known = isinstance(condition, str)
                rule = (
                    Rule(text(condition), "contains", "translated", text_contains(text(condition)))
                    if known
                    else Rule(None, None, "unknown")
                )
                if not known:
                    draft.note("condition_unknown", ids[source], "The rule of this edge is not in the file.")
                draft.direct(ids[source], ids[target], rule)
            elif target not in barriers or source not in barriers[target]:
                following.setdefault(ids[source], []).append(ids[target])
        for source, found in following.items():
            fan_out(draft, source, found)
        for target, sources in barriers.items():
            barrier(draft, [ids[s] for s in dict.fromkeys(sources)], ids[target], len(sources))

    # ------------------------------------------------------------------------------------------- terminations

    def _stops(self) -> None:
        manager = self._draft.nodes.get("group_chat_orchestrator") or self._draft.nodes.get("magentic_orchestrator")
        stops: list[str] = []
        condition = mapping(self._config.get("termination_condition"))
        if condition:
            self._stop(condition, manager, stops)
        turns = self._config.get("max_turns")
        if isinstance(turns, int) and self._draft.pattern != "magentic":
            if manager is not None:
                stops.append(f"turns: {turns}")
            else:
                self._draft.note(
                    "setting_dropped", self._draft.name, f"The limit of {turns} turns has no counterpart here."
                )
        if manager is not None and stops:
            manager.data["stop"] = stops

    def _stop(self, condition: dict[str, Any], manager: DraftNode | None, stops: list[str]) -> None:
        draft, kind, config = self._draft, _class(condition), mapping(condition.get("config"))
        draft.items_in += 1
        into = manager.id if manager else ""
        if kind == "HandoffTermination" and draft.pattern == "handoff":
            draft.fold(kind, self._ids.get(text(config.get("target")), draft.start or ""))
            return
        written = {
            "TextMentionTermination": f"text: {text(config.get('text'))}",
            "MaxMessageTermination": f"messages: {text(config.get('max_messages'))}",
            "HandoffTermination": f"handoff: {text(config.get('target'))}",
        }.get(kind)
        if kind in ("OrTerminationCondition", "AndTerminationCondition") and into:
            draft.fold(kind, into)
            if kind.startswith("And"):
                draft.note("expression_kept", into, "The stop rules that all have to hold are kept as text.")
        elif written and into:
            draft.fold(kind, into)
            stops.append(written)
            if kind == "HandoffTermination":
                draft.note("expression_kept", into, f"The stop rule “{written}” is kept as text.")
        else:
            draft.lost.append(kind)
            draft.note("setting_dropped", kind, "This stop rule has no counterpart here.")
        for inner in items(config.get("conditions")):
            if isinstance(inner, dict):
                self._stop(inner, manager, stops)
