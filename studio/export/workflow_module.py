"""``workflow.py`` of an export: conditions, ``build()``, and ``main()`` for the outermost workflow."""

from __future__ import annotations

from studio.document.model import (
    AgentNode,
    DirectEdge,
    Edge,
    FanInEdge,
    FanOutEdge,
    Node,
    RunnerNode,
    SubWorkflowNode,
    SwitchEdge,
    Workflow,
)
from studio.document.turns import collector_id, first_token, start_id
from studio.document.types import yields
from studio.export import conditions, junctions
from studio.export.agent_options import lasting_session
from studio.export.executors import MODULES
from studio.export.naming import Names, conditions_of, identifier
from studio.export.pretty import Bracket, Expression, Pair, call, listed, signature, statement, string
from studio.export.runners import runner_executor
from studio.export.source import FRAMEWORK, TURNS, Module, one_line

FIRST_LINE = "# exported workflow: format 1\n"


def workflow_module(workflow: Workflow, names: Names, depth: int = 0, hosted: str = "") -> Module:
    """The module with the conditions and ``build()`` of a workflow; ``depth`` is that of its package. ``hosted``: its
    name on workers, which is a constant of the module."""
    about = f"\n\n{workflow.description}" if one_line(workflow.description) else ""
    module = Module(f"{workflow.name}. Made with Superstep Studio.{about}", depth)
    module.need("typing", "Any")
    module.need("collections.abc", "Callable")
    module.need(FRAMEWORK, "AgentExecutor", "CheckpointStorage", "Executor", "Workflow", "WorkflowBuilder")
    if hosted:
        module.blocks.append(f"WORKFLOW_NAME = {string(hosted)}")
    for edge in workflow.edges:
        stateful = junctions.reads_shared_state(edge)
        for owner, condition in conditions_of([edge]):
            conditions.function(module, workflow, owner, names.conditions[owner], condition, stateful)
    module.blocks.append(_Builder(workflow, names, module, hosted).function())
    return module


class _Builder:
    """Writes ``build()``."""

    def __init__(self, workflow: Workflow, names: Names, module: Module, hosted: str) -> None:
        self._workflow = workflow
        self._names = names
        self._module = module
        self._hosted = hosted

    def function(self) -> str:
        """The function, behind its mark."""
        workflow, module = self._workflow, self._module
        default = ""
        if not module.depth:
            module.need(".agents", "default_client")
            default = " = default_client"
        parameters = [
            f"client_factory: Callable[[], Any]{default}",
            "storage: CheckpointStorage | None = None",
            "agent_node: Callable[..., Executor] = AgentExecutor",
        ]
        lines = ["# edges", signature("def build", parameters, "Workflow", 0)]
        lines.append('    """The workflow, new at each call."""')
        if any(isinstance(n, AgentNode | RunnerNode) for n in workflow.nodes):
            lines.append("    client = client_factory()")
        lines += self._sessions()
        lines += [statement(self._executor(node), 1, f"{self._variable(node.id)} = ") for node in _used_nodes(workflow)]
        lines += self._start()
        lines += junctions.built(module, workflow, self._names)
        lines += _selections(workflow, self._names)
        builder = Bracket("WorkflowBuilder(", self._arguments())
        first = start_id(workflow)
        if not workflow.edges and first is None:
            return "\n".join([*lines, statement(builder, 1, "return ", ".build()")])
        lines += ["    return (", statement(builder, 2)]
        if first is not None:
            ends = (self._variable(first), self._variable(workflow.start or ""))
            lines.append(statement(call(".add_edge", *ends), 2))
        for edge in workflow.edges:
            lines += [statement(written, 2) for written in edge_calls(module, edge, self._names)]
        return "\n".join([*lines, "        .build()", "    )"])

    def _start(self) -> list[str]:
        """The node in front of a start that works in turns."""
        first, start = start_id(self._workflow), self._workflow.node(self._workflow.start or "")
        if first is None or not isinstance(start, AgentNode):
            return []
        self._module.need(TURNS, "ChatStartExecutor")
        emit = first_token(start)
        given = {} if emit == "run" else {"emit_events": str(emit)}
        return [statement(call("ChatStartExecutor", string(first), **given), 1, f"{self._variable(first)} = ")]

    def _variable(self, node_id: str) -> str:
        return self._names.variables[node_id]

    def _sessions(self) -> list[str]:
        shared = sorted({n.session for n in self._workflow.nodes if isinstance(n, AgentNode) and n.session})
        if shared:
            self._module.need(FRAMEWORK, "AgentSession")
        return [statement(call("AgentSession", session_id=string(name)), 1, f"{_session(name)} = ") for name in shared]

    def _executor(self, node: Node) -> Bracket:
        module = self._module
        match node:
            case AgentNode():
                module.need(".", "agents")
                return self._agent_executor(node)
            case RunnerNode():
                return runner_executor(module, node, self._names)
            case SubWorkflowNode():
                inner = f"{self._variable(node.id)}_workflow"
                module.need(FRAMEWORK, "WorkflowExecutor")
                module.need(f".{self._names.package(node)}", f"workflow as {inner}")
                return call(
                    "WorkflowExecutor",
                    call(f"{inner}.build", "client_factory", agent_node="agent_node"),
                    id=string(node.id),
                    **({"allow_direct_output": "True"} if node.direct_output else {}),
                    **({"propagate_request": "True"} if node.propagate_requests else {}),
                )
        name = self._names.classes[node.id]
        module.need(f".{MODULES[node.kind]}", name)
        return call(name)

    def _turn_token_executor(self, node: AgentNode) -> Bracket:
        """The host that works in turns; options that have their defaults are not written."""
        self._module.need(TURNS, "TurnTokenAgentExecutor")
        arguments: list[Expression] = [f"agents.{self._variable(node.id)}(client)"]
        changed = node.turn_token.model_dump(exclude={"first_token"}, exclude_defaults=True)
        if changed:
            self._module.need(TURNS, "AgentHostOptions")
            arguments.append(call("AgentHostOptions", **{name: str(value) for name, value in changed.items()}))
        kept = lasting_session(self._workflow, node)
        named = [Pair("id=", string(node.id)), *([Pair("session_id=", string(kept))] if kept else [])]
        return Bracket("TurnTokenAgentExecutor(", [*arguments, *named])

    def _agent_executor(self, node: AgentNode) -> Bracket:
        if node.host == "turn_token":
            return self._turn_token_executor(node)
        name = self._variable(node.id)
        arguments: list[Expression] = [f"agents.{name}(client)", Pair("id=", string(node.id))]
        if node.context != "full":
            arguments.append(Pair("context_mode=", string(node.context)))
        if node.context == "custom":
            arguments.append(f"context_filter=agents.{self._names.around[f'{node.id}.context']}")
        if node.trailing_user_turn:
            arguments.append("ensure_trailing_user_turn=True")
        if node.session:
            arguments.append(f"session={_session(node.session)}")
        elif kept := lasting_session(self._workflow, node):
            self._module.need(FRAMEWORK, "AgentSession")
            arguments.append(Pair("session=", call("AgentSession", session_id=string(kept))))
        return Bracket("agent_node(", arguments)

    def _arguments(self) -> list[Expression]:
        workflow = self._workflow
        outputs = workflow.outputs
        if outputs is None and any(yields(node) for node in _used_nodes(workflow)):
            outputs = "all"
        name = "WORKFLOW_NAME" if self._hosted else string(identifier(workflow.name).replace("_", "-"))
        return [
            Pair("name=", name),
            f"start_executor={self._variable(start_id(workflow) or workflow.start or '')}",
            f"max_iterations={workflow.max_supersteps}",
            "checkpoint_storage=storage",
            Pair("output_from=", self._designated(outputs)),
            Pair("intermediate_output_from=", self._designated(workflow.intermediate)),
        ]

    def _designated(self, names: tuple[str, ...] | str | None) -> str | Bracket:
        if names is None or isinstance(names, str):
            return "None" if names is None else string(names)
        return listed([self._variable(name) for name in names]) if names else "None"


def _session(name: str) -> str:
    return f"{identifier(name, 'session')}_session"


def _used_nodes(workflow: Workflow) -> list[Node]:
    """Nodes of the graph: the start and all ends of edges, in the order of the drawing."""
    used = {workflow.start}
    for edge in workflow.edges:
        match edge:
            case DirectEdge():
                used |= {edge.source, edge.target}
            case SwitchEdge():
                used |= {edge.source, edge.default, *(case.target for case in edge.cases)}
            case FanOutEdge():
                used |= {edge.source, *edge.targets}
            case FanInEdge():
                used |= {edge.target, *edge.sources}
    return [node for node in workflow.nodes if node.id in used]


def _selections(workflow: Workflow, names: Names) -> list[str]:
    """Inner functions of ``build()`` that choose the targets of fan-outs."""
    lines: list[str] = []
    for edge in workflow.edges:
        if isinstance(edge, FanOutEdge) and edge.selection and not junctions.is_needed(edge, names):
            lines += [
                "",
                signature(f"def {_selection(edge, names)}", ["data: Any", "targets: list[str]"], "list[str]", 1),
                "        chosen: list[str] = []",
            ]
            for target in edge.targets:
                predicate, pad = names.conditions.get(f"{edge.id}.{target}"), " " * 8
                if predicate:
                    lines.append(f"{pad}if {predicate}(data):")
                    pad += " " * 4
                lines.append(f"{pad}chosen.append({string(target)})")
            lines += ["        return chosen"]
    return [*lines, ""] if lines else []


def _selection(edge: FanOutEdge, names: Names) -> str:
    return f"select_{names.variables[edge.id]}"


def edge_calls(module: Module, edge: Edge, names: Names) -> list[Bracket]:
    """The calls on the builder that make an edge group."""
    if junctions.is_needed(edge, names):
        return junctions.edges(edge, names)
    at = names.variables
    match edge:
        case DirectEdge():
            condition = {"condition": names.conditions[edge.id]} if edge.id in names.conditions else {}
            return [call(".add_edge", at[edge.source], at[edge.target], **condition)]
        case FanInEdge():
            collected = {s: at[collector_id(edge, s)] for s in edge.sources if s in names.turn_sources}
            into = [call(".add_edge", at[source], collector) for source, collector in collected.items()]
            sources = listed([collected.get(s, at[s]) for s in edge.sources])
            return [*into, call(".add_fan_in_edges", sources, at[edge.target])]
        case FanOutEdge():
            source, targets = at[edge.source or ""], listed([at[t] for t in edge.targets])
            if edge.selection:
                return [call(".add_multi_selection_edge_group", source, targets, _selection(edge, names))]
            return [call(".add_fan_out_edges", source, targets)]
        case SwitchEdge():
            module.need(FRAMEWORK, "Case", "Default")
            cases = [call("Case", names.conditions[case.id], at[case.target]) for case in edge.cases]
            ways = listed([*cases, call("Default", at[edge.default or ""])])
            return [call(".add_switch_case_edge_group", at[edge.source or ""], ways)]
    return []
