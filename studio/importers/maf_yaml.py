"""Declarative workflows of the agent framework (Foundry, .NET and Python dialects)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from studio.importers import powerfx
from studio.importers.conditions import NEXT_ITEM
from studio.importers.draft import Case, Draft, DraftEdge, DraftNode, Rule
from studio.importers.flow import End, Flow
from studio.importers.maf_yaml_kinds import BRANCHES, JUMPS, KINDS, UNSUPPORTED
from studio.importers.naming import snake
from studio.importers.prompt_agents import Definition, definition, definitions_beside
from studio.importers.reading import YamlFile, first, items, mapping, text
from studio.importers.report import Severity
from studio.importers.secrets import found_in

_LOCAL = re.compile(r"\bLocal\.([A-Za-z_]\w*)")


def detect(value: Any) -> bool:
    """A mapping with actions that have kinds."""
    if not isinstance(value, dict) or str(value.get("kind", "workflow")).lower() != "workflow":
        return False
    found = _actions(value)
    return bool(found) and all(isinstance(a, dict) and "kind" in a for a in found)


def _actions(value: dict[str, Any]) -> list[Any]:
    return items(mapping(value.get("trigger")).get("actions")) or items(value.get("actions"))


def read(file: YamlFile, folder: Path | None) -> Draft:
    """The workflow of a file; agents may be defined in it or in files of the same folder."""
    root = file.value
    draft = Draft("maf-yaml", name=text(root.get("name")) or text(mapping(root.get("trigger")).get("id")))
    draft.description = text(root.get("description"))
    turns = root.get("maxTurns")
    if isinstance(turns, int) and turns > 0:
        draft.max_iterations = turns
    draft.inputs = {str(k): v for k, v in mapping(root.get("inputs")).items()}
    agents = {str(k): definition(v) for k, v in mapping(root.get("agents")).items() if isinstance(v, dict)}
    agents = {**definitions_beside(folder), **agents} if folder else agents
    _Reader(file, draft, agents).run(_actions(root))
    return draft


@dataclass(slots=True)
class _Loop:
    """The loop that a break or continue belongs to."""

    id: str
    breaks: list[End] = field(default_factory=list)


class _Reader:
    """One walk over the actions."""

    def __init__(self, file: YamlFile, draft: Draft, agents: Mapping[str, Definition]) -> None:
        self._file = file
        self._draft = draft
        self._agents = agents
        self._flow = Flow(draft)
        self._ids: dict[int, str] = {}
        self._jumps: dict[str, str] = {}

    def run(self, actions: list[Any]) -> None:
        """Ids first, because jumps lead forwards too; then the graph."""
        self._name(actions, None)
        self._sequence(actions, None)
        self._flow.finish()

    # --------------------------------------------------------------------------------------------------- ids

    def _name(self, actions: list[Any], loop: str | None) -> None:
        for action in actions:
            if not isinstance(action, dict):
                continue
            self._draft.items_in += 1
            kind = str(action.get("kind", ""))
            wanted = text(action.get("id"))
            if not wanted:
                number = 1
                while self._draft.free(f"{snake(kind)}_{number}") != f"{snake(kind)}_{number}":
                    number += 1
                wanted = f"{snake(kind)}_{number}"
            found = self._draft.free(wanted)
            self._draft.reserve(found)
            self._ids[id(action)] = found
            if found != wanted:
                note = f"The id {wanted} was taken: this step is {found} now."
                self._draft.note("id_changed", found, note, "warn", self._file.line(action))
            if kind.lower() == "gotoaction":
                self._jumps.setdefault(found, text(first(action, "actionId", "target")))
            elif kind.lower() == "continueloop" and loop:
                self._jumps.setdefault(found, loop)
            elif kind.lower() in JUMPS:
                self._jumps.setdefault(found, "")
            inner = found if kind.lower() == "foreach" else loop
            for branch in _branches(action):
                self._name(branch, inner)

    def _target(self, wanted: str) -> str | None:
        """The node behind the id of a jump; jumps to jumps are followed."""
        by_fold = {i.casefold(): i for i in self._ids.values()}
        for _ in range(len(self._jumps) + 1):
            found = by_fold.get(wanted.casefold())
            if found is None:
                return None
            if found not in self._jumps:
                return found
            wanted = self._jumps[found]
        return None

    # ------------------------------------------------------------------------------------------------- steps

    def _sequence(self, actions: list[Any], loop: _Loop | None) -> None:
        for action in actions:
            if isinstance(action, dict):
                self._step(action, loop)

    def _step(self, action: dict[str, Any], loop: _Loop | None) -> None:
        kind = str(action.get("kind", ""))
        lower = kind.lower()
        self._variables(action)
        if lower in JUMPS:
            self._jump(action, lower, loop)
        elif lower in ("conditiongroup", "if"):
            self._decision(action, lower, loop)
        elif lower == "foreach":
            self._foreach(action)
        else:
            node = self._node(action, kind)
            self._flow.step(node)
            if node.kind == "end":
                self._flow.ends = []
            if lower == "invokeazureagent":
                self._again(action, node)

    def _node(self, action: dict[str, Any], kind: str) -> DraftNode:
        found = KINDS.get(kind.lower())
        if found is None:
            return self._placeholder(
                action, kind, "unsupported_item" if kind.lower() in UNSUPPORTED else "unknown_item"
            )
        node = self._made(action, found[0])
        data, dropped = found[1](action)
        node.data.update({k: v for k, v in data.items() if v is not None})
        for secret in found_in(action):
            self._draft.secret(node.id, secret, node.line)
        if dropped:
            text_ = f"Kept on the node, but without effect here: {', '.join(dropped)}."
            self._note("setting_dropped", node, text_, "info")
        if node.kind == "agent":
            self._agent(node, action)
        elif node.data.get("preset") == "tool":
            text_ = f"The function {node.data.get('function')} is not in the file."
            self._note("code_not_available", node, text_)
        self._formulas(node, action)
        return node

    def _made(self, action: dict[str, Any], kind: str) -> DraftNode:
        item_id = self._ids[id(action)]
        label = text(action.get("displayName")) or item_id
        return DraftNode(item_id, kind, label, line=self._file.line(action))

    def _placeholder(self, action: dict[str, Any], kind: str, code: str) -> DraftNode:
        node = self._made(action, "placeholder")
        node.label = f"{kind or 'step'}: {node.id}"
        node.source, node.lang = self._file.source(action), "yaml"
        words = "has no counterpart here" if code == "unsupported_item" else "is not known"
        self._note(code, node, f"{kind or 'An action without a kind'} {words}. Its text is kept in a placeholder.")
        for secret in found_in(action):
            self._draft.secret(node.id, secret, node.line)
        return node

    def _note(self, code: str, node: DraftNode, words: str, severity: Severity | None = None) -> None:
        self._draft.note(code, node.id, words, severity, node.line)

    def _agent(self, node: DraftNode, action: dict[str, Any]) -> None:
        name = node.data.get("agent") or ""
        if not text(action.get("displayName")):
            node.label = name or node.id
        found = self._agents.get(name)
        if found is None:
            self._note("agent_reference", node, f"The agent {name or node.id} is only named: write its instructions.")
            return
        node.data.update(found.data)
        for secret in found.secrets:
            self._draft.secret(node.id, secret, node.line)
        for tool in found.data.get("tools", ()):
            self._draft.note("tool_unmapped", node.id, f"The tool {tool} is kept as a declaration.", line=node.line)

    def _formulas(self, node: DraftNode, action: dict[str, Any]) -> None:
        """Formulas outside of the translated part are kept as text."""
        kept = [f for f in _formulas_of(action) if not powerfx.is_translatable(f) and not _is_data(f)]
        if kept:
            self._note("expression_kept", node, f"This formula is kept as text: {kept[0]}")

    def _variables(self, action: dict[str, Any]) -> None:
        shallow = {k: v for k, v in action.items() if k not in BRANCHES}
        if str(action.get("kind", "")).lower() == "conditiongroup":
            shallow["_"] = [c.get("condition") for c in items(action.get("conditions")) if isinstance(c, dict)]
        for written in _strings(shallow):
            for found in _LOCAL.finditer(written):
                self._draft.variable(f"Local.{found.group(1)}")

    # ----------------------------------------------------------------------------------- branches and jumps

    def _again(self, action: dict[str, Any], node: DraftNode) -> None:
        """``externalLoop``: while the rule holds, a person is asked and the agent runs again."""
        when = mapping(mapping(action.get("input")).get("externalLoop")).get("when")
        if when is None:
            return
        draft = self._draft
        again = draft.add(DraftNode(draft.free(f"{node.id}__again"), "switch", f"{node.id}__again", added=True))
        ask = draft.add(DraftNode(draft.free(f"{node.id}__input"), "human_input", f"{node.id}__input", added=True))
        case, default = Case(f"{node.id}__again_case", ask.id, self._rule(when, again)), Case(again.id)
        draft.direct(node.id, again.id)
        draft.edges.append(DraftEdge("switch", [again.id], cases=[case], default=default))
        draft.direct(ask.id, node.id)
        self._flow.ends = [End(again.id, default)]

    def _rule(self, written: Any, node: DraftNode) -> Rule:
        if written is None:
            self._note("condition_unknown", node, "A branch has no condition in the file.")
            return Rule(None, None, "unknown")
        rule = powerfx.rule(text(written))
        if rule.state == "kept":
            self._note("expression_kept", node, f"This condition is kept as text: {rule.text}")
        return rule

    def _decision(self, action: dict[str, Any], kind: str, loop: _Loop | None) -> None:
        node = self._flow.step(self._made(action, "switch"))
        if kind == "if":
            branches = [(f"{node.id}_then", action.get("condition"), first(action, "then", "actions"))]
        else:
            branches = [
                (text(c.get("id")) or f"{node.id}_case_{number}", c.get("condition"), first(c, "actions", "then"))
                for number, c in enumerate(items(action.get("conditions")), 1)
                if isinstance(c, dict)
            ]
        edge = DraftEdge("switch", [node.id], default=Case(node.id))
        self._draft.edges.append(edge)
        open_ends: list[End] = []
        for case_id, condition, actions in branches:
            case = Case(case_id, rule=self._rule(condition, node))
            edge.cases.append(case)
            self._flow.ends = [End(node.id, case)]
            if not items(actions):
                words = "An empty branch goes on with what follows; the Python runtime would end the run there."
                self._draft.note("semantics_differ", case_id, words, line=node.line)
            self._sequence(items(actions), loop)
            open_ends += self._flow.ends
        self._flow.ends = [End(node.id, edge.default)]
        self._sequence(items(first(action, "elseActions", "else")), loop)
        self._flow.ends = open_ends + self._flow.ends

    def _foreach(self, action: dict[str, Any]) -> None:
        node = self._made(action, "loop")
        given = first(action, "items", "source")
        written = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        node.data["items"] = written.removeprefix("=")
        node.data["items_lang"] = "powerfx" if written.startswith("=") else "json"
        for name, keys in (("item", ("value", "itemName")), ("index", ("index", "indexName"))):
            found = text(first(action, *keys))
            if found:
                node.data[name] = found if "." in found else f"Local.{found}"
                self._draft.variable(".".join(node.data[name].split(".")[:2]))
        self._flow.step(node)
        self._formulas(node, {"items": given})
        body = Case(f"{node.id}_next", rule=Rule("next item", "loop", "translated", NEXT_ITEM))
        edge = DraftEdge("switch", [node.id], cases=[body], default=Case(node.id))
        self._draft.edges.append(edge)
        loop = _Loop(node.id)
        self._flow.ends = [End(node.id, body)]
        self._sequence(items(action.get("actions")), loop)
        self._flow.connect(self._flow.ends, node.id)
        self._flow.ends = [End(node.id, edge.default), *loop.breaks]

    def _jump(self, action: dict[str, Any], kind: str, loop: _Loop | None) -> None:
        item = self._ids[id(action)]
        if kind == "breakloop" and loop is not None:
            self._flow.fold(item, self._flow.ends)
            loop.breaks += self._flow.ends
            self._flow.ends = []
            return
        target = self._target(item)
        if target is not None:
            self._flow.jump(target, item)
            return
        wanted = text(first(action, "actionId", "target")) or "nothing"
        node = self._made(action, "placeholder")
        node.label, node.source, node.lang = f"{action['kind']}: {item}", self._file.source(action), "yaml"
        where = f"{wanted}, which does not exist" if kind == "gotoaction" else "a loop, but stands in none"
        self._note("dangling_edge", node, f"This jump belongs to {where}.")
        self._flow.step(node)
        self._flow.ends = []


def _branches(action: dict[str, Any]) -> Iterator[list[Any]]:
    """The lists of actions inside an action, as far as its kind has any."""
    kind = str(action.get("kind", "")).lower()
    if kind == "foreach":
        yield items(action.get("actions"))
    elif kind == "if":
        yield items(first(action, "then", "actions"))
    elif kind == "conditiongroup":
        for condition in items(action.get("conditions")):
            if isinstance(condition, dict):
                yield items(first(condition, "actions", "then"))
    if kind in ("if", "conditiongroup"):
        yield items(first(action, "elseActions", "else"))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


def _formulas_of(action: Mapping[str, Any]) -> Iterator[str]:
    """The formulas of an action, without their ``=``; conditions are looked at where they are."""
    for name, value in action.items():
        if name in BRANCHES or name == "externalLoop":
            continue
        if isinstance(value, str) and value.startswith("=") and value.strip() != "=":
            yield value.strip()[1:].strip()
        elif isinstance(value, dict):
            yield from _formulas_of(value)
        elif isinstance(value, list):
            yield from _formulas_of({str(i): v for i, v in enumerate(value)})


def _is_data(formula: str) -> bool:
    """Whether a formula is a literal list or object: data, nothing to translate."""
    try:
        json.loads(formula)
    except ValueError:
        return False
    return True
