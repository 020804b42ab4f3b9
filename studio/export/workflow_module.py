"""``workflow.py`` of an export: conditions, ``build()``, and ``main()`` for the outermost workflow."""

from __future__ import annotations

from studio.document.conditions import Condition
from studio.document.model import (
    AgentNode,
    DirectEdge,
    Edge,
    FanInEdge,
    FanOutEdge,
    Node,
    SubWorkflowNode,
    SwitchEdge,
    Workflow,
)
from studio.export import conditions, junctions
from studio.export.executors import MODULES
from studio.export.python_types import FRAMEWORK
from studio.export.source import INDENT, Module, class_name, identifier, one_line, string

FIRST_LINE = "# exported workflow: format 1\n"


def workflow_module(workflow: Workflow, layout: str, main: str) -> str:
    """The source of ``workflow.py``. ``layout`` is the name of the layout file beside it, empty if none is written;
    ``main`` the text of the command-line part, empty for an inner workflow."""
    module = Module(f"{one_line(workflow.name)}. Made with Superstep Studio.")
    module.need("typing", "Any")
    module.need("collections.abc", "Callable")
    module.need(FRAMEWORK, "AgentExecutor", "CheckpointStorage", "Workflow", "WorkflowBuilder")
    names = condition_names(module, workflow)
    module.blocks.append(_build(module, workflow, names))
    if main:
        for name in ("argparse", "asyncio", "json", "sys"):
            module.need(name)
        module.need(FRAMEWORK, "AgentResponse", "AgentResponseUpdate", "Content", "WorkflowRunState")
        module.need(SUPPORT, "plain_of", "text_of")
        module.blocks.append(main)
    return module.text(FIRST_LINE + (f"# layout: {layout}\n" if layout else ""))


SUPPORT = ".support"


def condition_names(module: Module, workflow: Workflow) -> dict[str, str]:
    """Writes a predicate per condition; id of its edge or case -> name of the function."""
    names: dict[str, str] = {}
    for edge in workflow.edges:
        for owner, condition in _owned_conditions(edge):
            names[owner] = conditions.function(module, owner, condition)
    return names


def _owned_conditions(edge: Edge) -> list[tuple[str, Condition]]:
    match edge:
        case DirectEdge():
            return [] if edge.condition is None else [(edge.id, edge.condition)]
        case SwitchEdge():
            return [(case.id, case.condition or Condition(name=f"when_{case.id}")) for case in edge.cases]
        case FanOutEdge():
            return [(f"{edge.id}.{target}", c) for target, c in (edge.selection or {}).items()]
    return []


def _build(module: Module, workflow: Workflow, names: dict[str, str]) -> str:
    module.need(".agents", "default_client")
    lines = [
        "# edges",
        "def build(",
        "    client_factory: Callable[[], Any] = default_client,",
        "    storage: CheckpointStorage | None = None,",
        "    agent_node: type[AgentExecutor] = AgentExecutor,",
        ") -> Workflow:",
        '    """The workflow, new at each call."""',
    ]
    if any(isinstance(n, AgentNode) for n in workflow.nodes):
        lines.append("    client = client_factory()")
    lines += _sessions(module, workflow)
    lines += [f"    {_variable(node)} = {_executor(module, node)}" for node in _used_nodes(workflow)]
    lines += junctions.built(module, workflow, names)
    lines += _selections(workflow, names)
    lines += ["    return (", "        WorkflowBuilder("]
    lines += [f"            {argument}," for argument in _arguments(workflow)]
    lines.append("        )")
    for edge in workflow.edges:
        lines += [f"        {line}" for line in edge_calls(module, workflow, edge, names)]
    return "\n".join([*lines, "        .build()", "    )"])


def _variable(node: Node) -> str:
    return identifier(node.id, "node")


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


def _sessions(module: Module, workflow: Workflow) -> list[str]:
    shared = sorted({n.session for n in workflow.nodes if isinstance(n, AgentNode) and n.session})
    if shared:
        module.need(FRAMEWORK, "AgentSession")
    return [f"    {identifier(name, 'session')}_session = AgentSession(session_id={string(name)})" for name in shared]


def _executor(module: Module, node: Node) -> str:
    match node:
        case AgentNode():
            module.need(".", "agents")
            return _agent_executor(node)
        case SubWorkflowNode():
            module.need(FRAMEWORK, "WorkflowExecutor")
            module.need(f".{identifier(node.id)}", f"workflow as {identifier(node.id)}_workflow")
            return (
                f"WorkflowExecutor({identifier(node.id)}_workflow.build(client_factory, None, agent_node), "
                f"id={string(node.id)}, allow_direct_output={node.direct_output}, "
                f"propagate_request={node.propagate_requests})"
            )
    name = class_name(node.id)
    module.need(f".{MODULES[node.kind]}", name)
    return f"{name}()"


def _agent_executor(node: AgentNode) -> str:
    arguments = [f"agents.{node.id}(client)", f"id={string(node.id)}"]
    if node.context != "full":
        arguments.append(f"context_mode={string(node.context)}")
    if node.context == "custom":
        arguments.append(f"context_filter=agents.{node.id}_context")
    if node.trailing_user_turn:
        arguments.append("ensure_trailing_user_turn=True")
    if node.session:
        arguments.append(f"session={identifier(node.session, 'session')}_session")
    line = f"agent_node({', '.join(arguments)})"
    if len(line) < 100:
        return line
    pad = INDENT * 2
    return "agent_node(\n" + "".join(f"{pad}{argument},\n" for argument in arguments) + INDENT + ")"


def _arguments(workflow: Workflow) -> list[str]:
    start = workflow.node(workflow.start or "")
    return [
        f"name={string(identifier(workflow.name).replace('_', '-'))}",
        f"start_executor={_variable(start) if start else None}",
        f"max_iterations={workflow.max_supersteps}",
        "checkpoint_storage=storage",
        f"output_from={_designated(workflow.outputs if workflow.outputs is not None else 'all')}",
        f"intermediate_output_from={_designated(workflow.intermediate)}",
    ]


def _designated(names: tuple[str, ...] | str | None) -> str:
    if names is None or isinstance(names, str):
        return "None" if names is None else string(names)
    return f"[{', '.join(identifier(name, 'node') for name in names)}]" if names else "None"


def _selections(workflow: Workflow, names: dict[str, str]) -> list[str]:
    lines: list[str] = []
    for edge in workflow.edges:
        if isinstance(edge, FanOutEdge) and edge.selection and not junctions.is_needed(edge):
            lines += [
                f"    def select_{identifier(edge.id)}(data: Any, targets: list[str]) -> list[str]:",
                "        chosen: list[str] = []",
            ]
            for target in edge.targets:
                predicate = names.get(f"{edge.id}.{target}")
                pad = "        "
                if predicate:
                    lines.append(f"{pad}if {predicate}(data):")
                    pad += INDENT
                lines.append(f"{pad}chosen.append({string(target)})")
            lines += ["        return chosen", ""]
    return lines


def edge_calls(module: Module, workflow: Workflow, edge: Edge, names: dict[str, str]) -> list[str]:
    if isinstance(edge, SwitchEdge | FanOutEdge) and junctions.is_needed(edge):
        return junctions.edges(edge)
    match edge:
        case DirectEdge():
            condition = f", condition={names[edge.id]}" if edge.id in names else ""
            return [f".add_edge({identifier(edge.source)}, {identifier(edge.target)}{condition})"]
        case FanInEdge():
            sources = ", ".join(identifier(s) for s in edge.sources)
            return [f".add_fan_in_edges([{sources}], {identifier(edge.target)})"]
        case FanOutEdge():
            targets = ", ".join(identifier(t) for t in edge.targets)
            source = identifier(edge.source or "")
            if edge.selection:
                return [f".add_multi_selection_edge_group({source}, [{targets}], select_{identifier(edge.id)})"]
            return [f".add_fan_out_edges({source}, [{targets}])"]
        case SwitchEdge():
            return _switch(module, edge, names)
    return []


def _switch(module: Module, edge: SwitchEdge, names: dict[str, str]) -> list[str]:
    module.need(FRAMEWORK, "Case", "Default")
    lines = [".add_switch_case_edge_group(", f"    {identifier(edge.source or '')},", "    ["]
    lines += [f"        Case({names[case.id]}, {identifier(case.target)})," for case in edge.cases]
    return [*lines, f"        Default({identifier(edge.default or '')}),", "    ],", ")"]
