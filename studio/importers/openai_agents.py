"""Programs for the OpenAI Agents SDK: agents that hand over to each other, or runs in the order of the code."""

from __future__ import annotations

import ast
from pathlib import Path

from studio.importers.detection import Detected
from studio.importers.draft import Draft, DraftEdge, DraftNode, Rule
from studio.importers.naming import node_id
from studio.importers.problems import ImportProblem
from studio.importers.py_code import KeptCode
from studio.importers.py_reading import Reading
from studio.importers.py_values import Const, Function, Instance, Items, Value, string
from studio.importers.python_source import parse
from studio.importers.sdk_agents import SdkAgents, transfer_name
from studio.importers.sdk_steps import Steps, run_calls
from studio.importers.structure import finish

Def = ast.FunctionDef | ast.AsyncFunctionDef


def read(detected: Detected, path: Path | None) -> Draft:
    """Steps where a function runs several agents, else the agents and their handoffs."""
    source = parse(detected.text)
    reading = Reading(source, path.parent if path else None, lambda node, scope, reading: None)
    reading.run()
    functions = [s for s in ast.walk(source.tree) if isinstance(s, Def) and len(run_calls(s)) > 1]
    draft = Draft("openai-agents")
    kept = KeptCode(source, reading.module, draft)
    agents = SdkAgents(draft, kept, source)
    if functions:
        Steps(reading, draft, agents, reading.module).run(max(functions, key=lambda f: len(run_calls(f))))
    else:
        _Handoffs(reading, draft, agents).run()
    kept.finish()
    return draft


class _Handoffs:
    """The agents of a program and the handoffs between them."""

    def __init__(self, reading: Reading, draft: Draft, agents: SdkAgents) -> None:
        self._reading = reading
        self._draft = draft
        self._agents = agents
        self._ids: dict[int, str] = {}

    def run(self) -> None:
        draft = self._draft
        found = [i for i in self._reading.instances if i.cls is None and i.of in ("Agent", "clone")]
        if not found:
            raise ImportProblem("There are no agents in this file.", "Choose the file that defines them.")
        handed = {id(target) for agent in found for target, _ in self._handoffs(agent)}
        as_tools = {id(i.owner): i for i in self._reading.instances if i.of == "as_tool"}
        started = self._started()
        only_tools = [
            a for a in found if id(a) in as_tools and id(a) not in handed and not self._handoffs(a) and a is not started
        ]
        nodes = [a for a in found if a not in only_tools]
        draft.items_in = len(found)
        for agent in nodes:
            self._ids[id(agent)] = draft.free(node_id(agent.name, self._agents.name(agent), "agent"))
            draft.reserve(self._ids[id(agent)])
        for agent in nodes:
            item = self._ids[id(agent)]
            data = self._agents.data(agent, item)
            node = draft.add(DraftNode(item, "agent", self._agents.name(agent), data, line=agent.line))
            self._guardrails(agent, node)
        for agent in only_tools:
            caller = next((self._ids[id(a)] for a in nodes if self._uses(a, as_tools[id(agent)])), None)
            draft.fold(
                agent.name or self._agents.name(agent), f"tool of {caller}" if caller else "tools of the workflow"
            )
        self._edges(nodes)
        draft.start = self._start(nodes, handed, started)
        finish(draft)

    def _uses(self, agent: Instance, tool: Instance) -> bool:
        tools = self._agents.fields(agent).get("tools")
        return isinstance(tools, Items) and any(t.node is tool.node for t in tools.items)

    def _start(self, nodes: list[Instance], handed: set[int], started: Instance | None) -> str | None:
        if started is not None and id(started) in self._ids:
            return self._ids[id(started)]
        free = [a for a in nodes if id(a) not in handed]
        chosen = free[0] if len(free) == 1 else nodes[-1] if nodes else None
        return self._ids[id(chosen)] if chosen is not None else None

    def _started(self) -> Instance | None:
        """The agent that is given to a runner."""
        for call in run_calls(self._reading.source.tree):
            if call.args and isinstance(call.args[0], ast.Name):
                found = self._reading.module.find(call.args[0].id)
                if isinstance(found, Instance):
                    return found
        return None

    # ----------------------------------------------------------------------------------------------- handoffs

    def _handoffs(self, agent: Instance) -> list[tuple[Instance, Instance | None]]:
        """The agents handed over to, with the ``handoff(…)`` around them if there is one."""
        given = self._agents.fields(agent).get("handoffs")
        listed: list[Value] = list(given.items) if isinstance(given, Items) else []
        found: list[tuple[Instance, Instance | None]] = []
        for value in listed:
            if isinstance(value, Instance) and value.of == "handoff":
                target = value.kwargs.get("agent") or (value.args[0] if value.args else None)
                if isinstance(target, Instance):
                    found.append((target, value))
            elif isinstance(value, Instance):
                found.append((value, None))
        return found

    def _edges(self, nodes: list[Instance]) -> None:
        draft = self._draft
        count = 0
        for agent in nodes:
            source = self._ids[id(agent)]
            for target, options in self._handoffs(agent):
                count += 1
                if id(target) not in self._ids:
                    draft.edges_lost += 1
                    draft.note(
                        "dangling_edge", source, f"A handoff leads to {target.name}, which is no agent of the file."
                    )
                    continue
                edge = DraftEdge(
                    "handoff", [source], [self._ids[id(target)]], tool=transfer_name(self._agents.name(target))
                )
                draft.edges.append(edge)
                if options is not None:
                    self._options(edge, options)
        if count:
            draft.edges_in = count
            draft.pattern = "handoff"

    def _options(self, edge: DraftEdge, options: Instance) -> None:
        draft, given = self._draft, options.kwargs
        item = f"{edge.source} -> {edge.targets[0]}"
        edge.tool = string(given.get("tool_name_override")) or edge.tool
        description = string(given.get("tool_description_override"))
        edge.data.update({"reason": description} if description else {})
        source = self._reading.source
        kept = {
            name: source.segment(given[name].node) if given[name].node is not None else given[name].name
            for name in ("on_handoff", "input_type", "input_filter")
            if name in given
        }
        edge.data.update({str(name): text for name, text in kept.items()})
        if "on_handoff" in kept or "input_filter" in kept:
            text = "The handoff runs code of its own (callback or filter); it is kept as text."
            draft.note("code_kept", item, text, "warn", options.line)
        enabled = given.get("is_enabled")
        if enabled is not None and not (isinstance(enabled, Const) and enabled.value is True):
            node = enabled.node
            name = getattr(node, "name", "") if isinstance(enabled, Function) else ""
            text = name or (source.segment(node) if node is not None else enabled.name)
            edge.rule = Rule(text, "python", "kept")
            draft.note(
                "dynamic_graph", item, "Whether this handoff is offered is decided at run time.", line=options.line
            )

    def _guardrails(self, agent: Instance, node: DraftNode) -> None:
        names: list[str] = []
        given = self._agents.fields(agent)
        for field in ("input_guardrails", "output_guardrails"):
            listed = given.get(field)
            for value in listed.items if isinstance(listed, Items) else []:
                name = getattr(value.node, "name", "") if isinstance(value, Function) else value.name
                if not name and value.node is not None:
                    name = self._reading.source.segment(value.node)
                names.append(name)
                if not any(f.item == name for f in self._draft.folded):
                    self._draft.items_in += 1
                    self._draft.fold(name, f"middleware of {node.id}")
                    text = "This guardrail became middleware that keeps its code."
                    self._draft.note("code_kept", name, text, "warn", value.line)
        if names:
            node.data["middleware"] = names
            code = [
                self._reading.source.code(v.node)
                for v in self._reading.module.names.values()
                if isinstance(v, Function) and v.node is not None and getattr(v.node, "name", "") in names
            ]
            node.data["middleware_code"] = "\n\n\n".join(code)
