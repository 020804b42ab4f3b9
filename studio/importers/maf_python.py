"""Agent Framework programs, read without running them."""

from __future__ import annotations

import ast
from itertools import pairwise
from pathlib import Path
from typing import Any

from studio.importers.detection import Detected
from studio.importers.draft import Case, Draft, DraftEdge, DraftNode
from studio.importers.finish import imported
from studio.importers.maf_executors import class_id, class_node, function_node, is_executor
from studio.importers.maf_patterns import PATTERNS, expand
from studio.importers.naming import snake
from studio.importers.problems import ImportProblem
from studio.importers.py_agents import Agents, is_agent
from studio.importers.py_code import KeptCode
from studio.importers.py_reading import Reading, decorators
from studio.importers.py_values import (
    Call,
    Const,
    Function,
    Imported,
    Instance,
    Items,
    Scope,
    Unknown,
    Value,
    constant,
    string,
)
from studio.importers.python_source import parse
from studio.importers.structure import finish

BUILDERS = ("WorkflowBuilder", *PATTERNS)
_OLDER = frozenset(
    (
        *("set_start_executor", "register_executor", "register_executors", "register_agent", "register_agents"),
        *("add_agent", "with_checkpointing"),
    )
)
Def = ast.FunctionDef | ast.AsyncFunctionDef


def read(detected: Detected, path: Path | None) -> Draft:
    """The first workflow that the program builds; the others are listed."""
    source = parse(detected.text)
    reading = Reading(source, path.parent if path else None, decorated)
    reading.run()
    built = _workflows(reading)
    if not built:
        for function in builders_in(source.tree):
            if id(function) not in reading.called:
                found = _function_named(reading.module, function)
                if found is not None:
                    reading.apply(found, [], {}, function)
        built = _workflows(reading)
    if not built:
        message = "No workflow is built in this file, as far as reading tells."
        way_out = "Choose the file that calls WorkflowBuilder or an orchestration builder, or run the program."
        problem = ImportProblem(message, way_out)
        problem.may_run = True
        raise problem
    names = [w.name or string(w.kwargs.get("name")) or f"workflow in line {w.line}" for w in built]
    taken = names.index(detected.choice) if detected.choice in names else 0
    draft = WorkflowReading(reading, built[taken]).draft()
    for name, other in zip(names, built, strict=True):
        if other is built[taken]:
            continue
        draft.choices.append(name)
        draft.note("not_selected", name, "The file builds this workflow too; it was not imported.", line=other.line)
    return draft


def decorated(node: Def, scope: Scope, reading: Reading) -> Value | None:
    found = decorators(node)
    if "executor" in found:
        call = found["executor"]
        args, kwargs = reading.arguments(call, scope) if call else ([], {})
        return Instance(node, node.name, None, Imported(node, "executor", "", "executor"), None, args, kwargs)
    return None


def builders_in(tree: ast.Module) -> list[Def]:
    """The functions that build a workflow, themselves or by a function they call; ``main`` first, then those that no
    other one calls."""
    functions = {part.name: part for part in tree.body if isinstance(part, Def)}
    called = {
        name: {getattr(c.func, "id", getattr(c.func, "attr", "")) for c in ast.walk(part) if isinstance(c, ast.Call)}
        for name, part in functions.items()
    }
    building = {name for name in functions if called[name] & set(BUILDERS)}
    while more := {name for name in functions if name not in building and called[name] & building}:
        building |= more
    inner = {name for other in building for name in called[other] - {other}}
    found = [name for name in functions if name in building]
    return [functions[n] for n in sorted(found, key=lambda n: (n != "main", n in inner))]


def _function_named(scope: Scope, node: Def) -> Function | None:
    found = scope.names.get(node.name)
    return found if isinstance(found, Function) else None


def _workflows(reading: Reading) -> list[Instance]:
    """The builders that are built, those inside another one left out."""
    builds = [
        i for i in reading.instances if i.of == "build" and isinstance(i.owner, Instance) and i.owner.of in BUILDERS
    ]
    inner: set[int] = set()
    for made in reading.instances:
        if made.of in ("WorkflowExecutor", "as_agent"):
            inner |= {id(v) for v in (*made.args, *made.kwargs.values(), made.owner) if v is not None}
    found: dict[int, Instance] = {}
    for build in builds:
        if id(build) not in inner and isinstance(build.owner, Instance):
            found.setdefault(id(build.owner), build)
    if not found:
        found = {id(i): i for i in reading.instances if i.of in BUILDERS and i.calls}
    return list(found.values())


class WorkflowReading:
    """One builder and its calls."""

    def __init__(self, reading: Reading, built: Instance) -> None:
        owner = built.owner if built.of == "build" else built
        assert isinstance(owner, Instance)
        self._builder = owner
        self.reading = reading
        self.result = Draft("maf-python")
        self.kept = KeptCode(reading.source, reading.module, self.result, reading.sources[1:])
        self.agents = Agents(self.result, self.kept, reading.source)
        self._ids: dict[object, str] = {}
        self._registered: dict[str, Value] = {}

    def draft(self) -> Draft:
        """The graph."""
        result, builder = self.result, self._builder
        result.name = string(builder.kwargs.get("name")) or (string(builder.args[1]) if len(builder.args) > 1 else "")
        result.description = string(builder.kwargs.get("description"))
        limit = constant(builder.kwargs.get("max_iterations") or (builder.args[0] if builder.args else None))
        if isinstance(limit, int) and limit > 0:
            result.max_iterations = limit
        if builder.of in PATTERNS:
            expand(self, builder)
        else:
            self._graph(builder)
        self.kept.finish()
        result.items_in = len([n for n in result.nodes.values() if not n.added])
        finish(result)
        return result

    def _graph(self, builder: Instance) -> None:
        result = self.result
        result.edges_in = 0
        older = [call.name for call in builder.calls if call.name in _OLDER]
        if older:
            text = f"Written for an older version of the library ({', '.join(dict.fromkeys(older))})."
            result.note("older_version", "WorkflowBuilder", text, line=builder.line)
        for call in builder.calls:
            self._register(call)
        start = builder.kwargs.get("start_executor")
        for call in builder.calls:
            if call.name == "set_start_executor" and call.args:
                start = call.args[0]
        if start is not None:
            result.start = self.node(start)
        for call in builder.calls:
            self._edges(call)
        if result.start is None and result.nodes:
            result.start = next(iter(result.nodes))
            result.note("invalid_source", result.start, "No start is set; the first node is the start now.")
        self.designate(builder)

    def designate(self, builder: Instance) -> None:
        """Outputs and intermediate outputs."""
        given = builder.kwargs.get("output_from") or builder.kwargs.get("output_executors")
        for name, value in (("outputs", given), ("intermediate", builder.kwargs.get("intermediate_output_from"))):
            if isinstance(value, Items):
                found = [self._designated(item) for item in value.items]
                setattr(self.result, name, tuple(dict.fromkeys(i for i in found if i)) or None)
            elif string(value) in ("all", "all_other"):
                setattr(self.result, name, string(value))

    def _designated(self, value: Value) -> str:
        """The node of a designation; names of nodes count, other texts do not."""
        name = string(value)
        if not isinstance(value, Const):
            return self.node(value)
        return name if name in self.result.nodes or name in self._registered else ""

    def _register(self, call: Call) -> None:
        given = [*call.args, *call.kwargs.values()]
        if call.name in ("register_executor", "register_agent") and given:
            factory = call.kwargs.get("factory_func") or call.kwargs.get("factory") or given[0]
            name = string(call.kwargs.get("name")) or (string(call.args[1]) if len(call.args) > 1 else "")
            value = self.reading.apply(factory, [], {}, call.node) if isinstance(factory, Function) else factory
            self._registered[name] = value
            if isinstance(value, Instance) and not value.name:
                value.name = name
        elif call.name == "add_agent" and given:
            name = string(call.kwargs.get("id"))
            if name:
                self._ids[self._key(given[0])] = self._agent(given[0], name) if isinstance(given[0], Instance) else name
        else:
            return
        if constant(call.kwargs.get("output_response")) is True:
            target = self._registered.get(name, given[0])
            self.result.outputs = (*(self.result.outputs or ()), self.node(target, name))

    # -------------------------------------------------------------------------------------------------- edges

    def _edges(self, call: Call) -> None:
        given = dict(zip(_PARAMETERS.get(call.name, ()), call.args, strict=False)) | call.kwargs
        if call.name not in _PARAMETERS:
            return
        result = self.result
        before = len(result.edges)
        match call.name:
            case "add_edge":
                self._edge(given)
            case "add_chain":
                chain = [self.node(v) for v in self._listed(given.get("executors"))]
                for source, target in pairwise(chain):
                    result.direct(source, target)
            case "add_fan_out_edges" | "add_multi_selection_edge_group":
                self._fan_out(given)
            case "add_fan_in_edges":
                self._fan_in(given)
            case "add_switch_case_edge_group":
                self._switch(given)
        made = result.edges[before:]
        result.edges_in = (result.edges_in or 0) + sum(e.counted for e in made)
        if call.maybe and made:
            text = "This edge stands under a condition or in a loop; it is taken in any case."
            result.note("dynamic_graph", made[0].source, text, line=call.node.lineno)

    def _edge(self, given: dict[str, Value]) -> None:
        source, target = self.node(given.get("source")), self.node(given.get("target"))
        condition = given.get("condition")
        if condition is None or (isinstance(condition, Const) and condition.value is None):
            self.result.direct(source, target)
            return
        rule = self.kept.rule(condition)
        if rule.state == "kept":
            self.result.note(
                "expression_kept", source, f"The condition {rule.text} is not in the file.", line=condition.line
            )
        self.result.direct(source, target, rule)

    def _listed(self, value: Value | None) -> list[Value]:
        return value.items if isinstance(value, Items) else [] if value is None else [value]

    def _fan_out(self, given: dict[str, Value]) -> None:
        source = self.node(given.get("source"))
        targets = [self.node(v) for v in self._listed(given.get("targets"))]
        selection = given.get("selection_func")
        kind = "fan_out" if len(targets) > 1 else "direct"
        edge = DraftEdge(kind, [source], targets)  # type: ignore[arg-type]
        if selection is not None:
            edge.rule = self.kept.selection(selection, targets)
            if edge.rule.state == "kept":
                self.result.note("expression_kept", source, f"The selection {edge.rule.text} is not in the file.")
        self.result.edges.append(edge)

    def _fan_in(self, given: dict[str, Value]) -> None:
        sources = [self.node(v) for v in self._listed(given.get("sources"))]
        target = self.node(given.get("target"))
        if len(sources) == 1:
            self.result.direct(sources[0], target)
        else:
            self.result.edges.append(DraftEdge("fan_in", sources, [target]))

    def _switch(self, given: dict[str, Value]) -> None:
        source = self.node(given.get("source"))
        edge = DraftEdge("switch", [source])
        for number, item in enumerate(self._listed(given.get("cases")), 1):
            if not isinstance(item, Instance):
                continue
            target = item.kwargs.get("target") or (item.args[-1] if item.args else None)
            case = Case(f"{source}_case_{number}", self.node(target))
            if item.of == "Default":
                edge.default = Case(source, case.target)
                continue
            case.rule = self.kept.rule(item.kwargs.get("condition") or (item.args[0] if item.args else None))
            if case.rule.state == "kept":
                self.result.note("expression_kept", source, f"The condition {case.rule.text} is not in the file.")
            edge.cases.append(case)
        self.result.edges.append(edge)

    # -------------------------------------------------------------------------------------------------- nodes

    def _key(self, value: Value | None) -> object:
        if isinstance(value, Unknown) and value.name:
            return ("name", value.name)
        if isinstance(value, Imported):
            return ("imported", value.module, value.path)
        return id(value)

    def node(self, value: Value | None, wanted: str = "") -> str:
        """The node of an executor or agent; made the first time it is met."""
        if isinstance(value, Const) and isinstance(value.value, str):
            wanted = value.value
            if wanted in self._registered:
                value = self._registered[wanted]
            elif wanted in self.result.nodes:
                return wanted
        key = self._key(value)
        if key not in self._ids:
            self._ids[key] = ""
            self._ids[key] = self._made(value, wanted)
        return self._ids[key]

    def _made(self, value: Value | None, wanted: str) -> str:
        if isinstance(value, Instance):
            if value.cls is not None and is_executor(value.cls):
                node_id = self._free(
                    wanted or class_id(value, self.reading) or value.name or snake(value.cls.name), value
                )
                return self.result.add(class_node(node_id, value, self.kept, self.reading.source, self.result)).id
            if value.of in ("executor", "FunctionExecutor"):
                return self._function(value, wanted)
            if value.of == "AgentExecutor":
                return self._agent_executor(value, wanted)
            if value.of == "WorkflowExecutor" or (value.of == "as_agent" and _is_workflow(value.owner)):
                return self._sub_workflow(value, wanted)
            if is_agent(value):
                return self._agent(value, wanted)
        return self._placeholder(value, wanted)

    def _free(self, wanted: str, value: Value) -> str:
        found = self.result.free(wanted)
        if found != wanted:
            text = f"The id {wanted} was taken: this node is {found} now."
            self.result.note("id_changed", found, text, "warn", value.line)
        return found

    def _function(self, value: Instance, wanted: str) -> str:
        node, call = value.node, None
        given = value.kwargs.get("id") or (value.args[0] if value.args else None)
        if value.of == "FunctionExecutor":
            function = value.kwargs.get("func") or (value.args[0] if value.args else None)
            node = function.node if isinstance(function, Function) else None
            given = value.kwargs.get("id") or (value.args[1] if len(value.args) > 1 else None)
        elif isinstance(node, Def):
            call = decorators(node).get("executor")
        if not isinstance(node, Def):
            return self._placeholder(value, wanted)
        node_id = self._free(wanted or string(given) or node.name, value)
        return self.result.add(function_node(node_id, node, call, self.reading.module, self.kept, self.result)).id

    def _agent(self, value: Instance, wanted: str, options: dict[str, Any] | None = None) -> str:
        name = self.agents.name(value)
        node_id = self._free(wanted or name or value.name or "agent", value)
        data = {**self.agents.data(value, node_id), **(options or {})}
        return self.result.add(DraftNode(node_id, "agent", name or node_id, data, line=value.line)).id

    def _agent_executor(self, value: Instance, wanted: str) -> str:
        agent = value.kwargs.get("agent") or (value.args[0] if value.args else None)
        node_id = wanted or string(value.kwargs.get("id"))
        mode = string(value.kwargs.get("context_mode"))
        options: dict[str, Any] = {"context": mode if mode in ("full", "last_agent") else None}
        if constant(value.kwargs.get("ensure_trailing_user_turn")) is True:
            options["trailing_user_turn"] = True
        if "session" in value.kwargs or "agent_thread" in value.kwargs:
            session = value.kwargs.get("session") or value.kwargs.get("agent_thread")
            options["session"] = session.name if session and session.name else None
        if not isinstance(agent, Instance):
            return self._placeholder(agent or value, node_id)
        if mode == "custom":
            options["context"] = "custom"
            options["context_filter"] = self._filter(value.kwargs.get("context_filter"))
        return self._agent(agent, node_id, options)

    def _filter(self, value: Value | None) -> str:
        rule = self.kept.rule(value)
        body = rule.condition.body if rule.condition else f"raise NotImplementedError({rule.text!r})"
        return body.replace("(data)", "(messages)")

    def _sub_workflow(self, value: Instance, wanted: str) -> str:
        inner = value.kwargs.get("workflow") or (value.args[0] if value.args else None)
        inner = value.owner if value.of == "as_agent" else inner
        given = value.kwargs.get("id") or (value.args[1] if len(value.args) > 1 else None)
        node_id = self._free(
            wanted or string(given) or string(value.kwargs.get("name")) or value.name or "workflow", value
        )
        if not isinstance(inner, Instance) or not _is_workflow(inner):
            return self._placeholder(inner or value, node_id)
        draft = WorkflowReading(self.reading, inner).draft()
        found = imported(draft).workflow
        for entry in draft.entries:
            self.result.note(entry.code, f"{node_id}/{entry.item}", entry.text, entry.severity, entry.line)
        data = {
            "inner": found.model_dump(mode="json", by_alias=True) | {"id": f"{node_id}_workflow"},
            "propagate_requests": constant(value.kwargs.get("propagate_request")) is True,
            "direct_output": constant(value.kwargs.get("allow_direct_output")) is True,
        }
        label = draft.name or node_id
        return self.result.add(DraftNode(node_id, "sub_workflow", label, data, line=value.line)).id

    def _placeholder(self, value: Value | None, wanted: str) -> str:
        source = self.reading.source
        name = (
            wanted or (value.name if value else "") or (value.last if isinstance(value, Imported) else "") or "unknown"
        )
        node_id = self.result.free(snake(name) if not name.isidentifier() else name)
        code = source.segment(value.node) if value is not None and value.node is not None else ""
        label = f"{name} = {code}" if code and code != name else name
        shown = label.partition("\n")[0][:80]
        node = DraftNode(node_id, "placeholder", shown, source=label, lang="python", line=value.line if value else None)
        self.result.add(node)
        if isinstance(value, Imported):
            text = f"{name} comes from {value.module}, which is not in the file."
            self.result.note("code_not_available", node_id, text, line=node.line)
        else:
            text = (
                f"Only running the program tells what this is: {shown}. Import it in build mode to get the real graph."
            )
            self.result.note("dynamic_graph", node_id, text, "loss", node.line)
        return node_id


_PARAMETERS: dict[str, tuple[str, ...]] = {
    "add_edge": ("source", "target", "condition"),
    "add_chain": ("executors",),
    "add_fan_out_edges": ("source", "targets"),
    "add_multi_selection_edge_group": ("source", "targets", "selection_func"),
    "add_fan_in_edges": ("sources", "target"),
    "add_switch_case_edge_group": ("source", "cases"),
}


def _is_workflow(value: Value | None) -> bool:
    return isinstance(value, Instance) and value.of == "build" and isinstance(value.owner, Instance)
