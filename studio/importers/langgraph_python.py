"""LangGraph programs, read without running them: nodes, routers, barriers, state."""

from __future__ import annotations

import ast
from pathlib import Path

from studio.document.conditions import Condition
from studio.importers.detection import Detected
from studio.importers.draft import Draft, DraftEdge, DraftNode, Rule
from studio.importers.finish import imported
from studio.importers.naming import node_id
from studio.importers.problems import ImportProblem
from studio.importers.py_agents import Agents
from studio.importers.py_code import KeptCode
from studio.importers.py_reading import Reading
from studio.importers.py_values import (
    Call,
    Class,
    Function,
    Imported,
    Instance,
    Items,
    Mapping_,
    Value,
    constant,
    string,
)
from studio.importers.python_source import parse
from studio.importers.structure import barrier, fan_out, finish
from studio.importers.tidy import tidied

Def = ast.FunctionDef | ast.AsyncFunctionDef
_GRAPHS = ("StateGraph", "MessageGraph", "Graph")
_AGENTS = ("create_react_agent", "create_agent")


def read(detected: Detected, path: Path | None) -> Draft:
    """The first graph that is part of no other."""
    source = parse(detected.text)
    reading = Reading(source, path.parent if path else None, lambda node, scope, reading: None)
    reading.run()
    graphs = _graphs(reading)
    if not graphs:
        for function in source.tree.body:
            if isinstance(function, Def) and id(function) not in reading.called and _builds(function):
                value = reading.module.names.get(function.name)
                if isinstance(value, Function):
                    reading.apply(value, [], {}, function)
        graphs = _graphs(reading)
    if not graphs:
        raise ImportProblem("No StateGraph is built in this file.", "Choose the file that calls add_node and add_edge.")
    names = [g.name or f"graph in line {g.line}" for g in graphs]
    taken = names.index(detected.choice) if detected.choice in names else 0
    draft = _Graph(reading, graphs[taken]).draft()
    for name in (n for i, n in enumerate(names) if i != taken):
        draft.choices.append(name)
        draft.note("not_selected", name, "The file builds this graph too; it was not imported.")
    return draft


def _builds(function: Def) -> bool:
    return any(isinstance(c, ast.Call) and getattr(c.func, "id", "") in _GRAPHS for c in ast.walk(function))


def _graphs(reading: Reading) -> list[Instance]:
    found = [i for i in reading.instances if i.of in _GRAPHS and i.cls is None]
    inner = {
        id(_builder(v)) for g in found for c in g.calls if c.name == "add_node" for v in (*c.args, *c.kwargs.values())
    }
    return [g for g in found if id(g) not in inner and g.calls]


def _builder(value: Value | None) -> Instance | None:
    """The builder of a compiled graph."""
    if isinstance(value, Instance) and value.of == "compile" and isinstance(value.owner, Instance):
        return value.owner if value.owner.of in _GRAPHS else None
    return None


class _Graph:
    """One builder and its calls."""

    def __init__(self, reading: Reading, graph: Instance) -> None:
        self._reading = reading
        self._graph = graph
        self._draft = Draft("langgraph-python")
        self._kept = KeptCode(reading.source, reading.module, self._draft, reading.sources[1:])
        self._agents = Agents(self._draft, self._kept, reading.source)
        self._ids: dict[str, str] = {}
        self._plain: dict[str, list[str]] = {}
        self._entries: list[str] = []
        self._fan_ins: list[tuple[list[str], str]] = []
        self._routed: list[tuple[str, list[str], Rule]] = []
        self._functions: dict[str, Function] = {}

    def draft(self) -> Draft:
        """The graph."""
        draft = self._draft
        self._state()
        for call in self._graph.calls:
            if call.name == "add_node":
                self._node(call)
            elif call.name == "add_sequence":
                self._sequence(call)
        for call in self._graph.calls:
            self._edge(call)
        for node, function in self._functions.items():
            self._command(node, function)
        self._breakpoints()
        self._ends()
        self._groups()
        self._kept.finish()
        draft.items_in = len([n for n in draft.nodes.values() if not n.added]) + len(draft.folded)
        draft.edges_in = sum(e.counted for e in draft.edges) + draft.edges_folded + draft.edges_lost
        finish(draft)
        return draft

    def _state(self) -> None:
        schema = self._graph.kwargs.get("state_schema") or (self._graph.args[0] if self._graph.args else None)
        if isinstance(schema, Imported) and schema.last == "MessagesState":
            self._draft.variable("messages")
        seen: set[str] = set()
        while isinstance(schema, Class) and isinstance(schema.node, ast.ClassDef) and schema.name not in seen:
            seen.add(schema.name)
            for statement in schema.node.body:
                if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                    self._field(statement.target.id, statement)
            bases = [self._reading.value(b, self._reading.module) for b in schema.node.bases]
            if any(isinstance(b, Imported) and b.last == "MessagesState" for b in bases):
                self._draft.variable("messages")
            schema = next((b for b in bases if isinstance(b, Class)), None)

    def _field(self, name: str, statement: ast.AnnAssign) -> None:
        self._draft.variable(name)
        annotation = statement.annotation
        if isinstance(annotation, ast.Subscript) and getattr(annotation.value, "id", "") == "Annotated":
            text = "In LangGraph new values are joined by a function; here the last write wins."
            self._draft.note("semantics_differ", name, text, "warn", statement.lineno)

    # -------------------------------------------------------------------------------------------------- nodes

    def _node(self, call: Call) -> str:
        given = [*call.args, *[v for k, v in call.kwargs.items() if k in ("node", "action")]]
        name = string(given[0]) if given else ""
        action = given[1] if name and len(given) > 1 else given[0] if given else None
        if not name:
            name = getattr(action.node, "name", "") if isinstance(action, Function) else action.name if action else ""
        made = self._add(name or "node", action, call.node.lineno)
        if constant(call.kwargs.get("defer")) is True:
            self._draft.nodes[made].data["defer"] = True
        return made

    def _sequence(self, call: Call) -> None:
        before: str | None = None
        for value in call.args[0].items if call.args and isinstance(call.args[0], Items) else []:
            pair = value.items if isinstance(value, Items) else [value]
            name = string(pair[0]) or getattr(pair[-1].node, "name", "")
            made = self._add(name, pair[-1], call.node.lineno)
            if before is not None:
                self._plain.setdefault(before, []).append(made)
            before = made

    def _add(self, name: str, action: Value | None, line: int) -> str:
        draft = self._draft
        made = draft.free(node_id(name, name, "node", len(draft.nodes) + 1))
        if made != name:
            draft.note("id_changed", made, f"The id {name} became {made}.")
        self._ids[name] = made
        node = draft.add(DraftNode(made, "function", name, line=line))
        inner = _builder(action)
        if inner is not None:
            self._inner(node, inner)
        elif isinstance(action, Function):
            self._function(node, action)
        elif isinstance(action, Instance) and action.of in _AGENTS:
            self._agent(node, action)
        elif isinstance(action, Instance) and action.of == "ToolNode":
            tools = action.kwargs.get("tools") or (action.args[0] if action.args else None)
            node.data["tools"] = self._agents.tools(tools, made, line)
            draft.note("code_kept", made, "A node that runs tools; the code of its tools is kept.", line=line)
        else:
            draft.note("code_not_available", made, "What this node does is not in the file.", line=line)
        return made

    def _function(self, node: DraftNode, action: Function) -> None:
        draft = self._draft
        self._functions[node.id] = action
        code = self._reading.source.segment(action.node)
        node.source, node.lang = code, "python"
        if isinstance(action.node, Def) and _asks(action.node):
            node.kind = "human_input"
            draft.note("code_kept", node.id, "This node asks a person; its code is kept with it.", line=node.line)
            return
        if isinstance(action.node, Def):
            name = action.node.name
            waits = "await " if isinstance(action.node, ast.AsyncFunctionDef) else ""
            keys = list(draft.variables)
            node.data["body"] = self._kept.prelude({name}) + tidied(
                f"found = {waits}{name}({{key: ctx.get_state(key) for key in {keys!r}}})\n"
                f"update = found if isinstance(found, dict) else getattr(found, 'update', None) or {{}}\n"
                f"for key, value in update.items():\n    ctx.set_state(key, value)\n"
                f"if hasattr(found, 'goto'):\n    ctx.set_state({node.id + '.goto'!r}, found.goto)\n"
                f"result = data"
            )
        draft.note("code_kept", node.id, "The code of this node is kept and was not run.", line=node.line)

    def _agent(self, node: DraftNode, action: Instance) -> None:
        node.kind = "agent"
        given = action.kwargs
        model = given.get("model") or (action.args[0] if action.args else None)
        tools = given.get("tools") or (action.args[1] if len(action.args) > 1 else None)
        prompt = given.get("prompt") or given.get("system_prompt") or given.get("state_modifier")
        self._agents.secrets(model, node.id)
        node.data.update(model=string(model) or self._agents.model(model), instructions=string(prompt) or None)
        node.data["tools"] = self._agents.tools(tools, node.id, node.line) or None

    def _inner(self, node: DraftNode, graph: Instance) -> None:
        node.kind = "sub_workflow"
        inner = _Graph(self._reading, graph).draft()
        for entry in inner.entries:
            self._draft.note(entry.code, f"{node.id}/{entry.item}", entry.text, entry.severity, entry.line)
        found = imported(inner).workflow.model_dump(mode="json", by_alias=True)
        node.data["inner"] = found | {"id": f"{node.id}_workflow"}

    # -------------------------------------------------------------------------------------------------- edges

    def _name(self, value: Value | None) -> str:
        """The node that an edge names; START and END by their markers."""
        if isinstance(value, Imported) and value.last in ("START", "END"):
            return "__start__" if value.last == "START" else "__end__"
        if isinstance(value, Function):
            return getattr(value.node, "name", "")
        return string(value)

    def _edge(self, call: Call) -> None:
        given = [*call.args, *call.kwargs.values()]
        match call.name:
            case "set_entry_point" if given:
                self._entries.append(self._name(given[0]))
            case "set_finish_point" if given:
                self._plain.setdefault(self._ids.get(self._name(given[0]), ""), []).append("__end__")
            case "set_conditional_entry_point" if given:
                self._router("__start__", given, call)
            case "add_edge" if len(given) > 1:
                self._plain_edge(given[0], given[1], call)
            case "add_conditional_edges" if len(given) > 1:
                self._router(self._name(given[0]), given[1:], call)

    def _plain_edge(self, source: Value, target: Value, call: Call) -> None:
        to = self._name(target)
        if isinstance(source, Items):
            sources = [self._ids[n] for n in map(self._name, source.items) if n in self._ids]
            self._fan_ins.append((sources, to))
            return
        name = self._name(source)
        if name == "__start__":
            self._entries.append(to)
        elif name in self._ids and (to in self._ids or to == "__end__"):
            self._plain.setdefault(self._ids[name], []).append(self._ids.get(to, to))
        else:
            self._draft.edges_lost += 1
            text = "This edge belongs to a node that is not known without running the program."
            self._draft.note("dangling_edge", f"{name} -> {to}", text, line=call.node.lineno)
        if call.maybe:
            text = "This edge stands under a condition or in a loop; it is taken in any case."
            self._draft.note("dynamic_graph", self._ids.get(name, name), text, line=call.node.lineno)

    def _router(self, source: str, given: list[Value], call: Call) -> None:
        router, mapped = given[0], given[1] if len(given) > 1 else None
        labels: dict[str, str] = {}
        targets: list[str] = []
        if isinstance(mapped, Mapping_):
            for label, value in mapped.items.items():
                target = self._name(value)
                targets.append(target)
                labels.setdefault(target, str(label))
        elif isinstance(mapped, Items):
            targets = [self._name(v) for v in mapped.items]
        elif isinstance(router, Function) and isinstance(router.node, Def):
            targets = _literals(router.node.returns)
        rule = self._rule(router, {self._marker(t): label for t, label in labels.items()})
        if not targets:
            text = "Where this router leads is decided at run time."
            self._draft.note("dynamic_graph", self._ids.get(source, source), text, line=call.node.lineno)
        self._routed.append((source, list(dict.fromkeys(targets)), rule))

    def _marker(self, name: str) -> str:
        return self._ids.get(name, "end" if name == "__end__" else name)

    def _rule(self, router: Value, labels: dict[str, str]) -> Rule:
        rule = self._kept.rule(router)
        if rule.condition is None:
            self._draft.note("expression_kept", rule.text or "router", "The router is not in the file.")
            return Rule(rule.text, rule.lang, rule.state, labels=labels or None)
        body = rule.condition.body.replace("(data)", "(dict(state))").replace("result = ", "found = ") + _CHOSEN
        return Rule(rule.text, "python", "translated", Condition(kind="python", body=body), labels or None)

    def _command(self, node: str, function: Function) -> None:
        """Targets that a node names itself: ``-> Command[Literal[…]]``."""
        returns = function.node.returns if isinstance(function.node, Def) else None
        if not isinstance(returns, ast.Subscript) or "Command" not in ast.unparse(returns.value):
            return
        targets = _literals(returns.slice)
        if targets:
            body = tidied(f"found = state.get({node + '.goto'!r})" + _CHOSEN)
            rule = Rule(
                getattr(function.node, "name", node), "python", "translated", Condition(kind="python", body=body)
            )
            self._routed.append((next(n for n, i in self._ids.items() if i == node), targets, rule))

    def _breakpoints(self) -> None:
        for call in self._graph.calls:
            if call.name == "compile":
                for name in ("before", "after"):
                    for item in constant(call.kwargs.get(f"interrupt_{name}")) or []:
                        if item in self._ids:
                            self._draft.nodes[self._ids[item]].data["breakpoint"] = name

    def _ends(self) -> None:
        """Start and end markers: folded, or nodes where a rule or several edges need them."""
        draft = self._draft
        starting = [r for r in self._routed if r[0] == "__start__"]
        known = [self._ids[n] for n in self._entries if n in self._ids]
        if len(known) == 1 and not starting:
            draft.start = known[0]
            draft.fold("START", "start")
            draft.edges_folded += 1
        elif known or starting:
            node = draft.add(DraftNode(draft.free("start"), "input", "start"))
            self._ids["__start__"] = draft.start = node.id
            if known:
                self._plain[node.id] = known
        else:
            draft.start = next(iter(draft.nodes), None)
        arriving = [s for s, t in self._plain.items() if "__end__" in t] + [
            s[0] for s, t in self._fan_ins if t == "__end__" and s
        ]
        if any("__end__" in targets for _, targets, _ in self._routed):
            self._ids["__end__"] = draft.add(DraftNode(draft.free("end"), "end", "end")).id
        elif arriving:
            draft.fold("END", f"no outgoing edge of {', '.join(arriving)}")
            draft.edges_folded += len(arriving)

    def _groups(self) -> None:
        draft, end = self._draft, self._ids.get("__end__")
        deferred = {n.id for n in draft.nodes.values() if n.data.get("defer")}
        waiting: dict[str, list[str]] = {}
        for source, targets in self._plain.items():
            found = [end if t == "__end__" else t for t in dict.fromkeys(targets)]
            for target in [t for t in found if t in deferred]:
                waiting.setdefault(target or "", []).append(source)
            kept = [t for t in found if t is not None and t not in deferred]
            if kept and source:
                fan_out(draft, source, kept, 1)
        for sources, name in self._fan_ins:
            joined = end if name == "__end__" else self._ids.get(name)
            if joined is not None and len(sources) > 1:
                barrier(draft, sources, joined, 1)
            elif joined is not None and sources:
                draft.direct(sources[0], joined)
        for target, sources in waiting.items():
            draft.note(
                "semantics_differ", target, "It waits for everything before it; here for the nodes that lead to it."
            )
            if len(sources) > 1:
                barrier(draft, sources, target, 1)
            else:
                draft.direct(sources[0], target)
        for name, targets, rule in self._routed:
            self._routed_group(name, targets, rule)

    def _routed_group(self, name: str, targets: list[str], rule: Rule) -> None:
        source = self._ids.get(name)
        found = [self._ids[t] for t in targets if t in self._ids]
        if source is None or not found:
            return
        kind = "fan_out" if len(found) > 1 else "direct"
        self._draft.edges.append(DraftEdge(kind, [source], found, rule=rule))  # type: ignore[arg-type]


_CHOSEN = (
    "\nchosen = found if isinstance(found, (list, tuple)) else [found]\n"
    'result = {target} in ["end" if name == "__end__" else name for name in chosen]'
)


def _asks(function: Def) -> bool:
    return any(isinstance(c, ast.Call) and getattr(c.func, "id", "") == "interrupt" for c in ast.walk(function))


def _literals(annotation: ast.expr | None) -> list[str]:
    """The texts of ``Literal[…]``, inside of anything."""
    found: list[str] = []
    for part in ast.walk(annotation) if annotation is not None else ():
        if isinstance(part, ast.Subscript) and getattr(part.value, "id", getattr(part.value, "attr", "")) == "Literal":
            values = part.slice.elts if isinstance(part.slice, ast.Tuple) else [part.slice]
            found += [v.value for v in values if isinstance(v, ast.Constant) and isinstance(v.value, str)]
            found += ["__end__" for v in values if isinstance(v, ast.Name) and v.id == "END"]
    return found
