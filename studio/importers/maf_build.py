"""Agent Framework programs in build mode: structure from the workflow that was built, text from the source."""

from __future__ import annotations

import ast
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from studio.importers import maf_python
from studio.importers.building import built
from studio.importers.detection import Detected
from studio.importers.draft import Case, Draft, DraftEdge, DraftNode, Rule
from studio.importers.finish import imported
from studio.importers.maf_executors import class_node, function_node
from studio.importers.maf_patterns import NAMES
from studio.importers.naming import snake
from studio.importers.problems import ImportProblem
from studio.importers.py_agents import Agents, is_agent
from studio.importers.py_code import KeptCode
from studio.importers.py_reading import Reading, decorators
from studio.importers.py_values import Class, Function, Instance, Items, Value
from studio.importers.python_source import parse
from studio.importers.reading import items, mapping, text
from studio.importers.structure import finish

Def = ast.FunctionDef | ast.AsyncFunctionDef
_HELPERS = {
    "_InputToConversation": ("sequential", "input"),
    "_DispatchToAllParticipants": ("concurrent", "input"),
    "_AggregateAgentConversations": ("concurrent", "transform"),
    "_CallbackAggregator": ("concurrent", "function"),
    "GroupChatOrchestrator": ("group_chat", "function"),
    "AgentBasedGroupChatOrchestrator": ("group_chat", "agent"),
    "MagenticOrchestrator": ("magentic", "agent"),
}
"""Classes of nodes that the library adds: pattern, kind."""


def functions(source: str) -> tuple[str, ...]:
    """The functions of a program that can be called to build its workflow, the likeliest first."""
    return tuple(f.name for f in maf_python.builders_in(parse(source).tree))


def read(
    detected: Detected,
    path: Path | None,
    interpreter: str | None,
    timeout: float,
    stop: threading.Event | None = None,
) -> Draft:
    """Runs the program and reads what it built. Raises :class:`ImportProblem`."""
    if path is None:
        raise ImportProblem("Only a file can be run.", "Save the program first, then import the file.")
    path = path.absolute()
    offered = functions(detected.text)
    chosen = detected.choice if detected.choice in offered else offered[0] if offered else ""
    others = [name for name in offered if name != chosen]
    try:
        found, note = built(path, interpreter, timeout, chosen, stop)
    except ImportProblem as problem:
        problem.choices = tuple(others)
        raise
    inner = [
        text(mapping(x.get("inner")).get("name")) for w in found for x in items(w.get("executors")) if x.get("inner")
    ]
    outermost = [w for w in found if text(w.get("name")) not in inner or text(w.get("name")) == ""] or found
    reading = Reading(parse(detected.text), path.parent, maf_python.decorated)
    reading.run()
    taken = next((w for w in reversed(outermost) if _name(w) and _name(w) == detected.choice), outermost[-1])
    draft = _Built(reading, path, taken).draft()
    draft.choices.extend(others)
    for other in (w for w in outermost if w is not taken):
        draft.choices.extend(name for name in [_name(other)] if name and name not in draft.choices)
        draft.note("not_selected", _name(other) or "workflow", "The program builds this workflow too.")
    if note:
        draft.note("semantics_differ", draft.name or "workflow", note)
    return draft


def _name(data: Mapping[str, Any]) -> str:
    """The name of a workflow; names that the library makes up count as none."""
    name = text(data.get("name"))
    return "" if name.startswith("WorkflowBuilder-") else name


class _Built:
    """One workflow that was built."""

    def __init__(self, reading: Reading, path: Path, data: dict[str, Any]) -> None:
        self._reading = reading
        self._path = path
        self._data = data
        self._draft = Draft("maf-python", name=_name(data), description=text(data.get("description")))
        self._kept = KeptCode(reading.source, reading.module, self._draft, reading.sources[1:])
        self._agents = Agents(self._draft, self._kept, reading.source)

    def draft(self) -> Draft:
        """The graph."""
        draft, data = self._draft, self._data
        draft.start = text(data.get("start")) or None
        limit = data.get("max_iterations")
        draft.max_iterations = limit if isinstance(limit, int) and limit > 0 and limit != 100 else None
        for entry in items(data.get("executors")):
            if isinstance(entry, dict) and text(entry.get("id")):
                self._node(entry)
        if not draft.nodes:
            raise ImportProblem("The workflow that was built has no nodes.", "Import the file without running it.")
        if draft.pattern:
            draft.name = draft.name or NAMES[draft.pattern]
        else:
            draft.edges_in = 0
        self._edges()
        for name in ("outputs", "intermediate"):
            found = data.get(name)
            if isinstance(found, list) and found and not draft.pattern:
                setattr(draft, name, tuple(i for i in found if i in draft.nodes))
            elif isinstance(found, str):
                setattr(draft, name, found)
        self._client_keys()
        self._kept.finish()
        draft.items_in = len([n for n in draft.nodes.values() if not n.added])
        finish(draft)
        return draft

    def _client_keys(self) -> None:
        """Keys of clients are never read from the objects; the source is looked through for literal ones."""
        for made in self._reading.instances:
            if made.cls is None and made.of.endswith("Client"):
                self._agents.secrets(made, made.name or made.of)

    # -------------------------------------------------------------------------------------------------- nodes

    def _node(self, entry: dict[str, Any]) -> None:
        draft, item, kind = self._draft, text(entry.get("id")), text(entry.get("type"))
        helper = _HELPERS.get(kind)
        if helper is not None:
            draft.pattern, node_kind = helper
            data = self._agent_data(entry, item) if entry.get("agent") else {}
            for name, key in (
                ("max_rounds", "max_rounds"),
                ("max_round_count", "max_rounds"),
                ("max_stall_count", "max_stalls"),
            ):
                if isinstance(entry.get(name), int):
                    data[key] = entry[name]
            draft.add(
                DraftNode(
                    item,
                    node_kind,
                    item if node_kind in ("input", "transform") else _name(self._data) or item,
                    data,
                    added=True,
                )
            )
        elif isinstance(entry.get("agent"), dict):
            if kind == "HandoffAgentExecutor":
                draft.pattern = "handoff"
            label = text(entry["agent"].get("name")) or item
            draft.add(DraftNode(item, "agent", label, self._agent_data(entry, item)))
        elif isinstance(entry.get("inner"), dict):
            self._sub_workflow(entry, item)
        elif isinstance(entry.get("function"), dict):
            self._function(entry, item)
        else:
            self._class(entry, item, kind)

    def _agent_data(self, entry: dict[str, Any], item: str) -> dict[str, Any]:
        given = mapping(entry.get("agent"))
        data: dict[str, Any] = {
            "agent": text(given.get("name")) or None,
            "description": text(given.get("description")) or None,
            "instructions": text(given.get("instructions")) or None,
            "model": text(given.get("model")) or None,
            "options": mapping(given.get("options")) or None,
            "context": entry.get("context") if entry.get("context") in ("full", "last_agent") else None,
            "trailing_user_turn": entry.get("trailing_user_turn") or None,
            "output_schema_name": text(given.get("schema")) or None,
        }
        names = [text(n) for n in items(given.get("tools")) if text(n)]
        tools = [self._tool(name) for name in names]
        data["tools"] = self._agents.tools(Items(items=[t for t in tools if t]), item, None) or None
        for name in names:
            if name not in self._draft.tools:
                self._draft.note("tool_unmapped", item, f"The tool {name} is kept as a declaration.")
                self._draft.tools.setdefault(name, {"name": name, "approval": "caller"})
        if names:
            data["tools"] = names
        static = next(
            (i for i in self._reading.instances if is_agent(i) and self._agents.name(i) == data["agent"]), None
        )
        return {k: v for k, v in data.items() if v is not None} | (
            {} if static is None else self._extensions(static, data)
        )

    def _extensions(self, static: Instance, data: dict[str, Any]) -> dict[str, Any]:
        """What only the source tells: the schema behind its name."""
        schema = static.kwargs.get("response_format")
        return {"output_schema_name": schema.name} if isinstance(schema, Class) else {}

    def _tool(self, name: str) -> Value | None:
        for value in self._reading.module.names.values():
            if isinstance(value, Function) and isinstance(value.node, Def) and value.node.name == name:
                return value
        return None

    def _definition(self, name: str, line: object) -> Def | None:
        """The function of this name whose text covers a line."""
        for part in ast.walk(self._reading.source.tree):
            if isinstance(part, Def) and part.name == name and isinstance(line, int):
                first = min([part.lineno, *(d.lineno for d in part.decorator_list)])
                if first <= line <= (part.end_lineno or part.lineno):
                    return part
        return None

    def _is_here(self, place: Mapping[str, Any]) -> bool:
        return Path(text(place.get("file"))).name == self._path.name

    def _function(self, entry: dict[str, Any], item: str) -> None:
        place = mapping(entry.get("function"))
        found = self._definition(text(place.get("name")), place.get("line")) if self._is_here(place) else None
        if found is None:
            self._foreign(entry, item, text(place.get("name")))
            return
        call = decorators(found).get("executor")
        node = function_node(item, found, call, self._reading.module, self._kept, self._draft)
        self._draft.add(node)

    def _class(self, entry: dict[str, Any], item: str, kind: str) -> None:
        found = self._reading.module.find(kind)
        if isinstance(found, Class):
            made = Instance(found.node, "", found, source=self._reading.source)
            self._draft.add(class_node(item, made, self._kept, self._reading.source, self._draft))
        else:
            self._foreign(entry, item, kind)

    def _foreign(self, entry: dict[str, Any], item: str, what: str) -> None:
        """An executor whose code is not in the file."""
        self._draft.note("code_not_available", item, f"The code of {what or item} is not in the file.")
        data: dict[str, Any] = {
            "class": text(entry.get("type")),
            "input": " | ".join(text(t) for t in items(entry.get("accepts"))) or None,
        }
        for name in ("sends", "yields"):
            data[f"{name}_types"] = [text(t) for t in items(entry.get(name))] or None
        data["yields"] = "any" if items(entry.get("yields")) else None
        self._draft.add(DraftNode(item, "function", item, data))

    def _sub_workflow(self, entry: dict[str, Any], item: str) -> None:
        inner = _Built(self._reading, self._path, entry["inner"]).draft()
        found = imported(inner, "build").workflow.model_dump(mode="json", by_alias=True)
        for note in inner.entries:
            self._draft.note(note.code, f"{item}/{note.item}", note.text, note.severity, note.line)
        data = {
            "inner": found | {"id": f"{snake(item)}_workflow"},
            "propagate_requests": entry.get("propagate_requests") is True,
            "direct_output": entry.get("direct_output") is True,
        }
        self._draft.add(DraftNode(item, "sub_workflow", inner.name or item, data))

    # -------------------------------------------------------------------------------------------------- edges

    def _edges(self) -> None:
        draft = self._draft
        if draft.pattern == "handoff":
            for entry in items(self._data.get("executors")):
                for target in items(entry.get("handoffs")):
                    edge = DraftEdge("handoff", [entry["id"]], [target], tool=f"handoff_to_{target}")
                    draft.edges.append(edge)
            return
        for group in items(self._data.get("groups")):
            before = len(draft.edges)
            pairs = [p for p in items(group.get("edges")) if len(p) == 2 and set(p) <= draft.nodes.keys()]
            if pairs:
                self._group(group, pairs)
            if draft.edges_in is not None:
                draft.edges_in += sum(e.counted for e in draft.edges[before:])

    def _group(self, group: dict[str, Any], pairs: list[list[str]]) -> None:
        draft, kind, source = self._draft, text(group.get("type")), pairs[0][0]
        if "SwitchCase" in kind:
            edge = DraftEdge("switch", [source])
            for number, case in enumerate(items(group.get("cases")), 1):
                if case.get("condition") is None:
                    edge.default = Case(source, case.get("target"))
                else:
                    rule = self._rule(case["condition"], source)
                    edge.cases.append(Case(f"{source}_case_{number}", case.get("target"), rule))
            draft.edges.append(edge)
        elif "FanIn" in kind:
            draft.edges.append(DraftEdge("fan_in", [p[0] for p in pairs], [pairs[0][1]]))
        elif "FanOut" in kind:
            targets = [p[1] for p in pairs]
            edge = DraftEdge("fan_out" if len(targets) > 1 else "direct", [source], targets)
            if group.get("selection"):
                edge.rule = self._kept.selection(self._callable(group["selection"]), targets)
                self._check(edge.rule, source)
            draft.edges.append(edge)
        else:
            condition = group.get("condition")
            draft.direct(source, pairs[0][1], self._rule(condition, source) if condition else None)

    def _rule(self, place: Mapping[str, Any], source: str) -> Rule:
        found = self._callable(place)
        rule = self._kept.rule(found) if found is not None else Rule(text(place.get("name")) or None, "python", "kept")
        self._check(rule, source)
        return rule

    def _check(self, rule: Rule, source: str) -> None:
        if rule.state != "translated":
            self._draft.note("expression_kept", source, f"The rule {rule.text} is not in the file.")

    def _callable(self, place: Mapping[str, Any]) -> Value | None:
        """The function or lambda at a place of the source."""
        if not self._is_here(place):
            return None
        name, line, module = text(place.get("name")), place.get("line"), self._reading.module
        if name != "<lambda>":
            found = self._definition(name, line)
            return Function(found, name, module, self._reading.source) if found is not None else None
        lambdas = [n for n in ast.walk(self._reading.source.tree) if isinstance(n, ast.Lambda) and n.lineno == line]
        at = place.get("at")
        if len(lambdas) > 1 and isinstance(at, list) and len(at) == 2:
            where = (at[0], at[1])
            lambdas = [
                n
                for n in lambdas
                if (n.body.lineno, n.body.col_offset) <= where <= (n.end_lineno or 0, n.end_col_offset or 0)
            ]
        return Function(lambdas[0], "", module, self._reading.source) if len(lambdas) == 1 else None
